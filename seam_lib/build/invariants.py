"""What must hold in every cluster (paper, Appendix B), each as one small function.

Each takes a cluster's cases and returns what is wrong, or None. A build stops at the first
complaint. They hold for conditions that a plugin adds, too.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from seam_lib.core.errors import SeamError
from seam_lib.core.rows import Case

Invariant = Callable[[Sequence[Case]], str | None]


def witnesses_are_new(cases: Sequence[Case]) -> str | None:
    """Each witness occurs in its comment, and nowhere in artifact, reference or task head."""
    for case in cases:
        texts = (case.artifact, case.reference or "", case.task_instruction)
        haystack = "\n".join(texts).lower()
        for witness in case.witness_tokens or ():
            if witness.lower() not in (case.afterthought or "").lower():
                return f"{case.condition}: the comment lacks its witness {witness!r}"
            if witness.lower() in haystack:
                return f"{case.condition}: the witness {witness!r} occurs without the comment"
    return None


def same_up_to_the_seam(cases: Sequence[Case]) -> str | None:
    """Clean, newline, blank and artifact-native are identical up to the artifact's end."""
    clean = next((case.message for case in cases if case.condition == "clean"), "")
    for case in cases:
        bare = case.condition in ("newline", "blank", "newline_R")
        if bare and not case.message.startswith(clean):
            return f"{case.condition}: the message departs from clean before the seam"
    return None


def one_pair_of_tags(cases: Sequence[Case]) -> str | None:
    """A tagged message has its opening and closing tag once; a bare one has no tag of any."""
    of_cluster = sorted({tag for case in cases for tag in tags_of(case)})
    for case in cases:
        own = tags_of(case)
        for tag in own:
            if case.message.count(tag) != 1:
                return f"{case.condition}: not exactly one of each tag {own}"
        for tag in of_cluster:
            if not own and tag in case.message:
                return f"{case.condition}: a bare message contains the tag {tag!r}"
    return None


def tags_of(case: Case) -> tuple[str, ...]:
    """The opening and the closing tag of a case; none if it is bare."""
    pair = case.boundary_delimiters
    return (pair.opening, pair.closing) if pair else ()


def segments_give_their_text(cases: Sequence[Case]) -> str | None:
    """Every segment's offsets give back its text, in order and without overlap."""
    for case in cases:
        end = 0
        for segment in case.segments:
            if segment.start < end or case.message[segment.start : segment.end] != segment.text:
                return f"{case.condition}: the segment {segment.role!r} is not where it says"
            end = segment.end
    return None


def parts_are_whole(cases: Sequence[Case]) -> str | None:
    """The message holds the head, the artifact and, unless clean, the comment as its segments."""
    for case in cases:
        typed = [segment.text for segment in case.segments if segment.origin == "typed"]
        pasted = [segment.text for segment in case.segments if segment.origin != "typed"]
        comment = [] if case.afterthought is None else [case.afterthought]
        once = all(typed.count(text) == 1 for text in (case.task_instruction, *comment))
        if not once or pasted != [case.artifact]:
            return f"{case.condition}: head, artifact and comment are not one segment each"
    return None


def one_artifact(cases: Sequence[Case]) -> str | None:
    """All cases share artifact, reference and task head."""
    parts = {(case.artifact, case.reference, case.task_instruction) for case in cases}
    return None if len(parts) == 1 else "the cases differ in artifact, reference or task head"


INVARIANTS: tuple[Invariant, ...] = (
    witnesses_are_new,
    same_up_to_the_seam,
    one_pair_of_tags,
    segments_give_their_text,
    parts_are_whole,
    one_artifact,
)


def broken_clusters(cases: Iterable[Case]) -> dict[str, list[str]]:
    """For each invariant, by name, the clusters that it complains about.

    Args:
        cases: Cases in which those of a cluster are neighbours, as a build writes them.
    """
    broken: dict[str, list[str]] = {invariant.__name__: [] for invariant in INVARIANTS}
    for cluster, group in groupby(cases, key=lambda case: case.composition_event_id):
        members = list(group)
        for invariant in INVARIANTS:
            if invariant(members):
                broken[invariant.__name__].append(cluster)
    return broken


def check_cluster(cases: Sequence[Case], conditions: Iterable[str]) -> None:
    """Check one cluster against every invariant.

    Args:
        cases: The cluster's cases.
        conditions: The conditions that it must have, in this order.

    Raises:
        SeamError: One does not hold; names the cluster and says which.
    """
    found, wanted = [case.condition for case in cases], list(conditions)
    complaints = [] if found == wanted else [f"has the conditions {found}, not {wanted}"]
    complaints += filter(None, (invariant(cases) for invariant in INVARIANTS))
    if complaints:
        raise SeamError(
            f"{cases[0].composition_event_id}: {complaints[0]}. Nothing was written. Look at the "
            "item's row and at the condition's function."
        )
