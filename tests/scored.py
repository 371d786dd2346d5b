"""A scratch project with runs of the stand-in that are asked and scored, ready to report."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from scratch import ROOT, scratch_project

from seam_lib.build.clusters import build_benchmark
from seam_lib.core.params import load_params
from seam_lib.core.run import load_run
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.runner import infer
from seam_lib.score.scorer import score_files


def report_project(folder: Path, **build: Any) -> Path:
    """A project that can build, ask, score and report: with the panel's numbers, without runs."""
    root = scratch_project(folder, name="small", **build)
    shutil.copy(ROOT / "data" / "published" / "panel.csv", root / "data" / "published")
    (root / "paper").mkdir()
    shutil.copy(ROOT / "paper" / "statistics.json", root / "paper")
    change_params(root, lambda params: params["analysis"].update(bootstrap_draws=200))
    return root


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


def change_params(root: Path, change: Any) -> None:
    """Change params.yaml in place."""
    path = root / "params.yaml"
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(params)
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
