import itertools
import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from seam_lib.analysis import figures
from seam_lib.analysis.labels import label_set
from seam_lib.analysis.questions import analyse
from seam_lib.core.look import save
from seam_lib.core.palette import GREY
from seam_lib.core.rows import CASUAL, TIERS, TREATED
from tests.helpers.cases import QUICK, small_set

NAMES = {"a": "Model A", "b": "Model B"}


@pytest.fixture(scope="module")
def drawn(result, names):
    """The three figures of the paper's labels, as functions that draw them anew."""
    marked = ["claude-opus-4-8", "gpt-5.6-sol", "gemini-3.1-pro", "olmo2-32b", "llama31-8b"]
    return {
        "figure2": lambda: figures.figure2(result.rates, names, marked),
        "figure_native": lambda: figures.figure_native(result, names),
        "figure_sources": lambda: figures.figure_sources(result, names),
    }


def files_of(folder):
    return {f.name: f.read_bytes() for f in folder.iterdir()}


def test_colours_are_named_in_one_place(root):
    """What a figure, a page or a notebook's cell writes out itself is at most a shade of grey."""
    written = {p: p.read_text(encoding="utf-8") for p in (root / "seam_lib").rglob("*.py")}
    written |= {p: p.read_text("utf-8") for p in (root / "seam_lib").glob("*/templates/*")}
    for path in (root / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        written[path] = "\n".join(cell.source for cell in cells)
    del written[root / "seam_lib" / "core" / "palette.py"]
    code = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})(?:[0-9a-fA-F]{2})?\b")
    coloured = {
        (path.name, found[0])
        for path, text in written.items()
        for found in code.finditer(text)
        if np.ptp([int(part, 16) for part in found.groups()]) > 24
    }
    assert not coloured


# --- bytes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["figure2", "figure_native", "figure_sources"])
def test_the_same_data_are_the_same_bytes(root, drawn, name, tmp_path):
    """Those that git tracks, in any folder, whatever the reader's own settings are."""
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 300, "svg.hashsalt": "x"}):
        plt.style.use("ggplot")
        save(drawn[name](), tmp_path / "deep" / name)
    made = files_of(tmp_path / "deep")
    assert set(made) == {f"{name}.svg", f"{name}.pdf", f"{name}.png"}
    tracked = files_of(root / "figures")
    assert made == {file: tracked[file] for file in made}


@pytest.mark.parametrize("name", ["figure2", "figure_native", "figure_sources"])
def test_the_tracked_figures_carry_no_date_tool_or_place(root, name):
    for kind in ("svg", "pdf", "png"):
        data = (root / "figures" / f"{name}.{kind}").read_bytes().lower()
        for trace in (
            b"matplotlib v",
            b"creationdate",
            b"dc:date",
            b"software",
            b"/home/",
            b"/root/",
        ):
            assert trace not in data, (kind, trace)


def test_a_failing_save_leaves_the_old_figure(tmp_path, monkeypatch):
    save(Figure(), tmp_path / "figure2")
    before = files_of(tmp_path)

    def fail(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(Figure(), tmp_path / "figure2")
    assert files_of(tmp_path) == before


def test_drawing_leaves_the_reader_s_settings_alone(drawn):
    before = dict(mpl.rcParams)
    drawn["figure2"]()
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []  # no figure stays open


# --- what is drawn ----------------------------------------------------------------------------


def lines_of(figure):
    return {
        tuple(round(float(y), 6) for y in line.get_ydata()): line
        for line in figure.axes[0].get_lines()
        if len(line.get_ydata()) == len(CASUAL)
    }


def test_figure_2_draws_every_model_s_rates(drawn, result):
    expected = result.rates[result.rates["condition"].isin(CASUAL)].pivot(
        index="model", columns="condition", values="rate"
    )
    curves = {tuple((100 * row[list(CASUAL)]).round(6)) for _, row in expected.iterrows()}
    assert set(lines_of(drawn["figure2"]())) == curves


def test_figure_2_reads_without_colour(drawn):
    """Each named line differs from every other in marker and line style, the rest are grey."""
    lines = [x for x in lines_of(drawn["figure2"]()).values() if x.get_color() != GREY]
    assert len(lines) == 5
    assert len({line.get_marker() for line in lines}) == 5
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in lines}) == 5
    luminance = [
        sum(w * c for w, c in zip((0.3, 0.6, 0.1), to_rgb(x.get_color()), strict=True))
        for x in lines
    ]
    assert max(luminance) < 0.6  # dark enough on white


def test_figure_2_names_do_not_cover_one_another(drawn):
    figure = drawn["figure2"]()
    figure.canvas.draw()
    boxes = sorted(
        (text.get_window_extent() for text in figure.axes[0].texts), key=lambda box: box.y0
    )
    assert len(boxes) == 5
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(boxes))


def test_figure_native_marks_what_is_not_significant(drawn, result, names):
    axes = drawn["figure_native"]().axes[0]
    hollow = [x for x in axes.get_lines() if x.get_marker() == "o" and x.get_mfc() == "white"]
    assert len(hollow) == 3
    order = [label.get_text() for label in axes.get_yticklabels()]
    native = result.contrasts.query("condition_b == 'newline_R'")
    assert order[-1] == names[native.loc[native["difference"].idxmin(), "model"]]
    assert len(order) == 20


def test_figure_sources_shows_every_rate(drawn, result):
    axes = drawn["figure_sources"]().axes[0]
    shown = sorted(int(text.get_text()) for text in axes.texts)
    assert shown == sorted(int(f"{100 * x:.0f}") for x in result.source_rates["rate"])


def test_the_svg_is_well_formed_and_has_no_text_that_needs_a_font(root):
    for path in sorted((root / "figures").glob("*.svg")):
        tags = {element.tag.rpartition("}")[2] for element in ET.parse(path).iter()}
        assert "path" in tags
        assert "text" not in tags


# --- sets that are not the paper's ------------------------------------------------------------


def draw_all(labels):
    """Draw the three figures; a warning of matplotlib fails the test (see the marks)."""
    result = analyse(labels, QUICK)
    drawn = [
        figures.figure2(result.rates, NAMES, list(labels.models)),
        figures.figure_native(result, NAMES),
        figures.figure_sources(result, NAMES),
    ]
    for figure in drawn:
        figure.draw_without_rendering()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("models", [("a",), ("a", "b")])
@pytest.mark.parametrize("absorbed", [[], [("coedit:0", "newline")]])
def test_few_models_and_few_events(models, absorbed):
    draw_all(small_set(models, absorbed=absorbed, per_source=1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("missing", TREATED)
def test_a_condition_that_was_not_run(missing):
    draw_all(small_set(("a", "b"), conditions=[c for c in TREATED if c != missing]))


@pytest.mark.filterwarnings("error")
def test_a_condition_of_one_s_own():
    draw_all(small_set(("a", "b"), conditions=[*TREATED, "semantic_tags"]))


@pytest.mark.filterwarnings("error")
def test_only_the_newline_was_run():
    draw_all(small_set(("a", "b"), conditions=["newline"]))


def test_a_run_is_drawn_over_the_panel(result, names):
    run = analyse(small_set(models=("a",)), QUICK)
    figure = figures.figure2(run.rates, NAMES, ["a"], background=result.rates)
    lines = lines_of(figure)
    assert len(lines) == 21
    assert sum(line.get_color() == GREY for line in lines.values()) == 20


def test_a_model_named_twice_is_drawn_once():
    """With few models the highest rate may be a frontier model's as well."""
    rates = analyse(small_set(models=("a", "b")), QUICK).rates
    figure = figures.figure2(rates, NAMES, ["a", "b", "a"])
    assert len([x for x in figure.axes[0].get_lines() if x.get_color() != GREY]) == 2


def test_more_models_than_marks_are_refused():
    models = [f"m{i}" for i in range(6)]
    rates = analyse(small_set(models=models), QUICK).rates
    with pytest.raises(ValueError, match="5"):
        figures.figure2(rates, dict(zip(models, models, strict=True)), models)


def test_models_with_the_same_rates_keep_their_names_apart():
    labels = label_set(r for m in ("a", "b") for r in small_set(models=(m,)).records())
    figure = figures.figure2(analyse(labels, QUICK).rates, NAMES, ["a", "b"])
    heights = [text.xyann[1] for text in figure.axes[0].texts]
    assert heights[1] - heights[0] > 1


def test_figure_tiers_stacks_the_tiers_up_to_the_rate():
    rates = pd.DataFrame(
        {"model": "m", "condition": ["newline", "blank"], "n": [10, 20], "k": [4, 0]}
        | {"rate": [0.4, 0.0], "low": [0.17, 0.0], "high": [0.69, 0.16]}
    )
    tiers = pd.DataFrame(
        {"model": "m", "condition": ["newline", "blank"], "lexical_witness": [3, 0]}
        | {"lexical_regex": [1, 0], "semantic_nli": [0, 0]}
    )
    axes = figures.figure_tiers(rates, tiers, TIERS[:2]).axes[0]
    tops = [round(bar.get_y() + bar.get_height()) for bar in axes.patches]
    assert tops == [30, 0, 40, 0]
    (ends,) = axes.collections
    assert [segment[:, 1].round().tolist() for segment in ends.get_segments()] == [
        [17, 69],
        [0, 16],
    ]


def test_the_chosen_models_and_both_ends_are_marked(result, panel):
    chosen = panel.loc[panel["group"] == "frontier", "key"]
    assert figures.to_mark(result.rates, ["unknown", *chosen]) == [
        *("claude-opus-4-8", "gpt-5.6-sol", "gemini-3.1-pro", "olmo2-32b", "llama31-8b")
    ]
