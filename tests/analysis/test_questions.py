import json
import math
from dataclasses import fields

import pytest

from seam_lib.analysis import stats
from seam_lib.analysis.labels import Record, adjudicate, label_set
from seam_lib.analysis.questions import (
    CONTRASTS,
    analyse,
    between_models,
    code_rates,
    comment_sensitivity,
    contrasts,
    correlations,
    levers,
    paired_outcomes,
    rates,
    sensitivity,
    source_clusters,
    source_counts,
    source_rates,
    statistics,
    tiers,
)
from seam_lib.core.rows import CASUAL, SOURCES, TREATED
from tests.helpers.cases import QUICK, small_set

# --- against the labels, counted another way --------------------------------------------------


def test_rates_are_counts_of_rows(published, result):
    counted = published.frame.groupby(["model", "condition"])["absorbed"].agg(["sum", "count"])
    ours = result.rates.set_index(["model", "condition"])
    assert len(ours) == len(counted) == 100
    for cell, row in ours.iterrows():
        assert (row["k"], row["n"]) == tuple(counted.loc[cell])
        assert row["planned"] == 300
        assert math.isnan(row["zero_bound"]) == (row["k"] > 0)


def test_contrasts_are_counts_of_joined_rows(published, result):
    wide = published.frame.pivot(
        index=["model", "cluster_id"], columns="condition", values="absorbed"
    )
    ours = result.contrasts.set_index(["model", "condition_a", "condition_b"])
    for (model, a, b), row in ours.sample(25, random_state=3).iterrows():
        both = wide.loc[model][[a, b]].dropna().astype(bool)
        assert row["n"] == len(both)
        assert row["a_only"] == (both[a] & ~both[b]).sum()
        assert row["b_only"] == (both[b] & ~both[a]).sum()
        assert row["difference"] == pytest.approx(both[a].mean() - both[b].mean())
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["p"] <= row["p_holm"]


def test_holm_is_taken_within_each_contrast(result):
    for _, family in result.contrasts.groupby(["condition_a", "condition_b"]):
        assert family["p_holm"].tolist() == pytest.approx(stats.holm(family["p"].tolist()))


def test_sources_add_up_to_the_pooled_conditions(published, result):
    pooled = published.frame[published.frame["condition"].isin(["newline", "blank"])]
    found = result.source_rates.groupby("model")[["k", "n"]].sum()
    assert found["n"].tolist() == [(pooled["model"] == m).sum() for m in found.index]
    assert found["k"].sum() == pooled["absorbed"].sum()


def test_at_cluster_level_a_cluster_counts_once(result):
    assert result.source_clusters["n"].max() == 50
    merged = result.source_clusters.merge(
        result.source_rates, on=["model", "source"], suffixes=("", "_pooled")
    )
    assert (merged["k"] <= merged["k_pooled"]).all()
    assert (2 * merged["k"] >= merged["k_pooled"]).all()


def test_neighbours_are_tested_from_the_highest_rate_down(result):
    for _, group in result.source_clusters.groupby("model"):
        assert group["rate"].is_monotonic_decreasing
        assert group["next_source"].tolist() == [*group["source"].tolist()[1:], ""]
        assert group["fisher_p"].isna().tolist() == [False] * 5 + [True]
        first, second = group.iloc[0], group.iloc[1]
        expected = stats.fisher_exact(first["k"], first["n"], second["k"], second["n"])
        assert first["fisher_p"] == pytest.approx(expected)


def test_tiers_add_up_to_the_absorbed(result):
    counts = result.tiers.set_index(["model", "condition"]).sum(axis=1)
    assert counts.to_dict() == result.rates.set_index(["model", "condition"])["k"].to_dict()


def test_between_models_every_pair_is_there_once(result, published):
    assert len(result.between_models) == 190
    row = result.between_models.iloc[0]
    a, _ = published.outcomes(row["model_a"], "newline")
    b, _ = published.outcomes(row["model_b"], "newline")
    assert (row["a_only"], row["b_only"]) == ((a & ~b).sum(), (b & ~a).sum())
    assert (result.between_models["p"] <= result.between_models["p_holm"]).all()


def test_the_design_is_that_of_each_contrast(result):
    for row in result.design.itertuples():
        family = result.contrasts.query(
            "condition_a == @row.condition_a and condition_b == @row.condition_b"
        )
        assert row.n == family["n"].min()
        assert row.alone == stats.resolvable_difference(row.n, row.discordant)
        assert row.holm == stats.resolvable_difference(row.n, row.discordant, 0.05 / 20)


def test_a_lever_does_not_depend_on_models_after_it(published, result):
    first = label_set(
        (r for r in published.records() if r.model == published.models[0]), published.models
    )
    settings = QUICK.__class__(bootstrap_draws=10_000, bootstrap_seed=42, permutations=1)
    alone = levers(first, settings).iloc[0]
    assert alone.to_dict() == result.levers.iloc[0].to_dict()


def test_the_same_labels_give_the_same_statistics():
    labels = small_set(models=("a", "b"))
    assert statistics(analyse(labels, QUICK)) == statistics(analyse(labels, QUICK))


def test_statistics_are_plain_and_fit_json(result):
    plain = statistics(result)
    assert set(plain) == {f.name for f in fields(result)}
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


# --- sets that are not the paper's ------------------------------------------------------------


def test_one_model_and_few_clusters():
    result = analyse(small_set(per_source=1), QUICK)
    assert result.rates["n"].tolist() == [6] * 5
    assert len(result.contrasts) == 5
    assert result.contrasts["p_holm"].tolist() == result.contrasts["p"].tolist()
    assert result.between_models.empty
    assert result.correlations.empty
    json.dumps(statistics(result), allow_nan=False)


def test_one_label_is_enough():
    labels = label_set([Record("m", "coedit:0", "newline", True, "semantic_nli")])
    result = analyse(labels, QUICK)
    assert result.rates[["k", "n"]].values.tolist() == [[1, 1]]
    assert result.contrasts.empty
    assert result.levers.empty
    assert list(result.contrasts.columns) == list(contrasts(small_set()).columns)
    assert list(result.levers.columns) == list(levers(small_set(), QUICK).columns)
    json.dumps(statistics(result), allow_nan=False)


def test_nothing_absorbed():
    result = analyse(small_set(models=("a", "b"), absorbed=[]), QUICK)
    assert (result.rates["rate"] == 0).all()
    assert (result.rates["zero_bound"] > 0).all()
    assert (result.contrasts["p"] == 1).all()
    assert result.tiers.iloc[:, 2:].to_numpy().sum() == 0
    assert result.design["alone"].isna().all()
    # No event in either condition: there is no ratio, rather than an infinite one.
    assert result.levers[["lever", "low", "high"]].isna().all(axis=None)
    plain = statistics(result)
    assert plain["levers"][0]["lever"] is None
    json.dumps(plain, allow_nan=False)


def test_everything_absorbed():
    clusters = [f"{source}:{i}" for source in SOURCES for i in range(2)]
    labels = small_set(absorbed=[(c, condition) for c in clusters for condition in TREATED])
    result = analyse(labels, QUICK)
    assert (result.rates[["rate", "high"]] == 1).all(axis=None)
    assert result.levers[["lever", "low", "high"]].iloc[0].tolist() == [1, 1, 1]
    assert (result.contrasts["difference"] == 0).all()


def test_a_lever_without_a_boundary_event_is_infinite():
    row = levers(small_set(absorbed=[("coedit:0", "newline")]), QUICK).iloc[0]
    assert (row["newline_events"], row["boundary_events"]) == (1, 0)
    assert math.isinf(row["lever"])
    assert statistics(analyse(small_set(), QUICK))["levers"][0]["lever"] == "inf"


@pytest.mark.parametrize("missing", TREATED)
def test_a_condition_that_was_not_run(missing):
    labels = small_set(conditions=[c for c in TREATED if c != missing])
    result = analyse(labels, QUICK)
    for frame in (result.rates, result.tiers):
        assert missing not in set(frame["condition"])
    expected = [pair for pair in CONTRASTS if missing not in pair]
    assert [tuple(x) for x in result.contrasts[["condition_a", "condition_b"]].values] == expected
    assert len(result.levers) == (missing not in ("newline", "boundary"))
    json.dumps(statistics(result), allow_nan=False)


@pytest.mark.parametrize("condition", TREATED)
def test_only_one_condition_was_run(condition):
    labels = small_set(models=[f"m{i}" for i in range(5)], conditions=[condition])
    result = analyse(labels, QUICK)
    assert set(result.rates["condition"]) == {condition}
    assert result.contrasts.empty
    assert result.correlations.empty
    json.dumps(statistics(result), allow_nan=False)


def test_a_condition_of_one_s_own():
    labels = small_set(
        models=("a", "b"),
        conditions=[*TREATED, "semantic_tags"],
        absorbed=[("coedit:0", "newline"), ("coedit:1", "newline"), ("coedit:1", "semantic_tags")],
    )
    result = analyse(labels, QUICK)
    assert result.rates["condition"].tolist() == [*TREATED, "semantic_tags"] * 2
    own = contrasts(labels, (("newline", "semantic_tags"),))
    assert own[["a_only", "b_only", "n"]].values.tolist() == [[1, 0, 12]] * 2
    assert contrasts(labels, (("newline", "no_such"),)).empty


def test_models_with_different_clusters_meet_on_the_common_ones():
    labels = label_set(
        Record(model, f"coedit:{i}", "newline", False, None)
        for model, count in (("a", 3), ("b", 2))
        for i in range(count)
    )
    assert between_models(labels)["n"].tolist() == [2]
    assert rates(labels)["n"].tolist() == [3, 2]


def test_models_without_common_clusters_are_not_compared():
    labels = label_set(
        Record(model, cluster, "newline", False, None)
        for model, cluster in (("a", "coedit:0"), ("b", "coedit:1"))
    )
    assert between_models(labels).empty


def test_holm_counts_the_models_that_have_the_contrast():
    """A family is the models in which both conditions were run, in the design as in the tests."""
    records = [
        *small_set(models=("a", "b", "c")).records(),
        *small_set(models=("d",), conditions=("blank",)).records(),
    ]
    result = analyse(label_set(records), QUICK)
    row = result.design.query("condition_a == 'newline' and condition_b == 'boundary'").iloc[0]
    assert row["holm"] == stats.resolvable_difference(row["n"], row["discordant"], 0.05 / 3)


def test_pairs_need_a_label_in_both_conditions():
    labels = label_set(
        [
            Record("m", "coedit:0", "newline", True, "semantic_nli"),
            Record("m", "coedit:0", "blank", False, None),
            Record("m", "coedit:1", "newline", True, "semantic_nli"),
        ]
    )
    assert paired_outcomes(labels, "m", "newline", "blank") == stats.Paired(0, 1, 0, 0)


def test_sources_without_labels_are_left_out():
    labels = label_set([Record("m", "pararev:0", c, False, None) for c in TREATED])
    assert source_rates(labels)["source"].tolist() == ["pararev"]
    assert source_clusters(labels)["next_source"].tolist() == [""]
    assert code_rates(labels).empty


def test_code_rates_pool_the_two_code_sources():
    labels = small_set(absorbed=[("canitedit:0", "newline_R"), ("coedit:0", "newline_R")])
    assert code_rates(labels).values.tolist() == [["m", 0.0, 0.25]]


def test_tiers_are_zero_where_none_fired():
    counts = tiers(small_set(absorbed=[("coedit:0", "blank")])).set_index("condition")
    assert counts.loc["blank", "lexical_witness"] == 1
    assert counts.drop(columns="model").to_numpy().sum() == 1


# --- association ------------------------------------------------------------------------------


def graded(conditions=CASUAL, models=5):
    """Model i absorbs i clusters under every condition but the last, where it absorbs none."""
    return label_set(
        Record(f"m{i}", f"coedit:{k}", c, hit, "semantic_nli" if hit else None)
        for i in range(models)
        for k in range(models)
        for c in conditions
        for hit in (k < i and c != conditions[-1],)
    )


def test_correlations_are_over_models_and_leave_constant_rates_out():
    found = correlations(rates(graded()), QUICK)
    assert found["condition"].tolist() == ["blank", "boundary"]
    assert found["rho"].tolist() == pytest.approx([1, 1])
    assert found["models"].tolist() == [5, 5]


def test_three_models_have_no_correlation():
    assert correlations(rates(graded(models=3)), QUICK).empty


# --- readings and comments --------------------------------------------------------------------


def test_readings_take_labels_away_one_after_the_other():
    labels = label_set(
        Record("m", f"coedit:{i}", "boundary", True, tier)
        for i, tier in enumerate(
            ["lexical_witness", "lexical_regex", "semantic_nli", "semantic_nli", "lexical_witness"]
        )
    )
    changes = {
        "main": {("m", "coedit:0", "boundary")},
        "sensitivity": {("m", "coedit:1", "boundary")},
    }
    found = sensitivity(labels, changes).set_index("reading")["k"]
    assert found.to_dict() == {"detector": 5, "main": 4, "sensitivity": 3, "lexical": 2}
    assert adjudicate(labels, changes["main"]).absorbed.sum() == 4


def comments_of(labels, count):
    return {cluster: f"comment {i % count}" for i, cluster in enumerate(labels.clusters)}


def test_comments_are_resampled_whole():
    labels = small_set(per_source=4, absorbed=[("coedit:0", "newline"), ("pararev:1", "newline")])
    row = comment_sensitivity(labels, comments_of(labels, 6), QUICK).iloc[0]
    assert row["comments"] == 6
    assert 0 <= row["low"] <= 2 / 24 <= row["high"]
    assert row["difference_low"] <= 2 / 24 <= row["difference_high"]


def test_the_largest_move_is_that_of_the_worst_comment():
    labels = small_set(absorbed=[("canitedit:0", "newline"), ("coedit:0", "newline")])
    comments = {c: "x" if c in ("canitedit:0", "coedit:0") else c for c in labels.clusters}
    row = comment_sensitivity(labels, comments, QUICK).iloc[0]
    assert row["largest_move"] == pytest.approx(2 / 12)  # without "x" nothing is absorbed


def test_a_rate_without_a_comment_is_over_the_clusters_that_are_left():
    labels = small_set(absorbed=[("canitedit:0", "newline"), ("coedit:0", "newline")])
    own = ("canitedit:0", "canitedit:1", "coedit:0", "coedit:1")
    row = comment_sensitivity(
        labels, {c: c if c in own else "common" for c in labels.clusters}, QUICK
    )
    assert row["largest_move"].tolist() == pytest.approx([2 / 4 - 2 / 12])


def test_no_comments_no_sensitivity():
    found = analyse(small_set(), QUICK).comments
    assert found.empty
    assert list(found.columns) == list(
        comment_sensitivity(small_set(), comments_of(small_set(), 3), QUICK).columns
    )


def test_one_comment_alone_cannot_be_left_out():
    labels = small_set()
    assert comment_sensitivity(labels, comments_of(labels, 1), QUICK).empty


def test_labels_are_counted_by_source_and_condition():
    labels = small_set(conditions=("newline", "newline_R"), absorbed=[("pararev:1", "newline_R")])
    table = source_counts(labels)
    assert list(table.columns) == ["source", "newline", "newline_R"]
    assert table["source"].tolist() == list(SOURCES)
    assert table.set_index("source").loc["pararev"].tolist() == ["0 of 2", "1 of 2"]


def test_a_source_without_labels_has_no_row_and_a_cell_without_labels_is_empty():
    records = [
        Record("m", "coedit:0", "newline", True, "lexical_witness"),
        Record("m", "pararev:0", "blank", False, None),
    ]
    assert source_counts(label_set(records)).to_dict("list") == {
        "source": ["coedit", "pararev"],
        "newline": ["1 of 1", ""],
        "blank": ["", "0 of 1"],
    }
