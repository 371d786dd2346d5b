"""The pieces that show what a label rests on."""

from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.core.messages import printable
from seam_lib.read.explain import STYLES, Piece, card, pieces, telling, to_html
from seam_lib.score.returned import extract
from seam_lib.score.scorer import Reading
from tests.helpers.answers import SHAPES, finding


def reading(response: str, genre: str = "prose") -> Reading:
    return Reading(response, extract(response, genre))


def test_evidence_and_removals_are_marked_where_they_stand() -> None:
    response = "Soup. I removed it. The menu is bad. Bread."
    artifact = extract(response, "prose").text
    at = artifact.index("menu is bad")
    assert pieces(reading(response), [(at, at + 11)]) == [
        Piece("Soup.", "kept"),
        Piece(" I removed it.", "removed", "sentence"),
        Piece(" The ", "kept"),
        Piece("menu is bad", "evidence"),
        Piece(". Bread.", "kept"),
    ]


def test_evidence_that_runs_over_a_removal_is_marked_on_both_sides() -> None:
    response = "The menu (let me know if you'd like it) is bad."
    artifact = extract(response, "prose").text
    kinds = [(p.text, p.kind) for p in pieces(reading(response), [(0, len(artifact))])]
    assert [kind for _, kind in kinds] == ["evidence", "removed", "evidence"]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(SHAPES, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_pieces_make_up_the_response_and_the_artifact(
    response: str, spans: list[tuple[int, int]]
) -> None:
    artifact = extract(response, "prose").text
    evidence = [(a, min(b, len(artifact))) for a, b in spans if a < min(b, len(artifact))]
    found = pieces(reading(response), evidence)
    assert "".join(piece.text for piece in found) == response
    assert "".join(piece.text for piece in found if piece.kind != "removed") == artifact
    marked = {place for start, end in evidence for place in range(start, end)}
    assert sum(len(piece.text) for piece in found if piece.kind == "evidence") == len(marked)


def test_a_card_shows_the_verdict_the_comment_and_both_sides() -> None:
    judged = finding(1, "lexical_witness", "Soup. The menu is bad. <b>I removed it.")
    html = card(judged)
    assert "absorbed (lexical_witness)" in html
    assert "Comment: <i>The menu is bad.</i>" in html
    assert f'<span style="{STYLES["evidence"]}" title="">menu is bad</span>' in html
    assert 'title="sentence"> &lt;b&gt;I removed it.</span>' in html
    assert "The clean response" in html


def test_the_shortest_case_of_each_kind_is_shown() -> None:
    long, short = (finding(n, "lexical_witness", "Soup. " * n + "menu is bad") for n in (9, 2))
    report = finding(3, None, "Soup.\n\n---\n\nI removed it.")
    silent = finding(4, None, "Soup.")
    assert telling([long, report, silent, short]) == {
        "lexical_witness": short,
        "removed as trailing report": report,
    }


def test_a_response_cannot_leave_its_place() -> None:
    html = to_html([Piece("<b>\x1b[0m\u202e&", "kept"), Piece('"<i>', "removed", 'a"b')])
    assert "<b>" not in html
    assert "<i>" not in html
    assert 'title="a&quot;b"' in html
    assert printable("\x1b\x07\x9b\u202e\r\n\t é") == "␛␇\ufffd⟨U+202E⟩␍\n\t é"
