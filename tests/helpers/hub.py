"""Handlers for `listening`: a small hub that `datasets` reads from, and the posts' API."""

import io
import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from tests.helpers.server import Handler

COMMIT = "a" * 40


def parquet(rows: bytes) -> bytes:
    """JSON Lines as a parquet file."""
    out = io.BytesIO()
    pa.parquet.write_table(pa.json.read_json(io.BytesIO(rows)), out)
    return out.getvalue()


def hub(datasets: dict[str, dict[str, bytes]]) -> type[Handler]:
    """A hub of datasets, each a mapping of path to content; as much of its API as is asked for."""

    class Hub(Handler):
        def do_GET(self) -> None:  # noqa: N802
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = urlsplit(self.path).path
            for name, files in datasets.items():
                entries = [
                    {"type": "file", "path": file, "size": len(data), "oid": "b" * 40}
                    for file, data in files.items()
                ]
                if path.startswith((f"/api/datasets/{name}/tree/", f"/api/datasets/{name}/paths")):
                    return self.send(json.dumps(entries).encode())
                if path.startswith(f"/api/datasets/{name}"):
                    siblings = [{"rfilename": file} for file in files]
                    about = {"id": name, "sha": COMMIT, "siblings": siblings, "tags": []}
                    return self.send(json.dumps(about).encode())
                for file, data in files.items():
                    if path.startswith(f"/datasets/{name}/resolve/") and path.endswith(f"/{file}"):
                        return self.send(data, ETag=f'"{file}"', X_Repo_Commit=COMMIT)
            known = any(f"/datasets/{name}/" in path for name in datasets)
            code = "EntryNotFound" if known else "RepoNotFound"
            return self.send(b"{}", 404, X_Error_Code=code, X_Repo_Commit=COMMIT)

        do_HEAD = do_POST = do_GET  # noqa: N815

    return Hub


def api(answer: Callable[[str, dict[str, str]], tuple[int, bytes]]) -> type[Handler]:
    """An API whose answer to (path, query) is a status and a body."""

    class Api(Handler):
        def do_GET(self) -> None:  # noqa: N802
            url = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            status, body = answer(url.path, query)
            self.send(body, status)

    return Api
