"""params.yaml, typed: every knob of the pipeline, and where the project lies."""

from pathlib import Path
from typing import Annotated, Literal

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


class BuildParams(msgspec.Struct, forbid_unknown_fields=True):
    """Which benchmark is built, and from what (Sections 3.1 and 3.2)."""

    name: str
    source: Literal["files", "hub"]
    per_source: Annotated[int, msgspec.Meta(ge=1)]
    seed: int
    conditions: list[str]
    plugins: list[str]
    questions: Literal["release", "search"]
    revisions: dict[str, str]


class Params(msgspec.Struct, forbid_unknown_fields=True):
    """The whole of params.yaml."""

    published: PublishedParams
    analysis: AnalysisParams
    build: BuildParams


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
