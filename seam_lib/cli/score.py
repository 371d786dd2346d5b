"""Commands about labels: score a run, explain one label, compare with older labels."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

if TYPE_CHECKING:
    from seam_lib.core.params import ScoreParams


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(score)


class Files(NamedTuple):
    """What a scoring reads and writes."""

    root: Path
    cases: Path
    outputs: Path
    labels: Path


def score(
    run: str | None = typer.Argument(None, help="A run of params.yaml; or give the three files."),
    cases: Path | None = typer.Option(None, help="The benchmark: a folder or a JSON Lines file."),
    outputs: Path | None = typer.Option(
        None, help="Answers as JSON Lines: case_id, model, response, error, finish_reason."
    ),
    labels: Path | None = typer.Option(None, help="Where the labels go."),
    nli: str | None = typer.Option(
        None,
        help="Semantic tier: an entailment model's name, a folder, or off.  "
        "[default: score.nli of params.yaml]",
    ),
    no_nli: bool = typer.Option(False, "--no-nli", help="The two lexical tiers only."),
    explain: str | None = typer.Option(
        None, metavar="CASE", help="Show the evidence for this case's label; write nothing."
    ),
    diff: Path | None = typer.Option(
        None, metavar="OLD", help="Show every label that differs from OLD's; write nothing."
    ),
) -> None:
    """Label the answers of a run: was the comment absorbed, and which tier saw it?

    seam score RUN reads data/outputs/RUN.jsonl and writes data/labels/RUN.jsonl. Answers from
    elsewhere need no run: seam score --cases FILE --outputs FILE --labels FILE.
    """
    from rich.console import Console

    from seam_lib.cli import label_view
    from seam_lib.core.errors import SeamError
    from seam_lib.score.checks import changes
    from seam_lib.score.nli import open_engine
    from seam_lib.score.scorer import read_and_score, score_files

    if explain and diff:
        raise SeamError("Give --explain or --diff, not both: --diff compares all cases.")
    files = find_files(run, cases, outputs, labels)
    settings = find_settings()
    name = "off" if no_nli else nli or settings.nli
    engine = open_engine(name, files.root)
    console = Console(highlight=False)
    if explain:
        found = read_and_score(files.cases, files.outputs, engine, explain)
        label_view.show_case(console, explain, *found)
    elif diff:
        findings, _ = read_and_score(files.cases, files.outputs, engine)
        label_view.show_changes(console, changes(diff, findings, settings.seed))
    else:
        _, provenance = score_files(files.root, files.cases, files.outputs, files.labels, engine)
        label_view.show_rates(console, files.labels, provenance)


def find_files(
    run: str | None, cases: Path | None, outputs: Path | None, labels: Path | None
) -> Files:
    """The files of a run, or the three files given; anything else is an error."""
    from seam_lib.core.errors import SeamError
    from seam_lib.core.params import find_root
    from seam_lib.core.run import load_run

    if run is None and cases and outputs and labels:
        return Files(Path.cwd(), cases, outputs, labels)
    if run is None or cases or outputs or labels:
        raise SeamError("Give a run's name, or all three of --cases, --outputs and --labels.")
    found = load_run(find_root(), run)
    return Files(found.root, found.benchmark, found.outputs, found.labels)


def find_settings() -> "ScoreParams":
    """The project's settings; the defaults where there is no project."""
    from seam_lib.core.errors import SeamError
    from seam_lib.core.params import ScoreParams, find_root, load_params

    try:
        root = find_root()
    except SeamError:
        return ScoreParams()
    return load_params(root).score
