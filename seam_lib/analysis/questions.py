"""From a label set to every statistic of the paper, as tidy frames.

Each function answers one question for all models of the set; `analyse` asks them all. Rates and
differences are fractions. A contrast is over the clusters that have a label in both conditions.
"""

from dataclasses import dataclass, fields
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.analysis.labels import LabelSet, adjudicate, not_absorbed
from seam_lib.core.cells import plain_rows
from seam_lib.core.params import AnalysisParams
from seam_lib.core.rows import CODE_SOURCES, SOURCES, TIERS

#: The five planned contrasts of the paper (Section 3.2): condition a against condition b.
CONTRASTS = (
    ("newline", "blank"),
    ("newline", "boundary"),
    ("blank", "boundary"),
    ("boundary", "mitigation"),
    ("newline", "newline_R"),
)
#: The two conditions that the paper pools for rates by source (Section 5.3).
POOLED = ("newline", "blank")
#: The columns that `_proportion` and `_contrast` fill; a frame has them without rows, too.
PROPORTION = ("k", "n", "rate", "low", "high")
CONTRAST = (
    *("n", "both", "a_only", "b_only", "neither"),
    *("rate_a", "rate_b", "difference", "low", "high", "p", "p_holm"),
)


@dataclass(frozen=True)
class Analysis:
    """The answers, one frame per question; the functions that make them name the columns."""

    rates: pd.DataFrame
    contrasts: pd.DataFrame
    levers: pd.DataFrame
    source_rates: pd.DataFrame
    source_clusters: pd.DataFrame
    tiers: pd.DataFrame
    between_models: pd.DataFrame
    correlations: pd.DataFrame
    design: pd.DataFrame
    comments: pd.DataFrame


def analyse(
    labels: LabelSet,
    settings: AnalysisParams,
    comments: dict[str, str] | None = None,
    paired: pd.DataFrame | None = None,
    family: int | None = None,
) -> Analysis:
    """Ask every question of the paper of one label set.

    Args:
        labels: The labels, with changes by hand already applied.
        settings: Draws and seeds.
        comments: The comment of each cluster's casual conditions, where it is known (the
            published set does not carry it).
        paired: The frame of `contrasts`, where it was made together with other labels, as a run's
            is; by default it is made of these.
        family: As in `design`.
    """
    paired = contrasts(labels) if paired is None else paired
    marginal = rates(labels)
    return Analysis(
        rates=marginal,
        contrasts=paired,
        levers=levers(labels, settings),
        source_rates=source_rates(labels),
        source_clusters=source_clusters(labels),
        tiers=tiers(labels),
        between_models=between_models(labels),
        correlations=correlations(marginal, settings),
        design=design(paired, family),
        comments=comment_sensitivity(labels, comments or {}, settings),
    )


def rates(labels: LabelSet) -> pd.DataFrame:
    """The absorption rate of every model under every condition, with Wilson's interval.

    Returns:
        Columns model, condition, k (absorbed), n (usable pairs), planned (clusters), rate, low,
        high, zero_bound (Clopper-Pearson's one-sided bound where k is 0).
    """
    rows = []
    for model in labels.models:
        for condition in labels.conditions:
            absorbed, mask = labels.outcomes(model, condition)
            if mask.any():
                rows.append(
                    {
                        "model": model,
                        "condition": condition,
                        **_proportion(int(absorbed.sum()), int(mask.sum())),
                        "planned": len(labels.clusters),
                    }
                )
    frame = pd.DataFrame(rows)
    frame["zero_bound"] = [
        stats.zero_upper_bound(n) if k == 0 else np.nan
        for k, n in zip(frame["k"], frame["n"], strict=True)
    ]
    return frame


def paired_outcomes(labels: LabelSet, model: str, a: str, b: str) -> stats.Paired:
    """Cross-tabulate one model's outcomes under two conditions, on the clusters that have both."""
    outcomes_a, outcomes_b, mask = labels.matched((model, a), (model, b))
    return stats.pair_counts(outcomes_a[mask], outcomes_b[mask])


def contrasts(
    labels: LabelSet, pairs: tuple[tuple[str, str], ...] = CONTRASTS, reduce_phi: bool = False
) -> pd.DataFrame:
    """The planned paired contrasts, with Holm's adjustment over the models within each.

    Args:
        labels: The label set.
        pairs: The (a, b) condition pairs to contrast; pairs without common clusters are left out.
        reduce_phi: For the interval, see `stats.newcombe_paired`. The paper's intervals do without;
            small runs need it, or a few pairs that agree shrink the interval to a point.

    Returns:
        Columns model, condition_a, condition_b, n, both, a_only, b_only, neither, rate_a, rate_b,
        difference (a minus b), low, high, p (exact McNemar), p_holm.
    """
    rows: list[dict[str, Any]] = []
    for a, b in pairs:
        if a not in labels.conditions or b not in labels.conditions:
            continue
        tables = [(m, paired_outcomes(labels, m, a, b)) for m in labels.models]
        family = [(m, t, stats.mcnemar_exact(t)) for m, t in tables if t.n]
        adjusted = stats.holm([p for _, _, p in family])
        for (model, table, p), p_holm in zip(family, adjusted, strict=True):
            rows.append(
                {"model": model, "condition_a": a, "condition_b": b}
                | _contrast(table, p, reduce_phi)
                | {"p_holm": p_holm}
            )
    return pd.DataFrame(rows, columns=["model", "condition_a", "condition_b", *CONTRAST])


def levers(labels: LabelSet, settings: AnalysisParams) -> pd.DataFrame:
    """Each model's lever, newline AR / boundary AR, with a cluster-bootstrap interval.

    Returns:
        Columns model, n, newline_events, boundary_events, lever, low, high; infinite where only
        the boundary condition has no event, NaN where neither has one.
    """
    rng = stats.PythonRandom(settings.bootstrap_seed)
    rows: list[list[Any]] = []
    for model in labels.models:
        newline, boundary, mask = labels.matched((model, "newline"), (model, "boundary"))
        if not mask.any():
            continue
        a, b = newline[mask], boundary[mask]
        sums = stats.bootstrap_sums(a, b, settings.bootstrap_draws, rng)  # advances the stream
        low = high = lever = np.nan
        if a.any() or b.any():
            low, high = stats.percentile_interval(stats.ratio(*sums))
            lever = float(stats.ratio(a.sum(), b.sum()))
        rows.append([model, len(a), int(a.sum()), int(b.sum()), lever, low, high])
    columns = ["model", "n", "newline_events", "boundary_events", "lever", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def source_rates(labels: LabelSet) -> pd.DataFrame:
    """Rates by source with newline and blank pooled: each cluster counts once per condition.

    Returns:
        Columns model, source, k, n, rate, low, high.
    """
    pooled = labels.frame[labels.frame["condition"].isin(POOLED)]
    counts = _counts(pooled.groupby(["model", "source"])["absorbed"])
    rows = [row for model in labels.models for row in _of_sources(counts, model)]
    return pd.DataFrame(rows, columns=["model", "source", *PROPORTION])


def source_counts(labels: LabelSet) -> pd.DataFrame:
    """The labels of one model by source and condition.

    Returns:
        A row a source, in its order; columns source, then "k of n" under each condition that has
        labels. A cell without labels is empty.
    """
    counts = _counts(labels.frame.groupby(["source", "condition"])["absorbed"])
    cells = {key: f"{k} of {n}" for key, (k, n) in counts.items()}
    sources = [s for s in SOURCES if any(s == source for source, _ in cells)]
    conditions = [c for c in labels.conditions if any(c == condition for _, condition in cells)]
    return pd.DataFrame(
        {"source": s} | {c: cells.get((s, c), "") for c in conditions} for s in sources
    )


def source_clusters(labels: LabelSet) -> pd.DataFrame:
    """Rates by source at cluster level: absorbed under newline or under blank.

    Pooled conditions repeat clusters, so tests between sources use this form. Sources are sorted
    by falling rate within a model and each is compared with the next.

    Returns:
        Columns model, source, k, n, rate, low, high, next_source, fisher_p ("" and NaN for the
        last source of a model).
    """
    pooled = labels.frame[labels.frame["condition"].isin(POOLED)]
    either = pooled.groupby(["model", "source", "cluster_id"])["absorbed"].any()
    counts = _counts(either.groupby(["model", "source"]))
    rows = []
    for model in labels.models:
        cells = sorted(_of_sources(counts, model), key=lambda cell: -cell["rate"])
        for cell, below in pairwise(cells):
            p = stats.fisher_exact(cell["k"], cell["n"], below["k"], below["n"])
            rows.append(cell | {"next_source": below["source"], "fisher_p": p})
        rows += [cell | {"next_source": "", "fisher_p": np.nan} for cell in cells[-1:]]
    return pd.DataFrame(rows, columns=["model", "source", *PROPORTION, "next_source", "fisher_p"])


def tiers(labels: LabelSet) -> pd.DataFrame:
    """Absorbed labels by the tier that fired.

    Returns:
        Columns model, condition, and one count per tier, for the conditions that have labels.
    """
    fired = labels.frame[labels.frame["absorbed"]]
    counts = fired.groupby(["model", "condition"])["tier"].value_counts()
    return pd.DataFrame(
        [
            {"model": m, "condition": c} | {t: int(counts.get((m, c, t), 0)) for t in TIERS}
            for m in labels.models
            for c in labels.conditions
            if labels.outcomes(m, c)[1].any()
        ]
    )


def between_models(labels: LabelSet) -> pd.DataFrame:
    """Every pair of models on the same clusters under newline, Holm over all pairs.

    Returns:
        Columns model_a, model_b, n, both, a_only, b_only, neither, rate_a, rate_b, difference,
        low, high, p, p_holm.
    """
    rows = []
    for a, b in combinations(labels.models, 2):
        outcomes_a, outcomes_b, mask = labels.matched((a, "newline"), (b, "newline"))
        if mask.any():
            table = stats.pair_counts(outcomes_a[mask], outcomes_b[mask])
            rows.append({"model_a": a, "model_b": b} | _contrast(table, stats.mcnemar_exact(table)))
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", *CONTRAST])
    frame["p_holm"] = stats.holm(frame["p"].tolist())
    return frame


def beside(labels: LabelSet, model: str, cells: set[tuple[str, str]] | None = None) -> pd.DataFrame:
    """One model against every other on the same clusters, Holm over the others of a condition.

    Args:
        labels: The labels of all of them.
        model: The one.
        cells: The (cluster, condition) that may count; by default all.

    Returns:
        Columns condition, model (the other), n, both, a_only, b_only, neither, rate_a (of the one),
        rate_b, difference (the one minus the other), low, high, p (exact McNemar), p_holm.
    """
    frames = []
    for condition in labels.conditions:
        allowed = np.array([cells is None or (k, condition) in cells for k in labels.clusters])
        rows = []
        for other in labels.models:
            a, b, mask = labels.matched((model, condition), (other, condition))
            mask = mask & allowed
            if other != model and mask.any():
                table = stats.pair_counts(a[mask], b[mask])
                tested = _contrast(table, stats.mcnemar_exact(table), reduce_phi=True)
                rows.append({"condition": condition, "model": other} | tested)
        frame = pd.DataFrame(rows, columns=["condition", "model", *CONTRAST])
        frames.append(frame.assign(p_holm=stats.holm(frame["p"].tolist())))
    return pd.concat(frames, ignore_index=True)


def ranks(pairs: pd.DataFrame) -> pd.DataFrame:
    """Where one model stands among others, 1 being the lowest rate, with a 95% interval.

    The interval goes from one above the models that absorb significantly less to as many below the
    last place as absorb significantly more. Holm's adjustment holds all these comparisons at once,
    so the interval covers the true rank with at least that confidence (Al Mohamad, Goeman and van
    Zwet, Biometrics 78, 2022).

    Args:
        pairs: The frame of `beside`.

    Returns:
        Columns condition, n (smallest over the others), models (the one included), rank, low, high,
        less (how many others absorb significantly less than the one), more.
    """
    rows = []
    for condition, group in pairs.groupby("condition", sort=False):
        resolved = group["p_holm"] < stats.LEVEL
        less = int((resolved & (group["difference"] > 0)).sum())
        more = int((resolved & (group["difference"] < 0)).sum())
        models, rank = len(group) + 1, 1 + int((group["difference"] > 0).sum())
        rows.append(
            [condition, group["n"].min(), models, rank, 1 + less, models - more, less, more]
        )
    columns = ["condition", "n", "models", "rank", "low", "high", "less", "more"]
    return pd.DataFrame(rows, columns=columns)


def correlations(marginal: pd.DataFrame, settings: AnalysisParams) -> pd.DataFrame:
    """Spearman's correlation over models of the newline rate with every other condition's rate.

    Args:
        marginal: The frame of `rates`.
        settings: Permutations and seed.

    Returns:
        Columns condition, models, rho, p (permutation); empty below four models.
    """
    table = marginal.pivot(index="model", columns="condition", values="rate")
    rows = []
    for condition in table.columns.drop("newline") if "newline" in table else ():
        both = table[["newline", condition]].dropna()
        if len(both) < 4 or both.nunique().min() < 2:
            continue
        rho, p = stats.spearman_permutation(
            both["newline"].tolist(),
            both[condition].tolist(),
            settings.permutations,
            settings.bootstrap_seed,
        )
        rows.append({"condition": condition, "models": len(both), "rho": rho, "p": p})
    return pd.DataFrame(rows, columns=["condition", "models", "rho", "p"])


def design(paired: pd.DataFrame, family: int | None = None) -> pd.DataFrame:
    """The smallest paired difference that each contrast detects with 80% power.

    Args:
        paired: The frame of `contrasts`.
        family: Models over which Holm adjusts; by default those of each contrast in the frame.

    Returns:
        Columns condition_a, condition_b, n (smallest over models), discordant (median), alone,
        holm (detectable differences as fractions; that of `discordant` or more is none).
    """
    rows = []
    for (a, b), group in paired.groupby(["condition_a", "condition_b"], sort=False):
        n = int(group["n"].min())
        psi = float(((group["a_only"] + group["b_only"]) / group["n"]).median())
        alone, holm = (
            stats.resolvable_difference(n, psi, stats.LEVEL / m) if psi else np.nan
            for m in (1, family or len(group))
        )
        rows.append(
            {"condition_a": a, "condition_b": b, "n": n, "discordant": psi}
            | {"alone": alone, "holm": holm}
        )
    columns = ["condition_a", "condition_b", "n", "discordant", "alone", "holm"]
    return pd.DataFrame(rows, columns=columns)


def comment_sensitivity(
    labels: LabelSet, comments: dict[str, str], settings: AnalysisParams
) -> pd.DataFrame:
    """How much the results depend on single comments (Section 6).

    Whole comments are resampled for an interval of the newline rate and of the newline minus
    boundary difference, and each comment in turn is left out of the newline rate.

    Args:
        labels: The label set.
        comments: The casual comment of each cluster; empty where it is not known.
        settings: Draws and seed.

    Returns:
        Columns model, comments, low, high (newline rate), difference_low, difference_high,
        largest_move (of the newline rate when one comment is left out); empty without comments,
        and without models for which only one is known.
    """
    columns = ["model", "comments", "low", "high", "difference_low", "difference_high"]
    if not comments:
        return pd.DataFrame(columns=[*columns, "largest_move"])
    group = np.array([comments[c] for c in labels.clusters])
    rows = []
    for model in labels.models:
        newline, boundary, mask = labels.matched((model, "newline"), (model, "boundary"))
        names = sorted(set(group[mask]))
        if len(names) < 2:
            continue
        inside = np.array([(group == name) & mask for name in names])
        k_a, k_b, n = (inside & newline).sum(1), (inside & boundary).sum(1), inside.sum(1)
        rate_a, rate_b = stats.group_bootstrap(
            k_a, k_b, n, settings.bootstrap_draws, settings.bootstrap_seed
        )
        left_out = stats.ratio(k_a.sum() - k_a, n.sum() - n)
        low, high = stats.percentile_interval(rate_a)
        difference_low, difference_high = stats.percentile_interval(rate_a - rate_b)
        move = float(np.abs(left_out - k_a.sum() / n.sum()).max())
        rows.append([model, len(names), low, high, difference_low, difference_high, move])
    return pd.DataFrame(rows, columns=[*columns, "largest_move"])


def sensitivity(detector: LabelSet, changes: dict[str, set[tuple[str, str, str]]]) -> pd.DataFrame:
    """Rates under other readings of the same labels.

    Args:
        detector: The labels as the detector gave them.
        changes: The cases changed by hand, by the name of the reading they are `applied_in`:
            `main` holds everywhere, `sensitivity` is added to it for one line (Section 6).

    Returns:
        The columns of `rates`, after a column `reading`: "detector" (no change by hand), "main",
        "sensitivity" (both kinds of change) and "lexical" (main, without the entailment tier).
    """
    main = adjudicate(detector, changes["main"])
    readings = {
        "detector": detector,
        "main": main,
        "sensitivity": adjudicate(main, changes["sensitivity"]),
        "lexical": not_absorbed(main, main.tiers == TIERS.index("semantic_nli")),
    }
    frames = []
    for name, labels in readings.items():
        frame = rates(labels)
        frame.insert(0, "reading", name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def code_rates(labels: LabelSet) -> pd.DataFrame:
    """Newline and artifact-native rates over the two code sources pooled (Section 5.4).

    Returns:
        Columns model, newline, newline_R (fractions).
    """
    code = labels.frame[labels.frame["source"].isin(CODE_SOURCES)]
    table = code.groupby(["model", "condition"])["absorbed"].mean().unstack()
    return table.reindex(columns=["newline", "newline_R"]).reset_index()


def syntax_p(damage: pd.DataFrame) -> list[float]:
    """McNemar's exact p for each condition: are treated programs invalid as often as clean ones?

    Args:
        damage: The frame of `score.damage.count_damage` (Section 5.5).
    """
    tables = (
        stats.Paired(
            row.invalid_both,
            row.invalid - row.invalid_both,
            row.invalid_clean - row.invalid_both,
            row.python - row.invalid - row.invalid_clean + row.invalid_both,
        )
        for row in damage.itertuples()
    )
    return [stats.mcnemar_exact(table) for table in tables]


def statistics(analysis: Analysis) -> dict[str, list[dict[str, Any]]]:
    """The analysis as plain data for statistics.json, see `cells.plain_rows`."""
    return {f.name: plain_rows(getattr(analysis, f.name)) for f in fields(analysis)}


def _counts(grouped: Any) -> dict[tuple[str, str], tuple[int, int]]:
    """(absorbed, all) of each group of a grouped boolean column."""
    table = grouped.agg(["sum", "count"])
    return {key: (int(k), int(n)) for key, k, n in table.itertuples(name=None)}


def _of_sources(counts: dict[tuple[str, str], tuple[int, int]], model: str) -> list[dict[str, Any]]:
    """One model's rates by source, in the order of the sources."""
    found = [source for source in SOURCES if (model, source) in counts]
    return [
        {"model": model, "source": source} | _proportion(*counts[model, source]) for source in found
    ]


def _proportion(k: int, n: int) -> dict[str, Any]:
    low, high = stats.wilson(k, n)
    return {"k": k, "n": n, "rate": k / n, "low": float(low), "high": float(high)}


def _contrast(table: stats.Paired, p: float, reduce_phi: bool = False) -> dict[str, Any]:
    low, high = stats.newcombe_paired(table, reduce_phi=reduce_phi)
    return {
        "n": table.n,
        **table._asdict(),
        "rate_a": table.rate_a,
        "rate_b": table.rate_b,
        "difference": table.difference,
        "low": low,
        "high": high,
        "p": p,
    }
