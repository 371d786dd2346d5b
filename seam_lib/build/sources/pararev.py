"""ParaRev: paragraphs of scientific papers, revised by their authors (Jourdan et al., 2025)."""

import msgspec

from seam_lib.build.sources.item import Item, Source


class Annotator(msgspec.Struct):
    """One annotator's account of a revision; the instruction may be missing."""

    instruction: str | None = None


class Row(msgspec.Struct):
    """The columns that are read."""

    id_paragraph: str
    parag_1: str
    parag_2: str | None
    annot_1: Annotator | None
    annot_2: Annotator | None


def item(row: Row) -> Item | None:
    """A paragraph of 120 to 6,000 characters that has a revision; the first instruction given."""
    if not (120 <= len(row.parag_1) <= 6000 and row.parag_2):
        return None
    annotations = (row.annot_1 or Annotator(), row.annot_2 or Annotator())
    return Item(
        source="pararev",
        id=row.id_paragraph,
        artifact=row.parag_1,
        reference=row.parag_2,
        operation="paragraph_revision",
        instruction=next((note.instruction for note in annotations if note.instruction), None),
        license="CC-BY-NC-SA-4.0",
        genre="scientific_prose",
        partition="noncommercial_sharealike",
    )


SOURCE = Source(
    name="pararev",
    row=Row,
    item=item,
    dataset="taln-ls2n/pararev",
    load=lambda revision: {
        "path": "taln-ls2n/pararev",
        "name": "pararev_annot_subset",
        "split": "train",
        "revision": revision,
    },
    url=lambda item: "https://huggingface.co/datasets/taln-ls2n/pararev",
)
