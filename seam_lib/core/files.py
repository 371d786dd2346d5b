"""Reading and writing rows: strict on the way in, whole or not at all on the way out."""

import codecs
import csv
import fcntl
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from seam_lib.core.errors import SeamError

T = TypeVar("T")


def read_rows(path: Path, row_type: type[T], *, torn_tail: bool = False) -> Iterator[T]:
    """Read a JSON Lines file, checking every row against its type.

    Args:
        path: The file; blank lines are skipped.
        row_type: A msgspec struct, such as `rows.Case`. Fields it does not know are ignored.
        torn_tail: Skip a last line that has no line end, as a killed process leaves it in its log.

    Yields:
        The rows, in file order.

    Raises:
        SeamError: The file cannot be read, or a line is not such a row; names file and line.
    """
    for _, row in numbered_rows(path, row_type, torn_tail=torn_tail):
        yield row


def numbered_rows(
    path: Path, row_type: type[T], *, torn_tail: bool = False
) -> Iterator[tuple[int, T]]:
    """As `read_rows`, with each row's line number (from 1), for checks that name the line."""
    decoder = msgspec.json.Decoder(row_type)
    for number, line in _numbered_lines(path):
        if not line.strip() or (torn_tail and not line.endswith(b"\n")):
            continue
        try:
            yield number, decoder.decode(line)
        except msgspec.DecodeError as error:
            raise SeamError(
                f"{path}:{number}: not a {row_type.__name__}: {error}. "
                f"The line begins {line[:60]!r}; correct it or restore the file."
            ) from None


def csv_rows(
    path: Path, columns: Sequence[str], younger: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """Read a CSV file that has exactly the given columns.

    Args:
        path: The file; blank lines are skipped.
        columns: Its columns, in order.
        younger: Columns behind these that older files lack, all of them.

    Yields:
        The place of each row, as `file:line`, and its values by column.

    Raises:
        SeamError: The file cannot be read, or its header or a row does not fit; names the line.
    """
    reader = csv.reader(_text_lines(path), strict=True)
    try:
        header = next(reader, None)
        if header != list(columns) and header != [*columns, *younger]:
            raise SeamError(
                f"{path}:1: the columns are {header}; they must be {[*columns, *younger]}."
            )
        for row in filter(None, reader):
            place = f"{path}:{reader.line_num}"
            if len(row) != len(header):
                raise SeamError(
                    f"{place}: {len(row)} fields for {len(header)} columns; correct the row."
                )
            yield place, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise SeamError(f"{path}:{reader.line_num}: {error}; correct the row.") from None


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as the lines of a CSV file; the first may be its header."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file from 1, without the byte order mark that some editors put first."""
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        raise SeamError(
            f"{path}: no such file. Run the stage that writes it (`dvc repro`) or correct the path."
        ) from None
    except OSError as error:
        raise SeamError(f"{path}: cannot be read: {error.strerror}. Correct the path.") from None
    with handle:
        for number, line in enumerate(handle, start=1):
            yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _text_lines(path: Path) -> Iterator[str]:
    for number, line in _numbered_lines(path):
        if b"\0" in line:
            raise SeamError(f"{path}:{number}: holds a NUL byte; restore the file.")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SeamError(f"{path}:{number}: {error}; save the file as UTF-8.") from None


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write rows as JSON Lines, atomically; they are encoded one by one, never all in memory."""
    with replacing(path) as handle:
        for row in rows:
            handle.write(msgspec.json.encode(row) + b"\n")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text as it is (line ends included), atomically."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, data: Any) -> None:
    """Write plain data as JSON, atomically; with sorted keys, one value per line, for diffs."""
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file's whole content, atomically."""
    with replacing(path) as handle:
        handle.write(data)


def append_text(path: Path, text: str, header: str = "") -> None:
    """Append whole lines to a file of UTF-8 text; two processes may do so at the same time.

    Args:
        path: The file; missing parent folders are made.
        text: The lines, with their line ends.
        header: What an empty file begins with.

    Raises:
        OSError: The disk is full or not writable; the file is then as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        end = handle.seek(0, os.SEEK_END)
        if not end:
            text = header + text
        elif handle.seek(end - 1) and handle.read(1) != b"\n":
            text = "\n" + text  # an editor left the last line without its end
        line = memoryview(text.encode("utf-8"))
        try:
            while line:
                line = line[handle.write(line) :]
            os.fsync(handle.fileno())
        except OSError:
            handle.truncate(end)
            raise


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file atomically: into a temporary neighbour, synced, then renamed over `path`.

    Args:
        path: The file; missing parent folders are made.

    Yields:
        A handle to write to. A reader sees the old file or the new one, never half of it.

    Raises:
        OSError: The disk is full or not writable; `path` is then as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digests(root: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of files, and of every file in a folder, by name.

    Args:
        root: The folder that the names are relative to.
        names: Files and folders, such as the inputs of a stage.
    """
    found: dict[str, str] = {}
    for name in names:
        path = root / name
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.is_file())
            found |= {f"{name}/{f.relative_to(path).as_posix()}": sha256(f) for f in inside}
        else:
            found[name] = sha256(path)
    return found
