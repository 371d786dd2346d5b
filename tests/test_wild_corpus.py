"""Reading corpora: first user turns, and everything that is wrong with real files."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minihub import Handler, hub, serving
from wild_project import PLAIN, ROOT, conversation, wild_project, write_parquet

from seam_lib.core.errors import SeamError
from seam_lib.core.params import CorpusParams
from seam_lib.wild.corpus import (
    UnreadableShardError,
    decode,
    find_corpus,
    read_messages,
    read_turns,
    shards,
)

ROWS = [
    {
        "conversation_hash": "a",
        "language": "English",
        "conversation": conversation(("user", "one")),
    },
    {
        "conversation_hash": "b",
        "language": "French",
        "conversation": conversation(("user", "deux")),
    },
    {"conversation_hash": "c", "language": None, "conversation": conversation(("user", "null"))},
    {"conversation_hash": "d", "language": "English", "conversation": []},
    {"conversation_hash": "e", "language": "English", "conversation": None},
    {
        "conversation_hash": "f",
        "language": "English",
        "conversation": conversation(("assistant", "hi"), ("user", "six"), ("user", "more")),
    },
    {"conversation_hash": "g", "language": "English", "conversation": conversation(("user", None))},
    {"conversation_hash": "h", "language": "English", "conversation": conversation(("user", ""))},
    {"conversation_hash": "i", "language": "English", "conversation": conversation((None, "who"))},
    {
        "conversation_hash": "j",
        "language": "English",
        "conversation": conversation(("user", "ten")),
    },
]


def write_json_lines(path: Path, rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(
    path: Path, corpus: CorpusParams = PLAIN
) -> tuple[list[tuple[int, str, str]], Counter[str]]:
    """Everything that `read_turns` says about a shard."""
    found, skipped = [], Counter()
    for turns in read_turns(path, corpus):
        texts = map(decode, turns.texts.to_pylist())
        found += zip(turns.rows.tolist(), turns.ids.to_pylist(), texts, strict=True)
        skipped.update(turns.skipped)
    return found, +skipped


@pytest.mark.parametrize("write", [write_parquet, write_json_lines])
def test_the_first_user_turn_of_english_conversations_is_read(tmp_path, write):
    path = write(tmp_path / f"x.{'parquet' if write is write_parquet else 'jsonl'}", ROWS)
    found, skipped = read(path)
    assert found == [(0, "a", "one"), (5, "f", "six"), (9, "j", "ten")]
    assert skipped == {"other_language": 2, "no_text": 5}


turns = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", None]), st.none() | st.text(max_size=4)),
    max_size=3,
)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "conversation_hash": st.text("abc", min_size=1, max_size=3),
            "language": st.sampled_from(["English", "French", None]),
            "conversation": st.none() | turns.map(lambda pairs: conversation(*pairs)),
        }
    ),
    min_size=1,
    max_size=8,
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(rows)
def test_parquet_and_json_lines_give_the_same_turns(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("same")
    assert read(write_parquet(folder / "x.parquet", rows)) == read(
        write_json_lines(folder / "x.jsonl", rows)
    )


def test_a_message_column_needs_no_turns_language_or_id(tmp_path):
    corpus = CorpusParams(folder="corpus", turns="prompt")
    pq.write_table(pa.table({"prompt": ["hello", None, ""]}), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet", corpus) == ([(0, None, "hello")], {"no_text": 2})
    write_json_lines(tmp_path / "x.jsonl", [{"prompt": "hello"}, {"prompt": None}])
    assert read(tmp_path / "x.jsonl", corpus) == ([(0, None, "hello")], {"no_text": 1})


def test_numbers_may_name_conversations_and_lists_may_be_large(tmp_path):
    turn = pa.struct({"role": pa.large_string(), "content": pa.large_string()})
    table = pa.table(
        {
            "conversation_hash": pa.array([7]),
            "conversation": pa.array([conversation(("user", "hi"))], pa.large_list(turn)),
            "language": ["English"],
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet")[0] == [(0, "7", "hi")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"language": "lang"}, r"no column 'lang'; it has .*'language'.*params.yaml"),
        ({"role": "speaker"}, r"turns in 'conversation' have no 'speaker'.*'role'"),
    ],
)
def test_what_is_missing_is_named_with_what_is_there(tmp_path, change, words):
    corpus = msgspec.structs.replace(PLAIN, **change)
    for path in (
        write_parquet(tmp_path / "x.parquet", ROWS),
        write_json_lines(tmp_path / "x.jsonl", ROWS),
    ):
        with pytest.raises(SeamError, match=words):
            read(path, corpus)


def test_a_damaged_shard_is_unreadable_at_its_head_or_later(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", ROWS * 50)
    data = path.read_bytes()
    damaged = {
        "empty": b"",
        "cut": data[: len(data) // 2],
        "body": data[:4] + b"\xff" * (len(data) // 3) + data[4 + len(data) // 3 :],
    }
    for name, content in damaged.items():
        (tmp_path / f"{name}.parquet").write_bytes(content)
        with pytest.raises(UnreadableShardError):
            read(tmp_path / f"{name}.parquet")


def test_bad_lines_are_counted_and_keep_their_numbers(tmp_path):
    path = write_json_lines(tmp_path / "x.jsonl", [ROWS[0], ROWS[9]])
    first, second = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([b"{not json", first, b"[1]", b'"text"', second, b"\xff"]))
    assert read(path) == ([(1, "a", "one"), (4, "j", "ten")], {"bad_line": 4})


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_are_no_rows(tmp_path):
    path = write_json_lines(tmp_path / "x.jsonl", [ROWS[0], ROWS[9]])
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(lines) + b"\r\n\n")
    assert read(path) == ([(0, "a", "one"), (2, "j", "ten")], {})


def test_lines_nested_beyond_reason_and_torn_turns_are_counted(tmp_path):
    torn = ["x", {"role": "assistant", "tool_calls": []}, {"role": "user"}]
    rows = [ROWS[0], {**ROWS[0], "conversation": torn}]
    path = write_json_lines(tmp_path / "x.jsonl", rows)
    path.write_bytes(path.read_bytes() + b'{"a":' * 100_000 + b"\n")
    assert read(path) == ([(0, "a", "one")], {"no_text": 1, "bad_line": 1})


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("conversation", [conversation(("user", "x"))[0]], "struct<"),
        ("conversation", [["hello"]], "list<"),
        ("conversation", [[{"role": "user", "content": ["hello"]}]], "list<"),
        ("conversation", [[{"role": 1, "content": "hello"}]], "int64"),
        ("conversation", [7], "int64"),
        ("language", [7], "int64"),
        ("language", [["English"]], "list<"),
        ("conversation_hash", [{"x": 1}], "struct<"),
    ],
)
def test_a_column_of_another_type_is_named_and_not_called_damaged(tmp_path, column, values, kind):
    columns = {"conversation_hash": ["a"], "conversation": ["hello"], "language": ["English"]}
    pq.write_table(pa.table(columns | {column: values}), tmp_path / "x.parquet")
    with pytest.raises(SeamError, match=rf"'{column}.*' holds {kind}.*params.yaml") as raised:
        read(tmp_path / "x.parquet")
    assert not isinstance(raised.value, UnreadableShardError)


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_turns_written_out_as_text_are_refused_and_a_pasted_one_is_a_message(tmp_path, suffix):
    corpus = CorpusParams(folder="corpus", turns="prompt")
    turns = json.dumps(conversation(("user", "hello")))
    for prompts, refused in (([turns, turns], True), ([turns, "what is this?"], False)):
        rows = [{"prompt": prompt} for prompt in prompts]
        path = tmp_path / f"x{suffix}"
        if suffix == ".jsonl":
            write_json_lines(path, rows)
        else:
            pq.write_table(pa.Table.from_pylist(rows), path)
        if refused:
            with pytest.raises(SeamError, match="'prompt' holds turns written out as JSON text"):
                read(path, corpus)
        else:
            assert len(read(path, corpus)[0]) == 2


def test_checksums_are_checked_where_there_are_any(tmp_path):
    table = pa.table({"prompt": ["x" * 5_000]})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, compression="none", write_page_checksum=True, use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"x" * 3_000, b"x" * 2_999 + b"y", 1))
    with pytest.raises(UnreadableShardError):
        read(path, CorpusParams(folder="corpus", turns="prompt"))


def test_names_that_are_not_utf8_are_damage(tmp_path):
    names = pa.array([b"\xff\xfe"]).cast(pa.binary()).view(pa.string())
    columns = {"conversation_hash": names, "conversation": ["hello"], "language": ["English"]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(UnreadableShardError):
        read(tmp_path / "x.parquet")


def test_bytes_that_are_not_utf8_are_read(tmp_path):
    content = pa.array([b"caf\xe9 ok"]).cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"prompt": content}), tmp_path / "x.parquet")
    found, _ = read(tmp_path / "x.parquet", CorpusParams(folder="corpus", turns="prompt"))
    assert found == [(0, None, "caf\ufffd ok")]


def test_a_message_of_five_megabytes_passes_through(tmp_path):
    rows = [{**ROWS[0], "conversation": conversation(("user", "x" * 5_000_000))}]
    (found,), _ = read(write_parquet(tmp_path / "x.parquet", rows))
    assert len(found[2]) == 5_000_000


def test_single_messages_are_read_again(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", ROWS * 3)
    assert read_messages(path, PLAIN, {5, 29, 2}) == {5: "six", 29: "ten"}


def test_a_folder_gives_its_shards_by_name_or_says_that_it_is_empty(tmp_path):
    for name in ("b.parquet", "a.jsonl", "deep/c.parquet", "readme.md"):
        (tmp_path / "corpus" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "corpus" / name).touch()
    (tmp_path / "corpus" / "folder.parquet").mkdir()
    found = [path.relative_to(tmp_path / "corpus").as_posix() for path in shards(tmp_path, PLAIN)]
    assert found == ["a.jsonl", "b.parquet", "deep/c.parquet"]
    with pytest.raises(SeamError, match=r"nowhere: no .parquet or .jsonl file"):
        shards(tmp_path, CorpusParams(folder="nowhere"))


def test_an_unknown_corpus_is_named_with_the_known_ones(tmp_path):
    wild = wild_project(tmp_path / "project", corpora=["wildcat"])
    with pytest.raises(SeamError, match=r"'wildcat'.* describes only .*wildchat"):
        find_corpus(wild, "wildcat")


class Gated(Handler):
    """A hub that knows the dataset and hands out nothing of it."""

    def do_GET(self) -> None:  # noqa: N802
        if self.path.startswith("/api/datasets/lab/chats"):
            about = {"id": "lab/chats", "sha": "a" * 40, "siblings": [{"rfilename": "x.parquet"}]}
            return self.send(json.dumps(about).encode())
        return self.send(b"{}", 403, X_Error_Code="GatedRepo")

    do_HEAD = do_GET  # noqa: N815


def fetch(root: Path, endpoint: str) -> subprocess.CompletedProcess[str]:
    """List the shards of a hub corpus in a process that knows another hub."""
    program = (
        "import sys; from pathlib import Path; from seam_lib.core.params import CorpusParams\n"
        "from seam_lib.core.errors import SeamError; from seam_lib.wild.corpus import shards\n"
        "corpus = CorpusParams(folder='chats', hub='lab/chats')\n"
        "try: print(*[path.name for path in shards(Path.cwd(), corpus)])\n"
        "except SeamError as error: print(error)"
    )
    places = {"HF_ENDPOINT": endpoint, "HF_HOME": str(root / "cache"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env=os.environ | places,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_hub_corpus_is_downloaded_whole_and_once(tmp_path):
    data = write_parquet(tmp_path / "x.parquet", ROWS).read_bytes()
    with serving(hub({"lab/chats": {"x.parquet": data, "README.md": b"hello"}})) as endpoint:
        assert fetch(tmp_path, endpoint).stdout == "x.parquet\n"
    assert (tmp_path / "chats" / "x.parquet").read_bytes() == data
    assert fetch(tmp_path, "http://127.0.0.1:9").stdout == "x.parquet\n"


def test_a_gated_corpus_says_what_to_do_and_an_absent_hub_as_well(tmp_path):
    with serving(Gated) as endpoint:
        said = fetch(tmp_path, endpoint).stdout
    assert said.startswith("lab/chats is gated: accept its terms") and "HF_TOKEN" in said
    said = fetch(tmp_path, "http://127.0.0.1:9").stdout
    assert "lab/chats: cannot be downloaded: [Errno 111] Connection refused. The files" in said
    assert not (tmp_path / "chats").exists()
