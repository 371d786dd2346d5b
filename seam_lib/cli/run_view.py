"""What the run commands show: progress while calling, and counts that hide nothing afterwards."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from seam_lib.infer import Watch
from seam_lib.plan import Estimate, Run, State, estimate, load_cases, open_cases, state, tally
from seam_lib.schema import Trace
from seam_lib.traces import by_case, read_traces

console = Console(soft_wrap=True, highlight=False)


@contextmanager
def watching(run: Run, limit: int | None) -> Iterator[Watch]:
    """Show a bar with rate, cost and time left; yields what the runner tells of each attempt."""
    cases = load_cases(run)
    todo = len(open_cases(run.settings, cases, read_traces(run.traces))[:limit])
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[rate]} ${task.fields[usd]:.4f}"),
        TimeRemainingColumn(),
    )
    counts: Counter[str] = Counter()
    with Progress(*columns, console=console, speed_estimate_period=120) as progress:
        task = progress.add_task(run.name, total=todo, rate="", usd=0.0, visible=todo > 0)

        def watch(trace: Trace, where: State) -> None:
            counts["calls"] += 1
            counts["failed"] += trace.error is not None
            speed = progress.tasks[0].finished_speed or progress.tasks[0].speed or 0.0
            progress.update(
                task,
                advance=where != "missing",
                rate=f"{speed * 60:.0f}/min, {counts['failed']} failed calls,",
                usd=progress.tasks[0].fields["usd"] + (trace.cost_usd or 0.0),
            )

        yield watch


def show_tally(run: Run, stopped: str | None) -> bool:
    """Print what became of every case; True if each has a usable answer."""
    cases, traces = load_cases(run), read_traces(run.traces)
    rows = tally(cases, traces, run.settings)
    table = Table("condition", title=f"{run.name}: {run.settings.model}", title_justify="left")
    for name in ("planned", "usable", "retried", "unusable", "missing"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.condition,
            *map(str, (row.planned, row.usable, row.retried, row.unusable, row.missing)),
        )
    total = {
        name: sum(getattr(row, name) for row in rows)
        for name in ("planned", "usable", "retried", "unusable", "missing")
    }
    table.add_section()
    table.add_row("all", *map(str, total.values()))
    console.print(table)
    for reason, count in reasons(run).most_common(5):
        console.print(f"  {count} x {reason}", markup=False)
    if stopped:
        console.print(f"stopped: {stopped}", markup=False)
    if total["missing"]:
        console.print(
            f"{total['missing']} of {total['planned']} cases have no answer yet. "
            f"Go on with: seam infer {run.name}"
        )
    if total["unusable"]:
        console.print(
            f"{total['unusable']} of {total['planned']} cases are unusable after "
            f"{run.settings.attempts} answers; the scorer leaves them out and says so. To draw "
            f"more, raise runs.{run.name}.attempts or retry_max_tokens in params.yaml."
        )
    return not total["unusable"] and not total["missing"]


def reasons(run: Run) -> Counter[str]:
    """Why cases lack a usable answer: the last error or defect of each, counted."""
    cases, traces = load_cases(run), read_traces(run.traces)
    found: Counter[str] = Counter()
    for attempts in by_case(cases, traces).values():
        if attempts and state(attempts, run.settings) != "usable":
            last = attempts[-1]
            found[last.error or f"answer {last.finish_reason or 'empty'}"] += 1
    return found


def show_estimate(run: Run) -> Estimate:
    """Print what the next start would take: calls, tokens, time and money."""
    cases, traces = load_cases(run), read_traces(run.traces)
    todo = open_cases(run.settings, cases, traces)
    plan = estimate(run.settings, todo, traces)
    where = run.settings.base_url or f"the {run.settings.provider} provider's own server"
    console.print(f"{run.name}: {run.settings.model} at {where}", markup=False)
    console.print(f"  cases    {len(cases)} planned, {len(cases) - len(todo)} settled")
    console.print(f"  calls    {plan.calls}, if none must be repeated")
    console.print(f"  tokens   about {plan.input_tokens:,} in and {plan.output_tokens:,} out")
    console.print(
        f"           (hidden reasoning aside); at most {plan.output_tokens_at_most:,} out"
    )
    console.print(
        f"  time     about {timespan(plan.seconds)}: {plan.speed:.0f} tokens a second and call "
        f"({'measured' if plan.measured else 'assumed'}), {run.settings.concurrency} calls at once"
    )
    console.print(f"  cost     {cost_words(run, plan)}")
    return plan


def cost_words(run: Run, plan: Estimate) -> str:
    """The estimated cost, or why there is none."""
    if run.settings.provider == "llamacpp":
        return "none: the model runs on this machine"
    if plan.usd is None:
        return "unknown: the run has no price_in and price_out (US dollars a million tokens)"
    return f"about ${plan.usd:.2f}, at most ${plan.usd_at_most:.2f}"


def timespan(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_recheck(run: Run, pairs: list[tuple[Trace, Trace]], asked: int) -> None:
    """Print how many answers came back the same."""
    same = sum(old.response == new.response for old, new in pairs)
    console.print(f"{run.name}: {same} of {len(pairs)} answers are identical on this machine.")
    for old, new in pairs:
        if old.response != new.response:
            console.print(f"  differs: {old.case_id}", markup=False)
    if len(pairs) < asked:
        console.print(f"({asked} were asked for; {asked - len(pairs)} are not settled or failed.)")
