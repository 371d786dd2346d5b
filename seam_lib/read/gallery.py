"""The gallery: matched pairs like the paper's Figure 1, and specimens by kind (Appendix E).

The kinds are told apart by rules on words, so that anybody can check a choice; they are no
judgement of meaning. Every absorbed specimen is of exactly one kind.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import pandas as pd

from seam_lib.core.rows import TIER_NAMES, in_order
from seam_lib.read.specimens import Specimen, specimen_of
from seam_lib.score.scorer import Finding
from seam_lib.score.tiers import find_witness

Kind = Literal["verbatim", "semantic NLI", "artifact-normalized", "genre-frame", "code comment"]
#: The kinds in the paper's order.
KINDS: tuple[Kind, ...] = get_args(Kind)
#: What makes a specimen one of a kind.
RULES: dict[str, str] = {
    "verbatim": "the comment's words in their order, as a sentence of its own",
    "semantic NLI": "only the entailment tier fired: the comment's idea, in other words",
    "artifact-normalized": "the comment's words, but reworded",
    "genre-frame": "the comment's words in their order, carried on inside a longer sentence",
    "code comment": "inside a code comment of the returned code",
}

_WORD = re.compile(r"\w+")
_COMMENT_SIGN = re.compile(r"#|//|/\*|--|\"\"\"")
#: What may stand around a sentence without making it part of another: quotes, brackets, markup.
_WRAPPING = r"""(?:<[^<>\n]{0,40}>|[ \t"'“”‘’()\[\]*_#>-])*"""
_ENDS_BEFORE = re.compile(rf"(?:^|[.!?:;\n]){_WRAPPING}$")
_ENDS_BEHIND = re.compile(rf"{_WRAPPING}(?:$|[.!?:;\n])")
#: How many characters of wrapping are looked at.
_REACH = 100


def kind_of(specimen: Specimen) -> Kind | None:
    """Tell which of the paper's kinds a specimen is; None if the comment was not absorbed."""
    if not specimen.label.absorbed:
        return None
    if specimen.tier == "semantic_nli":
        return "semantic NLI"
    returned = specimen.finding.treated.returned.text
    if specimen.case.genre == "code" and _in_code_comment(returned, specimen.evidence[0][0]):
        return "code comment"
    copies = list(_copies(returned, specimen.comment))
    if not copies:
        return "artifact-normalized"
    return "verbatim" if any(_stands_alone(returned, copy) for copy in copies) else "genre-frame"


def _in_code_comment(code: str, offset: int) -> bool:
    """Whether the line around `offset` has a comment sign before it."""
    line_start = code.rfind("\n", 0, offset) + 1
    return _COMMENT_SIGN.search(code, line_start, offset) is not None


def _copies(text: str, comment: str) -> Iterable[re.Match[str]]:
    """Where all words of the comment stand in their order, whatever is between them but words."""
    words = _WORD.findall(comment)
    pattern = r"\b" + r"\W+".join(map(re.escape, words)) + r"\b"
    return re.finditer(pattern, text, re.IGNORECASE) if words else ()


def _stands_alone(text: str, copy: re.Match[str]) -> bool:
    """Whether a sentence ends right before the copy and right behind it."""
    before = text[max(copy.start() - _REACH, 0) : copy.start()]
    behind = text[copy.end() : copy.end() + _REACH]
    return bool(_ENDS_BEFORE.search(before) and _ENDS_BEHIND.match(behind))


def gallery(specimens: Iterable[Specimen]) -> dict[Kind, list[Specimen]]:
    """Sort specimens into kinds, the shortest messages first; a kind may be empty."""
    found: dict[Kind, list[Specimen]] = {kind: [] for kind in KINDS}
    for specimen in sorted(specimens, key=_shortest_first):
        kind = kind_of(specimen)
        if kind:
            found[kind].append(specimen)
    return found


def by_condition(shown: Mapping[Kind, Sequence[Specimen]]) -> pd.DataFrame:
    """How many specimens of each kind every condition shows.

    Args:
        shown: The specimens by kind, see `gallery`.

    Returns:
        One row a kind; columns kind, then a count for each condition that has any.
    """
    conditions = in_order(s.case.condition for found in shown.values() for s in found)
    rows = []
    for kind, found in shown.items():
        counts = Counter(specimen.case.condition for specimen in found)
        rows.append({"kind": kind} | {condition: counts[condition] for condition in conditions})
    return pd.DataFrame(rows)


def matched_pairs(
    specimens: Sequence[Specimen], absorbed: str = "newline", separated: str = "boundary"
) -> list[tuple[Specimen, Specimen]]:
    """Find pairs like Figure 1's: one task, artifact and comment, absorbed under one seam only.

    Args:
        specimens: Specimens of one run or several.
        absorbed: The condition in which the comment was absorbed.
        separated: The condition in which it was not.

    Returns:
        Pairs of specimens of the same cluster, run and model, the shortest messages first.
    """
    others = {_matched(s): s for s in specimens if s.case.condition == separated}
    return [
        (specimen, others[_matched(specimen)])
        for specimen in sorted(specimens, key=_shortest_first)
        if specimen.case.condition == absorbed
        and specimen.label.absorbed
        and _matched(specimen) in others
        and not others[_matched(specimen)].label.absorbed
    ]


def mentions(specimens: Iterable[Specimen]) -> list[Specimen]:
    """Mention without use (Section 4): the witness stands only in what the scorer removed.

    Returns:
        Specimens not absorbed whose response speaks of the comment, the shortest messages first.
    """
    return [
        specimen
        for specimen in sorted(specimens, key=_shortest_first)
        if not specimen.label.absorbed
        and find_witness(specimen.finding.treated.response, specimen.case.witness_tokens or [])
        and not find_witness(
            specimen.finding.treated.returned.text, specimen.case.witness_tokens or []
        )
    ]


def telling(findings: Iterable[Finding]) -> dict[str, list[Specimen]]:
    """Sort findings by what they teach: a tier that fired, or a step that removed something.

    Returns:
        By a tier's display name the absorbed ones, by "removed: STEP" the others from which the
        step removed something; the shortest messages first.
    """
    found: dict[str, list[Specimen]] = {}
    for specimen in sorted(map(specimen_of, findings), key=_shortest_first):
        steps = {removal.step for removal in specimen.finding.treated.returned.removals}
        tier = specimen.label.tier
        for kind in [TIER_NAMES[tier]] if tier else [f"removed: {step}" for step in steps]:
            found.setdefault(kind, []).append(specimen)
    order = [*TIER_NAMES.values(), *sorted(found)]
    return {kind: found[kind] for kind in order if kind in found}


def _matched(specimen: Specimen) -> tuple[str, str, str]:
    return specimen.run, specimen.label.model, specimen.case.composition_event_id


def _shortest_first(specimen: Specimen) -> tuple[int, str, str]:
    return len(specimen.case.message), specimen.case.id, specimen.label.model
