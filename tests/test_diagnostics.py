"""Health by condition."""

import pytest
from edits import answers
from scratch import ROOT

from seam_lib.build import read_benchmark
from seam_lib.diagnostics import diagnose
from seam_lib.schema import TREATED
from seam_lib.score import judge


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
    found = diagnose(judge(cases, outputs)[0]).set_index("condition")
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
