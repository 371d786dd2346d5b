"""The report: from Typst source and computed numbers to a PDF, the same bytes every time."""

from pathlib import Path

import typst

from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_bytes


def compile_report(root: Path) -> Path:
    """Compile paper/report.typ with Typst's own fonts, so the result is the same on every machine.

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
            f"{source}: {error}. If a file is missing, run `dvc repro`, which writes them in order."
        ) from None
    write_bytes(target, pdf)
    return target
