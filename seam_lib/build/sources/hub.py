"""The rows of the real corpora, from the hub, kept as files that the adapters read like our own."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import msgspec
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

from seam_lib.build.sources import stackexchange_api
from seam_lib.build.sources.item import Item, Source, read_item
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_rows
from seam_lib.core.progress import shown

#: What a client raises that finds nobody at the other end.
NETWORK = (httpx.TransportError, ConnectionError, TimeoutError)
#: What to do without the network.
OFFLINE = "Check the network, or set build.source to files in params.yaml to use data/sources."
#: What to do about a dataset that wants a login, or is gone: the hub's answers do not differ.
TERMS = (
    "Its terms must be accepted: open https://huggingface.co/datasets/{0}, accept them there, and "
    "set HF_TOKEN. If there is no such page, the dataset has moved: correct "
    "seam_lib/build/sources/{1}.py."
)
#: What to do about a dataset whose splits, files or columns are not what they were.
CHANGED = (
    "Upstream changed: pin a commit that still has what is asked for, `{0}: COMMIT` under "
    "build.revisions in params.yaml, or correct seam_lib/build/sources/{0}.py."
)
#: ... and one that can only be read by running its script.
SCRIPT = (
    "No script is run here: pin the hub's own conversion, `{0}: refs/convert/parquet` under "
    "build.revisions in params.yaml, or a commit that holds data files."
)


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
        SeamError: The hub cannot be reached or is not what it was, or no row gives an item.
    """
    version = (revision or "newest").replace("/", "-")
    path = folder / f"{source.name}-{version}-{count}.jsonl"
    if source.load:
        rows = stream(source.load(revision))
    elif questions:
        path, count = folder / f"{source.name}-release.jsonl", len(questions)
        rows = stackexchange_api.fetch(questions)
    else:
        rows = stackexchange_api.search()
    if not path.exists():
        first = islice(upstream(rows, source), count)
        bar = shown(first, f"{source.name}: reading {source.dataset}", count)
        write_rows(path, checked(bar, source))
    return path


def upstream(rows: Iterable[dict[str, Any]], source: Source[Any]) -> Iterator[dict[str, Any]]:
    """Pass rows on; whatever the clients raise becomes one sentence that says what to do."""
    try:
        yield from rows
    except SeamError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:240]
        raise SeamError(
            f"{source.dataset}: cannot be read ({type(error).__name__}: {reason}). "
            f"{remedy(error, source)}"
        ) from error


def remedy(error: Exception, source: Source[Any]) -> str:
    """What to do about an error of the clients: it may lie behind the one that they raise."""
    errors = list(behind(error))
    statuses = {getattr(getattr(e, "response", None), "status_code", None) for e in errors}
    if source.load is None or any(isinstance(e, NETWORK) for e in errors):
        return OFFLINE
    if statuses & {401, 403} or "cannot be accessed" in str(error) or "gated" in str(error):
        return TERMS.format(source.dataset, source.name)
    if "scripts are no longer supported" in str(error):
        return SCRIPT.format(source.name)
    return f"{found(source.dataset)}{CHANGED.format(source.name)}"


def behind(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def found(dataset: str) -> str:
    """Which data files the dataset has now, in words; nothing where the hub does not say."""
    from huggingface_hub import HfApi

    try:
        files = HfApi().list_repo_files(dataset, repo_type="dataset")
    except Exception:
        return ""  # a dataset that is gone has said so already
    data = sorted(file for file in files if file.endswith((".json", ".jsonl", ".parquet", ".csv")))
    return f"It has the files {', '.join(data[:8])}{', ...' * (len(data) > 8)}. " if data else ""


def checked(rows: Iterable[dict[str, Any]], source: Source[Any]) -> Iterator[dict[str, Any]]:
    """Reduce rows to the columns that an adapter reads; some may give no item, but not all.

    Raises:
        SeamError: None gives one; names the dataset, the reason and the columns found.
    """
    columns = [field.encode_name for field in msgspec.structs.fields(source.row)]
    reasons: Counter[str] = Counter()
    usable, row = False, {}
    for row in rows:
        kept = {column: row[column] for column in columns if column in row}
        item = read_item(source, kept)
        usable = usable or isinstance(item, Item)
        reasons.update([item] if isinstance(item, str) else [])
        yield kept
    if not usable:
        ((reason, _),) = reasons.most_common(1) or [("it has no rows", 0)]
        raise SeamError(
            f"{source.dataset}: none of its {reasons.total()} rows gives an item: {reason}. The "
            f"rows have the columns {', '.join(row) or '(none)'}. {CHANGED.format(source.name)}"
        )


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
