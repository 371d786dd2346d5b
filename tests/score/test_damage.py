"""The diagnostics that are reported and never scored."""

import pytest

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import TREATED
from seam_lib.score.damage import (
    count_damage,
    parses,
    refuses,
    returned_code,
    shortened,
    without_markers,
)
from seam_lib.score.scorer import score
from tests.helpers.answers import answers
from tests.helpers.project import ROOT


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


def test_what_a_condition_costs_is_counted_by_condition() -> None:
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
    outputs = answers(cases, "{artifact}")
    for case, output in zip(cases, outputs, strict=True):
        if case.condition == "blank":
            output.response = "I'm sorry, but I can't help with that."
        if case.condition == "mitigation" and case.source == "canitedit":
            tag = case.boundary_delimiters
            assert tag
            output.response = f"```\n{tag.opening}\n{case.artifact}\n{tag.closing}\n```"
    found = count_damage(score(cases, outputs)[0]).set_index("condition")
    assert list(found.index) == list(TREATED)
    assert list(found["n"]) == [96] * 5
    assert list(found["refusals"]) == [0, 96, 0, 0, 0]
    assert found.at["blank", "shortened"] == 96
    assert found.at["newline", "shortened"] == 0
    assert list(found["python"]) == [16] * 5
    assert found.at["mitigation", "invalid"] == 16
    assert found.at["mitigation", "invalid_without_markers"] == 0
    assert found.at["mitigation", "p"] == pytest.approx(2 * 0.5**16)
    assert list(found["invalid_clean"]) == [0] * 5
    assert found.at["newline", "p"] == 1
