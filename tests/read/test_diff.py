import re

from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.read import diff
from seam_lib.read.diff import difference

TEXT = st.text(alphabet="ab .,\n", max_size=60)


def cut(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


def tokens_left(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """The words and marks outside the spans."""
    for start, end in reversed(spans):
        text = text[:start] + " " + text[end:]
    return re.findall(r"\w+|[^\w\s]", text)


def test_words_that_only_one_text_has() -> None:
    old, new = "The town grew. It is small.", "The town grew fast. It is tiny. My train was late."
    lost, gained = difference(old, new)
    assert cut(old, lost) == ["small"]
    assert cut(new, gained) == ["fast", "tiny. My train was late"]


def test_white_space_is_no_difference() -> None:
    assert difference("a b\nc", "a  b\n\n\tc ") == ([], [])


@settings(derandomize=True, max_examples=100, deadline=None)
@given(TEXT, TEXT)
def test_what_is_not_marked_is_the_same(old: str, new: str) -> None:
    lost, gained = difference(old, new)
    assert tokens_left(old, lost) == tokens_left(new, gained)
    for text, spans in ((old, lost), (new, gained)):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert spans == sorted(spans)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(TEXT)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert difference(text, text) == ([], [])


def test_long_texts_are_compared_by_line_and_longer_ones_not_at_all(monkeypatch) -> None:
    monkeypatch.setattr(diff, "MOST_TOKENS", 20)
    old = "\n".join(f"one two three four {n}" for n in range(8))
    lost, _ = difference(old, old.replace("three four 3", "x four 3").replace("one", "eins"))
    assert len(lost) == 1 and old[slice(*lost[0])].startswith("one two three four 0")
    assert cut(old, difference(old, old.replace("three four 3", "x four 3"))[0]) == ["three"]
    old = "\n".join(f"a {n} b" for n in range(50))
    whole = [(len("a 0 "), len(old))]
    assert difference(old, old.replace("b", "c")) == (whole, whole)


def test_a_million_words_take_no_more_than_one_pass() -> None:
    old = "word " * 500_000
    assert difference(old + "x", old + "y") == ([(2_500_000, 2_500_001)],) * 2
