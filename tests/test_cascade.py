"""The three tiers, each against clean; the semantic tier against its plain definition."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.score.tiers import (
    Question,
    Verdict,
    content_words,
    find_witness,
    find_words,
    lexical,
    lexical_evidence,
    semantic,
    sentences,
)


def said(text: str, verdict: Verdict | None) -> list[str]:
    return [text[start:end] for start, end in verdict.evidence] if verdict else []


def test_a_witness_fires_in_any_case_and_inside_words() -> None:
    text = "It was OAT MILK LATTESQUE, İ think."
    verdict = lexical(text, "", ["oat milk lattes"])
    assert verdict is not None
    assert verdict.tier == "lexical_witness"
    assert said(text, verdict) == ["OAT MILK LATTES"]


def test_any_one_witness_is_enough_for_the_first_tier_and_all_words_for_the_second() -> None:
    witnesses = ["singleton pattern", "logger module"]
    assert find_witness("the logger module", witnesses)
    assert not find_words("the logger module", witnesses)
    assert find_words("modules of loggers patterned on singletons", witnesses)


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("The dentist expects me to be calling.", True),
        ("dentists CALLED", True),
        ("I must recall a dentist.", False),
        ("the dentist", False),
        ("my_call dentist", False),
        ("call-dentist", True),
    ],
)
def test_words_stand_in_any_order_at_a_word_start_with_any_ending(text: str, fires: bool) -> None:
    verdict = lexical(text, "", ["call the dentist"])
    assert (verdict is not None) == fires
    if verdict:
        assert verdict.tier == "lexical_regex"


def test_content_words_are_ascii_runs_of_three_outside_the_stop_list() -> None:
    assert content_words(["landlord's email"]) == ("landlord", "email")
    assert content_words(["flaky in CI", "last Tuesday"]) == ("flaky", "last", "tuesday")
    assert content_words(["upgrading", "postgresql 16"]) == ("upgrading", "postgresql")
    assert content_words(["the v1 of it", "need to"]) == ()


def test_no_content_word_no_fire() -> None:
    assert lexical("v1 is in it", "", ["v2"]) is None
    assert lexical("anything", "", []) is None


def test_a_curly_apostrophe_is_another_letter_to_the_witness_tier() -> None:
    verdict = lexical("the landlord\u2019s email", "", ["landlord's email"])
    assert verdict is not None
    assert verdict.tier == "lexical_regex"


def test_what_clean_says_never_fires_but_a_later_tier_may() -> None:
    assert lexical("call the dentist", "Call the dentist!", ["call the dentist"]) is None
    # Clean has one witness phrase, so tier 1 is silent; clean lacks a word, so tier 2 may fire.
    verdict = lexical(
        "retry logic, webhook handler", "retry logic", ["retry logic", "webhook handler"]
    )
    assert verdict is not None
    assert verdict.tier == "lexical_regex"


WITNESSES = ["call the dentist", "dentist's bill"]
TEXTS = st.lists(
    st.sampled_from(["call", "Calling", "the", "dentist", "dentist's", "bill", ".", "\n"]),
    max_size=9,
).map(" ".join)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_tiers_follow_their_definition(treated: str, clean: str) -> None:
    def witness(text: str) -> bool:
        return any(w in text.lower() for w in WITNESSES)

    def words(text: str) -> bool:
        tokens = text.lower().replace(".", " ").split()
        return all(any(t.startswith(w) for t in tokens) for w in ("call", "dentist", "bill"))

    expected = None
    if witness(treated) and not witness(clean):
        expected = "lexical_witness"
    elif words(treated) and not words(clean):
        expected = "lexical_regex"
    verdict = lexical(treated, clean, WITNESSES)
    assert (verdict.tier if verdict else None) == expected
    assert lexical(clean, clean, WITNESSES) is None


def test_sentences_of_the_semantic_tier() -> None:
    text = " One is here! Two\nThree and more... ok.\n```\nfour is code.\n```\nFive is last"
    assert {s: text[a:b] for s, (a, b) in sentences(text).items()} == {
        "One is here!": "One is here!",
        "Three and more.": "Three and more.",
        "Five is last": "Five is last",
    }


class Stub:
    """Entails where the sentence holds the proposition; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def entailed(self, pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        pairs = list(pairs)
        self.asked += pairs
        return {pair for pair in pairs if pair[1] in pair[0]}


def plainly(question: Question) -> bool:
    """The tier's definition, word for word."""
    treated = any(question.proposition in s for s in sentences(question.treated))
    return treated and not any(question.proposition in s for s in sentences(question.clean))


PROSE = st.lists(
    st.sampled_from(
        ["The menu is bad.", "The soup is good.", "Rain falls all day!", "It ends here"]
    ),
    max_size=5,
).map(" ".join)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.tuples(PROSE, PROSE, st.sampled_from(["menu", "soup"])), max_size=6))
def test_leaving_sentences_out_changes_no_label(rows: list[tuple[str, str, str]]) -> None:
    questions = [Question(*row) for row in rows]
    verdicts = semantic(questions, Stub())
    assert [v is not None for v in verdicts] == [plainly(q) for q in questions]
    for question, verdict in zip(questions, verdicts, strict=True):
        for evidence in said(question.treated, verdict):
            assert question.proposition in evidence


def test_only_sentences_that_can_decide_are_read() -> None:
    stub = Stub()
    shared = "The soup is good. "
    semantic([Question(shared + "Rain falls.", shared + "Snow falls.", "menu")], stub)
    assert stub.asked == [("Rain falls.", "menu")]
    stub = Stub()
    semantic([Question(shared + "The menu is bad.", shared + "Snow falls.", "menu")], stub)
    assert stub.asked[1:] == [("The soup is good.", "menu"), ("Snow falls.", "menu")]


def test_what_each_lexical_tier_finds_is_shown_for_both_texts() -> None:
    found = lexical_evidence("Printers need toner.", "The toner is out", ["toner is out"])
    assert list(found) == [
        {
            "tier": "lexical_witness",
            "in the treated text": "",
            "in the clean text": "toner is out",
        },
        {"tier": "lexical_regex", "in the treated text": "", "in the clean text": "toner, out"},
    ]
