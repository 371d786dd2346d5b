"""Claims about absorption rates: by model, condition, source and tier (Sections 5.1, 5.3, Table 6).

Rates are in percent, as the paper prints them. `reading` names the labels, see `Published`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from seam_lib.claims.answer import Answer, Value
from seam_lib.claims.published import Published
from seam_lib.schema import TIERS, TREATED
from seam_lib.stats import ratio
from seam_lib.tables import CONDITION_NAMES, SOURCE_NAMES

#: How Appendix E heads a specimen, by the tier that fired.
SPECIMENS = {"lexical_witness": "verbatim", "lexical_regex": "reworded", "semantic_nli": "NLI"}


class Rate(NamedTuple):
    """One cell: which clusters absorb the comment, of how many usable pairs."""

    model: str
    condition: str
    absorbed: list[str]
    usable: int

    @property
    def percent(self) -> float:
        """The absorption rate."""
        return 100 * len(self.absorbed) / self.usable

    @property
    def label(self) -> str:
        """What the cell is of."""
        return f"{self.model}, {CONDITION_NAMES.get(self.condition, self.condition)}"


def rate(
    data: Published,
    model: str,
    condition: str,
    sources: Sequence[str] = (),
    reading: str = "main",
) -> Rate:
    """One model's rate under one condition, in some sources only if any are named."""
    labels = data.labels(reading)
    absorbed, mask = labels.outcomes(model, condition)
    if sources:
        mask = mask & np.isin(labels.sources, sources)
    ids = np.array(labels.clusters)[absorbed & mask]
    return Rate(data.name(model), condition, ids.tolist(), int(mask.sum()))


def cells(
    data: Published,
    models: str | list[str],
    conditions: Sequence[str] = TREATED,
    sources: Sequence[str] = (),
    reading: str = "main",
) -> Answer:
    """Rates cell by cell: the conditions of the first model, then of the next."""
    found = [rate(data, m, c, sources, reading) for m in data.group(models) for c in conditions]
    return _answer({r.label: r.percent for r in found}, found)


def counts(
    data: Published,
    model: str,
    conditions: Sequence[str],
    sources: Sequence[str] = (),
    reading: str = "main",
) -> Answer:
    """Absorbed and usable counts of one model, condition by condition."""
    found = [rate(data, model, c, sources, reading) for c in conditions]
    values: dict[str, Value] = {}
    for r in found:
        values |= {f"{r.label}, absorbed": len(r.absorbed), f"{r.label}, usable": r.usable}
    return _answer(values, found)


def extremes(
    data: Published,
    condition: str = "newline",
    models: str | list[str] = "all",
    sources: Sequence[str] = (),
) -> Answer:
    """The lowest and the highest rate under one condition, and whose they are."""
    found = [rate(data, m, condition, sources) for m in data.group(models)]
    low, high = min(found, key=lambda r: r.percent), max(found, key=lambda r: r.percent)
    values: dict[str, Value] = {
        "lowest": low.percent,
        "lowest model": low.model,
        "highest": high.percent,
        "highest model": high.model,
    }
    answer = _answer(values, found)
    how = (
        f"lowest {low.model} {len(low.absorbed)}/{low.usable}, "
        f"highest {high.model} {len(high.absorbed)}/{high.usable}"
    )
    return Answer(values, how, answer.rows, answer.cases)


def absorbing(data: Published, condition: str = "newline", models: str = "all") -> Answer:
    """How many models absorb the comment at least once, and how many never do."""
    found = [rate(data, m, condition) for m in data.group(models)]
    some = [r.model for r in found if r.absorbed]
    never = [r.model for r in found if not r.absorbed]
    answer = _answer({"models": len(some), "none": len(never), "never": never}, found)
    how = f"{len(some)} of {len(found)} models absorb under {condition} at least once"
    return Answer(answer.values, how, answer.rows, answer.cases)


def usable_pairs(data: Published, conditions: Sequence[str]) -> Answer:
    """The smallest and the largest number of usable pairs over models and conditions."""
    found = [rate(data, m, c) for m in data.group("all") for c in conditions]
    low, high = min(found, key=lambda r: r.usable), max(found, key=lambda r: r.usable)
    values: dict[str, Value] = {"fewest": low.usable, "most": high.usable}
    how = f"fewest in {low.label}: {low.usable}; most {high.usable}"
    return Answer(values, how, _answer(values, found).rows)


def pooled(data: Published, source: str, models: list[str]) -> Answer:
    """One row of Table 6: a source's rate with newline and blank pooled."""
    found = _pooled(data, [source], models)
    values: dict[str, Value] = dict(zip(found["model"], found["percent"], strict=True))
    how = ", ".join(f"{r.absorbed}/{r.observations}" for r in found.itertuples())
    return Answer(values, how, found)


def pooled_range(data: Published, sources: list[str], models: list[str]) -> Answer:
    """The lowest and the highest pooled rate over some sources and models."""
    found = _pooled(data, sources, models)
    low, high = found["percent"].min(), found["percent"].max()
    how = f"{len(found)} source-model cells, each newline + blank"
    return Answer({"lowest": float(low), "highest": float(high)}, how, found)


def pooled_size(data: Published, models: list[str]) -> Answer:
    """How many observations a cell of Table 6 pools: most cells, and the exception."""
    found = _pooled(data, list(SOURCE_NAMES), models)
    usual = int(found["observations"].mode()[0])
    others = found[found["observations"] != usual]
    values: dict[str, Value] = {
        "observations": usual,
        "times an example counts": usual
        / int(data.table("clusters").groupby("source").size().max()),
        "exceptions": [f"{r.model} {r.source}" for r in others.itertuples()],
        "observations there": int(others["observations"].min()),
    }
    how = f"{len(found) - len(others)} of {len(found)} cells pool {usual} observations"
    return Answer(values, how, found)


def tiers(
    data: Published, models: list[str], conditions: Sequence[str] = TREATED, reading: str = "main"
) -> Answer:
    """Absorbed labels by the tier that fired first, model by model: witness, regex, NLI."""
    frame = data.labels(reading).frame
    kept = frame[frame["absorbed"] & frame["condition"].isin(conditions)]
    values: dict[str, Value] = {
        f"{data.name(m)} {t.split('_')[1]}": int(((kept["model"] == m) & (kept["tier"] == t)).sum())
        for m in models
        for t in TIERS
    }
    rows = pd.crosstab(kept["model"], [kept["condition"], kept["tier"]]).loc[models]
    rows.columns = [f"{condition} {tier}" for condition, tier in rows.columns]
    return Answer(values, f"counted over {', '.join(conditions)}", rows.T.reset_index(names=""))


def tier_names(data: Published) -> Answer:
    """How many tiers there are, and how many of them are lexical."""
    fired = data.labels().frame.query("absorbed").groupby("tier").size()
    lexical = [t for t in fired.index if t.startswith("lexical")]
    values: dict[str, Value] = {"tiers": len(fired), "lexical": len(lexical)}
    return Answer(values, f"tiers that fire: {', '.join(fired.index)}", fired.reset_index(name="n"))


def positives(data: Published, model: str, reading: str = "main") -> Answer:
    """All absorbed labels of a model over the five conditions."""
    found = [rate(data, model, c, reading=reading) for c in TREATED]
    total = sum(len(r.absorbed) for r in found)
    answer = _answer({"positives": total}, found)
    how = f"{' + '.join(str(len(r.absorbed)) for r in found)}, {reading} labels"
    return Answer(answer.values, how, answer.rows, answer.cases)


def specimen(data: Published, model: str, item: str, condition: str = "newline") -> Answer:
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
    return Answer(values, f"the labels of {item} under {condition}", found)


def levers(data: Published, rates: str = "paired") -> Answer:
    """The lever column of Table 3: newline over boundary.

    Args:
        data: The published facts.
        rates: `paired` divides the counts on examples usable in both conditions, `unpaired` each
            condition's own rate, `printed` the rates as printed, with one decimal.
    """
    rows = []
    for model in data.group("all"):
        newline, boundary = (rate(data, model, c) for c in ("newline", "boundary"))
        lever = newline.percent / boundary.percent
        if rates == "printed":
            lever = round(newline.percent, 1) / round(boundary.percent, 1)
        elif rates == "paired":
            row = data.levers.set_index("model").loc[model]
            lever = float(ratio(row["newline_events"], row["boundary_events"]))
        rows.append({"model": newline.model, "lever": lever})
    frame = pd.DataFrame(rows)
    values: dict[str, Value] = dict(zip(frame["model"], frame["lever"], strict=True))
    counted = data.levers[["n", "newline_events", "boundary_events"]]
    return Answer(values, f"{rates} newline / boundary", pd.concat([frame, counted], axis=1))


def lower_of(data: Published, models: list[str], condition: str = "newline") -> Answer:
    """Which of some models has the lowest rate."""
    found = [rate(data, m, condition) for m in models]
    lowest = min(found, key=lambda r: r.percent)
    return _answer({"lowest": lowest.model}, found)


def _pooled(data: Published, sources: list[str], models: list[str]) -> pd.DataFrame:
    rows = []
    for source in sources:
        for model in models:
            found = [rate(data, model, c, [source]) for c in ("newline", "blank")]
            k, n = sum(len(r.absorbed) for r in found), sum(r.usable for r in found)
            rows.append([found[0].model, SOURCE_NAMES[source], k, n, 100 * k / n])
    return pd.DataFrame(rows, columns=["model", "source", "absorbed", "observations", "percent"])


def _answer(values: dict[str, Value], found: list[Rate]) -> Answer:
    rows = pd.DataFrame(
        [[r.model, r.condition, len(r.absorbed), r.usable, r.percent] for r in found],
        columns=["model", "condition", "absorbed", "usable", "percent"],
    )
    how = ", ".join(f"{len(r.absorbed)}/{r.usable}" for r in found)
    return Answer(values, how, rows, {r.label: r.absorbed for r in found if r.absorbed})
