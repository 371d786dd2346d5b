"""The report: typst source and computed numbers in, a PDF with the same bytes every time out."""

from pathlib import Path

import typst

from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_bytes


def compile_report(root: Path) -> Path:
    """Compile paper/report.typ with typst's own fonts, so that no machine's fonts enter.

    Args:
        root: The project's folder; the report reads statistics, tables, claims and figures in it.

    Returns:
        The path of the PDF.

    Raises:
        SeamError: The source does not compile, or a file it reads is not there yet.
    """
    source, target = root / "paper/report.typ", root / "paper/report.pdf"
    try:
        pdf = typst.compile(source, root=root, ignore_system_fonts=True, format="pdf")
    except (typst.TypstError, RuntimeError) as error:
        raise SeamError(
            f"{source}: {error}. If it misses a file, run `dvc repro`, which writes them in order."
        ) from None
    write_bytes(target, pdf)
    return target
