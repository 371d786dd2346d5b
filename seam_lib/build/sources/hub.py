"""The rows of the real corpora, from the hub, kept as files that the adapters read like our own."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import msgspec
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

from seam_lib.build.sources import stackexchange_api
from seam_lib.build.sources.item import Row, Source
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_rows
from seam_lib.core.progress import shown

#: What to do without the hub; ends every error about it.
OFFLINE = "Check the network, or set build.source to files in params.yaml to use data/sources."


def hub_file(
    folder: Path, source: Source[Any], count: int, revision: str | None, questions: list[int]
) -> Path:
    """The file of a source's first rows; they are fetched unless they are there.

    Args:
        folder: Where such files are kept; the file's name says what it holds, so that another
            number of rows, another revision or other questions are another file.
        source: The corpus's adapter.
        count: How many rows.
        revision: The dataset's commit on the hub; None for its newest.
        questions: Ids of the posts to fetch from Stack Exchange; if empty, it is searched.

    Raises:
        SeamError: The hub cannot be reached, or a row lacks a column that the adapter reads.
    """
    path = folder / f"{source.name}-{revision or 'newest'}-{count}.jsonl"
    if source.load:
        rows = stream(source.load(revision))
    elif questions:
        path, count = folder / f"{source.name}-release.jsonl", len(questions)
        rows = stackexchange_api.fetch(questions)
    else:
        rows = stackexchange_api.search()
    if not path.exists():
        first = islice(upstream(rows, source.dataset), count)
        bar = shown(first, f"{source.name}: reading {source.dataset}", count)
        write_rows(path, checked(bar, source))
    return path


def upstream(rows: Iterable[dict[str, Any]], dataset: str) -> Iterator[dict[str, Any]]:
    """Pass rows on; whatever the clients raise becomes one sentence that says what to do."""
    try:
        yield from rows
    except SeamError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise SeamError(
            f"{dataset}: cannot be read ({type(error).__name__}: {reason}). {OFFLINE}"
        ) from error


def checked(rows: Iterable[dict[str, Any]], source: Source[Row]) -> Iterator[Row]:
    """Reduce rows to the columns that an adapter reads.

    Raises:
        SeamError: A column is missing or of another type; names dataset, row and column.
    """
    for number, row in enumerate(rows, start=1):
        try:
            yield msgspec.convert(row, source.row)
        except msgspec.ValidationError as error:
            raise SeamError(
                f"{source.dataset}, row {number}: {error}. The row has the columns "
                f"{', '.join(row)}; upstream changed. Pin an earlier revision of it under "
                f"build.revisions in params.yaml, or mend seam_lib/build/sources/{source.name}.py."
            ) from None


def stream(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Read a dataset's rows in order, without downloading the rest of it.

    Args:
        arguments: For `datasets.load_dataset`.
    """
    import datasets  # slow to import, and only the hub needs it
    from huggingface_hub.constants import ENDPOINT

    reach(ENDPOINT)  # the hub's own client would retry for half a minute before it gave up
    yield from datasets.load_dataset(**arguments, streaming=True)


@retry(
    retry=retry_if_exception_type(httpx.TransportError),
    stop=stop_after_attempt(3),
    wait=wait_exponential(multiplier=0.5),
    reraise=True,
)
def reach(endpoint: str) -> None:
    """Raise `httpx.TransportError` if nothing answers there, after three tries."""
    httpx.head(endpoint, timeout=10)
