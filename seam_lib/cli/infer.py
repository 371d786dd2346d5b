"""Commands about runs: ask the model, look at the run's health."""

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(infer)


def infer(
    run: str = typer.Argument(help="A run of params.yaml, such as `embedded`."),
    limit: int | None = typer.Option(None, min=1, help="Take at most so many open cases."),
    dry_run: bool = typer.Option(False, help="Count calls, tokens and dollars; call nothing."),
    recheck: int | None = typer.Option(
        None, min=1, help="Call so many settled cases again; report how many answers are the same."
    ),
) -> None:
    """Ask the run's model for every answer that is still lacking.

    Start it again after any stop (a crash, Ctrl-C, a limit): it goes on where the traces end, and
    asks nothing twice that has a usable answer. Exit status 1 as long as a case lacks one.
    """
    from seam_lib import infer as runner
    from seam_lib.cli.run_view import show_dry_run, show_recheck, show_tally, watching
    from seam_lib.params import find_root
    from seam_lib.plan import load_run

    the_run = load_run(find_root(), run)
    if dry_run:
        show_dry_run(the_run)
        return
    if recheck is not None:
        with watching(the_run, recheck) as watch:
            pairs = runner.recheck(the_run, recheck, watch=watch)
        show_recheck(the_run, pairs, recheck)
        return
    with watching(the_run, limit) as watch:
        stopped = runner.infer(the_run, limit=limit, watch=watch)
    if not show_tally(the_run, stopped):
        raise typer.Exit(1)
