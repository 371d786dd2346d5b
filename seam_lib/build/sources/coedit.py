"""CoEdIT: sentences and their fluent edits (Raheja et al., 2023)."""

import re

import msgspec

from seam_lib.build.sources.item import Item, Source, misfit

#: A task in front of the text, such as "Fix grammar: "; our messages bring their own task. White
#: space behind the colon may be absent, so a text with an early colon of its own is cut as well.
PREFIX = re.compile(r"^[^:]{3,100}:\s*")


class Row(msgspec.Struct, kw_only=True):
    """The columns that are read; an item needs only those without a default."""

    id: int | str = msgspec.field(name="_id")
    task: str | None = None
    src: str
    tgt: str | None = None


def item(row: Row) -> Item | str:
    """The text after the task."""
    artifact = PREFIX.sub("", row.src)
    if reason := misfit(artifact, 80, 4000):
        return reason
    return Item(
        source="coedit",
        id=str(row.id),
        artifact=artifact,
        reference=row.tgt,
        operation=row.task or "edit",
        license="Apache-2.0",
        genre="prose",
    )


SOURCE = Source(
    name="coedit",
    row=Row,
    item=item,
    dataset="grammarly/coedit",
    load=lambda revision: {"path": "grammarly/coedit", "split": "train", "revision": revision},
    url=lambda item: "https://huggingface.co/datasets/grammarly/coedit",
)
