import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.build.comments import Comment, Deck, read_pools
from seam_lib.core.errors import SeamError
from tests.helpers.project import ROOT

POOLS = read_pools(ROOT / "data" / "comments.yaml")


def pool(size: int) -> list[Comment]:
    return [Comment("role", f"It is w{i}w now.", f"w{i}w", [f"w{i}w"]) for i in range(size)]


def test_the_pools_are_those_of_appendix_c() -> None:
    assert len(POOLS.casual) == 24
    assert Counter(comment.role for comment in POOLS.casual) == {
        "personal_context": 6, "workflow_note": 6, "unrelated_opinion": 6, "schedule_note": 6
    }  # fmt: skip
    sizes = {genre: len(comments) for genre, comments in POOLS.native.items()}
    assert list(sizes.items()) == [
        ("code", 10), ("scientific_prose", 10), ("prose_long", 8), ("prose", 8), ("technical", 8)
    ]  # fmt: skip


def test_no_comment_has_a_curly_quote_or_a_witness_in_capitals() -> None:
    everything = [*POOLS.casual, *(c for pool in POOLS.native.values() for c in pool)]
    for comment in everything:
        assert comment.text.isascii() and comment.proposition.isascii()
        assert all(witness == witness.lower() for witness in comment.witnesses)


def test_a_deck_starts_from_the_shuffled_pool_and_goes_round() -> None:
    deck = Deck(pool(5), random.Random(42))
    order = pool(5)
    random.Random(42).shuffle(order)
    assert [deck.deal("s:1", [""]) for _ in range(7)] == [*order, *order[:2]]


def test_a_colliding_comment_is_passed_over_for_one_cluster_only() -> None:
    deck = Deck(pool(3), random.Random(1))
    first, second, third = deck.comments
    assert deck.deal("s:1", [f"... {first.witnesses[0].upper()} ..."]) == second
    assert deck.deal("s:2", ["free"]) == third
    assert deck.deal("s:3", ["free"]) == first


@pytest.mark.parametrize("where", range(3))
def test_collisions_are_looked_for_in_artifact_reference_and_head(where: int) -> None:
    deck = Deck(pool(2), random.Random(1))
    first, second = deck.comments
    texts: list[str | None] = ["a", None, "c"]
    texts[where] = first.text
    assert deck.deal("s:1", texts) == second


def test_an_exhausted_pool_names_the_cluster() -> None:
    comments = pool(3)
    deck = Deck(comments, random.Random(1))
    with pytest.raises(SeamError, match=r"^s:9: each of the 3 comments"):
        deck.deal("s:9", [" ".join(comment.text for comment in comments)])


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(0, 200), st.integers())
def test_use_is_balanced(size: int, deals: int, seed: int) -> None:
    deck = Deck(pool(size), random.Random(seed))
    use = Counter(deck.deal("s:1", ["nothing"]).text for _ in range(deals))
    counts = [use[comment.text] for comment in pool(size)]
    assert max(counts) - min(counts) <= 1


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 7), max_size=7), max_size=40), st.integers())
def test_a_dealt_comment_never_collides(taken: list[set[int]], seed: int) -> None:
    comments = pool(8)
    deck = Deck(comments, random.Random(seed))
    for numbers in taken:
        text = " ".join(comments[number].witnesses[0] for number in sorted(numbers))
        assert deck.deal("s:1", [text]).witnesses[0] not in text.split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("casual: []\nnative: {}\nother: 1", "unknown field"),
        ("casual: [[role, text, proposition]]\nnative: {}", "length"),
        ("casual: [[role, Some text, it, [other words]]]\nnative: {}", "'other words'"),
        ("casual: [", "not a file of comment pools"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "comments.yaml"
    path.write_text(text)
    with pytest.raises(SeamError, match=message) as caught:
        read_pools(path)
    assert str(path) in str(caught.value)
