"""Commands about real chat logs: does the message shape occur there?"""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    wild = typer.Typer(
        no_args_is_help=True,
        help="Occurrence audit of chat logs: screen, judge, sample, annotate, audit, in turn.",
    )
    for command in (screen, judge, sample, annotate, audit):
        wild.command()(command)
    app.add_typer(wild, name="wild")


def screen() -> None:
    """Screen the corpora of params.yaml for pastes with the user's own words below them.

    Downloads a corpus from the hub first. After any stop, start it again: it continues at the shard
    where it stopped. Writes hashes, kinds and lengths, never a message.
    """
    from seam_lib.core.params import find_root, load_params
    from seam_lib.wild.screen import screen as run

    root = find_root()
    wild = load_params(root).wild
    for shard in run(root, wild):
        typer.echo(f"left out, not readable: {shard}. Fetch it again, then start again.", err=True)
    typer.echo((wild.folder(root) / "screen.csv").read_text(encoding="utf-8"), nl=False)


def judge() -> None:
    """Let the judge of params.yaml read the candidates and say which are genuine.

    After any stop, start it again: nothing is asked twice. The exit status is 1 while a candidate
    has no answer.
    """
    from seam_lib.cli.run_view import watching
    from seam_lib.core.params import find_root, load_params
    from seam_lib.wild.judge import judge as run
    from seam_lib.wild.judge import prepare

    root = find_root()
    docket = prepare(root, load_params(root).wild)
    with watching(docket.run, len(docket.open)) as watch:
        tally = run(docket, watch=watch)
    typer.echo(
        f"{tally.genuine} genuine, {tally.not_genuine} not, {tally.unparseable} unparseable "
        f"(excluded), {tally.missing} missing"
    )
    if tally.stopped:
        typer.echo(f"stopped: {tally.stopped}")
    if tally.missing:
        typer.echo("Continue with: seam wild judge")
        raise typer.Exit(1)


def sample() -> None:
    """Draw the judged positives that people annotate, and write their hashes."""
    from seam_lib.core.params import find_root, load_params
    from seam_lib.wild.sample import write_sample

    root = find_root()
    typer.echo(write_sample(root, load_params(root).wild).relative_to(root))


def annotate() -> None:
    """Write the annotation page of the sample: one file, to open in a browser.

    It holds message text and so lies in runs/, which git ignores. Each annotator opens it alone,
    answers with Y and N, and exports a CSV file.
    """
    from seam_lib.core.params import find_root, load_params
    from seam_lib.wild.annotate import write_page

    root = find_root()
    typer.echo(write_page(root, load_params(root).wild).relative_to(root))


def audit(
    a: Path = typer.Argument(help="Annotator A's exported file."),
    b: Path = typer.Argument(help="Annotator B's exported file."),
) -> None:
    """Read two annotators' files: agreement with intervals, and the estimate for the pool."""
    from seam_lib.analysis.agreement import agreement, printed, write_tables
    from seam_lib.core.cells import markdown
    from seam_lib.core.params import find_root, load_params
    from seam_lib.wild.audit import check_sample, cross, estimate, read_answers
    from seam_lib.wild.judge import positives
    from seam_lib.wild.sample import draw_sample

    root = find_root()
    params = load_params(root)
    answers_a, answers_b = read_answers(a), read_answers(b)
    sample = {name: row.hash for name, row in draw_sample(root, params.wild).items()}
    check_sample(params.wild.name, sample, answers_a)
    tables = cross(answers_a, answers_b)
    settings = params.analysis
    found = agreement(tables, settings.bootstrap_draws, settings.bootstrap_seed)
    write_tables(params.wild.folder(root) / "agreement.csv", tables)
    typer.echo(markdown(printed(found)))
    pool = len(positives(root, params.wild))
    guess = estimate(tables["genuine"], pool)
    typer.echo(
        f"{guess.consensus} of {guess.sampled} by both: about {guess.matches:,} of the {pool:,} "
        f"judged positives match, at least {guess.lower_bound:,} (95% Wilson bound)."
    )
