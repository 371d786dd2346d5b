"""Specimens for reading in a notebook: filters, next and previous, random, and notes.

The widgets hold no rule of their own: choosing is `specimens.select`, showing is `html`,
and a note is a line that `files.add_note` appends.
"""

import random
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import ipywidgets as widgets

from seam_lib.core.errors import SeamError
from seam_lib.read.files import add_note, read_notes
from seam_lib.read.html import specimen_html
from seam_lib.read.specimens import Choice, Specimen, options, select


class Browser:
    """Reads specimens one by one; display its `widget`.

    Attributes:
        shown: The specimen on screen; None if none fits the filters.
        fitting: Those that fit, in order.
        widget: What a notebook displays.
    """

    def __init__(self, specimens: Sequence[Specimen], notes: Path, root: Path) -> None:
        """Show the first specimen.

        Args:
            specimens: What can be read.
            notes: A CSV file that notes are appended to; made with the first note.
            root: The folder to which the file's path is shown.
        """
        self.shown: Specimen | None = None
        self.fitting: list[Specimen] = []
        self._specimens, self._notes = specimens, notes
        self._notes_name = notes.relative_to(root) if notes.is_relative_to(root) else notes
        self._drafts: dict[tuple[str, str, str], str] = {}
        self.filters = {name: _filter(name, found) for name, found in options(specimens).items()}
        self.previous, self.next = _button("Previous", "arrow-left"), _button("Next", "arrow-right")
        self.random, self.save = _button("Random", "random"), _button("Save note", "save")
        self.place, self.said = widgets.Label(), widgets.HTML()
        self.view = widgets.HTML()
        self.note = widgets.Textarea(
            placeholder="A note on this specimen", layout=widgets.Layout(width="auto")
        )
        self._connect()
        self.widget = self._laid_out()
        self._choose()

    def _connect(self) -> None:
        for field in self.filters.values():
            field.observe(lambda change: self._choose(), names="value")
        self.previous.on_click(lambda button: self._step(-1))
        self.next.on_click(lambda button: self._step(1))
        self.random.on_click(lambda button: self._jump())
        self.save.on_click(lambda button: self._save())

    def _laid_out(self) -> widgets.VBox:
        wrap = widgets.Layout(flex_flow="row wrap")
        buttons = [self.previous, self.next, self.random, self.place]
        return widgets.VBox(
            [
                widgets.HBox(list(self.filters.values()), layout=wrap),
                widgets.HBox(buttons, layout=wrap),
                self.view,
                self.note,
                widgets.HBox([self.save, self.said], layout=wrap),
            ]
        )

    def _choose(self) -> None:
        """Keep the specimen if it still fits the filters; else take the first that does."""
        choice = Choice(**{name: field.value for name, field in self.filters.items()})
        self.fitting = select(self._specimens, choice)
        keep = self.shown in self.fitting
        self._show(self.shown if keep else next(iter(self.fitting), None))

    def _step(self, by: int) -> None:
        if self.shown:
            place = self.fitting.index(self.shown) + by
            self._show(self.fitting[place % len(self.fitting)])

    def _jump(self) -> None:
        others = [specimen for specimen in self.fitting if specimen is not self.shown]
        if others:
            self._show(random.choice(others))

    def _show(self, specimen: Specimen | None) -> None:
        if self.shown:
            self._drafts[self.shown.key] = self.note.value
        self.shown = specimen
        for button in (self.previous, self.next, self.random):
            button.disabled = len(self.fitting) < 2
        self.save.disabled = specimen is None
        if specimen is None:
            self.place.value = f"none of {len(self._specimens)}"
            self.view.value = "No specimen fits these filters."
            self.note.value = self.said.value = ""
            return
        place = self.fitting.index(specimen) + 1
        self.place.value = f"{place} of {len(self.fitting)}"
        self.view.value = specimen_html(specimen)
        self.note.value = self._drafts.get(specimen.key, "")
        self._say("")

    def _save(self) -> None:
        """Append the note; it stays in its field unless it is on disk."""
        if self.shown is None or not self.note.value.strip():
            return self._say("Write a note first.")
        try:
            add_note(self._notes, self.shown, self.note.value.strip())
        except (SeamError, OSError) as error:
            return self._say(f"Not saved: {error}")
        self.note.value = ""
        return self._say(f"Saved to {self._notes_name}.")

    def _say(self, words: str) -> None:
        """Show a sentence, and the notes that this specimen has."""
        try:
            about = self.shown and self.shown.key
            found = read_notes(self._notes)
            notes = [n.note for n in found if (n.run, n.model, n.case_id) == about]
        except SeamError as error:
            words, notes = str(error), []
        lines = [words, *(f"• {note}" for note in notes)]
        self.said.value = "<br>".join(escape(line) for line in lines if line)


def _filter(name: str, found: Mapping[str | bool, str]) -> widgets.Dropdown:
    values = [(shown, value) for value, shown in found.items()]
    return widgets.Dropdown(options=[("any", None), *values], value=None, description=name)


def _button(description: str, icon: str) -> widgets.Button:
    return widgets.Button(description=description, icon=icon)
