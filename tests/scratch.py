"""A scratch project for tests: the real parameters, comments and rows in a folder of its own."""

import shutil
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent


def scratch_project(folder: Path, **build: Any) -> Path:
    """Copy what a build needs, with some of params.yaml's `build` settings changed."""
    shutil.copytree(ROOT / "data" / "sources", folder / "data" / "sources")
    (folder / "data" / "published").mkdir()
    (folder / "data" / "conditions").mkdir()
    for name in ("clusters.csv", "assignments.csv"):
        shutil.copy(ROOT / "data" / "published" / name, folder / "data" / "published")
    shutil.copy(ROOT / "data" / "comments.yaml", folder / "data")
    shutil.copy(ROOT / "dvc.yaml", folder)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["build"] |= build
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    return folder
