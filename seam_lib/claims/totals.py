"""Arithmetic on numbers that the paper prints, for claims that no published case can decide."""

from math import prod

import pandas as pd

from seam_lib.analysis import stats
from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed


def total(data: Published, of: dict[str, float | list[float]]) -> Recomputed:
    """A sum of printed numbers; a list stands for its product, a negative number subtracts."""
    terms = {name: prod(x) if isinstance(x, list) else x for name, x in of.items()}
    how = " + ".join(f"{value:g} {name}" for name, value in terms.items())
    return Recomputed({"total": sum(terms.values())}, how.replace("+ -", "- "), _rows(terms))


def percent(data: Published, of: dict[str, float | list[float]], whole: float) -> Recomputed:
    """A sum, as in `total`, as a percentage of a printed number."""
    part = total(data, of)
    value = sum(part.rows["printed"])
    return Recomputed({"percent": 100 * value / whole}, f"({part.how}) of {whole:g}", part.rows)


def quotient(data: Published, part: float, whole: float) -> Recomputed:
    """One printed number divided by another."""
    of = {"part": part, "whole": whole}
    return Recomputed({"quotient": part / whole}, f"{part:g} / {whole:g}", _rows(of))


def mcnemar(data: Published, both: int, only_a: int, only_b: int, neither: int) -> Recomputed:
    """The exact McNemar p of printed counts."""
    table = stats.Paired(both, only_a, only_b, neither)
    how = f"only a {only_a}, only b {only_b}, of {table.n} pairs"
    return Recomputed({"p": stats.mcnemar_exact(table)}, how, pd.DataFrame([table._asdict()]))


def _rows(of: dict[str, float]) -> pd.DataFrame:
    return pd.DataFrame({"number": list(of), "printed": list(of.values())})
