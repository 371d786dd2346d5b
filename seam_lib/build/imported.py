"""The release's own benchmark files: read as our cases, held against its digests, given back.

Its rows differ from ours in form (docs/release.md). What a row looked like is kept in the case's
`extra`, so that nothing is lost on the way back: fields that a row lacks, fields that are null, the
fields that only one corpus has, and the order of all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from seam_lib.build.clusters import write_report
from seam_lib.build.composition import facts
from seam_lib.build.conditions import MITIGATION, Condition, conditions
from seam_lib.build.release import (
    BENCHMARK,
    DIGESTS,
    Digests,
    digest,
    in_release_order,
    read_digests,
)
from seam_lib.core.benchmark import write_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import numbered_rows, write_rows
from seam_lib.core.rows import (
    CONDITIONS,
    PARTITION_OF,
    PARTITIONS,
    SOURCES,
    Case,
    source_of,
)

#: The entry of `extra` that tells what the row looked like in the release's file.
RELEASED = "release_row"
#: What the report says of an imported benchmark.
ORIGIN = (
    "Imported from the files of the paper's release: every message was composed again and has "
    "the digest that the release publishes. The restricted partitions keep their terms "
    "(DATA_LICENSES.md)."
)
#: What a row of the release may lack.
OPTIONAL = ("url", "reference", "source_instruction", "afterthought_role")
#: The release's delimiters where a condition has none.
NO_TAGS = {"opening": None, "closing": None}


class Placed(NamedTuple):
    """A case, and where its row stands, as file:line."""

    place: str
    case: Case


def read_release(files: Iterable[Path]) -> list[Placed]:
    """Read benchmark files of the release, whatever the order of files and rows, in our order.

    Raises:
        SeamError: A line is no row of the release's benchmark, or a case stands there twice.
    """
    found: dict[tuple[str, str], Placed] = {}
    for file in files:
        for number, row in numbered_rows(file, dict):
            place = f"{file}:{number}"
            case = read_case(place, row)
            key = case.composition_event_id, case.condition
            if key in found:
                raise SeamError(
                    f"{place}: {' '.join(key)} stands in {found[key].place} already. Give each "
                    "file once, and each in one version."
                )
            found[key] = Placed(place, case)
    clusters = in_release_order({cluster for cluster, _ in found})
    return [found[c, name] for c in clusters for name in CONDITIONS if (c, name) in found]


def read_case(place: str, row: dict[str, Any]) -> Case:
    """The case of one row of the release.

    Raises:
        SeamError: The row is none; the message begins with its place.
    """
    try:
        case = to_case(row)
        problem = stranger(case)
    except msgspec.ValidationError as error:
        problem = f"{error}"
    if problem:
        raise SeamError(
            f"{place}: no case of the release: {problem}. Its benchmark files are "
            f"{', '.join(BENCHMARK.values())}; get this one again if it is one of them."
        )
    return case


def stranger(case: Case) -> str | None:
    """Why a case can be none of the release's, whatever its message; None if it can."""
    for value, known in (
        (case.source, SOURCES),
        (case.condition, CONDITIONS),
        (case.release_partition, PARTITIONS),
    ):
        if value not in known:
            return f"{value!r} is none of {', '.join(known)}"
    if source_of(case.composition_event_id) != case.source:
        return f"the cluster {case.composition_event_id!r} is not of {case.source}"
    return None


def to_case(row: dict[str, Any]) -> Case:
    """A row of the release as our case.

    What is absent or null and follows from the source is filled in; fields that a case does not
    have go into `extra`.

    Raises:
        msgspec.ValidationError: A field is missing or of another type.
    """
    ours = set(Case.__struct_fields__) - {"extra"}
    fields = dict.fromkeys(OPTIONAL) | {name: row[name] for name in row if name in ours}
    fields["release_partition"] = row.get("release_partition") or PARTITION_OF.get(
        str(row.get("source")), ""
    )
    if fields.get("boundary_delimiters") == NO_TAGS:
        fields["boundary_delimiters"] = None
    case = msgspec.convert(fields, Case)
    case.extra = {name: row[name] for name in sorted(row.keys() - ours)}
    as_ours = msgspec.to_builtins(case)
    other = {name: row[name] for name in row if name in ours and not same(row[name], as_ours[name])}
    case.extra[RELEASED] = {"fields": list(row), "values": other}
    return case


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same text in a file, the order of keys included."""
    return msgspec.json.encode(a) == msgspec.json.encode(b)


def to_row(case: Case) -> dict[str, Any]:
    """The row of the release that an imported case was read from, field by field.

    Raises:
        SeamError: The case was not imported.
    """
    if RELEASED not in case.extra:
        raise SeamError(
            f"{case.id}: was not read from the release's files, so it has no row there. Export a "
            "benchmark that `seam import-benchmark` wrote."
        )
    released = case.extra[RELEASED]
    values = {**msgspec.to_builtins(case), **case.extra, **released["values"]}
    return {name: values[name] for name in released["fields"]}


def import_files(root: Path, files: Iterable[Path], name: str) -> tuple[list[Case], list[str]]:
    """Import files of the release as data/benchmark/NAME; nothing is written if anything differs.

    Returns:
        The cases, and the differences.

    Raises:
        SeamError: A line is no row of the release, or such a benchmark exists.
    """
    folder = root / "data" / "benchmark" / name
    if folder.exists():
        raise SeamError(f"{folder}: exists. Choose another name, or remove it first.")
    rows = read_release(files)
    cases, found = [row.case for row in rows], list(problems(rows, read_digests(root / DIGESTS)))
    if not found:
        write_benchmark(folder, cases)
        write_report(folder, ORIGIN, facts(cases))
    return cases, found


def write_release(folder: Path, cases: Iterable[Case]) -> list[Path]:
    """Write imported cases as the release has them: three files, newline_R rows at their ends.

    Returns:
        The files, each named as in the release.
    """
    files: dict[str, list[Case]] = {}
    for case in cases:
        files.setdefault(PARTITIONS[case.release_partition], []).append(case)
    paths = []
    for partition, members in files.items():
        members.sort(key=lambda case: case.condition == CONDITIONS[-1])
        paths.append(folder / BENCHMARK[partition])
        write_rows(paths[-1], [to_row(case) for case in members])
    return paths


def problems(rows: Sequence[Placed], digests: Digests) -> Iterator[str]:
    """Hold a copy of the release's benchmark against what the release says of it.

    Every message is composed from its parts again, and its digest compared with its id and
    with the published one. A source may be absent as a whole: each file has terms of its own.

    Args:
        rows: Rows in the order of `read_release`.
        digests: The published digests.

    Yields:
        One sentence for each row that is not the release's, with its place, cluster and condition,
        and one for each cluster that is not whole.
    """
    known = {condition.name: condition for condition in conditions(CONDITIONS)}
    files: dict[str, str] = {}
    clusters: set[str] = set()
    for cluster, group in groupby(rows, key=lambda row: row.case.composition_event_id):
        members = list(group)
        clusters.add(cluster)
        if cluster not in digests:
            place, count = members[0].place, len(digests)
            yield f"{place}: {cluster} is not one of the release's {count} clusters"
            continue
        files[source_of(cluster)] = members[0].place.rpartition(":")[0]
        found = [row.case.condition for row in members]
        if lacking := [name for name in CONDITIONS if name not in found]:
            yield f"{members[0].place}: {cluster} has no row under {', '.join(lacking)}"
        else:
            head = members[0].case.task_instruction
            for place, case in members:
                if flaws := list(departures(case, head, known[case.condition], digests[cluster])):
                    yield f"{place}: {cluster} {case.condition}: {'; '.join(flaws)}"
    for source, file in files.items():
        absent = [c for c in digests if source_of(c) == source and c not in clusters]
        if absent:
            yield f"{file}: lacks the clusters {', '.join(absent)}"


def departures(
    case: Case, head: str, condition: Condition, digests: dict[str, str]
) -> Iterator[str]:
    """How a case departs from the release's: its digest, its message's parts, its offsets."""
    wanted = digests.get(case.condition, case.id.rpartition(":")[2])
    if (ours := digest(case.message)) != wanted:
        yield f"the message's digest is {ours}, the release's {wanted}"
    if not case.id.endswith(wanted):
        yield f"the id is {case.id}"
    again = condition(head, case.artifact, case.afterthought or "", case.composition_event_id)
    if again.message != case.message:
        at = next(
            (
                i
                for i, (a, b) in enumerate(zip(again.message, case.message, strict=False))
                if a != b
            ),
            min(len(again.message), len(case.message)),
        )
        yield f"put together from its parts, the message differs from character {at} on"
    if again.delimiters != case.boundary_delimiters:
        yield "the tags are others"
    if case.task_instruction not in (head, f"{head} {MITIGATION}"):
        yield "the task instruction is another than in clean"
    for segment in case.segments:
        if case.message[segment.start : segment.end] != segment.text:
            yield f"the segment {segment.role!r} is not at {segment.start} to {segment.end}"
    if [s.text for s in case.segments if s.origin == "simulated_paste"] != [case.artifact]:
        yield "the pasted segment is not the artifact"
