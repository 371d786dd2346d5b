"""The six upstream corpora: one adapter each, and one reader for all.

An adapter says which columns of a row are read, which rows are dropped, and what item a row
becomes. Rows come from JSON Lines files in the corpus's own format: our small corpora under
data/sources/, or the hub's rows, which `hub` keeps under data/hub/. Real rows are untidy, so one
that gives no item is left out and counted, whatever the reason.
"""

from pathlib import Path
from typing import Any, NamedTuple

from seam_lib.build.sources import (
    canitedit,
    coedit,
    commitpackft,
    iterater,
    pararev,
    stackexchange,
)
from seam_lib.build.sources.item import Item, Source, read_item
from seam_lib.core.errors import SeamError
from seam_lib.core.files import numbered_rows

#: The adapters by name, in the order of `rows.SOURCES`.
ADAPTERS: dict[str, Source[Any]] = {
    module.SOURCE.name: module.SOURCE
    for module in (canitedit, coedit, commitpackft, iterater, pararev, stackexchange)
}

__all__ = ["ADAPTERS", "Corpus", "Item", "Source", "read_items"]


class Corpus(NamedTuple):
    """What a file of a corpus's rows gives.

    Attributes:
        items: Its items, in file order.
        left_out: The line numbers of the other rows, by the reason why they give none.
    """

    items: list[Item]
    left_out: dict[str, list[int]]


def read_items(source: Source[Any], path: Path) -> Corpus:
    """Read a file of a corpus's rows.

    Args:
        source: The corpus's adapter.
        path: A JSON Lines file in the corpus's row format.

    Raises:
        SeamError: A line is not a JSON object, or no row gives an item; names file and line.
    """
    corpus = Corpus([], {})
    for number, row in numbered_rows(path, dict):
        item = read_item(source, row)
        if isinstance(item, Item):
            corpus.items.append(item)
        else:
            corpus.left_out.setdefault(item, []).append(number)
    if not corpus.items:
        raise SeamError(
            f"{path}: none of its rows gives an item: {reasons(corpus) or 'it has no rows'}. "
            "data/sources/README.md says which columns a row needs, and where the limits are."
        )
    return corpus


def reasons(corpus: Corpus) -> str:
    """Why rows were left out, the commonest reason first, each with its first line."""
    ranked = sorted(corpus.left_out.items(), key=lambda pair: (-len(pair[1]), pair[1]))
    return "; ".join(f"{text} ({len(at)} rows, first line {at[0]})" for text, at in ranked)
