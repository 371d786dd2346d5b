"""The annotation page in a real browser: answering, resuming, exporting, hostile messages."""

import json
import re

import pytest

from seam_lib.wild.annotate import Sampled, page
from seam_lib.wild.audit import read_answers
from seam_lib.wild.judge import BUDGET, ELISION
from tests.helpers.browser import chromium

HOSTILE = (
    "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
)
TEXTS = (
    "def f():\n    return 1\n\nwhy is this slow?",
    f"{HOSTILE}\n<!-- \u2028 \x01 ]]> {{{{ 7 * 7 }}}}",
    "x" * (BUDGET + 500),
    "Dear all,\n\nhello.\n\nmake it shorter",
)


def sample(count: int = len(TEXTS)) -> list[Sampled]:
    return [
        Sampled(f"wild-{n:03d}", f"{n:032x}", "paste_with_tail", "a,b", len(TEXTS[n - 1]), n == 3)
        for n in range(1, count + 1)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("annotation")


@pytest.fixture(scope="module")
def driver(folder):
    with chromium(folder / "profile") as found:
        where = {"behavior": "allow", "downloadPath": str(folder)}
        found.execute_cdp_cmd("Browser.setDownloadBehavior", where)
        yield found


@pytest.fixture
def opened(folder, driver):
    """The page, opened by an annotator; every test has a code of its own."""
    path = folder / "page.html"
    path.write_text(page(sample(), TEXTS), encoding="utf-8")

    def open_as(code: str):
        driver.get(path.as_uri())
        driver.find_element("id", "annotator").send_keys(code + "\n")
        shown(driver, "message")
        return driver

    return open_as


def shown(driver, name: str):
    """An element by id, once the page shows it: a busy machine takes its time."""
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
    from selenium.webdriver.support.ui import WebDriverWait

    def displayed(browser):
        found = browser.find_element("id", name)
        return found if found.is_displayed() else None

    ignored = [NoSuchElementException, StaleElementReferenceException]
    return WebDriverWait(driver, 60, 0.1, ignored).until(displayed)


def press(driver, keys: str) -> None:
    driver.find_element("tag name", "body").send_keys(keys)


def text(driver, name: str) -> str:
    return driver.execute_script(f"return document.getElementById('{name}').textContent")


def exported(driver, folder, code: str):
    """Press E and read the file that arrives."""
    press(driver, "e")
    path = folder / f"{code}.csv"
    script = "return document.readyState"
    for _ in range(200):
        if path.exists():
            return path
        driver.execute_script(script)
    raise AssertionError("no file was exported")


def test_the_second_question_comes_after_a_yes_only(opened):
    driver = opened("order")
    assert text(driver, "message") == TEXTS[0]
    assert text(driver, "question").startswith("1. Does it hold")
    press(driver, "y")
    assert text(driver, "question") == "1. Does the artifact come first?"
    press(driver, "n")
    assert text(driver, "question").startswith("2. Does it hold")
    press(driver, "n")
    assert text(driver, "question").startswith("3. Does it hold")
    assert text(driver, "done") == "order: 2 of 4 answered"


def test_answers_and_place_survive_a_reload(opened):
    driver = opened("reload")
    press(driver, "yyn")
    driver.refresh()
    shown(driver, "message")
    assert text(driver, "done") == "reload: 2 of 4 answered"
    assert text(driver, "question").startswith("3. ")
    assert driver.find_element("id", "start").is_displayed() is False


def test_annotators_at_one_browser_do_not_see_each_other(opened):
    press(opened("first"), "yy")
    driver = opened("second")
    assert text(driver, "done") == "second: 0 of 4 answered"
    assert text(opened("first"), "done") == "first: 1 of 4 answered"


def test_the_address_chooses_the_annotator(opened):
    driver = opened("third")
    assert driver.current_url.endswith("#third")
    press(driver, "n")
    driver.back()
    shown(driver, "annotator")
    driver.forward()
    shown(driver, "message")
    assert text(driver, "done") == "third: 1 of 4 answered"


def test_two_tabs_of_one_annotator_lose_no_answer(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    driver = opened("tabs")
    here = driver.current_window_handle
    driver.switch_to.new_window("tab")
    opened("tabs")
    press(driver, "n")
    driver.close()
    driver.switch_to.window(here)
    WebDriverWait(driver, 60, 0.1).until(
        lambda browser: text(browser, "done") == "tabs: 1 of 4 answered"
    )
    driver.find_elements("css selector", "#strip button")[1].click()
    press(driver, "n")
    assert text(driver, "done") == "tabs: 2 of 4 answered"


def test_the_keyboard_alone_scrolls_a_message(opened):
    driver = opened("scroll")
    driver.find_elements("css selector", "#strip button")[2].click()
    assert driver.execute_script("return document.activeElement.id") == "message"
    current = driver.find_elements("css selector", '#strip [aria-current="true"]')
    assert [dot.get_attribute("aria-label") for dot in current] == ["Message 3: open"]


def test_spoilt_storage_is_said_and_hides_nothing(opened):
    driver = opened("spoilt")
    driver.execute_script("localStorage.setItem(key(), '{torn')")
    driver.refresh()
    shown(driver, "message")
    assert text(driver, "done") == "spoilt: 0 of 4 answered"
    assert text(driver, "alert").startswith("This browser keeps no answers.")


def test_answers_can_be_taken_back_and_changed(opened):
    driver = opened("change")
    press(driver, "yy")
    driver.find_element("id", "previous").click()
    press(driver, "u")
    assert text(driver, "question") == "1. Does the artifact come first?"
    press(driver, "u")
    assert text(driver, "question").startswith("1. Does it hold")
    press(driver, "n")
    assert text(driver, "done") == "change: 1 of 4 answered"


def test_the_export_holds_answers_and_no_text(opened, folder):
    driver = opened("A1")
    press(driver, "yynyny")
    press(driver, "n")
    path = exported(driver, folder, "A1")
    answers = read_answers(path)
    assert [(row.genuine_paste, row.artifact_first) for row in answers] == [
        (True, True),
        (False, None),
        (True, False),
        (True, False),
    ]
    content = path.read_text(encoding="utf-8")
    assert content.splitlines()[0] == (
        "audit_id,hash,kind,corpus,msglen,truncated,annotator,genuine_paste,artifact_first"
    )
    assert content.splitlines()[1].split(",", 3)[3].startswith('"a,b"')
    assert not re.search("slow|pwned|Dear|xxx", content)
    assert text(driver, "alert") == ""


def test_an_unfinished_export_says_what_is_left(opened, folder):
    driver = opened("half")
    press(driver, "yny")
    assert len(read_answers(exported(driver, folder, "half"))) == 1
    assert text(driver, "alert") == "Exported 1 rows; 3 messages are not answered yet."


def test_messages_are_shown_and_never_run(opened):
    driver = opened("safe")
    press(driver, "n")
    assert text(driver, "message") == TEXTS[1]
    assert driver.title == "Occurrence audit"
    assert driver.find_elements("css selector", "#message *") == []
    errors = [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]
    assert errors == []


def test_a_long_message_is_cut_around_a_mark(opened):
    driver = opened("long")
    driver.find_elements("css selector", "#strip button")[2].click()
    shown = text(driver, "message")
    assert len(shown) == BUDGET + len(ELISION)
    assert ELISION in shown


def test_keys_with_modifiers_and_in_the_guide_do_nothing(opened):
    driver = opened("keys")
    driver.execute_script(
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'y', ctrlKey: true}))"
    )
    assert text(driver, "question").startswith("1. Does it hold")
    driver.find_element("id", "leave").click()
    shown(driver, "annotator")
    driver.execute_script("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'y'}))")
    assert driver.execute_script("return answers") == {}


def test_the_page_names_no_address_and_no_judgement():
    html = page(sample(), TEXTS)
    assert "http:" not in html and "https:" not in html
    packet = json.loads(re.search(r'id="packet">(.*?)</script>', html, re.DOTALL)[1])
    assert set(packet["rows"][0]) == {*Sampled.__struct_fields__, "message"}
