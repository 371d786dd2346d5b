"""IteraTeR, human-annotated documents: one revision of a longer text (Du et al., 2022)."""

import msgspec

from seam_lib.build.sources.item import Item, Source


class Row(msgspec.Struct):
    """The columns that are read."""

    doc_id: str
    before_revision: str
    after_revision: str
    revision_depth: str | int | None = None


def item(row: Row) -> Item | None:
    """A document of 80 to 6,000 characters; each depth of its revision is an item of its own."""
    if not 80 <= len(row.before_revision) <= 6000:
        return None
    depth = "" if row.revision_depth is None else f":revision-{row.revision_depth}"
    return Item(
        source="iterater",
        id=row.doc_id + depth,
        artifact=row.before_revision,
        reference=row.after_revision,
        operation="document_revision",
        license="Apache-2.0",
        genre="prose_long",
        partition="permissive",
    )


SOURCE = Source(
    name="iterater",
    row=Row,
    item=item,
    dataset="wanyu/IteraTeR_human_doc",
    load=lambda revision: {
        "path": "wanyu/IteraTeR_human_doc",
        "split": "train",
        "revision": revision,
    },
    url=lambda item: "https://huggingface.co/datasets/wanyu/IteraTeR_human_doc",
)
