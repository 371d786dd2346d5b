"""Commands about runs: ask the model, look at the run's health."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(infer)
    app.command()(health)


def infer(
    run: str = typer.Argument(help="A run of params.yaml, such as `embedded`."),
    limit: int | None = typer.Option(None, min=1, help="Ask at most this many open cases."),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Estimate calls, tokens and dollars; call nothing."
    ),
    recheck: int | None = typer.Option(
        None, min=1, help="Ask this many settled cases again: how many answers are the same?"
    ),
    export_batch: Path | None = typer.Option(
        None, help="Write the open cases as an OpenAI batch file; call nothing."
    ),
    import_batch: Path | None = typer.Option(
        None, help="Add the results of such a batch to the run's traces; call nothing."
    ),
) -> None:
    """Ask the run's model for every answer that is still missing.

    After any stop (a crash, Ctrl-C, a spent budget) start it again: it continues where the traces
    end, and never repeats a case that has a usable answer. The exit status is 1 while a case has
    none.
    """
    from seam_lib.cli import run_view
    from seam_lib.core.params import find_root
    from seam_lib.core.run import load_run
    from seam_lib.infer import batches
    from seam_lib.infer.prompts import load_prompts

    if sum(map(bool, (dry_run, recheck, export_batch, import_batch, limit))) > 1:
        raise typer.BadParameter("these options cannot be combined")
    the_run = load_run(find_root(), run)
    if dry_run:
        run_view.show_dry_run(the_run)
    elif recheck is not None:
        run_view.call_again(the_run, recheck)
    elif export_batch is not None:
        calls = batches.export_batch(the_run, load_prompts(the_run), export_batch)
        run_view.show_export(the_run, export_batch, calls)
    else:
        if import_batch is not None:
            prompts = load_prompts(the_run)
            run_view.show_import(the_run, *batches.import_batch(the_run, prompts, import_batch))
            stopped = None
        else:
            stopped = run_view.call(the_run, limit)
        if not run_view.show_tally(the_run, stopped):
            raise typer.Exit(1)


def health(run: str = typer.Argument(help="A run of params.yaml, such as `embedded`.")) -> None:
    """Show a run's health from its traces: empty answers, cut-offs, loops, latency, servers, times.

    Warns if conditions of one run were served or decoded differently, or more than a day apart: a
    difference between them may then come from the serving (paper, Appendix H).
    """
    from seam_lib.cli import run_view
    from seam_lib.core.params import find_root
    from seam_lib.core.run import load_run

    run_view.show_health(load_run(find_root(), run))
