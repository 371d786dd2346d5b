"""The result of a claim, and the one rule for comparing it with what the paper prints.

A claim prints one or more cells, and its recompute function returns one value for each. A value is
compared in the form in which it is printed:

- a number is rounded to the printed number's decimals and written with its sign, thousands commas,
  exponent and leading zero; the two strings must then be the same (exact ties round to even);
- `<x` needs a value below x; `about x` needs one within one unit of x's last printed place;
- names, joined by commas, must be the same set; any other text must be identical.
"""

import re
from dataclasses import dataclass, field

import pandas as pd

from seam_lib.core.errors import SeamError

Value = float | str | list[str]
#: A printed number: optional bound and sign, digits with commas, decimals, power of ten.
NUMBER = re.compile(
    r"(?P<bound><|about )?(?P<sign>[+-])?"
    r"(?P<whole>[\d,]*)(?:\.(?P<decimals>\d+))?(?P<power>e-?\d+)?"
)


@dataclass(frozen=True)
class Recomputed:
    """What a recompute function found.

    Attributes:
        values: The values, each under a short label, in the order of the printed cells.
        how: The calculation in a sentence, with its numbers.
        rows: The rows of data that it rests on.
        cases: The ids of the clusters that it rests on, grouped by what they have in common.
    """

    values: dict[str, Value]
    how: str
    rows: pd.DataFrame
    cases: dict[str, list[str]] = field(default_factory=dict)


def agrees(printed: str, value: Value) -> bool:
    """Whether a value is the printed one, by the rule above."""
    if isinstance(value, list):
        return set(printed.split(", ")) == set(value)
    if isinstance(value, str):
        return printed == value
    bound = _parts(printed)["bound"]
    if bound == "<":
        return value < printed_number(printed)
    if bound:
        return abs(value - printed_number(printed)) <= 0.1 ** _decimals(printed)
    return as_printed(printed, value) == printed


def as_printed(printed: str, value: Value) -> str:
    """A value in the form of a printed cell; with one more decimal if the cell says `about`."""
    if not isinstance(value, float | int):
        return ", ".join(value) if isinstance(value, list) else value
    parts = _parts(printed)
    decimals = _decimals(printed) + (parts["bound"] == "about ")
    if parts["power"]:
        mantissa, power = f"{value:.{decimals}e}".split("e")
        return f"{mantissa}e{int(power)}"
    sign = "+" if parts["sign"] == "+" else ""
    comma = "," if "," in parts["whole"] else ""
    text = f"{value:{sign}z{comma}.{decimals}f}"
    return text if parts["whole"] else text.replace("0.", ".", 1)


def printed_number(printed: str) -> float:
    """The number that a printed cell states, without its bound."""
    return float(printed.removeprefix("<").removeprefix("about ").replace(",", ""))


def is_number(printed: str) -> bool:
    """Whether a printed cell is a number rather than a name or other text."""
    return any(c.isdigit() for c in printed) and NUMBER.fullmatch(printed) is not None


def _decimals(printed: str) -> int:
    return len(_parts(printed)["decimals"] or "")


def _parts(printed: str) -> dict[str, str]:
    match = NUMBER.fullmatch(printed)
    if not match or not is_number(printed):
        raise SeamError(
            f"paper/claims.yaml: {printed!r} is printed where a number is computed; print a number "
            "such as 7.7, +20.0, 1,800, .064, 8.3e-25, <1.6e-8 or about 93."
        )
    return match.groupdict()
