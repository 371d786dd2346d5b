"""The exported page in a real browser: hostile responses, filters, keys, address, small screens."""

import re
from pathlib import Path

import pytest
from answers import benchmark, labels, outputs
from browser import chromium
from hostile import HOSTILE, hostile_specimen

from seam_lib.core.messages import printable
from seam_lib.read.html import page_html
from seam_lib.read.specimens import join

CASES = benchmark()
CASE = next(case for case in CASES if case.condition == "newline" and case.genre == "prose")
SPECIMENS = join("pretended", CASES, outputs(CASES), labels(CASES, outputs(CASES)))
ATTACKS = [hostile_specimen(CASE, name, text) for name, text in HOSTILE.items()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def driver(folder):
    with chromium(folder / "profile") as found:
        yield found


@pytest.fixture
def page(folder, driver):
    """The page of the pretended run, opened anew; `page(hash)` opens it at an address."""
    path = folder / "page.html"
    if not path.exists():
        path.write_text(page_html("Specimens", "A pretended model.", SPECIMENS), "utf-8")

    def open_page(state: str = ""):
        driver.get("about:blank")
        driver.get(f"{path.as_uri()}#{state}")
        return driver

    return open_page


def press(driver, keys: str) -> None:
    driver.switch_to.active_element.send_keys(keys)


def shown(driver) -> list[str]:
    """The ids of the articles that are on screen."""
    return driver.execute_script(
        "return [...document.querySelectorAll('article')]"
        ".filter((a) => a.checkVisibility()).map((a) => a.id)"
    )


def place(driver) -> str:
    return driver.execute_script("return document.getElementById('place').textContent")


def at(driver) -> dict[str, str]:
    """The state in the address."""
    script = "return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))"
    return driver.execute_script(script)


# --- Hostile responses ---------------------------------------------------------------------------


@pytest.mark.parametrize("guarded", [True, False], ids=["with policy", "without policy"])
def test_hostile_responses_run_nothing_and_are_shown(folder, driver, guarded: bool) -> None:
    """Escaping must hold alone: once more without the page's security policy."""
    html = page_html("Specimens <script>", "A note </p><script>", ATTACKS)
    if not guarded:
        html, count = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
        assert count == 1
    path = folder / f"hostile-{guarded}.html"
    path.write_text(html, "utf-8")
    driver.get_log("browser")
    driver.get(path.as_uri())
    for specimen in ATTACKS:
        box = "return document.querySelector('article').querySelectorAll('.seam-text')"
        texts = driver.execute_script(f"{box}; ".replace("return", "const boxes =") + _TEXTS)
        assert texts[-1] == printable(specimen.finding.treated.response)
        assert texts[-2] == printable(specimen.finding.clean.response)
        press(driver, "j")
    assert driver.execute_script("return window.canary") is None
    scripts = driver.execute_script("return [...document.scripts].map((script) => script.type)")
    assert scripts == ["application/json", ""]
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert (
        driver.execute_script("return document.querySelectorAll('article a, img, svg').length") == 0
    )
    assert driver.get_log("browser") == []


_TEXTS = "return [...boxes].map((box) => box.checkVisibility() ? box.textContent : null)"


def test_the_canary_would_be_seen(folder, driver) -> None:
    """A page that does not escape runs it, so the test above can fail."""
    path = folder / "careless.html"
    path.write_text(f"<!doctype html><p>{HOSTILE['handler']}{HOSTILE['script']}</p>", "utf-8")
    driver.get(path.as_uri())
    assert driver.execute_script("return window.canary") >= 1


def test_the_policy_alone_stops_a_script(folder, driver) -> None:
    html = page_html("T", "N", ATTACKS[:1])
    path = folder / "careless-with-policy.html"
    path.write_text(
        html.replace("</main>", HOSTILE["handler"] + HOSTILE["script"] + "</main>"), "utf-8"
    )
    driver.get(path.as_uri())
    assert driver.execute_script("return window.canary") is None
    assert driver.get_log("browser") != []
    assert place(driver) == "1 of 1"


def test_hostile_values_can_be_filtered_by(folder, driver) -> None:
    path = folder / "hostile-True.html"
    path.write_text(page_html("T", "N", ATTACKS), "utf-8")
    driver.get(path.as_uri())
    for number in range(1, len(ATTACKS) + 1):
        driver.execute_script(
            "const field = document.querySelector('[name=source]');"
            "field.selectedIndex = arguments[0];"
            "field.dispatchEvent(new Event('input', {bubbles: true}))",
            number,
        )
        assert place(driver) == f"1 of 1 ({len(ATTACKS)} in all)"
    assert driver.execute_script("return window.canary") is None


def test_a_hostile_address_is_only_compared(page) -> None:
    driver = page(
        "source=%3Cimg src=x onerror=window.canary=1%3E&text=%3Cscript%3E&specimen=%22%5D"
    )
    assert driver.execute_script("return window.canary") is None
    assert place(driver) == "none of 480" and at(driver) == {"text": "<script>"}


def test_a_huge_response_is_shown_and_starts_at_its_evidence(folder, driver) -> None:
    specimen = hostile_specimen(CASE, "huge", "never ending " * 20_000 + "x" * 200_000)
    path = folder / "huge.html"
    path.write_text(page_html("T", "N", [specimen]), "utf-8")
    driver.get(path.as_uri())
    seen = driver.execute_script(
        "const box = [...document.querySelectorAll('.seam-text')].at(-1);"
        "const mark = box.querySelector('mark').getBoundingClientRect();"
        "const frame = box.getBoundingClientRect();"
        "return [box.textContent.length, mark.top >= frame.top && mark.bottom <= frame.bottom,"
        " document.documentElement.scrollWidth <= innerWidth]"
    )
    assert seen == [len(specimen.finding.treated.response), True, True]


# --- Use -----------------------------------------------------------------------------------------


def test_keys_go_forward_back_and_around(page) -> None:
    driver = page()
    first = shown(driver)
    assert len(first) == 1 and place(driver) == "1 of 480"
    press(driver, "j")
    assert place(driver) == "2 of 480" and shown(driver) != first
    press(driver, "k")
    press(driver, "k")
    assert place(driver) == "480 of 480"
    press(driver, "\ue014")  # the right arrow
    assert shown(driver) == first
    press(driver, "r")
    assert shown(driver) != first


def test_filters_narrow_and_the_address_keeps_them(page) -> None:
    driver = page("source=coedit&condition=newline&absorbed=yes")
    assert place(driver) == "1 of 16 (480 in all)"
    press(driver, "j")
    state = at(driver)
    assert state["source"] == "coedit" and state["specimen"] == shown(driver)[0]
    again = driver.execute_script("return location.hash.slice(1)")
    page(again)
    assert shown(driver) == [state["specimen"]] and place(driver) == "2 of 16 (480 in all)"
    driver.execute_script("location.hash = 'condition=boundary'")
    assert place(driver) == "1 of 96 (480 in all)"


def test_an_empty_result_says_so_and_shows_the_way_back(page) -> None:
    driver = page("condition=boundary&absorbed=yes")
    assert shown(driver) == [] and place(driver) == "none of 480"
    press(driver, "j")
    press(driver, "r")
    again = driver.find_element("id", "again")
    assert again.is_displayed() and not driver.find_element("id", "next").is_enabled()
    again.click()
    assert place(driver) == "1 of 480" and at(driver).keys() == {"specimen"}


def test_search_reads_all_texts_and_letters_typed_in_it_are_no_keys(page) -> None:
    driver = page()
    press(driver, "/")
    press(driver, "LISBON trip")
    count = sum("lisbon trip" in text_of(s).lower() for s in SPECIMENS)
    assert place(driver) == f"1 of {count} (480 in all)" and 0 < count < 100
    press(driver, "\ue00c")  # escape
    press(driver, "j")
    assert place(driver) == f"2 of {count} (480 in all)"


def text_of(specimen) -> str:
    finding = specimen.finding
    return "\n".join([specimen.case.message, finding.clean.response, finding.treated.response])


def test_help_opens_and_closes_by_key(page) -> None:
    driver = page()
    dialog = driver.find_element("id", "keys")
    assert not dialog.is_displayed()
    press(driver, "?")
    assert dialog.is_displayed() and "next specimen" in dialog.text
    press(driver, "j")
    assert place(driver) == "1 of 480"
    press(driver, "\ue00c")
    assert not dialog.is_displayed()


def test_everything_to_use_has_a_name_for_a_screen_reader(page) -> None:
    driver = page()
    tree = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "combobox", "searchbox", "region", "navigation", "search", "link"}
    found = [n for n in tree if not n["ignored"] and n.get("role", {}).get("value") in roles]
    assert len(found) >= 12
    assert [n for n in found if not n.get("name", {}).get("value")] == []
    said = driver.find_element("css selector", "[role=status]").get_attribute("textContent")
    assert said.startswith("canitedit:9025 · newline")


@pytest.mark.parametrize("width", [390, 1280])
def test_no_screen_needs_sideways_scrolling(page, width: int) -> None:
    driver = page()
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        page("source=iterater")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        folded = not driver.find_element("css selector", "select").is_displayed()
        assert folded == (width == 390)
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def luminance(colour: str) -> float:
    """WCAG's relative luminance of a computed colour such as "rgb(0, 0, 0)"."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_and_paper_contrast_in_light_and_dark(page, scheme: str) -> None:
    driver = page("condition=newline&source=coedit")
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    colours = driver.execute_script(
        "const of = (query) => getComputedStyle(document.querySelector(query));"
        "const paper = of('body').backgroundColor;"
        "return [[of('body').color, paper], [of('pre [data-mark=\"\"]').color, paper],"
        " ...['mark', '.seam-verdict'].map(of)"
        ".map((style) => [style.color, style.backgroundColor])]"
    )
    assert (luminance(colours[0][1]) < 0.5) == (scheme == "dark")
    for ink, ground in colours:
        low, high = sorted((luminance(ink), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


def test_without_scripts_everything_is_shown(folder, driver) -> None:
    path: Path = folder / "page.html"
    path.write_text(page_html("Specimens", "A pretended model.", SPECIMENS), "utf-8")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(path.as_uri())
        assert len(driver.find_elements("tag name", "article")) == 480
        assert all(a.is_displayed() for a in driver.find_elements("tag name", "article")[:5])
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
