"""CanItEdit: Python programs with an instruction to edit them (Cassano et al., 2023)."""

from typing import Any

import msgspec

from seam_lib.build.sources.item import Item, Source


class Row(msgspec.Struct):
    """The columns that are read."""

    id: int
    before: str
    after: str
    instruction_lazy: str
    instruction_descriptive: str
    tests: str
    taxonomy: dict[str, Any]


def item(row: Row) -> Item | None:
    """A program of 80 to 6,000 characters, with the terse one of its two instructions."""
    if not 80 <= len(row.before) <= 6000:
        return None
    return Item(
        source="canitedit",
        id=str(row.id),
        artifact=row.before,
        reference=row.after,
        operation="instructed_code_edit",
        instruction=row.instruction_lazy,
        license="MIT",
        genre="code",
        partition="permissive",
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
