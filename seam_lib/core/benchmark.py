"""The benchmark on disk: a folder of cases, one file per licence partition."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, replacing
from seam_lib.core.rows import PARTITIONS, SOURCES, Case

T = TypeVar("T")


def write_benchmark(folder: Path, cases: Iterable[Case]) -> None:
    """Write cases to one file per licence partition: all files or, on any error, none.

    Nothing is stored twice, and each file can be shared under its own terms; `read_benchmark` puts
    them together again.
    """
    with ExitStack() as stack:
        handles = {
            name: stack.enter_context(replacing(folder / f"{name}.jsonl"))
            for name in sorted(set(PARTITIONS.values()))
        }
        for case in cases:
            handle = handles[PARTITIONS[case.release_partition]]
            handle.write(msgspec.json.encode(case) + b"\n")


def read_benchmark(path: Path) -> list[Case]:
    """Read a benchmark; this is how every later stage gets its cases.

    Args:
        path: The folder that a build wrote, or one file of cases.

    Returns:
        The cases in the order of the sources, then of the sample, then of the conditions.

    Raises:
        SeamError: There is no such benchmark, or a line of it is not a case.
    """
    order = {source: place for place, source in enumerate(SOURCES)}
    return sorted(stream_benchmark(path), key=lambda case: order.get(case.source, len(order)))


def stream_benchmark(path: Path) -> Iterator[Case]:
    """The cases of a benchmark one by one, file after file."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or not path.exists():
        others = sorted(folder.name for folder in path.parent.glob("*/"))
        raise SeamError(
            f"{path}: no cases there. Run `seam build` for the benchmark of params.yaml, or "
            f"correct the path. That folder has: {', '.join(others) or 'nothing'}."
        )
    for file in files:
        yield from read_rows(file, Case)


def deal_clusters(cases: Sequence[Case]) -> list[list[Case]]:
    """The cases of each cluster, one cluster of each source in turn, so the first few are mixed."""
    clusters: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        clusters[case.composition_event_id].append(case)
    sources: dict[str, list[list[Case]]] = defaultdict(list)
    for cluster in clusters.values():
        sources[cluster[0].source].append(cluster)
    return list(deal(sources.values()))


def deal(piles: Iterable[Iterable[T]]) -> Iterator[T]:
    """Deal from several piles, one item of each in turn, until all are empty."""
    for turn in zip_longest(*piles):
        for item in turn:
            if item is not None:
                yield item
