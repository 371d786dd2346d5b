"""The annotators' answers: crossed for their agreement, and what they say about the judged pool.

Source: Appendix A. The statistics of agreement are in `analysis.agreement`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from seam_lib.analysis.agreement import Crossed, crossed
from seam_lib.analysis.stats import wilson
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_rows

#: The columns of an annotator's file, and those that the paper's own file lacks.
COLUMNS = (
    *("audit_id", "hash", "kind", "corpus", "msglen", "truncated"),
    *("annotator", "genuine_paste", "artifact_first"),
)
YOUNGER = ("note",)


class Annotation(msgspec.Struct, frozen=True):
    """A row of an annotator's file: two answers about a message that is not in it."""

    audit_id: str
    hash: str
    annotator: str
    genuine_paste: bool
    artifact_first: bool | None = None
    note: str = ""


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
        Its rows, one per message.

    Raises:
        SeamError: A row is incomplete, contradicts itself or comes twice, or there is none; names
            file and line.
    """
    answers: dict[str, Annotation] = {}
    for place, row in csv_rows(path, COLUMNS, YOUNGER):
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


def check_sample(name: str, sample: Mapping[str, str], answers: Sequence[Annotation]) -> None:
    """See that an annotator's file is about an audit's sample, and about all of it.

    Args:
        name: The audit's name.
        sample: The messages' hashes by audit id.
        answers: The file's rows.

    Raises:
        SeamError: It is about other messages, or leaves some out: skipped ones are no random loss.
    """
    for answer in answers:
        if sample.get(answer.audit_id) != answer.hash:
            raise SeamError(
                f"{answer.audit_id} of annotator {answer.annotator} is not in the sample of "
                f"{name!r}. Set wild.name in params.yaml to the audit that was annotated."
            )
    if left := sample.keys() - {answer.audit_id for answer in answers}:
        raise SeamError(
            f"annotator {answers[0].annotator} has not answered {len(left)} of the {len(sample)} "
            f"messages, {min(left)} first. Finish them on the page, and export once more."
        )


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
        (bool(x.artifact_first), bool(y.artifact_first))
        for x, y in pairs
        if x.genuine_paste and y.genuine_paste
    ]
    return {"genuine": crossed(genuine), "artifact_first": crossed(first)}


def estimate(table: Crossed, pool: int) -> Estimate:
    """How many messages of the judged pool match, counting only what both annotators marked.

    Args:
        table: The table of the first question, shape (2, 2).
        pool: Judged-positive messages, of which the sample was drawn.

    Returns:
        The estimate and the lower end of its 95% Wilson interval, in messages.
    """
    consensus, sampled = int(table[0, 0]), int(table.sum())
    low, _ = wilson(consensus, sampled)
    return Estimate(consensus, sampled, pool, round(consensus / sampled * pool), round(low * pool))
