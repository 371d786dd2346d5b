"""params.yaml, typed: every knob of the pipeline, and where the project lies."""

from pathlib import Path
from typing import Annotated

import msgspec
import yaml

from seam_lib.errors import SeamError

#: How many draws or permutations; none is no answer.
Count = Annotated[int, msgspec.Meta(ge=1)]
#: What one 32-bit word holds, so that Python's and numpy's generators take it alike.
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class PublishedParams(msgspec.Struct, forbid_unknown_fields=True):
    """Where the paper's labels are read from."""

    labels: str


class AnalysisParams(msgspec.Struct, forbid_unknown_fields=True):
    """How the statistics are drawn (Appendix G)."""

    bootstrap_draws: Count
    bootstrap_seed: Seed
    permutations: Count


class Params(msgspec.Struct, forbid_unknown_fields=True):
    """The whole of params.yaml."""

    published: PublishedParams
    analysis: AnalysisParams


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
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SeamError(f"{path}: cannot be read: {error}") from None
    except msgspec.ValidationError as error:
        raise SeamError(
            f"{path}: {error}. Compare with the comments in the committed params.yaml."
        ) from None
