from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from seam_lib.build.invariants import INVARIANTS, broken_clusters, check_cluster
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import CONDITIONS, Case, Delimiters
from tests.helpers.cases import CASES


def changed(condition: str, **fields: Any) -> list[Case]:
    """The good cluster with one case changed."""
    return [
        msgspec.structs.replace(case, **fields) if case.condition == condition else case
        for case in CASES
    ]


def complaints(cases: Sequence[Case]) -> dict[str, str]:
    return {i.__name__: text for i in INVARIANTS if (text := i(cases))}


def test_a_good_cluster_has_no_complaint() -> None:
    assert complaints(CASES) == {}
    check_cluster(CASES, CONDITIONS)


def shifted(case: Case) -> list[Any]:
    first = msgspec.structs.replace(case.segments[0], start=1, end=case.segments[0].end + 1)
    return [first, *case.segments[1:]]


NEWLINE, BOUNDARY = CASES[1], CASES[3]
TAG = BOUNDARY.boundary_delimiters.opening if BOUNDARY.boundary_delimiters else ""
OTHER = Delimiters("<a>", "</a>")
BACKWARDS = NEWLINE.segments[::-1]


@pytest.mark.parametrize(
    ("cases", "invariant", "message"),
    [
        (changed("blank", witness_tokens=["tram was late"]), "witnesses_are_new", "lacks"),
        (changed("blank", afterthought=None), "witnesses_are_new", "lacks"),
        (changed("blank", artifact="The BUS was late."), "witnesses_are_new", "without"),
        (changed("blank", reference="The BUS was late."), "witnesses_are_new", "without"),
        (changed("blank", task_instruction="Bus was late"), "witnesses_are_new", "without"),
        (changed("newline", message=" " + NEWLINE.message), "same_up_to_the_seam", "newline"),
        (changed("newline_R", message="x"), "same_up_to_the_seam", "newline_R"),
        (changed("boundary", message=BOUNDARY.message + TAG), "one_pair_of_tags", "boundary"),
        (changed("boundary", boundary_delimiters=OTHER), "one_pair_of_tags", "boundary"),
        (changed("newline", message=NEWLINE.message + TAG), "one_pair_of_tags", "newline"),
        (changed("newline", segments=shifted(NEWLINE)), "segments_give_their_text", "newline"),
        (changed("newline", segments=BACKWARDS), "segments_give_their_text", "newline"),
        (changed("newline", segments=NEWLINE.segments[:2]), "parts_are_whole", "newline"),
        (changed("newline", segments=NEWLINE.segments[1:]), "parts_are_whole", "newline"),
        (changed("newline", segments=NEWLINE.segments[::2]), "parts_are_whole", "newline"),
        (changed("newline", reference=None), "one_artifact", "differ"),
    ],
)  # fmt: skip
def test_each_invariant_notices(cases: list[Case], invariant: str, message: str) -> None:
    assert message in complaints(cases)[invariant]
    with pytest.raises(SeamError, match=r"^coedit:1: "):
        check_cluster(cases, CONDITIONS)


@pytest.mark.parametrize(
    "cut", [lambda cases: cases[:5], lambda cases: [*cases, cases[0]], lambda cases: cases[::-1]]
)
def test_a_cluster_has_each_condition_once_and_in_order(
    cut: Callable[[list[Case]], list[Case]],
) -> None:
    with pytest.raises(SeamError, match=r"^coedit:1: has the conditions"):
        check_cluster(cut(CASES), CONDITIONS)


def test_the_broken_clusters_are_listed_by_invariant() -> None:
    other = [msgspec.structs.replace(case, composition_event_id="coedit:2") for case in CASES]
    broken = broken_clusters([*changed("newline", reference=None), *other])
    assert broken.pop("one_artifact") == ["coedit:1"]
    assert not any(broken.values())
