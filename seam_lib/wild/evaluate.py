"""How the screen does where the truth is known: messages made by shape."""

from collections.abc import Iterable

import pandas as pd
import pyarrow as pa

from seam_lib.stats import wilson
from seam_lib.wild import rules
from seam_lib.wild.synthetic import SHAPES


def verdict(message: str) -> str:
    """What the screen makes of one message: its kind, or the reason why it is not kept."""
    text = pa.array([message.encode()], pa.large_binary())
    if not rules.may_hold_seam(text)[0].as_py():
        return "short_or_single_line"
    if rules.is_scaffold(text)[0].as_py():
        return "scaffold"
    found = rules.find_seam(message)
    return found.kind if isinstance(found, rules.Seam) else found


def confusion(messages: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """Count verdicts by true shape.

    Args:
        messages: Pairs of a shape and a message, as from `synthetic.labelled`.

    Returns:
        A row a shape, a column a kind or reason; counts.
    """
    rows = pd.DataFrame(
        [(shape, verdict(text)) for shape, text in messages], columns=["shape", "verdict"]
    )
    table = pd.crosstab(rows["shape"], rows["verdict"])
    return table.reindex(
        index=[shape for shape in SHAPES if shape in table.index],
        columns=[*rules.KINDS, *rules.REASONS],
        fill_value=0,
    )


def precision_recall(table: pd.DataFrame) -> pd.DataFrame:
    """Precision and recall of the screen over all shapes, each shape counting alike.

    Args:
        table: A confusion table over the same number of messages of every shape.

    Returns:
        A row a measure: successes, trials, value and its 95% Wilson interval.
    """
    kept = table[list(rules.KINDS)].sum(axis=1)
    wanted = [shape for shape in table.index if SHAPES[shape].kind]
    right = int(kept[wanted].sum())
    rows = []
    for measure, trials in (
        ("precision", kept.sum()),
        ("recall", table.loc[wanted].to_numpy().sum()),
    ):
        rows.append((measure, right, int(trials), right / trials, *wilson(right, trials)))
    return pd.DataFrame(rows, columns=["measure", "right", "of", "value", "low", "high"])
