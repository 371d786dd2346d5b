"""The annotation page in a real browser, for reading packets and for the audit.

An answer that the page shows as given must outlive a reload, a closed tab and a killed browser.
"""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import benchmark
from browser import chromium
from edits import finding
from hostile import HOSTILE, hostile_specimen

from seam_lib.core.messages import printable
from seam_lib.read.annotate import page
from seam_lib.read.packets import READING, Entry, shown
from seam_lib.read.verdicts import Opinion, read_verdicts
from seam_lib.wild.annotate import AUDIT
from seam_lib.wild.annotate import shown as messages
from seam_lib.wild.audit import read_answers
from seam_lib.wild.judge import BUDGET, ELISION
from seam_lib.wild.sample import Sampled

TEXTS = (
    "def f():\n    return 1\n\nwhy is this slow?",
    "two\r\nlines, and what acts: \x01 \u2028 \u202e",
    "x " * (BUDGET // 2) + "y\n" * 300,
    "Dear all,\n\nhello.\n\nmake it shorter",
)
LONG = "Soup. " * 2000
RESPONSES = (None, f"{LONG}The menu is bad.", f"{LONG}The menu is good.", None)
#: The keys that answer an entry with yes.
YES = {"reading": "y", "audit": "yy"}


def packet() -> list[Any]:
    """Four entries of a reading packet; the evidence of the second stands behind a long text."""
    found = [
        finding(number, "lexical_witness", text) if text else finding(number, "lexical_witness")
        for number, text in enumerate(RESPONSES)
    ]
    verdict = found[1].verdict
    place = len(LONG) + 4
    found[1] = found[1]._replace(verdict=verdict._replace(evidence=((place, place + 11),)))
    found[2] = found[2]._replace(verdict=None)
    return [shown(Entry(f"p-{n:03}", each), True) for n, each in enumerate(found, start=1)]


def sample() -> list[Sampled]:
    return [
        Sampled(f"wild-{n:03d}", f"{n:032x}", "paste_with_tail", "a,b", len(text), n == 3)
        for n, text in enumerate(TEXTS, start=1)
    ]


PAGES = {
    "reading": lambda: page("positives", READING, packet()),
    "audit": lambda: page("mine", AUDIT, messages(sample(), TEXTS)),
}
both_modes = pytest.mark.parametrize("mode", PAGES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotation")
    for mode, make in PAGES.items():
        (folder / f"{mode}.html").write_text(make(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def driver(folder: Path) -> Iterator[Any]:
    with chromium(folder / "profile") as found:
        where = {"behavior": "allow", "downloadPath": str(folder)}
        found.execute_cdp_cmd("Browser.setDownloadBehavior", where)
        found.set_script_timeout(120)
        yield found


@pytest.fixture
def opened(folder: Path, driver: Any) -> Callable[[str, str], Any]:
    """A mode's page, opened by an annotator; every test has a code of its own."""

    def open_as(mode: str, code: str) -> Any:
        driver.get("about:blank")
        driver.get(f"{(folder / f'{mode}.html').as_uri()}#{code}")
        return ready(driver)

    return open_as


@pytest.fixture
def resized(driver: Any) -> Iterator[Callable[[int, int], None]]:
    """Sets the size of the screen for one test."""

    def resize(width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    yield resize
    resize(1280, 1600)


def until(driver: Any, holds: Callable[[Any], Any]) -> Any:
    """Wait for a condition: a busy machine takes its time."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 120, 0.02, [WebDriverException]).until(holds)


def ready(driver: Any) -> Any:
    """The page once it has read what is kept and takes answers."""
    until(driver, lambda d: d.execute_script("return document.body.ariaBusy") == "false")
    return driver


def press(driver: Any, keys: str) -> None:
    driver.find_element("tag name", "body").send_keys(keys)


def text(driver: Any, name: str) -> str:
    return driver.execute_script(f"return document.getElementById('{name}').textContent")


def says(driver: Any, words: str, name: str = "done") -> bool:
    """An element says these words, now or soon."""
    return until(driver, lambda d: text(d, name) == words)


def entry(driver: Any) -> str:
    """The name of the entry on screen."""
    (name,) = driver.execute_script(
        "return [...document.querySelectorAll('article')]"
        ".filter((a) => a.checkVisibility()).map((a) => a.id)"
    )
    return name


def dots(driver: Any) -> list[str]:
    labels = "return [...document.querySelectorAll('#strip button')].map((dot) => dot.ariaLabel)"
    return driver.execute_script(labels)


def guarded(driver: Any) -> bool:
    """Whether leaving the page would ask first."""
    leaving = "new Event('beforeunload', { cancelable: true })"
    return driver.execute_script(f"return !window.dispatchEvent({leaving})")


def exported(driver: Any, folder: Path, name: str) -> Path:
    """Press E and give the file that arrives."""
    press(driver, "e")
    path = folder / f"{name}.csv"
    until(driver, lambda _: path.exists())
    return path


# --- Answers outlive everything ------------------------------------------------------------------


@both_modes
def test_answers_and_place_survive_a_reload(opened, mode):
    driver = opened(mode, "reload")
    for done in (1, 2):
        press(driver, YES[mode])
        says(driver, f"reload: {done} of 4 answered")
        driver.refresh()  # the moment it is shown
        assert text(ready(driver), "done") == f"reload: {done} of 4 answered"
        assert entry(driver).endswith(f"00{done + 1}")
    press(driver, "k")
    driver.refresh()
    assert entry(ready(driver)).endswith("002")
    assert driver.find_element("id", "start").is_displayed() is False


def test_two_tabs_of_one_annotator_lose_no_answer(opened):
    driver = opened("audit", "tabs")
    here = driver.current_window_handle
    driver.switch_to.new_window("tab")
    opened("audit", "tabs")
    press(driver, "n")
    says(driver, "tabs: 1 of 4 answered")
    driver.close()
    driver.switch_to.window(here)
    says(driver, "tabs: 1 of 4 answered")
    press(driver, "rn")
    says(driver, "tabs: 2 of 4 answered")


def test_tabs_that_know_nothing_of_each_other_overwrite_nothing(opened):
    driver = opened("reading", "deaf")
    driver.execute_script("refresh = async () => {}")  # this tab hears of nothing any more
    here = driver.current_window_handle
    driver.switch_to.new_window("tab")
    opened("reading", "deaf")
    press(driver, "y")
    says(driver, "deaf: 1 of 4 answered")
    driver.close()
    driver.switch_to.window(here)
    press(driver, "jn")
    until(driver, lambda d: d.execute_script("return unsaved.size === 0"))
    assert text(opened("reading", "deaf"), "done") == "deaf: 2 of 4 answered"


def test_answers_outlive_a_killed_browser(folder):
    where = f"{(folder / 'reading.html').as_uri()}#killed"
    profile = folder / "killed"
    with chromium(profile) as driver:
        driver.get(where)
        press(ready(driver), "y")
        says(driver, "killed: 1 of 4 answered")
        os.kill(int((profile / "SingletonLock").readlink().name.split("-")[-1]), signal.SIGKILL)
    with chromium(profile) as driver:
        driver.get(where)
        assert text(ready(driver), "done") == "killed: 1 of 4 answered"


HELD = """
window.held = [];
const real = IDBDatabase.prototype.transaction;
IDBDatabase.prototype.transaction = function (...given) {
  const transaction = real.apply(this, given);
  if (given[1] === "readwrite") {
    const hold = (act) => transaction.addEventListener("complete", () => held.push(act));
    Object.defineProperty(transaction, "oncomplete", { set: hold });
  }
  return transaction;
};
"""


@both_modes
def test_an_answer_is_shown_as_given_only_once_it_is_kept(opened, mode):
    driver = opened(mode, "held")
    assert not guarded(driver)
    driver.execute_script(HELD)
    press(driver, YES[mode])
    assert text(driver, "done") == "held: 0 of 4 answered, saving 1 …"
    assert dots(driver)[0].endswith("Yes unsaved")
    assert guarded(driver)
    assert entry(driver).endswith("002")
    until(driver, lambda d: d.execute_script("return held.length") == len(YES[mode]))
    assert text(driver, "done") == "held: 0 of 4 answered, saving 1 …"
    driver.execute_script("held.forEach((act) => act())")
    says(driver, "held: 1 of 4 answered")
    assert dots(driver)[0].endswith("Yes kept")
    assert not guarded(driver)


FULL = """
window.real = IDBDatabase.prototype.transaction;
IDBDatabase.prototype.transaction = function (...given) {
  if (given[1] === "readwrite") throw new DOMException("the disk is full", "QuotaExceededError");
  return real.apply(this, given);
};
"""


def test_a_store_that_fails_is_said_and_its_answers_are_exported_and_tried_again(opened, folder):
    driver = opened("reading", "full")
    driver.execute_script(FULL)
    press(driver, "y")
    says(driver, "full: 0 of 4 answered, 1 in this page only")
    assert text(driver, "alert") == (
        "This browser keeps no answers (the disk is full). What you answer is in this page only: "
        "export it before you close the page."
    )
    assert guarded(driver)
    path = exported(driver, folder, "positives-full")
    assert read_verdicts(path) == {"p-001": Opinion(True, "")}
    assert not guarded(driver)
    driver.execute_script("IDBDatabase.prototype.transaction = real")
    press(driver, "n")
    says(driver, "full: 2 of 4 answered")
    assert text(driver, "alert") == ""


def test_blocked_storage_is_said_and_hides_nothing(folder, driver):
    """A frame without an origin has no storage, as a browser that is told to keep none."""
    frame = '<iframe sandbox="allow-scripts" src="audit.html#blocked"></iframe>'
    (folder / "frame.html").write_text(frame, encoding="utf-8")
    driver.get((folder / "frame.html").as_uri())
    driver.switch_to.frame(0)
    ready(driver)
    assert text(driver, "alert").startswith("This browser keeps no answers (")
    assert entry(driver) == "wild-001"
    press(driver, "nyy")
    says(driver, "blocked: 0 of 4 answered, 2 in this page only")
    assert entry(driver) == "wild-003"


SPOIL = """
const [stored, done] = arguments;
const request = indexedDB.open(`seam-annotation/${packet.digest}`, 1);
request.onupgradeneeded = () => {
  if (!stored.length) return;
  const keyPath = ["annotator", "item", "field"];
  const answers = request.result.createObjectStore("answers", { keyPath });
  for (const each of stored) answers.put(each);
};
request.onsuccess = () => { request.result.close(); done(); };
"""


@pytest.fixture
def spoilt(folder: Path, driver: Any) -> Callable[[list[dict[str, Any]]], Any]:
    """The audit's page by an annotator whose browser holds given records for it."""

    def spoil(records: list[dict[str, Any]]) -> Any:
        path = folder / f"spoilt-{len(records)}.html"  # a page, and so a store, of its own
        texts = [f"{path.name} {text}" for text in TEXTS]
        path.write_text(page("spoilt", AUDIT, messages(sample(), texts)), encoding="utf-8")
        driver.get(path.as_uri())
        driver.execute_async_script(SPOIL, [{"annotator": "B", **record} for record in records])
        driver.get("about:blank")
        driver.get(f"{path.as_uri()}#B")
        return ready(driver)

    return spoil


def test_spoilt_records_are_said_and_the_others_are_shown(spoilt):
    driver = spoilt(
        [
            {"item": "wild-001", "field": "genuine_paste", "value": "false"},
            {"item": "wild-002", "field": "genuine_paste", "value": {"torn": 1}},
            {"item": "wild-003", "field": "other", "value": "true"},
            {"item": "nobody", "field": "genuine_paste", "value": "true"},
        ]
    )
    assert text(driver, "done") == "B: 1 of 4 answered"
    assert text(driver, "alert") == "3 kept records are no answers to this page and are not shown."
    press(driver, "n")
    says(driver, "B: 2 of 4 answered")


def test_a_spoilt_store_is_said_and_hides_nothing(spoilt):
    driver = spoilt([])
    assert text(driver, "alert").startswith("This browser keeps no answers (")
    press(driver, "n")
    says(driver, "B: 0 of 4 answered, 1 in this page only")
    assert entry(driver) == "wild-002"


# --- Annotators ----------------------------------------------------------------------------------


def test_the_address_chooses_the_annotator(opened, folder):
    driver = opened("audit", "")
    field = driver.find_element("id", "annotator")
    field.send_keys("a code!\n")
    assert driver.current_url.endswith(".html#")
    field.clear()
    field.send_keys("third\n")
    until(driver, lambda d: text(d, "done") == "third: 0 of 4 answered")
    press(ready(driver), "n")
    says(driver, "third: 1 of 4 answered")
    assert driver.current_url.endswith("#third")
    driver.back()
    until(driver, lambda d: d.find_element("id", "annotator").is_displayed())
    driver.forward()
    until(driver, lambda d: text(d, "done") == "third: 1 of 4 answered")


def test_annotators_at_one_browser_do_not_see_each_other(opened):
    driver = opened("reading", "first")
    press(driver, "y")
    says(driver, "first: 1 of 4 answered")
    assert text(opened("reading", "firsts"), "done") == "firsts: 0 of 4 answered"
    assert text(opened("reading", "first"), "done") == "first: 1 of 4 answered"


# --- Answering -----------------------------------------------------------------------------------


def test_the_second_question_comes_after_a_yes_only(opened):
    driver = opened("audit", "order")
    assert text(driver, "question").startswith("1. Does it hold")
    press(driver, "y")
    assert text(driver, "question") == "1. Does the artifact come first?"
    press(driver, "n")
    assert text(driver, "question").startswith("2. Does it hold")
    press(driver, "n")
    assert text(driver, "question").startswith("3. Does it hold")
    says(driver, "order: 2 of 4 answered")


def test_answers_can_be_taken_back_and_changed(opened):
    driver = opened("audit", "change")
    press(driver, "yyz")  # the answer given just before is taken back, though the page went on
    assert text(driver, "question") == "1. Does the artifact come first?"
    press(driver, "z")
    assert text(driver, "question").startswith("1. Does it hold")
    press(driver, "z")
    assert text(driver, "question").startswith("1. Does it hold")
    press(driver, "yyk")
    press(driver, "zzyn")  # a first answer given anew asks the second question anew
    says(driver, "change: 1 of 4 answered")
    press(driver, "kz")
    says(driver, "change: 0 of 4 answered")
    driver.refresh()
    assert text(ready(driver), "done") == "change: 0 of 4 answered"
    assert text(driver, "question") == "1. Does the artifact come first?"


def test_nothing_is_taken_back_where_nothing_was_answered(opened):
    driver = opened("reading", "back")
    press(driver, "y")
    says(driver, "back: 1 of 4 answered")
    driver.refresh()
    press(ready(driver), "z")
    assert entry(driver) == "p-002"
    assert text(driver, "done") == "back: 1 of 4 answered"


@both_modes
def test_an_answer_goes_on_to_the_next_unread_until_all_are_done(opened, mode):
    driver = opened(mode, "unread")
    driver.find_elements("css selector", "#strip button")[2].click()
    press(driver, "n")
    assert entry(driver).endswith("004")
    press(driver, "n")
    assert entry(driver).endswith("001")
    driver.find_elements("css selector", "#strip button")[3].click()
    press(driver, "r")
    assert entry(driver).endswith("001")
    press(driver, "n")
    assert entry(driver).endswith("002")
    assert text(driver, "finished") == ""
    press(driver, "n")
    says(driver, "unread: 4 of 4 answered")
    assert entry(driver).endswith("002")
    assert text(driver, "finished") == "All 4 are answered: export them now."
    assert "due" in driver.find_element("id", "export").get_attribute("class")


def test_buttons_do_what_keys_do(opened):
    driver = opened("reading", "buttons")
    driver.find_element("css selector", '[data-value="unsure"]').click()
    says(driver, "buttons: 1 of 4 answered")
    assert dots(driver)[0] == "p-001: Unsure kept"
    for button, number in (("previous", 1), ("next", 2), ("next", 3), ("unread", 4)):
        driver.find_element("id", button).click()
        assert entry(driver) == f"p-00{number}"
    driver.find_element("id", "undo").click()
    assert entry(driver) == "p-001"
    says(driver, "buttons: 0 of 4 answered")


def test_keys_with_modifiers_held_down_in_the_guide_and_in_the_note_do_not_answer(opened):
    driver = opened("audit", "keys")
    pressed = "document.body.dispatchEvent(new KeyboardEvent('keydown', arguments[0]))"
    key = {"key": "n", "bubbles": True}
    driver.execute_script(pressed, {**key, "ctrlKey": True})
    driver.execute_script(pressed, {**key, "repeat": True})
    press(driver, "m")
    driver.switch_to.active_element.send_keys("yn\n")
    press(driver, "?")
    driver.execute_script(pressed, key)
    assert text(driver, "question").startswith("1. Does it hold")
    assert dots(driver)[0] == "wild-001:  open"
    driver.switch_to.active_element.send_keys("\ue00c")  # Escape closes the guide
    driver.execute_script(pressed, key)
    assert text(driver, "question").startswith("2. Does it hold")


@both_modes
def test_notes_are_kept_and_exported(opened, folder, mode):
    driver = opened(mode, "noting")
    press(driver, "m")
    driver.switch_to.active_element.send_keys('a "quoted", word\n')
    press(driver, f"{YES[mode]}n")
    says(driver, "noting: 2 of 4 answered")
    driver.refresh()
    ready(driver)
    assert driver.find_element("id", "note").get_attribute("value") == ""
    press(driver, "kk")
    assert driver.find_element("id", "note").get_attribute("value") == 'a "quoted", word'
    name = {"reading": "positives-noting", "audit": "mine-noting"}[mode]
    path = exported(driver, folder, name)
    assert text(driver, "finished") == f"Exported 2 rows as {name}.csv. 2 are not answered yet."
    if mode == "reading":
        assert read_verdicts(path)["p-001"] == Opinion(True, 'a "quoted", word')
    else:
        assert [row.note for row in read_answers(path)] == ['a "quoted", word', ""]


def test_the_export_holds_answers_and_no_text(opened, folder):
    driver = opened("audit", "A1")
    press(driver, "yynynn")
    path = exported(driver, folder, "mine-A1")
    answers = read_answers(path)
    assert [(row.genuine_paste, row.artifact_first) for row in answers] == [
        (True, True),
        (False, None),
        (True, False),
        (False, None),
    ]
    content = path.read_text(encoding="utf-8")
    assert content.splitlines()[0] == (
        "audit_id,hash,kind,corpus,msglen,truncated,annotator,genuine_paste,artifact_first,note"
    )
    assert content.splitlines()[1].split(",", 3)[3].startswith('"a,b"')
    assert not re.search("slow|acts|Dear|x x", content)


# --- Texts ---------------------------------------------------------------------------------------


SCROLLED = """
const box = document.querySelector("article.shown .seam-text");
const evidence = box.querySelector("mark")?.getBoundingClientRect();
const { top, bottom } = box.getBoundingClientRect();
return {
  long: box.scrollHeight > 2 * box.clientHeight,
  end: box.scrollTop + box.clientHeight >= box.scrollHeight - 1,
  start: box.scrollTop === 0,
  evidence: Boolean(evidence) && evidence.top > top && evidence.bottom < bottom,
  focused: document.activeElement === box,
};
"""


def test_a_long_text_is_opened_where_the_question_is(opened, resized):
    resized(1280, 800)
    driver = opened("audit", "tail")
    press(driver, "jj")
    found = driver.execute_script(SCROLLED)
    assert found["long"] and found["end"] and found["focused"]
    press(driver, "y")
    assert driver.execute_script(SCROLLED)["start"]
    driver = opened("reading", "tail")
    press(driver, "j")
    found = driver.execute_script(SCROLLED)
    assert found["long"] and found["evidence"] and found["focused"]
    press(driver, "j")
    found = driver.execute_script(SCROLLED)
    assert found["long"] and found["end"] and not found["evidence"]


def test_messages_are_shown_whole_but_for_a_long_ones_middle(opened):
    driver = opened("audit", "whole")
    found = driver.execute_script(
        "return [...document.querySelectorAll('.seam-text')].map((each) => each.textContent)"
    )
    assert found[0] == TEXTS[0]
    assert found[1] == "two\nlines, and what acts: \u2401 ⟨U+2028⟩ ⟨U+202E⟩"
    assert len(found[2]) == BUDGET + len(ELISION)
    assert ELISION in found[2]


@pytest.mark.parametrize("guarded", [True, False], ids=["with policy", "without policy"])
def test_hostile_texts_run_nothing_and_are_shown(folder, driver, guarded):
    """Escaping must hold alone: once more without the page's security policy."""
    case = next(case for case in benchmark() if case.condition == "newline")
    attacks = [hostile_specimen(case, *each).finding for each in HOSTILE.items()]
    texts = list(HOSTILE.values())
    rows = [
        Sampled(f"wild-{n}", "0", text[:99], text[:99], 1, False) for n, text in enumerate(texts)
    ]
    entries = [Entry(f"p-{n}", attack) for n, attack in enumerate(attacks)]
    pages = {
        "open": page("open", READING, [shown(each, True) for each in entries]),
        "blind": page("blind", READING, [shown(each, False) for each in entries]),
        "wild": page("</script><b>", AUDIT, messages(rows, texts)),
    }
    for name, html in pages.items():
        if not guarded:
            html, count = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
            assert count == 1
        path = folder / f"hostile-{name}-{guarded}.html"
        path.write_text(html, encoding="utf-8")
        driver.get(f"{path.as_uri()}#A1")
        press(ready(driver), "j" * len(texts))
        assert driver.execute_script("return window.canary ?? 0") == 0
        assert driver.find_elements("css selector", "img, iframe, svg, textarea, base") == []
        assert len(driver.find_elements("css selector", "style, script")) == 3
        found = driver.execute_script(
            "return [...document.querySelectorAll('article')]"
            ".map((each) => each.querySelector('.seam-text').textContent)"
        )
        for seen, text in zip(found, texts, strict=True):
            line_ends = text.replace("\r\n", "\n") if name == "wild" else text
            assert printable(line_ends) in seen
        errors = [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]
        assert errors == []


def test_the_page_names_no_address_and_no_judgement():
    html = PAGES["audit"]()
    assert "http:" not in html and "https:" not in html
    data = json.loads(re.search(r'id="packet">(.*?)</script>', html, re.DOTALL)[1])
    assert set(data["entries"][0]["cells"]) == set(Sampled.__struct_fields__)


def test_answers_are_kept_by_what_is_asked_about_and_not_by_the_page_around_it():
    def known_by(html: str) -> str:
        return json.loads(re.search(r'id="packet">(.*?)</script>', html, re.DOTALL)[1])["digest"]

    entries = packet()
    again = page("renamed", READING, packet())
    assert known_by(page("positives", READING, entries)) == known_by(again)
    assert known_by(page("positives", READING, entries[:3])) != known_by(again)
    entries[0] = entries[0]._replace(comment="another")
    assert known_by(page("positives", READING, entries)) != known_by(again)


def test_an_empty_packet_says_so(folder, driver):
    (folder / "empty.html").write_text(page("positives", READING, []), encoding="utf-8")
    driver.get((folder / "empty.html").as_uri())
    assert "0 to answer" in driver.find_element("id", "start").text
    assert driver.find_elements("id", "annotator") == []


@both_modes
def test_without_javascript_everything_can_be_read(folder, driver, mode):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get((folder / f"{mode}.html").as_uri())
        articles = driver.find_elements("tag name", "article")
        assert [each.is_displayed() for each in articles] == [True] * 4
        assert "can only be read" in driver.find_element("tag name", "noscript").text
        for part in ("form", "header", "footer"):
            assert not driver.find_element("tag name", part).is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


BOXES = """
const box = (each) => each.getBoundingClientRect();
const pressed = [...document.querySelectorAll("footer button, footer input")].map(box);
return {
  page: document.documentElement.scrollWidth,
  text: box(document.querySelector("article.shown .seam-text")).height,
  bottom: Math.max(...pressed.map((each) => each.bottom)),
  right: Math.max(...pressed.map((each) => each.right)),
};
"""


@both_modes
@pytest.mark.parametrize("width", [390, 1280])
def test_a_screen_of_any_width_holds_text_and_buttons(opened, resized, mode, width):
    resized(width, 800)
    driver = opened(mode, "narrow")
    press(driver, "jj")
    found = driver.execute_script(BOXES)
    assert found["page"] <= width and found["right"] <= width
    assert found["text"] >= 200 and found["bottom"] <= 800
