"""What the numbers of an analysis say, in sentences: a notebook shows them beside its tables.

A sentence that names a number, a model or a source is made here, so that it holds whatever the
labels are. Frames are those of `questions`; names give the display name of each model key.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from seam_lib.analysis.stats import LEVEL
from seam_lib.core.cells import lever, percent, span
from seam_lib.core.rows import SOURCE_NAMES, condition_name, contrast_name


def direction(difference: float, p_holm: float) -> str:
    """A contrast in words: whether condition b absorbs less or more, at Holm's p below .05."""
    if not p_holm < LEVEL:  # also where no pair is left to test
        return "not resolved"
    return "less" if difference > 0 else "more"


def outcomes(contrasts: pd.DataFrame) -> pd.DataFrame:
    """For each contrast, of how many models condition b absorbs less, more, or neither for sure.

    Returns:
        Columns contrast, less, more, not resolved.
    """
    rows = [
        {"contrast": contrast_name(a, b)}
        | {word: _directions(group).count(word) for word in ("less", "more", "not resolved")}
        for (a, b), group in contrasts.groupby(["condition_a", "condition_b"], sort=False)
    ]
    return pd.DataFrame(rows, columns=["contrast", "less", "more", "not resolved"])


def unresolved(contrasts: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """The rows of one contrast that the adjusted test leaves open."""
    group = contrasts[(contrasts["condition_a"] == a) & (contrasts["condition_b"] == b)]
    return group[[word == "not resolved" for word in _directions(group)]]


def contrast_words(contrasts: pd.DataFrame, a: str, b: str) -> str:
    """How many models absorb less, and how many more, under condition b than under a."""
    group = contrasts[(contrasts["condition_a"] == a) & (contrasts["condition_b"] == b)]
    found = _directions(group)
    return (
        f"Under {condition_name(b)}, {found.count('less')} of {_models(len(group))} absorb "
        f"significantly less than under {condition_name(a)}, and {found.count('more')} more."
    )


def rate_words(rates: pd.DataFrame, names: Mapping[str, str], condition: str = "newline") -> str:
    """How many models absorb anything under a condition, and between which rates they lie."""
    found = rates[rates["condition"] == condition].sort_values("rate")
    if found.empty:
        return f"No model has a rate under {condition_name(condition)}."
    (low, least), (high, most) = (
        (percent(row["rate"]), names[row["model"]]) for _, row in found.iloc[[0, -1]].iterrows()
    )
    some = f"{(found['k'] > 0).sum()} of {_models(len(found))}"
    return (
        f"Under {condition_name(condition)}, {some} absorb at least one comment. The rates go from "
        f"{low}% ({least}) to {high}% ({most})."
    )


def lever_words(levers: pd.DataFrame) -> str:
    """Between which values the levers lie, and how many intervals leave 1 out."""
    found = levers.dropna(subset=["lever"])
    if found.empty:
        return "No model absorbs anything under newline or boundary, so there is no lever."
    apart = ((found["low"] > 1) | (found["high"] < 1)).sum()
    return (
        f"The levers go from {lever(found['lever'].min())} to {lever(found['lever'].max())}. The "
        f"intervals of {apart} of {_models(len(found))} leave out 1, which would be no difference."
    )


def source_words(rates: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Which sources absorb most and least over the models, and who stands out in the latter.

    Args:
        rates: The frame of `questions.source_rates`.
        names: Display name of each model key.
    """
    if rates.empty:
        return "No source has a rate under newline or blank."
    means = rates.groupby("source")["rate"].mean().sort_values()
    least, most = means.index[0], means.index[-1]
    row = rates[rates["source"] == least].sort_values("rate").iloc[-1]
    return (
        f"Averaged over the models, most is absorbed in {SOURCE_NAMES[most]} "
        f"({percent(means[most])}%) and least in {SOURCE_NAMES[least]} ({percent(means[least])}%); "
        f"the highest rate there is {percent(row['rate'])}%, of {names[row['model']]}."
    )


def reading_words(readings: pd.DataFrame, condition: str) -> str:
    """How far the readings of the same labels move a condition's rates.

    Args:
        readings: The frame of `questions.sensitivity`.
        condition: The condition.
    """
    wide = _by_reading(readings, condition)
    moves = (wide.max(axis=1) - wide.min(axis=1)).to_numpy()
    moved = f"{np.count_nonzero(moves)} of {_models(len(moves))}"
    return (
        f"Under {condition_name(condition)}, the reading changes the rate of {moved}, by at most "
        f"{percent(moves.max())} percentage points."
    )


def differing(
    readings: pd.DataFrame, names: Mapping[str, str], condition: str = "boundary"
) -> pd.DataFrame:
    """The rates (%) of a condition in each reading, for the models of which they differ."""
    wide = _by_reading(readings, condition)
    wide = wide[wide.nunique(axis=1) > 1].rename(index=names)
    return wide.map(percent).reset_index().rename_axis(columns=None)


def design_words(design: pd.DataFrame) -> str:
    """Which differences the contrasts resolve under Holm's adjustment, from the best to the worst.

    Args:
        design: The frame of `questions.design`.
    """
    resolved = design.loc[design["holm"] < design["discordant"], "holm"]
    if resolved.empty:
        return "No contrast has enough pairs that differ to show any difference reliably."
    return (
        f"{len(resolved)} of {len(design)} contrasts resolve a difference under Holm's adjustment: "
        f"{span(resolved, percent)} percentage points at least."
    )


def _directions(contrasts: pd.DataFrame) -> list[str]:
    return [direction(row.difference, row.p_holm) for row in contrasts.itertuples()]


def _models(count: int) -> str:
    return f"{count} model{'s' if count != 1 else ''}"


def _by_reading(readings: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Rates of one condition, a row a model and a column a reading, both in their order."""
    rows = readings[readings["condition"] == condition]
    wide = rows.pivot(index="model", columns="reading", values="rate")
    return wide.reindex(rows["model"].unique(), columns=readings["reading"].unique())
