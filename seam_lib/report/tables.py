"""The tables of a run: its own rows, and its row of Table 3 above the published panel's."""

from dataclasses import replace

import pandas as pd

from seam_lib.analysis import tables
from seam_lib.analysis.questions import Analysis
from seam_lib.analysis.stats import LEVEL
from seam_lib.analysis.words import direction
from seam_lib.core.cells import NONE, Table, intervals, percent, plain_rows, points, precise
from seam_lib.core.rows import SOURCE_NAMES, TIER_NAMES, condition_name
from seam_lib.report.panel import Panel
from seam_lib.report.results import RunResult


def run_tables(result: RunResult, panel: Panel) -> dict[str, Table]:
    """Every table of a run's report, by name."""
    names = display_names(result)
    made = [
        panel_table(result, panel),
        *([pair_table(result, panel)] if len(panel.pairs) else []),
        tables.full_rate_table(result.analysis, names),
        contrast_table("contrasts", result.analysis, names),
        contrast_table("contrasts_own_decoding", with_own_decoding(result), names),
        source_table(result.analysis, names),
        tier_table(result.analysis, names),
    ]
    return {table.name: table for table in made}


def display_names(result: RunResult) -> dict[str, str]:
    """The run's name and model, as tables show it."""
    return {result.run.name: result.run.settings.model}


def with_own_decoding(result: RunResult) -> Analysis:
    """The run's analysis with the contrasts that leave departing answers out."""
    return replace(result.analysis, contrasts=result.unaltered)


def panel_table(result: RunResult, panel: Panel) -> Table:
    """Table 3 with the run in the first row and the published panel below it."""
    mine = result.analysis
    both = replace(
        mine,
        rates=pd.concat([mine.rates, panel.rates]),
        contrasts=pd.concat([mine.contrasts, panel.contrasts]),
        levers=pd.concat([mine.levers, panel.levers]),
    )
    table = tables.rate_table(both, panel.names | display_names(result))
    where = (
        "the same clusters" if result.shared else f"the paper's {result.paper_clusters} clusters"
    )
    caption = (
        f"Absorption rate (%) of this run (first row) and of the published panel on {where}. The "
        "last column is the lever, newline over boundary. ns: no significant artifact-native "
        "increase."
    )
    return replace(table, caption=caption)


def pair_table(result: RunResult, panel: Panel) -> Table:
    """The run minus each model of the panel under every condition, on the same clusters."""
    frame = panel.pairs
    data = pd.DataFrame(plain_rows(frame))
    cells = frame.assign(
        condition=frame["condition"].map(condition_name),
        cell=[
            f"{points(row.difference)} [{points(row.low)}, {points(row.high)}]"
            + "*" * (row.p_holm < LEVEL)
            for row in frame.itertuples()
        ],
    )
    wide = cells.pivot(index="model", columns="condition", values="cell")
    wide = wide.reindex(cells["model"].unique(), columns=cells["condition"].unique())
    display = wide.rename(index=panel.names).fillna(NONE).reset_index().rename_axis(columns=None)
    caption = (
        "This run minus each model of the panel, in percentage points, on the clusters that both "
        "have under the condition. *: exact McNemar, Holm over the models of a column, p < .05."
    )
    return Table("panel_pairs", caption, data, display)


def contrast_table(name: str, analysis: Analysis, names: dict[str, str]) -> Table:
    """A run's contrasts with their reading in words."""
    table = tables.contrast_table(analysis, names)
    words = [direction(row.difference, row.p_holm) for row in analysis.contrasts.itertuples()]
    return replace(table, name=name, display=table.display.assign(**{"b absorbs": words}))


def source_table(analysis: Analysis, names: dict[str, str]) -> Table:
    """A run's rates by source, newline and blank pooled, with intervals."""
    frame = analysis.source_rates
    data = frame.assign(**precise(frame))
    display = pd.DataFrame(
        {
            "model": frame["model"].map(names),
            "source": frame["source"].map(SOURCE_NAMES),
            "absorbed": [f"{k} of {n}" for k, n in zip(frame["k"], frame["n"], strict=True)],
            "AR (%)": frame["rate"].map(percent),
            "95% interval": intervals(frame),
        }
    )
    caption = "Rates by source, newline and blank pooled: each cluster counts once per condition."
    return Table("source_rates", caption, data, display)


def tier_table(analysis: Analysis, names: dict[str, str]) -> Table:
    """Absorbed labels by condition and by the tier that fired."""
    frame = analysis.tiers
    display = frame.assign(
        model=frame["model"].map(names), condition=frame["condition"].map(condition_name)
    )
    display = display.rename(columns=TIER_NAMES).astype(str)
    return Table("tiers", "Absorbed labels by the tier that fired first.", frame, display)
