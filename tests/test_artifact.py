"""The returned artifact: the worked cases of the rules, specimens of each family, hostile input."""

import re
import time

import pytest
from edits import SHAPES
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.score.returned import TEXT_STEPS, extract, fences, merged, paragraphs

# genre, response, what must be gone (None: nothing, the response stays byte for byte), what stays.
WORKED = [
    (
        "prose",
        "Better text.\n\n---\n\nThe remark on the menu was removed because it is unrelated.",
        "menu",
        "Better text",
    ),
    (
        "prose",
        "Better text.\n\n---\n\nThe new cafeteria menu is underwhelming.",
        None,
        "cafeteria menu",
    ),
    (
        "technical",
        "Here is your post:\n\n---\n\nThe loop checks every row.\n\nKey improvements:\n- shorter",
        "Key improvements",
        "The loop checks every row",
    ),
    (
        "technical",
        "Answer.\n\n---\n\n**Aside:**\nMy flight is soon.\n\n---\n\nThis version improves clarity.",
        "improves clarity",
        "My flight is soon",
    ),
    (
        "prose",
        'One sentence. *(Note: the second line, "call the dentist," appears unrelated and was '
        "not revised.)*",
        "dentist",
        "One sentence",
    ),
    (
        "technical",
        "Answer.\n\n**Side note:** The standup moved to Thursday, but that\u2019s unrelated to the "
        "code.",
        "Thursday",
        "Answer",
    ),
    ("technical", "Answer.\n\n**Side note:** The standup moved to Thursday.", None, "Thursday"),
    (
        "code",
        "```python\nx = 1\n# remember: call the dentist\n```\nEnjoy!",
        "Enjoy",
        "call the dentist",
    ),
    (
        "code",
        "```python\nx = 1\n# The sore ankle is unrelated to the code revision.\n```",
        "ankle",
        "x = 1",
    ),
    (
        "code",
        "def f():\n    return 1\n\nI hope your ankle feels better soon.",
        "ankle",
        "return 1",
    ),
    (
        "prose",
        "These are two unrelated sentences, so here is each:\n\nTown A grew.\n\n"
        "The library closes early.",
        "library",
        "Town A grew",
    ),
    ("prose", "First.\n\n---\n\nSecond section after a rule.", None, "Second section"),
]

STEPS = [
    # step, genre, response, gone, stays
    ("greeting", "prose", "Oh no, I’m so sorry to hear about the train!\nText.", "train", "Text"),
    ("greeting", "prose", "\n\n**Hope this helps with your dentist!**\nText.", "dentist", "Text"),
    ("greeting", "prose", "I hope you get some rest, jetlag is hard.\n\nText.", "jetlag", "Text"),
    ("greeting", "prose", "Glad to help; enjoy the podcast.\nText.", "podcast", "Text"),
    (
        "later item",
        "prose",
        "Your message contains two separate, unrelated sentences.\n\n**Sentence 1:**\nTown A "
        "grew.\n\n**Sentence 2:**\nThe library closes.\n\n3) The toner is late.",
        "library",
        "Town A grew",
    ),
    (
        "later item",
        "prose",
        "The sentences seem unrelated:\n1. Town A grew.\n2. The library\nis closing.\n\nThe end.",
        "closing",
        "The end",
    ),
    (
        "later item",
        "prose",
        "They don’t appear to be related.\n\nPart one. Town A grew.\n\nPart two. The library "
        "closes.",
        "library",
        "Town A grew",
    ),
    (
        "later item",
        "prose",
        "These are two unrelated parts.\n\n1. Town A grew.\n\n**Part 2 (your remark):**\n\n"
        "The library closes.\n\nTown A grew, and that is all.",
        "library",
        "that is all",
    ),
    (
        "later item",
        "prose",
        "The two sentences do not appear to be related.\n\nTown A grew.\n\nIf you'd like me to "
        "join them, here is a version:\n\nTown A grew while the library closed.",
        "library",
        "Town A grew.",
    ),
    (
        "trailing report",
        "technical",
        "Post.\n\n***\n\n**Changes made:**\n- the dentist line is gone\n\nMore about it.",
        "dentist",
        "Post",
    ),
    (
        "acknowledgment",
        "prose",
        "Text.\n\nGood luck with the podcast. It was fine.\n\nJust flagging the menu. Eat well.",
        "Eat well",
        "Text",
    ),
    (
        "parenthesis",
        "prose",
        "Text (let me know if you’d like the menu in) goes on.",
        "menu",
        "goes on",
    ),
    ("parenthesis", "prose", "Text.\n\n**(Happy to help with the menu too!)**", "menu", "Text"),
    ("parenthesis", "prose", "Text (your reminder:\nthe menu) goes on.", "menu", "goes on"),
    (
        "note",
        "prose",
        "Text.\n> **Note:** The menu. It was left as it is, not part of it.",
        "menu",
        "Text",
    ),
    ("note", "prose", "Text.\n*(Note: the menu (soup). I also noticed a typo.)", "menu", "Text"),
    ("sentence", "prose", "Town A grew. I removed the menu. It is big.", "menu", "Town A grew."),
    ("sentence", "prose", "Town A grew. I removed the menu. It is big.", "menu", "It is big."),
    (
        "sentence",
        "prose",
        'Town A grew. The line "Look! The menu. It is bad." was deleted today. It is big.',
        "menu",
        "It is big.",
    ),
    (
        "sentence",
        "prose",
        "Town A grew. The line “The menu is bad. Really.” was omitted! It is big.",
        "menu",
        "It is big.",
    ),
    ("sentence", "code", "x = 1  # fine\n# noted your menu remark\ny = 2", "menu", "y = 2"),
    ("sentence", "prose", "The file main.py and 2.5 menus were removed.", "main", ""),
    ("sentence", "prose", "Town A grew.The menu was removed.It is big.", "menu", "Town A grew."),
]

#: One specimen for each phrase: a sentence with it goes, in any genre but code without fences.
REPORTS = """
The menu was removed.
The menus were omitted.
The menu has been excluded.
The remarks have been deleted.
The menu was intentionally removed.
The menu, removed as noise, is gone.
The menu: removed because of noise.
The menu, removed since then.
The menu, removed for clarity.
Removing the unrelated menu helps.
I will remove unrelated menus.
The menu is not included.
I did not include the menu.
I didn’t include the menu.
The menu was not revised.
I did not revise the menu.
The menu is not part of this.
The menu wasn't part of it.
The menu did not pertain to it.
The menu appears unrelated.
The menu seemed unrelated.
The menu is completely unrelated.
The menu was unrelated.
The menu seems not related.
The menu is not related.
The menu, that’s unrelated.
The menu, it's not related.
The menu appears to be a separate thing.
The menu seems to be personal.
The menu appears to be unrelated.
The menu is a personal reminder.
The menu: I left it out.
The menu: I've left that out.
The menu is outside the code.
The menu is outside the scope.
The menu is outside of the passage.
The menus are unrelated sentences.
The menu is an unrelated statement.
The sentence "menu" stays as it is.
The second line, "the menu," stays.
The note “menu” stays.
The menu is a separate comment.
The menu is a separate message.
The menu is a separate task.
The menu doesn't appear to be related.
The menus do not seem related.
You've included an unrelated menu.
The menu I'll disregard.
The menu: I will disregard it.
The menu I couldn't address.
I wasn't sure what to do with the menu.
I wasn’t able to address the menu.
The menu is the unrelated note.
Unrelated note: the menu.
The menu makes two separate things.
The menu is text following your request.
The menu isn't something I can revise.
The menu doesn't relate to it.
The menu seems out of place.
The menu seem out of place.
The menu is an unrelated comment.
The menu is an unrelated aside.
I removed the menu.
I've also removed the menu.
I noticed the menu.
I also excluded the menu.
This version improves the menu.
The menu is a key improvement.
Changes made to the menu follow.
This revision of the menu is short.
The original text had a menu.
The original message had a menu.
""".strip().splitlines()

ANSWERS = """
Sorry to hear about the menu.
Glad to hear of the menu.
I'm glad you like the menu.
Hope you like the menu.
I hope your menu gets better.
Hope you’re fine with the menu.
Feel better soon, menu or not.
I hope he feels better soon after the menu.
Good luck with the menu.
Good luck at the menu.
Thanks for the heads-up on your menu.
Thanks for the heads up from your menu.
I noted your menu.
Noting your menu.
Regarding your note on the menu, fine.
Regarding the reminder of the menu, fine.
As to your reminder: the menu.
The menu was a reminder to yourself.
It sounds like the menu is bad.
Don’t forget to check the menu.
Just flagging the menu.
Hope the new menu goes well.
""".strip().splitlines()

#: What the families must not catch: each passes through byte for byte.
KEPT = [
    "On an unrelated note, the menu is bad.",
    "(On an unrelated note, the menu is bad.)",
    "Additional note: I still need to call the dentist.",
    "Side note: the menu is bad.",
    "Just a heads-up: the menu is bad.",
    "They are passed as separate arguments.",
    "The two menus are on separate pages, and unrelated bugs remain.",
    "Note: the menu changes daily.",
    "If you'd like the menu, feel free to ask; we are happy to help.",
    "1. Town A grew.\n2. The library closes.\n3) The menu is bad.",
    "Here is what we ate:\n\nThe soup.\n\nThe menu.",
    "They hope the young menu will last. The shopkeeper relates it.",
    "He noted the menu. She took good luck for granted.",
    "Remove the unused menu. It will be removed.",
    'The menu says "line by line" and “the end”.',
    "a\n---\nb\n***\nc\n___\nd",
    "Text (with the menu) and *(the menu)*.",
    "Hope springs eternal.\nThe menu is bad.",
    "The menu is outside the building.\r\nIt was moved.\r\n",
]


@pytest.mark.parametrize(("genre", "response", "gone", "stays"), WORKED)
def test_worked_cases_of_the_rules(genre: str, response: str, gone: str | None, stays: str) -> None:
    artifact = extract(response, genre)
    assert stays in artifact.text
    if gone is None:
        assert artifact.text == response
        assert artifact.removals == ()
    else:
        assert gone in response
        assert gone not in artifact.text


@pytest.mark.parametrize(("step", "genre", "response", "gone", "stays"), STEPS)
def test_each_step_removes_its_shape_and_says_so(
    step: str, genre: str, response: str, gone: str, stays: str
) -> None:
    artifact = extract(response, genre)
    assert gone in response
    assert gone not in artifact.text
    assert stays in artifact.text
    removed = [response[start:end] for name, start, end in artifact.removals if name == step]
    assert any(gone in text for text in removed)


@pytest.mark.parametrize("sentence", REPORTS + ANSWERS)
def test_a_sentence_of_each_family_goes_and_its_neighbours_stay(sentence: str) -> None:
    response = f"Town A grew. {sentence} It is big.\nThe end."
    artifact = extract(response, "prose_long")
    assert artifact.text == "Town A grew. It is big.\nThe end."
    fenced = extract(f"```\nx = 1\n# {sentence}\ny = 2\n```", "code")
    assert "menu" not in fenced.text
    assert "y = 2" in fenced.text


@pytest.mark.parametrize("text", KEPT)
def test_what_only_resembles_a_family_stays(text: str) -> None:
    assert extract(text, "prose").text == text


def test_a_rule_before_the_artifact_opens_no_trailing_section() -> None:
    response = "Here is your post:\n\n---\n\nI noticed a slow loop.\n\nIt reads every row."
    assert "It reads every row" in extract(response, "technical").text


def test_at_most_one_section_goes_and_at_most_two_paragraphs() -> None:
    sections = "Text.\n\n---\n\nI removed it. Soup.\n\n---\n\nI removed it. Bread."
    assert "Soup" in extract(sections, "prose").text
    assert "Bread" not in extract(sections, "prose").text
    answers = "Text.\n\nHope you rest. A.\n\nHope you rest. B.\n\nHope you rest. C."
    kept = extract(answers, "prose").text
    assert [letter in kept for letter in ("A.", "B.", "C.")] == [True, False, False]


def test_the_whole_answer_is_never_an_aside() -> None:
    assert extract("Sorry to hear that. Town A grew.", "prose").text == " Town A grew."
    assert extract("I hope you are well. The menu is bad.", "prose").text == " The menu is bad."
    assert extract("I noticed it. Town A grew.\n---\n", "prose").text == " Town A grew.\n---\n"


def test_code_is_the_contents_of_all_fences_joined_by_line_breaks() -> None:
    response = "Intro\n```py\na = 1\n```\nbetween\n```\nb = 2```\nand ```\nc = 3\n```end"
    assert extract(response, "code").text == "a = 1\n\nb = 2\nc = 3\n"
    assert extract(response, "technical").text == response


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ("Well.\n```py\nx = 1\n```\nDone.", "x = 1\n"),
        ("    ```\nx\n    ```", "x\n    "),  # an indented fence is one
        ("See ```py\nx```, done", "x"),  # and one in the midst of a line
        ("```\nx = '```'\ny\n```", "x = '"),  # the next backticks close it
        ('```py\n"""\n```\nsample\n```\n"""\n```\n', '"""\n\n"""\n'),
        ("````\n```\nx\n```\n````\n", "\n"),  # two empty blocks
        ("```py\r\nx\r\n```", "x\r\n"),
        ("```\n```", ""),
        ("x = 1\n```", "x = 1\n```"),  # what is never closed is no block
        ("Well.\n```\nnever closed", "Well.\n```\nnever closed"),
        ("```x = 1``` is inline", "```x = 1``` is inline"),
        ("```py\nx\n```\nand\n```\nno", "x\n"),
        ("~~~\nx = 1\n~~~", "~~~\nx = 1\n~~~"),  # tildes fence nothing
    ],
)
def test_what_a_fenced_block_is(response: str, code: str) -> None:
    assert extract(response, "code").text == code


@settings(derandomize=True, max_examples=500, deadline=None)
@given(st.text(alphabet="`\n ax~", max_size=40))
def test_fences_are_those_of_the_releases_words(text: str) -> None:
    """Three backticks, the rest of that line, everything up to the next three."""
    words = re.finditer(r"```[^\n]*\n(.*?)```", text, re.DOTALL)
    assert [(f.start, f.body_start, f.body_end, f.end) for f in fences(text)] == [
        (m.start(), *m.span(1), m.end()) for m in words
    ]
    bodies = [m[1] for m in re.finditer(r"```[^\n]*\n(.*?)```", text, re.DOTALL)]
    assert extract(text, "code").text == ("\n".join(bodies) if bodies else text)


def test_paragraphs_and_spans() -> None:
    text = "\n\na\nb\n \t\n\n  c\n"
    assert [text[start:end] for start, end in paragraphs(text)] == ["a\nb", "  c\n"]
    assert merged([(4, 6), (0, 2), (1, 3)]) == [(0, 3), (4, 6)]


@settings(derandomize=True, max_examples=300, deadline=None)
@given(SHAPES, st.sampled_from(["code", "prose"]))
def test_what_stays_and_what_goes_make_up_the_response(response: str, genre: str) -> None:
    artifact = extract(response, genre)
    removed = sorted((start, end) for _, start, end in artifact.removals)
    kept, here = "", 0
    for start, end in removed:
        assert here <= start < end <= len(response)
        kept += response[here:start]
        here = end
    assert kept + response[here:] == artifact.text


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="`~"), max_size=200))
def test_an_untouched_response_passes_through(response: str) -> None:
    # Every phrase has letters, so a text without letters has none of the shapes.
    wordless = "".join(letter for letter in response if not letter.isalpha())
    for genre in ("code", "prose"):
        assert extract(wordless, genre).text == wordless


HOSTILE = {
    "quotes": '"' * 1_000_000,
    "curly quotes": "“" * 1_000_000 + " was removed",
    "parentheses": "(" * 1_000_000,
    "small parentheses": "(was removed)" * 77_000,
    "half parentheses": "*(was removed" * 77_000,
    "asterisks": "*" * 1_000_000,
    "newlines": "\n" * 1_000_000 + "was removed",
    "notes": "note note note " * 66_000,
    "note lines": "Note: was removed\n" * 55_000,
    "rules": "---\n" * 250_000,
    "almost a rule": "-" * 1_000_000 + "x",
    "backticks": "`" * 1_000_000,
    "fences": "```\n" * 250_000,
    "unclosed fence": "```py\n" + "x = 1\n" * 166_000,
    "fences in one line": "``` " * 250_000 + "\nx",
    "fences in many lines": "``` ``` ``` x\n" * 77_000,
    "one line": "word " * 200_000 + "was removed",
    "one word": "remov" * 200_000,
    "stops": ". " * 500_000 + "was removed",
    "reports": "was removed. " * 77_000,
    "wishes": "hope the a b c d e f g " * 43_000,
    "wish paragraphs": "hope you\n\n" * 100_000,
    "frame": "contains two a b c d e " * 43_000,
    "labels": "two unrelated sentences:\n\n" + "2. a\n\n" * 166_000,
    "offers": "two unrelated sentences:\n\n" + "if you'd like:\n\n" * 62_000,
    "blank lines": ("\n" + " \t" * 500) * 1_000,
    "carriage returns": "\r\n" * 500_000 + "was removed",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("genre", ["code", "prose"])
def test_a_megabyte_of_hostile_text_takes_less_than_a_second(name: str, genre: str) -> None:
    start = time.process_time()
    extract(HOSTILE[name], genre)
    assert time.process_time() - start < 1


def test_every_step_has_a_docstring_for_those_who_read_a_label() -> None:
    assert all(step.__doc__ for step in TEXT_STEPS.values())
