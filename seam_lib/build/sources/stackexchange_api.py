"""Posts from the Stack Exchange API 2.3 (https://api.stackexchange.com/docs)."""

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import msgspec
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

from seam_lib.core.errors import SeamError

API = "https://api.stackexchange.com/2.3"
PAGE = 100  # the API's largest page, and its largest number of ids in one request


class Page(msgspec.Struct):
    """What the API wraps around its items; `backoff` is in seconds."""

    items: list[dict[str, Any]] = []
    has_more: bool = False
    backoff: float = 0
    error_name: str | None = None
    error_message: str | None = None


def search() -> Iterator[dict[str, Any]]:
    """The posts of the paper's search, page by page; what it finds drifts with time."""
    return pages("/search/advanced", q="refactor this code", sort="relevance", order="desc")


def fetch(ids: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Posts by their question ids, in the order of the ids; deleted ones are left out."""
    found = {}
    for start in range(0, len(ids), PAGE):
        batch = ";".join(map(str, ids[start : start + PAGE]))
        found.update({row["question_id"]: row for row in pages(f"/questions/{batch}")})
    yield from (found[number] for number in ids if number in found)


def pages(path: str, **query: str) -> Iterator[dict[str, Any]]:
    """The items of every page, waiting between two pages where the API asks for it.

    Raises:
        httpx.HTTPError: The API cannot be reached.
        SeamError: It refuses the request, such as for too many from one address.
    """
    query |= {"site": "stackoverflow", "filter": "withbody", "pagesize": str(PAGE)}
    with httpx.Client(timeout=30) as client:
        for page in itertools.count(1):
            answer = get(client, API + path, query | {"page": str(page)})
            yield from answer.items
            time.sleep(answer.backoff)
            if not answer.has_more:
                return


@retry(
    retry=retry_if_exception_type(httpx.HTTPError),
    stop=stop_after_attempt(4),
    wait=wait_exponential(multiplier=0.5),
    reraise=True,
)
def get(client: httpx.Client, url: str, query: dict[str, str]) -> Page:
    """Get one page; dropped connections and server errors are tried again, refusals are not."""
    response = client.get(url, params=query)
    if response.is_server_error:
        response.raise_for_status()
    answer = msgspec.json.decode(response.content, type=Page)
    if answer.error_name:
        raise SeamError(
            f"Stack Exchange refuses the request: {answer.error_name}: {answer.error_message}. "
            "Wait until it allows more, then build again; what was fetched before is kept."
        )
    return answer
