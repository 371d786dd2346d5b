"""Diagnostics of single responses: usable? a refusal? valid Python? much shorter than clean?

Usability decides what is scored (paper, Section 4 and Appendix F). The rest is reported beside the
labels and never changes one (Section 5.5 and Appendix D).
"""

import ast
import re
import warnings

from seam_lib.artifact import Span, fences
from seam_lib.phrases import fold
from seam_lib.schema import Output

#: What providers call a response that was cut at its token limit.
LENGTH = frozenset({"length", "max_tokens"})
#: A treated artifact below this share of the clean artifact's length has lost text.
SEVERE_SHORTENING = 0.5

_MARKER = re.compile(r"^[ \t]*</?pasted-artifact-[0-9a-f]{12}>[ \t\r]*\n?", re.MULTILINE)
# A refusal speaks of itself at once. The verbs are those of declining a request, not of editing.
_REFUSAL = re.compile(
    r"\W{0,4}(?:i'm (?:very |so )?sorry,? (?:but )?|i am sorry,? (?:but )?|sorry,? (?:but )?"
    r"|i apologize,? (?:but )?|unfortunately,? |as an ai(?: language model| assistant)?,? )?"
    r"i(?: cannot|'m unable to| am unable to| can't| can not| won't| will not)"
    r" (?:help|assist|comply|fulfill|do that|continue with|provide|complete|process|edit|revise)\b"
)


def unusable(output: Output) -> str | None:
    """Why a response cannot be scored: length, error or empty; None if it can.

    Args:
        output: The latest answer to a case.
    """
    if output.finish_reason in LENGTH:
        return "length"
    if output.error:
        return "error"
    return None if (output.response or "").strip() else "empty"


def returned_code(response: str) -> str:
    """The code of a response before any sentence is removed: its fenced blocks, or all of it."""
    blocks: list[Span] = [(fence.body_start, fence.body_end) for fence in fences(response)]
    return "".join(response[start:end] for start, end in blocks) if blocks else response


def parses(code: str) -> bool:
    """Whether a text is valid Python. It is parsed only, never executed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the model's code, such as invalid escapes
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def without_markers(text: str) -> str:
    """Take out the lines that only echo a boundary tag (Section 5.5)."""
    return _MARKER.sub("", text)


def refuses(response: str) -> bool:
    """A conservative screen for refusals: the response opens by declining to do the task."""
    return _REFUSAL.match(fold(response)) is not None


def shortened(treated: str, clean: str) -> bool:
    """Whether the treated artifact is less than half as long as the clean one."""
    return len(treated.strip()) < SEVERE_SHORTENING * len(clean.strip())
