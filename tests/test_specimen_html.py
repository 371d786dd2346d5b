"""What the template writes, read with a parser; `test_specimen_page.py` opens it in a browser."""

import json
import re
from html.parser import HTMLParser

import pytest
from answers import benchmark, labels, outputs
from hostile import CANARY, HOSTILE, hostile_specimen
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.core.messages import STYLES, printable
from seam_lib.read.gallery import RULES, gallery, matched_pairs, telling
from seam_lib.read.html import gallery_html, page_html, pair_html, specimen_html
from seam_lib.read.specimens import Choice, join, select

CASES = benchmark()
CASE = next(case for case in CASES if case.condition == "newline" and case.genre == "prose")
SPECIMENS = join("pretended", CASES, outputs(CASES), labels(CASES, outputs(CASES)))
VOID = {"meta", "input", "br"}


class Reader(HTMLParser):
    """Collects elements and the texts of the boxes; complains about unbalanced tags."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.depth = 0
        self.feed(html)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)
        if "seam-text" in (dict(attrs).get("class") or "").split():
            self.texts.append("")
            self.depth = len(self.stack)

    def handle_endtag(self, tag):
        if self.depth == len(self.stack):
            self.depth = 0
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.depth:
            self.texts[-1] += data


def texts_of(html: str) -> list[str]:
    """The texts of the boxes as a browser reads them: a line break that begins one is dropped."""
    return [text.removeprefix("\n") for text in Reader(html).texts]


def test_a_specimen_shows_message_clean_and_treated_whole() -> None:
    for specimen in SPECIMENS[::41]:
        message, clean, treated = texts_of(specimen_html(specimen))
        assert message.replace("↵", "") == specimen.case.message
        assert clean == specimen.finding.clean.response
        assert treated == specimen.finding.treated.response


def test_parts_evidence_difference_and_removals_have_their_elements() -> None:
    (specimen, *_) = select(SPECIMENS, Choice(source="coedit", condition="newline"))
    html = specimen_html(specimen)
    comment = specimen.comment.replace("'", "&#39;")
    assert f'<strong data-mark="afterthought">{comment}</strong>' in html
    assert '<mark data-mark="evidence"><u>' in html and "not absorbed" not in html
    (specimen, *_) = select(SPECIMENS, Choice(source="coedit", condition="boundary"))
    html = specimen_html(specimen)
    assert '<s data-mark="removed" title="removed: trailing report"><u>---' in html
    assert "<dt>removed</dt><dd>trailing report</dd>" in html and "not absorbed" in html


def test_a_system_instruction_is_shown() -> None:
    specimen = hostile_specimen(CASE, "plain", "be brief")
    assert texts_of(specimen_html(specimen))[0] == "be brief"
    assert "<figcaption>System instruction</figcaption>" in specimen_html(specimen)


def test_a_message_has_the_colours_that_it_has_in_every_notebook() -> None:
    html = specimen_html(SPECIMENS[0])
    for role, style in STYLES.items():
        assert f'[data-mark="{role}"] {{ {style} }}' in html


def test_a_pair_shows_both_messages_and_both_responses() -> None:
    pair = matched_pairs(SPECIMENS)[0]
    texts = texts_of(pair_html(pair))
    assert [texts[1], texts[3]] == [s.finding.treated.response for s in pair]
    assert "&lt;pasted-artifact-" in pair_html(pair)


def test_the_gallery_shows_one_of_each_kind_and_says_what_is_missing() -> None:
    html = gallery_html(gallery(SPECIMENS))
    texts = texts_of(html)
    assert len(texts) == 3 * 4 and html.count("These runs show none.") == 1
    assert "semantic NLI" in html and f"{RULES['verbatim']} (n = 64)" in html.replace("&#39;", "'")
    taught = gallery_html(telling(s.finding for s in SPECIMENS))
    assert '<h2 class="seam-kind">removed: trailing report <small>(n = 64)</small></h2>' in taught


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_text_in_every_field(name: str) -> None:
    specimen = hostile_specimen(CASE, name, HOSTILE[name])
    pages = (
        specimen_html(specimen),
        pair_html([specimen]),
        gallery_html(gallery([specimen])),
        page_html("T", "N", [specimen]),
    )
    for html in pages:
        reader = Reader(html)
        kinds = {tag for tag, _ in reader.elements}
        assert not kinds & {"img", "svg", "iframe", "object", "a", "base", "link", "b", "table"}
        assert not any(key.startswith("on") for _, attrs in reader.elements for key in attrs)
        assert printable(specimen.finding.treated.response) in texts_of(html)
        scripts = html.split("<script>")[1:]
        assert len(scripts) == ("<!doctype" in html) and not any(CANARY in s for s in scripts)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_comes_back_as_it_prints(text: str) -> None:
    specimen = hostile_specimen(CASE, "any", text)
    *_, clean, treated = texts_of(specimen_html(specimen))
    assert clean == printable(specimen.finding.clean.response)
    assert treated == printable(specimen.finding.treated.response)


def test_only_https_links_are_links() -> None:
    specimen = hostile_specimen(CASE, "link", "x")
    specimen.case.url = 'https://example.org/a?b=1&c="><script>'
    (link,) = [attrs for tag, attrs in Reader(specimen_html(specimen)).elements if tag == "a"]
    assert link["href"] == specimen.case.url and "noopener" in (link["rel"] or "")


def test_the_page_is_a_function_of_its_specimens() -> None:
    assert page_html("T", "N", SPECIMENS[:40]) == page_html("T", "N", SPECIMENS[:40])


def test_the_page_asks_for_nothing_from_outside() -> None:
    for tag, attrs in Reader(page_html("T", "N", SPECIMENS[:40])).elements:
        assert tag not in {"link", "img", "iframe"}
        assert not {"src", "srcset", "data", "action", "background"} & attrs.keys()


def test_the_policy_names_the_page_s_own_style_and_script() -> None:
    html = page_html("T", "N", SPECIMENS[:2])
    metas = [attrs for tag, attrs in Reader(html).elements if tag == "meta"]
    (policy,) = [a["content"] for a in metas if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy and policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_filters_offer_the_values_that_tell_specimens_apart() -> None:
    html = page_html("T", "N", SPECIMENS)
    assert 'name="run"' not in html  # one run: nothing to choose
    assert all(f'name="{name}"' in html for name in ("source", "condition", "tier", "comment"))
    two = [*SPECIMENS[:3], *(s._replace(run="b") for s in SPECIMENS[:3])]
    assert 'name="run"' in page_html("T", "N", two)


def test_a_page_without_specimens_is_a_page() -> None:
    Reader(page_html("T", "N", []))


def test_controls_have_names() -> None:
    reader = Reader(page_html("T", "N", SPECIMENS[:3]))
    assert sum(tag == "label" for tag, _ in reader.elements) == sum(
        tag in ("select", "input") for tag, _ in reader.elements
    )
    boxes = [a for _, a in reader.elements if a.get("role") == "region"]
    assert boxes and all(a["aria-label"] and a["tabindex"] == "0" for a in boxes)


def test_rows_say_what_each_article_is_chosen_by_in_the_release_s_names() -> None:
    html = page_html("T", "N", SPECIMENS)
    rows = json.loads(html.split('id="rows">')[1].split("</script>")[0])
    assert [row["id"] for row in rows] == re.findall(r'<article [^>]*id="([^"]*)"', html)
    assert [(row["condition"], row["absorbed"]) for row in rows] == [
        (s.case.condition, "yes" if s.label.absorbed else "no") for s in SPECIMENS
    ]
    assert '<option value="newline_R">artifact-native</option>' in html
