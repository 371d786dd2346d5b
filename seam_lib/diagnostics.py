"""The health of answers by condition: did the edit survive? Reported beside the labels.

An instruction that lowers absorption may cost the task: in the paper, 16 of 50 of Opus's CanItEdit
answers under `mitigation` are no Python, and none of the clean ones (Section 5.5).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from seam_lib.health import parses, refuses, returned_code, shortened, without_markers
from seam_lib.schema import in_order
from seam_lib.score import Judgment
from seam_lib.stats import mcnemar_exact, pair_counts

#: The source whose artifacts are whole Python programs, so that they must parse.
PYTHON_SOURCE = "canitedit"


def diagnose(judgments: Sequence[Judgment]) -> pd.DataFrame:
    """Refusals, severe shortening and Python syntax under each treated condition.

    Args:
        judgments: Judged responses; each is compared with its own clean response.

    Returns:
        One row a condition: condition, n; refusals and shortened (against clean), counts of n;
        python, the number of CanItEdit responses; of these invalid (no valid Python),
        invalid_without_markers (still none when echoed boundary tags are taken out),
        invalid_clean (of the matched clean ones), and p of the exact McNemar test of invalid
        against invalid_clean.
    """
    conditions = in_order(judgment.case.condition for judgment in judgments)
    return pd.DataFrame(
        [
            {
                "condition": condition,
                **_row([j for j in judgments if j.case.condition == condition]),
            }
            for condition in conditions
        ]
    )


def _row(judgments: Sequence[Judgment]) -> dict[str, Any]:
    python = [j for j in judgments if j.case.source == PYTHON_SOURCE]
    treated = [returned_code(j.treated.response) for j in python]
    invalid = _invalid(treated)
    clean = _invalid(returned_code(j.clean.response) for j in python)
    return {
        "n": len(judgments),
        "refusals": sum(refuses(j.treated.response) for j in judgments),
        "shortened": sum(
            shortened(j.treated.artifact.text, j.clean.artifact.text) for j in judgments
        ),
        "python": len(python),
        "invalid": int(invalid.sum()),
        "invalid_without_markers": int(_invalid(map(without_markers, treated)).sum()),
        "invalid_clean": int(clean.sum()),
        "p": mcnemar_exact(pair_counts(invalid, clean)),
    }


def _invalid(codes: Iterable[str]) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    return np.array([not parses(code) for code in codes], dtype=bool)
