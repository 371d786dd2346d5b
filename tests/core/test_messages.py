import re
from html import unescape

import msgspec

from seam_lib.core.messages import STYLES, answers_html, stretches, to_html
from seam_lib.core.rows import Output
from tests.helpers.cases import CASES, trial_cases


def test_stretches_give_back_the_message() -> None:
    for case in CASES:
        assert "".join(text for _, text in stretches(case)) == case.message
        assert {role for role, _ in stretches(case)} <= set(STYLES)


def test_the_page_shows_every_message_whole_and_escaped() -> None:
    page = to_html({case.condition: case for case in CASES})
    shown = [
        unescape(re.sub(r"<[^>]*>", "", box)) for box in re.findall(r"<pre.*?</pre>", page, re.S)
    ]
    assert shown == [case.message for case in CASES]
    assert "<pasted-artifact" not in page and "&lt;pasted-artifact" in page


def test_a_system_instruction_is_shown() -> None:
    case = msgspec.structs.replace(CASES[0], system_instruction="Mind <this>.")
    assert "system:</i> Mind &lt;this&gt;." in to_html({"mine": case})


def test_a_role_that_a_plugin_invents_has_a_colour() -> None:
    segment = msgspec.structs.replace(CASES[0].segments[0], role="rule")
    case = msgspec.structs.replace(CASES[0], segments=[segment])
    assert f'<span style="{STYLES["task_instruction"]}">{segment.text}</span>' in to_html(
        {"mine": case}
    )


def test_each_message_stands_beside_its_response() -> None:
    cases = trial_cases(1)[:3]
    outputs = {
        cases[0].id: Output(case_id=cases[0].id, model="m", response="An <b>edit</b>.\x1b[2J"),
        cases[1].id: Output(
            case_id=cases[1].id, model="m", response=None, error="empty (3 answers)",
            decoding="temperature=1.0",
        ),
    }  # fmt: skip
    page = answers_html(cases, outputs)
    assert page.index("clean") < page.index("An &lt;b&gt;edit&lt;/b&gt;.") < page.index("newline")
    assert "\x1b" not in page
    assert "empty (3 answers); temperature=1.0" in page
    assert page.count("missing: not asked yet") == 1
