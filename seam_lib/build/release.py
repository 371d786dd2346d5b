"""The paper's benchmark: reading a copy of it, composing its messages anew, comparing digests.

A case id ends in the first 12 hex digits of its message's SHA-256, so two messages are compared
without either text.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from seam_lib.build.conditions import Condition, conditions
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_rows, read_rows
from seam_lib.core.rows import CONDITIONS, PARTITIONS, SOURCES, TREATED, Case, source_of

#: Cluster id -> condition -> digest.
Digests = dict[str, dict[str, str]]


def read_digests(path: Path) -> Digests:
    """Read the digests of the release's messages, data/published/clusters.csv.

    Raises:
        SeamError: The file is missing or has other columns.
    """
    columns = ("cluster_id", "source", *(f"digest_{name}" for name in TREATED))
    return {
        row["cluster_id"]: {name: row[f"digest_{name}"] for name in TREATED}
        for _, row in csv_rows(path, columns)
    }


def question_ids(digests: Digests) -> list[int]:
    """The Stack Exchange questions among the clusters, in ascending order."""
    pairs = (cluster.partition(":") for cluster in digests)
    return sorted(int(item) for source, _, item in pairs if source == "stackexchange")


class Comparison(NamedTuple):
    """How a benchmark agrees with the release.

    Attributes:
        same: Identical messages by (source, condition).
        published: Published messages by (source, condition).
        missing: Published clusters that the benchmark lacks.
        changed: For each cluster with another message, the conditions in which it differs.
    """

    same: Counter[tuple[str, str]]
    published: Counter[tuple[str, str]]
    missing: list[str]
    changed: dict[str, list[str]]


def compare_digests(cases: Iterable[Case], digests: Digests) -> Comparison:
    """Compare the message digests of a benchmark with the release's."""
    ours: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for case in cases:
        ours[case.composition_event_id][case.condition] = case.id.rpartition(":")[2]
    result = Comparison(Counter(), Counter(), [], {})
    for cluster in sorted(digests, key=lambda name: (SOURCES.index(source_of(name)), name)):
        source = source_of(cluster)
        result.published.update((source, name) for name in digests[cluster])
        if cluster not in ours:
            result.missing.append(cluster)
            continue
        same = [
            name for name, digest in digests[cluster].items() if ours[cluster].get(name) == digest
        ]
        result.same.update((source, name) for name in same)
        if different := [name for name in digests[cluster] if name not in same]:
            result.changed[cluster] = different
    return result


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
            yield from _case_differences(case, members[0].task_instruction, known[case.condition])


def _case_differences(case: Case, head: str, condition: Condition) -> Iterator[str]:
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
