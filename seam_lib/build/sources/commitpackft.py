"""CommitPackFT, Python: a file before and after a commit, and the commit's subject as the task.

Muennighoff et al. (2023). The dataset is under the MIT licence, but the licence of the repository
that a file comes from takes precedence, so each item keeps its own.
"""

import msgspec

from seam_lib.build.sources.item import Item, Source, misfit

#: The data file; the repository's loading script is refused by current releases of `datasets`.
FILE = "hf://datasets/bigcode/commitpackft@{revision}/data/python/data.jsonl"


#: The licence of an item whose row names none.
UNSTATED = "MIT dataset; the repository's licence is not stated"


class Row(msgspec.Struct, kw_only=True):
    """The columns that are read; an item needs only those without a default."""

    commit: str
    old_file: str
    old_contents: str
    new_contents: str | None = None
    subject: str | None = None
    license: str | None = None
    repos: str | None = None


def item(row: Row) -> Item | str:
    """A file that the commit changed, if the commit's subject can serve as an instruction."""
    if reason := misfit(row.old_contents, 120, 6000):
        return reason
    if not row.new_contents or row.new_contents == row.old_contents:
        return "the file does not change"
    instruction = (row.subject or "").strip()
    if not 8 <= len(instruction) <= 240:
        return "the subject does not have 8 to 240 characters"
    return Item(
        source="commitpackft",
        id=f"{row.commit}:{row.old_file}",
        artifact=row.old_contents,
        reference=row.new_contents,
        operation="instructed_code_edit",
        instruction=instruction,
        license=row.license or UNSTATED,
        genre="code",
        extra={"repository": row.repos.partition(",")[0]} if row.repos else {},
    )


SOURCE = Source(
    name="commitpackft",
    row=Row,
    item=item,
    dataset="bigcode/commitpackft",
    load=lambda revision: {
        "path": "json",
        "data_files": FILE.format(revision=revision or "main"),
        "split": "train",
    },
    url=lambda item: (
        f"https://github.com/{item.extra['repository']}/commit/{item.id.partition(':')[0]}"
        if item.extra
        else None
    ),
    rows=lambda items: 12 * items,
)
