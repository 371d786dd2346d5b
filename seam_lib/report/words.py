"""What a run's numbers do and do not say, in sentences. Numbers come in, Markdown goes out."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from seam_lib.analysis.words import direction
from seam_lib.build.release import lacking
from seam_lib.core.cells import lever, percent, points, span
from seam_lib.core.params import RunParams
from seam_lib.core.rows import SOURCE_NAMES, condition_name, contrast_name, in_order
from seam_lib.report.panel import Panel
from seam_lib.report.results import RunResult
from seam_lib.score.damage import empty_words
from seam_lib.score.scorer import LEXICAL_ONLY, Provenance

#: With fewer comments, resampling them says nothing: their rates are too few to vary.
FEW_COMMENTS = 10


def cautions(result: RunResult) -> list[str]:
    """What limits the numbers, the most serious limit first; one or two sentences each."""
    clusters, name = len(result.labels.clusters), result.run.settings.benchmark
    said = []
    if result.run.settings.caution:
        said.append(f"**A tiny model.** {result.run.settings.caution}")
    if not result.shared:
        said.append(
            f"**Other texts.** None of the clusters of the benchmark `{name}` is one of the "
            f"paper's (as the project ships, they come from small corpora of our own). The "
            f"published panel is a backdrop here, not a ranking."
        )
    elif len(result.shared) < clusters:
        said.append(
            f"**Other texts.** {len(result.shared)} of {clusters} clusters are the paper's own; "
            "only on these is the run paired with the panel."
        )
    if gaps := lacking(result.release):
        said.append(f"**Part of the paper's benchmark.** The run's lacks {gaps}.")
    if clusters < result.paper_clusters:
        said.append(
            f"**A small sample.** {clusters} clusters; the paper has {result.paper_clusters}. "
            f"Read the intervals, not the rates. {_reach(result.analysis.design)}"
        )
    if result.scoring.nli == "off":
        said.append(LEXICAL_ONLY)
    said += usability(result.scoring)
    emptied = empty_words(result.emptied, result.run.name)
    warnings = [*map(str, result.health.warnings), *filter(None, [emptied])]
    return said + [f"**Warning.** {literal(words[:1].upper() + words[1:])}." for words in warnings]


def _reach(design: pd.DataFrame) -> str:
    """The differences that the contrasts detect, from the best to the worst of them."""
    detected = design[design["alone"] < design["discordant"]]["alone"]
    if detected.empty:
        return "No contrast has enough pairs that differ to detect a difference with 80% power."
    size = span(detected, percent)
    return f"The smallest difference that a contrast detects with 80% power is {size} points."


def semantic_tier(scoring: Provenance) -> str:
    """Which semantic tier took part in the labels: said wherever rates are shown."""
    return f"*Semantic tier: {literal(scoring.nli)}.*"


def usability(scoring: Provenance) -> list[str]:
    """Say how many planned pairs have no label, and under which conditions."""
    lost = {c: n - scoring.labelled.get(c, 0) for c, n in scoring.planned.items()}
    if not any(lost.values()):
        return []
    where = ", ".join(f"{lost[c]} under {condition_name(c)}" for c in in_order(lost) if lost[c])
    return [
        f"**Unusable answers.** {sum(lost.values())} of {sum(scoring.planned.values())} planned "
        "pairs have no label, since the answer or its clean counterpart was empty, cut off, failed "
        f"or never asked for: {where}. None of them counts as a success."
    ]


def family_words(family: Sequence[str]) -> str:
    """Over which runs Holm's p is adjusted."""
    if len(family) == 1:
        return "This run is reported alone, so Holm's p is the exact p."
    return f"Holm's p is over the {len(family)} runs {', '.join(f'`{run}`' for run in family)}."


def lever_words(levers: pd.DataFrame) -> str:
    """The lever with its interval."""
    if levers.empty or np.isnan(levers.iloc[0]["low"]) or np.isinf(levers.iloc[0]["lever"]):
        return "Too little was absorbed under boundary for a lever, newline over boundary."
    row = levers.iloc[0]
    return (
        f"The lever, newline over boundary, is {lever(row['lever'])} (95% interval "
        f"{lever(row['low'])} to {lever(row['high'])}, by resampling clusters)."
    )


def reading_words(panel: Panel) -> str:
    """Which reading of the published labels stands beside the run."""
    tier = "and the semantic tier left out, as in this run" if panel.lexical else "all tiers in"
    return f"*The panel's labels are the detector's, with none changed by hand, {tier}.*"


def rank_words(panel: Panel) -> list[str]:
    """Where the run stands among the panel, condition by condition, on the same clusters."""
    sentences = []
    for row in panel.ranks.itertuples():
        open_ones = row.models - 1 - row.less - row.more
        sentences.append(
            f"{condition_name(row.condition)}: place {row.rank} of {row.models} (95% interval "
            f"{row.low} to {row.high}; the first absorbs least). {row.less} models absorb "
            f"significantly less, {row.more} more; from {open_ones} no difference is resolved."
        )
    return sentences


def place_words(rates: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    """Where a run's rates lie among the published ones, one sentence per condition.

    Args:
        rates: The run's frame of `questions.rates`.
        published: The panel's.
    """
    sentences = []
    for row in rates.itertuples():
        others = published.loc[published["condition"] == row.condition, "rate"]
        below = f"higher than those of {(others < row.rate).sum()} of the paper's {len(others)}"
        place = f"{below} models" if len(others) else "a condition that the paper does not have"
        sentences.append(
            f"{condition_name(row.condition)}: {percent(row.rate)}% [{percent(row.low)}, "
            f"{percent(row.high)}], {place}."
        )
    return sentences


def contrast_words(contrasts: pd.DataFrame) -> list[str]:
    """What each contrast of a run says, one sentence per contrast.

    Args:
        contrasts: The run's frame of `questions.contrasts`; differences are a minus b.
    """
    sentences = []
    for row in contrasts.itertuples():
        a, b = condition_name(row.condition_a), condition_name(row.condition_b)
        word = direction(row.difference, row.p_holm)
        sentences.append(
            f"From {a} to {b}: {points(-row.difference)} points [{points(-row.high)}, "
            f"{points(-row.low)}], {word if word == 'not resolved' else f'{b} absorbs {word}'}."
        )
    return sentences


def source_words(rates: pd.DataFrame) -> str:
    """In which sources a run absorbs most and least.

    Args:
        rates: The run's frame of `questions.source_rates`.
    """
    if rates.empty:
        return "No source has a usable pair under newline or blank."
    ends = rates.sort_values("rate").iloc[[-1, 0]]
    most, least = (
        f"{SOURCE_NAMES[row.source]} ({percent(row.rate)}% [{percent(row.low)}, "
        f"{percent(row.high)}])"
        for row in ends.itertuples()
    )
    return f"Most is absorbed in {most}, least in {least}."


def resolution(design: pd.DataFrame, family: int) -> list[str]:
    """Which differences the run could have detected, one sentence per contrast (Appendix H).

    Args:
        design: The frame of `questions.design`.
        family: Runs over which Holm adjusts.
    """
    return [
        f"{contrast_name(row['condition_a'], row['condition_b'])}: {row['n']} pairs, "
        f"{percent(row['discordant'])}% of which differ. {_detects(row, family)}"
        for row in design.to_dict("records")
    ]


def _detects(row: dict[str, Any], family: int) -> str:
    alone, holm, most = row["alone"], row["holm"], row["discordant"]
    if np.isnan(alone):
        return "With no pair that differs, only the interval says how large a difference may be."
    if alone >= most:
        return (
            f"Too few: even if all of them pointed one way ({percent(most)} points), the test "
            "would have less than 80% power."
        )
    detected = f"A difference of {percent(alone)} points is detected with 80% power"
    if family == 1:
        return f"{detected}."
    under = f"{percent(holm)} points" if holm < most else "none"
    return f"{detected}; under Holm over {family} runs, {under}."


def without_departures(result: RunResult) -> str:
    """What becomes of the contrasts when answers of departing decoding are left out."""
    if not result.departing:
        return "Every answer was drawn with the run's own decoding."
    keys = ["condition_a", "condition_b"]
    both = result.analysis.contrasts.merge(result.unaltered, "left", keys, suffixes=("", "_own"))
    changed = []
    for row in both.itertuples():
        before = direction(row.difference, row.p_holm)
        after = direction(row.difference_own, row.p_holm_own)
        if before != after:
            pair = contrast_name(row.condition_a, row.condition_b)
            changed.append(f"{pair} ({before}, then {after})")
    verdict = f"These change: {', '.join(changed)}." if changed else "No reading changes."
    return (
        f"{result.departing} of {len(result.labels)} labels depend on an answer that was drawn "
        f"again with another decoding, since the first was unusable (Appendix F). Without them: "
        f"{verdict}"
    )


def comment_words(sensitivity: pd.DataFrame) -> str:
    """How much the rates depend on single comments (paper, Section 6)."""
    if sensitivity.empty:
        return "The benchmark has no two casual comments under newline and boundary."
    row = sensitivity.iloc[0]
    count = f"The clusters share {row['comments']} casual comments"
    if row["comments"] < FEW_COMMENTS:
        return f"{count}, too few to resample."
    return (
        f"{count}. Resampling whole comments gives a 95% interval of [{percent(row['low'])}, "
        f"{percent(row['high'])}]% for the newline rate, and of [{points(row['difference_low'])}, "
        f"{points(row['difference_high'])}] points for newline minus boundary. Leaving out any one "
        f"comment moves the newline rate by at most {percent(row['largest_move'])} points."
    )


def settings_words(result: RunResult) -> list[str]:
    """What was run: the settings that decide what a model answers, and what scored it."""
    settings, conditions = result.run.settings, in_order(result.scoring.planned)
    return [
        f"Provider `{settings.provider}`, model `{settings.model}`, {_decoding(settings)}",
        f"Labels: scoring rules {result.scoring.rules}. {semantic_tier(result.scoring)}",
        f"Conditions: {', '.join(map(condition_name, conditions))}, each against clean.",
    ]


def _decoding(settings: RunParams) -> str:
    """How answers are drawn, and drawn again when one is empty or cut off."""
    warm = settings.temperature is not None
    first = f"temperature {settings.temperature:g}" if warm else "no temperature sent"
    words = f"{first}, at most {settings.max_tokens} tokens an answer."
    if settings.attempts == 1:
        return f"{words} Nothing is drawn again."
    again = f", at temperature {settings.retry_temperature}" if warm else ""
    return (
        f"{words} An answer that is empty or cut off is drawn again{again}: "
        f"{settings.attempts} answers at most a case."
    )


def literal(text: str) -> str:
    """Text as Markdown that renders as the text itself, whatever characters it holds."""
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", " ".join(text.split()))
