"""Specimens: a label with all that it rests on, joined for reading and chosen by filters. Pure.

A specimen is one treated case with its message, the clean and the treated response, what the scorer
took out of each, the evidence, and the label on file.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.rows import CONDITIONS, SOURCES, TIERS, Case, Label, Output
from seam_lib.read.diff import difference
from seam_lib.read.explain import Fate, Piece, pieces
from seam_lib.score.returned import Span
from seam_lib.score.scorer import Finding, score
from seam_lib.score.tiers import Entailment, Verdict


class Specimen(NamedTuple):
    """A label and what it rests on.

    Attributes:
        run: The run's name.
        label: The label on file. It decides; the finding only explains it.
        finding: Case, both responses with their artifacts, and the evidence as far as known.
    """

    run: str
    label: Label
    finding: Finding

    @property
    def case(self) -> Case:
        """The treated case."""
        return self.finding.case

    @property
    def tier(self) -> str:
        """The tier that fired, or "none"."""
        return self.label.tier or "none"

    @property
    def comment(self) -> str:
        """What the user typed below the pasted text."""
        return self.case.afterthought or ""

    @property
    def evidence(self) -> tuple[Span, ...]:
        """Stretches of the treated artifact; none if the semantic tier fired and was not run."""
        verdict = self.finding.verdict
        return verdict.evidence if verdict and verdict.tier == self.label.tier else ()


class Mark(NamedTuple):
    """A stretch of a response: what the scorer did with it, and whether the other response has it.

    Attributes:
        text: The stretch.
        kind: Kept, kept as evidence, or removed.
        step: The extraction step that removed it, or "".
        changed: The words are not in the other response at this place.
    """

    text: str
    kind: Fate
    step: str
    changed: bool


def join(
    run: str,
    cases: Sequence[Case],
    outputs: Iterable[Output],
    labels: Iterable[Label],
    engine: Entailment | None = None,
) -> list[Specimen]:
    """Join a run's labels with what they rest on.

    Args:
        run: The run's name.
        cases: The benchmark.
        outputs: The run's answers.
        labels: The run's labels.
        engine: The semantic tier, to find the sentence that a semantic label rests on. Without it
            such a specimen has no evidence.

    Returns:
        A specimen for each label, in the benchmark's order, models beside each other.

    Raises:
        SeamError: A label has no usable answer, or the lexical tiers now say something else.
    """
    findings, _ = score(cases, outputs, engine)
    known = {(finding.model, finding.case.id): finding for finding in findings}
    specimens = []
    for label in labels:
        if label.clean_missing:
            continue  # no pair, so nothing was judged
        finding = known.get((label.model, label.case_id))
        if finding is None or _lexical(finding.verdict) != _lexical(label):
            raise SeamError(
                f"{run}: the label of {label.model} for case {label.case_id!r} does not follow "
                f"from the answers on file. Score the run again: seam score {run}"
            )
        specimens.append(Specimen(run, label, finding))
    order = {case.id: place for place, case in enumerate(cases)}
    return sorted(specimens, key=lambda s: (order[s.case.id], s.label.model))


def _lexical(found: Verdict | Label | None) -> str | None:
    """The lexical tier that fired, if one did: the part of a label that needs no model to check."""
    tier = found.tier if found else None
    return None if tier == "semantic_nli" else tier


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which specimens to read; None lets every value through."""

    run: str | None = None
    source: str | None = None
    condition: str | None = None
    tier: str | None = None
    comment: str | None = None
    absorbed: bool | None = None


def select(specimens: Iterable[Specimen], choice: Choice) -> list[Specimen]:
    """The specimens that a choice lets through, in their order."""
    wanted = {
        name: value for name, value in msgspec.structs.asdict(choice).items() if value is not None
    }
    return [s for s in specimens if wanted.items() <= facets(s).items()]


def facets(specimen: Specimen) -> dict[str, str | bool]:
    """What a specimen can be chosen by: the fields of `Choice`."""
    return {
        "run": specimen.run,
        "source": specimen.case.source,
        "condition": specimen.case.condition,
        "tier": specimen.tier,
        "comment": specimen.comment,
        "absorbed": specimen.label.absorbed,
    }


def options(specimens: Iterable[Specimen]) -> dict[str, list[str | bool]]:
    """The values of each field of `Choice` that occur, in the project's order."""
    found = [facets(specimen) for specimen in specimens]
    orders = {"source": SOURCES, "condition": CONDITIONS, "tier": TIERS, "absorbed": (True, False)}
    values = {name: {facet[name] for facet in found} for name in Choice.__struct_fields__}
    return {
        name: [v for v in orders.get(name, ()) if v in present]
        + sorted(present.difference(orders.get(name, ())))
        for name, present in values.items()
    }


def compared(specimen: Specimen) -> tuple[list[Mark], list[Mark]]:
    """The clean and the treated response, in marked stretches that give them back when joined."""
    clean, treated = specimen.finding.clean, specimen.finding.treated
    lost, gained = difference(clean.response, treated.response)
    return (
        list(_marks(pieces(clean), lost)),
        list(_marks(pieces(treated, specimen.evidence), gained)),
    )


def _marks(parts: Iterable[Piece], changes: Iterable[Span]) -> Iterator[Mark]:
    """Split pieces where a change begins or ends; `changes` are sorted offsets into their join."""
    waiting = list(changes)[::-1]
    base = 0
    for text, kind, step in parts:
        here, end = base, base + len(text)
        while waiting and waiting[-1][0] < end:
            start, stop = waiting[-1]
            start, stop_here = max(start, here), min(stop, end)
            if here < start:
                yield Mark(text[here - base : start - base], kind, step, False)
            yield Mark(text[start - base : stop_here - base], kind, step, True)
            here = stop_here
            if stop > end:
                break
            waiting.pop()
        if here < end:
            yield Mark(text[here - base :], kind, step, False)
        base = end
