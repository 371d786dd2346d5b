from trial import trial_cases

from seam_lib.responses import to_html
from seam_lib.schema import Output

CASES = trial_cases(1)


def test_each_message_stands_beside_its_response() -> None:
    outputs = {
        CASES[0].id: Output(case_id=CASES[0].id, model="m", response="An <b>edit</b>.\x1b[2J"),
        CASES[1].id: Output(
            case_id=CASES[1].id, model="m", response=None, error="empty (3 answers)",
            decoding="temperature=1.0",
        ),
    }  # fmt: skip
    page = to_html(CASES[:3], outputs)
    assert page.index("clean") < page.index("An &lt;b&gt;edit&lt;/b&gt;.") < page.index("newline")
    assert "\x1b" not in page
    assert "empty (3 answers); temperature=1.0" in page
    assert page.count("missing: not asked yet") == 1
