"""Two texts compared word by word, in time that stays bounded whatever the texts are."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from seam_lib.score.returned import Span

#: More tokens than this (both texts together) are compared line by line, and more lines than this
#: not at all: difflib's time grows with the product of the two lengths.
MOST_TOKENS = 6000

_WORD = re.compile(r"\w+|[^\w\s]")
_LINE = re.compile(r"\S[^\n]*")


def difference(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Find what each of two texts has and the other lacks.

    Words and punctuation marks are compared, white space is not. What the texts begin and end with
    in common is set aside first, so that only the stretch between is ever compared coarsely.

    Args:
        old: A text.
        new: Another.

    Returns:
        The stretches of `old` that `new` lacks, and the stretches of `new` that `old` lacks; each
        runs from a token's first character to a token's last.
    """
    (old_from, old_to), (new_from, new_to) = _uncommon(old, new)
    for token in (_WORD, _LINE):
        old_spans = [match.span() for match in token.finditer(old, old_from, old_to)]
        new_spans = [match.span() for match in token.finditer(new, new_from, new_to)]
        if len(old_spans) + len(new_spans) <= MOST_TOKENS:
            return _compared(old, old_spans, new, new_spans)
    return [(old_from, old_to)], [(new_from, new_to)]


def _uncommon(old: str, new: str) -> tuple[Span, Span]:
    """The stretches between the two texts' common beginning and end, in whole words."""
    old_spans = [match.span() for match in _WORD.finditer(old)]
    new_spans = [match.span() for match in _WORD.finditer(new)]
    shared = min(len(old_spans), len(new_spans))
    head = 0
    while head < shared and _same(old, old_spans[head], new, new_spans[head]):
        head += 1
    tail = 0
    while tail < shared - head and _same(old, old_spans[~tail], new, new_spans[~tail]):
        tail += 1
    return _stretch(old_spans, head, tail), _stretch(new_spans, head, tail)


def _same(old: str, old_span: Span, new: str, new_span: Span) -> bool:
    return old[slice(*old_span)] == new[slice(*new_span)]


def _stretch(spans: Sequence[Span], head: int, tail: int) -> Span:
    middle = spans[head : len(spans) - tail]
    return (middle[0][0], middle[-1][1]) if middle else (0, 0)


def _compared(
    old: str, old_spans: Sequence[Span], new: str, new_spans: Sequence[Span]
) -> tuple[list[Span], list[Span]]:
    """Compare token by token; neighbouring tokens that differ join to one stretch."""
    matcher = SequenceMatcher(
        None, [old[a:b] for a, b in old_spans], [new[a:b] for a, b in new_spans]
    )
    changes = [change[1:] for change in matcher.get_opcodes() if change[0] != "equal"]
    return (
        [(old_spans[a][0], old_spans[b - 1][1]) for a, b, _, _ in changes if a < b],
        [(new_spans[a][0], new_spans[b - 1][1]) for _, _, a, b in changes if a < b],
    )
