"""The figures of the paper, and of a run over them; `core.look` gives the style."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seam_lib.analysis.questions import Analysis
from seam_lib.analysis.stats import LEVEL
from seam_lib.core.look import MARKS, style
from seam_lib.core.palette import BLUE, GREEN, GREY, ORANGE
from seam_lib.core.rows import CASUAL, SOURCE_NAMES, SOURCES, TIER_NAMES, TIERS, condition_name

#: How far apart the names beside Figure 2 are, in percentage points.
LABEL_GAP = 3.2
#: Fill and hatch of each detector tier.
TIER_FILLS = ((BLUE, ""), (ORANGE, "//"), (GREEN, ".."))


def figure2(
    rates: pd.DataFrame,
    names: Mapping[str, str],
    marked: Sequence[str],
    background: pd.DataFrame | None = None,
    conditions: Sequence[str] = CASUAL,
) -> Figure:
    """Figure 2: one line per model over the conditions that share the casual comment.

    Args:
        rates: The frame of `questions.rates`.
        names: Display name of each model key.
        marked: Up to five models drawn with colour, marker and label; the others are grey.
        background: Rates of other models, drawn in grey behind those of a run: the published
            panel. The run's own rates then show their intervals.
        conditions: The conditions, from left to right; models end at the last one they have.

    Returns:
        The figure; rates in percent.

    Raises:
        ValueError: More than five models are marked.
    """
    marked = list(dict.fromkeys(marked))
    if len(marked) > len(MARKS):
        raise ValueError(f"figure 2 marks at most {len(MARKS)} models, not {len(marked)}")
    with style():
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.subplots()
        places = range(len(conditions))
        curves = _curves(rates, conditions)
        grey = curves.drop(index=marked)
        if background is not None:
            grey = pd.concat([_curves(background, conditions), grey])
        for values in grey.to_numpy():
            axes.plot(places, values, color=GREY, linewidth=0.9, zorder=1)
        for model, (color, marker, line) in zip(marked, MARKS, strict=False):
            values = curves.loc[model].to_numpy()
            axes.plot(places, values, color=color, marker=marker, linestyle=line, zorder=2)
        if background is None:
            starts = curves.loc[marked, "newline"].dropna()
            _side_labels(axes, {names[m]: float(y) for m, y in starts.items()})
        else:
            _intervals(axes, rates, marked, conditions)
            _legend(figure, [names[m] for m in marked], background["model"].nunique())
        axes.set_xticks(places, map(condition_name, conditions))
        axes.set_xlim(-0.95 if background is None else -0.3, len(conditions) - 0.9)
        axes.set_ylim(-1.5, max(16, axes.get_ylim()[1]))  # room for five names at zero
        axes.set_ylabel("absorption rate (%)")
        axes.set_xlabel("how the seam between paste and comment is marked")
    return figure


def to_mark(rates: pd.DataFrame, chosen: Iterable[str]) -> list[str]:
    """The models that Figure 2 marks: the chosen ones, then the highest and the lowest at newline.

    Args:
        rates: The frame of `questions.rates`.
        chosen: Model keys; those without a rate are left out.
    """
    newline = rates[rates["condition"] == "newline"].sort_values("rate")["model"]
    return [
        *(model for model in chosen if model in set(newline)),
        newline.iloc[-1],
        newline.iloc[0],
    ]


def figure_native(analysis: Analysis, names: Mapping[str, str]) -> Figure:
    """The paired increase from the casual to the artifact-native comment, one row per model.

    Filled marks are significant after Holm's adjustment, hollow ones are not; percentage points.
    """
    paired = analysis.contrasts
    frame = paired[paired["condition_b"] == "newline_R"].sort_values(
        ["difference", "model"], ascending=[False, True]
    )
    with style():
        figure = Figure(figsize=(6.0, 0.9 + 0.22 * len(frame)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(0, color=GREY, linewidth=0.9)
        for y, row in enumerate(frame.itertuples(index=False)):
            significant = row.p_holm < LEVEL
            axes.plot([-100 * row.high, -100 * row.low], [y, y], color="black", linewidth=1)
            axes.plot(
                -100 * row.difference,
                y,
                marker="o",
                markersize=5,
                color="black",
                markerfacecolor="black" if significant else "white",
            )
        axes.set_yticks(range(len(frame)), [names[m] for m in frame["model"]])
        axes.set_xlabel(
            "artifact-native minus casual comment (percentage points, 95% interval)\n"
            "filled: significant after Holm's adjustment"
        )
    return figure


def figure_sources(analysis: Analysis, names: Mapping[str, str]) -> Figure:
    """Rates by source and model with newline and blank pooled, as a heat map with numbers."""
    table = analysis.source_rates.pivot(index="model", columns="source", values="rate") * 100
    order = [m for m in names if m in table.index]
    table = table.loc[order, [s for s in SOURCES if s in table]]
    with style():
        figure = Figure(figsize=(6.4, 1.1 + 0.23 * len(table)), layout="constrained")
        axes = figure.subplots()
        sns.heatmap(
            table.rename(index=names, columns=SOURCE_NAMES),
            ax=axes,
            annot=True,
            fmt=".0f",
            cmap="Blues",
            vmin=0,
            vmax=100,
            linewidths=0.5,
            annot_kws={"size": 8},
            cbar_kws={"label": "absorption rate (%)"},
        )
        axes.set(xlabel="", ylabel="")
        axes.tick_params(axis="x", rotation=25)
        axes.tick_params(axis="both", length=0)
    return figure


def figure_tiers(
    rates: pd.DataFrame, tiers: pd.DataFrame, tier_names: Sequence[str] = TIERS
) -> Figure:
    """One run's rates by condition with their intervals, stacked by the tier that fired.

    Args:
        rates: The frame of `questions.rates` for one model.
        tiers: The frame of `questions.tiers` for the same model.
        tier_names: The tiers that were run.
    """
    frame = rates.merge(tiers, on=["model", "condition"])
    place = np.arange(len(frame))
    with style():
        figure = Figure(figsize=(6.0, 3.2), layout="constrained")
        axes = figure.subplots()
        base = np.zeros(len(frame))
        for tier, (color, hatch) in zip(tier_names, TIER_FILLS, strict=False):
            share = 100 * frame[tier].to_numpy() / frame["n"].to_numpy()
            name = TIER_NAMES[tier]
            axes.bar(
                place, share, 0.6, base, color=color, hatch=hatch, edgecolor="white", label=name
            )
            base += share
        ends = [base - 100 * frame["low"].to_numpy(), 100 * frame["high"].to_numpy() - base]
        axes.errorbar(place, base, np.maximum(ends, 0), fmt="none", color="black", capsize=3)
        axes.set_xticks(place, frame["condition"].map(condition_name))
        axes.set_ylabel("absorption rate (%, 95% interval)")
        figure.legend(loc="outside upper center", ncols=len(tier_names), frameon=False)
    return figure


def _curves(rates: pd.DataFrame, conditions: Sequence[str], value: str = "rate") -> pd.DataFrame:
    table = rates.pivot(index="model", columns="condition", values=value) * 100
    return table.reindex(columns=list(conditions)).loc[list(dict.fromkeys(rates["model"]))]


def _intervals(
    axes: Axes, rates: pd.DataFrame, marked: Sequence[str], conditions: Sequence[str]
) -> None:
    """Draw the interval of each marked rate as an upright stroke."""
    low, high = (_curves(rates, conditions, bound) for bound in ("low", "high"))
    for model, (color, _, _) in zip(marked, MARKS, strict=False):
        axes.vlines(range(len(conditions)), low.loc[model], high.loc[model], color=color, zorder=2)


def _legend(figure: Figure, marked: Sequence[str], published: int) -> None:
    """Name the marked models, and say what the grey lines are."""
    lines = [
        Line2D([], [], color=color, marker=marker, linestyle=line, label=f"{name}, 95% intervals")
        for name, (color, marker, line) in zip(marked, MARKS, strict=False)
    ]
    grey = Line2D([], [], color=GREY, linewidth=0.9, label=f"the paper's {published} models")
    figure.legend(handles=[*lines, grey], loc="outside upper center", frameon=False, fontsize=8)


def _side_labels(axes: Axes, at: Mapping[str, float]) -> None:
    """Write names left of the first points, pushed apart so that none covers another."""
    height = -np.inf
    for name, y in sorted(at.items(), key=lambda item: item[1]):
        height = max(y, height + LABEL_GAP)
        axes.annotate(
            name,
            (0, y),
            (-0.12, height),
            ha="right",
            va="center",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkB": 3},
        )
