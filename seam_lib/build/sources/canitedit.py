"""CanItEdit: Python programs with an instruction to edit them (Cassano et al., 2023)."""

from typing import Any

import msgspec

from seam_lib.build.sources.item import Item, Source, misfit


class Row(msgspec.Struct, kw_only=True):
    """The columns that are read; an item needs only those without a default."""

    id: int | str
    before: str
    after: str | None = None
    instruction_lazy: str
    instruction_descriptive: str | None = None
    tests: str | None = None
    taxonomy: Any = None


def item(row: Row) -> Item | str:
    """A program, with the terser of its two instructions."""
    if reason := misfit(row.before, 80, 6000):
        return reason
    return Item(
        source="canitedit",
        id=str(row.id),
        artifact=row.before,
        reference=row.after,
        operation="instructed_code_edit",
        instruction=row.instruction_lazy,
        license="MIT",
        genre="code",
        extra={
            "alternate_instruction": row.instruction_descriptive,
            "utility_tests": row.tests,
            "taxonomy": row.taxonomy,
        },
    )


SOURCE = Source(
    name="canitedit",
    row=Row,
    item=item,
    dataset="nuprl/CanItEdit",
    load=lambda revision: {"path": "nuprl/CanItEdit", "split": "test", "revision": revision},
    url=lambda item: "https://huggingface.co/datasets/nuprl/CanItEdit",
    rows=lambda items: 200,
)
