"""The release's clusters and message digests: is a benchmark built here the published one?

A case id ends in the first 12 hex digits of its message's SHA-256, so two messages are compared
without either text.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from seam_lib.files import csv_rows
from seam_lib.schema import SOURCES, TREATED, Case, source_of

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


def compare(cases: Iterable[Case], digests: Digests) -> Comparison:
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
