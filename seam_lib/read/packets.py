"""Packets of labels for people to read (paper, Appendix D and Section 6).

`positives` holds every semantic positive and a seeded sample of the lexical ones, with the evidence
marked: are they absorptions? `blind` mixes a seeded sample of negatives with a few positives and
shows neither label, model nor condition: what does the detector miss? The key that says what an
item stands for is a file of its own. `verdicts` takes the answers back.
"""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_text
from seam_lib.core.messages import printable
from seam_lib.read.html import marked_html
from seam_lib.read.verdicts import KeyRow, read_csv, to_csv
from seam_lib.read.view import pieces, quoted
from seam_lib.score.scorer import Finding, to_label

#: The blind packet holds one positive for so many negatives, so that "no" is not always right.
NEGATIVES_PER_POSITIVE = 4


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
        write_text(folder / f"{name}.html", page(name, items, open_label))
    key = [_key(item) for item in [*positives, *blind]]
    write_text(folder / "key.csv", to_csv(KeyRow.__struct_fields__, map(msgspec.to_builtins, key)))


def page(name: str, items: Sequence[Entry], open_label: bool) -> str:
    """A self-contained page to read a packet and collect verdicts; every response is escaped.

    Args:
        name: The packet's name.
        items: What to read.
        open_label: Show the label and mark the evidence; otherwise the response stands as it came.
    """
    environment = Environment(
        loader=PackageLoader("seam_lib.read"), autoescape=True, undefined=StrictUndefined
    )
    shown = [
        {
            "name": item.name,
            "comment": item.finding.case.afterthought,
            "artifact": printable(item.finding.case.artifact),
            "label": _tier(item.finding) if open_label else None,
            "treated": _marked(item.finding) if open_label else None,
            "response": printable(item.finding.treated.response),
            "clean": printable(item.finding.clean.response),
        }
        for item in items
    ]
    digest = hashlib.sha256(repr(shown).encode()).hexdigest()[:12]  # answers are kept by packet
    template = environment.get_template("review.html.j2")
    return template.render(packet=name, digest=digest, items=shown) + "\n"


def _marked(finding: Finding) -> str:
    evidence = finding.verdict.evidence if finding.verdict else ()
    return marked_html(pieces(finding.treated, evidence))


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
