"""Commands about labels: score a run, explain one label, compare with older labels."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from seam_lib.cascade import Entailment
    from seam_lib.score import Judgment


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(score)


def score(
    run: str | None = typer.Argument(None, help="A run of params.yaml; or give the three files."),
    cases: Path | None = typer.Option(None, help="The benchmark: a folder or a JSON Lines file."),
    outputs: Path | None = typer.Option(
        None, help="Answers, one JSON row a line: case_id, model, response, error, finish_reason."
    ),
    labels: Path | None = typer.Option(None, help="Where the labels go."),
    nli: str | None = typer.Option(
        None, help="Entailment model: a name, a folder, or off [default: score.nli in params.yaml]."
    ),
    no_nli: bool = typer.Option(False, "--no-nli", help="The two lexical tiers only."),
    explain: str | None = typer.Option(
        None, metavar="CASE", help="Show what this case's label rests on, and write nothing."
    ),
    diff: Path | None = typer.Option(
        None, metavar="OLD", help="Show every label that differs from OLD's, and write nothing."
    ),
) -> None:
    """Label the answers of a run: was the comment absorbed, and which tier saw it?

    seam score RUN reads data/outputs/RUN.jsonl and writes data/labels/RUN.jsonl. Answers from
    elsewhere need no run: seam score --cases FILE --outputs FILE --labels FILE.
    """
    raise NotImplementedError
