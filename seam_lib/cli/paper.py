"""Commands about the paper: compile its PDF, verify that it reproduces."""

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(paper)
    app.command()(verify)


def paper() -> None:
    """Compile paper/report.typ to paper/report.pdf from the computed statistics."""
    from seam_lib.claims.paper import compile_report
    from seam_lib.core.params import find_root

    typer.echo(compile_report(find_root()))


def verify(
    stage: list[str] = typer.Option([], help="Only this stage; repeat for more."),
) -> None:
    """Run the stages again in a scratch copy and compare every tracked output, byte for byte.

    Prints one line per output: stage, path, expected hash, hash found, verdict. The exit status is
    1 on any difference: a changed output, a changed input, or code that now gives other bytes.
    """
    from rich.console import Console

    from seam_lib.core.params import find_root
    from seam_lib.verify import verify as run

    with Console(stderr=True).status("Running the stages again in a scratch copy"):
        lines = run(find_root(), stage)
    width = max((len(line.path) for line in lines), default=0)
    stages = max((len(line.stage) for line in lines), default=0)
    for line in lines:
        expected, got = line.expected[:12], line.got[:12]
        typer.echo(
            f"{line.stage:{stages}}  {line.path:{width}}  {expected:12}  {got:12}  {line.verdict}"
        )
    different = sum(line.verdict != "same" for line in lines)
    typer.echo(f"{len(lines) - different} outputs reproduced byte for byte.")
    if any(line.verdict == "not in dvc.yaml" for line in lines):
        typer.echo(
            "A stage that is not in dvc.yaml was renamed or removed: delete its entry in dvc.lock."
        )
    if different:
        typer.echo(
            f"{different} differ. If you meant the change, run `dvc repro`; if not, `git checkout`."
        )
        raise typer.Exit(1)
