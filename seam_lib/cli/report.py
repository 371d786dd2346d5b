"""The command that prints what a run found."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from seam_lib.report.results import RunResult


def register(app: typer.Typer) -> None:
    """Add this module's command to the app."""
    app.command()(report)


def report(
    runs: list[str] = typer.Argument(help="Scored runs, such as `embedded`; one or more."),
) -> None:
    """Print the main results of runs: rates, contrasts, and what limits them.

    Runs named together form one family: Holm's adjustment is over all of them, as it is over the
    panel in the paper. reports/RUN/ has the full report of a run: Markdown, a web page, a figure
    and tables.
    """
    from seam_lib.core.params import find_root
    from seam_lib.report.results import analyse_runs

    root = find_root()
    results = analyse_runs(root, runs)
    show(results)
    for result in results:
        page = root / "reports" / result.run.name / "report.html"
        if page.exists():
            typer.echo(f"report  {page.relative_to(root)}")


def show(results: "list[RunResult]") -> None:
    """Print the main results of one or several runs."""
    from rich.console import Console
    from rich.markdown import Markdown

    from seam_lib.report.words import cautions, semantic_tier

    console = Console(highlight=False)

    def heading(text: str) -> None:
        console.print(f"\n{text}", style="bold", markup=False)

    heading("Absorption rate (%) [95% interval] usable of planned")
    console.print(rate_table(results))
    for tier in sorted({semantic_tier(result.scoring).strip("*") for result in results}):
        console.print(tier, markup=False)
    for result in results:
        family = len(result.family)
        runs = f"{family} run{'s' * (family > 1)}"
        heading(f"{result.run.name}: paired contrasts, Holm over {runs}")
        console.print(contrast_table(result))
    for result in results:
        heading(f"{result.run.name}: before you believe the numbers")
        console.print(Markdown("\n".join(f"- {sentence}" for sentence in cautions(result))))


def rate_table(results: "list[RunResult]") -> "Table":
    """Rates with intervals and counts: one row per condition, one column per run."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from seam_lib.core.cells import percent
    from seam_lib.core.rows import condition_name

    table = Table("condition", box=SIMPLE_HEAD)
    cells: dict[str, list[str]] = {}
    for place, result in enumerate(results):
        table.add_column(f"{result.run.name}\n{result.run.settings.model}", overflow="fold")
        for row in result.analysis.rates.itertuples():
            column = cells.setdefault(row.condition, [""] * len(results))
            interval = f"{percent(row.low)}, {percent(row.high)}"
            column[place] = f"{percent(row.rate)} \\[{interval}] {row.n} of {row.planned}"
    for condition, column in cells.items():
        table.add_row(condition_name(condition), *column)
    return table


def contrast_table(result: "RunResult") -> "Table":
    """Paired differences with intervals, Holm's p, and what they say of condition b."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from seam_lib.report import tables

    shown = {"a / b": "a / b", "n": "n", "difference (pp)": "a - b (points)"}
    shown |= {"Holm p": "Holm p", "b absorbs": "b absorbs"}
    table = Table(*shown.values(), box=SIMPLE_HEAD)
    names = tables.display_names(result)
    rows = tables.contrast_table("contrasts", result.analysis, names).display
    for row in rows[list(shown)].itertuples(index=False):
        table.add_row(*(cell.replace("[", "\\[") for cell in row))
    return table
