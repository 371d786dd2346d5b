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
from seam_lib.build.sources.item import read_item
from seam_lib.build.sources.stackexchange import clean_body, license_at
from seam_lib.core.errors import SeamError
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


def item(source: str, **changes: Any) -> Item:
    found = read_item(ADAPTERS[source], ROWS[source] | changes)
    assert isinstance(found, Item), found
    return found


def refusal(source: str, **changes: Any) -> str:
    found = read_item(ADAPTERS[source], ROWS[source] | changes)
    assert isinstance(found, str)
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
    assert got.source == source and got.partition in PARTITIONS
    assert (
        got.id, got.artifact, got.reference, got.instruction, got.license, got.genre, got.partition
    ) == wanted  # fmt: skip


def test_further_fields_and_addresses() -> None:
    canitedit, commit = item("canitedit"), item("commitpackft")
    assert canitedit.extra == {
        "alternate_instruction": "long", "utility_tests": "assert 1", "taxonomy": {"topic": "Misc"}
    }  # fmt: skip
    assert commit.url is None
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
        if isinstance(
            read_item(ADAPTERS[source], ROWS[source] | {column: wrap.format("x" * n)}), Item
        )
    ]
    assert kept == [least, most]


@pytest.mark.parametrize(
    ("source", "changes", "reason"),
    [
        ("canitedit", {"before": "short"}, "the text has fewer than 80 characters"),
        ("coedit", {"src": "x" * 4001}, "the text has more than 4,000 characters"),
        ("commitpackft", {"new_contents": ""}, "the file does not change"),
        ("commitpackft", {"new_contents": None}, "the file does not change"),
        ("commitpackft", {"new_contents": "o" * 120}, "the file does not change"),
        (
            "commitpackft",
            {"subject": "  1234567  "},
            "the subject does not have 8 to 240 characters",
        ),
        ("commitpackft", {"subject": "x" * 241}, "the subject does not have 8 to 240 characters"),
        ("commitpackft", {"subject": None}, "the subject does not have 8 to 240 characters"),
        ("pararev", {"parag_2": None}, "there is no revision"),
        ("pararev", {"parag_2": ""}, "there is no revision"),
        ("canitedit", {"instruction_lazy": None}, "Expected `str`, got `null` - at `$.instr"),
        ("coedit", {"src": 7}, "Expected `str`, got `int` - at `$.src`"),
        ("stackexchange", {"body": None}, "Expected `str`, got `null` - at `$.body`"),
        ("stackexchange", {"creation_date": None}, "Expected `int`, got `null`"),
    ],
)
def test_why_a_row_gives_no_item(source: str, changes: dict[str, Any], reason: str) -> None:
    assert refusal(source, **changes).startswith(reason)


@pytest.mark.parametrize(
    ("source", "changes", "wanted"),
    [
        ("canitedit", {"id": "7"}, {"id": "7"}),
        ("canitedit", {"after": None, "taxonomy": None}, {"reference": None}),
        ("canitedit", {"taxonomy": ["a"], "tests": None}, {"id": "7"}),
        ("coedit", {"_id": 3}, {"id": "3"}),
        ("coedit", {"tgt": None}, {"reference": None}),
        ("coedit", {"task": None}, {"operation": "edit"}),
        ("commitpackft", {"license": None}, {"license": "MIT dataset; the repository's licence is "
                                                       "not stated"}),
        ("commitpackft", {"repos": None}, {"extra": {}}),
        ("iterater", {"doc_id": 67329715, "revision_depth": 1}, {"id": "67329715:revision-1"}),
        ("iterater", {"doc_id": 100175.0, "revision_depth": 2.0}, {"id": "100175:revision-2"}),
        ("iterater", {"doc_id": 2011.04393}, {"id": "2011.04393:revision-2"}),
        ("iterater", {"after_revision": None}, {"reference": None}),
        ("pararev", {"id_paragraph": 12}, {"id": "12"}),
        ("pararev", {"annot_1": {"instruction": " Shorten.\n"}}, {"instruction": "Shorten."}),
        ("pararev", {"annot_1": {"instruction": " \n"}}, {"instruction": "Shorten it."}),
        ("pararev", {"annot_1": {}, "annot_2": {"annotator": "a"}}, {"instruction": None}),
        ("stackexchange", {"question_id": "11", "title": None}, {"id": "11"}),
    ],
)  # fmt: skip
def test_untidy_rows_that_give_an_item(
    source: str, changes: dict[str, Any], wanted: dict[str, Any]
) -> None:
    got = item(source, **changes)
    assert {name: getattr(got, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("canitedit", "after"), ("canitedit", "taxonomy"), ("coedit", "tgt"),
        ("commitpackft", "license"), ("commitpackft", "repos"), ("iterater", "revision_depth"),
        ("pararev", "annot_1"), ("pararev", "annot_2"), ("stackexchange", "title"),
    ],
)  # fmt: skip
def test_columns_that_a_row_may_lack(source: str, column: str) -> None:
    row = {name: value for name, value in ROWS[source].items() if name != column}
    assert isinstance(read_item(ADAPTERS[source], row), Item)


def test_a_commit_of_no_named_repository_has_no_address() -> None:
    assert ADAPTERS["commitpackft"].url(item("commitpackft", repos=None)) is None


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [("A.", "B.", "A."), ("", "B.", "B."), (None, None, None), (None, "B.", "B.")],
)
def test_the_first_instruction_given_counts(
    first: str | None, second: str | None, wanted: str | None
) -> None:
    got = item("pararev", annot_1={"instruction": first}, annot_2={"instruction": second})
    assert got.instruction == wanted


def test_a_missing_annotation_is_no_instruction() -> None:
    got = item("pararev", annot_1=None, annot_2=None)
    assert got.instruction is None


def test_a_revision_depth_that_is_absent() -> None:
    got = item("iterater", revision_depth=None)
    assert got.id == "d1"


@pytest.mark.parametrize(
    ("src", "artifact"),
    [
        ("Fix grammar: A b", "A b"),
        ("Fix grammar:A b", "A b"),
        ("It opens at 9:30.", "30."),
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
        ("<pre><code>x\t\ty</code></pre>", "```\nx y\n```"),
        ('<pre class="lang-py"><code>x\t\ty</code></pre>', "x y"),
        ('<pre><code class="a">x</code></pre> z', "x z"),
        ("<pre>\n<code>x</code></pre>", "x"),
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
    assert got.license == "CC-BY-SA-4.0"


@pytest.mark.parametrize("source", SOURCES)
def test_our_own_corpora(source: str) -> None:
    items, left_out = read_items(ADAPTERS[source], ROOT / "data" / "sources" / f"{source}.jsonl")
    assert left_out, "the filters drop some rows"
    assert len(items) > len({item.artifact for item in items}) >= 30, "and some are repeated"
    sizes = sorted(len(item.artifact) for item in items)
    assert sizes[-1] > 2 * sizes[0], "short and long artifacts"


@pytest.mark.parametrize("source", SOURCES)
def test_rows_without_a_needed_column_are_left_out(tmp_path: Path, source: str) -> None:
    path = tmp_path / "rows.jsonl"
    needed = [f.encode_name for f in msgspec.structs.fields(ADAPTERS[source].row) if f.required]
    rows = [ROWS[source], *({k: v for k, v in ROWS[source].items() if k != c} for c in needed)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, rows[1]]))
    items, left_out = read_items(ADAPTERS[source], path)
    assert len(items) == 1
    reasons = [f"Object missing required field `{column}`" for column in needed]
    assert left_out == {reason: [n] for n, reason in enumerate(reasons, 2)} | {
        reasons[0]: [2, len(rows) + 1]
    }


def test_a_source_that_gives_nothing_says_why(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"_id": "1", "src": "x"}, {"_id": "2"}, {"_id": "3", "src": "y"}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(
        SeamError,
        match=r"rows\.jsonl: none of its rows gives an item: the text "
        r"has fewer than 80 characters \(2 rows, first line 1\); Object missing",
    ):
        read_items(ADAPTERS["coedit"], path)
    path.write_text("")
    with pytest.raises(SeamError, match="it has no rows"):
        read_items(ADAPTERS["coedit"], path)


@pytest.mark.parametrize("line", ['{"_id": "1", "task": "gec", "src": "\\ud800"}', "{", "[]"])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line)
    with pytest.raises(SeamError, match=r"rows\.jsonl:1"):
        read_items(ADAPTERS["coedit"], path)
