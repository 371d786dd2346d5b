"""Commands about specimens: export them as a page."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    group = typer.Typer(no_args_is_help=True, help="Read what labels rest on, case by case.")
    group.command()(export)
    app.add_typer(group, name="specimens")


def export(
    runs: list[str] = typer.Argument(help="Scored runs of params.yaml, such as `embedded`."),
    out: Path | None = typer.Option(None, help="The page; runs/RUN.specimens.html if not given."),
) -> None:
    """Write every labelled case of a run as one HTML page that needs no network.

    The page shows the message with its parts coloured, the clean and the treated response with
    their difference, the evidence, and what the scorer removed. It has filters, search and keys
    (press ? in it). Model responses are shown as text and never run.
    """
    from seam_lib.core.params import find_root
    from seam_lib.read.files import export_page

    root = find_root()
    page = out or root / "runs" / f"{'+'.join(runs)}.specimens.html"
    count = export_page(root, runs, page)
    shown = page.relative_to(root) if page.is_relative_to(root) else page
    typer.echo(f"{count} specimens: {shown}. Open it in a browser.")
