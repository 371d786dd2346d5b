"""The notebook's browser, driven as its widgets would drive it."""

import pytest

from tests.helpers.answers import benchmark, specimens

pytest.importorskip("ipywidgets", reason="needs the extra `lab`")

from seam_lib.read.browser import Browser
from seam_lib.read.files import read_notes
from seam_lib.read.html import specimen_html

CASES = benchmark()
SPECIMENS = specimens()


@pytest.fixture
def browser(tmp_path) -> Browser:
    return Browser(SPECIMENS, tmp_path / "notes" / "mine.csv", tmp_path)


def test_it_begins_with_the_first_specimen_and_goes_around(browser) -> None:
    assert browser.shown is SPECIMENS[0] and browser.place.value == "1 of 480"
    assert browser.view.value == specimen_html(SPECIMENS[0])
    browser.next.click()
    assert browser.shown is SPECIMENS[1] and browser.place.value == "2 of 480"
    browser.previous.click()
    browser.previous.click()
    assert browser.shown is SPECIMENS[-1]


def test_filters_narrow_and_keep_a_specimen_that_still_fits(browser) -> None:
    browser.filters["source"].value = "coedit"
    assert len(browser.fitting) == 80 and browser.shown.case.source == "coedit"
    browser.next.click()
    kept = browser.shown
    browser.filters["condition"].value = kept.case.condition
    assert browser.shown is kept and len(browser.fitting) == 16
    browser.filters["absorbed"].value = not kept.label.absorbed
    assert browser.fitting == [] and browser.shown is None
    assert browser.view.value == "No specimen fits these filters."
    assert browser.save.disabled and browser.next.disabled
    browser.filters["absorbed"].value = None
    assert len(browser.fitting) == 16 and not browser.next.disabled


def test_every_filter_offers_what_occurs(browser) -> None:
    labels_of = {name: [label for label, _ in f.options] for name, f in browser.filters.items()}
    assert labels_of["absorbed"] == ["any", "yes", "no"]
    assert labels_of["condition"][:3] == ["any", "newline", "blank"]
    assert labels_of["run"] == ["any", "pretended"]
    assert set(labels_of) == {"run", "source", "condition", "tier", "comment", "absorbed"}


def test_random_shows_another_specimen_that_fits(browser) -> None:
    browser.filters["source"].value = "coedit"
    seen = set()
    for _ in range(20):
        before = browser.shown
        browser.random.click()
        assert browser.shown is not before and browser.shown in browser.fitting
        seen.add(browser.shown.case.id)
    assert len(seen) > 3


def test_a_note_is_saved_and_shown_and_a_draft_is_kept(browser, tmp_path) -> None:
    browser.note.value = "odd <b>one</b>"
    browser.next.click()
    assert browser.note.value == ""
    browser.previous.click()
    assert browser.note.value == "odd <b>one</b>"
    browser.save.click()
    assert browser.note.value == ""
    assert browser.said.value == "Saved to notes/mine.csv.<br>• odd &lt;b&gt;one&lt;/b&gt;"
    (note,) = read_notes(tmp_path / "notes" / "mine.csv")
    assert note.case_id == SPECIMENS[0].case.id and note.note == "odd <b>one</b>"
    browser.next.click()
    assert browser.said.value == ""
    browser.previous.click()
    assert "odd &lt;b&gt;one" in browser.said.value


def test_a_note_that_cannot_be_saved_stays_in_its_field(browser, tmp_path) -> None:
    browser.save.click()
    assert browser.said.value == "Write a note first."
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.csv").write_text("another,file\n", "utf-8")
    browser.note.value = "keep me"
    browser.save.click()
    assert browser.note.value == "keep me" and "not a file of notes" in browser.said.value
    assert (tmp_path / "notes" / "mine.csv").read_text("utf-8") == "another,file\n"


def test_no_specimens_are_no_error(tmp_path) -> None:
    assert Browser([], tmp_path / "n.csv", tmp_path).place.value == "none of 0"
