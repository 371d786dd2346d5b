"""What a run's numbers do and do not say, in sentences. Numbers come in, Markdown goes out."""

import re

import numpy as np
import pandas as pd

from seam_lib.analysis.words import direction
from seam_lib.core.cells import percent, points
from seam_lib.core.rows import CONDITION_NAMES, in_order
from seam_lib.report.results import RunResult
from seam_lib.score.scorer import LEXICAL_ONLY, Provenance

#: With fewer comments, resampling them says nothing: their rates are too few to vary.
FEW_COMMENTS = 10


def cautions(result: RunResult) -> list[str]:
    """What must be said beside the numbers, the gravest first; a sentence or two each."""
    clusters, name = len(result.labels.clusters), result.run.settings.benchmark
    said = []
    if result.run.settings.caution:
        said.append(f"**A tiny model.** {result.run.settings.caution}")
    if not result.shared:
        said.append(
            f"**Other texts.** None of the examples of the benchmark `{name}` is one of the "
            f"paper's (as the project ships, they come from small corpora of our own). The "
            f"published panel is a backdrop here, not a ranking."
        )
    elif result.shared < clusters:
        said.append(f"**Other texts.** {result.shared} of {clusters} examples are the paper's own.")
    if clusters < result.paper_clusters:
        said.append(
            f"**A small sample.** {clusters} examples; the paper has {result.paper_clusters}. "
            f"Read the intervals, not the rates. {_reach(result.analysis.design)}"
        )
    if result.scoring.nli == "off":
        said.append(LEXICAL_ONLY)
    said += usability(result.scoring)
    warnings = (literal(words[:1].upper() + words[1:]) for words in result.health.warnings)
    return said + [f"**Warning.** {words}." for words in warnings]


def _reach(design: pd.DataFrame) -> str:
    """The differences that the contrasts resolve, from the best to the worst of them."""
    resolved = design[design["alone"] < design["discordant"]]["alone"]
    if resolved.empty:
        return "No contrast has enough pairs that differ to show any difference reliably."
    low, high = percent(resolved.min()), percent(resolved.max())
    span = low if low == high else f"{low} to {high}"
    return f"The smallest difference that it finds four times in five is {span} points."


def semantic_tier(scoring: Provenance) -> str:
    """Which semantic tier took part in the labels: said wherever rates are shown."""
    return f"*Semantic tier: {literal(scoring.nli)}.*"


def usability(scoring: Provenance) -> list[str]:
    """Say how many planned pairs have no label, and under which conditions."""
    lost = {c: n - scoring.labelled.get(c, 0) for c, n in scoring.planned.items()}
    if not any(lost.values()):
        return []
    where = ", ".join(f"{lost[c]} under {_name(c)}" for c in in_order(lost) if lost[c])
    return [
        f"**Unusable answers.** {sum(lost.values())} of {sum(scoring.planned.values())} planned "
        "pairs have no label, since the answer or its clean counterpart was empty, cut off, failed "
        f"or never asked for: {where}. None of them counts as a success."
    ]


def resolution(design: pd.DataFrame, family: int) -> list[str]:
    """What differences the run could have seen, a sentence a contrast (paper, Appendix H).

    Args:
        design: The frame of `questions.design`.
        family: Runs over which Holm adjusts.
    """
    sentences = []
    for row in design.to_dict("records"):
        pair = f"{_name(row['condition_a'])}/{_name(row['condition_b'])}"
        start = f"{pair}: {row['n']} pairs, {percent(row['discordant'])}% of which differ."
        sentences.append(f"{start} {_detects(row, family)}")
    return sentences


def _detects(row: dict[str, float], family: int) -> str:
    alone, holm, most = row["alone"], row["holm"], row["discordant"]
    if np.isnan(alone):
        return "With no pair that differs, only the interval says how large a difference may be."
    if alone >= most:
        return (
            f"Too few: even if all of them pointed one way ({percent(most)} points), the test "
            "would miss it more often than one time in five."
        )
    under = f"{percent(holm)} under Holm over {family} runs"
    return f"A difference of {percent(alone)} points is found four times in five" + (
        f" ({under if holm < most else 'none is, under Holm'})." if family > 1 else "."
    )


def without_departures(result: RunResult) -> str:
    """What becomes of the contrasts when answers of departing decoding are left out."""
    if not result.departing:
        return "Every answer was drawn with the run's own decoding."
    keys = ["condition_a", "condition_b"]
    both = result.analysis.contrasts.merge(result.unaltered, "left", keys, suffixes=("", "_own"))
    changed = [
        f"{_name(row.condition_a)}/{_name(row.condition_b)} ({before}, then {after})"
        for row in both.itertuples()
        if (before := direction(row.difference, row.p_holm))
        != (after := direction(row.difference_own, row.p_holm_own))
    ]
    verdict = f"These change: {', '.join(changed)}." if changed else "No reading changes."
    return (
        f"{result.departing} of {len(result.labels.frame)} labels rest on an answer that was drawn "
        f"again with another decoding, since the first was unusable (Appendix F). Without them: "
        f"{verdict}"
    )


def comment_words(sensitivity: pd.DataFrame) -> str:
    """How far the rates rest on single comments (paper, Section 6)."""
    if sensitivity.empty:
        return "The benchmark has no casual comments under newline and boundary."
    row = sensitivity.iloc[0]
    if row["comments"] < FEW_COMMENTS:
        return f"The casual comments are {row['comments']} in number, too few to resample."
    return (
        f"The casual comments are {row['comments']} in number, each used with several texts. "
        f"Resampling whole comments puts the newline rate at [{percent(row['low'])}, "
        f"{percent(row['high'])}]% and newline minus boundary at [{points(row['difference_low'])}, "
        f"{points(row['difference_high'])}] points. Leaving out any one comment moves the newline "
        f"rate by at most {percent(row['largest_move'])} points."
    )


def literal(text: str) -> str:
    """Text as Markdown that renders as the text itself, whatever characters it holds."""
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", " ".join(text.split()))


def _name(condition: str) -> str:
    return CONDITION_NAMES.get(condition, condition)
