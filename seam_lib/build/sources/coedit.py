"""CoEdIT: sentences and their fluent edits (Raheja et al., 2023)."""

import re

import msgspec

from seam_lib.build.sources.item import Item, Source

#: A task in front of the text, such as "Fix grammar: "; our messages bring their own task.
PREFIX = re.compile(r"^[^:]{3,100}:\s+")


class Row(msgspec.Struct):
    """The columns that are read."""

    id: str = msgspec.field(name="_id")
    task: str
    src: str
    tgt: str


def item(row: Row) -> Item | None:
    """The text of 80 to 4,000 characters behind the task."""
    artifact = PREFIX.sub("", row.src)
    if not 80 <= len(artifact) <= 4000:
        return None
    return Item(
        source="coedit",
        id=row.id,
        artifact=artifact,
        reference=row.tgt,
        operation=row.task,
        license="Apache-2.0",
        genre="prose",
        partition="permissive",
    )


SOURCE = Source(
    name="coedit",
    row=Row,
    item=item,
    dataset="grammarly/coedit",
    load=lambda revision: {"path": "grammarly/coedit", "split": "train", "revision": revision},
    url=lambda item: "https://huggingface.co/datasets/grammarly/coedit",
)
