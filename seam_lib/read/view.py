"""What a reader sees of a specimen: texts cut once, facts in display words. Pure.

Pages, notebooks and the terminal only dress a `View`; none of them cuts or names anything itself.
A view is plain data, which msgspec turns into JSON, and its texts are printable: whatever a model
said, it cannot act in a page or a terminal.
"""

from collections.abc import Iterable
from itertools import groupby

import msgspec

from seam_lib.core.messages import LEGEND, printable, stretches
from seam_lib.core.rows import SOURCE_NAMES, TIER_NAMES, condition_name
from seam_lib.read.diff import difference
from seam_lib.read.gallery import kind_of
from seam_lib.read.specimens import Specimen, facets
from seam_lib.score.returned import Span
from seam_lib.score.scorer import Finding, Reading

#: What the marks mean: of a message the roles of its parts, of a response what the scorer did.
MARKS = LEGEND | {"evidence": "evidence", "removed": "removed before scoring"}


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stretch of a text, all of it marked alike.

    Attributes:
        text: The stretch, printable.
        mark: In a message the part's role, "" for seam and tags; in a response what became of the
            stretch: "kept", "evidence" or "removed".
        step: The extraction step that removed it, or "".
        changed: The other response has no such words at this place.
    """

    text: str
    mark: str = "kept"
    step: str = ""
    changed: bool = False


class Pane(msgspec.Struct, frozen=True):
    """A text with its title and, marked as it marks, the meaning of its marks."""

    title: str
    legend: list[Piece]
    pieces: list[Piece]


class View(msgspec.Struct, frozen=True):
    """A specimen in display words.

    Attributes:
        id: Run, model and case: no other specimen has it.
        title: Cluster, condition and model.
        verdict: The label on file in words, with tier and kind.
        genre: The artifact's genre; code is shown in a fixed width.
        panes: The texts: system (if the condition has one), message, clean, treated.
        facts: What else the label rests on, by name.
        facets: What it is chosen by, in the release's names, as a page's address holds them.
    """

    id: str
    title: str
    verdict: str
    genre: str
    panes: dict[str, Pane]
    facts: dict[str, str]
    facets: dict[str, str]


def view_of(specimen: Specimen) -> View:
    """Work out what is shown of a specimen."""
    case, kind = specimen.case, kind_of(specimen)
    condition = condition_name(case.condition)
    chosen_by = facets(specimen) | {"absorbed": "yes" if specimen.label.absorbed else "no"}
    return View(
        id=printable("/".join(specimen.key)),
        title=printable(f"{case.composition_event_id} · {condition} · {specimen.label.model}"),
        verdict=f"absorbed · {TIER_NAMES[specimen.tier]} · {kind}" if kind else "not absorbed",
        genre=printable(case.genre),
        panes=_panes(specimen, printable(condition)),
        facts={name: printable(fact) for name, fact in _facts(specimen).items() if fact},
        facets={name: printable(str(value)) for name, value in chosen_by.items()},
    )


def _panes(specimen: Specimen, condition: str) -> dict[str, Pane]:
    case, (treated, clean) = specimen.case, specimen.finding[2:4]
    lost, gained = difference(clean.response, treated.response)
    message = [Piece(printable(text), printable(role)) for role, text in stretches(case) if text]
    panes = {
        "message": _pane("The message", message),
        "clean": _pane(
            "Response without the comment (clean)",
            pieces(clean, (), lost),
            "only without the comment",
        ),
        "treated": _pane(
            f"Response with the comment ({condition})",
            pieces(treated, specimen.evidence, gained),
            "only with the comment",
        ),
    }
    if case.system_instruction:
        system = [Piece(printable(case.system_instruction))]
        panes = {"system": _pane("System instruction", system)} | panes
    return panes


def _pane(title: str, parts: list[Piece], changed: str = "") -> Pane:
    """Pieces under a title; `changed` says what is meant by a change in them."""
    marks = dict.fromkeys(piece.mark for piece in parts if piece.mark != "kept")
    legend = [Piece(MARKS.get(mark, mark), mark) for mark in marks]
    if any(piece.changed for piece in parts):
        legend.insert(0, Piece(changed, changed=True))
    return Pane(title, legend, parts)


def _facts(specimen: Specimen) -> dict[str, str]:
    case, removals = specimen.case, specimen.finding.treated.returned.removals
    source, url = SOURCE_NAMES.get(case.source, case.source), case.url or ""
    evidence = quoted(specimen.finding) if specimen.evidence else ""
    if specimen.label.absorbed and not specimen.evidence:
        ask = f"seam score {specimen.run} --explain {case.id}"
        evidence = f"a sentence that entails the proposition; `{ask}` names it"
    return {
        "case": case.id,
        "comment": specimen.comment,
        "proposition": case.forbidden_proposition,
        "witnesses": ", ".join(case.witness_tokens or []),
        "evidence": evidence,
        "removed": ", ".join(dict.fromkeys(removal.step for removal in removals)),
        "source": f"{source} item {case.source_item_id}, {case.license}",
        "link": url if url.startswith("https://") else "",
    }


def quoted(finding: Finding) -> str:
    """The words of the treated returned text that the verdict rests on."""
    text, verdict = finding.treated.returned.text, finding.verdict
    return " … ".join(text[start:end] for start, end in verdict.evidence) if verdict else ""


def pieces(
    reading: Reading, evidence: Iterable[Span] = (), changes: Iterable[Span] = ()
) -> list[Piece]:
    """Cut a response where its marks change.

    Args:
        reading: The response and its returned text.
        evidence: Offsets into the returned text, as in `tiers.Verdict`.
        changes: Offsets into the response, as `diff.difference` finds them.

    Returns:
        Pieces that give back the response when joined; those not removed give back the returned
        text.
    """
    response, returned = reading
    marks = [("kept", "", False)] * len(response)  # one a character
    for step, start, end in returned.removals:
        marks[start:end] = [("removed", step, False)] * (end - start)
    kept = [place for place, (mark, *_) in enumerate(marks) if mark == "kept"]
    for start, end in evidence:
        for place in kept[start:end]:
            marks[place] = "evidence", "", False
    for start, end in changes:
        marks[start:end] = [(mark, step, True) for mark, step, _ in marks[start:end]]
    found, here = [], 0
    for mark, run in groupby(marks):
        end = here + len(list(run))
        found.append(Piece(printable(response[here:end]), *mark))
        here = end
    return found
