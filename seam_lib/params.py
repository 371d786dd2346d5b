"""params.yaml, typed: every knob of the pipeline, and where the project lies."""

from pathlib import Path
from typing import Literal

import msgspec
import yaml

from seam_lib.errors import SeamError


class PublishedParams(msgspec.Struct, forbid_unknown_fields=True):
    """Where the paper's labels are read from."""

    labels: str


class AnalysisParams(msgspec.Struct, forbid_unknown_fields=True):
    """How the statistics are drawn (Appendix G)."""

    bootstrap_draws: int
    bootstrap_seed: int
    permutations: int


Engine = Literal["local", "ray"]


class SyntheticParams(msgspec.Struct, forbid_unknown_fields=True):
    """A corpus of our own messages, made when it is first needed."""

    shards: int
    rows_per_shard: int
    seed: int


class CorpusParams(msgspec.Struct, forbid_unknown_fields=True):
    """A chat corpus: where it lies, how to get it, and where its rows keep what we read.

    `turns` names a list of turns, each with a role and a content, or a column that holds the
    message itself. Without `id` or `language` the corpus has no such column: messages are then
    named by their digest, and all of them are taken for English.
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
    corpora: list[str]
    known: dict[str, CorpusParams]
    engine: Engine
    workers: int

    def folder(self, root: Path) -> Path:
        """Where the audit's tracked results go."""
        return root / "data" / "wild" / self.name


class Params(msgspec.Struct, forbid_unknown_fields=True):
    """The whole of params.yaml."""

    published: PublishedParams
    analysis: AnalysisParams
    wild: WildParams


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
    """Read params.yaml and check every key and type.

    Args:
        root: The project's folder.

    Raises:
        SeamError: The file is missing, not YAML, or a key is unknown, missing or of a wrong type.
    """
    path = root / "params.yaml"
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Params)
    except (OSError, yaml.YAMLError) as error:
        raise SeamError(f"{path}: cannot be read: {error}") from None
    except msgspec.ValidationError as error:
        raise SeamError(
            f"{path}: {error}. Compare with the comments in the committed params.yaml."
        ) from None
