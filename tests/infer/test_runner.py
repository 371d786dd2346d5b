"""The runner against a server that fails, dies and refuses; and killed at any moment itself."""

import asyncio
import contextlib
import multiprocessing
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from seam_lib.core.answers import flaw, usable
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows
from seam_lib.core.rows import Output
from seam_lib.core.run import Run, load_run
from seam_lib.infer.plan import tally
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.runner import infer, recheck
from seam_lib.infer.traces import read_traces
from tests.helpers.cases import trial_cases
from tests.helpers.project import trial_run
from tests.helpers.server import PASSING, UNUSABLE, edited, serving

KEY = "sk-canary-0123456789"


def run_on(folder: Path, url: str, provider: str = "openai", **settings: Any) -> Run:
    return trial_run(
        folder,
        provider=provider,
        base_url=url + ("/v1" if provider == "openai" else ""),
        **settings,
    )


def ask(run: Run, **options: Any) -> str | None:
    return infer(run, load_prompts(run), **options)


def outputs(run: Run) -> dict[str, Output]:
    return {row.case_id: row for row in read_rows(run.outputs, Output)}


def message(body: dict[str, Any]) -> str:
    text: str = body["messages"][-1]["content"]
    return text


def test_a_rate_limit_without_a_word_on_waiting_is_waited_for(tmp_path: Path) -> None:
    """More refusals than a case has retries, and than equal failures would end a run."""
    with serving(lambda body, seen: "429 bare" if seen < 6 else "ok") as server:
        run = run_on(tmp_path, server.url, cases=trial_cases(1), retries=2, concurrency=4)
        assert ask(run) is None
    assert all(row.error is None for row in outputs(run).values())


def test_a_prompt_that_is_always_refused_is_settled_with_the_provider_s_words(
    tmp_path: Path,
) -> None:
    cases = trial_cases(1)
    refused = cases[2].message
    with serving(lambda body, seen: "400" if message(body) == refused else "ok") as server:
        run = run_on(tmp_path, server.url, cases=cases, concurrency=1)
        for calls in (len(cases), len(cases) + 1, len(cases) + 1):
            assert ask(run) is None
            assert len(server.bodies) == calls
    counts = tally(cases, read_traces(run.traces), run.settings)[-1]
    assert (counts.usable, counts.unusable, counts.missing) == (len(cases) - 1, 1, 0)
    assert outputs(run)[cases[2].id].error == "HTTP 400: status 400"


def test_a_refusal_that_everything_meets_settles_nothing(tmp_path: Path) -> None:
    cases = trial_cases(1)
    with serving(lambda body, seen: "limit") as server:
        run = run_on(tmp_path, server.url, cases=cases, concurrency=1)
        for _ in range(3):
            assert "5 equal failures" in str(ask(run))
    assert tally(cases, read_traces(run.traces), run.settings)[-1].missing == len(cases)


THINKING = ("thinking", "thinking opened by the template", "thinking in channels")


@pytest.mark.parametrize("mode", THINKING)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_thinking_inside_the_content_is_no_part_of_the_answer(
    tmp_path: Path, mode: str, provider: str
) -> None:
    cases = trial_cases(1)
    with serving(lambda body, seen: mode) as server:
        run = run_on(tmp_path, server.url, provider, cases=cases)
        assert ask(run) is None
    for case in cases:
        assert str(outputs(run)[case.id].response).strip() == edited(case.message).strip()
    for trace in read_traces(run.traces):
        assert trace.reasoning_chars > 5 and trace.raw["thinking"] == "in the content"


def test_thinking_without_end_is_an_answer_cut_off_and_drawn_again(tmp_path: Path) -> None:
    cases = trial_cases(1)
    with serving(lambda body, seen: "ok" if seen else "thinking without end") as server:
        run = run_on(tmp_path, server.url, cases=cases)
        assert ask(run) is None
    assert all(outputs(run)[case.id].response == edited(case.message) for case in cases)
    first = [trace for trace in read_traces(run.traces) if trace.attempt == 1]
    assert {trace.finish_reason for trace in first} == {"length"} and len(first) == len(cases)


def test_characters_that_are_none_do_not_end_a_run(tmp_path: Path) -> None:
    cases = trial_cases(1)
    with serving(lambda body, seen: "surrogate") as server:
        run = run_on(tmp_path, server.url, cases=cases)
        assert ask(run) is None
    for case in cases:
        assert outputs(run)[case.id].response == f"{edited(case.message)}\ufffd\ufffd"
    assert all(trace.raw["replaced"] == 2 for trace in read_traces(run.traces))


def ok(body: dict[str, Any], seen: int) -> str:
    return "ok"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_every_case_ends_with_one_usable_answer_whatever_the_server_does(
    tmp_path: Path, provider: str
) -> None:
    cases = trial_cases(4)
    faults = [*PASSING, *UNUSABLE, "ok"]
    plan = {c.message: [faults[n % len(faults)], faults[-n % 7]] for n, c in enumerate(cases)}

    def script(body: dict[str, Any], seen: int) -> str:
        return [*plan[message(body)], "ok"][min(seen, 2)]

    with serving(script) as server:
        run = run_on(
            tmp_path, server.url, provider, cases=cases, concurrency=6, timeout_seconds=2.0
        )
        assert ask(run) is None
    answers, traces = outputs(run), read_traces(run.traces)
    assert len(traces) == len(server.bodies), "every call is on record"
    for case in cases:
        assert answers[case.id].response == edited(case.message)
        assert answers[case.id].error is None
        assert sum(usable(t) for t in traces if t.case_id == case.id) == 1
    assert {t.served_model for t in traces if t.error is None} == {"served-model"}
    tagged = {t.request.get("decoding") for t in traces if t.error is None} - {None}
    assert tagged == {"temperature=1.0"}


def test_what_never_becomes_usable_is_recorded_with_its_reason(tmp_path: Path) -> None:
    cases = trial_cases(1)
    fates = dict(zip((c.message for c in cases), ("length", "null", "400", "500", "ok", "ok"),
                     strict=True))  # fmt: skip

    with serving(lambda body, n: fates[message(body)]) as server:
        run = run_on(tmp_path, server.url, cases=cases, attempts=3, retries=2, concurrency=1)
        assert ask(run) is None
        first_calls = len(server.bodies)
        flaws = [flaw(outputs(run)[case.id]) for case in cases]
        assert flaws == ["length", "empty", "error", "error", None, None]
        errors = [outputs(run)[case.id].error for case in cases]
        assert errors == [
            None,
            None,
            "HTTP 400: status 400",
            "HTTP 500: status 500",
            None,
            None,
        ]
        assert first_calls == 3 + 3 + 1 + 3 + 1 + 1
        ask(run)  # failed calls are tried again, spent answers and usable ones are not
        assert len(server.bodies) == first_calls + 1 + 3
    *_, total = tally(cases, read_traces(run.traces), run.settings)
    assert (total.usable, total.unusable, total.missing) == (2, 3, 1), "the refusal is settled"


@pytest.mark.parametrize(
    ("behaviour", "calls", "words"),
    [
        ("401", 1, "the provider refuses: HTTP 401: status 401"),
        ("403", 1, "the provider refuses: HTTP 403: status 403"),
        ("404", 1, "HTTP 404: status 404. Does "),
        ("limit", 5, "5 equal failures in a row: HTTP 400: You have reached your specified API"),
        ("500", 5, "5 equal failures in a row: HTTP 500: status 500"),
        ("429 long", 1, "asks to wait 86400 s: HTTP 429: come back tomorrow"),
    ],
)
def test_a_provider_that_refuses_stops_the_run_with_its_own_words(
    tmp_path: Path, behaviour: str, calls: int, words: str
) -> None:
    with serving(lambda body, n: behaviour) as server:
        run = run_on(tmp_path, server.url, concurrency=8)
        stopped = ask(run)
        assert stopped is not None
        assert words in stopped
        assert len(server.bodies) == calls, "a wrong key must not cost a call a case"


def test_nobody_at_the_address_stops_the_run(tmp_path: Path) -> None:
    with serving(ok) as server:
        pass
    run = run_on(tmp_path, server.url)
    stopped = ask(run)
    assert stopped is not None
    assert stopped.startswith("5 equal failures in a row: no connection")


def test_a_limit_met_in_the_middle_keeps_what_was_answered(tmp_path: Path) -> None:
    def script(body: dict[str, Any], seen: int) -> str:
        return "ok" if len(server.bodies) <= 10 else "limit"

    with serving(script) as server:
        run = run_on(tmp_path, server.url, concurrency=2)
        assert ask(run) is not None
        assert sum(row.error is None for row in outputs(run).values()) == 10
        server.script = ok
        assert ask(run) is None
    assert all(row.error is None for row in outputs(run).values())
    assert len(outputs(run)) == 36


def test_no_more_calls_are_open_at_once_than_allowed(tmp_path: Path) -> None:
    full = threading.Barrier(3, timeout=60)

    def script(body: dict[str, Any], seen: int) -> str:
        if len(server.bodies) > 1:  # the first call goes alone
            full.wait()
        return "ok"

    with serving(script) as server:
        cases = trial_cases(7)[:37]
        assert ask(run_on(tmp_path, server.url, cases=cases, concurrency=3)) is None
    assert server.most_open == 3


def test_the_budget_is_never_passed_and_says_how_to_go_on(tmp_path: Path) -> None:
    with serving(ok) as server:
        run = run_on(tmp_path, server.url, max_calls=10, concurrency=4)
        stopped = ask(run)
        assert stopped is not None
        assert stopped.endswith("Raise max_calls or max_usd in runs.trial of params.yaml")
        assert len(server.bodies) == 10
        assert ask(run) is not None
        assert len(server.bodies) == 10, "the budget is the run's, not a start's"
        priced = {"price_in": 10.0, "price_out": 1000.0, "max_tokens": 100, "max_usd": 0.5}
        run = run_on(tmp_path / "usd", server.url, concurrency=4, **priced)
        assert ask(run) is not None
        assert ask(run) is not None, "what an earlier start spent is spent"
        spent = sum(t.cost_usd or 0.0 for t in read_traces(run.traces))
        each = (100 * 10 + 20 * 1000) / 1e6  # by the usage that the server reports
        assert spent == pytest.approx(each * len(read_traces(run.traces)))
        assert 0.5 - 0.11 < spent <= 0.5, "stops only where the next call could pass it"


def test_a_timeout_is_put_on_the_bill_at_its_most(tmp_path: Path) -> None:
    with serving(lambda body, n: "hang" if n == 0 else "ok") as server:
        priced = {"price_in": 1.0, "price_out": 1.0, "timeout_seconds": 0.5}
        run = run_on(tmp_path, server.url, cases=trial_cases(1)[:1], **priced)
        assert ask(run) is None
    timeout, *_, answer = read_traces(run.traces)  # on a busy machine the second call may be late
    assert timeout.error is not None
    assert timeout.cost_usd is not None
    assert timeout.cost_usd > (answer.cost_usd or 0.0) > 0.0


def test_a_limit_takes_so_many_cases_and_a_complete_run_calls_nobody(tmp_path: Path) -> None:
    with serving(ok) as server:
        run = run_on(tmp_path, server.url)
        ask(run, limit=7)
        assert len(server.bodies) == len(outputs(run)) == 7
        ask(run)
        assert max(server.counts.values()) == 1, "nothing is asked twice"
    assert ask(run) is None  # the server is gone, and nobody notices
    assert len(outputs(run)) == 36


def test_it_runs_inside_a_running_event_loop_as_in_a_notebook(tmp_path: Path) -> None:
    async def notebook(run: Run) -> str | None:
        return ask(run)

    with serving(ok) as server:
        run = run_on(tmp_path, server.url, cases=trial_cases(1))
        assert asyncio.run(notebook(run)) is None
    assert len(outputs(run)) == len(trial_cases(1))


def test_an_interrupt_in_a_notebook_ends_the_run_and_keeps_what_came(tmp_path: Path) -> None:
    async def notebook(run: Run) -> str | None:
        return ask(run)

    def script(body: dict[str, Any], seen: int) -> str:
        if len(server.bodies) <= 3:
            return "ok"
        os.kill(os.getpid(), signal.SIGINT)  # as "interrupt the kernel" does
        return "hang"

    with serving(script) as server, contextlib.closing(asyncio.new_event_loop()) as loop:
        run = run_on(tmp_path, server.url, concurrency=1, timeout_seconds=30)
        stopped = loop.run_until_complete(notebook(run))
    assert stopped == "interrupted; every finished answer is on record"
    assert len(outputs(run)) == len(read_traces(run.traces)) == 3


def test_a_message_that_has_changed_is_asked_again(tmp_path: Path) -> None:
    with serving(ok) as server:
        run = run_on(tmp_path, server.url, cases=trial_cases(1))
        ask(run)
        changed = trial_cases(1)
        changed[0].message += " Please."
        run = run_on(tmp_path, server.url, cases=changed)
        ask(run)
        assert [message(body) for body in server.bodies[6:]] == [changed[0].message]
    assert outputs(run)[changed[0].id].response == edited(changed[0].message)


def test_answers_of_another_model_are_refused_before_any_call(tmp_path: Path) -> None:
    with serving(ok) as server:
        ask(run_on(tmp_path, server.url), limit=1)
        with pytest.raises(SeamError, match="collected with model 'm'"):
            ask(run_on(tmp_path, server.url, model="other"))
        assert len(server.bodies) == 1


def test_rechecking_leaves_the_record_alone_and_finds_what_differs(tmp_path: Path) -> None:
    with serving(ok) as server:
        run = run_on(tmp_path, server.url)
        ask(run)
        before = run.traces.read_bytes()
        pairs = recheck(run, load_prompts(run), 20)
        assert len(pairs) == 20
        assert all(old.response == new.response for old, new in pairs)
        drawn = {old.case_id for old, _ in pairs}
        assert {old.case_id for old, _ in recheck(run, load_prompts(run), 10)} < drawn
        server.script = lambda body, n: "empty" if "It ends" in message(body) else "ok"
        assert all(old.response != new.response for old, new in recheck(run, load_prompts(run), 5))
    assert run.traces.read_bytes() == before


def test_the_key_reaches_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", KEY)
    with serving(lambda body, n: "echo key" if n == 0 else "ok") as server:
        run = run_on(tmp_path, server.url, key_env="CANARY")
        stopped = ask(run)
        server.key = KEY
        ask(run)
    assert stopped is not None
    assert KEY not in stopped
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert run.traces in written
    for path in written:
        assert KEY.encode() not in path.read_bytes(), path


# Killed at any moment


def depends_on_the_request_alone(body: dict[str, Any], seen: int) -> str:
    """A third of the answers is cut off at first; some calls fail, which changes no answer."""
    number = sum(message(body).encode())
    if body["temperature"] == 0.0 and number % 3 == 0:
        return "length"
    return "500" if seen % 4 == 1 else "ok"


def start(folder: Path) -> None:
    ask(load_run(folder, "trial"))


def test_killed_at_fifty_moments_it_ends_as_if_undisturbed(tmp_path: Path) -> None:
    cases = trial_cases(30)
    with serving(depends_on_the_request_alone) as server:
        calm = run_on(tmp_path / "calm", server.url, cases=cases, retry_seed=True)
        ask(calm)
    context = multiprocessing.get_context("forkserver")  # forks of a process that has us imported
    context.set_forkserver_preload([__name__, "seam_lib.infer.providers.openai", "httpcore2"])
    moments = random.Random(42)
    with serving(depends_on_the_request_alone) as server:
        run = run_on(tmp_path / "shot", server.url, cases=cases, retry_seed=True, concurrency=4)
        kills = 0
        while kills < 50:
            settled = {t.case_id for t in read_traces(run.traces) if usable(t)}
            asked = len(server.bodies)
            process = context.Process(target=start, args=(run.root,))
            process.start()
            calls, delay = moments.randint(1, 6), moments.uniform(0.0, 0.01)
            while process.is_alive() and len(server.bodies) < asked + calls:
                process.join(0.001)
            process.join(delay)
            process.kill()
            process.join()
            kills += process.exitcode == -9
            again = {message(body) for body in server.bodies[asked:]}
            assert not again & {c.message for c in cases if c.id in settled}
            if process.exitcode == 0:
                break
        assert kills == 50, "the run ended too early to be killed that often: give it more cases"
        ask(run)
    assert run.outputs.read_bytes() == calm.outputs.read_bytes()
    per_case = Counter(t.case_id for t in read_traces(run.traces) if usable(t))
    assert set(per_case.values()) == {1}
    assert len(per_case) == len(cases)


# --- The environment ------------------------------------------------------------------------------


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks://127.0.0.1:9", "socks5h://x:1"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_no_proxy_stands_before_a_server_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, proxy: str
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(ok) as server:
        assert ask(run_on(tmp_path, server.url, provider, cases=trial_cases(1))) is None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_proxy_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "socks://127.0.0.1:9")
    run = run_on(tmp_path, "http://models.example", provider, cases=trial_cases(1))
    with pytest.raises(SeamError, match="proxy that the environment sets cannot be used"):
        ask(run)


def test_what_belongs_to_a_provider_s_own_server_goes_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {
        "OPENAI_ORG_ID": "org-secret",
        "OPENAI_PROJECT_ID": "project-secret",
        "OPENAI_API_KEY": "key-secret",
        "OPENAI_CUSTOM_HEADERS": "X-Team: header-secret",
        "ANTHROPIC_AUTH_TOKEN": "token-secret",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: header-secret",
    }
    for name, value in secret.items():
        monkeypatch.setenv(name, value)
    heads: list[str] = []

    for provider in ("openai", "anthropic"):
        with serving(ok) as server:
            run = run_on(tmp_path / provider, server.url, provider, cases=trial_cases(1))
            assert ask(run) is None
            heads += server.heads
    assert heads and not [head for head in heads if "secret" in head]
    assert {name: os.environ[name] for name in secret} == secret
