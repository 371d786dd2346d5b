"""The health of a run: what its traces tell before anybody scores its outputs.

Appendix F (empties, cut-offs, loops) and Appendix H (conditions that were collected apart, or
served by something else) happened to a careful study; here they are checks.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec
import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from seam_lib.loops import repeats
from seam_lib.params import RunParams
from seam_lib.plan import state, tally
from seam_lib.schema import Case, Trace
from seam_lib.traces import by_case, unusable_reason

#: Conditions whose middle calls lie further apart than this were not collected together.
APART = timedelta(days=1)
#: Unusable outputs cluster in a condition where chance would put them there this seldom.
CLUSTER_P = 0.01


@dataclass(frozen=True)
class Health:
    """A run's diagnosis, by condition: what came back, and from whom, when and how."""

    answers: pd.DataFrame
    provenance: pd.DataFrame
    warnings: list[str]


def health(cases: list[Case], traces: Iterable[Trace], settings: RunParams) -> Health:
    """Diagnose a run from its record.

    Args:
        cases: The run's benchmark.
        traces: Its log.
        settings: Its entry in params.yaml.

    Returns:
        Tables with a row a condition, and warnings in plain words.
    """
    attempts = by_case(cases, traces)
    tried: dict[str, list[Trace]] = {}
    for case in cases:
        tried.setdefault(case.condition, []).extend(attempts[case.id])
    counts = pd.DataFrame(map(msgspec.structs.asdict, tally(cases, traces, settings)[:-1]))
    order = list(counts["condition"])
    calls = pd.DataFrame([{"condition": c, **_calls(tried[c])} for c in order])
    provenance = pd.DataFrame([{"condition": c, **_provenance(tried[c])} for c in order])
    warnings = [
        *_clusters(cases, attempts, settings),
        *_loops(tried),
        *_differences({c: tried[c] for c in order if tried[c]}),
    ]
    return Health(counts.merge(calls, on="condition"), provenance, warnings)


def _calls(traces: list[Trace]) -> dict[str, object]:
    """Attempts of one condition by outcome; latency and length as median/95th percentile."""
    answers = [t for t in traces if t.error is None]
    reasons = [unusable_reason(t.response, t.finish_reason) or "" for t in answers]
    seconds = [t.seconds for t in answers if t.seconds]  # batches record no latency
    tokens = [t.usage["output_tokens"] for t in answers if "output_tokens" in t.usage]
    return {
        "calls": len(traces),
        "failed calls": len(traces) - len(answers),
        "empty": sum(reason.startswith("empty") for reason in reasons),
        "cut off": sum(reason.startswith("cut off") for reason in reasons),
        "loops": sum(map(_loops_somewhere, answers)),
        "seconds p50/p95": _percentiles(seconds, 1),
        "tokens out p50/p95": _percentiles(tokens, 0),
        "USD": round(sum(t.cost_usd or 0.0 for t in traces), 4),
    }


def _provenance(traces: list[Trace]) -> dict[str, str]:
    """Who answered one condition, by what settings, and when (Appendix H)."""
    answers = [t for t in traces if t.error is None]
    times = sorted(t.started_at for t in answers)
    return {
        "served model": _distinct(t.served_model or "not recorded" for t in answers),
        "endpoint": _distinct(t.endpoint for t in answers),
        "decoding": _distinct(_usual_decoding(t) for t in answers if not _departs(t)),
        "departures": str(sum(map(_departs, answers))),
        "first": times[0] if times else "",
        "last": times[-1] if times else "",
    }


def _clusters(
    cases: list[Case], attempts: dict[str, list[Trace]], settings: RunParams
) -> Iterable[str]:
    """Warn where unusable cases crowd in one condition (Fisher's exact test against the rest)."""
    settled: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for case in cases:
        where = state(attempts[case.id], settings)
        settled[case.condition] += where != "missing"
        bad[case.condition] += where == "unusable"
    n, k = settled.total(), bad.total()
    for condition, here in bad.items():
        there = settled[condition]
        table = [[here, there - here], [k - here, n - there - (k - here)]]
        if fisher_exact(table, alternative="greater").pvalue < CLUSTER_P:
            yield (
                f"unusable outputs cluster in {condition}: {here} of {there} there, "
                f"{k - here} of {n - there} elsewhere; compare it with care"
            )


def _loops(tried: dict[str, list[Trace]]) -> Iterable[str]:
    """Warn of answers or hidden reasoning that repeat themselves."""
    counts = {c: sum(map(_loops_somewhere, traces)) for c, traces in tried.items()}
    if sum(counts.values()):
        where = ", ".join(f"{c} {n}" for c, n in counts.items() if n)
        yield f"answers or their reasoning fell into a repetition loop: {where}"


def _differences(tried: dict[str, list[Trace]]) -> Iterable[str]:
    """Warn where conditions were not served alike, or not at the same time (Appendix H)."""
    rows = {condition: _provenance(traces) for condition, traces in tried.items()}
    for field in ("served model", "endpoint", "decoding"):
        found: dict[str, list[str]] = {}
        for condition, row in rows.items():
            found.setdefault(row[field], []).append(condition)
        if len(found) > 1:
            words = "; ".join(f"{', '.join(where)}: {what}" for what, where in found.items())
            yield f"conditions differ in {field}: {words}"
        if field == "served model" and any("not recorded" in what for what in found):
            yield "some answers carry no served model: which weights answered cannot be verified"
    middles = {c: _middle(traces) for c, traces in tried.items()}
    times = {c: middle for c, middle in middles.items() if middle}
    if times:
        first, last = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
        if times[last] - times[first] > APART:
            days = (times[last] - times[first]) / timedelta(days=1)
            yield f"{first} and {last} were collected {days:.1f} days apart"


def _middle(traces: list[Trace]) -> datetime | None:
    """When the middle answer of a condition was asked for: stray retries do not move it."""
    times = sorted(datetime.fromisoformat(t.started_at) for t in traces if t.error is None)
    return times[len(times) // 2] if times else None


def _departs(trace: Trace) -> bool:
    return "decoding" in trace.request


def _usual_decoding(trace: Trace) -> str:
    """The decoding of a run, without what differs from call to call or cannot change an answer."""
    left_out = ("messages_sha256", "cap", "timeout_seconds", "concurrency")
    kept = {name: value for name, value in trace.request.items() if name not in left_out}
    return ", ".join(f"{name} {value}" for name, value in kept.items() if value not in ({}, None))


def _loops_somewhere(trace: Trace) -> bool:
    return trace.reasoning_loops or repeats(trace.response or "")


def _distinct(values: Iterable[str]) -> str:
    return " | ".join(sorted(set(values)))


def _percentiles(values: list[float] | list[int], digits: int) -> str:
    if not values:
        return ""
    return "/".join(f"{np.percentile(values, q):.{digits}f}" for q in (50, 95))
