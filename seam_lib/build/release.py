"""The paper's benchmark, as far as it can be known without its texts: the digests of its messages.

A case id ends in the first 12 hex digits of its message's SHA-256, so two messages are compared
without either text.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from seam_lib.core.files import csv_rows
from seam_lib.core.rows import SOURCES, TREATED, Case, source_of

#: The release: its repository, the commit that everything here was read from, its three files of
#: cases by licence partition, and its folder of labels.
REPOSITORY = "aimsresearchlab/seam"
COMMIT = "6ded75fa0619a0a2c59c044969f53fda7e6a1370"
BENCHMARK = {
    "permissive": "benchmark/seam_v4_permissive.jsonl",
    "cc-by-sa": "benchmark/restricted/seam_v4_cc-by-sa.jsonl",
    "cc-by-nc-sa": "benchmark/restricted/seam_v4_cc-by-nc-sa.jsonl",
}
LABELS = "results/labels"

#: What the release says about its clusters: their digests, and the comments that they have.
DIGESTS = "data/published/clusters.csv"
ASSIGNMENTS = "data/published/assignments.csv"
#: How many of them each source has.
PER_SOURCE = 50

#: So many missing clusters of a source are listed one by one.
FEW = 10

#: Cluster id -> condition -> digest.
Digests = dict[str, dict[str, str]]


def digest(message: str) -> str:
    """What a case id ends in: the first 12 hex digits of the message's SHA-256."""
    return hashlib.sha256(message.encode()).hexdigest()[:12]


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


def in_release_order(clusters: Iterable[str]) -> list[str]:
    """Cluster ids as the release orders them: by source, then as strings."""
    return sorted(clusters, key=lambda name: (SOURCES.index(source_of(name)), name))


class Comparison(NamedTuple):
    """How a benchmark agrees with the release.

    Attributes:
        cells: The (cluster, condition) that have the published message.
        same: How many those are by (source, condition).
        published: Published messages by (source, condition).
        missing: Published clusters that the benchmark lacks.
        changed: For each cluster with another message, the conditions in which it differs or
            which it lacks; a condition that the whole benchmark lacks is not listed for each.
    """

    cells: set[tuple[str, str]]
    same: Counter[tuple[str, str]]
    published: Counter[tuple[str, str]]
    missing: list[str]
    changed: dict[str, list[str]]


def compare_digests(cases: Iterable[Case], digests: Digests) -> Comparison:
    """Compare the messages of a benchmark, whatever its ids say, with the release's digests."""
    ours: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for case in cases:
        ours[case.composition_event_id][case.condition] = digest(case.message)
    known = {condition for members in ours.values() for condition in members}
    result = Comparison(set(), Counter(), Counter(), [], {})
    for cluster in in_release_order(digests):
        source = source_of(cluster)
        result.published.update((source, name) for name in digests[cluster])
        if cluster not in ours:
            result.missing.append(cluster)
            continue
        same = [name for name, want in digests[cluster].items() if ours[cluster].get(name) == want]
        result.cells.update((cluster, name) for name in same)
        result.same.update((source, name) for name in same)
        if different := [name for name in digests[cluster] if name in known and name not in same]:
            result.changed[cluster] = different
    return result


def lacking(result: Comparison) -> str:
    """Which clusters of the release a benchmark lacks, in words; "" if none, or if it is another.

    A benchmark is another one, to which nothing of the release is missing, if none of its messages
    is the release's; ids alone may coincide. Of a source that lacks many, only the number is given.
    """
    if not result.same:
        return ""
    words = []
    for source in SOURCES:
        absent = [cluster for cluster in result.missing if source_of(cluster) == source]
        whole = max(result.published[source, name] for name in TREATED)
        if len(absent) == whole > 0:
            words.append(f"all of {source}")
        elif len(absent) > FEW:
            words.append(f"{len(absent)} of the {whole} of {source}")
        else:
            words += absent
    return ", ".join(words)
