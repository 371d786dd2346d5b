"""How well the screen does where the truth is known: made-up messages, and our own benchmark."""

from collections.abc import Iterable

import pandas as pd
import pyarrow as pa

from seam_lib.analysis.stats import wilson
from seam_lib.core.rows import Case
from seam_lib.wild import rules
from seam_lib.wild.synthetic import SHAPES

#: A plain request to put below artifacts that have none.
REQUEST = "Can you make this a little shorter?"


def verdict(message: str) -> str:
    """The screen's verdict on one message: its kind, or the reason why it is not kept."""
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
        Counts: one row per shape, by the kind that it should get; one column per kind or reason.
    """
    rows = pd.DataFrame(
        [(shape, verdict(text)) for shape, text in messages], columns=["shape", "verdict"]
    )
    table = pd.crosstab(rows["shape"], rows["verdict"])
    table = table.reindex(list(SHAPES), columns=[*rules.KINDS, *rules.REASONS], fill_value=0)
    wanted = [SHAPES[shape].kind or "none" for shape in table.index]
    return table.set_index(pd.Index(wanted, name="wanted"), append=True).swaplevel()


def precision_recall(table: pd.DataFrame) -> pd.DataFrame:
    """Precision and recall of the screen over all shapes, each with the same weight.

    Args:
        table: A confusion table over the same number of messages of every shape.

    Returns:
        One row per measure: successes, trials, value and its 95% Wilson interval.
    """
    kept = table[list(rules.KINDS)].sum(axis=1)
    wanted = table[table.index.get_level_values("wanted") != "none"]
    right = int(kept[wanted.index].sum())
    trials = {"precision": int(kept.sum()), "recall": int(wanted.to_numpy().sum())}
    rows = [(name, right, of, right / of, *wilson(right, of)) for name, of in trials.items()]
    return pd.DataFrame(rows, columns=["measure", "right", "of", "value", "low", "high"])


def on_benchmark(cases: Iterable[Case]) -> pd.DataFrame:
    """Try the screen on messages that were not made for it: those of the benchmark.

    Args:
        cases: A benchmark. Clusters whose artifact is too short for the screen are left out.

    Returns:
        One row per source. Columns: `messages`, and how many of them are kept with the artifact
        alone, below its task (`clean`), above a comment (`newline`), above a request.
    """
    rows = []
    for case in cases:
        if len(case.artifact) < rules.MIN_REGION or case.condition not in ("clean", "newline"):
            continue
        asked = {case.condition: case.message}
        if case.condition == "clean":
            asked["artifact alone"] = case.artifact
            asked["request below"] = f"{case.artifact}\n\n{REQUEST}"
        rows += [(case.source, how, verdict(text) in rules.KINDS) for how, text in asked.items()]
    frame = pd.DataFrame(rows, columns=["source", "how", "kept"])
    table = frame.pivot_table(index="source", columns="how", values="kept", aggfunc="sum")
    table.insert(0, "messages", frame[frame["how"] == "clean"].groupby("source").size())
    return table[["messages", "artifact alone", "clean", "newline", "request below"]].astype(int)
