"""Chat corpora on disk: shards of conversations in, batches of English first user turns out.

A corpus is a folder of parquet or JSON Lines files. One from the Hugging Face hub is downloaded
into such a folder; the synthetic one is made there. `CorpusParams` names the columns of its rows.
"""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seam_lib.core.errors import SeamError
from seam_lib.core.params import CorpusParams, WildParams
from seam_lib.wild.synthetic import make_corpus

#: Conversations decoded at a time: at the usual 10 kB each, 40 MB in memory.
BATCH = 4_096
SUFFIXES = (".parquet", ".jsonl")


class UnreadableShardError(SeamError):
    """A damaged shard: none of its rows is used, and the report counts it."""


@dataclass(frozen=True)
class Turns:
    """The English first user turns of one batch of rows.

    Attributes:
        rows: Each turn's row in its shard, ascending.
        ids: Each turn's conversation, as strings; null where the corpus names no such column.
        texts: Each turn's text, as bytes: real logs hold some that are not UTF-8.
        skipped: How many other rows the batch had, by reason.
    """

    rows: npt.NDArray[np.int64]
    ids: pa.Array
    texts: pa.Array
    skipped: Counter[str]


def find_corpus(wild: WildParams, name: str) -> CorpusParams:
    """The corpus of that name.

    Raises:
        SeamError: params.yaml does not describe it.
    """
    if name not in wild.known:
        raise SeamError(
            f"wild.corpora names {name!r}, but wild.known in params.yaml describes only "
            f"{', '.join(wild.known)}."
        )
    return wild.known[name]


def shards(root: Path, corpus: CorpusParams) -> list[Path]:
    """The files of a corpus, by name; made or downloaded first if they are missing.

    Args:
        root: The project's folder.
        corpus: Where it is and how to get it.

    Raises:
        SeamError: The folder holds no shard, or the hub does not give access to it.
    """
    folder = root / corpus.folder
    if corpus.synthetic:
        return make_corpus(folder, corpus.synthetic)
    if corpus.hub and not folder.exists():
        download(corpus.hub, corpus.revision, folder)
    files = (path for path in folder.rglob("*") if not path.is_dir())
    found = sorted(path for path in files if path.suffix in SUFFIXES)
    if not found:
        raise SeamError(
            f"{corpus.folder}: no .parquet or .jsonl file. Put the corpus there, or correct its "
            "`folder` under wild.known in params.yaml."
        )
    return found


def download(repository: str, revision: str | None, folder: Path) -> None:
    """Fetch a dataset's shards from the hub; `folder` appears when all of them are there.

    Raises:
        SeamError: It is gated, unknown, or the hub cannot be reached.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError

    partial = folder.with_name(f"{folder.name}.partial")
    try:
        info = HfApi().dataset_info(repository, revision=revision)
        names = [file.rfilename for file in info.siblings or ()]
        wanted = [name for name in names if Path(name).suffix in SUFFIXES]
        snapshot_download(
            repository,
            repo_type="dataset",
            revision=info.sha,
            allow_patterns=wanted,
            local_dir=partial,
        )
        if not all((partial / name).is_file() for name in wanted):
            raise OSError("the connection was lost")  # the client accepts a partial download
    except GatedRepoError:
        raise SeamError(
            f"{repository} is gated: accept its terms on its page on the Hugging Face hub, then "
            "set HF_TOKEN to a token of that account and run this again."
        ) from None
    except OSError as error:
        cause: BaseException = error
        while cause.__context__:  # the client wraps what happened, layer by layer
            cause = cause.__context__
        raise SeamError(
            f"{repository}: cannot be downloaded: {str(cause).rstrip('.')}. The files that arrived "
            "are kept: run this again, or copy the shards into the corpus's folder by hand."
        ) from None
    partial.rename(folder)


def read_turns(path: Path, corpus: CorpusParams) -> Iterator[Turns]:
    """Read a shard in batches and keep the first user turn of every English conversation.

    Args:
        path: A parquet or JSON Lines file.
        corpus: The names of its columns.

    Yields:
        The turns of each batch; what they leave out is counted in `Turns.skipped`.

    Raises:
        UnreadableShardError: The file is damaged, at its start or anywhere later.
        SeamError: A column, or a part of the turns, is missing or holds something else.
    """
    read = _read_parquet if path.suffix == ".parquet" else _read_json_lines
    try:
        for batch, turns in enumerate(read(path, corpus)):
            if batch == 0 and _all_json_turns(turns.texts, corpus):
                raise SeamError(
                    f"{path.name}: {corpus.turns!r} holds turns written out as JSON text. Store "
                    "them as lists of turns, or let `turns` name the column of the message itself."
                )
            yield turns
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise UnreadableShardError(
            f"{path.name}: cannot be read: {reason}. Fetch this shard again."
        ) from None


def _all_json_turns(texts: pa.Array, corpus: CorpusParams) -> bool:
    """Whether all messages are really lists of turns as JSON; a single one may be a paste."""
    decoder = msgspec.json.Decoder(list[dict[str, Any]])
    try:
        lists = (decoder.decode(text.as_py()) for text in texts)
        return len(texts) > 0 and all(turns and corpus.role in turns[0] for turns in lists)
    except (msgspec.DecodeError, RecursionError):
        return False


def read_messages(path: Path, corpus: CorpusParams, rows: Collection[int]) -> dict[int, str]:
    """Read single messages again.

    Args:
        path: The shard.
        corpus: The names of its columns.
        rows: Rows that `read_turns` yields.

    Returns:
        The text at each row.
    """
    wanted = np.array(sorted(rows), dtype=np.int64)
    found: dict[int, str] = {}
    for turns in read_turns(path, corpus):
        places = np.flatnonzero(np.isin(turns.rows, wanted))
        texts = turns.texts.take(pa.array(places)).to_pylist()
        found |= zip(turns.rows[places].tolist(), map(decode, texts), strict=True)
        if len(found) == len(wanted):
            break
    return found


def decode(text: bytes) -> str:
    """Text from bytes; what is not UTF-8 becomes the replacement character."""
    return text.decode("utf-8", "replace")


def _read_parquet(path: Path, corpus: CorpusParams) -> Iterator[Turns]:
    # Reading ahead would load the whole file, and memory must not grow with the shard.
    with pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True) as file:
        _check_columns(path, corpus, file.schema_arrow.names)
        _check_types(path, corpus, file.schema_arrow)
        leaves = parquet_leaves(file, corpus)
        start = 0
        for batch in file.iter_batches(BATCH, columns=leaves, use_threads=False):
            yield _turns(batch, np.arange(start, start + batch.num_rows), corpus)
            start += batch.num_rows


def _check_columns(path: Path, corpus: CorpusParams, present: Collection[str]) -> None:
    for name in (corpus.id, corpus.turns, corpus.language):
        if name is not None and name not in present:
            raise SeamError(
                f"{path.name}: no column {name!r}; it has {', '.join(map(repr, present))}. "
                "Correct the corpus's columns under wild.known in params.yaml."
            )


def _check_types(path: Path, corpus: CorpusParams, schema: pa.Schema) -> None:
    names = (corpus.id, corpus.turns, corpus.language)
    kinds = {name: schema.field(name).type for name in names if name is not None}
    if pa.types.is_struct(turn := getattr(kinds[corpus.turns], "value_type", pa.null())):
        parts = {field.name: field.type for field in turn.fields}
        _check_turn(path, corpus, parts)
        del kinds[corpus.turns]
        kinds |= {f"{corpus.turns}.{name}": parts[name] for name in (corpus.role, corpus.content)}
    for name, kind in kinds.items():
        numeric = name == corpus.id and not pa.types.is_nested(kind)
        if not numeric and not _is_text(kind):
            raise SeamError(
                f"{path.name}: {name!r} holds {kind}, which the screen cannot read as text. "
                "Correct the corpus's columns under wild.known in params.yaml."
            )


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    types = pa.types
    tests = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary
    return types.is_null(kind) or any(test(kind) for test in tests)


def _check_turn(path: Path, corpus: CorpusParams, present: Collection[str]) -> None:
    for name in (corpus.role, corpus.content):
        if name not in present:
            raise SeamError(
                f"{path.name}: the turns in {corpus.turns!r} have no {name!r}; they have "
                f"{', '.join(map(repr, present)) or 'no parts'}. Correct `role` and `content` of "
                "the corpus under wild.known in params.yaml."
            )


def parquet_leaves(file: pq.ParquetFile, corpus: CorpusParams) -> list[str]:
    """The parquet leaves to read: a turn's role and content, not its dozen other fields."""
    wanted = {corpus.id, corpus.language}
    paths = [file.schema.column(index).path for index in range(len(file.schema.names))]
    leaves = [path for path in paths if path in wanted or path == corpus.turns]
    parts = {corpus.role, corpus.content}
    return leaves + [
        path
        for path in paths
        if path.startswith(f"{corpus.turns}.") and path.rpartition(".")[2] in parts
    ]


def _turns(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], corpus: CorpusParams) -> Turns:
    """First user turns by array operations alone: no conversation becomes a Python object."""
    owners, texts = _first_user_turns(batch.column(corpus.turns), corpus)
    english = np.ones(batch.num_rows, dtype=bool)
    if corpus.language is not None:
        english = _true(pc.equal(batch.column(corpus.language), corpus.english))
    good = english[owners] & _true(pc.greater(pc.binary_length(texts), 0))
    owners, texts = owners[good], texts.filter(pa.array(good))
    ids = pa.nulls(len(owners), pa.string())
    if corpus.id is not None:
        ids = batch.column(corpus.id).take(pa.array(owners)).cast(pa.string())
        ids.validate(full=True)  # what is not UTF-8 is damage here
    other = len(english) - int(english.sum())
    skipped = Counter(other_language=other, no_text=len(english) - other - len(owners))
    return Turns(rows[owners], ids, texts, skipped)


def _first_user_turns(
    column: pa.Array, corpus: CorpusParams
) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Rows that have a user turn, and the first one's text as bytes, which may be null."""
    if not pa.types.is_nested(column.type):
        return np.arange(len(column)), column.cast(pa.large_binary())
    turns = pc.list_flatten(column)
    by_user = np.flatnonzero(_true(pc.equal(turns.field(corpus.role), corpus.user)))
    owners = pc.list_parent_indices(column).to_numpy()[by_user]
    rows, firsts = np.unique(owners, return_index=True)
    texts = turns.field(corpus.content).take(pa.array(by_user[firsts]))
    return rows, texts.cast(pa.large_binary())


def _true(mask: pa.Array) -> npt.NDArray[np.bool_]:
    """A boolean array with null as false."""
    values: npt.NDArray[np.bool_] = mask.fill_null(False).to_numpy(zero_copy_only=False)
    return values


def _read_json_lines(path: Path, corpus: CorpusParams) -> Iterator[Turns]:
    """The same from JSON Lines; a line that is not a JSON object is counted as `bad_line`."""
    decoder = msgspec.json.Decoder(dict[str, Any])
    checked = False  # on the first row that has turns
    with path.open("rb") as lines:
        numbered = enumerate(lines)
        while chunk := list(islice(numbered, BATCH)):
            skipped: Counter[str] = Counter()
            kept: list[tuple[int, str | None, bytes]] = []
            for number, line in chunk:
                try:
                    row = decoder.decode(line.removeprefix(BOM_UTF8))
                except (msgspec.DecodeError, RecursionError):
                    if line.strip():
                        skipped["bad_line"] += 1
                    continue
                if not checked:
                    checked = _check_row(path, corpus, row)
                text = _first_user_text(row.get(corpus.turns), corpus)
                if corpus.language is not None and row.get(corpus.language) != corpus.english:
                    skipped["other_language"] += 1
                elif not text:
                    skipped["no_text"] += 1
                else:
                    name = None if corpus.id is None else row.get(corpus.id)
                    kept.append((number, None if name is None else str(name), text.encode()))
            yield Turns(
                np.array([row for row, _, _ in kept], dtype=np.int64),
                pa.array([name for _, name, _ in kept], pa.string()),
                pa.array([text for _, _, text in kept], pa.large_binary()),
                skipped,
            )


def _check_row(path: Path, corpus: CorpusParams, row: dict[str, Any]) -> bool:
    """Check the names of a row's parts; whether it has any turn to check."""
    _check_columns(path, corpus, row)
    turns = row[corpus.turns]
    if isinstance(turns, list) and turns:
        parts = [name for turn in turns if isinstance(turn, dict) for name in turn]
        _check_turn(path, corpus, dict.fromkeys(parts))
    return bool(turns)


def _first_user_text(turns: object, corpus: CorpusParams) -> str | None:
    """The first user turn's text; None if there is none."""
    if not isinstance(turns, list):
        return turns if isinstance(turns, str) else None
    for turn in turns:
        if isinstance(turn, dict) and turn.get(corpus.role) == corpus.user:
            content = turn.get(corpus.content)
            return content if isinstance(content, str) else None
    return None
