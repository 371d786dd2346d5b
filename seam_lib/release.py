"""Reading a local copy of the release's benchmark, and composing each of its messages anew."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from seam_lib.compose import Condition, conditions
from seam_lib.errors import SeamError
from seam_lib.files import read_rows
from seam_lib.schema import CONDITIONS, PARTITIONS, SOURCES, Case


def read_release(files: Iterable[Path]) -> list[Case]:
    """Read benchmark files, whatever their order, as cases in ours.

    Fields that a case does not know are kept in its `extra`.

    Raises:
        SeamError: A line is not a case, or a source, condition or partition is none of the paper's.
    """
    cases = []
    for file in files:
        for case, row in zip(read_rows(file, Case), read_rows(file, dict), strict=True):
            unknown = {key: row[key] for key in row.keys() - set(Case.__struct_fields__)}
            case.extra = case.extra | dict(sorted(unknown.items()))
            for value, known in (
                (case.source, SOURCES),
                (case.condition, CONDITIONS),
                (case.release_partition, PARTITIONS),
            ):
                if value not in known:
                    raise SeamError(
                        f"{file}: {case.id}: {value!r} is none of {', '.join(known)}. Import files "
                        "of the paper's benchmark only."
                    )
            cases.append(case)
    return sorted(cases, key=place)


def place(case: Case) -> tuple[int, str, int]:
    """Where a case stands: by source, cluster and condition."""
    condition = CONDITIONS.index(case.condition)
    return SOURCES.index(case.source), case.composition_event_id, condition


def differences(cases: Sequence[Case]) -> Iterator[str]:
    """Put every message together from its parts and compare.

    The task head is taken from the cluster's clean case.

    Args:
        cases: Cases in the order of `read_release`.

    Yields:
        One line for each difference: a condition that is missing, a message that comes out
        otherwise, an id that is not the message's digest, a segment that is not where it says.
    """
    known = {condition.name: condition for condition in conditions(CONDITIONS)}
    for cluster, group in groupby(cases, key=lambda case: case.composition_event_id):
        members = list(group)
        found = [case.condition for case in members]
        if found != list(CONDITIONS):
            yield f"{cluster}: has the conditions {', '.join(found)}"
        for case in members:
            yield from compare(case, members[0].task_instruction, known[case.condition])


def compare(case: Case, head: str, condition: Condition) -> Iterator[str]:
    """The differences between a case and its recomposition."""
    comment = case.afterthought or ""
    ours = condition(head, case.artifact, comment, case.composition_event_id)
    if ours.message != case.message:
        at = next(
            (i for i, (a, b) in enumerate(zip(ours.message, case.message, strict=False)) if a != b),
            min(len(ours.message), len(case.message)),
        )
        yield f"{case.id}: the message differs from character {at} on"
    if not case.id.endswith(hashlib.sha256(case.message.encode()).hexdigest()[:12]):
        yield f"{case.id}: the id does not end in the message's digest"
    if ours.delimiters != case.boundary_delimiters:
        yield f"{case.id}: the tags differ"
    for segment in case.segments:
        if case.message[segment.start : segment.end] != segment.text:
            yield f"{case.id}: the segment {segment.role!r} is not where it says"
