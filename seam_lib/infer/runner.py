"""Inference: each prompt gets one usable answer or a recorded reason; every call is on record.

The runner knows nothing that the log of traces does not hold, so it may stop anywhere: the next
start finishes what is left and asks nothing twice that has a usable answer.
"""

import asyncio
import contextlib
import random
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import msgspec

from seam_lib.core import files
from seam_lib.core.answers import usable
from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams
from seam_lib.core.rows import Trace
from seam_lib.core.run import Run
from seam_lib.core.thinking import split
from seam_lib.infer.limits import (
    CHARS_PER_TOKEN,
    Breaker,
    Budget,
    Pace,
    backoff,
    breaker_words,
    price,
    prompt_chars,
    worst_price,
)
from seam_lib.infer.plan import (
    FOR_GOOD,
    State,
    check_settings,
    next_request,
    open_prompts,
    record,
    refused_for_good,
    state,
)
from seam_lib.infer.prompts import Prompt
from seam_lib.infer.providers import CallError, Provider, Reply, Request, connect
from seam_lib.infer.traces import Log, by_prompt, open_log, outputs, repeats

#: Told of each attempt once it is on disk, with where its prompt then stands.
Watch = Callable[[Trace, State], None]
#: What JSON can hold and a file of text cannot, or should not.
NO_CHARACTER = re.compile(r"[\ud800-\udfff\x00]")
#: Draws the answers that `recheck` asks for again.
RECHECK_SEED = 42


def infer(
    run: Run,
    prompts: Sequence[Prompt],
    *,
    limit: int | None = None,
    watch: Watch | None = None,
) -> str | None:
    """Ask the model for every answer that is missing; write traces and outputs.

    With nothing left to ask it opens no connection and needs neither key nor model.

    Args:
        run: The run.
        prompts: What it asks, such as each case of its benchmark by `prompt_of`.
        limit: Take at most so many of the open prompts.
        watch: For progress.

    Returns:
        Why the run stopped early (the provider refuses, the budget is spent, the user interrupts),
        or None.

    Raises:
        SeamError: Key or package missing, another process at work, disk full, or the log holds
            answers of other settings.
    """
    with open_log(run.traces) as log:
        check_settings(run, log.traces)
        todo = open_prompts(run.settings, prompts, log.traces)[:limit]
        try:
            return _run(_collect(run, log, todo, watch)) if todo else None
        except KeyboardInterrupt:
            return "interrupted; every finished answer is on record"
        finally:
            if log.traces:
                files.write_rows(run.outputs, outputs(prompts, log.traces))


def recheck(
    run: Run, prompts: Sequence[Prompt], count: int, *, watch: Watch | None = None
) -> list[tuple[Trace, Trace]]:
    """Call random settled prompts again, with the run's own decoding, beside the run's record.

    Args:
        run: The run.
        prompts: What it asks.
        count: How many; the same ones each time, and fewer are the first of more.
        watch: For progress.

    Returns:
        Pairs of the attempt on record and the new one, which is kept in runs/recheck/ alone.
    """
    with open_log(run.traces) as log:
        check_settings(run, log.traces)
        first = {
            name: attempts[0]
            for name, attempts in by_prompt(prompts, log.traces).items()
            if attempts and usable(attempts[0])
        }
    drawn = sorted(first)
    random.Random(RECHECK_SEED).shuffle(drawn)
    chosen = [prompt for prompt in prompts if prompt.id in drawn[:count]]
    path = run.root / "runs" / "recheck" / f"{run.name}.jsonl"
    path.unlink(missing_ok=True)
    with open_log(path) as log:
        once = msgspec.structs.replace(run.settings, attempts=1)
        _run(_collect(msgspec.structs.replace(run, settings=once), log, chosen, watch))
        return [(first[t.case_id], t) for t in log.traces if t.error is None]


def make_trace(
    run: Run,
    prompt_id: str,
    request: Request,
    outcome: Reply | CallError,
    *,
    endpoint: str,
    started_at: str,
    seconds: float,
    attempt: int,
) -> Trace:
    """Put one call on record: what was asked of whom, and what came of it."""
    settings = run.settings
    reply = as_delivered(storable(outcome)) if isinstance(outcome, Reply) else None
    return Trace(
        run=run.name,
        case_id=prompt_id,
        provider=settings.provider,
        endpoint=endpoint,
        requested_model=settings.model,
        served_model=reply.served_model if reply else None,
        request=record(request, settings),
        started_at=started_at,
        seconds=seconds,
        attempt=attempt,
        finish_reason=reply.finish_reason if reply else None,
        response=reply.text if reply else None,
        reasoning_chars=len(reply.reasoning) if reply else 0,
        reasoning_loops=reply is not None and repeats(reply.reasoning),
        usage=reply.usage if reply else {},
        cost_usd=_cost(settings, request, outcome),
        error=None if reply else str(outcome),
        raw=reply.raw if reply else {},
    )


def as_delivered(reply: Reply) -> Reply:
    """A reply whose text is the answer alone; thinking in its content joins its reasoning.

    The record says so in `raw.thinking`. If the thinking never ends, the answer was cut off.
    """
    text, thinking, whole = split(reply.text or "")
    if not thinking and whole:
        return reply
    return msgspec.structs.replace(
        reply,
        text=text,
        reasoning=reply.reasoning + thinking,
        finish_reason=reply.finish_reason if whole else "length",
        raw=reply.raw | {"thinking": "in the content"},
    )


def storable(reply: Reply) -> Reply:
    """A reply without characters that are none: lone surrogates, which no file can hold, and NUL.

    Each becomes U+FFFD; `raw.replaced` says how many did.
    """
    replaced = 0

    def sound(value: Any) -> Any:
        nonlocal replaced
        if isinstance(value, str):
            value, count = NO_CHARACTER.subn("\ufffd", value)
            replaced += count
        elif isinstance(value, dict):
            value = {sound(key): sound(item) for key, item in value.items()}
        elif isinstance(value, list):
            value = [sound(item) for item in value]
        return value

    fields = {name: sound(value) for name, value in msgspec.structs.asdict(reply).items()}
    return Reply(**fields | {"raw": fields["raw"] | {"replaced": replaced}}) if replaced else reply


def _cost(settings: RunParams, request: Request, outcome: Reply | CallError) -> float | None:
    """Dollars by the usage report; a call that may be billed without one is put at its most."""
    if isinstance(outcome, Reply) and outcome.usage:
        usage = outcome.usage
        return price(settings, usage.get("input_tokens", 0), usage.get("output_tokens", 0))
    if isinstance(outcome, Reply) or outcome.kind in ("timeout", "malformed"):
        return worst_price(settings, request)
    return None


def _run(collecting: Coroutine[None, None, str | None]) -> str | None:
    """Run to the end; in a notebook, whose own event loop is running, in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(collecting)
    with contextlib.closing(asyncio.new_event_loop()) as loop, ThreadPoolExecutor(1) as pool:
        task = loop.create_task(collecting)
        running = pool.submit(loop.run_until_complete, task)
        try:
            return running.result()
        except KeyboardInterrupt:  # reaches this thread alone, and leaving it awaits the other
            loop.call_soon_threadsafe(task.cancel)
            raise


async def _collect(run: Run, log: Log, todo: list[Prompt], watch: Watch | None) -> str | None:
    async with connect(run.settings) as provider:
        return await _Runner(run, log, provider, todo, watch).settle_all()


class _Runner:
    """One start of a run: workers take prompt after prompt until none is left or all must stop."""

    def __init__(
        self, run: Run, log: Log, provider: Provider, todo: list[Prompt], watch: Watch | None
    ) -> None:
        self._run, self._settings = run, run.settings
        self._log, self._provider, self._watch = log, provider, watch
        self._queue = iter(todo)
        self._workers = min(run.settings.concurrency, len(todo))
        self._attempts = by_prompt(todo, log.traces)
        self._pace = Pace(run.settings)
        self._budget = Budget(run.settings, log.traces)
        self._breaker = Breaker()
        self._in_flight = 0
        self._landed = asyncio.Condition()  # a call in flight has ended
        self._answering = asyncio.Event()  # the provider has answered once
        self._stopping = asyncio.Event()
        self._stop_reason: str | None = None

    async def settle_all(self) -> str | None:
        """Settle the prompts; returns why it stopped early, or None."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._work())
                for _ in range(self._workers - 1):
                    group.create_task(self._follow())
        except* SeamError as errors:
            raise errors.exceptions[0] from None
        return self._stop_reason

    async def _work(self) -> None:
        for prompt in self._queue:
            await self._settle(prompt)
            if self._stopping.is_set():
                break
        self._answering.set()  # the followers must see that the queue is empty

    async def _follow(self) -> None:
        """Work once the first worker has an answer: a wrong key costs one call, not many."""
        await self._answering.wait()
        await self._work()

    async def _settle(self, prompt: Prompt) -> None:
        """Call until the prompt is settled, its calls have failed too often, or the run stops."""
        attempts, failures = self._attempts[prompt.id], 0
        while request := next_request(prompt, attempts, self._settings):
            expected = (prompt_chars(request) + prompt.expected) / CHARS_PER_TOKEN
            if not await self._admitted(request, expected):
                return
            trace, error = await self._call(prompt, request, len(attempts) + 1)
            attempts.append(trace)
            if self._watch:
                self._watch(trace, state(attempts, self._settings))
            if trace.usage:
                self._pace.correct(sum(trace.usage.values()) - expected)
            if error is None:
                continue
            failures += not error.limited
            if not error.transient or failures > self._settings.retries:
                return
            wait = backoff(
                self._settings, self._breaker.rounds if error.limited else failures, error
            )
            self._pace.hold(wait if error.limited else error.retry_after or 0.0, time.monotonic())
            await self._sleep(wait)

    async def _admitted(self, request: Request, tokens: float) -> bool:
        """Wait for the rate limits and the budget; False if the run stops instead."""
        await self._sleep(self._pace.reserve(tokens, time.monotonic()))
        worst = worst_price(self._settings, request) or 0.0
        async with self._landed:
            while self._in_flight and not self._budget.admits(worst):
                await self._landed.wait()
            if not self._budget.admits(worst):
                self._stop(self._budget.spent_words(self._run.home))
            if self._stopping.is_set():
                return False
            self._budget.add(worst, calls=1)
            self._in_flight += 1
        return True

    async def _call(
        self, prompt: Prompt, request: Request, attempt: int
    ) -> tuple[Trace, CallError | None]:
        """Make one call and put it on record before anything else happens."""
        outcome: Reply | CallError
        started_at, started = datetime.now(UTC), time.monotonic()
        try:
            outcome = await self._provider.complete(request)
        except CallError as failure:
            outcome = failure
        ended = time.monotonic()
        trace = make_trace(
            self._run,
            prompt.id,
            request,
            outcome,
            endpoint=self._provider.endpoint,
            started_at=started_at.isoformat(timespec="seconds"),
            seconds=round(ended - started, 3),
            attempt=attempt,
        )
        if isinstance(outcome, CallError) and refused_for_good(prompt, outcome, self._log.traces):
            trace.raw = {FOR_GOOD: True}
        self._log.append(trace)
        async with self._landed:
            worst = worst_price(self._settings, request) or 0.0
            self._budget.add((trace.cost_usd or 0.0) - worst)
            self._in_flight -= 1
            self._landed.notify_all()
        if isinstance(outcome, Reply):
            self._breaker.success()
            self._answering.set()
            return trace, None
        if self._breaker.failure(outcome, started, ended):
            self._stop(breaker_words(outcome, self._provider.endpoint))
        return trace, outcome

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but wake when the run stops."""
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), seconds)

    def _stop(self, reason: str) -> None:
        """Let no call start any more; those in flight end and count."""
        self._stop_reason = self._stop_reason or reason
        self._stopping.set()
        self._answering.set()
