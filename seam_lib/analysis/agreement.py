"""How far two people agree: readers of a packet, annotators of an audit, a scorer and its readers.

Everything here works on 2 x 2 tables of counts: rows the first one's yes and no, columns the
second one's. A statistic is in `stats`; this module counts, and gives each its interval.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.core.cells import NONE
from seam_lib.core.files import write_text

Crossed = npt.NDArray[np.int64]

#: The columns of a table on disk, row by row.
CELLS = ("both_yes", "only_a", "only_b", "both_no")
STATISTICS = {"raw": stats.agreement, "kappa": stats.cohen_kappa, "AC1": stats.gwet_ac1}


def crossed(pairs: Sequence[tuple[bool, bool]]) -> Crossed:
    """Count pairs of answers to one question.

    Args:
        pairs: The first one's answer and the second one's, about the same thing.

    Returns:
        Counts, shape (2, 2).
    """
    return np.array([[pairs.count((a, b)) for b in (True, False)] for a in (True, False)])


def read_tables(path: Path) -> dict[str, Crossed]:
    """Read tables of counts, one a question, such as data/published/agreement.csv."""
    rows = pd.read_csv(path, index_col="question")
    return {
        question: rows.loc[question, list(CELLS)].to_numpy().reshape(2, 2)
        for question in rows.index
    }


def write_tables(path: Path, tables: Mapping[str, Crossed]) -> None:
    """Write tables in the form in which the paper's are published: counts only."""
    rows = [[question, *table.ravel()] for question, table in tables.items()]
    write_text(path, pd.DataFrame(rows, columns=["question", *CELLS]).to_csv(index=False))


def agreement(tables: Mapping[str, Crossed], draws: int, seed: int) -> pd.DataFrame:
    """Raw agreement, Cohen's kappa and Gwet's AC1 of each question.

    Args:
        tables: Counts, shape (2, 2), by question.
        draws: Bootstrap resamples of the messages.
        seed: Seeds them.

    Returns:
        A row a question and statistic: its value and its 95% percentile bootstrap interval. A
        question that concerns no message has none.
    """
    rows = []
    for question, table in tables.items():
        if not table.any():
            continue
        for name, statistic in STATISTICS.items():
            low, high = interval(table, statistic, draws, seed)
            rows.append((question, int(table.sum()), name, statistic(table), low, high))
    return pd.DataFrame(rows, columns=["question", "messages", "statistic", "value", "low", "high"])


def interval(
    table: Crossed, statistic: Callable[[npt.ArrayLike], float], draws: int, seed: int
) -> tuple[float, float]:
    """A 95% percentile bootstrap interval of an agreement statistic.

    Args:
        table: Counts, shape (2, 2).
        statistic: Such as `stats.cohen_kappa`.
        draws: Resamples of the messages.
        seed: Seeds them.

    Returns:
        The bounds. Resamples in which the statistic is undefined, since all messages fell into
        one category, are left out; where all are, so are the bounds (NaN).
    """
    n = int(table.sum())
    samples = np.random.default_rng(seed).multinomial(n, table.ravel() / n, size=draws)
    values = np.array([statistic(row.reshape(2, 2)) for row in samples])
    defined = values[~np.isnan(values)]
    low, high = np.percentile(defined, [2.5, 97.5]) if defined.size else (np.nan, np.nan)
    return float(low), float(high)


def chance_agreement(table: Crossed) -> float:
    """The agreement that Cohen's kappa expects of chance: from each one's share of yes.

    Args:
        table: Counts, shape (2, 2).
    """
    rows, columns = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
    return float(rows @ columns)


def table_at(raw: float, prevalence: float) -> npt.NDArray[np.float64]:
    """The table of two people who agree on `raw` of the messages, with equal margins.

    Args:
        raw: Share of messages with the same answer.
        prevalence: Share of yes of either of them, at least (1 - raw) / 2 from 0 and from 1.

    Returns:
        Shares, shape (2, 2).
    """
    apart = (1 - raw) / 2
    return np.array([[prevalence - apart, apart], [apart, 1 - prevalence - apart]])


def printed(found: pd.DataFrame) -> pd.DataFrame:
    """A frame of `agreement` as people read it: two decimals, a dash where there is no value."""
    return found.map(lambda cell: _short(cell) if isinstance(cell, float) else cell)


def _short(value: float) -> str:
    return NONE if np.isnan(value) else f"{value:.2f}"
