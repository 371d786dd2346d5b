from scratch import ROOT

from seam_lib.build.comments import read_pools
from seam_lib.build.composition import (
    comment_use,
    composition,
    facts,
    lengths,
    partitions,
    pool_use,
    report,
)
from seam_lib.core.benchmark import read_benchmark

CASES = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
FRAME = facts(CASES)


def test_the_composition_has_the_rows_of_table_2() -> None:
    table = composition(FRAME)
    assert list(table["source"]) == [
        "CanItEdit", "CommitPackFT", "CoEdIT", "IteraTeR", "ParaRev", "Stack Exchange", "total"
    ]  # fmt: skip
    assert list(table["clusters"]) == [16] * 6 + [96]
    assert list(table["cases"]) == [96] * 6 + [576]


def test_a_source_that_is_absent_has_no_row() -> None:
    some = facts(case for case in CASES if case.source == "pararev")
    assert list(composition(some)["source"]) == ["ParaRev", "total"]
    assert list(lengths(some)["source"]) == ["pararev"]


def test_lengths_are_those_of_the_artifacts() -> None:
    table = lengths(FRAME).set_index("source")
    sizes = [len(c.artifact) for c in CASES if c.source == "coedit" and c.condition == "clean"]
    assert table.loc["coedit", "min"] == min(sizes) and table.loc["coedit", "max"] == max(sizes)


def test_comment_use_counts_clusters_not_cases() -> None:
    use = comment_use(FRAME).set_index("comment")["clusters"]
    text = next(case.afterthought for case in CASES if case.condition == "blank")
    assert use[text] == sum(c.afterthought == text for c in CASES if c.condition == "newline")
    assert use.sum() == 2 * 96, "a casual and a native one each"


def test_partitions_name_file_and_licences() -> None:
    table = partitions(FRAME).set_index("partition")
    assert table.loc["sharealike", "file"] == "cc-by-sa.jsonl"
    assert table.loc["permissive", "licences"] == "Apache-2.0, MIT"
    assert table["cases"].sum() == 576


def test_the_report_says_where_the_benchmark_comes_from() -> None:
    text = report("mine", "Built from nothing.", FRAME)
    assert text.startswith(
        "# The benchmark `mine`\n\nBuilt from nothing.\n\n## Sources\n\n| source"
    )
    assert "| total |  | 96 | 576 |" in text


def test_a_pool_is_dealt_evenly_within_a_source_and_less_so_over_all() -> None:
    pool = [comment.text for comment in read_pools(ROOT / "data" / "comments.yaml").casual]
    assert pool_use(FRAME, pool) == (
        "Each source uses 16 of the pool's 24 comments, each of them in 1 of its clusters. Over "
        "all sources, a comment of the pool stands in 2 to 6 clusters."
    )
    some = FRAME[FRAME["cluster"].isin(FRAME["cluster"].unique()[:17])]
    assert "Each source uses 1 to 16 of" in pool_use(some, pool)
    assert pool_use(some, pool).endswith("a comment of the pool stands in 0 to 2 clusters.")
    assert pool_use(FRAME, ["Never said."]) == "No case has one of the pool's 1 comments."
