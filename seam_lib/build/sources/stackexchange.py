"""Stack Overflow questions about refactoring, as API version 2.3 returns them with their body."""

import html
import re
from datetime import UTC, datetime

import msgspec

from seam_lib.build.sources.item import Item, Source, misfit

#: Only this very opening; `<pre class="lang-py"><code>` is to the release like any other tag.
CODE_BLOCK = re.compile(r"<pre><code>(.*?)</code></pre>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
#: From when on which version of CC-BY-SA covers a post, newest first.
#: Source: https://stackoverflow.com/help/licensing
VERSIONS = (
    (datetime(2018, 5, 2, tzinfo=UTC), "CC-BY-SA-4.0"),
    (datetime(2011, 4, 8, tzinfo=UTC), "CC-BY-SA-3.0"),
    (datetime(1970, 1, 1, tzinfo=UTC), "CC-BY-SA-2.5"),
)


class Row(msgspec.Struct, kw_only=True):
    """The fields that are read; dates are seconds since 1970."""

    question_id: int | str
    title: str | None = None
    body: str
    creation_date: int
    last_edit_date: int | None = None


def item(row: Row) -> Item | str:
    """A post's cleaned body; a post has no reference."""
    artifact = clean_body(row.body)
    if reason := misfit(artifact, 120, 6000):
        return reason
    return Item(
        source="stackexchange",
        id=str(row.question_id),
        artifact=artifact,
        operation="post_revision",
        license=license_at(row.last_edit_date or row.creation_date),
        genre="technical",
        extra={"title": row.title},
    )


def clean_body(body: str) -> str:
    """Turn a post's HTML into the plain text that a person would paste.

    Plain code blocks become fenced blocks on lines of their own and every other tag one space;
    entities are unescaped and runs of spaces and tabs become one space.
    """
    text = CODE_BLOCK.sub(r"\n```\n\1\n```\n", body)
    text = html.unescape(TAG.sub(" ", text))
    return re.sub(r"[ \t]+", " ", text).strip()


def license_at(seconds: int) -> str:
    """The licence of a post last revised at a time, in seconds since 1970."""
    revised = datetime.fromtimestamp(seconds, UTC)
    return next(name for start, name in VERSIONS if revised >= start)


SOURCE = Source(
    name="stackexchange",
    row=Row,
    item=item,
    dataset="Stack Exchange API 2.3, stackoverflow",
    load=None,
    url=lambda item: f"https://stackoverflow.com/q/{item.id}",
)
