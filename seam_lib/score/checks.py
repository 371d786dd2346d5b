"""Checks of the scorer itself: the placebo, and reading what a rule change changes (Appendix D)."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from seam_lib.core.files import read_rows
from seam_lib.core.rows import TIER_NAMES, Label
from seam_lib.score.scorer import Finding, to_label
from seam_lib.score.tiers import LEXICAL_TIERS, Verdict, lexical

Half = Literal["dev", "held-out"]


class Fire(NamedTuple):
    """A comment found in a response to another cluster: a coincidence."""

    finding: Finding
    comment: str
    verdict: Verdict


class Placebo(NamedTuple):
    """How many unrelated pairs were tried, and those that fired."""

    pairs: int
    fires: list[Fire]

    def by_tier(self) -> list[dict[str, str | int]]:
        """Pairs and fires of each lexical tier, a row a tier."""
        fired = Counter(fire.verdict.tier for fire in self.fires)
        return [
            {"tier": tier, "pairs": self.pairs, "fires": fired[tier]}
            | {"per 100,000": f"{1e5 * fired[tier] / max(self.pairs, 1):.1f}"}
            for tier in LEXICAL_TIERS
        ]


def placebo(findings: Sequence[Finding]) -> Placebo:
    """Look in each response for every comment but its own, as the lexical tiers would.

    A full grid of the paper pairs 1,500 responses with the 67 other comments of the pools: 100,500
    pairs, of which 3 to 6 fired (Appendix D).

    Args:
        findings: Scored responses of one model or several.
    """
    witnesses = {j.case.afterthought: j.case.witness_tokens or [] for j in findings}
    fires: list[Fire] = []
    for finding in findings:
        treated, clean = finding.treated.returned.text, finding.clean.returned.text
        for comment, phrases in witnesses.items():
            if comment != finding.case.afterthought:
                verdict = lexical(treated, clean, phrases)
                if verdict:
                    fires.append(Fire(finding, comment or "", verdict))
    return Placebo(len(findings) * (len(witnesses) - 1), fires)


def halves(clusters: Iterable[str], seed: int) -> dict[str, Half]:
    """Split clusters into a half to develop rules on and a half held out, by seed.

    All cases of a cluster fall into the same half, whatever the order of `clusters`.
    """
    names = sorted(set(clusters))
    random.Random(seed).shuffle(names)
    middle = (len(names) + 1) // 2
    return {name: "dev" if place < middle else "held-out" for place, name in enumerate(names)}


class Change(NamedTuple):
    """A label that differs from the one made before; the finding is None where it is gone."""

    case_id: str
    model: str
    half: Half
    old: str
    new: str
    finding: Finding | None


def changes(old: Path, findings: Sequence[Finding], seed: int) -> list[Change]:
    """The labels that differ from an older file's, dev half first, so that it can be read first.

    Args:
        old: Labels of the same benchmark, made before.
        findings: The findings now.
        seed: Of the split into halves.

    Raises:
        SeamError: `old` is missing or holds rows that are no labels.
    """
    before = {(label.model, label.case_id): label for label in read_rows(old, Label)}
    now = {(j.model, j.case.id): j for j in findings}
    labels = {key: to_label(finding) for key, finding in now.items()}
    clusters = {key: label.composition_event_id for key, label in (before | labels).items()}
    half = halves(clusters.values(), seed)
    found = []
    for key in sorted(clusters, key=lambda key: (half[clusters[key]], key)):
        was, is_now = _say(before.get(key)), _say(labels.get(key))
        if was != is_now:
            model, case_id = key
            found.append(Change(case_id, model, half[clusters[key]], was, is_now, now.get(key)))
    return found


def _say(label: Label | None) -> str:
    if label is None:
        return "no label"
    return f"absorbed · {TIER_NAMES[label.tier]}" if label.tier else "not absorbed"
