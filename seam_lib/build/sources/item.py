"""What every adapter gives: items, and a description of the corpus that they come from."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from seam_lib.core.rows import PARTITION_OF

Row = TypeVar("Row")


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a source that its filters let through, ready to be sampled.

    `url` is set for items that come from upstream itself; `extra` keeps what the row knows beyond
    these fields.
    """

    source: str
    id: str
    artifact: str
    reference: str | None = None
    operation: str
    instruction: str | None = None
    license: str
    url: str | None = None
    genre: str
    extra: dict[str, Any] = {}

    @property
    def cluster_id(self) -> str:
        """The id of the cluster that is built from this item."""
        return f"{self.source}:{self.id}"

    @property
    def partition(self) -> str:
        """The group of licences under which the item may be passed on."""
        return PARTITION_OF.get(self.source, "permissive")  # texts of one's own are


def misfit(artifact: str, least: int, most: int) -> str | None:
    """Why an artifact's length (characters) is not between two bounds; None if it is."""
    if len(artifact) < least:
        return f"the text has fewer than {least:,} characters"
    return f"the text has more than {most:,} characters" if len(artifact) > most else None


class Source(NamedTuple, Generic[Row]):
    """An upstream corpus: the type of its rows, what becomes of one, and where they are published.

    Attributes:
        name: The source's name, as in `rows.SOURCES`.
        row: A msgspec struct of the columns that the adapter reads.
        item: A row's item, or why the source's filters drop the row.
        dataset: The upstream's name, for messages.
        load: Arguments for `datasets.load_dataset`, given the revision on the hub (None for the
            newest); None where the rows come from the Stack Exchange API.
        url: The address under which upstream publishes an item; None where its row names none.
        rows: How many rows are read from upstream to sample so many items.
    """

    name: str
    row: type[Row]
    item: Callable[[Row], Item | str]
    dataset: str
    load: Callable[[str | None], dict[str, Any]] | None
    url: Callable[[Item], str | None]
    rows: Callable[[int], int] = lambda items: 8 * items


def read_item(source: Source[Row], row: dict[str, Any]) -> Item | str:
    """The item of a row as it came, or why it gives none: a column or a filter of the source."""
    try:
        return source.item(msgspec.convert(row, source.row))
    except msgspec.ValidationError as error:
        return f"{error}"
