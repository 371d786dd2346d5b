"""A scratch project for the occurrence audit: a small corpus of our own and the real parameters."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from seam_lib.core.params import CorpusParams, WildParams, load_params

ROOT = Path(__file__).resolve().parents[2]
PLAIN = CorpusParams(folder="corpus", id="conversation_hash", language="language")


def wild_project(folder: Path, rows: int = 300, shards: int = 2, **wild: Any) -> WildParams:
    """Make `folder` a project whose corpus has a few hundred rows; gives its `wild` section."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "dvc.yaml", folder)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    known = params["wild"]["known"]["synthetic"]
    known["synthetic"] |= {"shards": shards, "rows_per_shard": rows // shards}
    params["wild"] |= {"workers": 1, **wild}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    return load_params(folder).wild


def conversation(*turns: tuple[str | None, str | None]) -> list[dict[str, str | None]]:
    return [{"role": role, "content": content} for role, content in turns]


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Rows of `conversation_hash`, `conversation` and `language`, as WildChat has them."""
    turn = pa.struct({"role": pa.string(), "content": pa.string(), "toxic": pa.bool_()})
    schema = pa.schema(
        {
            "conversation_hash": pa.string(),
            "conversation": pa.list_(turn),
            "language": pa.string(),
            "turn": pa.int64(),
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path, row_group_size=2)
    return path
