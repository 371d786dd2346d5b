"""Runs read from disk, the export command, and a reader's notes."""

import csv
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seam_lib.core.errors import SeamError
from seam_lib.core.files import append_text, write_rows
from seam_lib.read.files import (
    COLUMNS,
    TINY,
    about,
    add_note,
    export_page,
    read_notes,
    read_specimens,
)
from seam_lib.score.scorer import LEXICAL_ONLY, score_files
from tests.helpers.answers import benchmark, outputs
from tests.helpers.project import scratch_project, seam


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Path:
    """A project with one scored run, `pretended`."""
    run = {"benchmark": "embedded", "provider": "llamacpp", "model": "pretended"}
    root = scratch_project(
        tmp_path_factory.mktemp("project"),
        "data/benchmark/embedded",
        runs={"pretended": run, "unscored": run},
    )
    answers = root / "data/outputs/pretended.jsonl"
    write_rows(answers, outputs(benchmark())[:-1])
    labels = root / "data/labels/pretended.jsonl"
    score_files(root, root / "data/benchmark/embedded", answers, labels, None)
    return root


@pytest.fixture
def project(scored, tmp_path, monkeypatch) -> Path:
    """A copy to write in; it is the current folder."""
    shutil.copytree(scored, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def test_export_writes_one_page_and_says_where(project) -> None:
    result = seam("specimens", "export", "pretended")
    assert result.exit_code == 0, result.output
    assert result.output == (
        "479 specimens: runs/pretended.specimens.html. Open it in a browser.\n"
    )
    page = (project / "runs/pretended.specimens.html").read_text("utf-8")
    assert page.count("<article") == 479
    assert "479 labels. 1 of 480 cases with a comment have none" in page  # one is not answered
    assert LEXICAL_ONLY in page and TINY in page


def test_export_twice_gives_the_same_bytes_and_replaces_only_pages(project) -> None:
    out = project / "sub" / "page.html"
    assert seam("specimens", "export", "pretended", "--out", out).exit_code == 0
    first = out.read_bytes()
    assert seam("specimens", "export", "pretended", "--out", out).exit_code == 0
    assert out.read_bytes() == first
    notes = project / "notes.txt"
    notes.write_text("mine", "utf-8")
    with pytest.raises(SeamError, match=r"no page of specimens\. Choose another --out"):
        export_page(project, ["pretended"], notes)
    assert notes.read_text("utf-8") == "mine"


def test_nothing_of_the_machine_is_on_the_page(project) -> None:
    export_page(project, ["pretended"], project / "page.html")
    assert str(project) not in (project / "page.html").read_text("utf-8")


def test_runs_are_read_together(project) -> None:
    specimens = read_specimens(project, ["pretended", "pretended"])
    assert len(specimens) == 2 * 479
    assert about(project, ["pretended"]).startswith("Run pretended: pretended over the benchmark")


def test_what_is_missing_is_named_with_its_remedy(project) -> None:
    for run, words in (("unscored", "no such file"), ("nobody", "no run 'nobody'")):
        result = seam("specimens", "export", run)
        assert isinstance(result.exception, SeamError) and words in str(result.exception)
    (project / "data/labels/pretended.meta.json").unlink()
    with pytest.raises(SeamError, match="Score the run again"):
        about(project, ["pretended"])


# --- Notes ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def specimen(scored):
    return read_specimens(scored, ["pretended"])[0]


def test_notes_are_appended_and_read_back(tmp_path, specimen) -> None:
    path = tmp_path / "notes" / "run.csv"
    assert read_notes(path) == []
    words = ["plain", 'with "quotes", commas', "two\nlines", "=SUM(A1)", "ünï ☃"]
    for text in words:
        add_note(path, specimen, text)
    assert [note.note for note in read_notes(path)] == words
    assert {note.case_id for note in read_notes(path)} == {specimen.case.id}
    with path.open(newline="", encoding="utf-8") as handle:
        assert next(csv.reader(handle)) == list(COLUMNS)


def test_a_note_never_changes_what_stands_there(tmp_path, specimen) -> None:
    path = tmp_path / "run.csv"
    add_note(path, specimen, "one")
    path.write_text(path.read_text("utf-8").rstrip("\n"), "utf-8")  # as some editors save
    before = path.read_bytes()
    add_note(path, specimen, "two")
    assert path.read_bytes().startswith(before + b"\n")
    assert [note.note for note in read_notes(path)] == ["one", "two"]


@pytest.mark.parametrize("content", ["a,b\n1,2\n", ",".join(COLUMNS) + "\nshort,row\n"])
def test_a_file_of_another_kind_is_refused_and_kept(tmp_path, specimen, content) -> None:
    path = tmp_path / "other.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(SeamError, match="not a file of notes"):
        add_note(path, specimen, "lost?")
    assert path.read_text("utf-8") == content


def test_a_full_disk_leaves_the_notes_as_they_were(tmp_path, monkeypatch) -> None:
    path = tmp_path / "notes.csv"
    append_text(path, "one\n", header="head\n")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        append_text(path, "two\n")
    assert path.read_text("utf-8") == "head\none\n"


APPENDS = """
import sys
from pathlib import Path
from seam_lib.core.files import append_text

for number in range(50):
    append_text(Path(sys.argv[1]), f"{sys.argv[2]} {number}\\n", header="head\\n")
"""


def test_two_processes_lose_no_line_of_each_other(tmp_path) -> None:
    path = tmp_path / "notes.csv"
    workers = [subprocess.Popen([sys.executable, "-c", APPENDS, path, name]) for name in "ab"]
    assert [worker.wait() for worker in workers] == [0, 0]
    head, *lines = path.read_text("utf-8").splitlines()
    assert head == "head"
    assert sorted(lines) == sorted(f"{name} {n}" for name in "ab" for n in range(50))
