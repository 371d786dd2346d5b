"""params.yaml, typed: every setting of the pipeline, and how to find the project's folder."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import yaml

from seam_lib.core.errors import SeamError

T = TypeVar("T")

#: A number of draws, attempts or calls at once: at least one.
Count = Annotated[int, msgspec.Meta(ge=1)]
#: A 32-bit number, which Python's and numpy's generators both accept.
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]

#: Where `seam try` keeps the settings of its runs, a file each, and how their names begin.
TRIED, TRIAL = "data/runs", "try-"


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

    def __post_init__(self) -> None:
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


def is_trial(run: str) -> bool:
    """Whether `seam try` made a run of this name."""
    return run.startswith(TRIAL)


def load_params(root: Path) -> Params:
    """Read params.yaml and check every key and type; runs that `seam try` made are runs as well.

    Args:
        root: The project's folder.

    Raises:
        SeamError: A file is missing, not YAML, or a key is unknown, missing or of a wrong type.
    """
    params = _read(root / "params.yaml", Params)
    tried = {path.stem: _read(path, RunParams) for path in sorted((root / TRIED).glob("*.yaml"))}
    return msgspec.structs.replace(params, runs={**tried, **params.runs})


def _read(path: Path, row_type: type[T]) -> T:
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), row_type)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SeamError(f"{path}: cannot be read: {error}") from None
    except msgspec.ValidationError as error:
        raise SeamError(
            f"{path}: {error}. Compare with the comments in the committed params.yaml and with "
            f"{row_type.__name__} in seam_lib/core/params.py."
        ) from None
