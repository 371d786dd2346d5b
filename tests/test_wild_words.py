"""Sentences about the audit: true of the counts at hand, whatever they are."""

import numpy as np
import pandas as pd
import pytest
from wild_project import ROOT

from seam_lib.analysis import agreement
from seam_lib.core.params import load_params
from seam_lib.core.rows import Judgement
from seam_lib.wild import audit, evaluate, rules, words
from seam_lib.wild.synthetic import labelled

WILD = load_params(ROOT).wild
PUBLISHED = agreement.read_tables(ROOT / "data" / "published" / "agreement.csv")


def judged(*genuine: bool | None, judge: str = WILD.judge.model) -> list[Judgement]:
    return [
        Judgement(
            corpus="c", shard="s", row=n, hash="h", kind="paste_with_tail", msglen=9, taillen=3,
            judge=judge, asked="a", genuine=verdict,
        )
        for n, verdict in enumerate(genuine)
    ]  # fmt: skip


def test_made_up_messages_are_said_to_be_so() -> None:
    assert "say nothing about people" in words.corpus_words(["synthetic"], WILD.known)
    assert words.corpus_words(["wildchat", "lmsys"], WILD.known) == (
        "Screened: `wildchat` and `lmsys`."
    )
    both = words.corpus_words(["wildchat", "synthetic", "gone"], WILD.known)
    assert "Screened: `wildchat`, `synthetic` and `gone`. Messages of `synthetic` are" in both


def test_flags_are_counted_with_those_that_repeat() -> None:
    total = pd.Series(
        {"english_first_turn": 1000, "paste_with_tail": 60, "fence_trailing": 40, "unique": 75}
    )
    assert words.screen_words(total) == (
        "10.0% of the English first turns are flagged; 25% of the flags repeat an earlier one. "
        "75 candidates are left."
    )
    total[:] = [1000, 0, 0, 0]
    assert words.screen_words(total) == "None of the 1,000 English first turns is flagged."


def test_the_shape_that_is_missed_most_is_named() -> None:
    table = evaluate.confusion(labelled(20, seed="evaluation"))
    kept = table[list(rules.KINDS)].sum(axis=1)
    wanted = table.index.get_level_values("wanted") != "none"
    assert words.missed_words(table) == (
        f"{20 * wanted.sum() - kept[wanted].sum()} of the {20 * wanted.sum()} messages that should "
        f"be kept are missed; {20 - kept['paste_with_tail', 'terse_tail']} of them are of the "
        "shape `terse_tail`."
    )
    table.loc[wanted, [c for c in table if c not in rules.KINDS]] = 0
    assert words.missed_words(table) == "No message that should be kept is missed."


def on_benchmark(alone: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "messages": [10, 20],
            "artifact alone": [0, alone],
            "clean": [0, alone],
            "newline": [7, 3],
            "request below": [10, 19],
        },
        index=["canitedit", "stackexchange"],
    )


def test_what_the_screen_keeps_of_our_own_artifacts_is_counted() -> None:
    assert words.benchmark_words(on_benchmark(14)) == (
        "Of 30 artifacts that stand alone, 14 are kept (14 of Stack Exchange). A request is found "
        "below 29 of them; a comment that asks for nothing is found below 7 of 10 pieces of code "
        "and 3 of 20 other texts."
    )
    assert "that stand alone, 0 are kept. A request" in words.benchmark_words(on_benchmark(0))


def test_the_judge_s_verdicts_are_counted_and_a_tiny_judge_is_named_one() -> None:
    rows = judged(True, True, None)
    assert words.judge_words(rows, 839, WILD.judge) == (
        f"3 of 839 candidates judged by `{WILD.judge.model}`: 2 genuine and 1 unparseable. "
        f"{WILD.judge.caution}"
    )
    other = words.judge_words(judged(True, judge="Qwen3-14B"), 839, WILD.judge)
    assert other == "1 of 839 candidates judged by `Qwen3-14B`: 1 genuine."
    assert words.judge_words([], 839, WILD.judge) == "None of 839 candidates is judged yet."


def test_agreement_is_said_question_by_question() -> None:
    said = words.agreement_words(agreement.agreement(PUBLISHED, draws=200, seed=42))
    assert [sentence.partition(" [")[0] for sentence in said] == [
        "`genuine`: the same answer to 91% of 100 messages; kappa 0.26",
        "`artifact_first`: the same answer to 89% of 89 messages; kappa 0.72",
    ]


@pytest.mark.parametrize("table", [PUBLISHED["genuine"], np.array([[40, 3], [9, 48]])])
def test_kappa_follows_from_the_numbers_in_its_sentence(table: agreement.Crossed) -> None:
    said = words.kappa_words(table)
    raw, chance = (float(x) for x in said.split("gained: (")[1].split(")")[0].split(" − "))
    assert float(said.rstrip(".").split(" = ")[-1]) == pytest.approx(
        (raw - chance) / (1 - chance), abs=0.01
    )


def test_the_estimate_is_the_paper_s() -> None:
    said = words.estimate_words(audit.estimate(PUBLISHED["genuine"], WILD.pool))
    assert said.startswith("89 of 100 messages by both: about **18,110** of the 20,348 judged")
