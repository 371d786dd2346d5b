"""From a response to the returned artifact: the text that its reader would get.

Mention versus use (paper, Section 4): text meant for the artifact's reader counts, text addressed
to the user does not. So the comment delivered inside the artifact stays, and a report about it, or
an answer to it, goes. Each step below names the stretches that it removes and touches nothing else:
what remains is the response's own bytes, and every removal is on record for whoever reads a label.

Every step takes time proportional to the text, whatever the text.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from seam_lib.score.phrases import (
    ANY_FRAME,
    ANY_OFFER,
    ANY_PARENTHESIS,
    ANY_REPORT,
    ANY_SENTENCE,
    ANY_STRONG,
    OPENER,
    fold,
)

#: A stretch of text: offsets of its first character and of the one behind its last.
Span = tuple[int, int]
#: A step looks at what the earlier steps left and names the stretches to remove, in order.
Step = Callable[[str], Iterable[Span]]


class Removal(NamedTuple):
    """A stretch that a step removed; offsets count characters of the response."""

    step: str
    start: int
    end: int


class Returned(NamedTuple):
    """The returned artifact, and what was removed to get it, in order of removal."""

    text: str
    removals: tuple[Removal, ...]


def extract(response: str, genre: str) -> Returned:
    """Extract the returned artifact from a response (paper, Section 4 and Appendix D).

    Args:
        response: The model's whole answer.
        genre: The case's genre. `code` means the contents of the fenced blocks where there are
            any, and without one the whole response; every other genre is a text, in which a fence
            is part of the text.

    Returns:
        The artifact; the very same string where nothing is removed.
    """
    kept: list[Span] = [(0, len(response))]
    removals: list[Removal] = []
    text = response
    for name, step in _steps(response, genre):
        cuts = list(step(text))
        if cuts:
            kept, removed = _cut(kept, cuts)
            removals += [Removal(name, start, end) for start, end in removed]
            text = "".join(response[start:end] for start, end in kept)
    return Returned(text, tuple(removals))


def _steps(response: str, genre: str) -> list[tuple[str, Step]]:
    if genre != "code":
        return list(TEXT_STEPS.items())
    if next(fences(response), None):
        return [("outside the fences", outside_fences), ("sentence", sentences)]
    return [("acknowledgment", acknowledgments), ("sentence", sentences)]


def _cut(kept: list[Span], cuts: list[Span]) -> tuple[list[Span], list[Span]]:
    """Take cuts out of the kept stretches of a response.

    Args:
        kept: Stretches of the response.
        cuts: Offsets into the kept text, that is, the stretches joined; sorted, without overlap.

    Returns:
        The stretches still kept and the stretches removed, as offsets into the response.
    """
    still: list[Span] = []
    removed: list[Span] = []
    waiting = deque(cuts)
    base = 0  # where this kept stretch begins in the kept text
    for start, end in kept:
        here = start
        while waiting and waiting[0][0] < base + end - start:
            cut_start = max(start, start + waiting[0][0] - base)
            cut_end = min(end, start + waiting[0][1] - base)
            still.append((here, cut_start))
            removed.append((cut_start, cut_end))
            here = cut_end
            if waiting[0][1] > base + end - start:
                break  # this cut goes on in the next kept stretch
            waiting.popleft()
        still.append((here, end))
        base += end - start
    return [span for span in still if span[0] < span[1]], removed


# --- Fenced blocks -------------------------------------------------------------------------------

FENCE = "```"


class Fence(NamedTuple):
    """A fenced block: the whole of it, and its body (what stands below its opening line)."""

    start: int
    body_start: int
    body_end: int
    end: int


def fences(text: str) -> Iterator[Fence]:
    """Find the fenced blocks as the release does, which is not CommonMark's way.

    A block is three backticks, the rest of that line, and everything up to the next three
    backticks, wherever they stand. What is never closed is no block, and tildes fence nothing.
    """
    start = text.find(FENCE)
    while start >= 0:
        body_start = text.find("\n", start) + 1
        body_end = text.find(FENCE, body_start) if body_start else -1
        if body_end < 0:
            return
        yield Fence(start, body_start, body_end, body_end + len(FENCE))
        start = text.find(FENCE, body_end + len(FENCE))


def outside_fences(text: str) -> Iterator[Span]:
    """Code: all but the fenced blocks' contents, which are joined by line breaks."""
    here = 0
    for fence in fences(text):
        yield here, fence.body_start - (here > 0)  # the break that ends its opening line joins it
        here = fence.body_end
    if here < len(text):
        yield here, len(text)


# --- Step 1: a greeting --------------------------------------------------------------------------


def opener(text: str) -> Iterator[Span]:
    """Step 1: the first line, if it greets the user ("Sorry to hear that!") and a text follows."""
    body = text.lstrip()
    end = text.find("\n", len(text) - len(body))
    if end < 0 or not text[end:].strip():
        return  # the only line: whatever else it says is the answer itself
    start = text.rfind("\n", 0, len(text) - len(body)) + 1
    if OPENER.match(fold(text[start:end])):
        yield start, end


# --- Step 2: split and label ---------------------------------------------------------------------

_WORD = re.compile(r"\w")
# A line that begins with a label: "**Sentence 2:**", "Part two.", "2.", "3)"; and the line's rest.
_LABEL = re.compile(
    r"^[ >*_#(\[-]{0,8}"
    r"(?:(?:sentence|part|item|section|passage|statement|text|paragraph|point) #?"
    r"(\d{1,2}|one|two|three|four|five)(?: ?\([^()\n]{0,40}\))?(?=[ *_]{0,4}(?:[.:)\]–—-]|$))"
    r"|(\d{1,2})(?=[.)](?:[\s*_]|$)))([^\n]*)",
    re.MULTILINE,
)


def later_items(text: str) -> list[Span]:
    """Step 2: the second and later items of an answer that splits the message and labels its parts.

    Such an answer is known by its frame ("these are two unrelated sentences"). Without the frame,
    numbered lists and colons are ordinary text.
    """
    folded = fold(text)
    frame = ANY_FRAME.search(folded)
    if frame is None:
        return []
    blocks = paragraphs(folded)
    cuts = [*_labelled(folded, blocks), *_behind_offers(folded, blocks)]
    if frame.start() < blocks[0][1] and len(blocks) >= 3 and _ends_with_colon(folded, blocks[0]):
        cuts.append(blocks[-1])
    return merged(cuts)


def _labelled(folded: str, blocks: list[Span]) -> Iterator[Span]:
    """Items labelled 2 or later: to the next label or the next paragraph.

    A label that is all there is of its paragraph's last line owns the next paragraph as well.
    """
    starts = [*(start for start, _ in blocks), len(folded)]
    labels = list(_LABEL.finditer(folded))
    for place, label in enumerate(labels, 1):
        end = labels[place].start() if place < len(labels) else len(folded)
        number, rest = label[1] or label[2], label[3].rstrip("*_ \r")
        if number not in ("1", "01", "one"):
            after = bisect_right(starts, label.start())
            last_line = label.end() == blocks[after - 1][1]
            if last_line and (rest.endswith(":") or not _WORD.search(rest)):
                after = min(after + 1, len(blocks))
            yield label.start(), min(starts[after], end)


def _behind_offers(folded: str, blocks: list[Span]) -> Iterator[Span]:
    """Paragraphs that follow an offer ("if you'd like me to ..., here is a ...:")."""
    starts = [start for start, _ in blocks]
    for after in {bisect_right(starts, offer.start()) for offer in ANY_OFFER.finditer(folded)}:
        if after < len(blocks) and _ends_with_colon(folded, blocks[after - 1]):
            yield blocks[after]


def _ends_with_colon(text: str, span: Span) -> bool:
    return text[slice(*span)].rstrip("*_ \r").endswith(":")


def merged(spans: Iterable[Span]) -> list[Span]:
    """Sort spans and join those that overlap or touch."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


# --- Step 3: a trailing section ------------------------------------------------------------------

_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t\r]*$", re.MULTILINE)


def trailing_report(text: str) -> Iterator[Span]:
    """Step 3: the section behind the last horizontal rule, if its first line is a report.

    A rule with nothing before it but an announcement ("Here is the post:") stands before the
    artifact, so what follows is no trailing section.
    """
    last = deque(_RULE.finditer(text), maxlen=1)
    if not last:
        return
    before, section = text[: last[0].start()].strip(), text[last[0].end() :].lstrip()
    announces = not before or ("\n" not in before and before.rstrip("*_ ").endswith(":"))
    if not announces and ANY_REPORT.search(fold(section.partition("\n")[0])):
        yield last[0].start(), len(text)


# --- Step 4: trailing acknowledgments ------------------------------------------------------------

#: At most this many paragraphs go. The first paragraph never does: it trails nothing.
TRAILING_PARAGRAPHS = 2


def acknowledgments(text: str) -> list[Span]:
    """Step 4: up to two trailing paragraphs that answer the user ("Hope your ankle heals!")."""
    if not ANY_STRONG.search(_unwrapped(text)):
        return []
    cuts: list[Span] = []
    for start, end in reversed(paragraphs(text)[1:][-TRAILING_PARAGRAPHS:]):
        if not ANY_STRONG.search(_unwrapped(text[start:end])):
            break
        cuts.append((start, end))
    return cuts[::-1]


# --- Step 5: parentheses -------------------------------------------------------------------------

# Eight characters at least: no phrase is shorter.
_PARENTHESIS = re.compile(r"(\*{1,2})\([^()]{8,}\)\1|\([^()]{8,}\)")


def parentheses(text: str) -> Iterator[Span]:
    """Step 5: parentheses that report, acknowledge or close, with the asterisks around them."""
    for match in _PARENTHESIS.finditer(text):
        if ANY_PARENTHESIS.search(_unwrapped(match[0])) and not _BREAK.search(match[0]):
            yield match.span()


# --- Steps 6 and 7: lines and sentences ----------------------------------------------------------

_NOTE = re.compile(
    r"^[ >*_(\[#-]{0,8}"
    r"(?:(?:a|side|additional|quick|brief|final|important|please|editor's|author's) )?"
    r"notes?[*_ ]{0,3}:[^\n]*",
    re.MULTILINE,
)
# A quotation is one token, so the stops inside it end nothing; a straight quote without a partner
# on its line quotes nothing. A stop inside a word (main.py, 2.5) ends nothing either.
_STOP = re.compile(r"""("[^"]*"|“[^“”]*”)|[.!?]+(?![^\WA-Z])[)\]*_'’”]*""")


def notes(text: str) -> Iterator[Span]:
    """Step 6: lines that open as a note and report ("**Note:** the last line was removed ...")."""
    folded = fold(text)
    for note in _NOTE.finditer(folded):
        if ANY_REPORT.search(note[0]):
            yield note.span()


def sentences(text: str) -> Iterator[Span]:
    """Step 7: single sentences that report or acknowledge; the line's other sentences stay."""
    folded = fold(text)
    edges = [0]
    match = ANY_SENTENCE.search(folded)
    while match:
        if match.start() >= edges[-1]:
            edges = _sentence_edges(text, match.start())
        following = bisect_right(edges, match.start())
        yield edges[following - 1], edges[following]
        match = ANY_SENTENCE.search(folded, edges[following])


def _sentence_edges(text: str, offset: int) -> list[int]:
    """Where the sentences of the line around `offset` begin, and at last where the line ends."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    stops = (stop.end() for stop in _STOP.finditer(text, start, end) if stop[1] is None)
    return [start, *stops, end]


#: The steps for a text, in order. A code answer has steps 4 and 7 only, see `extract`.
TEXT_STEPS: dict[str, Step] = {
    "greeting": opener,
    "later item": later_items,
    "trailing report": trailing_report,
    "acknowledgment": acknowledgments,
    "parenthesis": parentheses,
    "note": notes,
    "sentence": sentences,
}


# --- Lines and paragraphs ------------------------------------------------------------------------

_BREAK = re.compile(r"\n\s*\n")


def paragraphs(text: str) -> list[Span]:
    """The stretches between blank lines, without the blank lines."""
    edges = [0]
    for gap in _BREAK.finditer(text):
        edges += gap.span()
    edges.append(len(text))
    spans = zip(edges[::2], edges[1::2], strict=True)
    return [(start, end) for start, end in spans if text[start:end].strip()]


def _unwrapped(text: str) -> str:
    """Folded, with line breaks as spaces: in a paragraph a phrase may run over a line's end."""
    return fold(text).replace("\n", " ")
