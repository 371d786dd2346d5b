from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams
from seam_lib.core.rows import Case, Trace
from seam_lib.core.run import load_run
from seam_lib.infer.plan import (
    cap,
    cap_words,
    check_settings,
    forecast,
    next_request,
    open_prompts,
    reasons,
    record,
    require_all,
    retry_seed,
    state,
    tally,
)
from seam_lib.infer.prompts import message_digest, prompt_of
from tests.helpers.cases import trace, trial_cases
from tests.helpers.project import trial_run

CASES = trial_cases(2)
CASE = CASES[0]
PROMPTS = [prompt_of(case) for case in CASES]
PROMPT = PROMPTS[0]
RUN = RunParams(benchmark="b", provider="openai", model="m", attempts=3, retry_seed=True)


def with_(settings: RunParams, **fields: object) -> RunParams:
    return msgspec.structs.replace(settings, **fields)


def cut(case: Case = CASE) -> Trace:
    return trace(case, finish_reason="length")


def failed(case: Case = CASE) -> Trace:
    return trace(case, response=None, finish_reason=None, error="HTTP 500: no")


def test_a_case_is_sent_as_one_user_message_and_nothing_else() -> None:
    request = next_request(PROMPT, [], RUN)
    assert request is not None
    assert request.messages == [{"role": "user", "content": CASE.message}]
    assert (request.temperature, request.max_tokens, request.departure) == (0.0, 4096, None)
    case = msgspec.structs.replace(CASE, system_instruction="Mind the tags.")
    chat = prompt_of(case).messages
    assert chat == [{"role": "system", "content": "Mind the tags."}, *PROMPT.messages]
    assert message_digest(chat) != message_digest(PROMPT.messages)


def test_an_unusable_answer_is_drawn_again_under_a_tag_and_a_failed_call_is_not() -> None:
    assert next_request(PROMPT, [failed()], RUN) == next_request(PROMPT, [], RUN)
    second = next_request(PROMPT, [cut(), failed()], with_(RUN, retry_max_tokens=9000))
    assert second is not None
    seed = retry_seed(CASE.id, 2)
    assert second.departure == f"temperature=1.0 max_tokens=9000 seed={seed}"
    assert (second.temperature, second.max_tokens, second.seed) == (1.0, 9000, seed)
    assert record(second, RUN)["decoding"] == second.departure
    third = next_request(PROMPT, [cut(), cut()], RUN)
    assert third is not None
    assert third.seed not in (None, seed)


def test_an_answer_that_the_server_broke_off_is_asked_for_again_as_it_was() -> None:
    broken = trace(CASE, finish_reason="abort")
    assert next_request(PROMPT, [broken, failed()], RUN) == next_request(PROMPT, [], RUN)
    after = next_request(PROMPT, [broken, cut()], RUN)
    assert after is not None and after.seed == retry_seed(CASE.id, 3)
    assert state([broken] * 3, RUN) == "unusable", "but it is an answer drawn, or it never ends"


def test_a_model_without_temperature_gets_none_on_retries_either() -> None:
    retry = next_request(PROMPT, [cut()], with_(RUN, temperature=None, retry_seed=False))
    assert retry is not None
    assert retry.temperature is None
    assert retry.departure is None


def test_a_case_is_settled_by_one_usable_answer_or_by_as_many_as_the_run_allows() -> None:
    assert state([cut(), trace(CASE)], RUN) == "usable"
    assert state([cut()] * 3, RUN) == "unusable"
    assert state([cut()] * 2 + [failed()] * 9, RUN) == "missing"
    assert state([], RUN) == "missing"
    for settled in ([trace(CASE)], [cut()] * 3):
        assert next_request(PROMPT, settled, RUN) is None
    assert next_request(PROMPT, [cut()] * 3, with_(RUN, attempts=4)) is not None


def test_new_cases_come_before_those_that_failed() -> None:
    tried = [failed(CASES[0]), trace(CASES[1]), cut(CASES[2])]
    order = [prompt.id for prompt in open_prompts(RUN, PROMPTS, tried)]
    assert order == [c.id for c in (*CASES[3:], CASES[0], CASES[2])]


def test_the_cap_follows_the_artifact_where_the_run_says_so() -> None:
    assert cap(PROMPT, RUN) == 4096
    short = with_(RUN, max_tokens=768, max_tokens_per_char=0.4)
    assert cap(PROMPT, short) == 64 + -(-len(CASE.artifact) * 4 // 10)
    assert cap(msgspec.structs.replace(PROMPT, expected=9999), short) == 768


attempts = st.lists(st.sampled_from([cut, failed, trace]), max_size=5)


@given(st.lists(attempts, min_size=len(CASES), max_size=len(CASES)))
@settings(max_examples=50, derandomize=True, deadline=None)
def test_the_tally_leaves_no_case_out(plan: list[list[object]]) -> None:
    log = [make(case) for case, makes in zip(CASES, plan, strict=True) for make in makes]  # type: ignore[operator]
    *rows, total = tally(CASES, log, RUN)
    for row in (*rows, total):
        assert row.planned == row.usable + row.unusable + row.missing
    assert total.planned == len(CASES) == sum(row.planned for row in rows)
    assert total.missing == len(open_prompts(RUN, PROMPTS, log))
    assert total.usable == sum(trace in makes for makes in plan)


def test_nothing_goes_on_from_a_run_that_lacks_answers(tmp_path: Path) -> None:
    run = trial_run(tmp_path)
    log = [cut(case) for case in CASES for _ in range(3)]
    require_all(run, tally(CASES, log, run.settings), None)  # unusable, but on record
    counts = tally(CASES, log[:-1], run.settings)
    with pytest.raises(
        SeamError, match=r"1 of 12 .* \(stopped: why\)\. Continue with: seam infer trial"
    ):
        require_all(run, counts, "why")


def test_reasons_quote_the_last_defect_of_each_case() -> None:
    log = [failed(CASES[0]), cut(CASES[1]), cut(CASES[2]), trace(CASES[2]), cut(CASES[3])]
    assert reasons(PROMPTS, log) == {"HTTP 500: no": 1, "cut off at the token limit": 2}
    log = [trace(case, finish_reason="weird") for case in CASES]
    ((words, count),) = reasons(PROMPTS, log).items()
    assert count == len(CASES) and "finish_reason 'weird'" in words, "named once"


def test_a_dry_run_estimates_open_cases_only() -> None:
    priced = with_(RUN, price_in=1.0, price_out=2.0, max_tokens=100)
    plan = forecast(priced, PROMPTS, [trace(CASES[0])])
    rest = CASES[1:]
    assert (plan.prompts, plan.calls) == (len(CASES), len(rest))
    assert plan.input_tokens == round(sum(len(c.message) for c in rest) / 4)
    assert plan.at_most == 100 * len(rest)
    assert plan.seconds_at_most == pytest.approx(plan.at_most / plan.speed / RUN.concurrency)
    assert plan.usd is not None
    assert plan.usd_at_most is not None
    assert plan.usd < plan.usd_at_most
    assert forecast(RUN, PROMPTS, []).usd_at_most is None


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"temperature": 0.7},
        {"max_tokens": 99},
        {"extra_body": {"top_k": 1}},
        {"provider": "anthropic"},
    ],
)
def test_answers_of_other_settings_are_not_mixed_in(
    tmp_path: Path, change: dict[str, object]
) -> None:
    run = trial_run(tmp_path)
    request = next_request(PROMPT, [], run.settings)
    assert request is not None
    log = [trace(CASE, request=record(request, run.settings))]
    check_settings(run, log)
    kept = with_(run.settings, attempts=9, retry_max_tokens=5, concurrency=1, max_calls=3)
    check_settings(msgspec.structs.replace(run, settings=kept), log)
    changed = msgspec.structs.replace(run, settings=with_(run.settings, **change))
    with pytest.raises(SeamError, match=f"collected with {next(iter(change))}"):
        check_settings(changed, log)


def test_an_unknown_run_and_a_limit_without_prices_are_explained(tmp_path: Path) -> None:
    trial_run(tmp_path)
    with pytest.raises(SeamError, match="no run 'other'; the runs are: trial"):
        load_run(tmp_path, "other")
    with pytest.raises(SeamError, match=r"max_usd needs price_in and price_out"):
        trial_run(tmp_path, max_usd=1.0)


def test_the_cap_is_said_as_it_is_taken() -> None:
    assert cap_words(RUN) == "An answer is cut off at 4,096 tokens, whatever its artifact."
    short = with_(RUN, max_tokens=640, max_tokens_per_char=0.4)
    assert cap_words(short) == (
        "An answer is cut off at 64 tokens and 0.4 for each character of its artifact, at the "
        "latest at 640 tokens."
    )
    hundred = msgspec.structs.replace(CASE, artifact="x" * 100)
    assert cap(prompt_of(hundred), short) == 64 + 40
