"""The health of a run: what its traces tell before anybody scores its outputs.

Appendix F (empties, cut-offs, loops) and Appendix H (conditions that were collected apart, or
served by something else) happened to a careful study; here they are checks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec
import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from seam_lib.core.answers import flaw, usable
from seam_lib.core.params import RunParams
from seam_lib.core.rows import Case, Output, Trace, condition_name
from seam_lib.infer.plan import state, tally
from seam_lib.infer.prompts import prompt_of
from seam_lib.infer.traces import by_prompt, repeats

#: Conditions whose middle calls lie further apart than this were not collected together.
APART = timedelta(days=1)
NOT_RECORDED = "not recorded"
#: Unusable outputs cluster in a condition where chance would put them there this seldom.
CLUSTER_P = 0.01


class Crowded(msgspec.Struct, frozen=True, tag_field="kind"):
    """Unusable cases crowd in one condition."""

    condition: str
    unusable: int
    settled: int
    unusable_elsewhere: int
    settled_elsewhere: int

    def __str__(self) -> str:
        return (
            f"unusable outputs cluster in {self.condition}: {self.unusable} of {self.settled} "
            f"there, {self.unusable_elsewhere} of {self.settled_elsewhere} elsewhere; compare it "
            f"with care"
        )


class Looping(msgspec.Struct, frozen=True, tag_field="kind"):
    """Answers or hidden reasoning repeat themselves: how many, by condition."""

    counts: dict[str, int]

    def __str__(self) -> str:
        where = ", ".join(f"{condition} {n}" for condition, n in self.counts.items())
        return f"answers or their reasoning fell into a repetition loop: {where}"


class Thinking(msgspec.Struct, frozen=True, tag_field="kind"):
    """Some answers, but not all, had their thinking inside the content."""

    some: int
    answers: int

    def __str__(self) -> str:
        return (
            f"{self.some} of {self.answers} answers had thinking inside the content, which is kept "
            "apart from them: the server has no parser for it, or the model thinks at will"
        )


class Differing(msgspec.Struct, frozen=True, tag_field="kind"):
    """Conditions were not served or decoded alike (Appendix H): each value's conditions."""

    what: str
    values: dict[str, str]

    def __str__(self) -> str:
        words = "; ".join(f"{value} ({where})" for value, where in self.values.items())
        return f"conditions differ in {self.what}: {words}"


class Unrecorded(msgspec.Struct, frozen=True, tag_field="kind"):
    """Some answers carry no served model."""

    def __str__(self) -> str:
        return "some answers carry no served model: which weights gave them cannot be verified"


class Apart(msgspec.Struct, frozen=True, tag_field="kind"):
    """Two conditions were collected at different times (Appendix H)."""

    first: str
    last: str
    days: float

    def __str__(self) -> str:
        return f"{self.first} and {self.last} were collected {self.days:.1f} days apart"


#: What is odd about a run. As text, each is a sentence without its full stop.
HealthWarning = Crowded | Looping | Thinking | Differing | Unrecorded | Apart


@dataclass(frozen=True)
class Health:
    """A run's diagnosis: what came back, when, and from whom."""

    outcomes: pd.DataFrame  # one row per condition: what became of its cases
    calls: pd.DataFrame  # one row per condition: attempts, defects, latency, length
    windows: pd.DataFrame  # one row per condition: first and last answer (UTC), tagged departures
    provenance: pd.DataFrame  # a row a distinct value: who served which conditions, and how
    warnings: list[HealthWarning]


def diagnose(cases: list[Case], traces: Sequence[Trace], settings: RunParams) -> Health:
    """Diagnose a run from its record.

    Args:
        cases: The run's benchmark.
        traces: Its log.
        settings: Its entry in params.yaml.

    Returns:
        Tables and warnings.
    """
    attempts = by_prompt(map(prompt_of, cases), traces)
    counts = tally(cases, traces, settings)
    tried: dict[str, list[Trace]] = {row.condition: [] for row in counts[:-1]}
    for case in cases:
        tried[condition_name(case.condition)].extend(attempts[case.id])
    provenance = _provenance(tried)
    return Health(
        outcomes=pd.DataFrame(map(msgspec.structs.asdict, counts)),
        calls=pd.DataFrame([{"condition": c, **_calls(tried[c])} for c in tried]),
        windows=pd.DataFrame([{"condition": c, **_window(tried[c])} for c in tried]),
        provenance=provenance,
        warnings=[
            *_clusters(cases, attempts, settings),
            *_loops(tried),
            *_thinking(traces),
            *_differences(provenance),
            *_distance(tried),
        ],
    )


def answers(cases: list[Case], traces: Iterable[Trace]) -> pd.DataFrame:
    """Each answer on record beside its artifact's length, for a look at cut-offs.

    Returns:
        Columns condition, artifact characters, answer tokens, and kind: whole, cut off or empty.
        Answers whose tokens were not reported are left out.
    """
    attempts = by_prompt(map(prompt_of, cases), traces)
    rows = [
        (case.condition, len(case.artifact), trace.usage["output_tokens"], _kind(trace))
        for case in cases
        for trace in attempts[case.id]
        if trace.error is None and "output_tokens" in trace.usage
    ]
    return pd.DataFrame(rows, columns=["condition", "artifact characters", "answer tokens", "kind"])


def by_source(cases: Iterable[Case], outputs: Mapping[str, Output]) -> pd.DataFrame:
    """What became of each source's cases: where sources differ, so may the decoding behind them.

    Args:
        cases: The run's benchmark.
        outputs: Its outputs by case id; cases without one are left out.

    Returns:
        Columns source, cases, usable, departures (usable answers of another decoding).
    """
    found = [(case.source, outputs[case.id]) for case in cases if case.id in outputs]
    frame = pd.DataFrame(
        {
            "source": [source for source, _ in found],
            "cases": 1,
            "usable": [usable(output) for _, output in found],
            "departures": [bool(usable(o) and o.decoding) for _, o in found],
        }
    )
    return frame.groupby("source").sum().reset_index()


def in_hours(windows: pd.DataFrame) -> pd.DataFrame:
    """The windows of a run as hours since its first answer; empty where there is no answer."""
    start = pd.to_datetime(windows["first"]).min()
    words = {}
    for end in ("first", "last"):
        hours = (pd.to_datetime(windows[end]) - start).dt.total_seconds() / 3600
        words[end] = ["" if np.isnan(x) else f"{x:.1f} h" for x in hours]
    return windows.assign(**words)


def _calls(traces: list[Trace]) -> dict[str, object]:
    """Attempts of one condition by outcome; latency and length as median/95th percentile."""
    came = [t for t in traces if t.error is None]
    kinds = Counter(map(_kind, came))
    seconds = [t.seconds for t in came if t.seconds]  # batches record no latency
    tokens = [t.usage["output_tokens"] for t in came if "output_tokens" in t.usage]
    return {
        "calls": len(traces),
        "failed": len(traces) - len(came),
        "empty": kinds["empty"],
        "cut off": kinds["cut off"],
        "loops": sum(map(_loops_somewhere, came)),
        "s p50/p95": _percentiles(seconds, 1),
        "tokens p50/p95": _percentiles(tokens, 0),
    }


def _window(traces: list[Trace]) -> dict[str, object]:
    """When one condition was collected, and how many of its answers depart from the run."""
    came = [t for t in traces if t.error is None]
    times = sorted(t.started_at[:16].replace("T", " ") for t in came)
    return {
        "first": times[0] if times else "",
        "last": times[-1] if times else "",
        "departures": sum(map(_departs, came)),
    }


def _provenance(tried: dict[str, list[Trace]]) -> pd.DataFrame:
    """Each distinct server and decoding, with the conditions that it answered (Appendix H)."""
    found: dict[tuple[str, str], list[str]] = {}
    for condition, traces in tried.items():
        values: set[tuple[str, str]] = set()
        for trace in (t for t in traces if t.error is None):
            values.add(("served model", trace.served_model or NOT_RECORDED))
            values.add(("endpoint", trace.endpoint))
            if not _departs(trace):
                values.update(_usual_decoding(trace).items())
        for value in sorted(values):
            found.setdefault(value, []).append(condition)
    answered = [c for c, traces in tried.items() if any(t.error is None for t in traces)]
    rows = [
        {
            "what": what,
            "value": value,
            "conditions": "all" if where == answered else ", ".join(where),
        }
        for (what, value), where in sorted(found.items())
    ]
    return pd.DataFrame(rows, columns=["what", "value", "conditions"])


def _clusters(
    cases: list[Case], attempts: dict[str, list[Trace]], settings: RunParams
) -> Iterator[Crowded]:
    """Warn where unusable cases crowd in one condition (Fisher's exact test against the rest)."""
    settled: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for case in cases:
        where = state(attempts[case.id], settings)
        name = condition_name(case.condition)
        settled[name] += where != "missing"
        bad[name] += where == "unusable"
    n, k = settled.total(), bad.total()
    for condition, here in bad.items():
        there = settled[condition]
        table = [[here, there - here], [k - here, n - there - (k - here)]]
        if fisher_exact(table, alternative="greater").pvalue < CLUSTER_P:
            yield Crowded(condition, here, there, k - here, n - there)


def _loops(tried: dict[str, list[Trace]]) -> Iterator[Looping]:
    """Warn of answers or hidden reasoning that repeat themselves."""
    counts = {c: sum(map(_loops_somewhere, traces)) for c, traces in tried.items()}
    if any(counts.values()):
        yield Looping({condition: n for condition, n in counts.items() if n})


def _differences(provenance: pd.DataFrame) -> Iterator[Differing | Unrecorded]:
    """Warn where conditions were not served or decoded alike (Appendix H)."""
    for what, rows in provenance[provenance["conditions"] != "all"].groupby("what"):
        yield Differing(str(what), dict(zip(rows["value"], rows["conditions"], strict=True)))
    if NOT_RECORDED in set(provenance["value"]):
        yield Unrecorded()


def _distance(tried: dict[str, list[Trace]]) -> Iterator[Apart]:
    """Warn where conditions were collected at different times (Appendix H)."""
    middles = {c: middle for c, traces in tried.items() if (middle := _middle(traces))}
    if middles:
        first, last = min(middles, key=middles.__getitem__), max(middles, key=middles.__getitem__)
        apart = middles[last] - middles[first]
        if apart > APART:
            yield Apart(first, last, apart / timedelta(days=1))


def _middle(traces: list[Trace]) -> datetime | None:
    """When the middle answer of a condition was asked for: stray retries do not move it."""
    times = sorted(datetime.fromisoformat(t.started_at) for t in traces if t.error is None)
    return times[len(times) // 2] if times else None


def _kind(trace: Trace) -> str:
    """Whether an answer is whole, empty or, for whatever reason, cut off."""
    found = flaw(trace)
    if found is None:
        return "whole"
    return "empty" if found == "empty" else "cut off"


def _departs(trace: Trace) -> bool:
    return "decoding" in trace.request


def _usual_decoding(trace: Trace) -> dict[str, str]:
    """The decoding of a run, without what differs from call to call or cannot change an answer."""
    left_out = ("messages_sha256", "cap", "timeout_seconds", "concurrency")
    kept = {name: value for name, value in trace.request.items() if name not in left_out}
    return {
        name: msgspec.json.encode(value, order="sorted").decode() for name, value in kept.items()
    }


def _thinking(traces: Sequence[Trace]) -> Iterator[Thinking]:
    """Warn if some answers carry thinking in their content and others do not."""
    answers = [trace for trace in traces if trace.error is None]
    some = sum("thinking" in trace.raw for trace in answers)
    if 0 < some < len(answers):
        yield Thinking(some, len(answers))


def _loops_somewhere(trace: Trace) -> bool:
    return trace.reasoning_loops or repeats(trace.response or "")


def _percentiles(values: list[float] | list[int], digits: int) -> str:
    if not values:
        return ""
    return "/".join(f"{np.percentile(values, q):.{digits}f}" for q in (50, 95))
