"""Tables and their cells: .csv for machines, .md for readers, .tex (booktabs) for papers.

A table has two bodies: `data`, plain values in full precision, and `display`, the cells as the
paper prints them. Percentages are printed with one decimal, levers as in Table 3.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seam_lib.core.files import write_text
from seam_lib.core.rows import CONDITION_NAMES, SOURCE_NAMES, TIER_NAMES

#: What readers see where there is no value; machines get an empty cell.
NONE = "–"
#: What stands for infinity in statistics.json, since JSON has no such number.
INFINITY = "inf"
#: Columns of p-values: they keep six significant digits, other numbers six decimals.
P_VALUES = ("p", "p_holm", "fisher_p")
#: Cells that readers compare from row to row: numbers, intervals, and counts "k of n".
NUMERIC = re.compile(r"[-+]?[\d.∞–\[][-+\de.,%×∞–\[\]/ ]*(of \d+| ns)?")


@dataclass(frozen=True)
class Table:
    """One table: its file name, what it shows, and its two bodies."""

    name: str
    caption: str
    data: pd.DataFrame
    display: pd.DataFrame


def write_tables(folder: Path, tables: list[Table]) -> None:
    """Write each table as NAME.csv, NAME.md and NAME.tex into `folder`."""
    for table in tables:
        write_text(
            folder / f"{table.name}.csv", table.data.to_csv(index=False, lineterminator="\n")
        )
        write_text(folder / f"{table.name}.md", f"{markdown(table.display)}\n{table.caption}\n")
        sides = "".join("r" if right else "l" for right in numeric(table.display))
        latex = table.display.to_latex(index=False, escape=True, column_format=sides)
        for mark, command in (("×", r"$\times$"), ("→", r"$\to$"), ("∞", r"$\infty$")):
            latex = latex.replace(mark, command)
        write_text(folder / f"{table.name}.tex", latex)


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame as readers see it: conditions, tiers and sources by the names of `rows`."""
    names = CONDITION_NAMES | TIER_NAMES | SOURCE_NAMES
    return frame.replace(names).rename(columns=names)


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table: numbers aligned right, bars escaped, line ends as spaces."""
    rows = frame.values.tolist()
    marks = ["---:" if right else "---" for right in numeric(frame)]
    cells = (
        (" ".join(str(cell).splitlines()).replace("|", "\\|") for cell in row)
        for row in [list(frame.columns), marks, *rows]
    )
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


class Shown(str):
    """Markdown that a notebook's cell renders; where nothing does, it reads as it is."""

    def __repr__(self) -> str:
        return self

    def _repr_markdown_(self) -> str:
        return self


def show(frame: pd.DataFrame) -> Shown:
    """A frame as a notebook's cell shows it: the table of `markdown`."""
    return Shown(markdown(named(frame)))


def numeric(frame: pd.DataFrame) -> list[bool]:
    """Which columns of a table hold nothing but numbers, and so are aligned right."""
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [len(cells) > 0 and all(NUMERIC.fullmatch(str(c)) for c in cells) for cells in columns]


def span(values: Iterable[float], words: Callable[[float], str] = "{:,}".format) -> str:
    """From the least to the most of some values, or the one value that they all have."""
    found = list(values)
    low, high = words(min(found)), words(max(found))
    return low if low == high else f"{low} to {high}"


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as plain data for JSON: numbers of fixed precision, null for no value."""
    return [
        {str(column): _plain(str(column), value) for column, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _plain(column: str, value: Any) -> Any:
    if not isinstance(value, float | np.floating):
        return int(value) if isinstance(value, np.integer) else value
    if np.isnan(value):
        return None
    if np.isinf(value):
        return INFINITY
    return float(f"{value:.6g}") if column in P_VALUES else round(float(value), 6)


def percent(x: float) -> str:
    """A fraction as a percentage with one decimal; a dash where there is none."""
    return NONE if np.isnan(x) else f"{100 * x:.1f}"


def intervals(frame: pd.DataFrame) -> list[str]:
    """The intervals of rates, as percentages in brackets."""
    pairs = zip(frame["low"], frame["high"], strict=True)
    return [f"[{percent(a)}, {percent(b)}]" for a, b in pairs]


def precise(frame: pd.DataFrame) -> dict[str, "pd.Series[str]"]:
    """The columns rate, low and high as fractions with six decimals, for machines."""
    return {c: frame[c].map("{:.6f}".format) for c in ("rate", "low", "high")}


def points(x: float) -> str:
    """A difference in percentage points, signed, with one decimal."""
    return f"{100 * x:+z.1f}"


def lever(x: float) -> str:
    """A lever as the paper prints it: one decimal below 10, none from there, infinity as such."""
    if np.isnan(x):
        return NONE
    return "∞" if np.isinf(x) else f"{x:.1f}×" if x < 9.95 else f"{x:.0f}×"


def p_value(p: float) -> str:
    """A p-value with two significant digits, without a leading zero, as in Table 4."""
    if p >= 0.995:
        return "1.0"
    return f"{p:.1e}" if p < 0.001 else f"{p:#.2g}".removeprefix("0")
