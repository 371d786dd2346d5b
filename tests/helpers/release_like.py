"""Rows and files that look exactly like the release's, with our own texts in them.

The field sets, their nulls and the places of the rows follow docs/release.md, not the importer.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seam_lib.analysis.labels import LabelSet, label_set, read_labels
from seam_lib.build.conditions import MITIGATION
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import CONDITIONS, SOURCES, TREATED, Case, source_of
from tests.helpers.project import ROOT, build_project

#: Ours, each cluster's six cases together; the release's rows are made from them.
CASES = read_benchmark(ROOT / "data" / "benchmark" / "embedded")

FILES = {
    "benchmark/seam_v4_permissive.jsonl": ("canitedit", "coedit", "commitpackft", "iterater"),
    "benchmark/restricted/seam_v4_cc-by-sa.jsonl": ("stackexchange",),
    "benchmark/restricted/seam_v4_cc-by-nc-sa.jsonl": ("pararev",),
}
LICENSES = {
    "commitpackft": "MIT dataset; item repository license retained",
    "stackexchange": "CC-BY-SA; the version follows from the revision date of the post",
}
#: These sources' casual rows name neither partition nor instruction; newline_R rows have nulls.
PLAIN = ("coedit", "iterater", "stackexchange")
#: canitedit's own fields, which every newline_R row has.
OWN = ("alternate_instruction", "utility_tests", "taxonomy")


def release_row(case: Case) -> dict[str, Any]:
    """One of our cases as a row of the release."""
    native, source = case.condition == "newline_R", case.source
    head, segments = case.task_instruction, msgspec.to_builtins(case.segments)
    if case.condition == "mitigation":  # one typed segment, and the sentence belongs to the task
        head = f"{head} {MITIGATION}"
        segments[:2] = [segments[0] | {"end": segments[1]["end"], "text": head}]
    pair = case.boundary_delimiters
    row: dict[str, Any] = {
        "id": case.id,
        "composition_event_id": case.composition_event_id,
        "source": source,
        "license": LICENSES.get(source, case.license),
        "url": f"https://example.org/{case.source_item_id}",
        "genre": case.genre,
        "release_partition": None if source in PLAIN else case.release_partition,
        "source_item_id": case.source_item_id,
        "artifact": case.artifact,
        "reference": case.reference,
        "operation": "code_edit" if case.genre == "code" else "edit",
        "source_instruction": None if source in PLAIN else case.source_instruction,
        "seed": 42,
        "condition": case.condition,
        "task_instruction": head,
        "afterthought": case.afterthought,
        "afterthought_role": case.afterthought_role,
        "forbidden_proposition": case.forbidden_proposition,
        "witness_tokens": case.witness_tokens,
        "seam_provenance": "simulated_by_construction",
        "boundary_delimiters": {
            "opening": pair.opening if pair else None,
            "closing": pair.closing if pair else None,
        },
        "message": case.message,
        "segments": segments,
    }
    if source in PLAIN and not native:
        del row["release_partition"], row["source_instruction"]
    return row | own_fields(case, native)


def own_fields(case: Case, native: bool) -> dict[str, Any]:
    """The fields of single corpora, in the rows that have them."""
    fields: dict[str, Any] = {}
    if case.source == "canitedit":
        fields = {name: case.extra[name] for name in OWN}
    elif native:
        fields = dict.fromkeys(OWN)
    if case.source == "commitpackft":
        fields |= {
            "repository_license": case.license,
            "repositories": case.extra["repository"],
            "language": "Python",
        }
    if case.source == "stackexchange" and not native:
        fields |= {"canonical_url": "https://example.org/q", "author": {"display_name": "nobody"}}
    return fields


def release_rows(cases: Iterable[Case], sources: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of one of the release's files: by cluster, the newline_R rows at its end."""
    chosen = sorted(
        (case for case in cases if case.source in sources),
        key=lambda case: (
            case.condition == "newline_R",
            sources.index(case.source),
            case.composition_event_id,
            CONDITIONS.index(case.condition),
        ),
    )
    return [release_row(case) for case in chosen]


def write_files(folder: Path, change: Any = None) -> list[Path]:
    """The release's three files below a folder, some rows changed by `change(rows)`."""
    paths = []
    for name, sources in FILES.items():
        rows = release_rows(CASES, sources)
        if change:
            change(rows)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text("".join(lines), encoding="utf-8")
        paths.append(path)
    return paths


def release_project(folder: Path, **build: Any) -> Path:
    """A scratch project to which our 96 clusters are the release."""
    root = build_project(folder, **build)
    write_published(root)
    return root


def write_published(root: Path) -> None:
    """Let a project's data/published say that our 96 clusters are the release's."""
    clusters: dict[str, dict[str, Case]] = {}
    for case in CASES:
        clusters.setdefault(case.composition_event_id, {})[case.condition] = case
    digests = [["cluster_id", "source", *(f"digest_{name}" for name in TREATED)]]
    comments = [["cluster_id", "casual", "native"]]
    for name, members in sorted(clusters.items()):
        ids = (members[condition].id.rpartition(":")[2] for condition in TREATED)
        digests.append([name, members["clean"].source, *ids])
        texts = (members[condition].afterthought or "" for condition in ("newline", "newline_R"))
        comments.append([name, *texts])
    for file, rows in (("clusters", digests), ("assignments", comments)):
        quoted = "".join(",".join(json.dumps(cell) for cell in row) + "\n" for row in rows)
        (root / "data" / "published" / f"{file}.csv").write_text(quoted.replace('\\"', '""'))


def labels_of_ours() -> LabelSet:
    """Published labels of 96 clusters, as if they were of ours."""
    folder = ROOT / "data" / "published"
    keys = [row["key"] for row in csv.DictReader((folder / "panel.csv").open(encoding="utf-8"))]
    published = read_labels(folder / "labels.csv", keys)  # levers depend on the models' order
    names: dict[str, str] = {}
    for source in SOURCES:
        theirs = [cluster for cluster in published.clusters if source_of(cluster) == source]
        ours = sorted({c.composition_event_id for c in CASES if c.source == source})
        names |= dict(zip(theirs, ours, strict=False))
    records = (
        msgspec.structs.replace(record, cluster_id=names[record.cluster_id])
        for record in published.records()
        if record.cluster_id in names
    )
    return label_set(records, published.models)


def write_labels_csv(path: Path, labels: LabelSet) -> None:
    """Write labels as data/published/labels.csv has them."""
    columns = ["model", "cluster_id", "condition", "absorbed", "tier"]
    labels.frame.astype({"absorbed": int})[columns].to_csv(path, index=False)
