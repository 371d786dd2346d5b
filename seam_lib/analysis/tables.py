"""The paper's tables, each from the frames of `questions`; `core.cells` writes them."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from seam_lib.analysis.questions import Analysis
from seam_lib.analysis.stats import LEVEL
from seam_lib.core.cells import NONE, Table, intervals, lever, p_value, percent, points, precise
from seam_lib.core.params import AnalysisParams
from seam_lib.core.rows import (
    CASUAL,
    SOURCE_NAMES,
    TIER_NAMES,
    TIERS,
    TREATED,
    condition_name,
    contrast_name,
    in_order,
)

#: The rows that the paper chose to print; a label set of other models has fewer or none of them.
TABLE4_ROWS = (
    ("deepseek-flash", "newline", "blank"),
    ("deepseek-flash", "newline", "boundary"),
    ("claude-opus-4-8", "newline", "boundary"),
    ("gpt-5.6-sol", "newline", "boundary"),
    ("gemini-3.1-pro", "newline", "blank"),
    ("gemini-3.1-pro", "newline", "boundary"),
)
TABLE5_MODELS = ("deepseek-flash", "qwen3-32b", "claude-opus-4-8", "gpt-5.6-sol")
TABLE6_MODELS = ("deepseek-flash", "deepseek-pro", "claude-opus-4-8", "gpt-5.6-sol")
#: The order of sources in Table 6.
TABLE6_SOURCES = (
    "coedit",
    "iterater",
    "pararev",
    "stackexchange",
    "canitedit",
    "commitpackft",
)


def rate_table(analysis: Analysis, names: dict[str, str]) -> Table:
    """Table 3: the rate of every model under every condition, its lever, and the ns mark.

    Args:
        analysis: The statistics.
        names: Display name of each model key.
    """
    rates = analysis.rates.pivot(index="model", columns="condition", values="rate")
    conditions = in_order(rates.columns)
    levers = analysis.levers.set_index("model")["lever"]
    paired = analysis.contrasts
    native = paired[paired["condition_b"] == "newline_R"].set_index("model")
    increase = (native["p_holm"] < LEVEL) & (native["difference"] < 0)
    data, display = [], []
    for model in analysis.rates["model"].drop_duplicates():
        row, ratio = rates.loc[model], float(levers.get(model, np.nan))
        ns = not increase[model] if model in increase else None
        cells = {c: percent(row[c]) for c in conditions}
        data.append(
            {"key": model, "model": names[model]}
            | {c: cell.replace(NONE, "") for c, cell in cells.items()}
            | {"lever": "" if np.isnan(ratio) else f"{ratio:.2f}"}
            | {"native_ns": "" if ns is None else str(ns).lower()}
        )
        if ns:
            cells["newline_R"] += " ns"
        display.append(
            {"model": names[model]}
            | {condition_name(c): cell for c, cell in cells.items()}
            | {"newline/boundary": lever(ratio)}
        )
    return Table(
        "table3",
        "Absorption rate (%) by model and condition; the last column is the lever, newline over "
        "boundary. ns: no significant artifact-native increase (exact McNemar, Holm over the "
        "models, p >= .05).",
        pd.DataFrame(data),
        pd.DataFrame(display),
    )


def full_rate_table(analysis: Analysis, names: dict[str, str]) -> Table:
    """Table 3 in full: counts, usable pairs and Wilson intervals of every cell."""
    frame = analysis.rates
    data = pd.DataFrame(
        {
            "key": frame["model"],
            "condition": frame["condition"],
            "absorbed": frame["k"],
            "usable": frame["n"],
            "planned": frame["planned"],
            **precise(frame),
            "zero_bound": ["" if np.isnan(x) else f"{x:.6f}" for x in frame["zero_bound"]],
        }
    )
    display = pd.DataFrame(
        {
            "model": frame["model"].map(names),
            "condition": frame["condition"].map(condition_name),
            "absorbed": frame["k"].astype(str),
            "usable of planned": [
                f"{n} of {m}" for n, m in zip(frame["n"], frame["planned"], strict=True)
            ],
            "AR (%)": frame["rate"].map(percent),
            "95% interval": intervals(frame),
        }
    )
    return Table("table3_full", "Every rate with its Wilson 95% interval.", data, display)


def contrast_table(analysis: Analysis, names: dict[str, str]) -> Table:
    """All planned contrasts: counts, difference, interval, exact p, Holm p."""
    frame = analysis.contrasts
    data = pd.DataFrame(
        {
            **{c: frame[c] for c in ("model", "condition_a", "condition_b", "n")},
            **{c: frame[c].map("{:.4f}".format) for c in ("rate_a", "rate_b")},
            **{c: frame[c] for c in ("both", "a_only", "b_only", "neither")},
            "diff_pp": [f"{100 * x:+z.2f}" for x in frame["difference"]],
            "ci_low_pp": [f"{100 * x:+z.2f}" for x in frame["low"]],
            "ci_high_pp": [f"{100 * x:+z.2f}" for x in frame["high"]],
            **{c: frame[c].map("{:.6g}".format) for c in ("p", "p_holm")},
        }
    )
    display = pd.DataFrame(
        {
            "model": frame["model"].map(names),
            "a / b": _conditions(frame),
            "n": frame["n"].astype(str),
            "AR (%) a/b": _rates(frame),
            "only a/b": _only(frame),
            "difference (pp)": [
                f"{points(d)} [{points(a)}, {points(b)}]"
                for d, a, b in zip(frame["difference"], frame["low"], frame["high"], strict=True)
            ],
            "exact p": frame["p"].map(p_value),
            "Holm p": frame["p_holm"].map(p_value),
        }
    )
    return Table(
        "contrasts",
        "Paired contrasts on the clusters usable in both conditions: difference a - b with "
        "Newcombe's 95% interval, exact McNemar p, and Holm's p over the models of a contrast.",
        data,
        display,
    )


def selected_contrasts(analysis: Analysis, names: dict[str, str]) -> Table:
    """Table 4: the paper's six comparisons."""
    indexed = analysis.contrasts.set_index(["model", "condition_a", "condition_b"], drop=False)
    frame = indexed.loc[[row for row in TABLE4_ROWS if row in indexed.index]]
    cells = {
        "conditions": _conditions(frame),
        "n": frame["n"].astype(str).tolist(),
        "AR (%) a/b": _rates(frame),
        "only a/b": _only(frame),
        "exact p": frame["p"].map(p_value).tolist(),
    }
    return Table(
        "table4",
        "Selected comparisons of matched clusters; p is the unadjusted exact McNemar p.",
        pd.DataFrame({"key": frame["model"].tolist(), **cells}),
        pd.DataFrame({"model": [names[m] for m in frame["model"]], **cells}),
    )


def native_table(analysis: Analysis, code: pd.DataFrame, names: dict[str, str]) -> Table:
    """Table 5: casual against artifact-native comments.

    Args:
        analysis: The statistics.
        code: Rates of the two code sources pooled; columns model, newline, newline_R (fractions).
        names: Display name of each model key.
    """
    paired = analysis.contrasts
    native = paired[paired["condition_b"] == "newline_R"].set_index("model")
    by_model = code.set_index("model")
    rows = []
    for model in (m for m in TABLE5_MODELS if m in native.index):
        row, rates = native.loc[model], by_model.loc[model]
        rows.append(
            {
                "key": model,
                "model": names[model],
                "casual": percent(row["rate_a"]),
                "artifact-native": percent(row["rate_b"]),
                "increase [95% CI]": (
                    f"{points(-row['difference'])} "
                    f"[{100 * -row['high']:.1f}, {100 * -row['low']:.1f}]"
                ),
                "code": f"{100 * rates['newline']:.0f} → {100 * rates['newline_R']:.0f}",
            }
        )
    columns = ["key", "model", "casual", "artifact-native", "increase [95% CI]", "code"]
    data = pd.DataFrame(rows, columns=columns)
    return Table(
        "table5",
        "Absorption (%) with casual and artifact-native comments; increases in percentage points. "
        "The code column pools the two code sources.",
        data.drop(columns="model"),
        data.drop(columns="key"),
    )


def source_table(analysis: Analysis, names: dict[str, str]) -> Table:
    """Table 6: source rates with newline and blank pooled, and detector-tier counts.

    The paper prints one row of tier counts "over all conditions"; for two of its four models that
    row covers only the four casual ones, so both rows are given.
    """
    rates = analysis.source_rates.set_index(["model", "source"])["rate"]
    models = [m for m in TABLE6_MODELS if m in rates]
    rows = [
        {"source": source} | {m: f"{100 * rates[m, source]:.0f}" for m in models}
        for source in TABLE6_SOURCES
    ]
    for label, conditions in (("casual tiers", CASUAL), ("all tiers", TREATED)):
        covered = analysis.tiers[analysis.tiers["condition"].isin(conditions)]
        fired = covered.groupby("model")[list(TIERS)].sum()
        rows.append({"source": label} | {m: "/".join(str(x) for x in fired.loc[m]) for m in models})
    data = pd.DataFrame(rows)
    display = data.rename(columns=names)
    fired_as = "/".join(TIER_NAMES.values())
    display["source"] = [
        *(SOURCE_NAMES[s] for s in TABLE6_SOURCES),
        f"{fired_as}, casual conditions",
        f"{fired_as}, all conditions",
    ]
    return Table(
        "table6",
        "Source-level absorption (%) with the casual comment, newline and blank pooled; the last "
        "rows count absorbed labels by the tier that fired, over the four casual and over all five "
        "conditions.",
        data,
        display,
    )


def configuration_table(panel: pd.DataFrame, pyproject: Path, settings: dict[str, str]) -> Table:
    """Table 7: what was run and what computes it, from the panel file and the pins.

    Args:
        panel: The panel file (name, lab, group, route, precision, ...).
        pyproject: The project file whose pins are the software configuration.
        settings: Further rows, component to configuration.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    pins = dict(pin.split("==") for pin in project["dependencies"])
    nli = dict(pin.split("==") for pin in project["optional-dependencies"]["nli"])
    rows = {
        f"Models, {group}": ", ".join(
            f"{r.name_} ({r.lab})"
            for r in members.rename(columns={"name": "name_"}).itertuples(index=False)
        )
        for group, members in panel.groupby("group", sort=False)
    }
    rows |= {
        f"Route: {route}": ", ".join(members["name"])
        for route, members in panel.groupby("route", sort=False)
    }
    rows |= settings
    rows["Semantic tier"] = ", ".join(f"{name} {version}" for name, version in nli.items())
    statistics = ("numpy", "scipy", "statsmodels", "pandas", "matplotlib", "typst")
    rows["Statistics and report"] = ", ".join(f"{name} {pins[name]}" for name in statistics)
    data = pd.DataFrame({"component": list(rows), "configuration": list(rows.values())})
    return Table("table7", "Configuration of the panel and of this repository.", data, data)


def method_rows(settings: AnalysisParams) -> dict[str, str]:
    """The rows of Table 7 that say how labels and statistics are made."""
    return {
        "Scoring": f"first tier that fires of {', '.join(TIER_NAMES.values())}, each against the "
        "clean output",
        "Intervals": "Wilson (rates), Newcombe square-and-add (paired differences), "
        f"cluster bootstrap with {settings.bootstrap_draws:,} draws, seed "
        f"{settings.bootstrap_seed} (levers)",
        "Tests": "exact McNemar, Holm over the models of each contrast",
    }


def _conditions(frame: pd.DataFrame) -> list[str]:
    return list(map(contrast_name, frame["condition_a"], frame["condition_b"]))


def _rates(frame: pd.DataFrame) -> list[str]:
    pairs = zip(frame["rate_a"], frame["rate_b"], strict=True)
    return [f"{percent(a)}/{percent(b)}" for a, b in pairs]


def _only(frame: pd.DataFrame) -> list[str]:
    return [f"{a}/{b}" for a, b in zip(frame["a_only"], frame["b_only"], strict=True)]
