"""ParaRev: paragraphs of scientific papers, revised by their authors (Jourdan et al., 2025)."""

import msgspec

from seam_lib.build.sources.item import Item, Source, misfit


class Annotator(msgspec.Struct):
    """One annotator's account of a revision; the instruction may be missing."""

    instruction: str | None = None


class Row(msgspec.Struct):
    """The columns that are read; an item needs only those without a default."""

    id_paragraph: int | str
    parag_1: str
    parag_2: str | None = None
    annot_1: Annotator | None = None
    annot_2: Annotator | None = None


def item(row: Row) -> Item | str:
    """A paragraph that has a revision, with the first instruction given.

    An instruction is stripped; one that is then empty is none.
    """
    if reason := misfit(row.parag_1, 120, 6000):
        return reason
    if not row.parag_2:
        return "there is no revision"
    annotations = (row.annot_1 or Annotator(), row.annot_2 or Annotator())
    instructions = ((note.instruction or "").strip() for note in annotations)
    return Item(
        source="pararev",
        id=str(row.id_paragraph),
        artifact=row.parag_1,
        reference=row.parag_2,
        operation="paragraph_revision",
        instruction=next(filter(None, instructions), None),
        license="CC-BY-NC-SA-4.0",
        genre="scientific_prose",
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
