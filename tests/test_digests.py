from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from scratch import ROOT, scratch_project
from typer.testing import CliRunner

from seam_lib.build.release import (
    compare_digests,
    digest,
    lacking,
    question_ids,
    read_digests,
)
from seam_lib.cli import app
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import CONDITIONS, SOURCES, TREATED, Case

DIGESTS = read_digests(ROOT / "data" / "published" / "clusters.csv")
EMBEDDED = ROOT / "data" / "benchmark" / "embedded"


def run(root: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    monkeypatch.chdir(root)
    return CliRunner().invoke(app, arguments)


# Digests


def test_the_release_has_300_clusters_of_five_digests() -> None:
    assert len(DIGESTS) == 300
    assert all(tuple(row) == TREATED for row in DIGESTS.values())
    assert DIGESTS["canitedit:1"]["newline"] == "cd53d3f976c7"


def test_the_questions_of_the_release() -> None:
    ids = question_ids(DIGESTS)
    assert len(ids) == 50 and ids == sorted(ids) and 2651744 in ids


def case(cluster: str, condition: str, message: str) -> Case:
    """A case as far as digests go: whose it is, and its message, of which we make the digests."""
    template = read_benchmark(EMBEDDED / "cc-by-sa.jsonl")[0]
    return msgspec.structs.replace(
        template,
        id=f"{cluster}:{condition}:{'0' * 12}",  # what an id says is not what is judged
        composition_event_id=cluster,
        condition=condition,
        message=message,
    )


def test_messages_are_compared_by_source_and_condition() -> None:
    digests = {
        cluster: {condition: digest(f"{cluster} {condition}") for condition in TREATED}
        for cluster in DIGESTS
    }
    cases = [
        case(cluster, condition, f"{cluster} {condition}")
        for cluster in DIGESTS
        for condition in CONDITIONS
        if cluster != "coedit:101" and (cluster, condition) != ("canitedit:1", "blank")
    ]
    cases.append(case("canitedit:1", "blank", "canitedit:1 blank "))
    cases.append(case("canitedit:none", "blank", "x"))
    result = compare_digests(cases, digests)
    assert result.missing == ["coedit:101"]
    assert result.changed == {"canitedit:1": ["blank"]}
    assert result.published == {(s, c): 50 for s in SOURCES for c in TREATED}
    short = {("canitedit", "blank"): 49, **{("coedit", c): 49 for c in TREATED}}
    assert result.same == {**result.published, **short}


def test_what_a_cluster_lacks_is_told_unless_the_whole_benchmark_does() -> None:
    digests = {
        name: {"newline": "", "blank": "", "boundary": ""} for name in ("coedit:1", "coedit:2")
    }
    cases = [
        case("coedit:1", "newline", ""),
        case("coedit:1", "blank", ""),
        case("coedit:2", "newline", ""),
    ]
    for row in digests.values():
        row.update(newline=digest(""), blank=digest(""))
    result = compare_digests(cases, digests)
    assert result.changed == {"coedit:2": ["blank"]}
    assert result.same.total() == 3 and result.published.total() == 6


def test_what_a_benchmark_lacks_of_the_release_in_words() -> None:
    digests = {name: {"newline": digest("")} for name in DIGESTS}
    cases = [case(name, "newline", "") for name in DIGESTS]
    assert lacking(compare_digests(cases, digests)) == ""
    gone = ("coedit:101", "coedit:90")
    names = (name for name in DIGESTS if name not in gone and not name.startswith("pararev"))
    kept = [case(name, "newline", "") for name in names]
    assert lacking(compare_digests(kept, digests)) == "coedit:101, coedit:90, all of pararev"


def test_another_benchmark_lacks_nothing_though_ids_coincide() -> None:
    ours = read_benchmark(EMBEDDED)
    assert {case.composition_event_id for case in ours} & DIGESTS.keys()
    assert lacking(compare_digests(ours, DIGESTS)) == ""


def test_our_own_corpora_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = scratch_project(tmp_path, per_source=1)
    run(root, monkeypatch, "build")
    result = run(root, monkeypatch, "build", "--check-digests")
    assert result.exit_code == 1 and "missing" not in result.output
    assert "No message is the release's: this benchmark has other texts." in result.output


@pytest.mark.parametrize("source", ["files", "hub"])
def test_the_command_lists_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    root = scratch_project(tmp_path, per_source=1, name="mine")
    run(root, monkeypatch, "build")
    (root / "data" / "benchmark" / "mine").rename(root / "data" / "benchmark" / "theirs")
    ours, *rest = read_benchmark(root / "data" / "benchmark" / "theirs")
    members = {case.condition: case for case in rest[:5]}
    rows = ["cluster_id,source," + ",".join(f"digest_{name}" for name in TREATED)]
    same = ours.composition_event_id, digest(members["newline"].message)
    rows += [f"{same[0]},canitedit,{same[1]},b,c,d,e", "coedit:none,coedit,a,b,c,d,e"]
    (root / "data" / "published" / "clusters.csv").write_text("\n".join(rows))
    params = yaml.safe_load((root / "params.yaml").read_text())
    params["build"]["source"] = source  # the folder is judged, not where a build would read
    (root / "params.yaml").write_text(yaml.safe_dump(params))
    result = run(root, monkeypatch, "build", "--check-digests", "--name", "theirs")
    assert result.exit_code == 1
    assert "missing  coedit:none: a, b, c, d, e" in result.output
    assert f"changed  {ours.composition_event_id}: blank, boundary" in result.output
    assert "1 of 10 messages are identical. 1 of 2 clusters are missing." in result.output


def test_a_folder_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(
        scratch_project(tmp_path), monkeypatch, "build", "--check-digests", "--name", "absent"
    )
    assert "no cases there" in str(result.exception)


def test_a_file_that_is_no_list_of_clusters_is_named(tmp_path: Path) -> None:
    path = tmp_path / "clusters.csv"
    path.write_text("cluster_id,source\ncoedit:1,coedit\n")
    with pytest.raises(SeamError, match=r"clusters\.csv:1: .* must be .*'digest_newline'"):
        read_digests(path)
