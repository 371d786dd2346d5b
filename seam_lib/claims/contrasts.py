"""Claims about paired contrasts of two conditions (Sections 5.2, 5.4 and 5.5, Table 4).

Differences are in percentage points. An *increase* is the rate under `b` minus the rate under `a`.
Significant means Holm's p below .05 within the contrast's family of models.
"""

from typing import Any

import numpy as np
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.analysis.questions import paired_outcomes
from seam_lib.analysis.stats import LEVEL
from seam_lib.claims.published import Published
from seam_lib.claims.rates import rate
from seam_lib.claims.recomputed import Recomputed, Value


def family(data: Published, a: str, b: str) -> pd.DataFrame:
    """One contrast over all models, indexed by model key.

    Returns:
        The columns of `questions.contrasts`, and name, increase (points) and significant_increase.
    """
    frame = data.contrasts().query("condition_a == @a and condition_b == @b")
    frame = frame.set_index("model", drop=False)
    up = (frame["p_holm"] < LEVEL) & (frame["difference"] < 0)
    increase = -100 * frame["difference"]
    return frame.assign(name=data.names(frame.index), increase=increase, significant_increase=up)


def significant(data: Published, a: str, b: str, direction: str) -> Recomputed:
    """How many models change significantly, which, and which do not.

    Args:
        data: The published facts.
        a: The first condition.
        b: The second condition.
        direction: `less` or `more` absorption under b.
    """
    frame = family(data, a, b)
    towards = frame["increase"] < 0 if direction == "less" else frame["increase"] > 0
    hit = towards & (frame["p_holm"] < LEVEL)
    values: dict[str, Value] = {
        "models": int(hit.sum()),
        "of": len(frame),
        "which": frame.loc[hit, "name"].tolist(),
        "others": frame.loc[~hit, "name"].tolist(),
    }
    how = f"{hit.sum()} of {len(frame)} models with {direction} absorption and Holm p < {LEVEL}"
    return Recomputed(values, how, rows_of(frame))


def raised(data: Published, a: str, b: str) -> Recomputed:
    """How many models absorb more under b, significantly or not, and which do not."""
    frame = family(data, a, b)
    more = frame["increase"] > 0
    values: dict[str, Value] = {
        "models": int(more.sum()),
        "of": len(frame),
        "others": frame.loc[~more, "name"].tolist(),
    }
    return Recomputed(
        values, f"{more.sum()} of {len(frame)} increases are above zero", rows_of(frame)
    )


def row(data: Published, model: str, a: str, b: str) -> Recomputed:
    """One row of Table 4, and Holm's verdict on it."""
    r = family(data, a, b).loc[model]
    values: dict[str, Value] = {
        "n": int(r["n"]),
        "rate a": 100 * float(r["rate_a"]),
        "rate b": 100 * float(r["rate_b"]),
        "only a": int(r["a_only"]),
        "only b": int(r["b_only"]),
        "p": float(r["p"]),
        "Holm": "significant" if r["p_holm"] < LEVEL else "not significant",
    }
    how = (
        f"2 x 2 table both {r['both']}, only {a} {r['a_only']}, only {b} {r['b_only']}, "
        f"neither {r['neither']}; exact p {r['p']:.3g}, Holm p {r['p_holm']:.3g}"
    )
    return Recomputed(values, how, rows_of(r.to_frame().T), discordant(data, model, a, b))


def discordant(data: Published, model: str, a: str, b: str) -> dict[str, list[str]]:
    """The clusters in which a model absorbs the comment under only one of two conditions."""
    labels = data.labels()
    under_a, under_b, both = labels.matched((model, a), (model, b))
    ids = np.array(labels.clusters)
    return {
        f"only {a}": ids[both & under_a & ~under_b].tolist(),
        f"only {b}": ids[both & under_b & ~under_a].tolist(),
    }


def largest_reduction(data: Published, a: str, b: str, reduce_phi: bool = False) -> Recomputed:
    """The largest reduction (points) that any model's interval still allows."""
    frame = family(data, a, b)
    bounds = {}
    for model in frame.index:
        table = paired_outcomes(data.labels(), model, a, b)
        _, bounds[model] = stats.newcombe_paired(table, reduce_phi=reduce_phi)
    highest = max(bounds, key=lambda model: bounds[model])
    how = f"the highest upper bound over {len(frame)} models is {data.name(highest)}'s"
    return Recomputed({"points": 100 * bounds[highest]}, how, rows_of(frame))


def increases(data: Published, models: str | list[str], a: str, b: str) -> Recomputed:
    """The increase of each of some models."""
    frame = family(data, a, b).loc[data.group(models)]
    values: dict[str, Value] = dict(zip(frame["name"], frame["increase"], strict=True))
    how = ", ".join(f"({r.b_only} - {r.a_only}) / {r.n}" for r in frame.itertuples())
    return Recomputed(values, how, rows_of(frame))


def significant_range(data: Published, a: str, b: str) -> Recomputed:
    """The smallest and the largest significant increase, and whose they are."""
    frame = family(data, a, b)
    frame = frame[frame["significant_increase"]].sort_values("increase")
    values: dict[str, Value] = {
        "models": len(frame),
        "smallest": float(frame["increase"].iloc[0]),
        "smallest model": frame["name"].iloc[0],
        "largest": float(frame["increase"].iloc[-1]),
    }
    return Recomputed(values, f"{len(frame)} significant increases, sorted", rows_of(frame))


def largest_increases(data: Published, a: str, b: str, top: int) -> Recomputed:
    """The models with the largest increases."""
    frame = family(data, a, b).sort_values("increase", ascending=False)
    names = frame["name"].head(top).tolist()
    return Recomputed({"models": names}, f"{len(frame)} increases, sorted", rows_of(frame))


def largest_p(data: Published, models: list[str], a: str, b: str) -> Recomputed:
    """The largest exact p of some models."""
    frame = family(data, a, b).loc[models]
    values: dict[str, Value] = {"models": len(frame), "p": float(frame["p"].max())}
    how = f"exact p: {', '.join(f'{p:.3g}' for p in frame['p'])}"
    return Recomputed(values, how, rows_of(frame))


def pairs(
    data: Published, a: str | None = None, b: str | None = None, models: str | list[str] = "all"
) -> Recomputed:
    """The smallest and the largest number of matched clusters, of one contrast or of all five."""
    frame = data.contrasts()
    if a and b:
        frame = family(data, a, b).loc[data.group(models)]
    rows = frame[["model", "condition_a", "condition_b", "n"]].reset_index(drop=True)
    fewest = rows.loc[rows["n"].idxmin()]
    values: dict[str, Value] = {"fewest": int(fewest["n"]), "most": int(rows["n"].max())}
    return Recomputed(
        values, f"fewest: {data.name(fewest['model'])}, {fewest['condition_b']}", rows
    )


def at_or_below(data: Published, a: str, b: str) -> Recomputed:
    """For how many models the rate under b is no higher than the rate under a."""
    found = [(rate(data, m, a), rate(data, m, b)) for m in data.group("all")]
    rows = pd.DataFrame(
        [[x.model, x.percent, y.percent] for x, y in found], columns=["model", a, b]
    )
    count = int((rows[b] <= rows[a]).sum())
    return Recomputed({"models": count}, f"{count} of {len(rows)} models", rows)


def families(data: Published, smaller_larger: list[list[str]], condition: str) -> Recomputed:
    """How larger models of a family compare with smaller ones: which directions occur.

    Two models are similar if the exact McNemar p over their common clusters is not below .05.
    """
    rows = []
    for small, large in smaller_larger:
        x, y, both = data.labels().matched((small, condition), (large, condition))
        table = stats.pair_counts(x[both], y[both])
        p = stats.mcnemar_exact(table)
        direction = "similar"
        if p < LEVEL:
            direction = "higher" if table.rate_b > table.rate_a else "lower"
        names, rates = data.names([small, large]), [100 * table.rate_a, 100 * table.rate_b]
        rows.append([*names, *rates, p, direction])
    columns = ["smaller", "larger", "rate, smaller", "rate, larger", "p", "larger is"]
    frame = pd.DataFrame(rows, columns=columns)
    how = "; ".join(f"{r[1]} against {r[0]}: {r[5]}" for r in rows)
    return Recomputed({"directions": sorted(set(frame["larger is"]))}, how, frame)


def rows_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of `family` that a reader wants to see."""
    columns: list[Any] = ["name", "condition_a", "condition_b", *stats.Paired._fields]
    columns += ["increase", "p", "p_holm"]
    return frame[columns].rename(columns={"name": "model"}).reset_index(drop=True)
