"""Claims about absorption rates of models under conditions (Section 5, Table 3).

Rates are in percent, as the paper prints them. `reading` names the labels, see `Published`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from seam_lib.analysis.stats import ratio
from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed, Value
from seam_lib.core.rows import TREATED, condition_name


class Rate(NamedTuple):
    """One cell: which clusters absorb the comment, of how many usable pairs.

    `changed` are those that the detector called absorbed and a person changed to not absorbed.
    """

    model: str
    condition: str
    absorbed: list[str]
    usable: int
    changed: list[str]

    @property
    def percent(self) -> float:
        """The absorption rate."""
        return 100 * len(self.absorbed) / self.usable

    @property
    def fraction(self) -> str:
        """Absorbed of usable."""
        return f"{len(self.absorbed)}/{self.usable}"

    @property
    def label(self) -> str:
        """What the cell is of."""
        return f"{self.model}, {condition_name(self.condition)}"


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
    detected, _ = data.labels("detector").outcomes(model, condition)
    if sources:
        mask = mask & np.isin(labels.sources, sources)
    ids = np.array(labels.clusters)
    changed = ids[detected & ~absorbed & mask].tolist()
    return Rate(
        data.name(model), condition, ids[absorbed & mask].tolist(), int(mask.sum()), changed
    )


def cells(
    data: Published,
    models: str | list[str],
    conditions: Sequence[str] = TREATED,
    sources: Sequence[str] = (),
    reading: str = "main",
) -> Recomputed:
    """Rates cell by cell: the conditions of the first model, then of the next."""
    found = [rate(data, m, c, sources, reading) for m in data.group(models) for c in conditions]
    return _answer({r.label: r.percent for r in found}, found)


def counts(
    data: Published,
    model: str,
    conditions: Sequence[str],
    sources: Sequence[str] = (),
    reading: str = "main",
) -> Recomputed:
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
) -> Recomputed:
    """The lowest and the highest rate under one condition, and whose they are."""
    found = [rate(data, m, condition, sources) for m in data.group(models)]
    low, high = min(found, key=lambda r: r.percent), max(found, key=lambda r: r.percent)
    values: dict[str, Value] = {
        "lowest": low.percent,
        "lowest model": low.model,
        "highest": high.percent,
        "highest model": high.model,
    }
    how = f"lowest {low.model} {low.fraction}, highest {high.model} {high.fraction}"
    return _answer(values, found, how)


def absorbing(data: Published, condition: str = "newline", models: str = "all") -> Recomputed:
    """How many models absorb a comment at least once, and how many never do."""
    found = [rate(data, m, condition) for m in data.group(models)]
    some = [r.model for r in found if r.absorbed]
    never = [r.model for r in found if not r.absorbed]
    how = f"{len(some)} of {len(found)} models absorb under {condition} at least once"
    return _answer({"models": len(some), "none": len(never), "never": never}, found, how)


def usable_pairs(data: Published, conditions: Sequence[str]) -> Recomputed:
    """The smallest and the largest number of usable pairs over models and conditions."""
    found = [rate(data, m, c) for m in data.group("all") for c in conditions]
    low, high = min(found, key=lambda r: r.usable), max(found, key=lambda r: r.usable)
    how = f"fewest in {low.label}: {low.usable}; most {high.usable}"
    return _answer({"fewest": low.usable, "most": high.usable}, found, how)


def positives(data: Published, model: str, reading: str = "main") -> Recomputed:
    """All absorbed labels of a model over the five conditions."""
    found = [rate(data, model, c, reading=reading) for c in TREATED]
    total = sum(len(r.absorbed) for r in found)
    how = f"{' + '.join(str(len(r.absorbed)) for r in found)}, {reading} labels"
    return _answer({"positives": total}, found, how)


def levers(data: Published, rates: str = "paired") -> Recomputed:
    """The lever column of Table 3: newline over boundary.

    Args:
        data: The published facts.
        rates: `paired` divides the counts on clusters usable in both conditions, `unpaired` each
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
    return Recomputed(values, f"{rates} newline / boundary", pd.concat([frame, counted], axis=1))


def lower_of(data: Published, models: list[str], condition: str = "newline") -> Recomputed:
    """Which of some models has the lowest rate."""
    found = [rate(data, m, condition) for m in models]
    lowest = min(found, key=lambda r: r.percent)
    return _answer({"lowest": lowest.model}, found)


def _answer(values: dict[str, Value], found: list[Rate], how: str = "") -> Recomputed:
    rows = pd.DataFrame(
        [[r.model, r.condition, len(r.absorbed), r.usable, r.percent] for r in found],
        columns=["model", "condition", "absorbed", "usable", "percent"],
    )
    cases = {r.label: r.absorbed for r in found if r.absorbed}
    cases |= {f"{r.label}, changed by hand": r.changed for r in found if r.changed}
    return Recomputed(values, how or ", ".join(r.fraction for r in found), rows, cases)
