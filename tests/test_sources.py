import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scratch import ROOT

from seam_lib.build.sources import ADAPTERS, Item, read_items
from seam_lib.build.sources.stackexchange import clean_body, license_at
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows
from seam_lib.core.rows import PARTITIONS, SOURCES

#: A row of each corpus that its filters let through.
ROWS: dict[str, dict[str, Any]] = {
    "canitedit": {
        "id": 7, "name": "x", "before": "b" * 80, "after": "a", "instruction_lazy": "lazy",
        "instruction_descriptive": "long", "tests": "assert 1", "taxonomy": {"topic": "Misc"},
    },
    "coedit": {"_id": "3", "task": "gec", "src": "Fix this: " + "s" * 80, "tgt": "t"},
    "commitpackft": {
        "commit": "c0ffee", "old_file": "a/b.py", "old_contents": "o" * 120, "new_contents": "n",
        "subject": "  Add a test \n", "license": "isc", "repos": "me/one,me/two",
    },
    "iterater": {
        "doc_id": "d1", "revision_depth": "2", "before_revision": "b" * 80, "after_revision": "a",
    },
    "pararev": {
        "id_paragraph": "p.1.00", "parag_1": "o" * 120, "parag_2": "r",
        "annot_1": {"annotation": ["x"], "instruction": None},
        "annot_2": {"annotation": ["x"], "instruction": "Shorten it."},
    },
    "stackexchange": {
        "question_id": 11, "title": "T", "body": f"<p>{'b' * 120}</p>", "creation_date": 1300000000,
    },
}  # fmt: skip


def item(source: str, **changes: Any) -> Item | None:
    adapter = ADAPTERS[source]
    found = adapter.item(msgspec.convert(ROWS[source] | changes, adapter.row))
    assert found is None or isinstance(found, Item)
    return found


def test_the_adapters_stand_in_the_order_of_the_sources() -> None:
    assert tuple(ADAPTERS) == SOURCES


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("canitedit", ("7", "b" * 80, "a", "lazy", "MIT", "code", "permissive")),
        ("coedit", ("3", "s" * 80, "t", None, "Apache-2.0", "prose", "permissive")),
        (
            "commitpackft",
            ("c0ffee:a/b.py", "o" * 120, "n", "Add a test", "isc", "code", "permissive_review"),
        ),
        (
            "iterater",
            ("d1:revision-2", "b" * 80, "a", None, "Apache-2.0", "prose_long", "permissive"),
        ),
        (
            "pararev",
            ("p.1.00", "o" * 120, "r", "Shorten it.", "CC-BY-NC-SA-4.0", "scientific_prose",
             "noncommercial_sharealike"),
        ),
        ("stackexchange", ("11", "b" * 120, None, None, "CC-BY-SA-2.5", "technical", "sharealike")),
    ],
)  # fmt: skip
def test_what_an_item_takes_from_its_row(source: str, wanted: tuple[Any, ...]) -> None:
    got = item(source)
    assert got and got.source == source and got.partition in PARTITIONS
    assert (
        got.id, got.artifact, got.reference, got.instruction, got.license, got.genre, got.partition
    ) == wanted  # fmt: skip


def test_further_fields_and_addresses() -> None:
    canitedit, commit = item("canitedit"), item("commitpackft")
    assert canitedit and canitedit.extra == {
        "alternate_instruction": "long", "utility_tests": "assert 1", "taxonomy": {"topic": "Misc"}
    }  # fmt: skip
    assert commit and commit.url is None
    assert ADAPTERS["commitpackft"].url(commit) == "https://github.com/me/one/commit/c0ffee"


@pytest.mark.parametrize(
    ("source", "column", "least", "most", "wrap"),
    [
        ("canitedit", "before", 80, 6000, "{}"),
        ("coedit", "src", 80, 4000, "{}"),
        ("coedit", "src", 80, 4000, "Improve the grammar:  {}"),
        ("commitpackft", "old_contents", 120, 6000, "{}"),
        ("iterater", "before_revision", 80, 6000, "{}"),
        ("pararev", "parag_1", 120, 6000, "{}"),
        ("stackexchange", "body", 120, 6000, "<p>{}</p>\n"),
    ],
)
def test_the_bounds_of_the_length(
    source: str, column: str, least: int, most: int, wrap: str
) -> None:
    kept = [
        n
        for n in (least - 1, least, most, most + 1)
        if item(source, **{column: wrap.format("x" * n)})
    ]
    assert kept == [least, most]


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("commitpackft", {"new_contents": ""}),
        ("commitpackft", {"new_contents": "o" * 120}),
        ("commitpackft", {"subject": "  1234567  "}),
        ("commitpackft", {"subject": "x" * 241}),
        ("pararev", {"parag_2": None}),
        ("pararev", {"parag_2": ""}),
    ],
)
def test_other_rows_that_are_dropped(source: str, changes: dict[str, Any]) -> None:
    assert item(source, **changes) is None


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [("A.", "B.", "A."), ("", "B.", "B."), (None, None, None), (None, "B.", "B.")],
)
def test_the_first_instruction_given_counts(
    first: str | None, second: str | None, wanted: str | None
) -> None:
    got = item("pararev", annot_1={"instruction": first}, annot_2={"instruction": second})
    assert got and got.instruction == wanted


def test_a_missing_annotation_is_no_instruction() -> None:
    got = item("pararev", annot_1=None, annot_2=None)
    assert got and got.instruction is None


def test_a_revision_depth_that_is_absent() -> None:
    got = item("iterater", revision_depth=None)
    assert got and got.id == "d1"


@pytest.mark.parametrize(
    ("src", "artifact"),
    [
        ("Fix grammar: A b", "A b"),
        ("Fix grammar:A b", "Fix grammar:A b"),
        ("ab: c", "ab: c"),
        ("x" * 100 + ": c", "c"),
        ("x" * 101 + ": c", "x" * 101 + ": c"),
        ("Fix: one: two", "one: two"),
    ],
)
def test_the_task_prefix(src: str, artifact: str) -> None:
    from seam_lib.build.sources.coedit import PREFIX

    assert PREFIX.sub("", src) == artifact


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>One</p>\n\n<p>two &amp; <b>three</b></p>", "One \n\n two & three"),
        (
            "<p>See:</p>\n<pre><code>if a &lt; b:\n    c = '&lt;p&gt;'\n</code></pre>\n<p>End</p>",
            "See: \n\n```\nif a < b:\n c = '<p>'\n\n```\n\n End",
        ),
        ('<pre class="lang-py"><code>x\t\ty</code></pre>', "```\nx y\n```"),
        ("a <code>b</code> c", "a b c"),
    ],
)
def test_bodies_are_cleaned(body: str, text: str) -> None:
    assert clean_body(body) == text


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(alphabet="ab <>/&;\t\n`", max_size=60))
def test_a_cleaned_body_has_no_runs_and_no_ends(body: str) -> None:
    text = clean_body(body)
    assert text == text.strip() and "  " not in text and "\t" not in text


@pytest.mark.parametrize(
    ("day", "version"),
    [
        ((2009, 1, 1), "2.5"), ((2011, 4, 7), "2.5"), ((2011, 4, 8), "3.0"),
        ((2018, 5, 1), "3.0"), ((2018, 5, 2), "4.0"),
    ],
)  # fmt: skip
def test_the_licence_follows_the_date(day: tuple[int, int, int], version: str) -> None:
    assert license_at(int(datetime(*day, tzinfo=UTC).timestamp())) == f"CC-BY-SA-{version}"


def test_the_last_edit_decides_over_the_creation() -> None:
    got = item("stackexchange", last_edit_date=1600000000)
    assert got and got.license == "CC-BY-SA-4.0"


@pytest.mark.parametrize("source", SOURCES)
def test_our_own_corpora(source: str) -> None:
    adapter = ADAPTERS[source]
    path = ROOT / "data" / "sources" / f"{source}.jsonl"
    items = list(read_items(adapter, path))
    assert len(list(read_rows(path, adapter.row))) > len(items), "the filters drop some rows"
    assert len(items) > len({item.artifact for item in items}) >= 30, "and some are repeated"
    sizes = sorted(len(item.artifact) for item in items)
    assert sizes[-1] > 2 * sizes[0], "short and long artifacts"


@pytest.mark.parametrize("source", SOURCES)
def test_a_missing_column_is_named_with_file_and_line(tmp_path: Path, source: str) -> None:
    path = tmp_path / "rows.jsonl"
    for column in (
        f.encode_name for f in msgspec.structs.fields(ADAPTERS[source].row) if f.required
    ):
        row = {key: value for key, value in ROWS[source].items() if key != column}
        path.write_text(f"{json.dumps(ROWS[source])}\n{json.dumps(row)}\n")
        with pytest.raises(SeamError, match=rf"rows\.jsonl:2: .*`{column}`"):
            list(read_items(ADAPTERS[source], path))


@pytest.mark.parametrize(
    "line", ['{"_id": "1", "task": "gec", "src": "\\ud800", "tgt": ""}', "{", "[]", '{"_id": 1}']
)
def test_a_row_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line)
    with pytest.raises(SeamError, match=r"rows\.jsonl:1"):
        list(read_items(ADAPTERS["coedit"], path))
