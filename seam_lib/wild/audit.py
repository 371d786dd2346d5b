"""The annotators' answers: agreement, and what it says about the judged pool (Appendix A).

Everything here works on 2 x 2 tables of counts, rows annotator A (yes, no), columns annotator B.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_rows, write_text

Crossed = npt.NDArray[np.int64]

#: The published columns of a table, row by row.
CELLS = ("both_yes", "only_a", "only_b", "both_no")
#: The columns of an annotator's file.
COLUMNS = (
    *("audit_id", "hash", "kind", "corpus", "msglen", "truncated"),
    *("annotator", "genuine_paste", "artifact_first"),
)
STATISTICS = {"raw": stats.agreement, "kappa": stats.cohen_kappa, "AC1": stats.gwet_ac1}


class Annotation(msgspec.Struct, frozen=True):
    """A row of an annotator's file: two answers about a message that is not in it."""

    audit_id: str
    hash: str
    annotator: str
    genuine_paste: bool
    artifact_first: bool | None = None


class Estimate(NamedTuple):
    """Matching messages in the judged pool, counting only what both annotators marked."""

    consensus: int
    sampled: int
    pool: int
    matches: int
    lower_bound: int


def read_answers(path: Path) -> list[Annotation]:
    """Read an annotator's file, as the annotation page exports it.

    Args:
        path: A CSV file.

    Returns:
        Its rows, one a message.

    Raises:
        SeamError: A row is incomplete, contradicts itself or comes twice, or there is none; names
            file and line.
    """
    answers: dict[str, Annotation] = {}
    for place, row in csv_rows(path, COLUMNS):
        filled = {name: value for name, value in row.items() if value}
        try:
            answer = msgspec.convert(filled, Annotation, strict=False)
        except msgspec.ValidationError as error:
            raise SeamError(
                f"{place}: {error}. Open the annotation page again, answer what is left, and "
                "export once more."
            ) from None
        if answer.genuine_paste != (answer.artifact_first is not None):
            raise SeamError(
                f"{place}: {answer.audit_id}: artifact_first is to be answered after a yes to "
                "genuine_paste, and only then."
            )
        if answer.audit_id in answers:
            raise SeamError(f"{place}: {answer.audit_id} comes twice: remove one row.")
        answers[answer.audit_id] = answer
    if not answers:
        raise SeamError(f"{path}: no answers. Answer on the annotation page, and export once more.")
    return list(answers.values())


def cross(a: Sequence[Annotation], b: Sequence[Annotation]) -> dict[str, Crossed]:
    """Cross two annotators' answers.

    Args:
        a: Annotator A's rows.
        b: Annotator B's, in any order.

    Returns:
        A table for each question: `genuine` over all messages, `artifact_first` over those that
        both call genuine.

    Raises:
        SeamError: They did not annotate the same messages, or they are one person.
    """
    if both := {answer.annotator for answer in a} & {answer.annotator for answer in b}:
        raise SeamError(
            f"both files are by annotator {min(both)}: that shows no agreement. Give two people's "
            "files; if they chose the same code, change it in one."
        )
    of_b = {answer.audit_id: answer for answer in b}
    apart = {answer.audit_id: answer.hash for answer in a}.items() ^ {
        answer.audit_id: answer.hash for answer in b
    }.items()
    if apart:
        raise SeamError(
            f"the two files are not about the same messages: {min(apart)[0]} differs. Let both "
            "annotators finish the same page."
        )
    pairs = [(answer, of_b[answer.audit_id]) for answer in a]
    genuine = [(x.genuine_paste, y.genuine_paste) for x, y in pairs]
    first = [
        (x.artifact_first, y.artifact_first)
        for x, y in pairs
        if x.genuine_paste and y.genuine_paste
    ]
    return {"genuine": _count(genuine), "artifact_first": _count(first)}


def _count(pairs: Sequence[tuple[bool | None, bool | None]]) -> Crossed:
    return np.array([[pairs.count((a, b)) for b in (True, False)] for a in (True, False)])


def read_tables(path: Path) -> dict[str, Crossed]:
    """Read published tables of counts, one a question."""
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
            low, high = agreement_interval(table, statistic, draws, seed)
            rows.append((question, int(table.sum()), name, statistic(table), low, high))
    return pd.DataFrame(rows, columns=["question", "messages", "statistic", "value", "low", "high"])


def agreement_interval(
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
    """The agreement that Cohen's kappa expects of chance: from each annotator's share of yes.

    Args:
        table: Counts, shape (2, 2).
    """
    rows, columns = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
    return float(rows @ columns)


def estimate(table: Crossed, pool: int) -> Estimate:
    """How many messages of the judged pool match, counting only what both annotators marked.

    Args:
        table: The table of the first question, shape (2, 2).
        pool: Judged-positive messages, of which the sample was drawn.

    Returns:
        The estimate and the lower end of its 95% Wilson interval, in messages.
    """
    consensus, sampled = int(table[0, 0]), int(table.sum())
    low, _ = stats.wilson(consensus, sampled)
    return Estimate(consensus, sampled, pool, round(consensus / sampled * pool), round(low * pool))


def table_at(raw: float, prevalence: float) -> npt.NDArray[np.float64]:
    """The table of two annotators who agree on `raw` of the messages, with equal margins.

    Args:
        raw: Share of messages with the same answer.
        prevalence: Share of yes of either annotator, at least (1 - raw) / 2 from 0 and from 1.

    Returns:
        Shares, shape (2, 2).
    """
    apart = (1 - raw) / 2
    return np.array([[prevalence - apart, apart], [apart, 1 - prevalence - apart]])
