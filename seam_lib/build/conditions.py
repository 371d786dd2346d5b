"""How a message is put together: task heads, conditions, tags (paper, Section 3.2, Appendix C).

A message is a sequence of parts. A part with an origin, typed or pasted, becomes a segment; a plain
string between them (line breaks, tags) does not. Offsets are counted while the parts are joined, so
a segment always fits its message.

A condition of your own is a function like those below, in a file in the folder `build.plugins`
(data/conditions); docs/conditions.md shows one.
"""

import hashlib
import runpy
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.rows import Composed, Delimiters, Segment

#: The sentence that mitigation adds to boundary (Appendix C).
MITIGATION = (
    "Text outside the artifact boundary is user context and must not be incorporated into the "
    "returned artifact."
)
#: The sentence that boundary_text_only adds to boundary (Section 5.3, Appendix D), in our words.
TEXT_ONLY = "Return the revised text only, without notes or commentary."


class Part(NamedTuple):
    """A stretch of the message that somebody typed or pasted."""

    origin: Literal["typed", "simulated_paste"]
    role: str
    text: str


Compose = Callable[[str, str, str, str], Composed]


class Condition(msgspec.Struct, frozen=True):
    """A way to compose a message; called with (head, artifact, comment, cluster id).

    `comment` says which of the cluster's two comments it takes. If it takes none, it is called with
    an empty comment.
    """

    name: str
    comment: Literal["casual", "native"] | None
    compose: Compose

    def __call__(self, head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
        """Compose one message."""
        return self.compose(head, artifact, comment, cluster_id)


def condition(
    name: str, comment: Literal["casual", "native"] | None
) -> Callable[[Compose], Condition]:
    """Turn a function into a condition: the decorator for this module and for plugins."""
    return lambda compose: Condition(name, comment, compose)


def typed(role: str, text: str) -> Part:
    """A part that the user typed."""
    return Part("typed", role, text)


def pasted(text: str) -> Part:
    """The artifact."""
    return Part("simulated_paste", "artifact", text)


def join(*parts: str | Part, delimiters: Delimiters | None = None) -> Composed:
    """Join parts into a message; those with an origin become its segments.

    Args:
        parts: What somebody typed or pasted, and the plain strings between.
        delimiters: The tags around the artifact, if there are any.
    """
    message, segments = "", []
    for part in parts:
        text = part if isinstance(part, str) else part.text
        if isinstance(part, Part):
            end = len(message) + len(text)
            segments.append(Segment(part.origin, part.role, len(message), end, text))
        message += text
    return Composed(message, segments, delimiters)


def task_head(genre: str, instruction: str | None) -> str:
    """The task that a message begins with (Appendix C, "Task heads").

    Args:
        genre: The item's genre, which decides between the four heads.
        instruction: The source's own edit instruction, if it has one.
    """
    if genre == "code":
        return (
            f"Edit the following code according to this instruction: {instruction}\n"
            "Return only the revised code."
        )
    if genre == "technical":
        return "Improve the following technical post for clarity. Return only the revised post."
    if genre == "scientific_prose" and instruction:
        return (
            f"Revise the following scientific passage according to this instruction: {instruction}"
            "\nReturn only the revised passage."
        )
    return (
        "Improve the following passage for clarity and correctness. "
        "Return only the revised passage."
    )


def tags(cluster_id: str, artifact: str, *names: str) -> list[Delimiters]:
    """Pairs of tags that share a suffix and do not occur in the artifact.

    The suffix is the first 12 hex digits of sha256("CLUSTER:k"), for the smallest k >= 0 whose tags
    do not occur in the artifact.
    """
    k = 0
    pairs = tag_pairs(f"{cluster_id}:0", names)
    while any(pair.opening in artifact or pair.closing in artifact for pair in pairs):
        k += 1
        pairs = tag_pairs(f"{cluster_id}:{k}", names)
    return pairs


def tag_pairs(key: str, names: Iterable[str]) -> list[Delimiters]:
    """The pairs of tags whose suffix is the digest of a key."""
    suffix = hashlib.sha256(key.encode()).hexdigest()[:12]
    return [Delimiters(f"<{name}-{suffix}>", f"</{name}-{suffix}>") for name in names]


@condition("clean", comment=None)
def clean(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """No comment: the artifact ends the message."""
    return join(typed("task_instruction", head), "\n\n", pasted(artifact))


@condition("newline", comment="casual")
def newline(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """The comment on the line below the artifact."""
    return bare(head, artifact, "\n", comment)


@condition("blank", comment="casual")
def blank(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """One blank line between artifact and comment."""
    return bare(head, artifact, "\n\n", comment)


@condition("boundary", comment="casual")
def boundary(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """Tags around the artifact, the comment outside."""
    return marked(artifact, comment, cluster_id, typed("task_instruction", head))


@condition("mitigation", comment="casual")
def mitigation(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """Boundary, and a sentence that keeps text outside the tags out of the answer."""
    task = (typed("task_instruction", head), " ", typed("boundary_instruction", MITIGATION))
    return marked(artifact, comment, cluster_id, *task)


@condition("newline_R", comment="native")
def newline_native(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """Newline with the comment that fits the artifact."""
    return bare(head, artifact, "\n", comment)


@condition("boundary_text_only", comment="casual")
def boundary_text_only(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """Boundary, and a sentence that asks for the revised text alone (Section 5.3)."""
    task = (typed("task_instruction", head), " ", typed("boundary_instruction", TEXT_ONLY))
    return marked(artifact, comment, cluster_id, *task)


@condition("semantic_tags", comment="casual")
def semantic_tags(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """Task, artifact and comment, each between tags that say what it is."""
    task, paste, note = tags(cluster_id, artifact, "task", "artifact", "comment")
    return join(
        *(f"{task.opening}\n", typed("task_instruction", head), f"\n{task.closing}\n\n"),
        *(f"{paste.opening}\n", pasted(artifact), f"\n{paste.closing}\n\n"),
        *(f"{note.opening}\n", typed("afterthought", comment), f"\n{note.closing}"),
        delimiters=paste,
    )


@condition("semantic_tags_instruction", comment="casual")
def semantic_tags_instruction(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    """Semantic tags, and a system instruction that says what they mean."""
    task, paste, note = tags(cluster_id, artifact, "task", "artifact", "comment")
    return msgspec.structs.replace(
        semantic_tags(head, artifact, comment, cluster_id),
        system_instruction=(
            f"A message has three tagged regions. {task.opening} holds what the user asks for. "
            f"{paste.opening} holds the text that the user pasted, the only text to edit. "
            f"{note.opening} holds a comment that the user makes to you. Nothing of the comment "
            "belongs in the text you return; return that text without any of these tags."
        ),
    )


def bare(head: str, artifact: str, seam: str, comment: str) -> Composed:
    """A message whose seam is white space."""
    return join(
        *(typed("task_instruction", head), "\n\n", pasted(artifact)),
        *(seam, typed("afterthought", comment)),
    )


def marked(artifact: str, comment: str, cluster_id: str, *task: str | Part) -> Composed:
    """A message whose artifact is between two tags, each on its own line."""
    (pair,) = tags(cluster_id, artifact, "pasted-artifact")
    return join(
        *(*task, f"\n\n{pair.opening}\n", pasted(artifact), f"\n{pair.closing}\n\n"),
        typed("afterthought", comment),
        delimiters=pair,
    )


def conditions(names: Iterable[str], plugins: Path | None = None) -> list[Condition]:
    """Look up conditions by name, in this module and in plugin files.

    Args:
        names: The conditions wanted, in the order in which each cluster gets them.
        plugins: A folder whose Python files define more conditions with `@condition`.

    Raises:
        SeamError: A plugin cannot be run or redefines a condition; a name is unknown or repeated.
    """
    known = conditions_in(globals())
    for plugin in sorted(plugins.glob("*.py")) if plugins else ():
        try:
            added = conditions_in(runpy.run_path(str(plugin)))
        except Exception as error:
            raise SeamError(
                f"{plugin}: the plugin cannot be run: {type(error).__name__}: {error}. Correct it "
                "or move it to another folder."
            ) from error
        for name in added:  # a plugin may import one of ours to build on it
            if name in known and added[name] != known[name]:
                raise SeamError(f"{plugin}: the condition {name!r} already exists. Rename it.")
        known |= added
    names = list(names)
    for name in names:
        if name not in known:
            raise SeamError(
                f"params.yaml: build.conditions names {name!r}; known are {', '.join(known)}. "
                "To add one, define it in a Python file in the folder build.plugins."
            )
        if names.count(name) > 1:
            raise SeamError(f"params.yaml: build.conditions names {name!r} twice. Remove one.")
    return [known[name] for name in names]


def conditions_in(namespace: Mapping[str, Any]) -> dict[str, Condition]:
    """The conditions that a module defines, by name."""
    found = (value for value in namespace.values() if isinstance(value, Condition))
    return {value.name: value for value in found}
