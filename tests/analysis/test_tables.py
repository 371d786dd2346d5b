import json
import math

import pandas as pd
import pytest

from seam_lib.analysis import tables
from seam_lib.analysis.labels import label_set
from seam_lib.analysis.questions import analyse, code_rates
from seam_lib.core import cells
from seam_lib.core.cells import Table
from seam_lib.core.rows import SOURCES, TREATED
from tests.helpers.cases import QUICK, small_set


def read_back(table, tmp_path):
    cells.write_tables(tmp_path, [table])
    return pd.read_csv(tmp_path / f"{table.name}.csv")


# --- cells ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "cell"),
    [
        (9.5, "9.5×"),
        (9.94, "9.9×"),
        (9.95, "10×"),
        (9.9999, "10×"),
        (10, "10×"),
        (22.33, "22×"),
        (1.045, "1.0×"),
        (0, "0.0×"),
        (math.inf, "∞"),
        (math.nan, "–"),
    ],
)
def test_levers_read_as_in_the_paper(x, cell):
    assert cells.lever(x) == cell


@pytest.mark.parametrize(
    ("p", "cell"),
    [
        (1.0, "1.0"),
        (0.995, "1.0"),
        (0.994, ".99"),
        (0.597, ".60"),
        (0.0996, ".10"),
        (0.064, ".064"),
        (0.0015, ".0015"),
        (0.001, ".0010"),
        (0.00099, "9.9e-04"),
        (8.3e-25, "8.3e-25"),
    ],
)
def test_p_values_read_as_in_the_paper(p, cell):
    assert cells.p_value(p) == cell


@pytest.mark.parametrize(
    ("x", "cell"), [(0, "0.0"), (0.0034, "0.3"), (1, "100.0"), (math.nan, "–")]
)
def test_percentages_have_one_decimal(x, cell):
    assert cells.percent(x) == cell


@pytest.mark.parametrize(("x", "cell"), [(0.37, "+37.0"), (-0.0467, "-4.7"), (0.0, "+0.0")])
def test_points_are_signed(x, cell):
    assert cells.points(x) == cell


def test_points_that_round_to_nothing_have_no_minus():
    assert cells.points(-1e-9) == "+0.0"


def test_plain_rows_come_back_as_the_frame_that_they_were():
    """Infinity and missing values have no number in JSON, and yet come back as what they were."""
    frame = pd.DataFrame(
        {
            "model": ["inf", "m", "n"],
            "k": [1, 2, 3],
            "lever": [math.inf, 1.25, math.nan],
            "low": [math.inf] * 3,
            "high": [math.nan] * 3,
            "p": [0.123456789, 1e-25, 1.0],
        }
    )
    rows = json.loads(json.dumps(cells.plain_rows(frame), allow_nan=False))
    assert rows[0] == {
        "model": "inf", "k": 1, "lever": "inf", "low": "inf", "high": None, "p": 0.123457
    }  # fmt: skip


# --- formats ----------------------------------------------------------------------------------

AWKWARD = Table(
    "awkward",
    "Any caption.",
    pd.DataFrame({"a|b": ["x,y", 'q"q', "1\n2"], "n_1": [1, 2, 3]}),
    pd.DataFrame({"a|b": ["x|y", "50% & $3_#", "1\n2"], "n_1": ["→", "∞", "2×"]}),
)


def test_markdown_stays_a_table_whatever_the_cells(tmp_path):
    cells.write_tables(tmp_path, [AWKWARD])
    lines = (tmp_path / "awkward.md").read_text(encoding="utf-8").splitlines()
    assert lines[:5] == [
        r"| a\|b | n_1 |",
        "| --- | --- |",
        r"| x\|y | → |",
        r"| 50% & $3_# | ∞ |",
        "| 1 2 | 2× |",
    ]
    assert lines[5:] == ["", "Any caption."]


def test_numbers_stand_to_the_right():
    frame = pd.DataFrame(
        {"name": ["m", "–"], "n": [1, "–"], "interval": ["[1.0, 2.5]", "3.0 ns"],
         "of": ["1 of 9", "2 of 9"], "p": ["8.3e-25", ".60"], "mixed": ["less", "1"]}
    )  # fmt: skip
    assert cells.numeric(frame) == [False, True, True, True, True, False]
    assert cells.markdown(frame).splitlines()[1] == "| --- | ---: | ---: | ---: | ---: | --- |"
    assert cells.numeric(frame[:0]) == [False] * 6


def test_csv_comes_back(tmp_path):
    pd.testing.assert_frame_equal(read_back(AWKWARD, tmp_path), AWKWARD.data)
    assert b"\r" not in (tmp_path / "awkward.csv").read_bytes()


def test_latex_is_booktabs_with_its_marks_escaped(tmp_path):
    cells.write_tables(tmp_path, [AWKWARD])
    text = (tmp_path / "awkward.tex").read_text(encoding="utf-8")
    assert text.startswith("\\begin{tabular}{ll}\n\\toprule\n")
    assert r"50\% \& \$3\_\#" in text
    assert r"n\_1" in text
    for command in (r"$\to$", r"$\infty$", r"2$\times$", r"\bottomrule"):
        assert command in text
    assert text.count(r"\\") == 4  # the header and three rows, each on one line


def test_the_same_tables_are_the_same_bytes(result, names, tmp_path):
    made = [f(result, names) for f in (tables.rate_table, tables.contrast_table)]
    for folder in ("a", "b/c"):
        cells.write_tables(tmp_path / folder, made)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b/c" / file.name).read_bytes()


def test_no_published_cell_is_empty_or_nan(root):
    for file in sorted((root / "paper/tables").glob("*.md")):
        shown = {cell.strip() for cell in file.read_text("utf-8").split("|")}
        assert not {"nan", "None", "inf", "<NA>"} & shown, file.name


# --- tables of sets that are not the paper's --------------------------------------------------

NAMES = {"a": "Model A", "b": "Model B|x"}


def test_one_model_and_few_clusters(tmp_path):
    result = analyse(small_set(models=("a",), per_source=1), QUICK)
    table = tables.rate_table(result, NAMES)
    assert table.display.values.tolist() == [
        ["Model A", "16.7", "0.0", "0.0", "0.0", "0.0 ns", "∞"]
    ]
    back = read_back(table, tmp_path)
    assert back[list(TREATED)].values.tolist() == [[16.7, 0.0, 0.0, 0.0, 0.0]]
    assert back["lever"].tolist() == [math.inf]
    assert len(tables.full_rate_table(result, NAMES).data) == 5
    assert len(tables.contrast_table(result, NAMES).data) == 5


def test_no_event_has_no_lever(tmp_path):
    table = tables.rate_table(analyse(small_set(models=("a",), absorbed=[]), QUICK), NAMES)
    assert table.display["newline/boundary"].tolist() == ["–"]
    assert math.isnan(read_back(table, tmp_path)["lever"].iloc[0])


@pytest.mark.parametrize("missing", TREATED)
def test_a_condition_that_was_not_run_is_not_a_column(missing, tmp_path):
    conditions = [c for c in TREATED if c != missing]
    result = analyse(small_set(models=("a", "b"), conditions=conditions), QUICK)
    table = tables.rate_table(result, NAMES)
    assert list(table.data.columns) == ["key", "model", *conditions, "lever", "native_ns"]
    assert table.data["native_ns"].tolist() == (
        ["", ""] if missing in ("newline", "newline_R") else ["true", "true"]
    )
    if missing in ("newline", "boundary"):
        assert table.display["newline/boundary"].tolist() == ["–", "–"]
    contrasts = tables.contrast_table(result, NAMES)
    cells.write_tables(tmp_path, [table, tables.full_rate_table(result, NAMES), contrasts])
    assert missing not in contrasts.data[["condition_a", "condition_b"]].to_numpy()


@pytest.mark.parametrize("condition", TREATED)
def test_only_one_condition_was_run(condition, tmp_path):
    result = analyse(small_set(models=("a",), conditions=[condition]), QUICK)
    contrasts = tables.contrast_table(result, NAMES)
    assert contrasts.data.empty
    cells.write_tables(tmp_path, [tables.rate_table(result, NAMES), contrasts])
    assert (tmp_path / "contrasts.csv").read_text().startswith("model,condition_a,condition_b,n,")


def test_a_cell_that_was_not_run_is_empty_for_machines_and_a_dash_for_readers(tmp_path):
    records = [
        *small_set(models=("a",)).records(),
        *small_set(models=("b",), conditions=["newline"]).records(),
    ]
    table = tables.rate_table(analyse(label_set(records), QUICK), NAMES)
    row = table.display.set_index("model").loc["Model B|x"]
    assert row.tolist() == ["8.3", "–", "–", "–", "–", "–"]
    back = read_back(table, tmp_path).set_index("key")
    assert back.loc["b", ["blank", "boundary", "mitigation", "newline_R", "lever"]].isna().all()
    assert back["blank"].dtype == float


def test_a_condition_of_one_s_own_is_the_last_column():
    labels = small_set(models=("a",), conditions=["aaa_tags", *TREATED])
    table = tables.rate_table(analyse(labels, QUICK), NAMES)
    assert list(table.data.columns) == ["key", "model", *TREATED, "aaa_tags", "lever", "native_ns"]
    assert list(table.display.columns)[-2:] == ["aaa_tags", "newline/boundary"]


# --- the paper's own tables -------------------------------------------------------------------


def test_table_3_marks_what_is_not_significant(result, names):
    table = tables.rate_table(result, names)
    marked = table.display["artifact-native"].str.endswith(" ns")
    assert (table.data["native_ns"] == marked.astype(str).str.lower()).all()


@pytest.mark.parametrize(("condition", "mark"), [("newline", "true"), ("newline_R", "false")])
def test_only_a_significant_increase_goes_without_the_mark(condition, mark):
    events = [(f"{source}:{i}", condition) for source in SOURCES for i in range(2)]
    result = analyse(small_set(models=("a",), absorbed=events), QUICK)
    contrasts = result.contrasts.set_index("condition_b")
    assert contrasts.loc["newline_R", "p_holm"] < 0.05
    table = tables.rate_table(result, NAMES)
    assert table.data["native_ns"].tolist() == [mark]


def test_table_6_covers_every_source_once(result, names):
    table = tables.source_table(result, names)
    assert sorted(table.data["source"][:6]) == sorted(SOURCES)


def test_table_5_pools_the_code_sources(result, published, names):
    table = tables.native_table(result, code_rates(published), names)
    assert table.data["key"].tolist() == list(tables.TABLE5_MODELS)


def test_tables_of_the_paper_s_choice_keep_the_models_that_are_there(published, names):
    """A folder with a few of the release's label files is a label set, too."""
    some = label_set(
        (r for r in published.records() if r.model in ("claude-opus-4-8", "olmo2-32b")), names
    )
    result = analyse(some, QUICK)
    code = code_rates(some)
    assert tables.selected_contrasts(result, names).data["key"].tolist() == ["claude-opus-4-8"]
    assert tables.native_table(result, code, names).data["key"].tolist() == ["claude-opus-4-8"]
    assert list(tables.source_table(result, names).data) == ["source", "claude-opus-4-8"]


def test_tables_of_the_paper_s_choice_may_be_empty(tmp_path):
    labels = small_set(models=("a",))
    result = analyse(labels, QUICK)
    chosen = [
        tables.selected_contrasts(result, NAMES),
        tables.native_table(result, code_rates(labels), NAMES),
        tables.source_table(result, NAMES),
    ]
    cells.write_tables(tmp_path, chosen)
    assert [len(table.data) for table in chosen] == [0, 0, 8]
    assert (tmp_path / "table4.csv").read_text().startswith("key,conditions,n,")


def test_table_7_is_made_from_the_panel_and_the_pins(panel, root, tmp_path):
    table = tables.configuration_table(panel, root / "pyproject.toml", {"More": "yes"})
    rows = table.data.set_index("component")["configuration"]
    everyone = ", ".join(rows[rows.index.str.startswith("Models, ")])
    for model in panel.itertuples():
        assert f"{model.name} ({model.lab})" in everyone
    assert rows["More"] == "yes"
    changed = tmp_path / "pyproject.toml"
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    version = rows["Statistics and report"].split("numpy ")[1].split(",")[0]
    changed.write_text(text.replace(f'"numpy=={version}"', '"numpy==9.9.9"'), encoding="utf-8")
    again = tables.configuration_table(panel, changed, {}).data.set_index("component")
    assert "numpy 9.9.9" in again.at["Statistics and report", "configuration"]
