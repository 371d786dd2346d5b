"""The diagnostics that are reported and never scored."""

import pytest
from edits import answers
from scratch import ROOT

from seam_lib.analysis.questions import syntax_p
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import TREATED, Output
from seam_lib.score.damage import (
    count_damage,
    empty_words,
    left_empty,
    parses,
    refuses,
    returned_code,
    shortened,
    without_markers,
)
from seam_lib.score.scorer import score

CASES = read_benchmark(ROOT / "data" / "benchmark" / "embedded")


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
    assert returned_code("```\nx = 1```\nand\n```\ny = 2```") == "x = 1\ny = 2"
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


def test_answers_that_extraction_empties_are_named() -> None:
    code, prose = (
        next(case for case in CASES if case.genre == genre and case.condition == "blank")
        for genre in ("code", "prose")
    )
    shapes = [
        (code, "```\n```", True),
        (code, "def f():\n    return 1\n```", False),  # never closed, so no block
        (prose, "```\n```", False),  # a fence in a text is part of the text
        (prose, "\nI noticed that it is unrelated. ", True),
        (prose, " \n", False),  # an empty answer is unusable, not emptied
        (prose, "The menu.", False),
    ]
    for case, response, emptied in shapes:
        row = Output(case_id=case.id, model="m", response=response)
        assert left_empty(CASES, [row]) == [case.id] * emptied, response
    cut = Output(case_id=code.id, model="m", response="```\n```", finish_reason="length")
    assert left_empty(CASES, [cut]) == []
    again = Output(case_id=code.id, model="m", response="x = 1")
    assert (
        left_empty(CASES, [cut, Output(case_id=code.id, model="m", response="```\n```"), again])
        == []
    )


def test_emptied_answers_in_words() -> None:
    assert empty_words([], "mine") == ""
    words = empty_words(list("abcdefg"), "mine")
    assert "(answers: 7): " in words and "a, b, c, d, e and 2 more; `seam score mine --exp" in words


def test_what_a_condition_costs_is_counted_by_condition() -> None:
    outputs = answers(CASES, "{artifact}")
    for case, output in zip(CASES, outputs, strict=True):
        if case.condition == "blank":
            output.response = "I'm sorry, but I can't help with that."
        if case.condition == "mitigation" and case.source == "canitedit":
            tag = case.boundary_delimiters
            assert tag
            output.response = f"```\n{tag.opening}\n{case.artifact}\n{tag.closing}\n```"
    found = count_damage(score(CASES, outputs)[0]).set_index("condition")
    assert list(found.index) == list(TREATED)
    assert list(found["n"]) == [96] * 5
    assert list(found["refusals"]) == [0, 96, 0, 0, 0]
    assert found.at["blank", "shortened"] == 96
    assert found.at["newline", "shortened"] == 0
    assert list(found["python"]) == [16] * 5
    assert found.at["mitigation", "invalid"] == 16
    assert found.at["mitigation", "invalid_without_markers"] == 0
    p = dict(zip(found.index, syntax_p(found), strict=True))
    assert p["mitigation"] == pytest.approx(2 * 0.5**16)
    assert list(found["invalid_clean"]) == [0] * 5
    assert p["newline"] == 1
