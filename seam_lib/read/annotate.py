"""The page on which people answer questions about texts, one text at a time.

It is one file without network access: texts, keys and the store of the answers are all in it. What
is asked, and what its export looks like, is a `Mode`: reading packets (`packets`) and the
occurrence audit (`wild.annotate`) each have one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from seam_lib.core.messages import printable
from seam_lib.read.pages import asset, environment, policy, specimen_css, style
from seam_lib.read.view import Pane, Piece


class Answer(msgspec.Struct, frozen=True):
    """An answer, as it is exported, as it is shown, and the key that gives it."""

    value: str
    label: str
    key: str


class Question(msgspec.Struct, frozen=True):
    """A question about a text.

    Attributes:
        field: The column that its answer is exported in.
        ask: The question.
        guide: When to give which answer.
        opens: Where a long text is opened for it: at its end (or at its evidence), or at its start.
    """

    field: str
    ask: str
    guide: str
    opens: Literal["end", "start"]


class Mode(msgspec.Struct, frozen=True):
    """What a page asks.

    Attributes:
        title: The page's title.
        about: What an annotator reads first.
        questions: In order; each after the first one only after the first of `answers`.
        answers: What can be answered to every question.
        columns: Of the export: from an entry's cells, `annotator`, the questions' fields, `note`.
    """

    title: str
    about: str
    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]
    columns: tuple[str, ...]


class Shown(NamedTuple):
    """One entry of the page.

    Attributes:
        name: Its name, which is all that stands above it.
        cells: What the export says of it besides the answers, by column.
        pane: The text that is asked about.
        genre: "code" is set in a fixed width.
        label: The scorer's label, where it is shown.
        comment: The comment that the question is about.
        aside: Texts to open if need be.
    """

    name: str
    cells: Mapping[str, str | int | bool]
    pane: Pane
    genre: str
    label: str = ""
    comment: str = ""
    aside: Sequence[Pane] = ()


def plain(title: str, text: str) -> Pane:
    """A text with nothing marked."""
    return Pane(title, [], [Piece(printable(text))])


def page(name: str, mode: Mode, entries: Sequence[Shown]) -> str:
    """The annotation page as HTML, self-contained.

    Args:
        name: What its export is named after.
        mode: What is asked.
        entries: What is asked about, in order.
    """
    css = specimen_css() + style("annotate.css")
    js = asset("browser_store.js") + asset("annotate.js")
    packet = {
        "name": name,
        "digest": digest(entries),
        "questions": mode.questions,
        "answers": mode.answers,
        "columns": mode.columns,
        "entries": [{"name": entry.name, "cells": entry.cells} for entry in entries],
    }
    html = (
        environment()
        .get_template("annotate.html.j2")
        .render(
            mode=mode,
            name=name,
            entries=entries,
            packet=msgspec.to_builtins(packet),
            css=css,
            js=js,
            policy=policy(css, js),
        )
    )
    return f"{html}\n"


def digest(entries: Sequence[Shown]) -> str:
    """By this the store knows the same entries again, whatever the page around them looks like."""
    texts = [
        (e.name, e.cells, e.comment, "".join(mark.text for mark in e.pane.pieces)) for e in entries
    ]
    return hashlib.sha256(msgspec.json.encode(texts)).hexdigest()[:16]
