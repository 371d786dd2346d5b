"""Claims about what the design resolves, and about serving changes (Appendix H)."""

import pandas as pd

from seam_lib.analysis import stats
from seam_lib.claims import contrasts
from seam_lib.claims.panel import exposed
from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed, Value


def median_discordant(
    data: Published,
    only: list[str] | None = None,
    significant: bool = False,
    middle: str = "midpoint",
    reading: str = "main",
) -> Recomputed:
    """The median proportion of discordant pairs over contrasts and models.

    Args:
        data: The published facts.
        only: Contrasts to take, as `newline/boundary`; all five planned ones by default.
        significant: Keep only the significant ones.
        middle: For an even number: `midpoint` of the two middle values, or the `higher`, `lower`.
        reading: The labels.
    """
    frame = data.contrasts(reading)
    if only:
        frame = frame[(frame["condition_a"] + "/" + frame["condition_b"]).isin(only)]
    if significant:
        frame = frame[frame["p_holm"] < stats.LEVEL]
    frame = frame.assign(discordant=(frame["a_only"] + frame["b_only"]) / frame["n"])
    median = frame["discordant"].quantile(0.5, interpolation=middle)
    columns = ["model", "condition_a", "condition_b", "n", "a_only", "b_only", "discordant"]
    rows = frame[columns].sort_values("discordant")
    return Recomputed({"median": float(median)}, f"median of {len(frame)} proportions", rows)


def resolvable(
    data: Published, pairs: int, under_holm: bool, discordant: float | None = None
) -> Recomputed:
    """The smallest difference (points) that a paired contrast resolves at 80% power.

    Args:
        data: The published facts.
        pairs: Matched clusters.
        under_holm: Whether the level is divided by the number of models.
        discordant: The expected proportion of discordant pairs; by default the median over all
            planned contrasts.
    """
    median = median_discordant(data)
    psi = discordant or _number(median)
    models = len(data.panel) if under_holm else 1
    points = 100 * stats.resolvable_difference(pairs, psi, stats.LEVEL / models)
    how = f"Connor's formula at {pairs} pairs, {psi:.4g} discordant, level .05/{models}"
    return Recomputed({"points": points}, how, median.rows)


def below_limit(data: Published, discordant: float | None = None, own: bool = False) -> Recomputed:
    """Which artifact-native changes are smaller than what the design resolves under Holm.

    Args:
        data: The published facts.
        discordant: As in `resolvable`, at 300 pairs.
        own: Use each contrast's own pairs and proportion instead.
    """
    frame = contrasts.family(data, "newline", "newline_R")
    psi = discordant or _number(median_discordant(data))
    designs = [
        (int(r.n), (r.a_only + r.b_only) / r.n) if own else (300, psi) for r in frame.itertuples()
    ]
    level = stats.LEVEL / len(frame)
    limits = [100 * stats.resolvable_difference(n, p, level) for n, p in designs]
    below = frame["increase"].abs() < limits
    raised = frame["significant_increase"]
    values: dict[str, Value] = {
        "not significant and below": frame.loc[below & ~raised, "name"].tolist(),
        "count": int((below & ~raised).sum()),
        "significant and below": frame.loc[below & raised, "name"].tolist(),
    }
    rows = frame.assign(limit=limits)[["name", "n", "increase", "limit", "p_holm"]]
    how = f"limit {min(limits):.1f}" + (f" to {max(limits):.1f}" if own else "") + " points"
    return Recomputed(values, how, rows.reset_index(drop=True))


def clears_limit(
    data: Published, models: str, pairs: int, discordant: float | None = None
) -> Recomputed:
    """How many of some models exceed the limit with both their reduction and their increase."""
    limit = _number(resolvable(data, pairs, True, discordant))
    keys = data.group(models)
    boundary = contrasts.family(data, "newline", "boundary").loc[keys, "increase"]
    native = contrasts.family(data, "newline", "newline_R").loc[keys, "increase"]
    rows = pd.DataFrame({"model": data.names(keys), "reduction": -boundary, "increase": native})
    smallest = rows[["reduction", "increase"]].min(axis=1)
    how = f"the smallest of these changes is {smallest.min():.1f} points, the limit {limit:.1f}"
    return Recomputed({"models": int((smallest > limit).sum())}, how, rows)


def exposure(data: Published) -> Recomputed:
    """Serving changes among the models with a significant artifact-native increase.

    An exposed model was served under another identifier, or without per-call records, in one of
    the two conditions.
    """
    frame = contrasts.family(data, "newline", "newline_R")
    frame = frame.assign(exposure=exposed(data))
    raised = frame["significant_increase"]
    clear = frame["exposure"] == "none"
    inside = frame.loc[~clear, "increase"]
    values: dict[str, Value] = {
        "significant": int(raised.sum()),
        "mismatch": int((raised & (frame["exposure"] == "identifier")).sum()),
        "unverifiable": int((raised & (frame["exposure"] == "no record")).sum()),
        "clear and significant": int((raised & clear).sum()),
        "clear": int(clear.sum()),
        "exposed": int((~clear).sum()),
        "exposed, smallest": float(inside.min()),
        "exposed, largest": float(inside.max()),
    }
    rows = frame[["name", "exposure", "increase", "p_holm"]].reset_index(drop=True)
    how = f"{raised.sum()} significant; exposed: {', '.join(frame.loc[~clear, 'name'])}"
    return Recomputed(values, how, rows)


def inside_range(data: Published, of: str = "unexposed") -> Recomputed:
    """How many exposed models' increases lie within the range of other models' increases.

    Args:
        data: The published facts.
        of: `unexposed`, every model that is not exposed, or a group of the panel.
    """
    frame = contrasts.family(data, "newline", "newline_R")
    kind = pd.Series(exposed(data), index=frame.index)
    others = frame.loc[kind == "none"] if of == "unexposed" else frame.loc[data.group(of)]
    low, high = others["increase"].min(), others["increase"].max()
    inside = frame.loc[kind != "none", "increase"].between(low, high)
    how = f"{len(others)} {of} models range from {low:+.1f} to {high:+.1f} points"
    rows = frame.assign(exposure=kind)[["name", "exposure", "increase"]].reset_index(drop=True)
    return Recomputed({"inside": int(inside.sum())}, how, rows)


def _number(found: Recomputed) -> float:
    """The one number of what was recomputed."""
    (value,) = found.values.values()
    assert isinstance(value, float)
    return value
