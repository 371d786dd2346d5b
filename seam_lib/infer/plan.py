"""What a run still has to ask, decided from its settings and the record alone. Pure."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams
from seam_lib.core.rows import Case, Trace, in_order
from seam_lib.core.run import Run
from seam_lib.infer.limits import CHARS_PER_TOKEN, price, prompt_chars, worst_price
from seam_lib.infer.providers import Request
from seam_lib.infer.traces import by_case, message_digest, messages, unusable_reason, usable

#: Tokens allowed around an artifact (a preamble, a code fence) where its length sets the cap.
TOKENS_AROUND = 64

#: Output tokens a second that one call is assumed to bring as long as none is on record.
TOKENS_PER_SECOND = 50.0

State = Literal["usable", "unusable", "missing"]


class Tally(msgspec.Struct):
    """Cases of one condition by what became of them; planned = usable + unusable + missing."""

    condition: str
    planned: int = 0
    usable: int = 0
    retried: int = 0  # took more than one attempt, whatever came of it
    unusable: int = 0  # every answer drawn was empty or cut off
    missing: int = 0  # not called yet, or its calls failed: the next start tries again


class Forecast(msgspec.Struct, frozen=True):
    """What the open cases will take: by experience, and at most. Dollars need prices.

    `speed` is the tokens a second of one call: measured, where the run has answers on record.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    at_most: int
    seconds: float
    seconds_at_most: float
    speed: float
    measured: bool
    usd: float | None
    usd_at_most: float | None


def state(attempts: Sequence[Trace], settings: RunParams) -> State:
    """Where a case stands: usable, unusable for good (all answers drawn), or still missing."""
    if any(map(usable, attempts)):
        return "usable"
    return "unusable" if answers_drawn(attempts) >= settings.attempts else "missing"


def open_cases(settings: RunParams, cases: list[Case], traces: Iterable[Trace]) -> list[Case]:
    """The cases that need another call: new ones first, then those that were tried before."""
    attempts = by_case(cases, traces)
    left = [case for case in cases if state(attempts[case.id], settings) == "missing"]
    return sorted(left, key=lambda case: bool(attempts[case.id]))


def answers_drawn(attempts: Iterable[Trace]) -> int:
    """Attempts that brought an answer, usable or not."""
    return sum(trace.error is None for trace in attempts)


def next_request(case: Case, attempts: Sequence[Trace], settings: RunParams) -> Request | None:
    """The next call for a case: the run's own decoding, then the tagged departure of Appendix F.

    Args:
        case: The case.
        attempts: What was tried so far. Failed calls change nothing; unusable answers do.
        settings: The run.

    Returns:
        The request, or None if the case is settled.
    """
    if state(attempts, settings) != "missing":
        return None
    first = Request(messages(case), settings.temperature, cap(case, settings))
    answers = answers_drawn(attempts)
    if answers == 0:
        return first
    sampled = settings.temperature is not None  # else the model takes no temperature at all
    retry = Request(
        first.messages,
        settings.retry_temperature if sampled else None,
        settings.retry_max_tokens or first.max_tokens,
        retry_seed(case.id, answers + 1) if settings.retry_seed else None,
    )
    return msgspec.structs.replace(retry, departure=departure(first, retry))


def cap(case: Case, settings: RunParams) -> int:
    """The most tokens a case may answer with, at first.

    A small model that falls into a loop stops at its cap alone. An edit is about as long as its
    artifact, so a run may lower the cap with the artifact's length.
    """
    if settings.max_tokens_per_char is None:
        return settings.max_tokens
    needed = TOKENS_AROUND + math.ceil(settings.max_tokens_per_char * len(case.artifact))
    return min(settings.max_tokens, needed)


def cap_words(settings: RunParams) -> str:
    """How long an answer may get at first, in words."""
    most = f"{settings.max_tokens:,} tokens"
    if settings.max_tokens_per_char is None:
        return f"An answer is cut off at {most}, whatever its artifact."
    return (
        f"An answer is cut off at {TOKENS_AROUND} tokens and {settings.max_tokens_per_char:g} for "
        f"each character of its artifact, at the latest at {most}."
    )


def departure(usual: Request, retry: Request) -> str | None:
    """The tag of a request that departs from the usual one, such as "temperature=1.0 seed=7"."""
    names = ("temperature", "max_tokens", "seed")
    parts = [f"{n}={getattr(retry, n)}" for n in names if getattr(retry, n) != getattr(usual, n)]
    return " ".join(parts) or None


def retry_seed(case_id: str, answer: int) -> int:
    """A seed below 2^31 that case and answer number alone decide, so that retries repeat."""
    digest = hashlib.sha256(f"{case_id}:{answer}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def record(request: Request, settings: RunParams) -> dict[str, Any]:
    """What a trace keeps of its request (Appendix I): everything but the message itself."""
    return {
        "messages_sha256": message_digest(request.messages),
        **_decoding(settings),
        "temperature": request.temperature,
        "cap": request.max_tokens,
        "timeout_seconds": settings.timeout_seconds,
        "concurrency": settings.concurrency,
        **({"decoding": request.departure} if request.departure else {}),
    }


def check_settings(run: Run, traces: Iterable[Trace]) -> None:
    """Refuse to mix answers of different models or decodings under one name (Appendix H).

    Raises:
        SeamError: The log holds answers of other settings; names the first difference.
    """
    settings = run.settings
    now = {"provider": settings.provider, "model": settings.model} | _decoding(settings)
    for trace in traces:
        if trace.error or "decoding" in trace.request:  # no answer, or a tagged departure
            continue
        then = trace.request | {"provider": trace.provider, "model": trace.requested_model}
        for name, value in now.items():
            if then.get(name) != value:
                raise SeamError(
                    f"{run.traces}: collected with {name} {then.get(name)!r}, not {value!r}, which "
                    f"the run now asks for ({run.home}). Give the new settings a run of their own "
                    f"(`seam try`: --name), or move this file away. (A larger cap for retries "
                    f"alone is retry_max_tokens.)"
                )


def tally(cases: list[Case], traces: Iterable[Trace], settings: RunParams) -> list[Tally]:
    """Count what became of the cases: a row a condition, the paper's first, and one for all."""
    attempts = by_case(cases, traces)
    rows = {name: Tally(name) for name in in_order(case.condition for case in cases)}
    total = Tally("all")
    for case in cases:
        tried = attempts[case.id]
        what = state(tried, settings)
        for row in (rows[case.condition], total):
            row.planned += 1
            row.retried += len(tried) > 1
            setattr(row, what, getattr(row, what) + 1)
    return [*rows.values(), total]


def require_all(run: Run, counts: list[Tally], stopped: str | None) -> None:
    """Let nothing go on from a run that still lacks answers; unusable ones are on record.

    Raises:
        SeamError: A case has no answer yet; says why the run stopped and how to go on.
    """
    missing, planned = counts[-1].missing, counts[-1].planned
    if missing:
        raise SeamError(
            f"run {run.name}: {missing} of {planned} cases have no answer yet"
            f"{f' (stopped: {stopped})' if stopped else ''}. Go on with: {run.command}"
        )


def reasons(cases: list[Case], traces: Iterable[Trace]) -> Counter[str]:
    """Why tried cases lack a usable answer: the last error or defect of each, counted."""
    last = (
        tried[-1] for tried in by_case(cases, traces).values() if tried and not usable(tried[-1])
    )
    return Counter(t.error or unusable_reason(t.response, t.finish_reason) or "" for t in last)


def forecast(settings: RunParams, cases: list[Case], traces: Iterable[Trace]) -> Forecast:
    """Forecast one call for each open case.

    An edited artifact is about as long as the artifact; a token is about four characters.
    """
    log = list(traces)
    attempts = by_case(cases, log)
    left = [(case, next_request(case, attempts[case.id], settings)) for case in cases]
    pairs = [(case, request) for case, request in left if request]
    tokens_in = sum(prompt_chars(request) for _, request in pairs) / CHARS_PER_TOKEN
    tokens_out = sum(len(case.artifact) for case, _ in pairs) / CHARS_PER_TOKEN
    priced = price(settings, 0, 0) is not None
    measured = _speed(log)
    speed = measured or TOKENS_PER_SECOND
    at_most = sum(request.max_tokens for _, request in pairs)
    pace = 60 * len(pairs) / (settings.requests_per_minute or math.inf)
    return Forecast(
        calls=len(pairs),
        input_tokens=round(tokens_in),
        output_tokens=round(tokens_out),
        at_most=at_most,
        seconds=max(tokens_out / speed / settings.concurrency, pace),
        seconds_at_most=max(at_most / speed / settings.concurrency, pace),
        speed=speed,
        measured=measured is not None,
        usd=price(settings, tokens_in, tokens_out),
        usd_at_most=sum(worst_price(settings, r) or 0.0 for _, r in pairs) if priced else None,
    )


def _speed(traces: Iterable[Trace]) -> float | None:
    """Output tokens a second of one call, over all answers on record; None without any."""
    answers = [trace for trace in traces if trace.error is None]
    tokens = sum(trace.usage.get("output_tokens", 0) for trace in answers)
    seconds = sum(trace.seconds for trace in answers)
    return tokens / seconds if tokens and seconds else None


def _decoding(settings: RunParams) -> dict[str, Any]:
    """The settings that decide what a model answers."""
    kept: dict[str, Any] = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "max_tokens_per_char": settings.max_tokens_per_char,
        "extra_body": settings.extra_body,
    }
    if settings.provider == "llamacpp":
        kept["server"] = msgspec.to_builtins(settings.server)
    return kept
