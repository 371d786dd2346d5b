"""Sentences about an analysis: true of the published labels, and of others."""

import re

import pytest
from labelsets import QUICK, small_set

from seam_lib.analysis import words
from seam_lib.analysis.labels import read_adjudications
from seam_lib.analysis.questions import analyse, sensitivity
from seam_lib.core.rows import SOURCES

NAMES = {"a": "Model A", "b": "Model B", "m": "Model M"}
SILENT = analyse(small_set(absorbed=()), QUICK)


def of(*absorbed, models=("m",), **more):
    return analyse(small_set(models=models, absorbed=absorbed, **more), QUICK)


def test_the_rates_of_the_panel_go_from_llama_to_olmo(result, names):
    assert words.rate_words(result.rates, names) == (
        "Under newline, 20 of 20 models absorb at least one comment. The rates go from 7.7% "
        "(Llama-3.1-8B) to 66.7% (OLMo-2-32B)."
    )


def test_a_model_that_absorbs_nothing_is_not_counted():
    said = words.rate_words(SILENT.rates, NAMES, "boundary")
    assert said.startswith("Under boundary, 0 of 1 model absorb")
    assert "from 0.0% (Model M) to 0.0% (Model M)" in said
    assert words.rate_words(SILENT.rates, NAMES, "rule") == "No model has a rate under rule."


def test_the_panel_s_contrasts_are_counted_by_direction(result):
    table = words.outcomes(result.contrasts).set_index("contrast")
    assert table.sum(axis=1).tolist() == [20] * 5
    assert table.loc["newline/blank"].tolist() == [0, 3, 17]
    assert table.loc["newline/boundary"].tolist() == [19, 0, 1]
    assert table.loc["newline/artifact-native"].tolist() == [0, 17, 3]
    assert words.contrast_words(result.contrasts, "newline", "boundary") == (
        "Under boundary, 19 of 20 models absorb significantly less than under newline, and 0 more."
    )
    (open_one,) = words.unresolved(result.contrasts, "newline", "boundary")["model"]
    assert open_one == "llama31-8b"


@pytest.mark.parametrize(
    ("difference", "p", "word"),
    [
        (0.2, 0.049, "less"),
        (-0.2, 0.049, "more"),
        (0.2, 0.05, "not resolved"),
        (0.2, float("nan"), "not resolved"),
    ],
)
def test_a_direction_needs_a_resolved_test(difference, p, word):
    assert words.direction(difference, p) == word


def test_a_contrast_that_was_not_run_counts_no_model():
    assert words.contrast_words(of(conditions=("newline",)).contrasts, "newline", "blank") == (
        "Under blank, 0 of 0 models absorb significantly less than under newline, and 0 more."
    )


def test_levers_are_named_from_the_least_to_the_most(result):
    assert words.lever_words(result.levers) == (
        "The levers go from 1.0× to 22×. The intervals of 19 of 20 models leave out 1, which would "
        "be no difference."
    )
    assert words.lever_words(SILENT.levers).endswith("so there is no lever.")
    one = of(("coedit:0", "newline"), ("coedit:1", "boundary"))
    assert "The intervals of 0 of 1 model leave out 1" in words.lever_words(one.levers)


def test_the_sources_at_both_ends_are_named(result, names):
    said = words.source_words(result.source_rates, names)
    assert "most is absorbed in CoEdIT (90.6%) and least in CanItEdit (3.4%)" in said
    assert said.endswith("the highest rate there is 42.0%, of OLMo-2-32B.")
    everywhere = [(f"{s}:0", "newline") for s in SOURCES if s != "pararev"]
    said = words.source_words(of(*everywhere).source_rates, NAMES)
    assert "least in ParaRev (0.0%); the highest rate there is 0.0%, of Model M." in said
    assert words.source_words(of(conditions=("boundary",)).source_rates, NAMES).startswith("No ")


def test_readings_show_the_models_that_they_move(root, detector, names):
    changes = {
        kind: read_adjudications(root / "data/published/adjudications.csv", kind)
        for kind in ("main", "sensitivity")
    }
    readings = sensitivity(detector, changes)
    table = words.differing(readings, names).set_index("model")
    assert list(table.columns) == ["detector", "main", "sensitivity", "lexical"]
    assert table.loc["Claude Opus 4.8"].tolist() == ["2.0", "2.0", "1.3", "2.0"]
    assert (table.nunique(axis=1) > 1).all()
    moved = re.search(r"of (\d+) of 20 models", words.reading_words(readings, "boundary"))
    assert int(moved[1]) >= len(table)  # some moves are below a decimal


def test_no_reading_moves_what_nobody_changed():
    labels = small_set()
    readings = sensitivity(labels, {"main": set(), "sensitivity": set()})
    assert words.differing(readings, NAMES).empty
    assert words.reading_words(readings, "boundary") == (
        "Under boundary, the reading changes the rate of 0 of 1 model, by at most 0.0 percentage "
        "points."
    )


def test_what_the_design_resolves_is_said(result):
    assert words.design_words(result.design) == (
        "5 of 5 contrasts resolve a difference under Holm's adjustment: 6.8 to 13.7 percentage "
        "points at least."
    )
    assert words.design_words(SILENT.design).startswith("No contrast has enough pairs")
