"""Specimens: a label with all that it rests on, joined for reading and chosen by filters. Pure.

A specimen is one treated case with its message, the clean and the treated response, what the scorer
took out of each, the evidence, and the label on file. `view` makes it fit to be shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.rows import (
    CONDITIONS,
    SOURCE_NAMES,
    TIER_NAMES,
    Case,
    Label,
    Output,
    condition_name,
)
from seam_lib.score.returned import Span
from seam_lib.score.scorer import Finding, score, to_label
from seam_lib.score.tiers import Entailment, Verdict

#: How readers meet the values of a facet, in the project's order.
NAMES: dict[str, Mapping[Any, str]] = {
    "source": SOURCE_NAMES,
    "condition": {name: condition_name(name) for name in CONDITIONS},
    "tier": TIER_NAMES,
    "absorbed": {True: "yes", False: "no"},
}


class Specimen(NamedTuple):
    """A label and what it rests on.

    Attributes:
        run: The run's name.
        label: The label on file. It decides; the finding only explains it.
        finding: Case, both responses with their returned texts, the evidence as far as known.
    """

    run: str
    label: Label
    finding: Finding

    @property
    def key(self) -> tuple[str, str, str]:
        """Run, model and case: no other specimen has them."""
        return self.run, self.label.model, self.label.case_id

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
        """Stretches of what came back; none if the semantic tier fired and was not run."""
        verdict = self.finding.verdict
        return verdict.evidence if verdict and verdict.tier == self.label.tier else ()


def specimen_of(finding: Finding) -> Specimen:
    """A finding that no file of labels holds yet, as a specimen of a run without a name."""
    return Specimen("", to_label(finding), finding)


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


def options(specimens: Iterable[Specimen]) -> dict[str, dict[str | bool, str]]:
    """The values of each field of `Choice` that occur, in the project's order, with their names."""
    found = [facets(specimen) for specimen in specimens]
    return {
        name: _named(NAMES.get(name, {}), {facet[name] for facet in found})
        for name in Choice.__struct_fields__
    }


def _named(names: Mapping[Any, str], found: set[str | bool]) -> dict[str | bool, str]:
    """Values with their names; one of one's own stands behind the known ones under its own name."""
    values = [*(value for value in names if value in found), *sorted(found - names.keys())]
    return {value: names.get(value, str(value)) for value in values}
