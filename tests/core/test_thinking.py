"""Thinking inside the content is told from the answer, whatever a server leaves of its marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam_lib.core.answers import delivered, flaw
from seam_lib.core.rows import Output
from seam_lib.core.thinking import Delivered, split

HARMONY = (
    "<|channel|>analysis<|message|>Is it a note?<|end|>"
    "<|start|>assistant<|channel|>final<|message|>A robot walks.<|return|>"
)


@pytest.mark.parametrize(
    ("content", "text", "thinking"),
    [
        ("<think>Hm.</think>\n\nA robot walks.", "\n\nA robot walks.", "Hm."),
        ("\n<think>\nHm.\n</think>A robot walks.", "A robot walks.", "\nHm.\n"),
        ("<think></think>\n\nA robot walks.", "\n\nA robot walks.", ""),
        ("<Thinking>Hm.</thinking> A robot walks.", " A robot walks.", "Hm."),
        ("<think>a</think><think>b</think>c", "c", "ab"),
        ("<seed:think>Hm.</seed:think>A robot walks.", "A robot walks.", "Hm."),
        ("Hm, a note.\n</think>\n\nA robot walks.", "A robot walks.", "Hm, a note.\n"),
        (HARMONY, "A robot walks.", "Is it a note?"),
        (HARMONY.removesuffix("<|return|>"), "A robot walks.", "Is it a note?"),
        ("<|channel|>final<|message|>A robot walks.", "A robot walks.", ""),
        ("analysisIs it a note?assistantfinalA robot walks.", "A robot walks.", "Is it a note?"),
    ],
)
def test_the_answer_is_what_is_left(content: str, text: str, thinking: str) -> None:
    assert split(content) == Delivered(text, thinking, whole=True)


@pytest.mark.parametrize(
    "content",
    [
        "<think>Hm, a note that nev",
        "<think>a</think><think>b",
        "<|channel|>analysis<|message|>Is it a no",
        "<|channel|>analysis<|message|>Is it a note?<|end|>",
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b",
    ],
)
def test_thinking_that_never_ends_is_an_answer_cut_off(content: str) -> None:
    found = split(content)
    assert found.text == "" and not found.whole and found.thinking
    assert flaw(Output(case_id="c", model="m", response=content, finish_reason="stop")) == "length"


@pytest.mark.parametrize(
    "content",
    [
        "A robot walks.",
        "In HTML-like prompts, <think>this</think> is thinking.",
        "Close the block with `</think>` and go on.",
        "analysis of walking robots, and what assistants finally say",
        "We write <|message|> behind a channel.",
        "",
    ],
)
def test_tags_in_the_text_belong_to_it(content: str) -> None:
    assert split(content) == Delivered(content, "", whole=True)


@given(st.text(alphabet=st.sampled_from("ab <>/|\n"), max_size=40))
def test_any_text_behind_a_block_is_delivered_as_it_is(text: str) -> None:
    content = f"<think>x</think>.{text}"
    assert split(content).text == f".{text}"
    assert delivered(Output(case_id="c", model="m", response=f".{text}")) == f".{text}"


@given(st.text())
def test_nothing_raises_and_nothing_is_invented(content: str) -> None:
    text, thinking, _ = split(content)
    assert text in content and len(text) + len(thinking) <= len(content)


def test_only_thinking_is_an_empty_answer() -> None:
    answer = Output(case_id="c", model="m", response="<think>Hm.</think>\n", finish_reason="stop")
    assert flaw(answer) == "empty"
