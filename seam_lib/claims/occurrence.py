"""Claims about the occurrence audit (Section 3.3, Appendix A), from its 2 x 2 tables."""

import numpy as np
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.analysis.agreement import CELLS
from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed, Value


def agreement(data: Published, question: str) -> Recomputed:
    """Marks, agreement and chance-corrected agreement of the two annotators on one question.

    Args:
        data: The published facts.
        question: `genuine` or `artifact_first`.
    """
    row = data.table("agreement").set_index("question").loc[question]
    both, only_a, only_b, neither = (int(row[c]) for c in CELLS)
    table = np.array([[both, only_a], [only_b, neither]])
    values: dict[str, Value] = {
        "messages": int(table.sum()),
        "annotators": table.ndim,
        "annotator A": both + only_a,
        "annotator B": both + only_b,
        "both": both,
        "same answer": both + neither,
        "raw": 100 * stats.agreement(table),
        "kappa": stats.cohen_kappa(table),
        "AC1": stats.gwet_ac1(table),
        "positive share": 100 * (2 * both + only_a + only_b) / (2 * int(table.sum())),
        "positive share, A": 100 * (both + only_a) / int(table.sum()),
        "positive share, B": 100 * (both + only_b) / int(table.sum()),
    }
    how = f"2 x 2 table: both yes {both}, only A {only_a}, only B {only_b}, both no {neither}"
    return Recomputed(values, how, row.to_frame().T.reset_index(names="question"))


def annotator_a(data: Published) -> Recomputed:
    """Messages that annotator A reviewed and marked, counted from the public rows."""
    audit = data.table("wild_audit")
    marked = int((audit["genuine_paste"].astype(str).str.lower() == "true").sum())
    values: dict[str, Value] = {"messages": len(audit), "marked": marked}
    rows = audit.groupby(["genuine_paste", "artifact_first"]).size().reset_index(name="messages")
    return Recomputed(values, f"{marked} of {len(audit)} rows of wild_audit.csv", rows)


def estimate(data: Published, pool: int) -> Recomputed:
    """Matching messages in the judged pool: point estimate and lower bound.

    Args:
        data: The published facts.
        pool: Judged-positive messages, as printed.
    """
    values = agreement(data, "genuine").values
    both, messages = int(str(values["both"])), int(str(values["messages"]))
    low = float(stats.wilson(both, messages)[0])
    how = f"{both}/{messages} x {pool:,}; Wilson's lower bound {low:.5f} x {pool:,}"
    found: dict[str, Value] = {"estimate": both / messages * pool, "bound": low * pool}
    return Recomputed(
        found, how, pd.DataFrame([[both, messages, pool]], columns=["both", "n", "pool"])
    )
