"""Usable or not, and the diagnostics that are reported and never scored."""

import pytest

from seam_lib.health import parses, refuses, returned_code, shortened, unusable, without_markers
from seam_lib.schema import Output


@pytest.mark.parametrize(
    ("fields", "flaw"),
    [
        ({"response": "x"}, None),
        ({"response": "x", "finish_reason": "stop", "error": ""}, None),
        ({"response": "x", "error": "timeout"}, "error"),
        ({"response": None}, "empty"),
        ({"response": " \n\t"}, "empty"),
        ({"response": "x", "finish_reason": "length"}, "length"),
        ({"response": "x", "finish_reason": "max_tokens"}, "length"),
        ({"response": "", "finish_reason": "length"}, "length"),
        ({"response": "x", "finish_reason": "length", "error": "cut off"}, "length"),
    ],
)
def test_a_response_is_usable_without_error_text_and_cut(
    fields: dict[str, str | None], flaw: str | None
) -> None:
    assert unusable(Output(**({"case_id": "c", "model": "m"} | fields))) == flaw


@pytest.mark.parametrize(
    ("code", "valid"),
    [
        ("x = 1\n", True),
        ("", True),
        ("def f(:\n", False),
        ("x = '\\d'\n", True),  # a warning in Python, no error
        ("x = 1\0", False),
        ("(" * 100_000, False),
        ("-" * 100_000 + "1", False),
        ("raise SystemExit", True),  # parsed, not executed
        ("<pasted-artifact-0123456789ab>\nx = 1\n</pasted-artifact-0123456789ab>\n", False),
    ],
)
def test_python_is_parsed_only(code: str, valid: bool) -> None:
    assert parses(code) == valid


def test_echoed_markers_can_be_taken_out() -> None:
    code = "<pasted-artifact-0123456789ab>\r\nx = 1\n  </pasted-artifact-0123456789ab>"
    assert without_markers(code) == "x = 1\n"
    assert parses(without_markers(code))
    for other in ("<pasted-artifact-xyz>\n", "a <pasted-artifact-0123456789ab>\n"):
        assert without_markers(other) == other


def test_returned_code_is_taken_before_any_sentence_is_removed() -> None:
    assert returned_code("Hi\n```\nx = 1  # was removed\n```\nBye") == "x = 1  # was removed\n"
    assert returned_code("x = 1") == "x = 1"


@pytest.mark.parametrize(
    ("response", "refusal"),
    [
        ("I'm sorry, but I can’t help with that.", True),
        ("I cannot assist with this request.", True),
        ("**I'm unable to edit this text.**", True),
        ("As an AI language model, I cannot provide that.", True),
        ("Unfortunately, I won't revise this.", True),
        ("I cannot find the sign error in this derivation.", False),
        ("Here it is. I cannot help it.", False),
        ("I'm sorry to hear about your ankle. Town A grew.", False),
        ("Sorry, the loop was slow.", False),
        ("", False),
    ],
)
def test_a_refusal_declines_at_once(response: str, refusal: bool) -> None:
    assert refuses(response) == refusal


def test_severe_shortening_is_less_than_half() -> None:
    assert shortened("a" * 49, "a" * 100)
    assert not shortened("a" * 50, "a" * 100)
    assert not shortened("", " \n")
    assert shortened(" " * 90 + "a", "a" * 10)
