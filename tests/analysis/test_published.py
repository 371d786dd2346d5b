"""The published labels against everything that the paper and its release print."""

import io
import json
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from seam_lib.analysis import tables
from seam_lib.analysis.labels import check_complete, read_adjudications
from seam_lib.analysis.questions import Analysis, code_rates, sensitivity
from seam_lib.core.cells import Table
from seam_lib.core.params import load_params
from tests.helpers.project import scratch_project

GOLDEN = Path(__file__).parent / "golden"


def text_table(path: Path) -> pd.DataFrame:
    """A CSV file with every cell as it is written."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def as_written(table: Table) -> pd.DataFrame:
    """A table's machine body, as its CSV file has it."""
    return pd.read_csv(
        io.StringIO(table.data.to_csv(index=False)), dtype=str, keep_default_na=False
    )


@pytest.fixture(scope="module")
def computed(result, published, panel, names, root) -> dict[str, Table]:
    """All tables that the analysis writes, by name."""
    settings = load_params(root).analysis
    made = [
        tables.rate_table(result, names),
        tables.full_rate_table(result, names),
        tables.contrast_table(result, names),
        tables.selected_contrasts(result, names),
        tables.native_table(result, code_rates(published), names),
        tables.source_table(result, names),
        tables.configuration_table(panel, root / "pyproject.toml", tables.method_rows(settings)),
    ]
    return {table.name: table for table in made}


def displayed(name: str, computed: dict[str, Table]) -> pd.DataFrame:
    """A table as the reader sees it, in the rows that the paper has."""
    frame = computed[name].display
    if name == "table6":  # the paper's one tier row stands for "all conditions"
        frame = frame[frame["source"] != "witness/regex/NLI, casual conditions"]
        frame = frame.replace("witness/regex/NLI, all conditions", "witness/regex/NLI")
    return frame.reset_index(drop=True)


@pytest.mark.parametrize("name", ["table3", "table4", "table5", "table6"])
def test_the_paper_s_table_is_ours_but_for_the_listed_cells(name, computed):
    printed = text_table(GOLDEN / f"{name}.csv")
    ours = displayed(name, computed)
    assert list(ours.columns) == list(printed.columns)
    first = printed.columns[0]
    assert ours[first].tolist() == printed[first].tolist()
    different = [
        (printed.at[row, first], column, printed.at[row, column], ours.at[row, column])
        for row in printed.index
        for column in printed.columns
        if printed.at[row, column] != ours.at[row, column]
    ]
    known = text_table(GOLDEN / "differences.csv").query("table == @name")
    listed = known[["row", "column", "printed", "computed"]].itertuples(index=False, name=None)
    assert sorted(different) == sorted(listed)


def test_the_two_short_tier_counts_are_those_of_the_casual_conditions(computed):
    """What differs in Table 6 is not unexplained: the casual row has the printed counts."""
    frame = computed["table6"].display.set_index("source")
    casual = frame.loc["witness/regex/NLI, casual conditions"]
    known = text_table(GOLDEN / "differences.csv").query("table == 'table6'")
    assert len(known) == 2
    for row in known.itertuples():
        assert casual[row.column] == row.printed


def test_all_hundred_rates_of_table_3_are_there(computed):
    """Guards the comparison above against a table that lost rows or columns in both files."""
    printed = text_table(GOLDEN / "table3.csv")
    assert printed.shape == (20, 7)
    rates = printed.iloc[:, 1:6].map(lambda cell: float(cell.removesuffix(" ns")))
    machine = as_written(computed["table3"])[["newline", "blank", "boundary", "mitigation"]]
    assert (machine.astype(float).to_numpy() == rates.iloc[:, :4].to_numpy()).all()
    native = as_written(computed["table3"])
    assert native["newline_R"].astype(float).tolist() == rates["artifact-native"].tolist()
    marked = printed.loc[printed["artifact-native"].str.endswith(" ns"), "model"].tolist()
    assert native.loc[native["native_ns"] == "true", "model"].tolist() == marked
    assert len(marked) == 3


# --- the release's own tables -----------------------------------------------------------------


def printed_p(p: float) -> str:
    """A p-value as the released contrasts have it."""
    return f"{p:.1e}" if p < 0.001 else f"{round(p, 3):g}"


def test_all_hundred_contrasts_are_the_released_ones(root, computed):
    """Counts exactly, the rest at printed precision.

    The released file was rounded twice, so our rounded columns are rounded once more.
    """
    released = text_table(root / "data/published/contrasts.csv")
    ours = as_written(computed["contrasts"])
    again = pd.DataFrame(
        {
            **{c: ours[c] for c in ("model", "condition_a", "condition_b")},
            **{c: [f"{float(x):.3f}" for x in ours[c]] for c in ("rate_a", "rate_b")},
            **{c: ours[c] for c in ("a_only", "b_only")},
            **{
                c: [f"{float(x):+.1f}" for x in ours[c]]
                for c in ("diff_pp", "ci_low_pp", "ci_high_pp")
            },
            "p_exact": [printed_p(float(x)) for x in ours["p"]],
            "p_holm": [printed_p(float(x)) for x in ours["p_holm"]],
        }
    )
    key = ["model", "condition_a", "condition_b"]
    assert len(released) == len(released[key].drop_duplicates()) == 100
    expected = released.sort_values(key).reset_index(drop=True)
    found = again.sort_values(key).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)


def test_all_twenty_levers_are_the_released_ones(root, result):
    released = pd.read_csv(root / "data/published/levers.csv").set_index("model")
    ours = result.levers.set_index("model")
    assert ours.index.tolist() == released.index.tolist()
    assert len(ours) == 20
    for column in ("newline_events", "boundary_events"):
        assert ours[column].tolist() == released[column].tolist()
    for column, name in (("lever", "lever"), ("low", "ci_low"), ("high", "ci_high")):
        assert ours[column].round(2).tolist() == released[name].tolist()


# --- what the text says -----------------------------------------------------------------------


def significant(result: Analysis, a: str, b: str) -> pd.DataFrame:
    paired = result.contrasts.query("condition_a == @a and condition_b == @b")
    return paired[paired["p_holm"] < 0.05].set_index("model")


def test_a_blank_line_reduces_nothing_and_three_models_rise(result):
    """Section 5.2, with the bound of 7.1 points on any reduction."""
    found = significant(result, "newline", "blank")
    assert set(found.index) == {"mistral-small-32-24b", "gemma3-12b", "gemma3-27b"}
    assert (found["difference"] < 0).all()
    paired = result.contrasts.query("condition_b == 'blank'")
    assert f"{100 * paired['high'].max():.1f}" == "7.1"


def test_boundary_tags_reduce_in_all_but_one(result):
    found = significant(result, "newline", "boundary")
    assert (found["difference"] > 0).all()
    assert set(result.levers["model"]) - set(found.index) == {"llama31-8b"}


def test_native_comments_raise_seventeen(result):
    """Section 5.4: 19 rise, 17 significantly, from 7.7 to 37.0 points."""
    native = result.contrasts.query("condition_b == 'newline_R'")
    assert (native["difference"] < 0).sum() == 19
    found = significant(result, "newline", "newline_R")
    increases = -100 * found["difference"]
    assert len(found) == 17
    assert (f"{increases.min():.1f}", f"{increases.max():.1f}") == ("7.7", "37.0")


def test_mitigation_is_never_above_the_boundary_and_zero_in_ten(result):
    rates = result.rates.pivot(index="model", columns="condition", values="rate")
    assert (rates["mitigation"] <= rates["boundary"]).all()
    assert (rates["mitigation"] == 0).sum() == 10


def test_native_pairs_number_255_to_300(result):
    """Section 5: what is left after unusable outputs."""
    native = result.contrasts.query("condition_b == 'newline_R'")
    assert (native["n"].min(), native["n"].max()) == (255, 300)


def test_usable_pairs_of_casual_conditions_number_297_to_300(result):
    casual = result.rates.query("condition != 'newline_R'")
    assert (casual["n"].min(), casual["n"].max()) == (297, 300)


def test_opus_s_boundary_rate_without_two_known_false_positives(root, detector):
    """Section 6: 2.0 becomes 1.3, and nothing else moves."""
    changes = {
        kind: read_adjudications(root / "data/published/adjudications.csv", kind)
        for kind in ("main", "sensitivity")
    }
    assert {kind: len(cases) for kind, cases in changes.items()} == {"main": 26, "sensitivity": 2}
    readings = sensitivity(detector, changes).set_index(["reading", "model", "condition"])["rate"]
    main, other = readings["main"], readings["sensitivity"]
    moved = main[main != other]
    assert moved.index.tolist() == [("claude-opus-4-8", "boundary")]
    assert [f"{100 * x:.1f}" for x in (moved.iloc[0], other[moved.index[0]])] == ["2.0", "1.3"]
    assert (readings["lexical"] <= readings["main"]).all()
    assert (readings["main"] <= readings["detector"]).all()


def test_every_missing_label_is_on_the_exclusion_list(root, detector, names):
    check_complete(detector, root / "data/published/exclusions.csv", names)
    assert len(detector.frame) == 29_899
    assert (~detector.mask).sum() == 101


# --- what git tracks --------------------------------------------------------------------------


def test_the_stage_makes_the_same_paper_from_the_release_s_files(
    root, release, tmp_path, monkeypatch
):
    """`published.labels` may be a folder of the release's own JSON Lines files."""
    monkeypatch.chdir(scratch_project(tmp_path, "data/published", "pyproject.toml"))
    cells = nbformat.read(root / "notebooks" / "04_analysis.ipynb", as_version=4).cells
    _, *code = (cell.source for cell in cells if cell.cell_type == "code")
    exec("\n".join(code), {"labels": str(release)})
    for folder in ("paper/tables", "figures"):
        made = {f.name: f.read_bytes() for f in (tmp_path / folder).iterdir()}
        tracked = {f.name: f.read_bytes() for f in (root / folder).iterdir()}
        assert made == tracked
    made, tracked = (
        json.loads((folder / "paper/statistics.json").read_text(encoding="utf-8"))
        for folder in (tmp_path, root)
    )
    assert len([name for name in made.pop("inputs") if "cascade-full" in name]) == 39
    tracked.pop("inputs")
    assert made == tracked
