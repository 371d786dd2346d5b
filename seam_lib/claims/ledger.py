"""The ledger: every quantitative statement of the paper, recomputed and given a status.

`paper/claims.yaml` holds what the paper says and which function recomputes it. It holds no
computed value and no reason for a difference: notes are written from what the functions return.
"""

import inspect
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import yaml

from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed, Value, agrees, as_printed, printed_number
from seam_lib.core.errors import SeamError

Status = Literal["reproduced", "differs", "consistent", "not_public"]
STATUSES: tuple[Status, ...] = get_args(Status)
#: Modules of recompute functions; `compute: rates.cells` names a function of one of them.
TOPICS = (
    *("benchmark", "occurrence", "rates", "contrasts", "native"),
    *("breakdown", "panel", "power", "release", "totals"),
)


class Otherwise(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Another way to read the statement, tried beside the main one and named in the note."""

    reading: str
    compute: str
    args: dict[str, Any] = {}


class Claim(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One entry of claims.yaml.

    Attributes:
        id: Section and subject, such as 5.2.blank-bound.
        section: The section, as the paper numbers it.
        statement: What the paper says, in our own words.
        printed: The printed cells, with their printed precision.
        in_words: The paper says it without a figure ("no model"); `printed` is what that means.
        compute: The function that recomputes it, as MODULE.FUNCTION of `seam_lib.claims`.
        args: Its arguments.
        cells: Which of the function's values are printed, in the order of `printed`; all if empty.
        basis: `cases` if rows of data decide it; `totals` if only other printed numbers do.
        readings: Other ways to read the statement.
        needs: Why it cannot be recomputed, and what that would take; instead of `compute`.
    """

    id: str
    section: str
    statement: str
    printed: list[str]
    in_words: bool = False
    compute: str | None = None
    args: dict[str, Any] = {}
    cells: list[str] = []
    basis: Literal["cases", "totals"] = "cases"
    readings: list[Otherwise] = []
    needs: str | None = None


@dataclass(frozen=True)
class Outcome:
    """A claim and its result.

    Attributes:
        claim: The entry.
        status: One of `STATUSES`.
        computed: The computed cells, in the form of the printed ones.
        note: The calculation, any differences and other readings; or what would be needed.
        found: What the function returned; None for `not_public`.
    """

    claim: Claim
    status: Status
    computed: list[str]
    note: str
    found: Recomputed | None


def read_ledger(path: Path) -> list[Claim]:
    """Read claims.yaml and check everything that needs no computation.

    Args:
        path: The file.

    Raises:
        SeamError: The file is missing or malformed, an id occurs twice, or an entry has both or
            neither of `compute` and `needs`.
    """
    try:
        text = path.read_text(encoding="utf-8")
        claims = msgspec.convert(yaml.load(text, Loader=yaml.CSafeLoader), list[Claim])
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise SeamError(
            f"{path}: not a ledger: {error}. Compare with the committed file; numbers need quotes."
        ) from None
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise SeamError(f"{path}: the id {claim.id} occurs twice; rename one entry.")
        seen.add(claim.id)
        if (claim.compute is None) == (claim.needs is None):
            raise SeamError(f"{path}: {claim.id}: give either `compute` or `needs`.")
    return claims


def recompute(claim: Claim, data: Published) -> Outcome:
    """Recompute one claim and compare it with what is printed.

    Args:
        claim: The entry.
        data: The published facts.

    Raises:
        SeamError: The entry names a function, argument or cell that does not exist.
    """
    if claim.compute is None:
        return Outcome(claim, "not_public", [], claim.needs or "", None)
    found = _call(claim, claim.compute, claim.args, data)
    values = _cells(claim, found)
    pairs = list(zip(claim.printed, values.values(), strict=True))
    hits = [agrees(printed, value) for printed, value in pairs]
    status: Status = "differs"
    if all(hits):
        status = "reproduced" if claim.basis == "cases" else "consistent"
    computed = [as_printed(printed, value) for printed, value in pairs]
    return Outcome(claim, status, computed, _note(claim, found, values, hits, data), found)


def _note(
    claim: Claim, found: Recomputed, values: dict[str, Value], hits: list[bool], data: Published
) -> str:
    """The calculation; what differs, and by how much; what the other readings give."""
    cells = zip(values.items(), claim.printed, hits, strict=True)
    differences = [_difference(*item, printed) for item, printed, hit in cells if not hit]
    readings = []
    for other in claim.readings:
        theirs = _cells(claim, _call(claim, other.compute, other.args, data))
        readings.append(_tried(claim, other.reading, theirs, hits))
    note = found.how
    if differences:
        note += f". {'; '.join(differences)}"
    if readings:
        note += f". Read otherwise: {'; '.join(readings)}"
    return note


def _call(claim: Claim, name: str, args: dict[str, Any], data: Published) -> Recomputed:
    module, _, function = name.partition(".")
    topic = import_module(f"seam_lib.claims.{module}") if module in TOPICS else None
    named = getattr(topic, function, None)
    if not inspect.isfunction(named) or function.startswith("_"):
        raise SeamError(
            f"paper/claims.yaml: {claim.id}: no function {name}; name one of seam_lib.claims, such "
            "as rates.cells."
        )
    try:
        inspect.signature(named).bind(data, **args)
    except TypeError as error:
        raise SeamError(f"paper/claims.yaml: {claim.id}: {name}: {error}.") from None
    found: Recomputed = named(data, **args)
    return found


def _cells(claim: Claim, found: Recomputed) -> dict[str, Value]:
    """The values that the claim prints."""
    labels = claim.cells or list(found.values)
    missing = [label for label in labels if label not in found.values]
    if missing or len(labels) != len(claim.printed):
        raise SeamError(
            f"paper/claims.yaml: {claim.id}: {len(claim.printed)} printed cells for the values "
            f"{', '.join(labels)}; choose `cells` among: {', '.join(found.values)}."
        )
    return {label: found.values[label] for label in labels}


def _difference(label: str, value: Value, printed: str) -> str:
    gap = f", {abs(value - printed_number(printed)):.2g} apart" if isinstance(value, float) else ""
    return f"{label}: printed {printed}, computed {_plain(value)}{gap}"


def _tried(claim: Claim, reading: str, values: dict[str, Value], hits: list[bool]) -> str:
    """What another reading gives: in the cells where the main one fails, or in all if none does."""
    pairs = list(zip(claim.printed, values.values(), strict=True))
    met = [agrees(*pair) for pair in pairs]
    here = [i for i, hit in enumerate(hits) if not hit] or list(range(len(hits)))
    shown = [as_printed(*pairs[i]) if met[i] else _plain(pairs[i][1]) for i in here]
    verdict = "as printed" if all(met[i] for i in here) else "not as printed"
    if len(met) > 1 and not all(met):
        verdict += f"; {sum(met)} of {len(met)} cells in all"
    return f"{reading}: {', '.join(shown)} ({verdict})"


def _plain(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
