"""The published panel beside a run: its reading, its clusters, the pairs and the places."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from seam_lib.analysis import stats
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import SOURCES, TREATED, source_of
from seam_lib.report import words
from seam_lib.report.page import write_report
from seam_lib.report.panel import Panel, read_panel
from seam_lib.report.results import RunResult, analyse_run
from tests.helpers.cases import digests_of
from tests.helpers.project import scored_project
from tests.helpers.server import serving, stand_in, well

#: Models of the panel: one always absorbs, by a tier for each source, one never, one as the run.
ALWAYS, NEVER, SAME = "olmo2-32b", "claude-opus-4-8", "qwen3-8b"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project in whose eyes its own 24 clusters are the release, with a panel of three models."""

    with serving(well, stand_in) as server:
        root = scored_project(
            tmp_path_factory.mktemp("project"), f"{server.url}/v1", ["own"], per_source=4
        )
    cases = read_benchmark(root / "data/benchmark/small")
    columns = ",".join(f"digest_{name}" for name in TREATED)
    digests = digests_of(cases)
    lines = [f"cluster_id,source,{columns}"]
    lines += [
        ",".join([k, source_of(k), *(members[c] for c in TREATED)])
        for k, members in digests.items()
    ]
    (root / "data/published/clusters.csv").write_text("\n".join(lines) + "\n")
    mine = analyse_run(root, "own").labels
    rows = ["model,cluster_id,condition,absorbed,tier"]
    for label in mine.records():
        cell = f"{label.cluster_id},{label.condition}"
        place = SOURCES.index(source_of(label.cluster_id))
        rows.append(f"{ALWAYS},{cell},1,{'semantic_nli' if place % 2 else 'lexical_witness'}")
        rows.append(f"{NEVER},{cell},0,")
        rows.append(f"{SAME},{cell},{int(label.absorbed)},{label.tier or ''}")
    (root / "data/published/labels.csv").write_text("\n".join(rows) + "\n")
    return root


@pytest.fixture(scope="module")
def result(project: Path) -> RunResult:
    return analyse_run(project, "own")


@pytest.fixture(scope="module")
def panel(result: RunResult) -> Panel:
    return read_panel(result)


def rate(panel: Panel, model: str, condition: str) -> float:
    rates = panel.rates.set_index(["model", "condition"])["rate"]
    return float(rates[model, condition])


def test_without_a_semantic_tier_the_panel_is_read_without_it(
    result: RunResult, panel: Panel
) -> None:
    assert panel.lexical and rate(panel, ALWAYS, "newline") == 0.5
    scoring = msgspec.structs.replace(result.scoring, nli="some/model")
    whole = read_panel(replace(result, scoring=scoring))
    assert not whole.lexical and rate(whole, ALWAYS, "newline") == 1.0
    assert "semantic tier left out" in words.reading_words(panel)
    assert "semantic tier left out" not in words.reading_words(whole)
    assert "none changed by hand" in words.reading_words(whole)


def test_the_run_is_paired_with_every_model_on_the_same_clusters(
    result: RunResult, panel: Panel
) -> None:
    assert len(panel.pairs) == 3 * len(TREATED)
    for condition, group in panel.pairs.groupby("condition"):
        rows = group.set_index("model")
        absorbed, mask = result.labels.outcomes("own", condition)
        assert rows.loc[SAME, ["a_only", "b_only", "p"]].tolist() == [0, 0, 1.0]
        assert rows.loc[NEVER, "a_only"] == absorbed[mask].sum()
        assert rows.loc[NEVER, "n"] == mask.sum()
        tests = [
            stats.mcnemar_exact(stats.Paired(r.both, r.a_only, r.b_only, r.neither))
            for r in group.itertuples()
        ]
        assert group["p"].tolist() == tests
        assert group["p_holm"].tolist() == stats.holm(tests)


def test_the_place_counts_from_the_least_and_its_interval_from_what_is_resolved(
    panel: Panel,
) -> None:
    row = panel.ranks.set_index("condition").loc["newline"]
    pairs = panel.pairs[panel.pairs["condition"] == "newline"].set_index("model")
    assert pairs.loc[NEVER, "p_holm"] < 0.05, "the stand-in absorbs too little for this test"
    assert row["rank"] == 1 + (pairs["difference"] > 0).sum()
    assert (row["low"], row["high"]) == (1 + row["less"], 4 - row["more"])
    assert row["less"] == 1 and row["low"] == 2
    (said,) = (s for s in words.rank_words(panel) if s.startswith("newline: "))
    assert (
        f"place {row['rank']} of 4 (95% interval 2 to {row['high']}; the first absorbs least)"
        in said
    )


def test_only_clusters_with_the_papers_message_count(result: RunResult) -> None:
    kept = {cell for cell in result.release.cells if source_of(cell[0]) == "coedit"}
    part = replace(result, release=result.release._replace(cells=kept))
    panel = read_panel(part)
    assert set(panel.pairs["n"]) == {4} and set(panel.rates["n"]) == {4}


def test_other_texts_have_no_place_and_the_whole_panel_behind_them(result: RunResult) -> None:
    panel = read_panel(replace(result, release=result.release._replace(cells=set())))
    assert panel.pairs.empty and panel.ranks.empty and words.rank_words(panel) == []
    assert set(panel.rates["n"]) == {24}


def test_the_report_ranks_a_run_on_the_papers_clusters(project: Path, result: RunResult) -> None:
    text = (write_report(project, result) / "report.md").read_text(encoding="utf-8")
    assert "Other texts" not in text and "small sample" not in text
    _, _, part = text.partition("### Its place, and each model pair by pair")
    assert "- newline: place " in part and "\n| Qwen3-8B | +0.0 [" in part
    assert "\n\n\n" not in text
    assert "on the same clusters" in text
