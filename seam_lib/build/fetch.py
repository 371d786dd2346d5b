"""The release's files on this machine: downloaded at the pinned commit, or copied from a clone.

They go to data/release/ under the names that they have in the repository. Every download is held
against the repository's own list of sizes and digests; one that stopped is resumed where it ended.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential

from seam_lib.build.release import BENCHMARK, COMMIT, LABELS, REPOSITORY
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_bytes
from seam_lib.core.params import ReleaseParams
from seam_lib.core.progress import shown

#: Beside the benchmark and the folder of labels, which holds the readers' verdicts as well.
STATISTICS = "results/statistics.json"
#: How to do without a network; ends every error about it.
BY_HAND = (
    f"Without this network, clone https://github.com/{REPOSITORY} elsewhere, check out {COMMIT}, "
    "and run `seam release fetch --from FOLDER`."
)


class Entry(NamedTuple):
    """A file of the repository: its path, its size in bytes, and its SHA-1 as Git computes it."""

    path: str
    size: int
    sha: str


class Listing(msgspec.Struct):
    """The repository's list of files, as GitHub's API gives it."""

    tree: list[dict[str, str | int]]


def wanted(path: str) -> bool:
    """Whether a file of the repository is one of those that are fetched."""
    return path in (*BENCHMARK.values(), STATISTICS) or path.startswith(f"{LABELS}/")


def complete(paths: Iterable[str], where: str) -> None:
    """Raise a SeamError if the benchmark or the labels are not among the files of a place."""
    found = list(paths)
    lacking = [path for path in BENCHMARK.values() if path not in found]
    lacking += [f"{LABELS}/"] * (not any(path.startswith(LABELS) for path in found))
    if lacking:
        raise SeamError(
            f"{where}: has no {', '.join(lacking)}, so it is not the release at {COMMIT}. "
            "Compare with docs/release.md."
        )


def copy_release(source: Path, folder: Path) -> None:
    """Copy the release's files out of a clone of its repository.

    Raises:
        SeamError: They are not there.
    """
    paths = sorted(
        name
        for path in source.rglob("*")
        if path.is_file() and wanted(name := path.relative_to(source).as_posix())
    )
    complete(paths, f"{source}")
    for path in shown(paths, "copying the release", len(paths)):
        write_bytes(folder / path, (source / path).read_bytes())


def download_release(folder: Path, settings: ReleaseParams) -> None:
    """Download the release's files; those that are here already, whole, are not asked for again.

    Raises:
        SeamError: The server cannot be reached or refuses, or a file is not the listed one.
    """
    with httpx.Client(timeout=60, follow_redirects=True) as client:
        try:
            entries = list(list_files(client, settings))
            complete([entry.path for entry in entries], settings.listing)
            for entry in shown(entries, "downloading the release", len(entries)):
                target = folder / entry.path
                if not (target.exists() and is_whole(target, entry)):
                    download(client, f"{settings.address}/{COMMIT}/{entry.path}", target, entry)
        except (httpx.HTTPError, msgspec.DecodeError) as error:
            raise SeamError(
                f"{settings.address}: the release cannot be read ({type(error).__name__}: {error})."
                f" Start again to resume what was begun. {BY_HAND}"
            ) from error


def list_files(client: httpx.Client, settings: ReleaseParams) -> Iterator[Entry]:
    """The files to fetch, with their sizes and digests, from the repository's own list."""
    body = get(client, f"{settings.listing}/{COMMIT}?recursive=1")
    listing = msgspec.json.decode(body, type=Listing)
    for row in listing.tree:
        if row.get("type") == "blob" and wanted(str(row["path"])):
            yield Entry(str(row["path"]), int(row["size"]), str(row["sha"]))


def may_pass(error: BaseException) -> bool:
    """Whether it may go better in a moment: a dropped connection, a busy server."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.is_server_error or error.response.status_code == 429
    return isinstance(error, httpx.TransportError)


TRIED_AGAIN = retry(
    retry=retry_if_exception(may_pass),
    stop=stop_after_attempt(5),
    wait=wait_exponential(multiplier=0.5, max=20),
    reraise=True,
)


@TRIED_AGAIN
def get(client: httpx.Client, url: str) -> bytes:
    """The body of one answer."""
    return client.get(url).raise_for_status().content


def download(client: httpx.Client, url: str, target: Path, entry: Entry) -> None:
    """Download one file, by way of a neighbour that keeps what has come until it is whole.

    Raises:
        SeamError: What came is not the listed file; nothing of it is kept.
    """
    part = target.with_name(f"{target.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    resume(client, url, part, entry)
    if not is_whole(part, entry):
        size = part.stat().st_size
        part.unlink()
        raise SeamError(
            f"{url}: came with {size} bytes and is not the file that the repository lists "
            f"({entry.size} bytes, {entry.sha[:12]}). Start again; if that happens again, correct "
            f"release.address in params.yaml. {BY_HAND}"
        )
    part.replace(target)


@TRIED_AGAIN
def resume(client: httpx.Client, url: str, part: Path, entry: Entry) -> None:
    """Append what is lacking; a server that sends everything anew is taken at its word."""
    here = part.stat().st_size if part.exists() else 0
    if here >= entry.size:
        return
    with client.stream("GET", url, headers={"Range": f"bytes={here}-"} if here else {}) as answer:
        answer.raise_for_status()
        with part.open("ab" if answer.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as file:
            for chunk in answer.iter_bytes():
                file.write(chunk)
    if (size := part.stat().st_size) < entry.size:
        raise httpx.ReadError(f"{url} ended after {size} of {entry.size} bytes")


def is_whole(path: Path, entry: Entry) -> bool:
    """Whether a file is the listed one, by its size and by its digest as Git computes it."""
    data = path.read_bytes()
    return len(data) == entry.size and blob_sha(data) == entry.sha


def blob_sha(data: bytes) -> str:
    """What Git names a file's content by."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
