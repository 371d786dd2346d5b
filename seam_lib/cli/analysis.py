"""Commands about the paper: verify, statistics, report."""

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(verify)


def verify(
    stage: list[str] | None = typer.Option(None, help="Only this stage; may be given again."),
) -> None:
    """Re-execute the stages in a scratch copy and compare every tracked output, byte for byte."""
    raise NotImplementedError
