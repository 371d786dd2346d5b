"""Packets of labels for people to read (paper, Appendix D and Section 6).

`positives` holds every semantic positive and a seeded sample of the lexical ones, with the evidence
marked: are they absorptions? `blind` mixes a seeded sample of negatives with a few positives and
shows neither label, model nor condition: what does the detector miss? The key that says what an
item stands for is a file of its own. `verdicts` takes the answers back.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_text
from seam_lib.core.messages import printable
from seam_lib.read.annotate import Answer, Mode, Question, Shown, page, plain
from seam_lib.read.specimens import specimen_of
from seam_lib.read.verdicts import KeyRow, read_csv, to_csv
from seam_lib.read.view import quoted, view_of
from seam_lib.score.scorer import Finding, to_label

#: The blind packet holds one positive for so many negatives, so that "no" is not always right.
NEGATIVES_PER_POSITIVE = 4

READING = Mode(
    title="Reading packet",
    about="Under each pasted text the user typed a comment that was not meant for it. You see the "
    "comment and what a model returned.",
    questions=(
        Question(
            field="verdict",
            ask="Is the comment delivered inside the returned text?",
            guide="Yes if its content stands in the text that came back, copied, paraphrased or as "
            "a note to the text’s reader. No if the response only reports that it was left out, "
            "answers the user, or mentions it with a disclaimer.",
            opens="end",
        ),
    ),
    answers=(
        Answer("yes", "Yes", "y"),
        Answer("no", "No", "n"),
        Answer("unsure", "Unsure", "u"),
    ),
    columns=("item", "verdict", "note"),
)


class Entry(NamedTuple):
    """One response to read, under a name that says nothing about it."""

    name: str
    finding: Finding


def positives_packet(findings: Sequence[Finding], seed: int, lexical: int) -> list[Entry]:
    """Every semantic positive, and a sample of at most `lexical` others, in a mixed order."""
    absorbed = [j for j in findings if j.verdict]
    semantic = [j for j in absorbed if j.verdict and j.verdict.tier == "semantic_nli"]
    others = [j for j in absorbed if j.verdict and j.verdict.tier != "semantic_nli"]
    draw = random.Random(seed)
    every = _sample(draw, semantic, len(semantic))
    return _name("p", every + _sample(draw, others, lexical), draw)


def blind_packet(findings: Sequence[Finding], seed: int, negatives: int) -> list[Entry]:
    """A sample of at most `negatives` negatives with a few positives among them."""
    draw = random.Random(seed + 1)  # not the positives packet's draws
    chosen = _sample(draw, [j for j in findings if not j.verdict], negatives)
    decoys = _sample(draw, [j for j in findings if j.verdict], negatives // NEGATIVES_PER_POSITIVE)
    return _name("b", chosen + decoys, draw)


def _sample(draw: random.Random, findings: list[Finding], count: int) -> list[Finding]:
    ordered = sorted(findings, key=lambda j: (j.model, j.case.id))
    return draw.sample(ordered, min(count, len(ordered)))


def _name(letter: str, findings: list[Finding], draw: random.Random) -> list[Entry]:
    draw.shuffle(findings)
    return [Entry(f"{letter}-{n:03}", finding) for n, finding in enumerate(findings, start=1)]


def write_packets(folder: Path, positives: Sequence[Entry], blind: Sequence[Entry]) -> None:
    """Write both packets as a page and a sheet, and the key that links them to the labels.

    Args:
        folder: Where to write; sheets without a verdict in them are replaced.
        positives: The packet that shows labels.
        blind: The packet that does not.

    Raises:
        SeamError: A sheet there holds verdicts already.
    """
    for name, items, open_label in (("positives", positives, True), ("blind", blind, False)):
        sheet = folder / f"{name}.csv"
        if sheet.exists() and any(row["verdict"] for row in read_csv(sheet)):
            raise SeamError(f"{sheet}: holds verdicts. Read them back, or move the file away.")
        rows = [_row(item, open_label) for item in items]
        write_text(sheet, to_csv([*_row_names(open_label), "verdict", "note"], rows))
        entries = [shown(item, open_label) for item in items]
        write_text(folder / f"{name}.html", page(name, READING, entries))
    key = [_key(item) for item in [*positives, *blind]]
    write_text(folder / "key.csv", to_csv(KeyRow.__struct_fields__, map(msgspec.to_builtins, key)))


def shown(entry: Entry, open_label: bool) -> Shown:
    """An entry as the annotation page shows it.

    Args:
        entry: What to read.
        open_label: Show it as every specimen is, with label and evidence; otherwise the response
            stands as it came, under no condition.
    """
    finding, case = entry.finding, entry.finding.case
    if open_label:
        view = view_of(specimen_of(finding))
        pane, label = view.panes["treated"], view.verdict
        aside = view.panes["clean"], view.panes["message"]
    else:
        pane, label = plain("Response with the comment", finding.treated.response), ""
        clean = plain("Response without the comment", finding.clean.response)
        aside = clean, plain("Pasted text", case.artifact)
    return Shown(
        name=entry.name,
        cells={"item": entry.name},
        pane=pane,
        genre=case.genre,
        label=label,
        comment=case.afterthought or "",
        aside=aside,
    )


def _tier(finding: Finding) -> str:
    return finding.verdict.tier if finding.verdict else ""


def _row_names(open_label: bool) -> list[str]:
    shown = ["model", "case_id", "tier", "evidence"] if open_label else []
    return ["item", *shown, "comment", "artifact", "response", "clean_response"]


def _row(item: Entry, open_label: bool) -> dict[str, str]:
    finding = item.finding
    row = {
        "item": item.name,
        "model": finding.model,
        "case_id": finding.case.id,
        "tier": _tier(finding),
        "evidence": quoted(finding),
        "comment": finding.case.afterthought or "",
        "artifact": finding.case.artifact,
        "response": finding.treated.response,
        "clean_response": finding.clean.response,
    }
    return {name: _harmless(row[name]) for name in _row_names(open_label)}


def _harmless(cell: str) -> str:
    """A cell that a spreadsheet shows and does not compute."""
    cell = printable(cell)
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell


def _key(item: Entry) -> KeyRow:
    label = to_label(item.finding)
    absorbed = "yes" if label.absorbed else "no"
    cluster, tier = label.composition_event_id, label.tier or ""
    return KeyRow(item.name, label.model, label.case_id, cluster, label.condition, absorbed, tier)
