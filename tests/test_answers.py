"""Whether an answer can be scored: every ending that servers are known to send, and what shows."""

import unicodedata
from typing import get_args

import pytest
from anthropic.types import StopReason as AnthropicReason
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat.chat_completion import Choice
from samples import CASES
from trial import trace

from seam_lib.core.answers import ENDINGS, WHOLE, WORDS, Flaw, flaw, reason, usable, visible, words
from seam_lib.core.rows import Output


def row(response: str | None = "x", finish: str | None = None, error: str | None = None) -> Output:
    return Output(case_id="c", model="m", response=response, finish_reason=finish, error=error)


@pytest.mark.parametrize(
    ("response", "finish", "error", "expected"),
    [
        ("x", None, None, None),
        ("x", "", None, None),
        ("x", "stop", "", None),
        ("x", "end_turn", None, None),
        ("x", "STOP", None, None),
        ("x", "eos", None, None),
        ("x", "length", None, "length"),
        ("x", "max_tokens", None, "length"),
        ("x", "MAX_TOKENS", None, "length"),
        ("x", "Max-Tokens", None, "length"),
        ("", "length", None, "length"),
        ("x", "length", "cut off", "length"),
        ("x", "content_filter", None, "filter"),
        ("x", "SAFETY", None, "filter"),
        ("x", "sensitive", None, "filter"),
        (None, "refusal", None, "refusal"),
        ("x", "error", None, "broken"),
        ("x", "abort", None, "broken"),
        ("x", "insufficient_system_resource", None, "broken"),
        ("x", "network_error", None, "broken"),
        ("x", "tool_calls", None, "unknown"),
        ("x", "unknown", None, "unknown"),
        ("x", "null", None, "unknown"),
        ("x", "stopp", None, "unknown"),
        ("x", None, "timeout", "error"),
        (None, None, "HTTP 500: no", "error"),
        (None, "stop", None, "empty"),
        (" \n\t", None, None, "empty"),
        ("\u200b\ufeff\u00ad", "stop", None, "empty"),
        ("\x00\x1b", "stop", None, "empty"),
        ("\u3164\u2800\ufe0f", "stop", None, "empty"),
        ("\u200b.", "stop", None, None),
    ],
)
def test_only_a_known_complete_ending_with_a_visible_text_is_usable(
    response: str | None, finish: str | None, error: str | None, expected: Flaw | None
) -> None:
    answer = row(response, finish, error)
    attempt = trace(CASES[0], response=response, finish_reason=finish, error=error)
    assert flaw(answer) == flaw(attempt) == expected
    assert usable(answer) is (reason(answer) is None) is (expected is None)


def test_no_ending_is_in_two_tables_and_each_is_in_its_plainest_spelling() -> None:
    spellings = [*WHOLE, *(word for group in ENDINGS.values() for word in group)]
    assert len(spellings) == len(set(spellings))
    assert all(word == word.strip().lower().replace("-", "_") for word in spellings)
    assert set(WORDS) == set(get_args(Flaw))


def test_every_ending_of_the_official_clients_is_judged() -> None:
    openai = get_args(Choice.model_fields["finish_reason"].annotation)
    theirs = {*openai, *get_args(AnthropicReason)}
    judged = {finish: flaw(row("x", finish)) for finish in theirs}
    unjudged = {finish for finish, found in judged.items() if found == "unknown"}
    assert unjudged == {"tool_calls", "function_call", "tool_use", "pause_turn"}, "no tool is given"
    assert {finish for finish, found in judged.items() if found is None} == {
        "stop",
        "end_turn",
        "stop_sequence",
    }


@given(st.text(st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp"])))
def test_a_text_of_unseen_characters_shows_nothing(text: str) -> None:
    assert not visible(text)
    assert visible(f"{text}a") and visible(f"漢{text}")


@given(st.characters(categories=["L", "N", "P", "S"]))
def test_what_has_ink_shows(character: str) -> None:
    blank = "FILLER" in unicodedata.name(character, "") or character == "\u2800"
    assert visible(character) is not blank


def test_words_name_what_ours_cannot() -> None:
    assert reason(row(None, None, "HTTP 500: no")) == "HTTP 500: no"
    assert reason(row("x", "length")) == "cut off at the token limit"
    assert reason(row("x", "abort")) == "broken off by the server (abort)"
    told = words("unknown", "weird\x1b[31m" + "x" * 99)
    assert "finish_reason 'weird\\x1b[31m" in told and "add it to WHOLE in" in told
    assert "\x1b" not in told and len(told) < 200
