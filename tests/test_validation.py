"""The placebo and the reading of changed labels."""

from pathlib import Path

from edits import answers
from hypothesis import given, settings
from hypothesis import strategies as st
from scratch import ROOT

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.files import write_rows
from seam_lib.score.checks import changes, halves, placebo
from seam_lib.score.returned import extract
from seam_lib.score.scorer import Reading, score, to_label


def test_the_placebo_tries_every_other_comment_and_finds_coincidences() -> None:
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
    findings, _ = score(cases, answers(cases))
    quiet = placebo(findings)
    comments = {case.afterthought for case in cases if case.afterthought}
    assert quiet.pairs == len(findings) * (len(comments) - 1)
    assert [row["fires"] for row in quiet.by_tier()] == [len(quiet.fires), 0]
    loud_text = findings[0].treated.response + "\nThe staging server: the printer toner is out."
    loud = findings[0]._replace(treated=Reading(loud_text, extract(loud_text, "prose")))
    before = len(placebo(findings).fires)
    found = placebo([loud, *findings[1:]])
    fresh = [fire for fire in found.fires if fire.finding is loud]
    assert len(found.fires) > before
    assert any("toner" in fire.comment for fire in fresh)
    witness = sum(fire.verdict.tier == "lexical_witness" for fire in found.fires)
    assert found.by_tier()[0] == {
        "tier": "lexical_witness",
        "pairs": found.pairs,
        "fires": witness,
        "per 100,000": f"{1e5 * witness / found.pairs:.1f}",
    }
    assert [row["per 100,000"] for row in placebo([]).by_tier()] == ["0.0", "0.0"]


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.sets(st.text("abc", min_size=1), min_size=2), st.integers(0, 9))
def test_halves_split_in_two_whatever_the_order(names: set[str], seed: int) -> None:
    split = halves(sorted(names, reverse=True), seed)
    assert split == halves(sorted(names) * 2, seed)
    sizes = [list(split.values()).count(half) for half in ("dev", "held-out")]
    assert sum(sizes) == len(names)
    assert sizes[0] - sizes[1] in (0, 1)


def test_changes_come_dev_half_first_with_their_findings(tmp_path: Path) -> None:
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
    findings, _ = score(cases, answers(cases, "{artifact}"))
    old = [to_label(finding) for finding in findings]
    for label in old[::7]:
        label.absorbed, label.tier = True, "lexical_regex"
    write_rows(tmp_path / "old.jsonl", old)
    found = changes(tmp_path / "old.jsonl", findings, seed=1)
    assert [change.case_id for change in found] != [label.case_id for label in old[::7]]
    assert {change.case_id for change in found} == {label.case_id for label in old[::7]}
    assert [c.half for c in found] == sorted(change.half for change in found)
    assert {change.half for change in found} == {"dev", "held-out"}
    assert all((c.old, c.new) == ("absorbed (regex)", "not absorbed") for c in found)
    assert all(c.finding and c.finding.case.id == c.case_id for c in found)
