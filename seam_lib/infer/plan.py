"""What a run still has to ask, decided from its settings and the record alone. Pure."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from seam_lib.core.answers import flaw, reason, usable
from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams
from seam_lib.core.rows import Case, Trace, condition_name, in_order
from seam_lib.core.run import Run
from seam_lib.infer.limits import CHARS_PER_TOKEN, price, prompt_chars, worst_price
from seam_lib.infer.prompts import Prompt, message_digest, prompt_of
from seam_lib.infer.providers import CallError, Request
from seam_lib.infer.traces import by_prompt

#: Tokens allowed around an artifact (a preamble, a code fence) where its length sets the cap.
TOKENS_AROUND = 64

#: Output tokens a second that one call is assumed to bring as long as none is on record.
TOKENS_PER_SECOND = 50.0

#: Marks, in a trace's `raw`, the refusal that settles its prompt.
FOR_GOOD = "refused_for_good"

State = Literal["usable", "unusable", "missing"]


class Tally(msgspec.Struct):
    """Cases of one condition by what became of them; planned = usable + unusable + missing."""

    condition: str
    planned: int = 0
    usable: int = 0
    retried: int = 0  # took more than one attempt, whatever came of it
    unusable: int = 0  # every answer drawn has a flaw
    missing: int = 0  # not called yet, or its calls failed: the next start tries again


class Forecast(msgspec.Struct, frozen=True):
    """What the open prompts will take: by experience, and at most. Dollars need prices.

    `speed` is the tokens a second of one call: measured, where the run has answers on record.
    """

    prompts: int  # all of them; those without a call are settled
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
    """Where a prompt stands: usable, unusable for good (all answers drawn), or still missing."""
    if any(map(usable, attempts)):
        return "usable"
    if any(FOR_GOOD in trace.raw for trace in attempts):
        return "unusable"
    return "unusable" if answers_drawn(attempts) >= settings.attempts else "missing"


def refused_for_good(prompt: Prompt, error: CallError, traces: Sequence[Trace]) -> bool:
    """Whether a refusal settles a prompt: it repeats, and the provider answers others meanwhile.

    A refusal that everything meets, such as a limit on spending, must not settle anything; so an
    answer to another prompt must have come since the first one, or the same words three times.

    Args:
        prompt: The prompt.
        error: Its refusal.
        traces: The log so far, without it.
    """
    if error.transient or error.fatal or not error.kind.startswith("HTTP 4"):
        return False
    before = [
        place
        for place, trace in enumerate(traces)
        if trace.case_id == prompt.id and trace.error == str(error)
    ]
    since = traces[before[0] + 1 :] if before else ()
    answered = any(trace.error is None for trace in since)
    return answered or (len(before) > 1 and any(trace.error is None for trace in traces))


def open_prompts(
    settings: RunParams, prompts: Sequence[Prompt], traces: Iterable[Trace]
) -> list[Prompt]:
    """The prompts that need another call: new ones first, then those that were tried before."""
    attempts = by_prompt(prompts, traces)
    left = [prompt for prompt in prompts if state(attempts[prompt.id], settings) == "missing"]
    return sorted(left, key=lambda prompt: bool(attempts[prompt.id]))


def answers_drawn(attempts: Iterable[Trace]) -> int:
    """Attempts that brought an answer, usable or not."""
    return sum(trace.error is None for trace in attempts)


def next_request(prompt: Prompt, attempts: Sequence[Trace], settings: RunParams) -> Request | None:
    """The next call for a prompt: the run's own decoding, then the tagged departure of Appendix F.

    Args:
        prompt: The prompt.
        attempts: What was tried so far. Failed calls change nothing, and neither do answers that
            the server broke off; other unusable answers do.
        settings: The run.

    Returns:
        The request, or None if the prompt is settled.
    """
    if state(attempts, settings) != "missing":
        return None
    first = Request(prompt.messages, settings.temperature, cap(prompt, settings))
    if all(trace.error is not None or flaw(trace) == "broken" for trace in attempts):
        return first
    sampled = settings.temperature is not None  # else the model takes no temperature at all
    seed = retry_seed(prompt.id, answers_drawn(attempts) + 1) if settings.retry_seed else None
    retry = Request(
        first.messages,
        settings.retry_temperature if sampled else None,
        settings.retry_max_tokens or first.max_tokens,
        seed,
    )
    return msgspec.structs.replace(retry, departure=departure(first, retry))


def cap(prompt: Prompt, settings: RunParams) -> int:
    """The most tokens an answer may have, at first.

    A small model that falls into a loop stops at its cap alone, so a run may lower the cap with
    the length that an answer is expected to have.
    """
    if settings.max_tokens_per_char is None:
        return settings.max_tokens
    needed = TOKENS_AROUND + math.ceil(settings.max_tokens_per_char * prompt.expected)
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


def retry_seed(prompt_id: str, answer: int) -> int:
    """A seed below 2^31 that prompt and answer number alone decide, so that retries repeat."""
    digest = hashlib.sha256(f"{prompt_id}:{answer}".encode()).digest()
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
    """Count what became of the cases: one row per condition, the paper's first, and one for all."""
    attempts = by_prompt(map(prompt_of, cases), traces)
    conditions = in_order(case.condition for case in cases)
    rows = {condition: Tally(condition_name(condition)) for condition in conditions}
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
            f"{f' (stopped: {stopped})' if stopped else ''}. Continue with: {run.command}"
        )


def reasons(prompts: Iterable[Prompt], traces: Iterable[Trace]) -> Counter[str]:
    """Why tried prompts lack a usable answer: the last error or flaw of each, counted."""
    last = (tried[-1] for tried in by_prompt(prompts, traces).values() if tried)
    return Counter(words for trace in last if (words := reason(trace)))


def forecast(settings: RunParams, prompts: Sequence[Prompt], traces: Iterable[Trace]) -> Forecast:
    """Forecast one call for each open prompt; a token is about four characters."""
    log = list(traces)
    attempts = by_prompt(prompts, log)
    left = [(prompt, next_request(prompt, attempts[prompt.id], settings)) for prompt in prompts]
    pairs = [(prompt, request) for prompt, request in left if request]
    tokens_in = sum(prompt_chars(request) for _, request in pairs) / CHARS_PER_TOKEN
    tokens_out = sum(prompt.expected for prompt, _ in pairs) / CHARS_PER_TOKEN
    priced = price(settings, 0, 0) is not None
    measured = _speed(log)
    speed = measured or TOKENS_PER_SECOND
    at_most = sum(request.max_tokens for _, request in pairs)
    pace = 60 * len(pairs) / (settings.requests_per_minute or math.inf)
    return Forecast(
        prompts=len(prompts),
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
