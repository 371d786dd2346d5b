"""IteraTeR, human-annotated documents: one revision of a longer text (Du et al., 2022)."""

import msgspec

from seam_lib.build.sources.item import Item, Source, misfit


class Row(msgspec.Struct):
    """The columns that are read; an item needs only those without a default.

    Numbers of pages and of preprints stand mixed in the ids, so clients may read them as numbers.
    """

    doc_id: int | float | str
    before_revision: str
    after_revision: str | None = None
    revision_depth: int | float | str | None = None


def item(row: Row) -> Item | str:
    """A document; each depth of its revision is a separate item."""
    if reason := misfit(row.before_revision, 80, 6000):
        return reason
    depth = "" if row.revision_depth is None else f":revision-{plain(row.revision_depth)}"
    return Item(
        source="iterater",
        id=f"{plain(row.doc_id)}{depth}",
        artifact=row.before_revision,
        reference=row.after_revision,
        operation="document_revision",
        license="Apache-2.0",
        genre="prose_long",
    )


def plain(number: float | str) -> str:
    """A number as its digits, without the decimal point that a client gave a whole one."""
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


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
