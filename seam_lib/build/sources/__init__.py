"""The six upstream corpora: one adapter each, and one reader for all.

An adapter says which columns of a row are read, which rows are dropped, and what item a row
becomes. Rows come from JSON Lines files in the corpus's own format: our small corpora under
data/sources/, or the hub's rows, which `hub` keeps under data/hub/.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seam_lib.build.sources import (
    canitedit,
    coedit,
    commitpackft,
    iterater,
    pararev,
    stackexchange,
)
from seam_lib.build.sources.item import Item, Source
from seam_lib.core.files import read_rows

#: The adapters by name, in the order of `rows.SOURCES`.
ADAPTERS: dict[str, Source[Any]] = {
    module.SOURCE.name: module.SOURCE
    for module in (canitedit, coedit, commitpackft, iterater, pararev, stackexchange)
}

__all__ = ["ADAPTERS", "Item", "Source", "read_items"]


def read_items(source: Source[Any], path: Path) -> Iterator[Item]:
    """Read a file of a corpus's rows and keep the items that pass its filters.

    Args:
        source: The corpus's adapter.
        path: A JSON Lines file in the corpus's row format.

    Yields:
        The items, in file order.

    Raises:
        SeamError: A row lacks a column or has one of another type; names file, line and column.
    """
    items = (source.item(row) for row in read_rows(path, source.row))
    return (item for item in items if item is not None)
