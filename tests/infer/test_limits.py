import pytest

from seam_lib.core.params import RunParams
from seam_lib.infer.limits import (
    BREAKER,
    PATIENCE,
    Breaker,
    Budget,
    Pace,
    backoff,
    breaker_words,
    price,
)
from seam_lib.infer.providers import CallError


def run(**fields: object) -> RunParams:
    return RunParams(benchmark="b", provider="openai", model="m", **fields)  # type: ignore[arg-type]


def test_calls_are_spaced_by_requests_and_by_tokens_whichever_is_slower() -> None:
    pace = Pace(run(requests_per_minute=60, tokens_per_minute=600))
    assert pace.reserve(1, now=0.0) == 0.0
    assert pace.reserve(20, now=0.0) == pytest.approx(1.0)  # a request a second
    assert pace.reserve(1, now=0.0) == pytest.approx(3.0)  # 20 tokens take two
    assert pace.reserve(1, now=100.0) == 0.0  # idle time is not saved up


def test_without_limits_nothing_waits_until_the_provider_asks() -> None:
    pace = Pace(run())
    assert [pace.reserve(10**6, now=0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    pace.hold(5.0, now=10.0)
    assert pace.reserve(1, now=12.0) == pytest.approx(3.0)
    pace.hold(1.0, now=10.0)  # a shorter wish does not shorten a longer one
    assert pace.reserve(1, now=12.0) == pytest.approx(3.0)


def test_tokens_beyond_the_estimate_delay_the_next_call() -> None:
    pace = Pace(run(tokens_per_minute=60))
    pace.reserve(10, now=0.0)
    pace.correct(5)
    assert pace.reserve(1, now=0.0) == pytest.approx(15.0)


def test_a_budget_counts_what_is_reserved_and_what_was_spent() -> None:
    budget = Budget(run(max_usd=1.0, max_calls=3, price_in=1.0, price_out=1.0), [])
    assert budget.admits(1.0)
    assert not budget.admits(1.01)
    budget.add(0.9, calls=1)
    assert not budget.admits(0.2)
    budget.add(0.1 - 0.9)  # it cost less than feared
    assert budget.admits(0.9)
    budget.add(0.0, calls=2)
    assert not budget.admits(0.0)  # the calls are spent
    assert budget.spent_words("the file x").endswith("Raise max_calls or max_usd in the file x")


def test_prices_are_dollars_a_million_tokens() -> None:
    assert price(run(price_in=2.0, price_out=10.0), 1e6, 1e5) == pytest.approx(3.0)
    assert price(run(price_in=2.0), 1, 1) is None


def failures(breaker: Breaker, *errors: CallError, together: bool = False) -> list[bool]:
    """Fail one after the other, or all in flight at once."""
    starts = [0.0] * len(errors) if together else [float(n) for n in range(len(errors))]
    return [breaker.failure(e, start, start + 0.5) for e, start in zip(errors, starts, strict=True)]


LIMIT = CallError("HTTP 400", "You have reached your usage limits", transient=False)
DOWN = CallError("no connection", "refused")


def test_five_equal_failures_in_a_row_open_the_breaker() -> None:
    for error in (LIMIT, DOWN):
        opened = failures(Breaker(), *[error] * BREAKER)
        assert opened == [False] * (BREAKER - 1) + [True]


def test_an_answer_or_another_failure_starts_the_count_anew() -> None:
    breaker = Breaker()
    failures(breaker, *[DOWN] * (BREAKER - 1))
    breaker.success()
    assert not breaker.failure(DOWN, 50.0, 51.0)
    mixed = [DOWN, DOWN, LIMIT, DOWN, DOWN, LIMIT, DOWN, DOWN]
    assert not any(failures(Breaker(), *mixed))


def test_calls_that_meet_one_outage_together_count_once() -> None:
    assert not any(failures(Breaker(), *[DOWN] * 64, together=True))


def test_refusals_of_single_messages_are_told_apart_by_their_words() -> None:
    too_long = [
        CallError("HTTP 400", f"{n} tokens are too many", transient=False) for n in range(9)
    ]
    assert not any(failures(Breaker(), *too_long))


def test_a_rate_limit_is_waited_for_and_ends_a_run_only_after_ten_minutes() -> None:
    breaker, limit = Breaker(), CallError("HTTP 429", "slow down")
    assert not any(failures(breaker, *[limit] * 64, together=True)) and breaker.rounds == 1
    assert not any(failures(breaker, *[limit] * 64))
    assert not breaker.failure(limit, 598.0, PATIENCE) and breaker.failure(limit, 599.0, 600.1)
    assert "did not lift within 600 s" in breaker_words(limit, "http://x")
    breaker.success()
    assert not breaker.failure(limit, 700.0, 701.0) and breaker.rounds == 1
    spent = CallError("HTTP 429", "insufficient_quota", transient=True, fatal=True)
    assert breaker.failure(spent, 702.0, 703.0)


def test_a_refused_key_or_a_very_long_wait_opens_at_once() -> None:
    refused = CallError("HTTP 401", "no such key", transient=False, fatal=True)
    tomorrow = CallError("HTTP 429", "daily limit", retry_after=86_400)
    for error in (refused, tomorrow):
        assert failures(Breaker(), error) == [True]
    assert "no such key" in breaker_words(refused, "http://x")
    assert "86400 s" in breaker_words(tomorrow, "http://x")
    nobody = CallError("no connection", "refused")
    assert breaker_words(nobody, "http://x").endswith("Is a server running at http://x?")
    nowhere = CallError("HTTP 404", "File Not Found", fatal=True)
    assert breaker_words(nowhere, "http://x").endswith("An OpenAI-compatible URL ends in /v1")


def test_waits_double_up_to_a_minute_with_jitter_and_honour_the_provider() -> None:
    settings = run(backoff_seconds=1.0)
    for failed, longest in ((1, 1.0), (2, 2.0), (4, 8.0), (30, 60.0)):
        waits = {backoff(settings, failed, DOWN) for _ in range(20)}
        assert len(waits) > 1
        assert all(longest / 2 <= wait <= longest for wait in waits)
    assert backoff(settings, 1, CallError("HTTP 429", "", retry_after=30.0)) == 30.0
