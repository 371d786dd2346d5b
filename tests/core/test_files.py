import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.core.errors import SeamError
from seam_lib.core.files import (
    digests,
    read_rows,
    sha256,
    write_bytes,
    write_json,
    write_rows,
    write_text,
)


class Row(msgspec.Struct):
    name: str
    count: int = 0


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    rows=st.lists(st.builds(Row, name=st.text(), count=st.integers(-(2**60), 2**60)), max_size=5)
)
def test_rows_come_back_as_they_were_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    write_rows(path, rows)
    assert list(read_rows(path, Row)) == rows
    assert path.read_bytes().count(b"\n") == len(rows)  # no text breaks a line


@settings(max_examples=40, derandomize=True, deadline=None)
@given(data=st.dictionaries(st.text(), json_values, max_size=4))
def test_json_comes_back_and_does_not_depend_on_key_order(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("json")
    write_json(folder / "a.json", data)
    write_json(folder / "b.json", dict(reversed(data.items())))
    assert json.loads((folder / "a.json").read_text(encoding="utf-8")) == data
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()


def test_json_holds_no_nan(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_text_is_utf8_with_its_own_line_ends(tmp_path):
    write_text(tmp_path / "a.txt", "é\r\n→\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa9\r\n\xe2\x86\x92\n"


def test_folders_are_made_and_files_are_readable(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    write_text(path, "x")
    assert path.stat().st_mode & 0o777 == 0o644


def test_blank_lines_unknown_fields_and_crlf_are_fine(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"name":"a","new":1}\r\n\r\n   \n{"count":2,"name":"b"}')
    assert list(read_rows(path, Row)) == [Row("a"), Row("b", 2)]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"name": 1}', "Expected `str`"),
        (b"{}", "missing required field `name`"),
        (b'{"name": "a", "count": "2"}', "Expected `int`"),
        (b'{"name": "a"', "truncated"),
        (b'{"name": "a"} {"name": "b"}', "trailing characters"),
        (b'["a", 1]', "Expected `object`"),
        (b"\x00\x00", "malformed"),
        (b'{"name": "\xff"}', "UTF-8"),
        (b"<<<<<<< HEAD", "malformed"),
    ],
)
def test_a_bad_line_is_named_with_its_remedy(tmp_path, line, complaint):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"name":"a"}\n\n' + line + b"\n")
    with pytest.raises(SeamError) as caught:
        list(read_rows(path, Row))
    message = str(caught.value)
    assert message.startswith(f"{path}:3: not a Row")
    assert complaint in message
    assert "correct it or restore the file" in message


def test_a_bom_is_no_error(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"name":"a"}\n')
    assert list(read_rows(path, Row)) == [Row("a")]


def test_rows_before_a_bad_line_are_not_lost(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"name":"a"}\n{"name"\n')
    rows = read_rows(path, Row)
    assert next(rows) == Row("a")
    with pytest.raises(SeamError, match=":2:"):
        next(rows)


def test_a_missing_file_says_which_stage_may_write_it(tmp_path):
    with pytest.raises(SeamError, match=r"rows\.jsonl: no such file.*dvc repro"):
        list(read_rows(tmp_path / "rows.jsonl", Row))


def test_a_folder_in_place_of_a_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(SeamError, match=str(tmp_path)):
        list(read_rows(tmp_path, Row))


# --- whole or not at all ----------------------------------------------------------------------


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, call):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    monkeypatch.setattr(os, call, full_disk)
    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_while_writing_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_beyond_the_file_size_limit_leaves_the_old_file(tmp_path):
    """A real write that the system cuts short, as on a full disk."""
    path = tmp_path / "a.txt"
    write_text(path, "old")
    code = (
        "import resource, signal, pathlib, sys\n"
        "from seam_lib.core.files import write_bytes\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "write_bytes(pathlib.Path(sys.argv[1]), b'x' * 100_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.returncode == 1
    assert "OSError" in done.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_rows_that_fail_to_encode_leave_the_old_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_rows(path, [Row("a")])
    with pytest.raises(TypeError):
        write_rows(path, [Row("b"), object()])
    assert list(read_rows(path, Row)) == [Row("a")]


def test_sha256_is_that_of_the_bytes(tmp_path):
    write_bytes(tmp_path / "empty", b"")
    assert sha256(tmp_path / "empty") == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


def test_digests_name_files_and_what_is_in_folders(tmp_path):
    for name in ("a.txt", "labels/b.jsonl", "labels/c/d.jsonl"):
        write_text(tmp_path / name, name)
    found = digests(tmp_path, ["labels", "a.txt"])
    assert list(found) == ["labels/b.jsonl", "labels/c/d.jsonl", "a.txt"]
    assert found["a.txt"] == sha256(tmp_path / "a.txt")
