"""Specimens from and to disk: read runs, export the page, keep a reader's notes."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.files import append_text, csv_rows, csv_text, read_rows, write_text
from seam_lib.core.params import RunParams, load_params
from seam_lib.core.rows import Label, Output
from seam_lib.core.run import Run, load_cases, load_run
from seam_lib.read.html import GENERATOR, page_html
from seam_lib.read.specimens import Specimen, join
from seam_lib.score.nli import open_engine
from seam_lib.score.scorer import LEXICAL_ONLY, Provenance, read_provenance

#: Said beside everything that the embedded model answered.
TINY = (
    "The embedded model is tiny and the corpora are small ones of our own: these specimens show "
    "what absorption looks like, not how often a model in use does it."
)


def read_specimens(root: Path, runs: Sequence[str]) -> list[Specimen]:
    """Read the specimens of some runs.

    Args:
        root: The project's folder.
        runs: Names of runs in params.yaml that were scored.

    Raises:
        SeamError: A run is unknown, a file is missing, or labels and answers do not fit.
    """
    return [specimen for name in runs for specimen in _read(load_run(root, name))]


def _read(run: Run) -> list[Specimen]:
    labels = list(read_rows(run.labels, Label))
    semantic = any(label.tier == "semantic_nli" for label in labels)
    name = load_params(run.root).score.nli if semantic else "off"
    engine = open_engine(name, run.root)
    return join(run.name, load_cases(run), read_rows(run.outputs, Output), labels, engine)


def about(root: Path, runs: Sequence[str]) -> str:
    """What a reader of some runs' specimens must know, in sentences."""
    found = [load_run(root, name) for name in runs]
    told = [(run, read_provenance(run.labels)) for run in found]
    sentences = [_about(run.name, run.settings, provenance) for run, provenance in told]
    if any(provenance.nli == "off" for _, provenance in told):
        sentences.append(LEXICAL_ONLY)
    if any(run.settings.provider == "llamacpp" for run in found):
        sentences.append(TINY)
    return " ".join(sentences)


def _about(name: str, settings: RunParams, provenance: Provenance) -> str:
    planned, labelled = (sum(n.values()) for n in (provenance.planned, provenance.labelled))
    return (
        f"Run {name}: {settings.model} over the benchmark {settings.benchmark}, {labelled} labels. "
        f"{planned - labelled} of {planned} cases with a comment have none: their response or the "
        "clean one is missing or unusable."
    )


def export_page(root: Path, runs: Sequence[str], out: Path) -> int:
    """Write the specimens of some runs as one page.

    Args:
        root: The project's folder.
        runs: Names of scored runs.
        out: The page. An older page of specimens is replaced, no other file is.

    Returns:
        How many specimens it shows.

    Raises:
        SeamError: A run cannot be read, or `out` is something else.
    """
    if out.exists() and GENERATOR.encode() not in out.read_bytes()[:400]:
        raise SeamError(f"{out}: exists and is no page of specimens. Choose another --out.")
    specimens = read_specimens(root, runs)
    title = f"SEAM specimens: {', '.join(runs)}"
    write_text(out, page_html(title, about(root, runs), specimens))
    return len(specimens)


class Note(msgspec.Struct, frozen=True):
    """A reader's note on a specimen."""

    run: str
    model: str
    case_id: str
    absorbed: str
    tier: str
    note: str


COLUMNS = Note.__struct_fields__


def add_note(path: Path, specimen: Specimen, text: str) -> None:
    """Append a note to a CSV file; what stands there stays, and a second note is a second row.

    Args:
        path: The file; made with a header line if it does not exist.
        specimen: What the note is about.
        text: The note.

    Raises:
        SeamError: The file has other columns.
    """
    read_notes(path)  # refuses a file of another kind
    label = specimen.label
    absorbed = "1" if label.absorbed else "0"
    note = Note(specimen.run, label.model, label.case_id, absorbed, specimen.tier, text)
    append_text(path, csv_text([msgspec.structs.astuple(note)]), header=csv_text([COLUMNS]))


def read_notes(path: Path) -> list[Note]:
    """Read the notes, oldest first; none if there is no such file.

    Raises:
        SeamError: The file has other columns.
    """
    if not path.exists() or not path.stat().st_size:
        return []
    try:
        return [Note(**row) for _, row in csv_rows(path, COLUMNS)]
    except SeamError as error:
        raise SeamError(f"{error} It is not a file of notes: move it away.") from None
