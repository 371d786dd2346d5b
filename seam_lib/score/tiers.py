"""The detector: witness, then words, then entailment, in the treated artifact and not in clean.

The first tier that fires names the label (paper, Section 4, "Deterministic cascade"). Comparing
with the matched clean artifact cancels what the pasted text or the model says anyway.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from seam_lib.core.rows import Tier
from seam_lib.score.phrases import lower
from seam_lib.score.returned import Span, fences

_STOP_LIST = (
    "a an the my your his her its our their this that these those is are was were be been being to "
    "of in on for and or but so i we you they it he she still need needs got get yet again today "
    "tomorrow tonight from at"
)
STOP_WORDS = frozenset(_STOP_LIST.split())
#: Shorter words carry no content, shorter sentences no proposition (characters).
MIN_WORD = 3
MIN_SENTENCE = 8

_WORD = re.compile(r"[a-z]+")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


class Verdict(NamedTuple):
    """The tier that fired and its evidence, as stretches of the treated artifact."""

    tier: Tier
    evidence: tuple[Span, ...]


def lexical(treated: str, clean: str, witnesses: Sequence[str]) -> Verdict | None:
    """Try the two lexical tiers.

    Args:
        treated: The artifact returned under a condition with the comment.
        clean: The artifact returned in the matched clean condition.
        witnesses: The comment's distinctive phrases.

    Returns:
        The first tier that holds in `treated` and not in `clean`, or None.
    """
    for tier, find in LEXICAL_TIERS.items():
        evidence = find(treated, witnesses)
        if evidence and not find(clean, witnesses):
            return Verdict(tier, evidence)
    return None


def find_witness(artifact: str, witnesses: Sequence[str]) -> tuple[Span, ...]:
    """Tier 1: the first occurrence of each witness phrase, letter by letter but for case."""
    text = lower(artifact)
    starts = [(text.find(lower(phrase)), len(phrase)) for phrase in witnesses]
    return tuple(sorted((start, start + length) for start, length in starts if start >= 0))


def find_words(artifact: str, witnesses: Sequence[str]) -> tuple[Span, ...]:
    """Tier 2: one occurrence of every content word, in any order, with any ending; else nothing."""
    text = lower(artifact)
    evidence: list[Span] = []
    for word in content_words(witnesses):
        # The plain search comes first because it is many times faster and mostly fails.
        found = word in text and re.search(rf"\b{word}\w*", text)
        if not found:
            return ()
        evidence.append(found.span())
    return tuple(sorted(evidence))


def content_words(witnesses: Sequence[str]) -> tuple[str, ...]:
    """The content words of all witnesses together, each once, in order.

    Returns:
        Runs of at least three ASCII letters outside the stop list, in lower case.
    """
    words = (word for phrase in witnesses for word in _WORD.findall(lower(phrase)))
    content = (word for word in words if len(word) >= MIN_WORD and word not in STOP_WORDS)
    return tuple(dict.fromkeys(content))


#: The two tiers that need no model, in order.
LEXICAL_TIERS: dict[Tier, Callable[[str, Sequence[str]], tuple[Span, ...]]] = {
    "lexical_witness": find_witness,
    "lexical_regex": find_words,
}


def lexical_evidence(
    treated: str, clean: str, witnesses: Sequence[str]
) -> Iterator[dict[str, str]]:
    """What each lexical tier finds in either text, to see why `lexical` says what it says.

    Yields:
        The tier's name, and the words that it finds in the treated and in the clean text.
    """
    for tier, find in LEXICAL_TIERS.items():
        yield {"tier": tier} | {
            f"in the {name} text": ", ".join(text[a:b] for a, b in find(text, witnesses))
            for name, text in (("treated", treated), ("clean", clean))
        }


def sentences(artifact: str) -> dict[str, Span]:
    """Tier 3 reads an artifact sentence by sentence, fenced blocks left out.

    Returns:
        Each distinct sentence of at least eight characters, with the first stretch where it stands:
        a run without stop or line break, with the one stop that closes it, stripped.
    """
    found: dict[str, Span] = {}
    here = 0
    for fence in [*fences(artifact), None]:
        end = len(artifact) if fence is None else fence.start
        for match in _SENTENCE.finditer(artifact, here, end):
            sentence = match[0].strip()
            if len(sentence) >= MIN_SENTENCE:
                start = match.start() + len(match[0]) - len(match[0].lstrip())
                found.setdefault(sentence, (start, start + len(sentence)))
        here = end if fence is None else fence.end
    return found


class Question(NamedTuple):
    """What the semantic tier is asked about one treated response."""

    treated: str
    clean: str
    proposition: str


class Entailment(Protocol):
    """Decides which sentences entail which propositions."""

    def entailed(self, pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        """Of these (sentence, proposition) pairs, those in which the sentence entails it."""


def semantic(questions: Sequence[Question], engine: Entailment) -> list[Verdict | None]:
    """Tier 3: some sentence of treated entails the proposition, and no sentence of clean does.

    Most sentences need no reading, exactly. Let T and C be the sets of sentences of treated and
    clean. A sentence in both settles nothing: if it entails, C entails and the tier is silent
    either way. So the tier fires exactly if a sentence of T without C entails and none of C does;
    T without C is read first, and C only where the first part holds.

    Args:
        questions: One for each response that the lexical tiers left open.
        engine: The entailment model.

    Returns:
        A verdict or None for each question, in order; the evidence is the first entailing sentence.
    """
    clean = [sentences(question.clean) for question in questions]
    novel = [
        {text: span for text, span in sentences(question.treated).items() if text not in theirs}
        for question, theirs in zip(questions, clean, strict=True)
    ]
    entailed = _read(questions, novel, engine)
    evidence = [next(iter(spans), None) for spans in entailed]
    suspects = [theirs if span else {} for span, theirs in zip(evidence, clean, strict=True)]
    excused = _read(questions, suspects, engine)
    return [
        Verdict("semantic_nli", (span,)) if span and not excuses else None
        for span, excuses in zip(evidence, excused, strict=True)
    ]


def _read(
    questions: Sequence[Question], texts: Sequence[dict[str, Span]], engine: Entailment
) -> list[list[Span]]:
    """Where the sentences stand that entail their question's proposition, question by question."""
    propositions = [question.proposition for question in questions]
    found = engine.entailed(
        (sentence, proposition)
        for spans, proposition in zip(texts, propositions, strict=True)
        for sentence in spans
    )
    return [
        [span for sentence, span in spans.items() if (sentence, proposition) in found]
        for spans, proposition in zip(texts, propositions, strict=True)
    ]
