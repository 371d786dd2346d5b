"""The audit's figures: what happens to the messages, and why kappa falls where AC1 does not."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from seam_lib.analysis import stats
from seam_lib.analysis.agreement import Crossed, table_at
from seam_lib.core.look import style
from seam_lib.core.palette import BLUE, GREY, VERMILION
from seam_lib.wild import rules


def figure_funnel(counts: Mapping[str, int]) -> Figure:
    """What happens to the English first turns, as bars in the screen's order.

    Args:
        counts: Messages by step, over all corpora.
    """
    steps = [*rules.REASONS, "exact_duplicate", "near_duplicate", "unique"]
    shares = [100 * counts[step] / counts["english_first_turn"] for step in steps]
    with style():
        figure = Figure(figsize=(6.2, 2.9), layout="constrained")
        axes = figure.subplots()
        colours = [VERMILION if step == "unique" else GREY for step in steps]
        bars = axes.barh([step.replace("_", " ") for step in steps], shares, color=colours)
        axes.bar_label(bars, [f"{share:.1f}%" for share in shares], padding=3, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel("share of English first turns (%)")
        axes.set_xlim(0, 1.12 * max(shares))
    return figure


def figure_prevalence(table: Crossed) -> Figure:
    """Kappa and AC1 over the share of yes, at the raw agreement of a table.

    Args:
        table: Counts, shape (2, 2); its own kappa and AC1 are marked.
    """
    raw = stats.agreement(table)
    apart = (1 - raw) / 2
    shares = np.linspace(apart, 1 - apart, 201)
    own = (table[0].sum() + table[:, 0].sum()) / (2 * table.sum())
    with style():
        figure = Figure(figsize=(5.2, 3.0), layout="constrained")
        axes = figure.subplots()
        for name, statistic, colour, rise in (
            ("Gwet's AC1", stats.gwet_ac1, BLUE, 10),
            ("Cohen's kappa", stats.cohen_kappa, VERMILION, 0),
        ):
            values = [statistic(table_at(raw, share)) for share in shares]
            axes.plot(100 * shares, values, color=colour)
            axes.plot(100 * own, statistic(table), "o", color=colour)
            axes.annotate(
                f"{name} {statistic(table):.2f}",
                (100 * own, statistic(table)),
                (-8, rise),
                textcoords="offset points",
                ha="right",
                va="center",
                color=colour,
            )
        axes.axvline(100 * own, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_xlabel("share of yes, both annotators alike (%)")
        axes.set_ylabel(f"agreement beyond chance,\nraw agreement {100 * raw:.0f}%")
        axes.set_ylim(-0.1, 1)
    return figure
