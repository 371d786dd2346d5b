"""What the run commands show: progress while calling, and complete counts afterwards."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from msgspec.structs import asdict
from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from seam_lib.build.release import DIGESTS, compare_digests, lacking, read_digests
from seam_lib.core.rows import Trace
from seam_lib.core.run import Run, load_cases
from seam_lib.infer import runner
from seam_lib.infer.plan import Forecast, State, forecast, open_prompts, reasons, tally
from seam_lib.infer.prompts import load_prompts, prompt_of
from seam_lib.infer.providers import URL_ENV
from seam_lib.infer.traces import outputs, read_traces

console = Console(soft_wrap=True, highlight=False)


def call(run: Run, limit: int | None) -> str | None:
    """Call the model with a progress bar; returns why it stopped early, or None."""
    show_gaps(run)
    prompts = load_prompts(run)
    todo = len(open_prompts(run.settings, prompts, read_traces(run.traces))[:limit])
    with watching(run, todo) as watch:
        return runner.infer(run, prompts, limit=limit, watch=watch)


def call_again(run: Run, count: int) -> None:
    """Call settled cases again and say how many answers are the same."""
    with watching(run, count) as watch:
        pairs = runner.recheck(run, load_prompts(run), count, watch=watch)
    different = [old.case_id for old, new in pairs if old.response != new.response]
    same = len(pairs) - len(different)
    console.print(f"{run.name}: {same} of {len(pairs)} answers are identical on this machine.")
    for case_id in different:
        console.print(f"  differs: {case_id}", markup=False)
    if len(pairs) < count:
        console.print(f"({count} were wanted; the others are not settled, or the call failed.)")


@contextmanager
def watching(run: Run, todo: int) -> Iterator[runner.Watch]:
    """Show a bar with rate, cost and time left; yields the function that the runner calls."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]:.0f}/min, {task.fields[failed]} failed calls"),
        TextColumn("${task.fields[usd]:.4f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=300) as progress:
        bar = progress.add_task(run.name, total=todo, visible=todo > 0, speed=0, failed=0, usd=0.0)
        task = progress.tasks[0]

        def watch(trace: Trace, where: State) -> None:
            progress.update(
                bar,
                advance=where != "missing",
                speed=60 * (task.speed or 0.0),
                failed=task.fields["failed"] + (trace.error is not None),
                usd=task.fields["usd"] + (trace.cost_usd or 0.0),
            )

        yield watch


def show_tally(run: Run, stopped: str | None) -> bool:
    """Print what became of every case; True if each has a usable answer."""
    cases, traces = load_cases(run), read_traces(run.traces)
    counts = tally(cases, traces, run.settings)
    all_of_them = counts[-1]
    print_frame(f"{run.name}: {run.settings.model}", pd.DataFrame(map(asdict, counts)))
    for words, count in reasons(map(prompt_of, cases), traces).most_common(5):
        console.print(f"  {count} x {words}", markup=False)
    if stopped:
        console.print(f"stopped: {stopped}", markup=False)
    if all_of_them.missing:
        console.print(
            f"{all_of_them.missing} of {all_of_them.planned} cases have no answer yet. "
            f"Continue with: {run.command}"
        )
    if all_of_them.unusable:
        console.print(
            f"{all_of_them.unusable} of {all_of_them.planned} cases are unusable: no answer drawn "
            f"was whole. The scorer leaves them out and says so. To draw again, set attempts "
            f"higher than {run.settings.attempts} in {run.home}."
        )
    return all_of_them.usable == all_of_them.planned


def show_gaps(run: Run) -> None:
    """Name the clusters of the release that a copy of it lacks."""
    path = run.root / DIGESTS
    digests = read_digests(path) if path.exists() else {}
    if gaps := lacking(compare_digests(load_cases(run), digests)):
        console.print(f"  note    of the paper's benchmark, {run.settings.benchmark} lacks {gaps}")


def show_dry_run(run: Run) -> None:
    """Print what the next start would do, without doing it."""
    show_forecast(run, forecast(run.settings, load_prompts(run), read_traces(run.traces)))
    console.print("Nothing was called.")


def show_forecast(run: Run, plan: Forecast) -> None:
    """Print what the next start would take: calls, tokens, time and money."""
    provider, address = run.settings.provider, run.settings.base_url
    where = address or f"the {provider} provider's own address"
    console.print(f"{run.name}: {run.settings.model} at {where}", markup=False)
    if (name := URL_ENV.get(provider, "")) in os.environ and address is None:
        console.print(f"  note    {name} is set, but a run does not read it: give --base-url")
    show_gaps(run)
    console.print(f"  cases   {plan.prompts} planned, {plan.prompts - plan.calls} settled")
    console.print(f"  calls   {plan.calls}, if none must be repeated")
    console.print(f"  tokens  about {plan.input_tokens:,} in and {plan.output_tokens:,} out;")
    console.print(f"          with loops and hidden reasoning at most {plan.at_most:,} out")
    most = timespan(plan.seconds_at_most)
    console.print(
        f"  time    about {timespan(plan.seconds)}, or {most} if every answer runs to its cap, at "
        f"{plan.speed:.0f} tokens"
    )
    console.print(
        f"          per second and call ({'measured' if plan.measured else 'assumed'}), "
        f"{run.settings.concurrency} at once"
    )
    console.print(f"  cost    {cost_words(run, plan)}")


def cost_words(run: Run, plan: Forecast) -> str:
    """The estimated cost, or why there is none."""
    if run.settings.provider == "llamacpp":
        return "none: the model runs on this machine"
    if plan.usd is None:
        return "unknown: set --price-in and --price-out (US dollars per million tokens)"
    return f"about ${plan.usd:.2f}, at most ${plan.usd_at_most:.2f}"


def timespan(seconds: float) -> str:
    """Seconds in words: seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_export(run: Run, path: Path, calls: int) -> None:
    """Say what was exported and how the results come back."""
    console.print(f"{path}: {calls} calls of run {run.name}.", markup=False)
    console.print(f"To import the results: seam infer {run.name} --import-batch RESULTS")


def show_import(run: Run, taken: int, left_out: int) -> None:
    """Say what was taken from a batch's results, and how the rest is asked."""
    console.print(f"{taken} attempts imported; {left_out} were already in the traces.")
    console.print(f"To export what is still open: seam infer {run.name} --export-batch FILE")


def show_health(run: Run) -> None:
    """Print a run's diagnosis."""
    from seam_lib.infer.health import diagnose
    from seam_lib.score.damage import empty_words, left_empty

    cases, traces = load_cases(run), read_traces(run.traces)
    found = diagnose(cases, traces, run.settings)
    emptied = empty_words(left_empty(cases, outputs(map(prompt_of, cases), traces)), run.name)
    warnings = [*found.warnings, *filter(None, [emptied])]
    print_frame(f"{run.name}: {run.settings.model}", found.outcomes)
    print_frame("calls (p50/p95: median and 95th percentile)", found.calls)
    print_frame("collected", found.windows)
    print_frame("by whom and how", found.provenance)
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False)
    if not warnings:
        console.print("No warnings.")


def print_frame(title: str, frame: pd.DataFrame) -> None:
    """Print a frame; numbers are aligned right, and names in the first column are never cut."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for place, column in enumerate(frame):
        numeric = pd.api.types.is_numeric_dtype(frame[column])
        justify: JustifyMethod = "right" if numeric else "left"
        table.add_column(str(column), justify=justify, overflow="fold", no_wrap=place == 0)
    for row in frame.itertuples(index=False):
        table.add_row(*map(str, row))
    console.print(table)
