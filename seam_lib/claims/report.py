"""The ledger's results: claims.csv for programs, claims.md for readers, one claim in full."""

import difflib
import textwrap
from collections import Counter
from itertools import groupby
from pathlib import Path

import pandas as pd

from seam_lib.claims.ledger import STATUSES, Outcome, read_ledger, recompute
from seam_lib.claims.numbers import NON_CLAIMS, Number, gaps, places, read_numbers
from seam_lib.claims.published import Published
from seam_lib.core.cells import markdown
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_text, write_text

MEANING = {
    "reproduced": "recomputed from the published cases, and equal at the printed precision",
    "differs": "recomputed from the same data, and not equal",
    "consistent": "follows from other printed numbers; no published case can decide it",
    "not_public": "needs data that are not public",
}
RULE = """\
A number agrees if the computed value, rounded to the printed decimals and written in the same form,
is the printed string. `<x` needs a value below x, and `about x` one within one unit of its last
place; names must be the same set. If a statement can be read in more than one way, each reading is
computed: the main one decides the status, and the note says what the others give.
"""
#: How many cluster ids of each kind to show, unless all are wanted.
SHOWN = 12


def recompute_all(root: Path) -> tuple[list[Outcome], list[Number]]:
    """Recompute every claim of paper/claims.yaml.

    Args:
        root: The project's folder.

    Returns:
        The outcomes in the ledger's order, and the paper's numbers with what covers them.

    Raises:
        SeamError: The ledger is malformed, or numbers.csv and the ledger do not fit together.
    """
    claims = read_ledger(root / "paper/claims.yaml")
    numbers = read_numbers(root / "paper/numbers.csv")
    if open_ends := gaps(numbers, claims):
        raise SeamError(f"paper/numbers.csv: {open_ends[0]}; correct it or paper/claims.yaml.")
    data = Published(root)
    return [recompute(claim, data) for claim in claims], numbers


def find_outcome(root: Path, claim_id: str) -> tuple[Outcome, list[Number]]:
    """Recompute one claim.

    Args:
        root: The project's folder.
        claim_id: Its id.

    Returns:
        The outcome, and the paper's numbers.

    Raises:
        SeamError: There is no such claim; names the nearest ids.
    """
    claims = {claim.id: claim for claim in read_ledger(root / "paper/claims.yaml")}
    if claim_id not in claims:
        near = difflib.get_close_matches(claim_id, claims, n=3, cutoff=0.4) or list(claims)[:3]
        raise SeamError(f"no claim {claim_id!r}; near it: {', '.join(near)}. See paper/claims.md.")
    return recompute(claims[claim_id], Published(root)), read_numbers(root / "paper/numbers.csv")


def write_claims(root: Path, lines: list[Outcome], numbers: list[Number]) -> None:
    """Write paper/claims.csv and paper/claims.md."""
    write_text(root / "paper/claims.csv", table(lines))
    write_text(root / "paper/claims.md", page(lines, numbers))


def table(lines: list[Outcome]) -> str:
    """The ledger as CSV: id, section, printed, computed, status, note."""
    rows = [["id", "section", "printed", "computed", "status", "note"]]
    for line in lines:
        cells = "; ".join(line.claim.printed), "; ".join(line.computed)
        rows.append([line.claim.id, line.claim.section, *cells, line.status, line.note])
    return csv_text(rows)


def page(lines: list[Outcome], numbers: list[Number]) -> str:
    """The ledger as Markdown: counts, every line that differs, then all lines by section."""
    counts = Counter(line.status for line in lines)
    kinds = Counter(row.kind for row in numbers if row.kind)
    states = [[f"`{s}`", MEANING[s], counts[s]] for s in STATUSES]
    others = [[kind, NON_CLAIMS[kind], n] for kind, n in sorted(kinds.items())]
    parts = [
        "# The paper's numbers, recomputed\n",
        f"{len(lines)} quantitative statements of the paper, each with the value that follows from "
        "the public data. `seam claims show ID` follows one of them down to its cases.\n",
        markdown(pd.DataFrame(states, columns=["status", "meaning", "claims"])),
        RULE,
        f"The paper's text has {len(numbers)} numbers, in figures or words. "
        f"{len(numbers) - kinds.total()} belong to a claim; the others state nothing about data:\n",
        markdown(pd.DataFrame(others, columns=["kind", "what it is", "numbers"])),
        "## What differs\n",
        *(_difference(line) for line in lines if line.status == "differs"),
        "## The whole ledger\n",
    ]
    for section, group in groupby(lines, key=lambda line: line.claim.section):
        rows = [_row(line) for line in group]
        columns = ["claim", "statement", "printed", "computed", "status", "note"]
        parts += [f"### {_heading(section)}\n", markdown(pd.DataFrame(rows, columns=columns))]
    return "\n".join(parts)


def describe(line: Outcome, numbers: list[Number], every_case: bool) -> str:
    """One claim in full: printed and computed values, the calculation, its rows and its cases.

    Args:
        line: The recomputed claim.
        numbers: The paper's numbers.
        every_case: List every cluster id, not only the first of each kind.
    """
    claim = line.claim
    where = ", ".join(places(numbers, claim.id)) or "none, it is stated in words"
    call = f"{claim.compute}({', '.join(f'{k}={v}' for k, v in claim.args.items())})"
    facts = {
        "statement": claim.statement,
        "section": f"{claim.section}; numbers it covers: {where}",
        "printed": "; ".join(claim.printed),
        "computed": "; ".join(line.computed) or "-",
        "status": f"{line.status} ({MEANING[line.status]})",
        "function": f"seam_lib.claims.{call}" if claim.compute else "-",
        "note": line.note,
    }
    parts = [claim.id, *(_wrapped(label, text) for label, text in facts.items())]
    if line.found:
        rows = line.found.rows.to_string(index=False, float_format=lambda x: f"{x:.4g}")
        parts += ["", "rows it rests on", textwrap.indent(rows, "  ")]
    for label, ids in (line.found.cases if line.found else {}).items():
        shown = ids if every_case else ids[:SHOWN]
        more = f", and {len(ids) - len(shown)} more (--all)" if len(ids) > len(shown) else ""
        parts += ["", f"{label} ({len(ids)})", _wrapped("", ", ".join(shown) + more)]
    return "\n".join(parts)


def _difference(line: Outcome) -> str:
    return f"**`{line.claim.id}`** {line.claim.statement}\n\n> {line.note}.\n"


def _row(line: Outcome) -> list[str]:
    claim = line.claim
    printed, computed = "; ".join(claim.printed), "; ".join(line.computed)
    return [f"`{claim.id}`", claim.statement, printed, computed, line.status, line.note]


def _heading(section: str) -> str:
    if section[0].isdigit():
        return f"Section {section}"
    return f"Appendix {section}" if len(section) == 1 else section


def _wrapped(label: str, text: str) -> str:
    first, rest = f"  {label:<11}" if label else "  ", " " * (13 if label else 2)
    return textwrap.fill(
        text,
        width=100,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
