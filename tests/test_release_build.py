"""The release from the corpora: items by cluster id, comments as the release gave them."""

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from release_like import CASES, release_project
from scratch import ROOT
from typer.testing import CliRunner

from seam_lib.build.clusters import build_benchmark, release_clusters
from seam_lib.build.comments import Deck, read_assignments, read_pools
from seam_lib.build.composition import GENRES
from seam_lib.build.release import ASSIGNMENTS, DIGESTS, in_release_order, read_digests
from seam_lib.build.sources import ADAPTERS, Item, read_items
from seam_lib.cli import app
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.params import load_params
from seam_lib.core.rows import CONDITIONS

POOLS = read_pools(ROOT / "data" / "comments.yaml")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return release_project(tmp_path / "project", clusters="release", name="release")


def build(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(root)
    return CliRunner().invoke(app, ["build"])


def change_rows(root: Path, source: str, change: Any) -> None:
    path = root / "data" / "sources" / f"{source}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# What the release says


def test_the_comments_of_the_release_are_of_its_clusters_and_pools() -> None:
    assigned = read_assignments(ROOT / ASSIGNMENTS, POOLS)
    assert list(assigned) == list(read_digests(ROOT / DIGESTS))
    genres = {item.source: item.genre for item in all_items(ROOT)}
    assert all(
        native in POOLS.native[genres[name.partition(":")[0]]]
        for name, (_, native) in assigned.items()
    )


def test_the_native_comments_are_dealt_by_genre_but_for_one_that_collides() -> None:
    """Nothing but the release's cluster ids is needed to deal them once more."""
    generator = random.Random(42)
    decks = {genre: Deck(pool, generator) for genre, pool in POOLS.native.items()}
    genres = {item.source: item.genre for item in all_items(ROOT)}
    passed = []
    for name, (_, native) in read_assignments(ROOT / ASSIGNMENTS, POOLS).items():
        deck = decks[genres[name.partition(":")[0]]]
        while deck.deal(name, []) != native:
            passed.append(name)
    assert passed == [
        "commitpackft:431ca4f2d44656ef9f97be50718712c6f3a0fa9b:qtawesome/tests/test_qtawesome.py"
    ]


def all_items(root: Path) -> list[Item]:
    return [
        item
        for name in GENRES
        for item in read_items(ADAPTERS[name], root / "data" / "sources" / f"{name}.jsonl").items
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("I barely slept last night.", "I slept.", r":\d+: data/comments.yaml has no casual comme"),
        ("cluster_id,casual", "cluster_id,comment", r":1: the columns are"),
    ],
)
def test_a_damaged_table_of_comments_is_named(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = tmp_path / "assignments.csv"
    path.write_text((ROOT / ASSIGNMENTS).read_text(encoding="utf-8").replace(old, new, 1))
    with pytest.raises(SeamError, match=rf"assignments\.csv{words}"):
        read_assignments(path, POOLS)


# Building it


def test_every_message_of_the_release_is_built(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = build(root, monkeypatch)
    assert result.exit_code == 0, result.output
    assert "480 of 480 messages are identical." in result.output
    built = read_benchmark(root / "data" / "benchmark" / "release")
    assert {case.id: case for case in built} == {case.id: case for case in CASES}
    clusters = list(dict.fromkeys(case.composition_event_id for case in built))
    assert clusters == in_release_order(clusters)
    report = (root / "data" / "benchmark" / "release" / "README.md").read_text()
    assert "has the digest that the release publishes" in report and "missing" not in report


def test_what_upstream_no_longer_has_is_named_and_the_rest_is_built(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [case for case in CASES if case.source == "stackexchange"]
    gone, edited = posts[0].source_item_id, posts[6].source_item_id

    def change(rows: list[dict[str, Any]]) -> None:
        rows[:] = [row for row in rows if str(row["question_id"]) != gone]
        for row in rows:
            if str(row["question_id"]) == edited:
                row["body"] += "<p>Edit: thanks.</p>"

    change_rows(root, "stackexchange", change)
    result = build(root, monkeypatch)
    assert result.exit_code == 1
    assert "470 of 480 messages are identical. 2 of 96 clusters are missing." in result.output
    report = (root / "data" / "benchmark" / "release" / "README.md").read_text()
    for number, reason in ((gone, "no row gives this item"), (edited, "the row gives another mes")):
        ids = [case.id.rpartition(":")[2] for case in posts if case.source_item_id == number]
        assert f"missing  stackexchange:{number}: {', '.join(ids[1:])}" in result.output
        assert f"| stackexchange:{number} | {reason}" in report
        assert all(digest in report for digest in ids[1:])
    lost = {f"stackexchange:{gone}", f"stackexchange:{edited}"}
    built = read_benchmark(root / "data" / "benchmark" / "release")
    assert {case.id: case for case in built} == {
        case.id: case for case in CASES if case.composition_event_id not in lost
    }, "no other cluster has another comment"


def test_other_rows_and_untidy_ones_change_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[:0] = [{"_id": 99, "src": "A sentence of nobody that was not there before. " * 3}]
        rows += [{"_id": None, "src": "x" * 99}, {"_id": 7}, {"_id": "8", "src": None}, {"_id": 9}]
        for row in rows[1:20]:
            row["_id"] = int(row["_id"])  # as they are upstream
            row.pop("task", None)

    change_rows(root, "coedit", change)
    result = build(root, monkeypatch)
    assert result.exit_code == 0, result.output
    report = (root / "data" / "benchmark" / "release" / "README.md").read_text()
    assert "| coedit | Object missing required field `src` | 2 |" in report
    assert "| coedit | Expected `int \\| str`, got `null` - at `$._id` | 1 |" in report


def test_of_an_id_that_comes_twice_the_published_text_is_taken() -> None:
    items = all_items(ROOT)
    assigned, digests = tables()
    name = next(iter(assigned))
    mine = next(item for item in items if item.cluster_id == name)
    twice = [msgspec.structs.replace(mine, artifact=mine.artifact + " "), *items]
    found, missing = release_clusters(twice, assigned, digests)
    assert missing == {} and mine in [cluster.item for cluster in found]


def test_a_published_message_that_breaks_an_invariant_is_named() -> None:
    """The reference is in no message, so digests alone would not see it."""
    assigned, digests = tables()
    name = next(iter(assigned))
    items = [
        msgspec.structs.replace(item, reference=assigned[name][0].text)
        if item.cluster_id == name
        else item
        for item in all_items(ROOT)
    ]
    found, missing = release_clusters(items, assigned, digests)
    assert list(missing) == [name] and "occurs without the comment" in missing[name]
    assert len(found) == 95


def tables() -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Comments and digests of our clusters, as the release has them of its own."""
    comments = {c.text: c for c in POOLS.casual}
    comments |= {c.text: c for pool in POOLS.native.values() for c in pool}
    by: dict[str, dict[str, Any]] = {}
    for case in CASES:
        by.setdefault(case.composition_event_id, {})[case.condition] = case
    assigned = {
        name: tuple(comments[members[c].afterthought] for c in ("newline", "newline_R"))
        for name, members in by.items()
    }
    digests = {
        name: {c: members[c].id.rpartition(":")[2] for c in CONDITIONS[1:]}
        for name, members in by.items()
    }
    return assigned, digests


def test_tables_that_do_not_belong_together_are_named(root: Path) -> None:
    path = root / ASSIGNMENTS
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]))
    with pytest.raises(SeamError, match=r"assignments\.csv: stackexchange:\d+ is not in this file"):
        build_benchmark(root, load_params(root).build)
    assert not (root / "data" / "benchmark").exists()
