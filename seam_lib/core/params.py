"""params.yaml, typed: every setting of the pipeline, and how to find the project's folder."""

import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import yaml

from seam_lib.core.errors import SeamError

T = TypeVar("T")

#: Said beside every number that rests on the embedded model.
TINY = (
    "The embedded model serves to run the whole pipeline anywhere. Its rates say nothing about "
    "larger models."
)

#: A number of draws, attempts or calls at once: at least one.
Count = Annotated[int, msgspec.Meta(ge=1)]
#: A 32-bit number, which Python's and numpy's generators both accept.
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]

#: Where `seam try` keeps the settings of its runs, one file per run.
TRIED = "data/runs"
#: What to do where text is expected and YAML reads something else.
BARE = (
    " A bare 2026, 1e5, off or 2026-01-01 is no text to YAML: put it in quotes, and give a name a "
    "word, such as run-2026."
)
#: What file systems, shells and DVC take for a name: parts of such letters, joined by single dots.
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
#: The longest name: it becomes part of file names, which hold 255 bytes.
NAME_CHARS = 100


def check_name(name: object, what: str, *, dots: bool = True) -> str:
    """Let a name through if files, shells, YAML, papermill and DVC all take it for what it is.

    Every name that becomes part of a path is checked here: runs, trials, benchmarks, audits.

    Args:
        name: The name, as YAML read it.
        what: Whose name it is, in words.
        dots: Whether it may hold dots: DVC reads those in a key of params.yaml as levels.

    Raises:
        SeamError: Something would read it as a path, a command, a number, a date, or yes or no.
    """
    if isinstance(name, str) and not PLAIN.fullmatch(name):
        raise SeamError(
            f"{what}: {name!r} cannot be a file's name everywhere. Take letters, digits, hyphens "
            f"and underscores, a letter or digit first; no path and no spaces."
        )
    if not isinstance(name, str) or _reads_as_value(name):
        raise SeamError(
            f"{what}: YAML, DVC or papermill read {name!r} as a number, a date, or yes or no. Add "
            f"a word to it, such as run-2026."
        )
    if len(name) > NAME_CHARS:
        raise SeamError(f"{what}: {name!r} has more than {NAME_CHARS} characters. Shorten it.")
    if "." in name and not dots:
        raise SeamError(
            f"{what}: DVC reads the dots of {name!r} as levels of params.yaml. Write "
            f"{name.replace('.', '-')!r}."
        )
    return name


def _reads_as_value(word: str) -> bool:
    """Whether a bare word is more than text to YAML 1.1 (ours), YAML 1.2 (DVC's) or papermill."""
    for number in (float, partial(int, base=0)):
        with suppress(ValueError):
            number(word)
            return True
    try:
        return word == "None" or not isinstance(yaml.safe_load(word), str)
    except ValueError:
        return True  # a date that does not exist


class PublishedParams(msgspec.Struct, forbid_unknown_fields=True):
    """Where the paper's labels are."""

    labels: str


class ReleaseParams(msgspec.Struct, forbid_unknown_fields=True):
    """Where `seam release fetch` asks; the commit is in seam_lib/build/release.py.

    Files lie at ADDRESS/COMMIT/PATH; LISTING/COMMIT?recursive=1 lists them as GitHub's API does.
    """

    address: str
    listing: str


class AnalysisParams(msgspec.Struct, forbid_unknown_fields=True):
    """How the statistics are drawn (Appendix G)."""

    bootstrap_draws: Count
    bootstrap_seed: Seed
    permutations: Count


class BuildParams(msgspec.Struct, forbid_unknown_fields=True):
    """Which benchmark is built, and from what (Sections 3.1 and 3.2)."""

    name: str
    source: Literal["files", "hub"]
    clusters: Literal["sample", "release"]
    per_source: Count
    seed: Seed
    conditions: list[str]
    plugins: str
    revisions: dict[str, str]

    def __post_init__(self) -> None:
        check_name(self.name, "build.name")


class ServerParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the embedded model is served; another thread count changes some of its answers."""

    threads: int = 2
    context: int = 4096


class RunParams(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One run: a model over a benchmark (Appendix I). Only the first three fields are required."""

    benchmark: str  # a folder in data/benchmark
    provider: Literal["openai", "anthropic", "llamacpp"]
    model: str
    base_url: str | None = None  # the provider's own server by default
    key_env: str | None = None  # the environment variable that holds the key

    temperature: float | None = 0.0  # null: leave it out, for models that reject it
    max_tokens: Count = 4096
    max_tokens_per_char: float | None = None  # lower cap for short artifacts, see plan.cap
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra_body: dict[str, Any] = {}  # passed through, e.g. chat_template_kwargs

    attempts: Count = 3  # answers a case may draw before it is recorded as unusable
    retry_temperature: float | None = 1.0  # from the second answer on (Appendix F)
    retry_max_tokens: Count | None = None  # from the second answer on; null: max_tokens
    retry_seed: bool = False  # send a seed made from case and attempt with those

    concurrency: Count = 8
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0)] = 600.0
    retries: Annotated[int, msgspec.Meta(ge=0)] = 6  # repeats of failed calls, per case and start
    backoff_seconds: float = 1.0  # wait before the first repeat; doubles each time
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None

    price_in: float | None = None  # US dollars per million tokens
    price_out: float | None = None
    max_usd: float | None = None
    max_calls: int | None = None

    server: ServerParams = ServerParams()  # llamacpp only
    family: list[str] = []  # runs reported together with this one: Holm adjusts over all of them

    @property
    def caution(self) -> str:
        """What must be said beside this model's answers; empty for a model that people use."""
        return TINY if self.provider == "llamacpp" else ""

    def __post_init__(self) -> None:
        check_name(self.benchmark, "benchmark")
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"base_url begins with http:// or https://, not {self.base_url!r}")
        if self.max_usd is not None and None in (self.price_in, self.price_out):
            raise ValueError("max_usd needs price_in and price_out (US dollars per million tokens)")


class ScoreParams(msgspec.Struct, forbid_unknown_fields=True):
    """How labels are made, and how many of them people read (Section 4 and Appendix D)."""

    nli: str = "off"
    seed: int = 20260813
    read_lexical: int = 40
    read_negative: int = 60


Engine = Literal["local", "ray"]


class SyntheticParams(msgspec.Struct, forbid_unknown_fields=True):
    """A corpus of made-up messages, written when it is first needed."""

    shards: Count
    rows_per_shard: Count
    seed: int


class CorpusParams(msgspec.Struct, forbid_unknown_fields=True):
    """A chat corpus: its folder, how to get it, and which columns of its rows we read.

    `turns` names a list of turns, each with a role and a content, or a column that holds the
    message itself. A corpus without `id` or `language` has no such column: messages are then named
    by their digest, and all count as English.
    """

    folder: str
    hub: str | None = None
    revision: str | None = None
    synthetic: SyntheticParams | None = None
    id: str | None = None
    turns: str = "conversation"
    role: str = "role"
    content: str = "content"
    user: str = "user"
    language: str | None = None
    english: str = "English"


class WildParams(msgspec.Struct, forbid_unknown_fields=True):
    """The occurrence audit (Section 3.3, Appendix A)."""

    name: str
    corpora: Annotated[list[str], msgspec.Meta(min_length=1)]
    known: dict[str, CorpusParams]
    engine: Engine
    workers: Count
    judge: RunParams
    judged: Count | None
    annotated: Count
    seed: int
    agreement: str
    pool: Count

    def __post_init__(self) -> None:
        check_name(self.name, "wild.name")

    def folder(self, root: Path) -> Path:
        """Where the audit's tracked results go."""
        return root / "data" / "wild" / self.name


class Params(msgspec.Struct, forbid_unknown_fields=True):
    """The whole of params.yaml."""

    published: PublishedParams
    release: ReleaseParams
    analysis: AnalysisParams
    build: BuildParams
    score: ScoreParams
    wild: WildParams
    runs: dict[str, RunParams] = {}


def find_root(start: Path | None = None) -> Path:
    """The project's folder: the nearest one at or above `start` that holds params.yaml.

    Args:
        start: Where to begin; the current folder by default.

    Raises:
        SeamError: There is none up to the file system's root.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "params.yaml").is_file() and (folder / "dvc.yaml").is_file():
            return folder
    raise SeamError(f"{here}: not inside a SEAM project. Change into the clone's folder.")


def load_params(root: Path) -> Params:
    """Read params.yaml and check every name, key and type.

    Args:
        root: The project's folder.

    Raises:
        SeamError: It is missing, not YAML, or a name cannot be one, or a key is unknown, missing
            or of a wrong type.
    """
    path = root / "params.yaml"
    data = _read(path)
    runs = data.get("runs") if isinstance(data, dict) else None
    for name in runs if isinstance(runs, dict) else ():
        check_name(name, f"{path}: runs", dots=False)
    score = data.get("score") if isinstance(data, dict) else None
    if isinstance(score, dict) and score.get("nli") is False:
        score["nli"] = "off"  # a bare off in YAML
    return _convert(path, data, Params)


def load_trials(root: Path) -> dict[str, RunParams]:
    """Read the settings of the runs that `seam try` made, by name.

    Raises:
        SeamError: As `load_params`.
    """
    paths = sorted((root / TRIED).glob("*.yaml"))
    return {check_name(p.stem, str(p)): _convert(p, _read(p), RunParams) for p in paths}


def _read(path: Path) -> object:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SeamError(f"{path}: cannot be read: {error}") from None


def _convert(path: Path, data: object, row_type: type[T]) -> T:
    try:
        return msgspec.convert(data, row_type)
    except SeamError as error:
        raise SeamError(f"{path}: {error}") from None
    except msgspec.ValidationError as error:
        raise SeamError(
            f"{path}: {error}. Compare with the comments in the committed params.yaml and with "
            f"{row_type.__name__} in seam_lib/core/params.py."
            f"{BARE if 'Expected `str`' in str(error) else ''}"
        ) from None
