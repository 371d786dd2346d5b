"""The health of a run: what its traces tell before anybody scores its outputs."""

from collections import Counter

#: A paragraph (line) of at least so many characters, repeated at least so often, is a loop ...
LOOP_CHARS, LOOP_TIMES = 30, 4
#: ... and so is an ending of so many characters with a period of at most so many.
LOOP_TAIL, LOOP_PERIOD = 1200, 300


def repeats(text: str) -> bool:
    """Whether a long text has fallen into a repetition loop (Appendix F)."""
    lines = Counter(line.strip() for line in text.splitlines() if len(line.strip()) >= LOOP_CHARS)
    if max(lines.values(), default=0) >= LOOP_TIMES:
        return True
    tail = text[-LOOP_TAIL:]
    return len(tail) == LOOP_TAIL and any(
        tail[period:] == tail[:-period] for period in range(1, LOOP_PERIOD + 1)
    )
