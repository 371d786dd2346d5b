import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.build.imported import problems, read_case, read_release, to_row, write_release
from seam_lib.build.release import COMMIT, DIGESTS, read_digests
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import CONDITIONS, SOURCES
from tests.helpers.project import seam
from tests.helpers.release_like import CASES, FILES, release_project, release_row, write_files

ROWS = [release_row(case) for case in CASES]


# Rows as they are


def test_the_rows_of_these_tests_are_like_the_releases() -> None:
    by = {(row["source"], row["condition"]): row for row in ROWS}
    for (source, condition), row in by.items():
        native, plain = condition == "newline_R", source in ("coedit", "iterater", "stackexchange")
        assert row.get("release_partition", "absent") == (
            (None if native else "absent")
            if plain
            else {"commitpackft": "permissive_review", "pararev": "noncommercial_sharealike"}.get(
                source, "permissive"
            )
        )
        assert ("source_instruction" in row) == (native or not plain)
        assert "system_instruction" not in row and "extra" not in row
        assert set(row["boundary_delimiters"]) == {"opening", "closing"}
        tagged = condition in ("boundary", "mitigation")
        assert (row["boundary_delimiters"]["opening"] is not None) == tagged
        assert ("taxonomy" in row) == (native or source == "canitedit")
        assert ("author" in row) == (source == "stackexchange" and not native)


def test_an_imported_case_is_ours() -> None:
    ours = {case.id: case for case in CASES}
    for row in ROWS:
        case, known = read_case("x:1", row), ours[row["id"]]
        assert case.message == known.message and case.release_partition == known.release_partition
        assert case.boundary_delimiters == known.boundary_delimiters
        assert case.system_instruction is None
        head = row["task_instruction"]
        assert case.task_instruction == head and case.segments[0].text == head
        assert ("context and must not" in head) == (case.condition == "mitigation")


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.sampled_from(ROWS), st.randoms(use_true_random=False), st.data())
def test_a_row_comes_back_field_by_field(
    row: dict[str, Any], order: random.Random, data: Any
) -> None:
    keys = list(row)
    order.shuffle(keys)
    odd = data.draw(
        st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.lists(st.text()))
    )
    shuffled = {key: row[key] for key in keys} | {k: v for k, v in odd.items() if k not in row}
    shuffled["segments"] = [dict(reversed(part.items())) for part in row["segments"]]
    assert json.dumps(to_row(read_case("x:1", shuffled))) == json.dumps(shuffled)


def test_a_field_called_as_one_of_ours_is_the_releases() -> None:
    row = ROWS[0] | {"extra": {"a": None}, "system_instruction": None}
    assert to_row(read_case("x:1", row)) == row


def test_our_own_cases_have_no_row_in_the_release() -> None:
    with pytest.raises(SeamError, match="not read from the release's files"):
        to_row(CASES[0])


def test_unknown_fields_land_in_extra(tmp_path: Path) -> None:
    row = ROWS[0] | {"reviewed_by": ["two"]}
    assert read_case("x:1", row).extra["reviewed_by"] == ["two"]


# Files


def test_the_files_come_back_row_by_row(tmp_path: Path) -> None:
    paths = write_files(tmp_path / "theirs")
    cases = [row.case for row in read_release(paths)]
    again = write_release(tmp_path / "ours", cases)
    assert {str(path.relative_to(tmp_path / "ours")) for path in again} == FILES.keys()
    for name in FILES:
        theirs, ours = ((tmp_path / side / name).read_text("utf-8") for side in ("theirs", "ours"))
        assert [json.loads(line) for line in theirs.splitlines()] == [
            json.loads(line) for line in ours.splitlines()
        ]


def test_rows_may_stand_anywhere(tmp_path: Path) -> None:
    usual = [row.case for row in read_release(write_files(tmp_path / "a"))]
    shuffled = write_files(tmp_path / "b", random.Random(3).shuffle)
    assert [row.case for row in read_release(shuffled[::-1])] == usual
    assert [case.condition for case in usual] == list(CONDITIONS) * 96
    assert list(dict.fromkeys(case.source for case in usual)) == list(SOURCES)


def test_the_release_is_imported_whole(tmp_path: Path) -> None:
    root = release_project(tmp_path / "project")
    paths = map(str, write_files(tmp_path))
    result = seam("import-benchmark", *paths, cwd=root)
    assert result.exit_code == 0, result.output
    assert result.output == "576 cases imported to data/benchmark/release, 0 differences.\n"
    folder = root / "data" / "benchmark" / "release"
    imported = read_benchmark(folder)
    assert {to_row(case)["id"]: to_row(case) for case in imported} == {
        row["id"]: row for row in ROWS
    }
    assert "Imported from the files of the paper's release" in (folder / "README.md").read_text()
    again = seam("import-benchmark", str(tmp_path / next(iter(FILES))), cwd=root)
    assert isinstance(again.exception, SeamError) and "exists" in str(again.exception)

    checked = seam("build", "--check-digests", "--name", "release", cwd=root)
    assert checked.exit_code == 0 and "480 of 480 messages are identical." in checked.output


def test_one_file_alone_may_be_imported(tmp_path: Path) -> None:
    root = release_project(tmp_path / "project")
    permissive, *_ = write_files(tmp_path)
    result = seam("import-benchmark", str(permissive), cwd=root)
    assert result.exit_code == 0, result.output
    assert "Not in it: all of pararev, all of stackexchange." in result.output
    checked = seam("build", "--check-digests", "--name", "release", cwd=root)
    assert checked.exit_code == 1 and "32 of 96 clusters are missing." in checked.output


# Bad input


def refused(root: Path, *paths: Path) -> str:
    """What the command says of files that it must not take; nothing may be written."""
    before = sorted(root.rglob("*"))
    result = seam("import-benchmark", *map(str, paths), cwd=root)
    assert result.exit_code == 1 and sorted(root.rglob("*")) == before
    return f"{result.exception}" if isinstance(result.exception, SeamError) else result.output


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release_project(tmp_path_factory.mktemp("project") / "p")


def newline(rows: list[dict[str, Any]], place: int) -> dict[str, Any]:
    return [row for row in rows if row["condition"] == "newline"][place]


def changed_byte(row: dict[str, Any]) -> None:
    row["message"] = "e" + row["message"][1:]


def another_version(row: dict[str, Any]) -> None:
    row["id"] = row["id"][:-12] + "0" * 12


def wrong_offset(row: dict[str, Any]) -> None:
    row["segments"][-1]["start"] += 1


def other_tags(row: dict[str, Any]) -> None:
    row["boundary_delimiters"] = {"opening": "<a>", "closing": "</a>"}


def other_artifact(row: dict[str, Any]) -> None:
    row["artifact"] += "."


def other_head(row: dict[str, Any]) -> None:
    row["task_instruction"] += " Be quick."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (changed_byte, "the message's digest is "),
        (changed_byte, "the message differs from character 0 on"),
        (changed_byte, "the segment 'task_instruction' is not at 0 to "),
        (another_version, "the id is "),
        (wrong_offset, "the segment 'afterthought' is not at "),
        (other_tags, "the tags are others"),
        (other_artifact, "the pasted segment is not the artifact"),
        (other_head, "the task instruction is another than in clean"),
    ],
)
def test_a_damaged_row_is_named_and_nothing_is_written(
    project: Path, tmp_path: Path, change: Any, words: str
) -> None:
    row: dict[str, Any] = {}

    def spoil(rows: list[dict[str, Any]]) -> None:
        if not row:
            row.update(number=rows.index(newline(rows, 3)) + 1, **newline(rows, 3))
            change(newline(rows, 3))

    paths = write_files(tmp_path, spoil)
    text = refused(project, *paths)
    place = f"{paths[0]}:{row['number']}: {row['composition_event_id']} newline: "
    (line,) = [line for line in text.splitlines() if words in line]
    assert line.startswith(place)
    assert text.splitlines()[-1] == (
        "1 differences from the release, so nothing was written. Get the files again, of commit "
        f"{COMMIT}."
    )


def test_a_download_that_ends_early_is_named(project: Path, tmp_path: Path) -> None:
    paths = write_files(tmp_path)
    whole = paths[0].read_bytes()
    paths[0].write_bytes(whole[: len(whole) // 2])
    line = whole[: len(whole) // 2].count(b"\n") + 1
    assert f"{paths[0]}:{line}: not a dict" in refused(project, *paths)

    rows = whole.splitlines(keepends=True)
    paths[0].write_bytes(b"".join(rows[:-1]))  # the last newline_R row is gone
    text = refused(project, *paths)
    assert "iterater:" in text and " has no row under newline_R\n" in text
    assert text.startswith(f"{paths[0]}:")

    native = [row for row in rows if b'"condition": "newline_R"' in row]
    paths[0].write_bytes(b"".join(row for row in rows[5:] if row != native[0]))
    first = json.loads(rows[0])["composition_event_id"]
    text = refused(project, *paths)
    assert f"{paths[0]}: lacks the clusters {first}\n" in text


def test_files_of_something_else_are_refused(project: Path, tmp_path: Path) -> None:
    page, labels, other = (tmp_path / name for name in ("page.jsonl", "labels.jsonl", "x.jsonl"))
    page.write_text("<!DOCTYPE html>\n<html>")
    assert f"{page}:1: not a dict" in refused(project, page)
    labels.write_text('{"case_id": "coedit:1:newline:0", "model": "m", "absorbed": false}\n')
    assert f"{labels}:1: no case of the release: Object missing required field" in refused(
        project, labels
    )
    assert "no such file" in refused(project, tmp_path / "none.jsonl")
    other.write_text(json.dumps(ROWS[0] | {"composition_event_id": "canitedit:none"}) + "\n")
    assert f"{other}:1: canitedit:none is not one of the release's 96 clusters" in refused(
        project, other
    )
    other.write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[0]) + "\n")
    assert f"{other}:2: {ROWS[0]['composition_event_id']} clean stands in {other}:1 al" in refused(
        project, other
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source", "github"), ("source", ["coedit"]), ("source", "coedit"),
        ("condition", "newlines"), ("release_partition", "public"),
        ("composition_event_id", "coedit:1"), ("message", None), ("segments", [{}]),
        ("boundary_delimiters", {"opening": None}),
    ],
)  # fmt: skip
def test_a_row_of_another_benchmark_is_refused(field: str, value: Any) -> None:
    with pytest.raises(SeamError, match=r"^x:7: no case of the release: .* get this one again"):
        read_case("x:7", ROWS[0] | {field: value})


def test_files_of_another_commit_differ_in_every_message(tmp_path: Path, project: Path) -> None:
    digests = {
        cluster: dict.fromkeys(row, "0" * 12)
        for cluster, row in read_digests(project / DIGESTS).items()
    }
    lines = list(problems(read_release(write_files(tmp_path)), digests))
    assert len(lines) == 480 and all("the release's 000000000000" in line for line in lines)
