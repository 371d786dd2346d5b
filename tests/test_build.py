import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import TEXTS
from scratch import ROOT, scratch_project
from typer.testing import CliRunner

from seam_lib.build.clusters import (
    build_benchmark,
    compose_cases,
    make_clusters,
    own_cluster,
    sample,
)
from seam_lib.build.comments import Pools, read_pools
from seam_lib.build.conditions import conditions
from seam_lib.build.sources import Item
from seam_lib.cli import app
from seam_lib.core.benchmark import read_benchmark, write_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.params import load_params
from seam_lib.core.rows import CONDITIONS, SOURCES

POOLS = read_pools(ROOT / "data" / "comments.yaml")
EXTRA = ["semantic_tags", "semantic_tags_instruction", "boundary_text_only"]


def item(number: int, artifact: str, source: str = "coedit", **fields: Any) -> Item:
    base = {
        "operation": "gec", "license": "MIT", "genre": "prose"
    }  # fmt: skip
    return Item(source=source, id=str(number), artifact=artifact, **(base | fields))


def build(root: Path) -> Path:
    return build_benchmark(root, load_params(root).build)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Sampling


def test_sampling_deals_the_thirds_in_turn_in_the_order_of_digests() -> None:
    items = [item(n, "x" * (n + 1)) for n in range(9)]  # low is 4 characters, high 7
    thirds = [items[:4], items[4:7], items[7:]]
    for third in thirds:
        third.sort(key=lambda i: hashlib.sha256(f"coedit:{i.id}".encode()).hexdigest())
    wanted = [third[turn] for turn in range(2) for third in thirds] + [thirds[0][2], thirds[1][2]]
    assert sample("coedit", items, 8) == wanted


def test_the_first_of_equal_artifacts_wins() -> None:
    taken = sample("coedit", [item(1, "a"), item(2, "a"), item(3, "bb"), item(4, "ccc")], 3)
    assert sorted(i.id for i in taken) == ["1", "3", "4"]


def test_too_few_items_are_an_error_with_source_and_count() -> None:
    with pytest.raises(SeamError, match=r"^coedit: 1 usable items, 2 wanted"):
        sample("coedit", [item(1, "a"), item(2, "a")], 2)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=60, unique=True), st.data())
def test_a_sample_is_balanced_and_knows_no_file_order(sizes: list[int], data: Any) -> None:
    items = [item(n, "x" * n) for n in sizes]
    count = data.draw(st.integers(1, len(items)))
    taken = sample("coedit", items, count)
    assert len({i.id for i in taken}) == count
    assert sample("coedit", items[::-1], count) == taken
    ordered = sorted(sizes)
    low, high = ordered[len(sizes) // 3], ordered[2 * len(sizes) // 3]
    third = Counter((len(i.artifact) > low) + (len(i.artifact) > high) for i in taken)
    available = Counter((n > low) + (n > high) for n in sizes)
    for one in range(3):
        for other in range(3):
            exhausted = third[one] == available[one]
            assert exhausted or third[one] >= third[other] - 1


# Comments


def plain_choice(samples: dict[str, list[Item]], pools: Pools, head: str) -> dict[str, list[str]]:
    """Both choices, written down once more from their description alone."""
    chosen: dict[str, list[str]] = {}

    def take(pool: list[Any], at: int, thing: Item) -> int:
        text = "\n".join([thing.artifact, thing.reference or "", head]).lower()
        for step in range(len(pool)):
            one = pool[(at + step) % len(pool)]
            if not any(w in text for w in [one.text.lower(), *one.witnesses]):
                chosen.setdefault(thing.cluster_id, []).append(one.text)
                return at + step + 1
        raise AssertionError("exhausted")

    generator = random.Random(42)
    for things in samples.values():
        pool, at = pools.casual[:], 0
        generator.shuffle(pool)
        for thing in things:
            at = take(pool, at, thing)
    generator = random.Random(42)
    natives = {genre: pool[:] for genre, pool in pools.native.items()}
    for pool in natives.values():
        generator.shuffle(pool)
    places = dict.fromkeys(natives, 0)
    for thing in sorted((t for ts in samples.values() for t in ts), key=lambda t: t.cluster_id):
        places[thing.genre] = take(natives[thing.genre], places[thing.genre], thing)
    return chosen


def test_comments_are_chosen_as_described() -> None:
    generator = random.Random(0)
    pool = [*POOLS.casual, *(c for pool in POOLS.native.values() for c in pool)]
    genres = dict(zip(SOURCES[1:5], ["prose", "prose", "prose_long", "prose_long"], strict=True))
    samples = {
        source: [
            item(
                n,
                f"{source} {n} {generator.choice(pool).text.upper()}",
                source=source,
                reference=generator.choice(pool).witnesses[0],
                genre=genre,
            )
            for n in range(50)
        ]
        for source, genre in genres.items()
    }
    clusters = make_clusters(samples, POOLS, seed=42)
    wanted = plain_choice(samples, POOLS, clusters[0].head)
    assert {c.id: [c.casual.text, c.native.text] for c in clusters} == wanted


def test_a_genre_without_comments_is_named() -> None:
    with pytest.raises(SeamError, match=r"^coedit:1: no native comments for the genre 'verse'"):
        make_clusters({"coedit": [item(1, "a", genre="verse")]}, POOLS, seed=42)


@pytest.mark.parametrize(("other", "what"), [(item(1, "b"), "id"), (item(2, "a"), "artifact")])
def test_what_is_repeated_is_named(other: Item, what: str) -> None:
    with pytest.raises(SeamError, match=rf"^coedit:{other.id}: the same {what} as coedit:1"):
        make_clusters({"coedit": [item(1, "a"), other]}, POOLS, seed=42)


# Clusters to cases


@settings(derandomize=True, max_examples=100, deadline=None)
@given(artifact=TEXTS, reference=st.none() | TEXTS, instruction=st.text(), code=st.booleans())
def test_any_artifact_becomes_a_cluster_that_passes(
    artifact: str, reference: str | None, instruction: str, code: bool
) -> None:
    genre = "code" if code else "prose"
    thing = item(101, artifact, reference=reference, instruction=instruction, genre=genre)
    wanted = conditions([*CONDITIONS, *EXTRA])
    clusters = make_clusters({"coedit": [thing]}, POOLS, seed=42)
    cases = list(compose_cases(clusters, wanted, seed=42))
    assert [case.condition for case in cases] == [*CONDITIONS, *EXTRA]
    for case in cases:
        digest = hashlib.sha256(case.message.encode()).hexdigest()[:12]
        assert case.id == f"coedit:101:{case.condition}:{digest}"
        assert (case.afterthought is None) == (case.condition == "clean")


def test_what_a_clean_row_knows_of_the_comment() -> None:
    clusters = make_clusters({"coedit": [item(1, "text")]}, POOLS, seed=42)
    clean, newline, *_, native = compose_cases(clusters, conditions(CONDITIONS), seed=42)
    assert clean.afterthought is clean.afterthought_role is clean.witness_tokens is None
    assert (
        clean.forbidden_proposition
        == newline.forbidden_proposition
        == clusters[0].casual.proposition
    )
    assert native.forbidden_proposition == clusters[0].native.proposition
    assert newline.witness_tokens == clusters[0].casual.witnesses


BROKEN = """
from seam_lib.build.conditions import condition, join, pasted, typed
from seam_lib.core.rows import Composed

@condition("broken", comment="casual")
def broken(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    return join(typed("task_instruction", head), "\\n", pasted(artifact), "\\n", comment)
"""


def test_a_plugins_condition_is_held_to_the_invariants(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(BROKEN)
    wanted = conditions(["clean", "broken"], tmp_path)
    clusters = make_clusters({"coedit": [item(1, "text")]}, POOLS, seed=42)
    with pytest.raises(SeamError, match=r"^coedit:1: broken: head, artifact and comment are not"):
        list(compose_cases(clusters, wanted, seed=42))


# Files


def test_the_committed_benchmark_is_what_a_build_gives(tmp_path: Path) -> None:
    built = contents(build(scratch_project(tmp_path)))
    assert built == contents(ROOT / "data" / "benchmark" / "embedded")


def test_building_again_changes_nothing(tmp_path: Path) -> None:
    root = scratch_project(tmp_path, per_source=3)
    before = contents(build(root))
    assert contents(build(root)) == before


def test_the_embedded_benchmark() -> None:
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
    assert len(cases) == 576 == len({case.id for case in cases})
    assert Counter((c.source, c.condition) for c in cases) == {
        (source, condition): 16 for source in SOURCES for condition in CONDITIONS
    }
    assert list(dict.fromkeys(case.source for case in cases)) == list(SOURCES)
    clusters = [case.composition_event_id for case in cases]
    assert all(len(set(clusters[i : i + 6])) == 1 for i in range(0, 576, 6))
    assert all(case.url is None for case in cases), "our own texts are published nowhere else"


def test_one_file_holds_one_licence_partition() -> None:
    folder = ROOT / "data" / "benchmark" / "embedded"
    sources = {
        path.stem: {case.source for case in read_benchmark(path)} for path in folder.glob("*.jsonl")
    }
    assert sources == {
        "permissive": {"canitedit", "coedit", "commitpackft", "iterater"},
        "cc-by-sa": {"stackexchange"},
        "cc-by-nc-sa": {"pararev"},
    }


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SeamError, match="no cases there"):
        read_benchmark(tmp_path)
    with pytest.raises(SeamError, match="no cases there"):
        read_benchmark(tmp_path / "none")


def test_an_error_on_the_way_leaves_the_old_files(tmp_path: Path) -> None:
    root = scratch_project(tmp_path, per_source=3)
    folder = build(root)
    before = contents(folder)
    cases = read_benchmark(folder)

    def failing() -> Any:
        yield from cases[:30]
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_benchmark(folder, failing())
    assert contents(folder) == before


def edit_rows(root: Path, source: str, change: Any) -> None:
    path = root / "data" / "sources" / f"{source}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)), encoding="utf-8")


def without_any_src(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "src"} for row in rows]


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        ({}, lambda rows: rows[:5], r"coedit: \d usable items, 16 wanted.* Left out: the text has"),
        ({}, without_any_src, r"coedit\.jsonl: none of its rows gives an item: Object missing"),
        ({"clusters": "release"}, None, "no row of the sources gives one of its 300 clusters"),
        ({"conditions": ["clean", "newlines"]}, None, "names 'newlines'; known are"),
        ({}, "1 / 0", r"mine\.py: the plugin cannot be run"),
    ],
)
def test_what_stops_a_build_leaves_no_file(
    tmp_path: Path, settings: dict[str, Any], change: Any, message: str
) -> None:
    root = scratch_project(tmp_path, **settings)
    if isinstance(change, str):
        (root / "data" / "conditions" / "mine.py").write_text(change)
    elif change:
        edit_rows(root, "coedit", change)
    with pytest.raises(SeamError, match=message):
        build(root)
    assert not (root / "data" / "benchmark").exists()


def test_an_exhausted_pool_stops_a_build(tmp_path: Path) -> None:
    root = scratch_project(tmp_path)
    pools = yaml.safe_load((root / "data" / "comments.yaml").read_text(encoding="utf-8"))
    pools["casual"] = [["note", "I sold the boat.", "the boat is sold", ["e"]]]
    (root / "data" / "comments.yaml").write_text(yaml.safe_dump(pools), encoding="utf-8")
    with pytest.raises(SeamError, match=r"^canitedit:\d+: each of the 1 comments"):
        build(root)
    assert not (root / "data" / "benchmark").exists()


# The command


def test_the_command_builds_what_params_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = scratch_project(tmp_path, name="mine", per_source=2, conditions=["clean", *EXTRA])
    monkeypatch.chdir(root / "data")
    result = CliRunner().invoke(app, ["build"])
    assert result.exit_code == 0, result.output
    assert "12 clusters, 48 cases under 4 conditions: data/benchmark/mine" in result.output
    cases = read_benchmark(root / "data" / "benchmark" / "mine")
    assert Counter(case.condition for case in cases) == dict.fromkeys(["clean", *EXTRA], 12)
    instructed = [case for case in cases if case.system_instruction]
    assert {case.condition for case in instructed} == {"semantic_tags_instruction"}


GOOD = BROKEN.replace("broken", "rule").replace(
    ", comment)\n", ", typed('afterthought', comment))\n"
)


def test_a_condition_of_ones_own_is_built(tmp_path: Path) -> None:
    names = ["clean", "rule"]
    root = scratch_project(tmp_path, per_source=1, conditions=names)
    (root / "data" / "conditions" / "mine.py").write_text(GOOD)
    cases = read_benchmark(build(root))
    assert [case.condition for case in cases] == names * 6
    assert all(f"\n{case.afterthought}" in case.message for case in cases[1::2])


def test_help_teaches() -> None:
    text = CliRunner().invoke(app, ["build", "--help"]).output
    assert "data/sources" in text and "--check-digests" in text


def test_texts_of_ones_own_are_composed_like_any_cluster() -> None:
    thing = own_cluster("Some text.", "My bus was late.", ["Bus was late"])
    clean, newline = compose_cases([thing], conditions(["clean", "newline"]), seed=0)
    assert newline.message == f"{clean.message}\nMy bus was late."
    assert newline.witness_tokens == ["bus was late"]
    code = own_cluster("x = 1", "# late", ["late"], genre="code")
    assert code.head.startswith("Edit the following code")


@pytest.mark.parametrize(
    ("witness", "complaint"), [("train", "lacks its witness 'train'"), ("text", "'text' occurs")]
)
def test_a_witness_of_ones_own_must_stand_in_the_comment_alone(
    witness: str, complaint: str
) -> None:
    thing = own_cluster("Some text.", "A text came.", [witness])
    with pytest.raises(SeamError, match=complaint):
        list(compose_cases([thing], conditions(["newline"]), seed=0))
