"""The screen over shards: counts that add up, the same bytes from any engine, resuming."""

import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import msgspec
import pandas as pd
import pytest
from wild_project import PLAIN, ROOT, conversation, wild_project, write_parquet

from seam_lib.cli import main
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows
from seam_lib.core.params import WildParams
from seam_lib.core.rows import Candidate
from seam_lib.wild import corpus
from seam_lib.wild import screen as module
from seam_lib.wild.corpus import read_messages, shards
from seam_lib.wild.dedupe import Verdict
from seam_lib.wild.rules import KINDS, REASONS
from seam_lib.wild.screen import screen

OUTPUTS = ("candidates.jsonl", "screen.csv")


def outputs(root: Path, wild: WildParams) -> list[bytes]:
    return [(wild.folder(root) / name).read_bytes() for name in OUTPUTS]


def counts(root: Path, wild: WildParams) -> dict[str, int]:
    table = pd.read_csv(wild.folder(root) / "screen.csv")
    return table.groupby("step")["count"].sum().to_dict()


def results(root: Path) -> list[Path]:
    return sorted((root / "runs" / "wild" / "screen").rglob("*.parquet"))


@pytest.fixture(scope="module")
def screened(tmp_path_factory) -> tuple[Path, WildParams]:
    root = tmp_path_factory.mktemp("screened")
    wild = wild_project(root, rows=1_000, shards=4)
    screen(root, wild)
    return root, wild


def test_every_message_is_counted_once(screened):
    found = counts(*screened)
    assert found["shard"] == 4
    assert found["row"] == 1_000
    assert found["row"] == sum(
        found[step] for step in ("other_language", "no_text", "bad_line", "english_first_turn")
    )
    assert found["english_first_turn"] == sum(found[step] for step in (*KINDS, *REASONS))
    assert sum(found[kind] for kind in KINDS) == sum(found[verdict] for verdict in Verdict.__args__)
    assert found["near_duplicate"] > 0


def test_candidates_are_in_order_and_can_be_read_again(screened):
    root, wild = screened
    rows = list(read_rows(wild.folder(root) / "candidates.jsonl", Candidate))
    assert len(rows) == counts(root, wild)["unique"] > 40
    assert rows == sorted(rows, key=lambda row: (row.corpus, row.shard, row.row))
    corpus = wild.known["synthetic"]
    path = shards(root, corpus)[0]
    here = {row.row: row for row in rows if row.shard == path.name}
    texts = read_messages(path, corpus, here)
    assert {row: len(text) for row, text in texts.items()} == {
        number: row.msglen for number, row in here.items()
    }


def test_no_words_of_a_message_are_in_the_outputs(screened):
    root, wild = screened
    corpus = wild.known["synthetic"]
    rows = list(read_rows(wild.folder(root) / "candidates.jsonl", Candidate))
    path = shards(root, corpus)[0]
    texts = read_messages(path, corpus, {row.row for row in rows if row.shard == path.name})
    together = b"".join(outputs(root, wild)).decode()
    for text in texts.values():
        words = text.split()
        assert not any(" ".join(pair) in together for pair in pairwise(words))


def test_workers_do_not_change_a_byte(screened, tmp_path):
    root, wild = screened
    two = wild_project(tmp_path / "two", rows=1_000, shards=4, workers=2)
    screen(tmp_path / "two", two)
    assert outputs(tmp_path / "two", two) == outputs(root, wild)


@pytest.fixture
def ray_here(monkeypatch):
    """Ray is installed, and its workers find the library."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs Ray (extra `cluster`)")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.usefixtures("ray_here")
def test_ray_does_not_change_a_byte(screened, tmp_path):
    root, wild = screened
    ray = wild_project(tmp_path / "ray", rows=1_000, shards=4, engine="ray", workers=2)
    screen(tmp_path / "ray", ray)
    assert outputs(tmp_path / "ray", ray) == outputs(root, wild)


@pytest.mark.usefixtures("ray_here")
def test_a_missing_column_is_one_sentence_on_ray_too(tmp_path):
    wild = msgspec.structs.replace(one_corpus(tmp_path), engine="ray", workers=2)
    wild.known["own"] = msgspec.structs.replace(PLAIN, language="lang")
    write_parquet(tmp_path / "corpus" / "a.parquet", [chat("a", KEPT)])
    with pytest.raises(SeamError, match=r"^a.parquet: no column 'lang'"):
        screen(tmp_path, wild)


def test_a_killed_screen_goes_on_at_the_shard_where_it_stopped(screened, tmp_path):
    expected = outputs(*screened)
    wild = wild_project(tmp_path / "killed", rows=1_000, shards=4)
    root = tmp_path / "killed"
    command = [sys.executable, "-c", "from seam_lib.cli import main; main()", "wild", "screen"]
    process = subprocess.Popen(
        command, cwd=root, env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True
    )
    while not results(root) and process.poll() is None:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in results(root)}
    assert 1 <= len(before) < 4, "killed too late to show anything"
    assert not (wild.folder(root) / "candidates.jsonl").exists()
    screen(root, wild)
    assert outputs(root, wild) == expected
    assert {path: path.stat().st_mtime_ns for path in before} == before


def one_corpus(root: Path) -> WildParams:
    """A project whose only corpus is the folder `corpus`."""
    wild = wild_project(root)
    return msgspec.structs.replace(wild, name="own", corpora=["own"], known={"own": PLAIN})


def chat(name: str, text: str | None, language: str = "English") -> dict[str, object]:
    turns = conversation(("user", text), ("assistant", "Sure."))
    return {"conversation_hash": name, "conversation": turns, "language": language}


PASTE = "total = sum(row['price'] * row['count'] for row in rows)\n" * 6
KEPT = f"{PASTE}\nwhy does this fail for an empty list?"


def test_a_changed_shard_is_screened_again_and_the_others_are_not(tmp_path):
    wild = one_corpus(tmp_path)
    for name in ("a", "b"):
        write_parquet(tmp_path / "corpus" / f"{name}.parquet", [chat(name, KEPT)])
    screen(tmp_path, wild)
    a, b = (path.stat().st_mtime_ns for path in results(tmp_path))
    write_parquet(tmp_path / "corpus" / "b.parquet", [chat("b", KEPT), chat("c", "hello")])
    screen(tmp_path, wild)
    again_a, again_b = (path.stat().st_mtime_ns for path in results(tmp_path))
    assert (again_a == a, again_b == b) == (True, False)
    assert counts(tmp_path, wild)["row"] == 3


def test_a_full_disk_is_one_sentence_and_loses_no_finished_shard(tmp_path, monkeypatch, capsys):
    wild_project(tmp_path, rows=200, shards=2)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "write_rows", full)
    monkeypatch.setattr(sys, "argv", ["seam", "wild", "screen"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == (
        "seam: the disk is full. Make room, then start again: finished work is kept.\n"
    )
    assert len(results(tmp_path)) == 2


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"annotated": 0}, {"corpora": []}])
def test_settings_that_leave_nothing_to_do_are_refused(tmp_path, wrong):
    with pytest.raises(SeamError, match=rf"params.yaml: .*{next(iter(wrong))}"):
        wild_project(tmp_path, **wrong)


def test_a_half_written_result_is_made_anew(tmp_path):
    wild = one_corpus(tmp_path)
    write_parquet(tmp_path / "corpus" / "a.parquet", [chat("a", KEPT)])
    screen(tmp_path, wild)
    expected = outputs(tmp_path, wild)
    (result,) = results(tmp_path)
    result.write_bytes(result.read_bytes()[:100])
    screen(tmp_path, wild)
    assert outputs(tmp_path, wild) == expected


def test_damaged_shards_nulls_and_huge_messages_are_counted(tmp_path):
    wild = one_corpus(tmp_path)
    huge = f"{PASTE * 16_000}\nwhy is this so slow?"
    assert len(huge) > 5_000_000
    rows = [
        chat("a", None),
        chat("b", huge),
        chat("c", KEPT),
        chat("d", KEPT),
        chat("e", "x", "Dutch"),
    ]
    good = write_parquet(tmp_path / "corpus" / "good.parquet", rows)
    (tmp_path / "corpus" / "bad.parquet").write_bytes(good.read_bytes()[:-50])
    assert screen(tmp_path, wild) == ["own/bad.parquet"]
    found = counts(tmp_path, wild)
    assert (found["shard"], found["unreadable_shard"], found["row"]) == (2, 1, 5)
    assert (found["no_text"], found["other_language"]) == (1, 1)
    assert (found["paste_with_tail"], found["unique"], found["exact_duplicate"]) == (3, 2, 1)


def test_a_corpus_without_a_readable_shard_is_an_error(tmp_path):
    wild = one_corpus(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(SeamError, match="own: none of its 1 shards can be read"):
        screen(tmp_path, wild)


def test_messages_without_an_id_are_named_by_their_digest(tmp_path):
    wild = one_corpus(tmp_path)
    wild.known["own"] = msgspec.structs.replace(PLAIN, id=None)
    write_parquet(tmp_path / "corpus" / "a.parquet", [chat("a", KEPT)])
    screen(tmp_path, wild)
    (row,) = read_rows(wild.folder(tmp_path) / "candidates.jsonl", Candidate)
    assert len(row.hash) == 32 and row.hash != "a"


def test_a_name_that_could_be_words_of_a_message_is_not_written(tmp_path):
    wild = one_corpus(tmp_path)
    wild.known["own"] = msgspec.structs.replace(PLAIN, id="conversation", turns="conversation")
    rows = [{"conversation": KEPT, "language": "English"}]
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    screen(tmp_path, wild)
    (row,) = read_rows(wild.folder(tmp_path) / "candidates.jsonl", Candidate)
    assert row.hash == sha256(KEPT.encode()).hexdigest()[:32]


def test_an_unreadable_shard_is_tried_again(tmp_path, monkeypatch):
    wild = one_corpus(tmp_path)
    for name in ("a", "b"):
        write_parquet(tmp_path / "corpus" / f"{name}.parquet", [chat(name, KEPT)])
    with monkeypatch.context() as patch:
        real = corpus._read_parquet

        def failing(path, columns):
            if path.stem == "b":
                raise OSError("Input/output error")
            return real(path, columns)

        patch.setattr(corpus, "_read_parquet", failing)
        screen(tmp_path, wild)
        assert counts(tmp_path, wild)["unreadable_shard"] == 1
    screen(tmp_path, wild)
    assert counts(tmp_path, wild)["unreadable_shard"] == 0


def test_a_corpus_without_a_word_of_english_is_an_error(tmp_path):
    wild = one_corpus(tmp_path)
    write_parquet(tmp_path / "corpus" / "a.parquet", [chat("a", KEPT, "english")])
    with pytest.raises(SeamError, match="own: none of its 1 rows is in English"):
        screen(tmp_path, wild)


def test_workers_end_with_a_killed_screen(tmp_path):
    wild_project(tmp_path, rows=8_000, shards=4, workers=2)
    command = [sys.executable, "-c", "from seam_lib.cli import main; main()", "wild", "screen"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
    )
    while not results(tmp_path) and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    process.communicate(timeout=60)  # the pipe closes when the last of its holders has ended


def test_duplicates_are_dropped_across_corpora(tmp_path):
    wild = one_corpus(tmp_path)
    wild.known["other"] = msgspec.structs.replace(PLAIN, folder="other")
    wild = msgspec.structs.replace(wild, corpora=["own", "other"])
    write_parquet(tmp_path / "corpus" / "a.parquet", [chat("a", KEPT)])
    write_parquet(tmp_path / "other" / "a.parquet", [chat("b", KEPT)])
    screen(tmp_path, wild)
    table = pd.read_csv(wild.folder(tmp_path) / "screen.csv").set_index(["corpus", "step"])["count"]
    assert table["own", "unique"] == 1
    assert table["other", "exact_duplicate"] == 1


def test_ray_missing_is_one_clear_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SeamError, match=r"\.\[cluster\]"):
        list(module.run([], "ray", 2))
