"""A scratch project, and the command `seam` in it."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from click.testing import Result
from typer.testing import CliRunner

from seam_lib.build.clusters import build_benchmark
from seam_lib.cli import app
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_rows
from seam_lib.core.params import CorpusParams, WildParams, load_params
from seam_lib.core.rows import Case
from seam_lib.core.run import Run, load_run
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.runner import infer
from seam_lib.score.scorer import score_files
from tests.helpers.cases import trial_cases

ROOT = Path(__file__).resolve().parents[2]
#: `seam` as a process.
SEAM = [sys.executable, "-c", "from seam_lib.cli import main; main()"]


# --- The command ----------------------------------------------------------------------------------


def seam(*arguments: object, cwd: Path | None = None, answer: str | None = None) -> Result:
    """Run the command in this process; a SeamError is in the result, any other error is raised."""
    with contextlib.chdir(cwd or Path.cwd()):
        environment = {"COLUMNS": "120", "TERM": "dumb"}
        words = [str(argument) for argument in arguments]
        done = CliRunner().invoke(app, words, input=answer, env=environment)
    if done.exception and not isinstance(done.exception, SystemExit | SeamError):
        raise done.exception
    return done


def seam_process(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own, as a shell does."""
    words = [*SEAM, *map(str, arguments)]
    return subprocess.run(words, cwd=cwd, env=environment(), capture_output=True, text=True)


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that works in another folder and finds the library."""
    return os.environ | {"PYTHONPATH": str(ROOT)} | more


# --- Projects -------------------------------------------------------------------------------------

#: What a build reads.
BUILD = (
    "data/sources",
    "data/conditions",
    "data/comments.yaml",
    "data/published/clusters.csv",
    "data/published/assignments.csv",
)


def scratch_project(folder: Path, *paths: str, **sections: dict[str, Any]) -> Path:
    """Make `folder` a project with copies of tracked paths; `sections` change params.yaml."""
    for path in ("dvc.yaml", "params.yaml", *paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
        copy(ROOT / path, folder / path)

    def change(params: dict[str, Any]) -> None:
        for name, values in sections.items():
            params[name] = values if name == "runs" else params[name] | values

    change_params(folder, change)
    return folder


def change_params(root: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change params.yaml in place."""
    path = root / "params.yaml"
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(params)
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")


def build_project(folder: Path, **build: Any) -> Path:
    """A project that can build, with some of the `build` settings changed."""
    return scratch_project(folder, *BUILD, build=build)


def report_project(folder: Path, **build: Any) -> Path:
    """A project that can build, ask, score and report: with the panel's numbers, without runs."""
    return scratch_project(
        folder,
        *(*BUILD, "data/published/panel.csv", "data/published/labels.csv"),
        build={"name": "small"} | build,
        analysis={"bootstrap_draws": 200},
    )


def scored_project(folder: Path, url: str, names: Sequence[str], **build: Any) -> Path:
    """The same with scored runs of the stand-in at `url`, under each of the names."""
    root = report_project(folder, **build)
    settings = {"benchmark": "small", "provider": "openai", "model": "standin-1", "base_url": url}
    change_params(root, lambda params: params.update(runs={name: dict(settings) for name in names}))
    build_benchmark(root, load_params(root).build)
    for name in names:
        run = load_run(root, name)
        infer(run, load_prompts(run))
        score_files(root, run.benchmark, run.outputs, run.labels, None)
    return root


def trial_run(folder: Path, cases: Sequence[Case] | None = None, **settings: Any) -> Run:
    """A project with one run, named "trial", over a benchmark of these cases."""
    given = {"benchmark": "trial", "provider": "openai", "model": "m", "backoff_seconds": 0.01}
    scratch_project(folder, runs={"trial": given | settings})
    write_rows(folder / "data" / "benchmark" / "trial" / "permissive.jsonl", cases or trial_cases())
    return load_run(folder, "trial")


# --- The occurrence audit -------------------------------------------------------------------------

PLAIN = CorpusParams(folder="corpus", id="conversation_hash", language="language")


def wild_project(folder: Path, rows: int = 300, shards: int = 2, **wild: Any) -> WildParams:
    """A project whose corpus has a few hundred rows of our own; gives its `wild` section."""
    scratch_project(folder, wild={"workers": 1, **wild})
    sizes = {"shards": shards, "rows_per_shard": rows // shards}
    change_params(folder, lambda p: p["wild"]["known"]["synthetic"]["synthetic"].update(sizes))
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
