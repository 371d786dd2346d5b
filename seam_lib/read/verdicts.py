"""Readers' verdicts on the packets, read back: what do they say about the scorer?

Reading positives shows how often the scorer is wrong; reading negatives blindly bounds what it
misses, which the paper leaves open (Section 6).
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from seam_lib.analysis.agreement import Crossed, crossed
from seam_lib.analysis.stats import wilson
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_text, write_text
from seam_lib.core.rows import Label

ANSWERS = {"yes": True, "no": False, "unsure": None}


class Opinion(NamedTuple):
    """A reader's answer: is the comment's content in the returned text? None is "unsure"."""

    absorbed: bool | None
    note: str


class KeyRow(msgspec.Struct, frozen=True):
    """What an item's name stands for."""

    item: str
    model: str
    case_id: str
    cluster_id: str
    condition: str
    absorbed: str
    tier: str


class Share(NamedTuple):
    """k of n, with Wilson's 95% interval."""

    k: int
    n: int
    low: float
    high: float


class Audit(NamedTuple):
    """What reading says about the scorer.

    Attributes:
        confirmed: Positives that readers confirm, by tier.
        missed: Sampled negatives in which readers see the comment.
        detected: The share of all absorptions that the scorer detects, at the estimate of `missed`
            and at its bounds, taking its positives as they are; None without negatives read.
        agreement: Tables of counts by who is compared: the scorer with the readers on the blind
            packet, and the first reader with the second on the items that two answered.
        unsure: Items without a plain yes or no from every reader.
        overturned: Positives that readers reject, with their note.
    """

    confirmed: dict[str, Share]
    missed: Share
    detected: tuple[float, float, float] | None
    agreement: dict[str, Crossed]
    unsure: int
    overturned: list[tuple[KeyRow, str]]


def read_verdicts(path: Path) -> dict[str, Opinion]:
    """Read a sheet of verdicts: columns item, verdict (yes, no, unsure or empty), note.

    Raises:
        SeamError: The file or a column is missing, a verdict is another word, or there is none.
    """
    verdicts: dict[str, Opinion] = {}
    for number, row in enumerate(read_csv(path), start=2):
        answer = (row.get("verdict") or "").strip().lower()
        if "item" not in row or answer not in ANSWERS | {"": None}:
            raise SeamError(
                f"{path}: row {number}: needs an item and a verdict of yes, no or unsure, "
                f"not {answer!r}."
            )
        if answer:
            verdicts[row["item"]] = Opinion(ANSWERS[answer], (row.get("note") or "").strip())
    if not verdicts:
        raise SeamError(f"{path}: holds no verdict yet. Answer some items first.")
    return verdicts


def audit(
    key: Sequence[KeyRow], readers: Sequence[dict[str, Opinion]], labels: Sequence[Label]
) -> Audit:
    """Compare readers' verdicts with the labels.

    Where several readers answered an item, it counts as they agree; otherwise it is unsure.

    Args:
        key: What the items stand for.
        readers: The verdicts of one reader or more.
        labels: The labels of which the packets are samples.

    Raises:
        SeamError: The labels were changed since the packets were written.
    """
    _check_key(key, labels)
    given = [(row, [r[row.item] for r in readers if row.item in r]) for row in key]
    answered = [(row, _agree(opinions)) for row, opinions in given if opinions]
    sure = [(row, opinion) for row, opinion in answered if opinion.absorbed is not None]
    positives = [(row, opinion) for row, opinion in sure if row.item.startswith("p")]
    blind = [(row, opinion) for row, opinion in sure if row.item.startswith("b")]
    missed = share([opinion for row, opinion in blind if row.absorbed == "no"])
    upheld = {(row.model, row.case_id) for row, opinion in sure if opinion.absorbed}
    rejected = {(row.model, row.case_id): (row, opinion.note) for row, opinion in sure}
    count = sum(label.absorbed for label in labels)
    return Audit(
        confirmed={
            tier: share([opinion for row, opinion in positives if row.tier == tier])
            for tier in sorted({row.tier for row, _ in positives})
        },
        missed=missed,
        detected=_detected(missed, count, len(labels) - count),
        agreement={
            "scorer and readers": crossed(
                [(row.absorbed == "yes", bool(opinion.absorbed)) for row, opinion in blind]
            ),
            "two readers": crossed(_first_two(opinions for _, opinions in given)),
        },
        unsure=len(answered) - len(sure),
        overturned=[
            (row, note)
            for case, (row, note) in sorted(rejected.items())
            if row.absorbed == "yes" and case not in upheld
        ],
    )


def _check_key(key: Sequence[KeyRow], labels: Sequence[Label]) -> None:
    known = {(label.model, label.case_id): label for label in labels}
    for row in key:
        label = known.get((row.model, row.case_id))
        if label is None or label.absorbed != (row.absorbed == "yes"):
            raise SeamError(
                f"{row.item}: the label of {row.case_id} has changed since the packet was written. "
                "Write the packets again, and carry the verdicts over by case."
            )


def _agree(verdicts: Sequence[Opinion]) -> Opinion:
    answers = {verdict.absorbed for verdict in verdicts}
    notes = "; ".join(verdict.note for verdict in verdicts if verdict.note)
    return Opinion(answers.pop() if len(answers) == 1 else None, notes)


def share(verdicts: Sequence[Opinion]) -> Share:
    """How many verdicts are yes."""
    k, n = sum(bool(verdict.absorbed) for verdict in verdicts), len(verdicts)
    low, high = wilson(k, n) if n else (0.0, 1.0)
    return Share(k, n, float(low), float(high))


def _detected(missed: Share, positives: int, negatives: int) -> tuple[float, float, float] | None:
    if not missed.n or not positives:
        return None
    rates = (missed.k / missed.n, missed.high, missed.low)
    estimate, low, high = (positives / (positives + rate * negatives) for rate in rates)
    return estimate, low, high


def _first_two(given: Iterable[Sequence[Opinion]]) -> list[tuple[bool, bool]]:
    """The first two opinions of each item that has two, unsure ones left out."""
    pairs = [(opinions[0].absorbed, opinions[1].absorbed) for opinions in given if opinions[1:]]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def write_adjudications(path: Path, found: Audit) -> None:
    """Write the overturned positives in the format of data/published/adjudications.csv.

    Raises:
        SeamError: The file holds overturned labels that these verdicts do not overturn.
    """
    rows = [
        {
            "model": row.model,
            "cluster_id": row.cluster_id,
            "condition": row.condition,
            "reason": note or "reader_decision",
            "applied_in": "main",
        }
        for row, note in found.overturned
    ]
    names = ["model", "cluster_id", "condition", "reason", "applied_in"]
    cases = [[row[name] for name in names[:3]] for row in rows]
    before = read_csv(path) if path.exists() else []
    lost = sum([row[name] for name in names[:3]] not in cases for row in before)
    if lost:
        raise SeamError(
            f"{path}: {lost} of its overturned labels are not overturned by these verdicts. Give "
            f"all answered sheets together (--verdicts A.csv --verdicts B.csv), or move it away."
        )
    write_text(path, to_csv(names, rows))


def read_key(path: Path) -> list[KeyRow]:
    """Read what the items of the packets stand for."""
    return [msgspec.convert(row, KeyRow) for row in read_csv(path)]


def read_csv(path: Path) -> list[dict[str, Any]]:
    """Read a sheet with a header, as a spreadsheet saves it too."""
    try:
        return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except FileNotFoundError:
        raise SeamError(f"{path}: no such file. Write the packets first, or correct it.") from None


def to_csv(names: Sequence[str], rows: Iterable[dict[str, str]]) -> str:
    """A sheet with a header; names without a value in a row stay empty."""
    return csv_text([names, *([row.get(name, "") for name in names] for row in rows)])
