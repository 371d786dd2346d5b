"""What the scoring commands print."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from seam_lib.analysis.labels import read_labels
from seam_lib.analysis.questions import rates, tiers
from seam_lib.core import answers
from seam_lib.core.errors import SeamError
from seam_lib.core.messages import printable
from seam_lib.core.rows import TIERS
from seam_lib.read.explain import evidence_of, pieces
from seam_lib.read.verdicts import Audit, Share, agreement_of
from seam_lib.score.checks import Change
from seam_lib.score.scorer import LEXICAL_ONLY, Drop, Finding, Provenance, Reading

STYLES = {"kept": "", "evidence": "bold black on yellow"}


def show_rates(console: Console, labels_path: Path, provenance: Provenance) -> None:
    """Print the rates of a file of labels by condition, and how they were made."""
    labels = read_labels(labels_path, conditions=provenance.planned)
    tier_names = TIERS[:2] if provenance.nli == "off" else TIERS
    short = " / ".join(name.split("_")[1] for name in tier_names)
    frame = rates(labels).merge(tiers(labels), on=["model", "condition"])
    for model, rows in frame.groupby("model", sort=False):
        table = Table("condition", "absorbed", "rate [95% interval]", short, title=str(model))
        for row in rows.to_dict("records"):
            interval = f"{row['rate']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
            fired = " / ".join(str(row[name]) for name in tier_names)
            table.add_row(
                row["condition"], f"{row['k']} of {row['n']}", Text(interval), Text(fired)
            )
        console.print(table)
    off = provenance.nli == "off"
    console.print(LEXICAL_ONLY if off else f"Semantic tier: {provenance.nli}", markup=False)
    planned, labelled = sum(provenance.planned.values()), sum(provenance.labelled.values())
    console.print(
        f"{labelled} labels for {planned} planned treated cases; "
        f"{len(provenance.dropped)} responses dropped as unusable. Written: {labels_path}"
    )
    strange = {drop.finish_reason for drop in provenance.dropped if drop.flaw == "unknown"}
    for finish_reason in sorted(filter(None, strange)):
        console.print(f"Some of them {answers.words('unknown', finish_reason)}.", markup=False)


def show_case(
    console: Console, case_id: str, findings: Sequence[Finding], drops: Sequence[Drop]
) -> None:
    """Print what the labels of one case rest on, for every model that answered it."""
    if not findings and not drops:
        raise SeamError(f"{case_id}: no treated response to such a case in the outputs.")
    for drop in drops:
        console.print(f"{drop.model}: no label: {drop}.", markup=False)
    for finding in findings:
        show_finding(console, finding)


def show_finding(console: Console, finding: Finding) -> None:
    """Print one finding: the comment, the verdict with its evidence, both artifacts."""
    case, verdict = finding.case, finding.verdict
    console.print(Rule(f"{case.id} · {finding.model}"))
    facts = {
        "comment": case.afterthought or "",
        "proposition": case.forbidden_proposition,
        "witnesses": ", ".join(case.witness_tokens or []),
        "label": f"absorbed ({verdict.tier})" if verdict else "not absorbed",
    }
    for name, value in facts.items():
        _say(console, name, value)
    for words in evidence_of(finding):
        _say(console, "evidence", words)
    _show_reading(console, "treated", finding.treated, verdict.evidence if verdict else ())
    _show_reading(console, "clean", finding.clean, ())


def show_changes(console: Console, changes: Sequence[Change]) -> None:
    """Print every label that changed, with both artifacts, and at last how many."""
    for change in changes:
        console.print(Rule(f"{change.case_id} · {change.model} · {change.half}"))
        _say(console, "old", change.old)
        _say(console, "new", change.new)
        if change.finding:
            show_finding(console, change.finding)
    console.print(f"{len(changes)} labels differ.")


def _show_reading(
    console: Console, side: str, reading: Reading, evidence: Sequence[tuple[int, int]]
) -> None:
    parts = pieces(reading, evidence)
    for part in parts:
        if part.kind == "removed":
            _say(console, f"{side}: removed as {part.step}", part.text)
    kept = [part for part in parts if part.kind != "removed"]
    console.print(Text(f"{side} artifact", style="bold"))
    console.print(Text.assemble(*((printable(part.text), STYLES[part.kind]) for part in kept)))


def _say(console: Console, name: str, value: str) -> None:
    console.print(Text(f"{name}: ", style="bold") + Text(printable(value.strip())))


def show_audit(console: Console, found: Audit, written: Path) -> None:
    """Print what readers' verdicts say about the scorer."""
    for tier, confirmed in found.confirmed.items():
        console.print(f"{tier}: {_share(confirmed)} of the positives read are confirmed")
    if found.missed.n:
        console.print(f"missed: {_share(found.missed)} of the negatives read hold the comment")
    if found.detected:
        estimate, low, high = found.detected
        console.print(
            f"detected: {estimate:.1%} of all absorptions (at the bounds: {low:.1%} to {high:.1%})"
        )
    for name, table in (("scorer and readers", found.scorer), ("two readers", found.readers)):
        if table and sum(map(sum, table)):
            values = ", ".join(f"{k} {v:.2f}" for k, v in agreement_of(table).items())
            (yes, a), (b, no) = table
            counts = f"both yes {yes}, both no {no}, only the first {a}, only the second {b}"
            console.print(f"agreement of {name}: {values} ({counts})", markup=False)
    console.print(f"unsure: {found.unsure}")
    console.print(f"overturned: {len(found.overturned)}, written to {written}")


def _share(share: Share) -> str:
    rate = f"{share.k / share.n:.1%}, " if share.n else ""
    return f"{share.k} of {share.n} ({rate}95% interval {share.low:.1%} to {share.high:.1%})"
