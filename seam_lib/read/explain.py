"""A finding made visible: what was removed by which step, and what the verdict rests on.

The command line, the notebooks and the reading packets all show the pieces that this module cuts.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Literal, NamedTuple

from seam_lib.core.messages import printable
from seam_lib.core.palette import NEUTRAL, YELLOW
from seam_lib.score.returned import Span, merged
from seam_lib.score.scorer import Finding, Reading

Fate = Literal["kept", "evidence", "removed"]
#: Inline styles, so that a page needs nothing beside it; both read in light and dark.
STYLES: dict[Fate, str] = {
    "kept": "",
    "evidence": f"background:{YELLOW};color:#000;font-weight:600",
    "removed": "text-decoration:line-through;opacity:.55",
}
_BLOCK = (
    "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal;"
    f"border-left:3px solid {NEUTRAL}88;padding-left:1em"
)


class Piece(NamedTuple):
    """A stretch of a response: text, what became of it, and the step that removed it."""

    text: str
    kind: Fate
    step: str = ""


def pieces(reading: Reading, evidence: Sequence[Span] = ()) -> list[Piece]:
    """Cut a response into the stretches kept, removed, and kept as evidence.

    Args:
        reading: The response and its artifact.
        evidence: Offsets into the artifact, as in `tiers.Verdict`.

    Returns:
        Pieces that give back the response when joined; those kept give back the artifact.
    """
    response, artifact = reading
    marks = merged(evidence)
    found: list[Piece] = []
    here = base = 0  # the same place in the response and in the artifact
    for step, start, end in sorted(artifact.removals, key=lambda removal: removal.start):
        found += _kept(response[here:start], base, marks)
        found.append(Piece(response[start:end], "removed", step))
        base, here = base + start - here, end
    found += _kept(response[here:], base, marks)
    return [piece for piece in found if piece.text]


def _kept(text: str, base: int, marks: Iterable[Span]) -> Iterator[Piece]:
    """Split a kept stretch that begins at `base` in the artifact where evidence begins and ends."""
    here = 0
    for start, end in marks:
        start, end = max(start - base, here), min(end - base, len(text))
        if start < end:
            yield Piece(text[here:start], "kept")
            yield Piece(text[start:end], "evidence")
            here = end
    yield Piece(text[here:], "kept")


def evidence_of(finding: Finding) -> list[str]:
    """The words in the treated artifact that the verdict rests on."""
    text, verdict = finding.treated.returned.text, finding.verdict
    return [text[start:end] for start, end in verdict.evidence] if verdict else []


def to_html(parts: Iterable[Piece]) -> str:
    """Pieces as escaped inline HTML; a removed piece names its step when pointed at."""
    return "".join(
        f'<span style="{STYLES[kind]}" title="{escape(step)}">{escape(printable(text))}</span>'
        if kind != "kept"
        else escape(printable(text))
        for text, kind, step in parts
    )


def card(finding: Finding) -> str:
    """One finding as HTML: the comment, the verdict, both responses with their pieces marked."""
    case, verdict = finding.case, finding.verdict
    label = f"absorbed ({verdict.tier})" if verdict else "not absorbed"
    treated = to_html(pieces(finding.treated, verdict.evidence if verdict else ()))
    return (
        f"<p><b>{escape(case.id)}</b>: {label}<br>"
        f"Comment: <i>{escape(case.afterthought or '')}</i></p>"
        f'<pre style="{_BLOCK}">{treated}</pre>'
        f"<details><summary>The clean response</summary>"
        f'<pre style="{_BLOCK}">{to_html(pieces(finding.clean))}</pre></details>'
    )


def telling(findings: Iterable[Finding]) -> dict[str, Finding]:
    """The shortest case of each kind: one for each tier that fired, one for each step that removed.

    Returns:
        Findings by kind: a tier's name, or "removed as STEP" of a case that was not absorbed.
    """
    found: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda j: (len(j.treated.response), j.model, j.case.id)):
        if finding.verdict:
            found.setdefault(finding.verdict.tier, finding)
        else:
            for removal in finding.treated.returned.removals:
                found.setdefault(f"removed as {removal.step}", finding)
    return dict(sorted(found.items()))
