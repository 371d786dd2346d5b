"""A run's analysis, its words, its report and its page."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest

from seam_lib.analysis import stats
from seam_lib.build.release import compare_digests
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.cells import markdown
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, write_rows
from seam_lib.core.rows import CONDITIONS, TREATED, Output
from seam_lib.report import words
from seam_lib.report.page import body, page, record, report_text, write_report
from seam_lib.report.panel import read_panel
from seam_lib.report.results import (
    RunResult,
    analyse_run,
    analyse_runs,
    comments,
    planned_contrasts,
)
from seam_lib.report.tables import run_tables
from tests.helpers.cases import digests_of
from tests.helpers.project import change_params, scored_project, seam
from tests.helpers.server import departs, first_cut_off, serving, stand_in

#: Conditions of the scratch project: the paper's six and one more.
OWN = "semantic_tags"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with serving(first_cut_off, stand_in) as server:
        yield scored_project(
            tmp_path_factory.mktemp("project"),
            f"{server.url}/v1",
            ["first", "second"],
            per_source=3,
            conditions=[*CONDITIONS, OWN],
        )


@pytest.fixture(scope="module")
def result(project: Path) -> RunResult:
    return analyse_runs(project, ["first", "second"])[0]


@pytest.fixture(scope="module")
def folder(project: Path, result: RunResult) -> Path:
    """The report as it is written."""
    return write_report(project, result)


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    return shutil.copytree(project, tmp_path / "copy")


# --- The analysis ---------------------------------------------------------------------------------


def test_the_rates_are_those_of_the_stand_in(project: Path, result: RunResult) -> None:
    cases = read_benchmark(project / "data" / "benchmark" / "small")
    for row in result.analysis.rates.itertuples():
        answers = [(stand_in(c.message), c) for c in cases if c.condition == row.condition]
        kept = sum(str(case.afterthought) in answer for answer, case in answers)
        assert (row.k, row.n, row.planned) == (kept, 18, 18), row.condition
    assert set(result.analysis.rates["condition"]) == {*TREATED, OWN}


def test_holm_is_over_the_runs_of_its_family(project: Path, result: RunResult) -> None:
    assert result.family == ("first", "second")
    alone = analyse_run(project, "first")
    for one, both in zip(
        alone.analysis.contrasts.itertuples(), result.analysis.contrasts.itertuples(), strict=True
    ):
        assert one.p == one.p_holm == both.p
        assert both.p_holm == stats.holm([both.p, both.p])[0]
    assert set(result.analysis.contrasts["model"]) == {"first"}


def test_runs_that_are_analysed_together_have_the_results_that_each_has(project: Path) -> None:
    both = analyse_runs(project, ["first", "second", "first"])
    assert [found.run.name for found in both] == ["first", "second"]
    for found, other in zip(both, ("second", "first"), strict=True):
        turned = analyse_runs(project, [found.run.name, other])[0]
        pd.testing.assert_frame_equal(found.analysis.contrasts, turned.analysis.contrasts)
        pd.testing.assert_frame_equal(found.unaltered, turned.unaltered)
        assert found.departing == turned.departing


def test_a_run_is_in_a_family_only_when_that_is_named(copy: Path) -> None:
    assert analyse_run(copy, "first").family == ("first",)  # whatever else is scored there
    change_params(copy, lambda params: params["runs"]["first"].update(family=["second"]))
    assert analyse_run(copy, "first").family == ("first", "second")
    assert analyse_run(copy, "second").family == ("second",)


def test_a_condition_of_ones_own_is_compared_with_those_of_its_comment(project: Path) -> None:
    cases = read_benchmark(project / "data" / "benchmark" / "small")
    assert planned_contrasts(cases)[-2:] == (("newline", OWN), ("boundary", OWN))
    native = [
        msgspec.structs.replace(case, condition="mine")
        for case in cases
        if case.condition == "newline_R"
    ]
    assert planned_contrasts([*cases, *native])[-3:][0] == ("newline_R", "mine")


def test_pairs_with_a_departing_answer_are_left_out(project: Path, result: RunResult) -> None:
    cases = read_benchmark(project / "data" / "benchmark" / "small")
    left_out = {(c.composition_event_id, c.condition) for c in cases if departs(c.message)}
    assert left_out, "the stand-in cuts no answer off: the test shows nothing"
    left = {
        condition: sum(
            not {(cluster, "clean"), (cluster, condition)} & left_out
            for cluster in comments(cases, "newline")
        )
        for condition in (*TREATED, OWN)
    }
    assert result.departing == sum(18 - n for n in left.values())
    for row in result.unaltered.itertuples():
        assert row.n <= min(left[row.condition_a], left[row.condition_b])


def test_labels_of_other_answers_are_refused(copy: Path) -> None:
    path = copy / "data/outputs/first.jsonl"
    rows = list(read_rows(path, Output))
    rows[0].response = "another answer"
    write_rows(path, rows)
    with pytest.raises(SeamError, match=r"other answers than data/outputs/first.jsonl.*seam score"):
        analyse_run(copy, "first")


def test_a_run_that_is_not_scored_is_named(copy: Path) -> None:
    (copy / "data/labels/first.jsonl").unlink()
    with pytest.raises(SeamError, match=r"the run 'first' is not scored.*seam infer first"):
        analyse_run(copy, "first")
    with pytest.raises(SeamError, match="no run 'third'"):
        analyse_run(copy, "third")


# --- The words ------------------------------------------------------------------------------------


def said_of(result: RunResult) -> str:
    return "\n".join(words.cautions(result))


def test_a_small_run_over_other_texts_says_so(result: RunResult) -> None:
    said = said_of(result)
    assert "**A small sample.** 18 clusters; the paper has 300." in said
    assert "**Other texts.** None of the clusters" in said
    assert "Semantic tier off" in said
    assert "tiny" not in said and "Unusable" not in said


def test_a_full_run_over_the_papers_texts_needs_no_caution(result: RunResult) -> None:
    scoring = msgspec.structs.replace(result.scoring, nli="a model")
    cases = read_benchmark(result.run.benchmark)
    full = replace(result, release=compare_digests(cases, digests_of(cases)), scoring=scoring)
    assert said_of(full) == ""
    theirs = digests_of(cases)
    others = {f"{name}0": theirs.pop(name) for name in list(theirs)[3:]}
    said = said_of(replace(full, release=compare_digests(cases, theirs | others)))
    assert "3 of 18 clusters are the paper's own" in said
    assert "**Part of the paper's benchmark.** The run's lacks all of" in said


def test_the_embedded_model_is_called_tiny(result: RunResult) -> None:
    settings = msgspec.structs.replace(result.run.settings, provider="llamacpp")
    run = msgspec.structs.replace(result.run, settings=settings)
    assert said_of(replace(result, run=run)).startswith("- **A tiny model.**".removeprefix("- "))


def test_lost_pairs_are_counted_by_condition(result: RunResult) -> None:
    scoring = msgspec.structs.replace(
        result.scoring, planned={"newline": 18, "newline_R": 18}, labelled={"newline": 15}
    )
    said = said_of(replace(result, scoring=scoring))
    assert "21 of 36 planned pairs have no label" in said
    assert "3 under newline, 18 under artifact-native" in said


def test_warnings_of_the_traces_stand_beside_the_numbers(result: RunResult) -> None:
    health = replace(result.health, warnings=["served by <b>two</b> models"])
    said = said_of(replace(result, health=health))
    assert r"**Warning.** Served by \<b\>two\</b\> models." in said


def test_answers_that_extraction_empties_stand_beside_the_numbers(result: RunResult) -> None:
    assert result.emptied == []
    said = said_of(replace(result, emptied=["coedit:1:newline:0"]))
    assert "**Warning.** The returned text is empty, though the answer is not" in said
    assert "coedit:1:newline:0" in said


@pytest.mark.parametrize(
    ("alone", "holm", "discordant", "expected"),
    [
        (np.nan, np.nan, 0.0, "only the interval says"),
        (0.3, 0.3, 0.3, "even if all of them pointed one way (30.0 points)"),
        (0.2, 0.4, 0.4, "20.0 points is detected with 80% power; under Holm over 2 runs, none."),
        (0.2, 0.25, 0.4, "with 80% power; under Holm over 2 runs, 25.0 points."),
    ],
)
def test_the_resolvable_difference_in_words(
    alone: float, holm: float, discordant: float, expected: str
) -> None:
    row = {"condition_a": "newline", "condition_b": "newline_R", "n": 18}
    row |= {"alone": alone, "holm": holm, "discordant": discordant}
    (sentence,) = words.resolution(pd.DataFrame([row]), 2)
    assert sentence.startswith("newline/artifact-native: 18 pairs") and expected in sentence


def test_a_family_is_named_where_holm_is_said() -> None:
    assert words.family_words(["a"]) == "This run is reported alone, so Holm's p is the exact p."
    assert words.family_words(["a", "b"]) == "Holm's p is over the 2 runs `a`, `b`."


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"lever": 9.6, "low": 5.9, "high": 19.04}, "is 9.6× (95% interval 5.9× to 19×"),
        ({"lever": 9.6, "low": 5.9, "high": np.inf}, "5.9× to ∞"),
        ({"lever": np.inf, "low": np.inf, "high": np.inf}, "Too little was absorbed"),
        ({"lever": np.nan, "low": np.nan, "high": np.nan}, "Too little was absorbed"),
    ],
)
def test_the_lever_in_words(row: dict[str, float], expected: str) -> None:
    assert expected in words.lever_words(pd.DataFrame([row]))


def test_few_comments_are_not_resampled() -> None:
    row = {
        "model": "m",
        "comments": 9,
        "low": 0.1,
        "high": 0.2,
        "difference_low": 0,
        "difference_high": 0.1,
    }
    frame = pd.DataFrame([row | {"largest_move": 0.05}])
    assert words.comment_words(frame).endswith("share 9 casual comments, too few to resample.")
    said = words.comment_words(frame.assign(comments=10))
    assert "[10.0, 20.0]% for the newline rate" in said and "at most 5.0 points" in said
    assert "no two casual comments" in words.comment_words(frame[:0])


def place(rate: float, condition: str = "newline") -> str:
    row = {"condition": condition, "rate": rate, "low": rate - 0.1, "high": rate + 0.1}
    published = pd.DataFrame({"condition": ["newline"] * 4, "rate": [0.1, 0.2, 0.2, 0.3]})
    (sentence,) = words.place_words(pd.DataFrame([row]), published)
    return sentence


def test_a_rate_is_placed_among_the_published_ones() -> None:
    assert place(0.25) == (
        "newline: 25.0% [15.0, 35.0], higher than those of 3 of the paper's 4 models."
    )
    assert "higher than those of 1 of" in place(0.2), "equal is not higher"
    assert place(0.2, "rule").endswith("30.0], a condition that the paper does not have.")


def test_each_contrast_is_said_from_a_to_b(result: RunResult) -> None:
    row = {"condition_a": "newline", "condition_b": "newline_R", "difference": -0.2}
    row |= {"low": -0.3, "high": -0.1, "p_holm": 0.01}
    frame = pd.DataFrame([row, row | {"p_holm": 0.05}, row | {"difference": 0.2}])
    start = "From newline to artifact-native:"
    assert words.contrast_words(frame) == [
        f"{start} +20.0 points [+10.0, +30.0], artifact-native absorbs more.",
        f"{start} +20.0 points [+10.0, +30.0], not resolved.",
        f"{start} -20.0 points [+10.0, +30.0], artifact-native absorbs less.",
    ]
    assert len(words.contrast_words(result.analysis.contrasts)) == len(result.analysis.contrasts)


def test_both_ends_of_the_sources_are_named(result: RunResult) -> None:
    rates = pd.DataFrame(
        {
            "source": ["coedit", "pararev", "canitedit"],
            "rate": [0.5, 0.1, 0.2],
            "low": [0.4, 0.0, 0.1],
            "high": [0.6, 0.2, 0.3],
        }
    )
    assert words.source_words(rates) == (
        "Most is absorbed in CoEdIT (50.0% [40.0, 60.0]), least in ParaRev (10.0% [0.0, 20.0])."
    )
    assert words.source_words(rates[:0]).startswith("No source has a usable pair")
    assert words.source_words(result.analysis.source_rates).startswith("Most is absorbed in")


def test_departures_that_change_a_reading_are_named(result: RunResult) -> None:
    same = replace(result, unaltered=result.analysis.contrasts)
    assert "No reading changes" in words.without_departures(same)
    flipped = result.unaltered.assign(p_holm=0.0, difference=-0.5)
    said = words.without_departures(replace(result, unaltered=flipped))
    assert "These change: newline/blank (" in said and "then more)" in said
    emptied = words.without_departures(replace(result, unaltered=flipped[:0]))
    assert "then more" not in emptied
    nothing = replace(result, departing=0)
    assert "run's own decoding" in words.without_departures(nothing)


# --- The report -----------------------------------------------------------------------------------


def test_a_report_holds_every_part(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    for condition in ("newline", "blank", "boundary", "mitigation", "artifact-native", OWN):
        assert f"\n| {condition} |" in text
    assert "| 18 of 18 |" in text
    assert text.count("*Semantic tier: off.*") >= 4, "said wherever rates stand"
    rows = [line for line in text.splitlines() if line.startswith("| standin-1 | ")]
    after = text.splitlines()[text.splitlines().index(rows[0]) + 1]
    assert after.startswith("| Claude Opus 4.8 |"), "the run stands above the panel"
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    assert names >= {"report.md", "report.html", "statistics.json", "table3.csv", "tiers.tex"}
    assert names >= {"figure2.svg", "figure2.pdf", "figure2.png"}


def test_a_report_is_one_text_in_parts(project: Path, result: RunResult) -> None:
    """Every table is there once, with one blank line between a part and the next."""
    panel = read_panel(result)
    made = run_tables(result, panel)
    text = report_text(result, panel, made)
    none = report_text(replace(result, departing=0), panel, made)
    for said in (text, none):
        assert "\n\n\n" not in said and said.endswith(".\n") and "{%" not in said
        assert not re.search(r"[^\n]\n(#|!\[)|\|\n[^|\n]", said), "a part without its blank line"
        for name in made.keys() - {"table3", "contrasts_own_decoding"}:
            assert said.count(body(made[name])) == 1, name
        assert said.count(markdown(made["table3"].display)) == 1
    own = body(made["contrasts_own_decoding"]).strip()
    assert own in text.partition("### Without answers of another decoding")[2]
    assert own not in none
    assert none.count("\n## ") == text.count("\n## ")


def test_readers_see_one_name_and_machines_the_release_s(folder: Path) -> None:
    for name in ("report.md", "report.html", "tables/tiers.md", "tables/contrasts.tex"):
        text = (folder / name).read_text(encoding="utf-8")
        assert not re.search(r"newline(\\\\?)?_R|lexical_|semantic_nli", text), name
        assert "artifact-native" in text
    assert "| condition | witness | regex | NLI |" in (folder / "report.md").read_text("utf-8")
    assert "newline_R" in (folder / "tables" / "tiers.csv").read_text(encoding="utf-8")
    assert "semantic_nli" in (folder / "statistics.json").read_text(encoding="utf-8")


def test_a_family_s_files_are_inputs_of_its_reports(project: Path, result: RunResult) -> None:
    named = set(record(project, result, read_panel(result))["inputs"])
    assert named >= {f"data/labels/{run}.jsonl" for run in ("first", "second")}
    assert named >= {f"data/outputs/{run}.jsonl" for run in ("first", "second")}
    single = analyse_run(project, "first")
    alone = set(record(project, single, read_panel(single))["inputs"])
    assert named - alone == {"data/labels/second.jsonl", "data/outputs/second.jsonl"}


def test_a_report_repeats_byte_for_byte(project: Path, result: RunResult, folder: Path) -> None:
    first = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shutil.rmtree(folder)
    write_report(project, analyse_runs(project, result.family)[0])
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == first


def test_the_panels_rows_are_the_papers(project: Path, result: RunResult) -> None:
    scoring = msgspec.structs.replace(result.scoring, nli="a model")
    whole = replace(result, scoring=scoring)
    made = run_tables(whole, read_panel(whole))["table3"].display.set_index("model")
    assert made.loc["OLMo-2-32B", ["newline", "boundary"]].tolist() == ["68.0", "35.3"]
    assert made.loc["Claude Opus 4.8", OWN] == "–", "the paper never had this condition"


def test_a_run_may_have_the_name_of_a_published_model(project: Path, result: RunResult) -> None:
    name = "qwen3-8b"  # as in docs/models.md, where it is a run of one's own
    frames = {f.name: getattr(result.analysis, f.name) for f in fields(result.analysis)}
    renamed = {
        key: frame.assign(model=name) if "model" in frame else frame
        for key, frame in frames.items()
    }
    run = msgspec.structs.replace(result.run, name=name)
    labels = replace(result.labels, models=(name,))
    analysis = type(result.analysis)(**renamed)
    other = replace(result, run=run, labels=labels, analysis=analysis)
    made = run_tables(other, read_panel(other))
    usual = run_tables(result, read_panel(result))
    assert made["table3"].display.equals(usual["table3"].display)
    assert made["table3"].data["key"].tolist()[0] == name
    assert made["table3"].data["key"].is_unique


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_fetches_nothing_and_runs_nothing(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    parsed = Tags(text).tags
    assert {"table", "svg", "figure", "h1"} <= {tag for tag, _ in parsed}
    assert not {"script", "link", "iframe", "img", "object"} & {tag for tag, _ in parsed}
    for _, attributes in parsed:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert not re.search(r"@import|url\(https?:", text)


def test_a_hostile_model_name_is_shown_as_text(result: RunResult) -> None:
    name = "<script>alert(1)</script> *x* `y` [z](javascript:alert(2)) | |"
    text = f"# {words.literal(name)}\n\n![Absorption rate by condition: this run over the "
    text += "published panel](figure2.svg)\n"
    shown = page("<script>", text, "<?xml?><svg></svg>")
    assert not [tag for tag, _ in Tags(shown).tags if tag in ("script", "a", "em", "code")]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; *x* `y` [z]" in shown


def test_a_benchmark_without_boundary_or_newline_has_a_report(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with serving(first_cut_off, stand_in) as server:
        root = scored_project(
            tmp_path_factory.mktemp("two"),
            f"{server.url}/v1",
            ["run"],
            per_source=2,
            conditions=["clean", "blank"],
        )
    text = (write_report(root, analyse_run(root, "run")) / "report.md").read_text(encoding="utf-8")
    assert "| blank | " in text and "newline/blank" not in text


def test_the_terminal_shows_rates_contrasts_and_cautions(project: Path, folder: Path) -> None:
    shown = seam("report", "first", "second", cwd=project)
    assert shown.exit_code == 0, shown.output
    assert "18 of 18" in shown.output and "newline/boundary" in shown.output
    assert "Holm over 2 runs" in shown.output and "A small sample." in shown.output
    assert str((folder / "report.html").relative_to(project)) in shown.output
    assert shown.output.count("18 of 18") == 2 * len((*TREATED, OWN))
