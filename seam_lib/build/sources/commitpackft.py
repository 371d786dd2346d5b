"""CommitPackFT, Python: a file before and after a commit, and the commit's subject as the task.

Muennighoff et al. (2023). The dataset is under the MIT licence, but the licence of the repository
that a file comes from takes precedence, so each item keeps its own.
"""

import msgspec

from seam_lib.build.sources.item import Item, Source

#: The data file; the repository's loading script is refused by current releases of `datasets`.
FILE = "hf://datasets/bigcode/commitpackft@{revision}/data/python/data.jsonl"


class Row(msgspec.Struct):
    """The columns that are read."""

    commit: str
    old_file: str
    old_contents: str
    new_contents: str
    subject: str
    license: str
    repos: str


def item(row: Row) -> Item | None:
    """A changed file of 120 to 6,000 characters whose subject says something in one line."""
    instruction = row.subject.strip()
    changed = row.new_contents and row.new_contents != row.old_contents
    if not (120 <= len(row.old_contents) <= 6000 and changed and 8 <= len(instruction) <= 240):
        return None
    return Item(
        source="commitpackft",
        id=f"{row.commit}:{row.old_file}",
        artifact=row.old_contents,
        reference=row.new_contents,
        operation="instructed_code_edit",
        instruction=instruction,
        license=row.license,
        genre="code",
        partition="permissive_review",
        extra={"repository": row.repos.partition(",")[0]},
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
    ),
    rows=lambda items: 12 * items,
)
