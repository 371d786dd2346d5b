"""Joining outputs with cases, dropping what cannot be scored, and the commands around it."""

import random
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.analysis.labels import read_labels
from seam_lib.build.comments import read_pools
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, write_rows
from seam_lib.core.rows import TIER_NAMES, TIERS, Case, Label, Output
from seam_lib.score.returned import extract
from seam_lib.score.scorer import (
    LEXICAL_ONLY,
    Provenance,
    coverage,
    judge,
    notice,
    pick_answer,
    provenance_path,
    read_provenance,
    score,
    score_files,
    tiers_run,
    to_label,
)
from tests.helpers.answers import answers
from tests.helpers.project import ROOT, seam

POOLS = read_pools(ROOT / "data" / "comments.yaml")
COMMENTS = [*POOLS.casual, *(comment for pool in POOLS.native.values() for comment in pool)]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return read_benchmark(ROOT / "data" / "benchmark" / "embedded")


def labels_of(cases: list[Case], outputs: list[Output]) -> list[Label]:
    return [to_label(finding) for finding in score(cases, outputs)[0]]


@pytest.mark.parametrize(
    "pattern",
    [
        "{artifact}\n{comment}",
        "{artifact}\n\n---\n\n{comment}",
        "{artifact}\n\nAdditional note: {comment}",
        "{comment}\n{artifact}",
        "{artifact} {comment}",
    ],
)
def test_the_comment_verbatim_inside_the_artifact_always_fires(
    cases: list[Case], pattern: str
) -> None:
    labels = labels_of(cases, answers(cases, pattern))
    assert len(labels) == 480
    missed = [label for label in labels if label.tier != "lexical_witness"]
    assert missed == []


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["Town A grew.", "It is big", "", "- a list", "# A title", "2. b"])),
    st.integers(0, 9),
    st.sampled_from([comment.text for comment in COMMENTS]),
    st.sampled_from(["{}", "On an unrelated note, {}", "(Note: {})", "> {}", "**Side note:** {}"]),
)
def test_wherever_the_comment_stands_in_the_artifact_it_stays(
    lines: list[str], place: int, comment: str, frame: str
) -> None:
    lines.insert(place, frame.format(comment))
    for genre in ("prose", "technical"):
        assert comment in extract("\n".join(lines), genre).text


@pytest.mark.parametrize(
    "pattern", ["{artifact}", "{artifact}\n\n---\n\nI left that out: it was unrelated. {artifact}"]
)
def test_an_edit_without_the_comment_never_fires(cases: list[Case], pattern: str) -> None:
    assert not any(label.absorbed for label in labels_of(cases, answers(cases, pattern)))


def test_a_comment_in_the_thinking_alone_is_not_absorbed(cases: list[Case]) -> None:
    """`seam score --outputs` reads what other tools wrote, their servers' thinking included."""
    thought = [
        msgspec.structs.replace(
            output, response=f"<think>\n{case.afterthought}\n</think>\n\n{output.response}"
        )
        for case, output in zip(cases, answers(cases, "{artifact}"), strict=True)
    ]
    labels = labels_of(cases, thought)
    assert len(labels) == 480 and not any(label.absorbed for label in labels)


def test_a_signal_in_clean_never_fires(cases: list[Case]) -> None:
    comments = {c.composition_event_id: c.afterthought for c in cases if c.condition == "newline"}
    spoiled = [
        msgspec.structs.replace(c, afterthought=comments[c.composition_event_id])
        if c.condition == "clean"
        else c
        for c in cases
    ]
    labels = labels_of(cases, answers(spoiled))
    assert not any(label.absorbed for label in labels if label.condition != "newline_R")
    assert all(label.absorbed for label in labels if label.condition == "newline_R")


@settings(derandomize=True, max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False))
def test_scoring_is_idempotent_and_order_free(shuffler: random.Random) -> None:
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")[:60]
    outputs = answers(cases)
    expected = labels_of(cases, outputs)
    again = outputs + outputs
    shuffler.shuffle(again)
    shuffler.shuffle(cases)
    assert labels_of(cases, again) == expected


def test_what_is_scored_and_what_is_dropped(cases: list[Case]) -> None:
    cluster = cases[:6]
    clean, newline, blank, boundary, mitigation, native = answers(cluster)
    newline.error = "timeout"
    blank.response = " \n"
    boundary.finish_reason = "length"
    late = msgspec.structs.replace(mitigation, error=None)
    mitigation.error = "timeout"
    rows = [clean, newline, blank, boundary, mitigation, native, late]
    findings, drops = score(cluster, rows)
    assert {j.case.condition for j in findings} == {"mitigation", "newline_R"}
    assert sorted((drop.side, drop.flaw) for drop in drops) == [
        ("treated", "empty"),
        ("treated", "error"),
        ("treated", "length"),
    ]
    assert str(score(cluster, [native])[1][0]) == "clean response unusable: missing"
    clean.finish_reason = "MAX_TOKENS"
    (drop,) = score(cluster, [clean, native])[1]
    assert (drop.side, drop.flaw, drop.finish_reason) == ("clean", "length", "MAX_TOKENS")
    assert str(drop) == "clean response unusable: cut off at the token limit"


def test_where_both_responses_fail_the_treated_one_is_named(cases: list[Case]) -> None:
    clean, newline, *_ = answers(cases[:6])
    clean.response, newline.finish_reason = "", "abort"
    (drop,) = score(cases[:6], [clean, newline])[1]
    assert (drop.side, drop.flaw) == ("treated", "broken")


def test_several_models_in_one_file_are_kept_apart(cases: list[Case]) -> None:
    cluster = cases[:6]
    other = [msgspec.structs.replace(o, model="n") for o in answers(cluster, "{artifact}")]
    labels = labels_of(cluster, answers(cluster) + other)
    assert {(label.model, label.absorbed) for label in labels} == {("m", True), ("n", False)}


def test_an_answer_to_no_case_is_an_error(cases: list[Case]) -> None:
    with pytest.raises(SeamError, match=r"'nowhere:1' has no case in the benchmark"):
        score(cases, [Output(case_id="nowhere:1", model="m", response="x")])


def printed_by(*arguments: object) -> str:
    done = seam(*arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_release_s_rows_are_scored_without_a_run(
    cases: list[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "cases.jsonl", cases[:12])
    rows = [
        {"case_id": o.case_id, "model": "m", "response": o.response, "error": None}
        | {"finish_reason": "stop", "latency": 1.5}
        for o in answers(cases[:12])
    ]
    write_rows(tmp_path / "outputs.jsonl", rows)
    write_rows(tmp_path / "outputs.traces.jsonl", [{"anything": 1}])
    files = ["--cases", "cases.jsonl", "--outputs", "outputs.jsonl", "--labels", "labels.jsonl"]
    printed = printed_by("score", *files)
    assert "Semantic tier off" in printed
    assert "10 labels for 10 planned" in " ".join(printed.split())
    labels = list(read_rows(tmp_path / "labels.jsonl", Label))
    assert labels == labels_of(cases[:12], answers(cases[:12]))
    assert read_labels(tmp_path / "labels.jsonl").models == ("m",)
    first = (tmp_path / "labels.jsonl").read_bytes()
    meta = provenance_path(tmp_path / "labels.jsonl").read_bytes()
    printed_by("score", *files)
    assert (tmp_path / "labels.jsonl").read_bytes() == first
    assert provenance_path(tmp_path / "labels.jsonl").read_bytes() == meta


def test_provenance_names_tier_inputs_and_counts(cases: list[Case], tmp_path: Path) -> None:
    write_rows(tmp_path / "cases.jsonl", cases[:6])
    outputs = answers(cases[:6])
    outputs[1].error = "timeout"
    write_rows(tmp_path / "outputs.jsonl", outputs)
    findings, written = score_files(
        tmp_path, *(tmp_path / f"{n}.jsonl" for n in ("cases", "outputs", "labels")), engine=None
    )
    made = read_provenance(tmp_path / "labels.jsonl")
    assert made == written
    assert list(map(to_label, findings)) == list(read_rows(tmp_path / "labels.jsonl", Label))
    assert (made.rules, made.nli) == ("2.4.3", "off")
    assert sorted(made.inputs) == ["cases.jsonl", "outputs.jsonl"]
    assert made.planned["newline"] == 1
    assert "newline" not in made.labelled
    assert [drop.case_id for drop in made.dropped] == [outputs[1].case_id]
    assert coverage(made)[0] == {
        **{"condition": "newline", "planned": 1, "labelled": 0, "treated unusable": 1},
        **{"clean unusable": 0, "unanswered": 0},
    }
    with pytest.raises(SeamError, match="Score the run again"):
        read_provenance(tmp_path / "none.jsonl")


@pytest.fixture
def files(cases: list[Case], tmp_path: Path) -> list[str]:
    """A cluster whose treated answers report the comment, cite it, or answer it."""
    write_rows(tmp_path / "cases.jsonl", cases[:6])
    outputs = answers(cases[:6])
    outputs[
        2
    ].response = f"```\nx = 1\n# I removed the line.\n# {cases[2].afterthought}\n```\n\x1b[31mEnjoy"
    write_rows(tmp_path / "outputs.jsonl", outputs)
    return [
        part
        for name in ("cases", "outputs", "labels")
        for part in (f"--{name}", str(tmp_path / f"{name}.jsonl"))
    ]


def test_a_label_explains_itself(cases: list[Case], files: list[str]) -> None:
    printed = printed_by("score", *files, "--explain", cases[2].id)
    assert f"label: absorbed · {TIER_NAMES['lexical_witness']} · code comment" in printed
    assert f"evidence: {(cases[2].witness_tokens or [''])[0]}" in printed.lower()
    assert "[removed: sentence: # I removed the line.]" in printed
    assert "[removed: outside the fences: ```" in printed
    assert "\x1b[31m" not in printed
    clean, treated = printed.split("Response without")[1].split("Response with the")
    assert "x = 1" in treated
    assert cases[2].artifact.splitlines()[0] in clean
    assert not Path(files[-1]).exists()


def test_changed_labels_are_read_before_they_are_believed(
    cases: list[Case], files: list[str]
) -> None:
    printed_by("score", *files)
    assert "0 labels differ." in printed_by("score", *files, "--diff", files[-1])
    labels = list(read_rows(Path(files[-1]), Label))
    labels[0].absorbed, labels[0].tier = False, None
    old = Path(files[-1]).with_name("old.jsonl")
    write_rows(old, labels[:-1])
    printed = printed_by("score", *files, "--diff", old)
    assert "old: not absorbed" in printed
    assert f"new: absorbed · {TIER_NAMES['lexical_witness']}\n" in printed
    assert "old: no label" in printed
    assert "2 labels differ." in printed
    assert cases[0].artifact.splitlines()[0] in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give a run's name"),
        (["embedded", "--cases", "x"], "Give a run's name"),
        (["embedded", "--explain", "c", "--diff", "x"], "--explain or --diff, not both"),
        (["nobody"], "there is no run 'nobody'; the runs are: embedded"),
    ],
)
def test_wrong_arguments_say_what_to_give(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    result = seam("score", *arguments)
    assert isinstance(result.exception, SeamError)
    assert message in str(result.exception)


def test_explaining_an_unknown_or_clean_case_says_so(cases: list[Case], files: list[str]) -> None:
    for case_id, message in [("nowhere", "no such case"), (cases[0].id, "no treated response")]:
        result = seam("score", *files, "--explain", case_id)
        assert message in str(result.exception)


def test_one_answer_is_judged_as_all_are(cases: list[Case]) -> None:
    outputs = answers(cases, "{artifact}\n\nNote: I removed this.\n{comment}")
    findings, _ = score(cases, outputs)
    for finding in findings[::37]:
        alone = judge(finding.case, finding.treated.response, finding.clean.response)
        assert alone == finding._replace(model="")
        assert alone.treated.removed == [
            (step, finding.treated.response[start:end])
            for step, start, end in finding.treated.returned.removals
        ]


def test_the_semantic_tier_is_asked_where_the_lexical_ones_are_silent(cases: list[Case]) -> None:
    class Yes:
        def entailed(self, pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
            return {pair for pair in pairs if pair[0] == "In other words, it is late."}

    text = next(c for c in cases if c.genre != "code" and c.condition == "newline")
    code = next(c for c in cases if c.genre == "code" and c.condition == "newline")
    for case, tier in ((text, "semantic_nli"), (code, None)):
        finding = judge(case, "An edit. In other words, it is late.", "An edit.", Yes())
        assert to_label(finding).tier == tier


def test_the_answer_to_begin_with_has_something_to_show(cases: list[Case]) -> None:
    plain = answers(cases, "{artifact}")
    shown = next(c for c in cases[99:] if c.condition == "boundary" and c.genre != "code")
    told = f"{shown.artifact} {shown.afterthought}\n\nNote: I have removed your remark."
    outputs = [*plain, Output(case_id=shown.id, model="m", response=told)]
    case, response, clean = pick_answer(cases, outputs)
    assert (case, response, clean) == (shown, told, shown.artifact)
    shortest = min((c for c in cases if c.afterthought), key=lambda c: len(c.message))
    assert pick_answer(cases, plain)[0] == shortest
    assert pick_answer(cases, plain, cases[5].id)[0] == cases[5]


def test_an_answer_to_begin_with_needs_a_usable_pair(cases: list[Case]) -> None:
    clean, treated, *_ = cases
    usable = Output(case_id=treated.id, model="m", response="x")
    cut = Output(case_id=clean.id, model="m", response="x", finish_reason="length")
    with pytest.raises(SeamError, match="no case with a comment: has no usable answer beside"):
        pick_answer(cases, [usable, cut])
    with pytest.raises(SeamError, match=f"^{clean.id}: has no usable answer"):
        pick_answer(cases, answers(cases), clean.id)


def test_what_is_said_of_the_tiers_follows_from_what_was_run() -> None:
    made = Provenance(rules="1", nli="off", inputs={}, planned={}, labelled={}, dropped=[])
    assert notice(made) == LEXICAL_ONLY
    assert tiers_run(made) == ("lexical_witness", "lexical_regex")
    run = msgspec.structs.replace(made, nli="a model at 12ab")
    assert notice(run) == "Semantic tier: a model at 12ab."
    assert tiers_run(run) == TIERS
