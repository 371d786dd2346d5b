"""The house: what a stage imports is what it depends on. `lint-imports` holds the floors."""

import ast
import inspect
import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest
import typer.main
import yaml

from seam_lib.cli import app
from tests.helpers.project import ROOT

STAGES: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]


@cache
def graph() -> grimp.ImportGraph:
    """The imports of the library, those inside functions too."""
    return grimp.build_graph("seam_lib", cache_dir=None)


def imported(code: str) -> set[str]:
    """The modules of the library that a piece of code imports."""
    modules = graph().modules
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seam_lib"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & modules) or {str(node.module)}
    return found


def notebook_code(path: Path) -> str:
    """The code of a notebook, without its magic lines."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "".join("".join(c["source"]) + "\n" for c in cells if c["cell_type"] == "code")
    return re.sub(r"(?m)^%.*$", "", code)


def command_code(words: list[str]) -> tuple[str, str]:
    """The body of a `seam` command and the module that holds it."""
    command: Any = typer.main.get_command(app)
    for word in words:
        command = command.commands.get(word, command) if hasattr(command, "commands") else command
    function = inspect.unwrap(command.callback)
    return inspect.getsource(function), function.__module__


def entries(stage: dict[str, Any]) -> Iterator[tuple[set[str], set[str]]]:
    """What each command of a stage imports at first, and the modules of `cli` that it is in."""
    commands = stage["cmd"] if isinstance(stage["cmd"], list) else [stage["cmd"]]
    for command in commands:
        words = shlex.split(command)
        if words[0] == "seam":
            code, module = command_code(words[1:])
            yield imported(code), {module}
        else:
            yield imported(notebook_code(ROOT / words[1])), set()


def place(module: str) -> str:
    """Where a module's room lies, as dvc.yaml names it."""
    room = module.split(".")[1]
    if room == "cli":
        return f"seam_lib/{'/'.join(module.split('.')[1:])}.py"
    return f"seam_lib/{room}" if (ROOT / "seam_lib" / room).is_dir() else f"seam_lib/{room}.py"


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_the_rooms_that_it_imports(name: str) -> None:
    stage = STAGES[name].get("do", STAGES[name])
    needed: set[str] = set()
    for modules, shown_by in entries(stage):
        reached = modules.union(*map(graph().find_upstream_modules, modules))
        needed |= {place(module) for module in reached | shown_by if "." in module}
    listed = {path for path in stage["deps"] if path.startswith("seam_lib")}
    assert listed == needed


def test_a_change_of_the_audit_reaches_the_audits_stages_alone() -> None:
    touched = {name for name in STAGES if "seam_lib/wild" in str(STAGES[name])}
    assert touched == {"wild_screen", "wild_judge", "wild_audit"}


def test_the_package_itself_holds_nothing_that_a_stage_could_miss() -> None:
    """`seam_lib/__init__.py` is in no stage's list, so it must stay a docstring."""
    (only,) = ast.parse((ROOT / "seam_lib" / "__init__.py").read_text(encoding="utf-8")).body
    assert isinstance(only, ast.Expr)
