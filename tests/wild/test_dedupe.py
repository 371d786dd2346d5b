"""Near-duplicates: the signature is datasketch's, and the verdicts follow the true similarity."""

import random

import numpy as np
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.wild.dedupe import (
    HEAD_WORDS,
    PERMUTATIONS,
    SHINGLE,
    Index,
    digest,
    normal_words,
    shingle_hashes,
    sign,
)

WORDS = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]


def add(index: Index, text: str) -> str:
    words = normal_words(text)
    return index.add(digest(words), sign(shingle_hashes(words)))


def essay(seed: int, length: int = 300) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def shingles(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1)}


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=300))
def test_a_signature_is_the_one_that_datasketch_computes(hashes):
    theirs = MinHash(num_perm=PERMUTATIONS, hashfunc=int, scheme="affine32")
    theirs.update_batch(hashes)
    np.testing.assert_array_equal(sign(np.array(hashes, dtype=np.uint32)), theirs.hashvalues)


def test_normal_words_forget_case_digits_and_punctuation():
    assert normal_words("Hello,  World! 1984\n") == [b"hello", b"world", b"0000"]
    assert normal_words("naïve “ünïcode” \ud800") == ["naïve".encode(), "“ünïcode”".encode()]


def test_the_empty_and_the_short_text_have_signatures():
    for text in ("", "one", "one two three four"):
        assert sign(shingle_hashes(normal_words(text))).shape == (PERMUTATIONS,)


def test_a_shingle_is_an_ordered_run_of_words():
    forward, backward = (
        set(shingle_hashes([b"a", b"b", b"c", b"d", b"e", b"f"][::n])) for n in (1, -1)
    )
    assert len(forward) == 2
    assert not forward & backward


def test_only_the_ends_of_a_huge_text_are_shingled():
    assert len(shingle_hashes([b"x"] * 1_000_000)) < 2 * HEAD_WORDS


def test_equal_after_normalisation_is_an_exact_duplicate():
    index = Index()
    assert add(index, "Fix my 3 lines of code, please!") == "unique"
    assert add(index, "fix my 7 lines   of code please") == "exact_duplicate"


def test_a_changed_slot_is_a_near_duplicate_and_the_first_one_stays():
    index = Index()
    template = essay(1)
    assert add(index, " ".join(template)) == "unique"
    for slot in range(5):
        changed = [*template]
        changed[50 + slot] = "slot"
        assert add(index, " ".join(changed)) == "near_duplicate"


def test_strangers_stay_apart():
    index = Index()
    assert {add(index, " ".join(essay(seed))) for seed in range(300)} == {"unique"}


def test_verdicts_follow_the_true_jaccard_similarity():
    near, far = [], []
    for seed in range(120):
        first = essay(seed)
        second = [*first]
        for place in random.Random(-seed).sample(range(300), seed % 40):
            second[place] = "changed"
        a, b = shingles(first), shingles(second)
        similarity = len(a & b) / len(a | b)
        index = Index()
        add(index, " ".join(first))
        verdict = add(index, " ".join(second))
        if similarity >= 0.9:
            near.append(verdict != "unique")
        if similarity <= 0.4:
            far.append(verdict != "unique")
    assert len(near) >= 10 and len(far) >= 10
    assert np.mean(near) == 1
    assert np.mean(far) == 0
