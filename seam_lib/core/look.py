"""One look for all figures, and saving them so that the same data give the same bytes."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from seam_lib.core.files import write_bytes
from seam_lib.core.palette import BLACK, BLUE, GREEN, PURPLE, VERMILION

#: Names of tools and dates are left out of the files: they would change bytes without data.
METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


#: A named line's colour, marker and line style: no two share any of the three.
MARKS: tuple[tuple[str, str, Any], ...] = (
    (BLUE, "o", "-"),
    (VERMILION, "s", "--"),
    (GREEN, "^", "-."),
    (BLACK, "D", ":"),
    (PURPLE, "v", (0, (5, 1, 1, 1))),
)


@contextmanager
def style() -> Iterator[None]:
    """One look for all figures, whatever the reader's own matplotlib settings are."""
    settings: Any = {
        "axes.spines.right": False,
        "axes.spines.top": False,
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "pdf.fonttype": 42,
        "savefig.dpi": 150,
        "svg.fonttype": "path",
        "svg.hashsalt": "seam",
    }
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield


def save(figure: Figure, stem: Path) -> None:
    """Write STEM.svg, STEM.pdf and STEM.png with nothing in them but the figure."""
    with style():
        for kind, metadata in METADATA.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata, bbox_inches="tight")
            write_bytes(stem.with_name(f"{stem.name}.{kind}"), buffer.getvalue())
