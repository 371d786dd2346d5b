"""The tables of a run: its own rows, and its row of Table 3 above the published panel's."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from seam_lib.analysis import tables
from seam_lib.analysis.questions import Analysis
from seam_lib.analysis.words import direction
from seam_lib.core.cells import Table, frame_of, intervals, percent, precise
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import SOURCE_NAMES, TIER_NAMES, condition_name
from seam_lib.report.results import RunResult


class Panel(NamedTuple):
    """The published panel as the analysis left it: frames of `Analysis`, and display names."""

    rates: pd.DataFrame
    contrasts: pd.DataFrame
    levers: pd.DataFrame
    names: dict[str, str]


def read_panel(root: Path) -> Panel:
    """Read the panel's numbers from paper/statistics.json.

    Raises:
        SeamError: They are not there.
    """
    path = root / "paper" / "statistics.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SeamError(f"{path}: no such file. Restore it from git or run `dvc repro`.") from None
    models = pd.read_csv(root / "data" / "published" / "panel.csv", keep_default_na=False)
    return Panel(
        rates=frame_of(record["rates"]),
        contrasts=frame_of(record["contrasts"]),
        levers=frame_of(record["levers"]),
        names=dict(zip(models["key"], models["name"], strict=True)),
    )


def run_tables(result: RunResult, panel: Panel) -> dict[str, Table]:
    """Every table of a run's report, by name."""
    names = display_names(result)
    made = [
        panel_table(result, panel),
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
    run, mine = result.run.name, result.analysis
    apart = {run: f"{run} (published)"}  # a run may have the name of a published model

    def below(own: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([own, published.assign(model=published["model"].replace(apart))])

    both = replace(
        mine,
        rates=below(mine.rates, panel.rates),
        contrasts=below(mine.contrasts, panel.contrasts),
        levers=below(mine.levers, panel.levers),
    )
    names = {apart.get(key, key): name for key, name in panel.names.items()}
    table = tables.rate_table(both, names | display_names(result))
    caption = (
        "Absorption rate (%) of this run (first row) and of the published panel, whose labels "
        "include the semantic tier. The last column is the lever, newline over boundary. ns: no "
        "significant artifact-native increase."
    )
    return replace(table, caption=caption)


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
