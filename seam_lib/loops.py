"""Repetition loops: a model that falls into one repeats itself until a limit stops it."""

from collections import Counter

#: A line of at least so many characters, repeated at least so often, is a loop ...
LINE_CHARS, TIMES = 30, 4
#: ... and so is an ending of so many characters with a period of at most so many.
TAIL, PERIOD = 1200, 300


def repeats(text: str) -> bool:
    """Whether a response or reasoning has fallen into a repetition loop (Appendix F)."""
    lines = Counter(line.strip() for line in text.splitlines() if len(line.strip()) >= LINE_CHARS)
    if max(lines.values(), default=0) >= TIMES:
        return True
    tail = text[-TAIL:]
    return len(tail) == TAIL and any(tail[n:] == tail[:-n] for n in range(1, PERIOD + 1))
