"""Is any number of the paper left out? A list of them all, each with the claim that covers it.

`paper/numbers.csv` lists every number of the paper's text in order, without the text: its section,
its place there, and either the claim that states it or why it states nothing. With a copy of the
paper, `tokens` checks the list.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from seam_lib.claims.ledger import Claim
from seam_lib.claims.recomputed import is_number
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_rows

#: Numbers that state nothing about data, by kind.
NON_CLAIMS = {
    "name": "part of a name or version: a model, a corpus, a statistic, a program",
    "prompt": "inside a prompt or a comment that Appendix C quotes",
    "reference": "a section, table, figure or list item that the text points to",
    "wording": "one or two as plain words: one user turn, two consequences",
    "year": "the year of a cited work",
}
UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS = {word: n for n, word in enumerate([*UNITS, *TEENS, "eighteen", "nineteen"], 1)}
WORDS |= {ten: 10 * n for n, ten in enumerate(TENS, 2)}
WORDS |= {f"{ten}-{unit}": WORDS[ten] + WORDS[unit] for ten in TENS for unit in UNITS}
WORDS |= {"twice": 2, "hundred": 100}
#: A number in figures or as a word. Powers of ten come as 8.3e-25 or in the paper's LaTeX.
NUMBER = re.compile(
    r"\d+(?:\.\d+)?(?:\\times 10\^\{-?\d+\}|\\mathrm\{e\}\{-?\d+\}|e-\d+)"
    r"|\d+(?:\.\d+){2,}(?:\.post\d+)?"
    r"|\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?|\.\d+"
    rf"|(?<!\w)(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
HEADING = re.compile(
    r"(\d(?:\.\d)?) [A-Z]|Appendix ([A-Z]) "
    r"|(Abstract|Limitations|Ethics Statement|Reproducibility Statement"
    r"|The Use of Large Language Models)$"
)


class Number(NamedTuple):
    """One number of the paper's text.

    Attributes:
        section: The section it is in.
        occurrence: Its place among that section's numbers, from 1.
        number: The number as written.
        claim: The id of the claim that covers it; empty for a non-claim.
        kind: One of `NON_CLAIMS`; empty for a claim.
    """

    section: str
    occurrence: int
    number: str
    claim: str = ""
    kind: str = ""


def tokens(text: str) -> Iterator[Number]:
    """Every number of a text, in figures or words, section by section.

    Args:
        text: The paper's text, each heading on its own line.

    Yields:
        The numbers in order, without claim and kind.
    """
    section, seen = "", 0
    for line in text.splitlines():
        if heading := HEADING.match(line):
            section, seen = next(filter(None, heading.groups())), 0
        for match in NUMBER.finditer(line):
            seen += 1
            yield Number(section, seen, match.group())


def values(text: str) -> set[str]:
    """The numbers of a text in one spelling: words as figures, 1,800 as it is, powers as e-8."""
    found = set()
    for match in NUMBER.finditer(text):
        number = WORDS.get(match.group().lower(), match.group())
        spelled = re.sub(r"\\times 10\^\{(-?\d+)\}|\\mathrm\{e\}\{(-?\d+)\}", r"e\1\2", str(number))
        found.add(spelled)
    return found


def read_numbers(path: Path) -> list[Number]:
    """Read numbers.csv.

    Raises:
        SeamError: The file is missing, its columns are wrong, or a place is not a number.
    """
    rows = []
    for place, row in csv_rows(path, Number._fields):
        if not row["occurrence"].isdecimal():
            raise SeamError(f"{place}: occurrence {row['occurrence']!r} is not a whole number.")
        section, occurrence, *rest = row.values()
        rows.append(Number(section, int(occurrence), *rest))
    return rows


def gaps(numbers: Iterable[Number], claims: Iterable[Claim]) -> list[str]:
    """Where numbers.csv and the ledger do not fit together.

    Each number needs a claim that states it, in its printed cells or its statement, or a kind that
    states nothing. A claim names the section of its first number and covers every figure that it
    prints.

    Args:
        numbers: The rows of numbers.csv.
        claims: The ledger.

    Returns:
        One sentence per gap.
    """
    ledger = {claim.id: claim for claim in claims}
    rows = list(numbers)
    found = [gap for row in rows if (gap := _row_gap(row, ledger))]
    for claim in ledger.values():
        mine = [row for row in rows if row.claim == claim.id]
        if mine and mine[0].section != claim.section:
            found.append(f"{claim.id}: its first number is in section {mine[0].section}")
        covered = {number for row in mine for number in values(row.number)}
        printed = [cell for cell in claim.printed if is_number(cell)]
        missing = {number for cell in printed for number in values(cell)} - covered
        if missing and not claim.in_words:
            found.append(f"{claim.id}: prints {', '.join(sorted(missing))}, which nothing covers")
    return found


def _row_gap(row: Number, ledger: dict[str, Claim]) -> str | None:
    place = f"section {row.section}, number {row.occurrence} ({row.number})"
    if bool(row.claim) == bool(row.kind) or (row.kind and row.kind not in NON_CLAIMS):
        return f"{place}: give a claim or one of the kinds {', '.join(NON_CLAIMS)}"
    if not row.claim:
        return None
    if row.claim not in ledger:
        return f"{place}: there is no claim {row.claim}"
    claim = ledger[row.claim]
    if not values(row.number) <= values(" ".join([*claim.printed, claim.statement])):
        return f"{place}: the claim {row.claim} does not state it"
    return None


def places(numbers: Iterable[Number], claim_id: str) -> list[str]:
    """Where a claim's numbers are, as `section (times)`."""
    counted = Counter(row.section for row in numbers if row.claim == claim_id)
    return [f"{section} ({times})" for section, times in counted.items()]
