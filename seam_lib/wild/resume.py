"""Reuse of finished shards: a file counts only if it was made from exactly the same inputs."""

from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq

from seam_lib.core.files import write_bytes

_KEY = b"made_from"


def stamp(*things: object) -> bytes:
    """A digest of everything that a file depends on.

    Args:
        things: Modules stand for their source code, everything else for its `repr`.
    """
    parts = (
        Path(str(thing.__file__)).read_bytes()
        if isinstance(thing, ModuleType)
        else repr(thing).encode()
        for thing in things
    )
    return sha256(b"\0".join(parts)).hexdigest().encode()


def is_current(path: Path, made_from: bytes) -> bool:
    """Whether `path` is a complete parquet file with this stamp."""
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return False
    return metadata.get(_KEY) == made_from


def write_stamped(path: Path, table: pa.Table, made_from: bytes) -> None:
    """Write a table as a parquet file with its stamp; the file appears only when it is complete."""
    metadata = {**(table.schema.metadata or {}), _KEY: made_from}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink, row_group_size=5_000)
    write_bytes(path, sink.getvalue().to_pybytes())
