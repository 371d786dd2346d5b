"""What slows or stops a run: the provider's rate limits, the user's budget, repeated failures."""

import math
import random
from collections.abc import Iterable

from seam_lib.core.params import RunParams
from seam_lib.core.rows import Trace
from seam_lib.infer.providers import CallError, Request

#: Characters a token, at least: for upper bounds. English prose has about four, code three.
CHARS_PER_TOKEN_AT_LEAST = 2.0
CHARS_PER_TOKEN = 4.0
#: Equal failures in a row that stop a run.
BREAKER = 5
#: The longest wait between two tries, in seconds.
LONGEST_WAIT = 60.0
#: A provider that asks to wait longer than this, in seconds, ends the run: come back later.
PATIENCE = 600.0


class Pace:
    """Spaces calls so that requests and tokens a minute stay below the provider's limits."""

    def __init__(self, settings: RunParams) -> None:
        self._per_request = 60 / (settings.requests_per_minute or math.inf)
        self._per_token = 60 / (settings.tokens_per_minute or math.inf)
        self._free_at = 0.0

    def reserve(self, tokens: float, now: float) -> float:
        """Seconds that a call of about `tokens` must wait."""
        start = max(now, self._free_at)
        self._free_at = start + max(self._per_request, tokens * self._per_token)
        return start - now

    def correct(self, tokens: float) -> None:
        """Add tokens that a call took beyond its estimate (or fewer: negative)."""
        self._free_at += tokens * self._per_token

    def hold(self, seconds: float, now: float) -> None:
        """Let no call start for so many seconds, since the provider asked."""
        self._free_at = max(self._free_at, now + seconds)


class Budget:
    """Counts calls and dollars of a run, over all its starts, against `max_calls` and `max_usd`."""

    def __init__(self, settings: RunParams, traces: Iterable[Trace]) -> None:
        self._settings = settings
        costs = [trace.cost_usd or 0.0 for trace in traces]
        self.calls = len(costs)
        self.usd = sum(costs)

    def admits(self, worst_usd: float) -> bool:
        """Whether one more call, of at most this cost, keeps within both limits."""
        calls, usd = self._settings.max_calls, self._settings.max_usd
        return (calls is None or self.calls < calls) and (
            usd is None or self.usd + worst_usd <= usd
        )

    def spent_words(self, home: str) -> str:
        """Why the next call must not be made, and how to go on."""
        return (
            f"the budget would be passed: {self.calls} calls and ${self.usd:.4f} are spent of "
            f"max_calls {self._settings.max_calls} and max_usd {self._settings.max_usd}, and the "
            f"next call might pass it. Raise max_calls or max_usd in {home}"
        )

    def add(self, usd: float, calls: int = 0) -> None:
        """Reserve a call's worst cost, or settle it with the difference to its real cost."""
        self.usd += usd
        self.calls += calls


class Breaker:
    """Notices that one call after another fails alike: no server, a refused key, a reached limit.

    Calls in flight together meet one outage together, so a failure that may pass counts only if
    its call began after the last counted one. A rate limit is no failure: it stops a run only if no
    answer came for as long as `PATIENCE`.
    """

    def __init__(self) -> None:
        self._last = ""
        self._count = 0
        self._counted_at = -math.inf
        self._limited_since = math.inf
        #: How often the provider's rate limit was met since the last answer.
        self.rounds = 0

    def success(self) -> None:
        """A call came back with an answer."""
        self._count = self.rounds = 0
        self._limited_since = math.inf

    def failure(self, error: CallError, started: float, ended: float) -> bool:
        """Count a failed call; True if the run must stop now."""
        if error.fatal or (error.retry_after or 0.0) > PATIENCE:
            return True
        if error.limited:
            self._limited_since = min(self._limited_since, started)
            if started >= self._counted_at:
                self.rounds, self._counted_at = self.rounds + 1, ended
            return ended - self._limited_since > PATIENCE
        name = error.kind if error.transient else str(error)
        if name != self._last:
            self._last, self._count, self._counted_at = name, 0, -math.inf
        if error.transient and started < self._counted_at:
            return False
        self._count, self._counted_at = self._count + 1, ended
        return self._count >= BREAKER


def breaker_words(error: CallError, endpoint: str) -> str:
    """Why the breaker opened, in the provider's own words, and what to look at."""
    if error.kind == "HTTP 404":
        return f"{error}. Does {endpoint} serve this model? An OpenAI-compatible URL ends in /v1"
    if error.fatal:
        return f"the provider refuses: {error}"
    if (error.retry_after or 0.0) > PATIENCE:
        return f"the provider asks to wait {error.retry_after:.0f} s: {error}"
    if error.limited:
        return (
            f"the provider's rate limit did not lift within {PATIENCE:.0f} s: {error}. Set "
            "requests_per_minute or tokens_per_minute to what it allows"
        )
    hint = f". Is a server running at {endpoint}?" if error.kind == "no connection" else ""
    return f"{BREAKER} equal failures in a row: {error}{hint}"


def price(settings: RunParams, input_tokens: float, output_tokens: float) -> float | None:
    """US dollars of a call, or None if the run names no prices."""
    if settings.price_in is None or settings.price_out is None:
        return None
    return (input_tokens * settings.price_in + output_tokens * settings.price_out) / 1e6


def worst_price(settings: RunParams, request: Request) -> float | None:
    """What a call costs at most: a dense prompt, and an answer up to the token limit."""
    return price(settings, prompt_chars(request) / CHARS_PER_TOKEN_AT_LEAST, request.max_tokens)


def prompt_chars(request: Request) -> int:
    """Characters of a request's messages."""
    return sum(len(message["content"]) for message in request.messages)


def backoff(settings: RunParams, failures: int, error: CallError) -> float:
    """Seconds to wait after a case's n-th failed call in a row, or the n-th limit met in a row.

    Exponential with jitter, so that calls that failed together do not return together; never
    less than the provider asked for.
    """
    wait = min(LONGEST_WAIT, settings.backoff_seconds * 2.0 ** (failures - 1))
    return max(wait * random.uniform(0.5, 1.0), error.retry_after or 0.0)
