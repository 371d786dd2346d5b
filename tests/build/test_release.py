import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seam_lib.build.release import (
    compare_digests,
    differences,
    question_ids,
    read_digests,
    read_release,
)
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import SOURCES, TREATED, Case
from tests.helpers.cases import CASES
from tests.helpers.project import ROOT, build_project, change_params, seam

DIGESTS = read_digests(ROOT / "data" / "published" / "clusters.csv")
EMBEDDED = ROOT / "data" / "benchmark" / "embedded"


# Digests


def test_the_release_has_300_clusters_of_five_digests() -> None:
    assert len(DIGESTS) == 300
    assert all(tuple(row) == TREATED for row in DIGESTS.values())
    assert DIGESTS["canitedit:1"]["newline"] == "cd53d3f976c7"


def test_the_questions_of_the_release() -> None:
    ids = question_ids(DIGESTS)
    assert len(ids) == 50 and ids == sorted(ids) and 2651744 in ids


def case(cluster: str, condition: str, digest: str) -> Case:
    """A case as far as digests go: only its ids matter."""
    return msgspec.structs.replace(
        CASES[0],
        id=f"{cluster}:{condition}:{digest}",
        composition_event_id=cluster,
        condition=condition,
    )


def test_digests_are_compared_by_source_and_condition() -> None:
    cases = [
        case(cluster, condition, digest)
        for cluster, row in DIGESTS.items()
        for condition, digest in [("clean", "0" * 12), *row.items()]
        if cluster != "coedit:101" and (cluster, condition) != ("canitedit:1", "blank")
    ]
    cases.append(case("canitedit:1", "blank", "f" * 12))
    cases.append(case("canitedit:none", "blank", "f" * 12))
    result = compare_digests(cases, DIGESTS)
    assert result.missing == ["coedit:101"]
    assert result.changed == {"canitedit:1": ["blank"]}
    assert result.published == {(s, c): 50 for s in SOURCES for c in TREATED}
    short = {("canitedit", "blank"): 49, **{("coedit", c): 49 for c in TREATED}}
    assert result.same == {**result.published, **short}


def test_our_own_corpora_are_not_compared(tmp_path: Path) -> None:
    result = seam("build", "--check-digests", cwd=build_project(tmp_path))
    assert isinstance(result.exception, SeamError)
    assert "build.source is files" in str(result.exception)


def test_the_command_lists_what_differs(tmp_path: Path) -> None:
    root = build_project(tmp_path, per_source=1)
    seam("build", cwd=root)
    (ours, *_) = read_benchmark(root / "data" / "benchmark" / "embedded")
    rows = ["cluster_id,source," + ",".join(f"digest_{name}" for name in TREATED)]
    rows += [f"{ours.composition_event_id},canitedit,a,b,c,d,e", "coedit:none,coedit,a,b,c,d,e"]
    (root / "data" / "published" / "clusters.csv").write_text("\n".join(rows))
    change_params(root, lambda params: params["build"].update(source="hub"))
    result = seam("build", "--check-digests", cwd=root)
    assert result.exit_code == 1
    assert "missing  coedit:none" in result.output
    assert f"changed  {ours.composition_event_id}: newline, blank" in result.output
    assert "0 of 10 messages are identical" in result.output


def test_a_file_that_is_no_list_of_clusters_is_named(tmp_path: Path) -> None:
    path = tmp_path / "clusters.csv"
    path.write_text("cluster_id,source\ncoedit:1,coedit\n")
    with pytest.raises(SeamError, match=r"clusters\.csv:1: .* must be .*'digest_newline'"):
        read_digests(path)


# Import


def release(folder: Path, change: Any = None) -> Path:
    """The embedded benchmark as one file in another order, with some rows changed."""
    cases = sorted(read_benchmark(EMBEDDED), key=lambda case: (case.condition, case.id))
    rows = [msgspec.to_builtins(case) for case in cases]
    if change:
        change(rows)
    path = folder / "benchmark.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_benchmark_is_imported_whole(tmp_path: Path) -> None:
    root = build_project(tmp_path)
    path = release(tmp_path)
    result = seam("import-benchmark", path, cwd=root)
    assert result.exit_code == 0, result.output
    assert "576 cases imported to data/benchmark/release, 0 differences" in result.output
    imported = read_benchmark(root / "data" / "benchmark" / "release")
    by_id = {case.id: case for case in read_benchmark(EMBEDDED)}
    assert {case.id: case for case in imported} == by_id
    again = seam("import-benchmark", path, cwd=root)
    assert isinstance(again.exception, SeamError) and "exists" in str(again.exception)


def test_fields_that_a_case_lacks_are_kept(tmp_path: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["reviewed_by"] = "two"

    cases = read_release([release(tmp_path, change)])
    assert [case.extra["reviewed_by"] for case in cases if "reviewed_by" in case.extra] == ["two"]


def test_every_kind_of_difference_is_found(tmp_path: Path) -> None:
    ids: list[str] = []

    def change(rows: list[dict[str, Any]]) -> None:
        boundary = [row for row in rows if row["condition"] == "boundary"]
        boundary[0]["message"] = "edit" + boundary[0]["message"][4:]
        boundary[1]["id"] = boundary[1]["id"][:-1] + "x"
        boundary[2]["boundary_delimiters"]["opening"] = "<a>"
        boundary[3]["segments"][0]["start"] = 1
        rows.remove(boundary[4])
        ids.extend(row["id"] for row in boundary[:4])
        ids.append(boundary[4]["composition_event_id"])

    lines = list(differences(read_release([release(tmp_path, change)])))
    assert set(lines) == {
        f"{ids[0]}: the message differs from character 0 on",
        f"{ids[0]}: the id does not end in the message's digest",
        f"{ids[0]}: the segment 'task_instruction' is not where it says",
        f"{ids[1]}: the id does not end in the message's digest",
        f"{ids[2]}: the tags differ",
        f"{ids[3]}: the segment 'task_instruction' is not where it says",
        f"{ids[4]}: has the conditions clean, newline, blank, mitigation, newline_R",
    }


def test_differences_end_with_status_1(tmp_path: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["segments"] = [rows[0]["segments"][0] | {"end": 3}]

    path = release(tmp_path, change)
    result = seam("import-benchmark", path, "--name", "x", cwd=build_project(tmp_path))
    assert result.exit_code == 1 and "1 differences" in result.output


@pytest.mark.parametrize("field", ["source", "condition", "release_partition"])
def test_a_file_of_another_benchmark_is_refused(tmp_path: Path, field: str) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0][field] = "other"

    with pytest.raises(SeamError, match="'other' is none of"):
        read_release([release(tmp_path, change)])
