"""What the audit's numbers say, in sentences: the notebook shows them beside its tables."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from seam_lib.analysis import stats
from seam_lib.analysis.agreement import Crossed, chance_agreement
from seam_lib.core.params import CorpusParams, RunParams
from seam_lib.core.rows import CODE_SOURCES, SOURCE_NAMES, Judgement
from seam_lib.wild import rules
from seam_lib.wild.audit import Estimate

VERDICTS = {True: "genuine", False: "not genuine", None: "unparseable"}


def corpus_words(corpora: Iterable[str], known: Mapping[str, CorpusParams]) -> str:
    """Which corpora were screened, and whether their counts say anything about people."""
    names = list(corpora)
    made_up = [name for name in names if name in known and known[name].synthetic]
    text = f"Screened: {_listed(names)}."
    if made_up:
        text += (
            f" Messages of {_listed(made_up)} are made up by rules of our own, so that all of this "
            "runs without any log: their counts say nothing about people."
        )
    return text


def screen_words(total: "pd.Series[int]") -> str:
    """How many first turns the screen flags, and how many of the flags are new.

    Args:
        total: Counts by step, over all corpora.
    """
    flagged, unique = total[list(rules.KINDS)].sum(), total["unique"]
    if not flagged:
        return f"None of the {total['english_first_turn']:,} English first turns is flagged."
    return (
        f"{flagged / total['english_first_turn']:.1%} of the English first turns are flagged; "
        f"{1 - unique / flagged:.0%} of the flags repeat an earlier one. {unique:,} candidates are "
        "left."
    )


def missed_words(table: pd.DataFrame) -> str:
    """How many of the messages that should be kept are not, and of which shape most of them are.

    Args:
        table: A confusion table, see `evaluate.confusion`.
    """
    wanted = table[table.index.get_level_values("wanted") != "none"]
    missed = wanted.drop(columns=list(rules.KINDS)).sum(axis=1).droplevel("wanted")
    if not missed.sum():
        return "No message that should be kept is missed."
    return (
        f"{missed.sum():,} of the {wanted.to_numpy().sum():,} messages that should be kept are "
        f"missed; {missed.max()} of them are of the shape `{missed.idxmax()}`."
    )


def benchmark_words(table: pd.DataFrame) -> str:
    """Which of our artifacts the screen keeps when nothing follows them, and below what.

    Args:
        table: The frame of `evaluate.on_benchmark`.
    """
    alone = table[table["artifact alone"] > 0]
    code = table.index.isin(CODE_SOURCES)
    kept = [f"{row['artifact alone']} of {SOURCE_NAMES[name]}" for name, row in alone.iterrows()]
    below = [
        f"{group['newline'].sum()} of {group['messages'].sum()} {name}"
        for name, group in (("pieces of code", table[code]), ("other texts", table[~code]))
    ]
    return (
        f"Of {table['messages'].sum()} artifacts that stand alone, {alone['artifact alone'].sum()} "
        f"are kept{f' ({_joined(kept)})' if kept else ''}. A request is found below "
        f"{table['request below'].sum()} of them; a comment that asks for nothing is "
        f"found below {_joined(below)}."
    )


def judge_words(judged: Sequence[Judgement], candidates: int, judge: RunParams) -> str:
    """How many candidates were judged, by whom, and with which verdicts.

    Args:
        judged: The verdicts.
        candidates: How many candidates there are.
        judge: The judge's settings, for what must be said of it.
    """
    if not judged:
        return f"None of {candidates:,} candidates is judged yet."
    said = pd.Series([VERDICTS[row.genuine] for row in judged]).value_counts()
    counts = _joined([f"{count:,} {verdict}" for verdict, count in said.items()])
    caution = f" {judge.caution}" if judged[0].judge == judge.model and judge.caution else ""
    by = judged[0].judge
    return f"{len(judged):,} of {candidates:,} candidates judged by `{by}`: {counts}.{caution}"


def agreement_words(statistics: pd.DataFrame) -> list[str]:
    """Raw agreement beside both coefficients, a sentence a question.

    Args:
        statistics: The frame of `agreement.agreement`.
    """
    sentences = []
    for question, rows in statistics.groupby("question", sort=False):
        values = rows.set_index("statistic")
        parts = [
            f"{name} {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
            for name, row in values.drop(index="raw").iterrows()
        ]
        sentences.append(
            f"`{question}`: the same answer to {values.loc['raw', 'value']:.0%} of "
            f"{rows['messages'].iloc[0]} messages; {_joined(parts)}."
        )
    return sentences


def kappa_words(table: Crossed) -> str:
    """How Cohen's kappa comes about, step by step.

    Args:
        table: Counts, shape (2, 2).
    """
    a, b = table[0].sum() / table.sum(), table[:, 0].sum() / table.sum()
    chance, raw = chance_agreement(table), stats.agreement(table)
    return (
        f"A says yes to {a:.0%} of the messages and B to {b:.0%}. Two people with these habits who "
        f"do not even look agree on {a:.2f} · {b:.2f} + {1 - a:.2f} · {1 - b:.2f} = {chance:.3f} "
        f"of them. Kappa is the part of the rest that the annotators gained: ({raw:.3f} − "
        f"{chance:.3f}) / (1 − {chance:.3f}) = {stats.cohen_kappa(table):.2f}."
    )


def estimate_words(found: Estimate) -> str:
    """How many messages of the judged pool match."""
    return (
        f"{found.consensus} of {found.sampled} messages by both: about **{found.matches:,}** of "
        f"the {found.pool:,} judged positives, and with 95% confidence at least "
        f"**{found.lower_bound:,}** (Wilson)."
    )


def _listed(names: Iterable[str]) -> str:
    return _joined([f"`{name}`" for name in names])


def _joined(parts: Sequence[str]) -> str:
    """Parts as prose: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
