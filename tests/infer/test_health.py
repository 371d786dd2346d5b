from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from seam_lib.core.params import RunParams
from seam_lib.core.rows import CONDITIONS, Case, Output, Trace, condition_name
from seam_lib.infer.health import (
    Apart,
    Crowded,
    Differing,
    Health,
    Looping,
    Thinking,
    Unrecorded,
    answers,
    by_source,
    diagnose,
    in_hours,
)
from seam_lib.infer.prompts import message_digest, prompt_of
from seam_lib.infer.traces import repeats
from tests.helpers.cases import trace, trial_cases

CASES = trial_cases(12)
RUN = RunParams(benchmark="b", provider="openai", model="m", attempts=1)


def answered(case: Case, **fields: Any) -> Trace:
    request = {"messages_sha256": message_digest(prompt_of(case).messages), "temperature": 0.0}
    request |= fields.pop("request", {})
    made = trace(case, request=request, usage={"input_tokens": 9, "output_tokens": 7})
    return msgspec.structs.replace(made, **fields)


def check(changes: dict[str, dict[str, Any]]) -> Health:
    """A run in which the named conditions differ."""
    log = [answered(case, **changes.get(case.condition, {})) for case in CASES]
    return diagnose(CASES, log, RUN)


def test_a_sound_run_gets_no_warning() -> None:
    found = check({})
    assert found.warnings == []
    assert list(found.calls["condition"]) == list(map(condition_name, CONDITIONS))
    assert set(found.calls["calls"]) == {12}
    assert set(found.calls["tokens p50/p95"]) == {"7/7"}
    assert set(found.provenance["conditions"]) == {"all"}


def test_every_kind_of_defect_is_counted_where_it_happened() -> None:
    clean = [case for case in CASES if case.condition == "clean"]
    log = [
        answered(clean[0], response=None, finish_reason=None, error="timeout: none"),
        answered(clean[0], response=""),
        answered(clean[1], finish_reason="length", seconds=9.0),
        answered(clean[2], response="The same line, again and again, over.\n" * 9),
        answered(clean[3], reasoning_loops=True, request={"decoding": "temperature=1.0"}),
    ]
    found = diagnose(CASES, log, RUN)
    row = found.calls.set_index("condition").loc["clean"]
    assert list(row[["calls", "failed", "empty", "cut off", "loops"]]) == [5, 1, 1, 1, 2]
    assert found.windows.set_index("condition").loc["clean", "departures"] == 1
    assert Looping({"clean": 2}) in found.warnings
    assert str(Looping({"clean": 2})).endswith("repetition loop: clean 2")
    total = found.outcomes.iloc[-1]
    assert (total["usable"], total["unusable"], total["missing"]) == (2, 2, 68)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"served_model": "m-alias"}, "differ in served model: m .*; m-alias (artifact-native)"),
        ({"endpoint": "elsewhere"}, "differ in endpoint: e .*; elsewhere (artifact-native)"),
        ({"request": {"temperature": 1.0}}, "differ in temperature: 0.0 .*; 1.0 (artifact-native)"),
        ({"served_model": None}, "no served model"),
    ],
)
def test_conditions_that_were_served_differently_are_named(
    change: dict[str, Any], words: str
) -> None:
    warnings = list(map(str, check({"newline_R": change}).warnings))
    before, _, after = words.partition(" .*")
    assert any(before in w and after in w for w in warnings), warnings


def test_a_difference_is_typed_so_that_nobody_reads_sentences() -> None:
    changed = check({"newline_R": {"served_model": None}, "blank": {"served_model": None}}).warnings
    where = "clean, newline, boundary, mitigation"
    values = {"m": where, "not recorded": "blank, artifact-native"}
    assert changed == [Differing("served model", values), Unrecorded()]
    assert msgspec.to_builtins(changed)[1] == {"kind": "Unrecorded"}


def test_a_tagged_retry_is_no_difference_between_conditions() -> None:
    retry = {"request": {"decoding": "temperature=1.0", "temperature": 1.0}}
    log = [answered(case) for case in CASES]
    log += [answered(case, **retry) for case in CASES if case.condition == "blank"][:3]
    assert diagnose(CASES, log, RUN).warnings == []


def test_conditions_collected_more_than_a_day_apart_are_named() -> None:
    start = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    for days, warns in ((0.9, False), (38, True)):
        later = {"started_at": (start + timedelta(days=days)).isoformat(timespec="seconds")}
        warnings = check({"newline_R": later}).warnings
        assert warnings == [Apart("clean", "artifact-native", days)] * warns
    assert str(warnings[0]) == "clean and artifact-native were collected 38.0 days apart"


def test_thinking_in_some_answers_but_not_in_all_is_named() -> None:
    marked = {"raw": {"thinking": "in the content"}}
    (warning,) = check({"newline": marked}).warnings
    assert warning == Thinking(12, 72) and "12 of 72 answers had thinking" in str(warning)
    assert check(dict.fromkeys(CONDITIONS, marked)).warnings == []


def test_one_late_retry_does_not_move_a_condition() -> None:
    log = [answered(case) for case in CASES]
    log.append(answered(CASES[0], started_at="2026-03-01T00:00:00+00:00"))
    assert diagnose(CASES, log, RUN).warnings == []


def test_unusable_outputs_that_crowd_in_one_condition_are_told_from_scattered_ones() -> None:
    bad = {"response": ""}
    crowded = check({"boundary": bad}).warnings
    assert crowded == [Crowded("boundary", 12, 12, 0, 60)]
    assert str(crowded[0]) == (
        "unusable outputs cluster in boundary: 12 of 12 there, 0 of 60 elsewhere; "
        "compare it with care"
    )
    log = [answered(case, **(bad if n % 7 == 0 else {})) for n, case in enumerate(CASES)]
    assert diagnose(CASES, log, RUN).warnings == []


def test_a_run_that_has_not_begun_is_no_mishap() -> None:
    found = diagnose(CASES, [], RUN)
    assert found.warnings == []
    assert found.outcomes.iloc[-1]["missing"] == len(CASES)
    assert len(found.provenance) == 0


def test_answers_stand_beside_the_length_of_their_artifact() -> None:
    case = CASES[0]
    log = [
        answered(case, finish_reason="length"),
        answered(case, response=None, finish_reason=None, error="timeout: none"),
        answered(case, response=" "),
        answered(case),
        answered(case, finish_reason="content_filter"),
    ]
    found = answers(CASES, log)
    assert list(found["kind"]) == ["cut off", "empty", "whole", "cut off"]
    assert set(found["artifact characters"]) == {len(case.artifact)}
    assert set(found["answer tokens"]) == {7}


def test_a_source_s_departures_are_counted_among_its_usable_answers() -> None:
    one, two, *_ = (case for case in CASES if case.source == CASES[0].source)
    other = next(case for case in CASES if case.source != one.source)
    rows = [
        Output(case_id=one.id, model="m", response="x", decoding="temperature=1.0"),
        Output(case_id=two.id, model="m", response="", decoding="temperature=1.0"),
        Output(case_id=other.id, model="m", response="x"),
    ]
    found = by_source(CASES, {row.case_id: row for row in rows}).set_index("source")
    assert found.loc[one.source].to_dict() == {"cases": 2, "usable": 1, "departures": 1}
    assert found.loc[other.source].to_dict() == {"cases": 1, "usable": 1, "departures": 0}
    assert len(found) == 2


def test_windows_are_told_in_hours_since_the_first_answer() -> None:
    clean, newline, *_ = CASES
    log = [
        answered(clean, started_at="2026-01-01T10:00:00+00:00"),
        answered(clean, started_at="2026-01-01T10:30:00+00:00"),
        answered(newline, started_at="2026-01-02T10:00:00+00:00"),
    ]
    found = in_hours(diagnose(CASES, log, RUN).windows).set_index("condition")
    assert found.loc["clean", ["first", "last"]].tolist() == ["0.0 h", "0.5 h"]
    assert found.loc["newline", ["first", "last"]].tolist() == ["24.0 h", "24.0 h"]
    assert found.loc["blank", ["first", "last"]].tolist() == ["", ""]
    empty = in_hours(diagnose(CASES, [], RUN).windows)
    assert set(empty["first"]) == {""}


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("Let me check the input once more, carefully.\n" * 4, True),
        ("no line breaks but the same words for ever " * 60, True),
        ("a" * 1200, True),
        ("Let me check the input once more, carefully.\n" * 3, False),
        ("}\n" * 50, False),
        (" ".join(str(n * n) for n in range(900)), False),
        ("", False),
    ],
)
def test_a_loop_is_told_from_a_long_text(text: str, loops: bool) -> None:
    assert repeats(text) is loops
