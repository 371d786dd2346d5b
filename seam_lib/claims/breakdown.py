"""Claims that break absorption down: by source, by detector tier, by single case (Table 6)."""

from collections.abc import Sequence

import pandas as pd

from seam_lib.claims.published import Published
from seam_lib.claims.rates import rate
from seam_lib.claims.recomputed import Recomputed, Value
from seam_lib.core.rows import SOURCE_NAMES, TIER_NAMES, TIERS, TREATED

#: How Appendix E heads a specimen, by the tier that fired.
SPECIMENS = dict(zip(TIERS, ("verbatim", "reworded", "NLI"), strict=True))


def pooled(data: Published, source: str, models: list[str]) -> Recomputed:
    """One row of Table 6: a source's rate with newline and blank pooled."""
    found = _pooled(data, [source], models)
    values: dict[str, Value] = dict(zip(found["model"], found["percent"], strict=True))
    how = ", ".join(f"{r.absorbed}/{r.observations}" for r in found.itertuples())
    return Recomputed(values, how, found)


def pooled_range(data: Published, sources: list[str], models: list[str]) -> Recomputed:
    """The lowest and the highest pooled rate over some sources and models."""
    found = _pooled(data, sources, models)
    low, high = found["percent"].min(), found["percent"].max()
    how = f"{len(found)} source-model cells, each newline + blank"
    return Recomputed({"lowest": float(low), "highest": float(high)}, how, found)


def pooled_size(data: Published, models: list[str]) -> Recomputed:
    """How many observations a cell of Table 6 pools: the usual number, and the exceptions."""
    found = _pooled(data, list(SOURCE_NAMES), models)
    usual = int(found["observations"].mode()[0])
    others = found[found["observations"] != usual]
    values: dict[str, Value] = {
        "observations": usual,
        "times a cluster counts": usual
        / int(data.table("clusters").groupby("source").size().max()),
        "exceptions": [f"{r.model} {r.source}" for r in others.itertuples()],
        "observations there": int(others["observations"].min()),
    }
    how = f"{len(found) - len(others)} of {len(found)} cells pool {usual} observations"
    return Recomputed(values, how, found)


def tiers(
    data: Published, models: list[str], conditions: Sequence[str] = TREATED, reading: str = "main"
) -> Recomputed:
    """Absorbed labels by the tier that fired first, model by model: witness, regex, NLI."""
    frame = data.labels(reading).frame
    kept = frame[frame["absorbed"] & frame["condition"].isin(conditions)]
    values: dict[str, Value] = {
        f"{data.name(m)} {TIER_NAMES[t]}": int(((kept["model"] == m) & (kept["tier"] == t)).sum())
        for m in models
        for t in TIERS
    }
    rows = pd.crosstab(kept["model"], [kept["condition"], kept["tier"]]).loc[models]
    rows.columns = [f"{condition} {tier}" for condition, tier in rows.columns]
    return Recomputed(values, f"counted over {', '.join(conditions)}", rows.T.reset_index(names=""))


def tier_names(data: Published) -> Recomputed:
    """How many tiers there are, and how many of them are lexical."""
    fired = data.labels().frame.query("absorbed").groupby("tier").size()
    lexical = [t for t in fired.index if t.startswith("lexical")]
    values: dict[str, Value] = {"tiers": len(fired), "lexical": len(lexical)}
    return Recomputed(
        values, f"tiers that fire: {', '.join(fired.index)}", fired.reset_index(name="n")
    )


def specimen(data: Published, model: str, item: str, condition: str = "newline") -> Recomputed:
    """Whether a specimen of Appendix E is labelled absorbed, and by which tier.

    Args:
        data: The published facts.
        model: Panel key.
        item: The cluster id, or its beginning as printed.
        condition: The specimen's condition.
    """
    frame = data.labels().frame
    found = frame[
        (frame["model"] == model)
        & (frame["condition"] == condition)
        & frame["cluster_id"].str.match(f"{item}(?![0-9])")
    ]
    verdicts = {"absorbed" if x else "not absorbed" for x in found["absorbed"]}
    values: dict[str, Value] = {
        "label": ", ".join(sorted(verdicts)) or "no such case",
        "tier": ", ".join(SPECIMENS.get(t, "none") for t in found["tier"]),
    }
    return Recomputed(values, f"the labels of {item} under {condition}", found)


def _pooled(data: Published, sources: list[str], models: list[str]) -> pd.DataFrame:
    rows = []
    for source in sources:
        for model in models:
            found = [rate(data, model, c, [source]) for c in ("newline", "blank")]
            k, n = sum(len(r.absorbed) for r in found), sum(r.usable for r in found)
            rows.append([found[0].model, SOURCE_NAMES[source], k, n, 100 * k / n])
    return pd.DataFrame(rows, columns=["model", "source", "absorbed", "observations", "percent"])
