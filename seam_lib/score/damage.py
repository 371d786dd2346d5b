"""The health of responses: did the edit survive? Reported beside the labels, and never changes one.

An instruction that lowers absorption may cost the task: in the paper, 16 of 50 of Opus's CanItEdit
answers under `mitigation` are no Python, and none of the clean ones (Section 5.5, Appendix D).
"""

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from seam_lib.core.answers import delivered, usable
from seam_lib.core.rows import Case, Output, in_order
from seam_lib.score.phrases import fold
from seam_lib.score.returned import extract, fences
from seam_lib.score.scorer import Finding

#: The source whose artifacts are whole Python programs, so that they must parse.
PYTHON_SOURCE = "canitedit"
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


def count_damage(findings: Sequence[Finding]) -> pd.DataFrame:
    """Refusals, severe shortening and Python syntax under each treated condition.

    Args:
        findings: Scored responses; each is compared with its own clean response.

    Returns:
        One row a condition: condition, n; refusals and shortened (against clean), counts of n;
        python, the number of CanItEdit responses; of these invalid (no valid Python),
        invalid_without_markers (still none when echoed boundary tags are taken out),
        invalid_clean (of the matched clean ones) and invalid_both; `questions.syntax_p` tests
        whether invalid and invalid_clean differ.
    """
    conditions = in_order(finding.case.condition for finding in findings)
    return pd.DataFrame(
        [
            {
                "condition": condition,
                **_row([j for j in findings if j.case.condition == condition]),
            }
            for condition in conditions
        ]
    )


def left_empty(cases: Iterable[Case], outputs: Iterable[Output]) -> list[str]:
    """The usable responses of which extraction leaves nothing, by case id.

    Nothing is then returned that could hold the comment, so a treated one counts as not absorbed
    and a clean one cancels nothing. Where an answer only reports, or only acknowledges, that is
    right; many of them mean that the model answers in a shape that the rules do not know.

    Args:
        cases: A benchmark.
        outputs: Answers to it, the last one of a case counting.
    """
    genres = {case.id: case.genre for case in cases}
    latest = {output.case_id: output for output in outputs if output.case_id in genres}
    return [
        case
        for case, output in latest.items()
        if usable(output) and not extract(delivered(output), genres[case]).text.strip()
    ]


def empty_words(emptied: Sequence[str], run: str) -> str:
    """What is to be said of such responses; "" if there are none."""
    if not emptied:
        return ""
    more = f" and {len(emptied) - 5} more" if len(emptied) > 5 else ""
    return (
        "the returned text is empty, though the answer is not, and so counts as without the "
        f"comment (answers: {len(emptied)}): {', '.join(emptied[:5])}{more}; `seam score {run} "
        "--explain CASE` shows what was removed, and that of clean at any other of the cluster"
    )


def _row(findings: Sequence[Finding]) -> dict[str, Any]:
    python = [j for j in findings if j.case.source == PYTHON_SOURCE]
    treated = [returned_code(j.treated.response) for j in python]
    invalid = _invalid(treated)
    clean = _invalid(returned_code(j.clean.response) for j in python)
    return {
        "n": len(findings),
        "refusals": sum(refuses(j.treated.response) for j in findings),
        "shortened": sum(
            shortened(j.treated.returned.text, j.clean.returned.text) for j in findings
        ),
        "python": len(python),
        "invalid": int(invalid.sum()),
        "invalid_without_markers": int(_invalid(map(without_markers, treated)).sum()),
        "invalid_clean": int(clean.sum()),
        "invalid_both": int((invalid & clean).sum()),
    }


def _invalid(codes: Iterable[str]) -> npt.NDArray[np.bool_]:
    return np.array([not parses(code) for code in codes], dtype=bool)


def returned_code(response: str) -> str:
    """The code of a response before any sentence is removed: its fenced blocks, or all of it."""
    blocks = [response[fence.body_start : fence.body_end] for fence in fences(response)]
    return "\n".join(blocks) if blocks else response


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
