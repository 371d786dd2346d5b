"""What the scoring commands print."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from seam_lib.analysis.agreement import agreement, printed
from seam_lib.analysis.labels import read_labels
from seam_lib.analysis.questions import rates, tiers
from seam_lib.core import answers
from seam_lib.core.cells import markdown
from seam_lib.core.errors import SeamError
from seam_lib.core.messages import printable
from seam_lib.core.params import AnalysisParams
from seam_lib.core.rows import TIER_NAMES, TIERS, condition_name
from seam_lib.read.specimens import specimen_of
from seam_lib.read.verdicts import Audit, Share
from seam_lib.read.view import Piece, View, view_of
from seam_lib.score.checks import Change
from seam_lib.score.scorer import LEXICAL_ONLY, Drop, Finding, Provenance

#: How a terminal shows what a piece is marked as; a role of a plugin's own is shown as a task is.
STYLES = {
    "": "red",
    "artifact": "",
    "afterthought": "bold yellow",
    "kept": "",
    "evidence": "bold black on yellow",
    "removed": "dim strike",
}
TASK = "cyan"


def show_rates(console: Console, labels_path: Path, provenance: Provenance) -> None:
    """Print the rates of a file of labels by condition, and how they were made."""
    labels = read_labels(labels_path, conditions=provenance.planned)
    tier_names = TIERS[:2] if provenance.nli == "off" else TIERS
    short = " / ".join(TIER_NAMES[name] for name in tier_names)
    frame = rates(labels).merge(tiers(labels), on=["model", "condition"])
    for model, rows in frame.groupby("model", sort=False):
        table = Table("condition", "absorbed", "rate [95% interval]", short, title=str(model))
        for row in rows.to_dict("records"):
            interval = f"{row['rate']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
            fired = " / ".join(str(row[name]) for name in tier_names)
            counts = f"{row['k']} of {row['n']}"
            table.add_row(condition_name(row["condition"]), counts, Text(interval), Text(fired))
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
    """Print the evidence behind one case's label, for every model that answered it."""
    if not findings and not drops:
        raise SeamError(f"{case_id}: no treated response to such a case in the outputs.")
    for drop in drops:
        console.print(f"{drop.model}: no label: {drop}.", markup=False)
    for finding in findings:
        show_specimen(console, view_of(specimen_of(finding)))


def show_specimen(console: Console, view: View) -> None:
    """Print a specimen: the verdict, what it rests on, the message and both responses."""
    console.print(Rule(Text(view.title)))
    for name, value in {"label": view.verdict, **view.facts}.items():
        _say(console, name, value)
    for pane in view.panes.values():
        console.print()
        console.print(Text("  ").join([Text(pane.title, style="bold"), *map(_piece, pane.legend)]))
        console.print(_marked(pane.pieces))


def _marked(pieces: Sequence[Piece]) -> Text:
    """Pieces in their styles; what was removed says so in words as well, for a file or a pipe."""
    text = Text()
    for step, run in groupby(pieces, key=attrgetter("step")):
        parts = Text.assemble(*map(_piece, run))
        text += Text.assemble(f"[removed: {step}: ", parts, "]") if step else parts
    return text


def _piece(piece: Piece) -> Text:
    style = STYLES.get(piece.mark, TASK)
    text = piece.text if piece.mark else piece.text.replace("\n", "↵\n")
    return Text(text, style=f"{style} underline" if piece.changed else style)


def show_changes(console: Console, changes: Sequence[Change]) -> None:
    """Print every label that changed, with both returned texts, and then how many did."""
    for change in changes:
        console.print(Rule(Text(printable(f"{change.case_id} · {change.model} · {change.half}"))))
        _say(console, "old", change.old)
        _say(console, "new", change.new)
        if change.finding:
            show_specimen(console, view_of(specimen_of(change.finding)))
    console.print(f"{len(changes)} labels differ.")


def _say(console: Console, name: str, value: str) -> None:
    console.print(Text.assemble((f"{name}: ", "bold"), printable(value.strip())))


def show_audit(console: Console, found: Audit, settings: AnalysisParams, written: Path) -> None:
    """Print what readers' verdicts say about the scorer; `settings` seed the intervals."""
    for tier, confirmed in found.confirmed.items():
        console.print(
            f"{TIER_NAMES[tier]}: {_share(confirmed)} of the positives read are confirmed"
        )
    if found.missed.n:
        console.print(f"missed: {_share(found.missed)} of the negatives read hold the comment")
    if found.detected:
        estimate, low, high = found.detected
        console.print(
            f"detected: {estimate:.1%} of all absorptions (at the bounds: {low:.1%} to {high:.1%})"
        )
    agreed = agreement(found.agreement, settings.bootstrap_draws, settings.bootstrap_seed)
    if len(agreed):
        console.print(markdown(printed(agreed)), markup=False)
    console.print(f"unsure: {found.unsure}")
    console.print(f"overturned: {len(found.overturned)}, written to {written}")


def _share(share: Share) -> str:
    rate = f"{share.k / share.n:.1%}, " if share.n else ""
    return f"{share.k} of {share.n} ({rate}95% interval {share.low:.1%} to {share.high:.1%})"
