"""What is shown of a specimen: texts cut where their marks change, facts in display words."""

import msgspec
import pytest
from answers import benchmark, labels, outputs
from edits import SHAPES, finding
from hostile import HOSTILE, hostile_specimen
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.core.messages import LEGEND, printable
from seam_lib.core.rows import TIER_NAMES
from seam_lib.read.gallery import telling
from seam_lib.read.html import card, specimen_html
from seam_lib.read.specimens import Choice, Specimen, join, select, specimen_of
from seam_lib.read.view import Pane, Piece, View, pieces, quoted, view_of
from seam_lib.score.returned import Removal, Returned, extract
from seam_lib.score.scorer import Finding, Reading
from seam_lib.score.tiers import Verdict

CASES = benchmark()
SPECIMENS = join("pretended", CASES, outputs(CASES), labels(CASES, outputs(CASES)))


def reading(response: str, genre: str = "prose") -> Reading:
    return Reading(response, extract(response, genre))


def joined(pane: Pane) -> str:
    return "".join(piece.text for piece in pane.pieces)


# --- Cutting -------------------------------------------------------------------------------------


def test_evidence_and_removals_are_marked_where_they_stand() -> None:
    response = "Soup. I removed it. The menu is bad. Bread."
    returned = extract(response, "prose").text
    at = returned.index("menu is bad")
    assert pieces(reading(response), [(at, at + 11)], [(24, 28)]) == [
        Piece("Soup."),
        Piece(" I removed it.", "removed", "sentence"),
        Piece(" The "),
        Piece("menu", "evidence", changed=True),
        Piece(" is bad", "evidence"),
        Piece(". Bread."),
    ]


def test_evidence_that_runs_over_a_removal_is_marked_on_both_sides() -> None:
    response = "The menu (let me know if you'd like it) is bad."
    returned = extract(response, "prose").text
    marks = [piece.mark for piece in pieces(reading(response), [(0, len(returned))])]
    assert marks == ["evidence", "removed", "evidence"]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(SHAPES, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_pieces_make_up_the_response_and_what_was_returned(
    response: str, spans: list[tuple[int, int]]
) -> None:
    returned = extract(response, "prose").text
    evidence = [(a, min(b, len(returned))) for a, b in spans if a < min(b, len(returned))]
    found = pieces(reading(response), evidence)
    assert "".join(piece.text for piece in found) == printable(response)
    kept = "".join(piece.text for piece in found if piece.mark != "removed")
    assert kept == printable(returned)
    marked = sorted({place for start, end in evidence for place in range(start, end)})
    signs = printable("".join(returned[place] for place in marked))
    assert "".join(piece.text for piece in found if piece.mark == "evidence") == signs


TEXT = st.text(alphabet="ab .\n", max_size=40)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    TEXT, TEXT, st.lists(st.integers(0, 40), max_size=6), st.lists(st.integers(0, 40), max_size=4)
)
def test_panes_give_back_the_responses_whatever_was_removed(clean, treated, cuts, marks) -> None:
    edges = sorted({min(cut, len(treated)) for cut in cuts})
    removals = tuple(
        Removal("step", a, b) for a, b in zip(edges[::2], edges[1::2], strict=False) if a < b
    )
    kept = "".join(
        ch for n, ch in enumerate(treated) if not any(a <= n < b for _, a, b in removals)
    )
    spots = sorted({min(mark, len(kept)) for mark in marks})
    evidence = tuple((a, b) for a, b in zip(spots[::2], spots[1::2], strict=False))
    base = next(s for s in SPECIMENS if s.tier == "lexical_witness" and s.case.genre != "code")
    read = Reading(treated, Returned(kept, removals)), Reading(clean, Returned(clean, ()))
    verdict = Verdict("lexical_witness", evidence)
    view = view_of(Specimen("r", base.label, Finding(base.case, "m", *read, verdict)))
    sides = [view.panes["clean"], view.panes["treated"]]
    assert [joined(pane) for pane in sides] == [clean, treated]
    assert all(piece.text for pane in sides for piece in pane.pieces)
    shown = [piece for piece in view.panes["treated"].pieces if piece.mark != "removed"]
    assert "".join(piece.text for piece in shown) == kept
    same = [
        "".join(piece.text for piece in pane.pieces if not piece.changed).split() for pane in sides
    ]
    assert "".join(same[0]) == "".join(same[1])


def test_the_comment_is_marked_as_new_in_the_treated_response() -> None:
    for specimen in select(SPECIMENS, Choice(source="coedit", condition="newline")):
        found = view_of(specimen).panes["treated"].pieces
        new = "".join(piece.text for piece in found if piece.changed)
        assert new.startswith(specimen.comment.rstrip("."))
        evidence = "".join(piece.text for piece in found if piece.mark == "evidence")
        assert evidence.lower() == " ".join(specimen.case.witness_tokens or [])


# --- The view ------------------------------------------------------------------------------------


def test_a_view_holds_the_message_both_responses_and_the_facts_in_display_words() -> None:
    specimen = next(s for s in SPECIMENS if s.case.condition == "newline_R")
    view = view_of(specimen)
    assert joined(view.panes["message"]) == specimen.case.message
    assert joined(view.panes["clean"]) == specimen.finding.clean.response
    assert joined(view.panes["treated"]) == specimen.finding.treated.response
    assert view.title == f"{specimen.case.composition_event_id} · artifact-native · pretended"
    assert view.panes["treated"].title == "Response with the comment (artifact-native)"
    assert view.verdict == f"absorbed · {TIER_NAMES['lexical_witness']} · code comment"
    assert view.facts["case"] == specimen.case.id
    assert view.facts["evidence"] == quoted(specimen.finding)
    assert view.facts["source"].startswith("CanItEdit item ")
    assert view.facets["condition"] == "newline_R" and view.facets["absorbed"] == "yes"
    plain = str(msgspec.to_builtins(msgspec.structs.replace(view, facets={}, facts={}, id="")))
    assert not any(name in plain for name in ("newline_R", "lexical_"))


def test_a_legend_says_what_the_marks_mean_that_a_text_has() -> None:
    (specimen, *_) = select(SPECIMENS, Choice(source="coedit", condition="mitigation"))
    assert {key.mark: key.text for key in view_of(specimen).panes["message"].legend} == LEGEND
    (specimen, *_) = select(SPECIMENS, Choice(source="coedit", condition="boundary"))
    view = view_of(specimen)
    assert view.panes["treated"].legend == [
        Piece("only with the comment", changed=True),
        Piece("removed before scoring", "removed"),
    ]
    assert view.facts["removed"] == "trailing report" and "evidence" not in view.facts


def test_a_semantic_label_without_its_sentence_says_how_to_find_it() -> None:
    base = next(s for s in SPECIMENS if not s.label.absorbed)
    label = msgspec.structs.replace(base.label, absorbed=True, tier="semantic_nli")
    view = view_of(base._replace(label=label))
    assert view.verdict == f"absorbed · {TIER_NAMES['semantic_nli']} · semantic NLI"
    assert f"`seam score pretended --explain {base.case.id}`" in view.facts["evidence"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_view_is_printable_plain_data(name: str) -> None:
    case = next(case for case in CASES if case.condition == "newline" and case.genre == "prose")
    view = view_of(hostile_specimen(case, name, HOSTILE[name]))
    written = msgspec.json.encode(view)
    assert msgspec.json.decode(written, type=View) == view
    found = msgspec.json.decode(written)
    assert list(texts(found)) == [printable(text) for text in texts(found)]


def texts(value):
    """All texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def test_no_two_specimens_share_an_id() -> None:
    assert len({view_of(specimen).id for specimen in SPECIMENS}) == len(SPECIMENS)


# --- Findings without a label on file ------------------------------------------------------------


def test_a_card_is_the_specimen_that_its_label_will_be() -> None:
    judged = finding(1, "lexical_witness", "Soup. The menu is bad. <b>I removed it.")
    html = card(judged)
    assert html == specimen_html(specimen_of(judged))
    assert f"absorbed · {TIER_NAMES['lexical_witness']} · verbatim" in html
    assert "<dd>The menu is bad.</dd>" in html
    assert 'The <mark data-mark="evidence">menu is bad</mark>.' in html.replace("<u>", "").replace(
        "</u>", ""
    )
    assert (
        '<s data-mark="removed" title="removed: sentence">' in html
        and "&lt;b&gt;I removed it." in html
    )
    assert "Response without the comment (clean)" in html


def test_what_teaches_is_sorted_by_tier_and_by_step_shortest_message_first() -> None:
    long, short = (finding(n, "lexical_witness", "Soup. " * n + "menu is bad") for n in (9, 2))
    long = long._replace(case=msgspec.structs.replace(long.case, message="a long message"))
    report = finding(3, None, "Soup.\n\n---\n\nI removed it.")
    silent = finding(4, None, "Soup.")
    found = telling([long, report, silent, short])
    assert {kind: [s.finding for s in shown] for kind, shown in found.items()} == {
        TIER_NAMES["lexical_witness"]: [short, long],
        "removed: trailing report": [report],
    }
    assert list(found) == [TIER_NAMES["lexical_witness"], "removed: trailing report"]


def test_a_response_cannot_leave_its_place() -> None:
    html = card(finding(1, None, "<b>&\x1b\u202e. I removed <i>it</i>."))
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;" in html and "␛⟨U+202E⟩" in html and "&lt;i&gt;" in html
    assert printable("\x1b\x07\x9b\u202e\r\n\t é") == "␛␇\ufffd⟨U+202E⟩␍\n\t é"
