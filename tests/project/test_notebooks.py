"""The notebooks as they are stored. That running them gives the stored output is nbval's part:
`pytest` collects `notebooks/` and runs every cell (see pyproject.toml).
"""

import ast
import base64
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from seam_lib.build.clusters import build_benchmark
from seam_lib.core.params import find_root, load_params
from tests.helpers.project import build_project
from tests.helpers.release_like import release_project

ROOT = find_root(Path(__file__).parent)
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: What would differ on another machine or at another time.
TRACES = {
    "absolute path": r"(?<![\w.:/])/(?:home|root|Users|work|tmp|usr|var|opt|mnt)/",
    "Windows path": r"\b[A-Z]:\\",
    "date and time": r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}",
    "time of day": r"\b\d{1,2}:\d{2}:\d{2}\b",
    "address in memory": r"\b0x[0-9a-f]{6,}\b",
    "host name": rf"\b{re.escape(socket.gethostname())}\b",
}


#: The numbers that a sentence may hold: where something stands, and what the paper did. All others
#: are results, and so a cell's to show.
NUMBERS = (
    r"(?:Sections?|Appendix|Figure|Tables?) \d+(?:\.\d+)?",
    "95%",
    "95th percentile",
    "80% power",
    "at temperature 0",
    "which has 50 clusters a source",
    "at most 6 of 100,500 such pairs",
    r"coedit:\d+",
)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    found = nbformat.read(request.param, as_version=4)
    nbformat.validate(found)
    return found


def notebook_stages() -> dict[str, list[str]]:
    """The stages that are a notebook: name to the words of their command."""
    commands = {name: stage.get("do", stage)["cmd"] for name, stage in STAGES.items()}
    return {
        name: shlex.split(command)
        for name, command in commands.items()
        if "papermill" in command  # the others are `seam` commands, or lists of such
    }


def parameters(path: Path) -> dict[str, Any]:
    """What a notebook's parameter cell sets."""
    first = code_cells(nbformat.read(path, as_version=4))[0]
    statements = ast.parse(first.source).body
    return {s.targets[0].id: ast.literal_eval(s.value) for s in statements}  # type: ignore[attr-defined]


def in_params(key: str) -> Any:
    """The value of a dotted key of params.yaml."""
    value: Any = PARAMS
    for part in key.split("."):
        value = value[part]
    return value


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def test_there_are_notebooks_and_pytest_runs_them(request):
    assert NOTEBOOKS
    assert "notebooks" in request.config.getini("testpaths")
    assert request.config.option.nbval


def test_every_cell_was_run_in_order(notebook):
    # A widget's cell is skipped: what it shows belongs to a live kernel.
    stored = [c for c in code_cells(notebook) if "skip-execution" not in c.metadata.get("tags", [])]
    counts = [cell.execution_count for cell in stored]
    assert counts == list(range(1, len(counts) + 1))


def test_results_are_stored_and_none_is_an_error(notebook):
    kinds = [output.output_type for output in outputs(notebook)]
    assert kinds
    assert "error" not in kinds
    assert not [o for o in outputs(notebook) if o.get("name") == "stderr"]


def test_the_first_code_cell_holds_the_parameters_alone(notebook):
    first, *others = code_cells(notebook)
    assert first.metadata.get("tags") == ["parameters"]
    assert not [cell for cell in others if "parameters" in cell.metadata.get("tags", [])]
    for statement in ast.parse(first.source).body:
        assert isinstance(statement, ast.Assign | ast.AnnAssign)
        ast.literal_eval(statement.value)  # a value that papermill can replace


@pytest.mark.parametrize("stage", notebook_stages())
def test_a_parameter_has_one_home(stage):
    """DVC passes each parameter from params.yaml, and the cell's default is the value there."""
    words = notebook_stages()[stage]
    path = next(ROOT / word for word in words if word.startswith("notebooks/"))
    passed = {words[i + 1]: words[i + 2] for i, word in enumerate(words) if word == "-p"}
    defaults = parameters(path)
    assert passed.keys() == defaults.keys()
    for name, value in passed.items():
        key = re.fullmatch(r"\$\{(.+)\}", value)[1]
        if key == "key":  # a stage of each run
            assert defaults[name] in PARAMS["runs"]
        else:
            assert defaults[name] == in_params(key)


def test_the_notebook_that_is_no_stage_reads_a_run_of_params():
    stages = {word for words in notebook_stages().values() for word in words}
    (path,) = [p for p in NOTEBOOKS if f"notebooks/{p.name}" not in stages]
    assert set(parameters(path)["runs"]) <= PARAMS["runs"].keys()


def test_its_head_says_which_stage_it_is_and_what_runs_it(notebook, request):
    path = request.node.callspec.params["notebook"]
    head = notebook.cells[0]
    assert head.cell_type == "markdown"
    assert head.source.startswith("# ")
    for name, words in notebook_stages().items():
        if f"notebooks/{path.name}" in words:
            stage = f"{name}@RUN" if "foreach" in STAGES[name] else name
            assert f"> Stage `{stage}`. In: " in head.source
            assert f"Run it with `dvc repro {stage}`." in head.source


def test_no_sentence_holds_a_number_that_a_parameter_may_change(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"```.*?```|`[^`]*`|\]\(.*?\)", "", cell.source, flags=re.DOTALL)
            text = re.sub("|".join(NUMBERS), "", text)
            assert not re.search(r"(?<![\w-])\d", text), cell.source  # Qwen3, AC1 are names


def test_nothing_of_the_machine_or_the_hour_is_stored(notebook):
    assert set(notebook.metadata) == {"kernelspec"}
    assert set(notebook.metadata.kernelspec) == {"display_name", "language", "name"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}
        text = cell.source
        for output in cell.get("outputs", []):
            text += str(output.get("text", ""))
            text += "".join(
                str(data) for kind, data in output.get("data", {}).items() if kind[:6] != "image/"
            )
        for name, pattern in TRACES.items():
            assert not re.search(pattern, text), f"{name} in the cell {cell.source[:60]!r}"


@pytest.mark.parametrize(
    ("project", "build"),
    [
        (build_project, {"per_source": 3, "conditions": ["clean", "newline", "semantic_tags"]}),
        (release_project, {"clusters": "release"}),
    ],
    ids=["sample", "release"],
)
def test_the_cells_of_01_write_what_seam_build_writes(project, build, tmp_path):
    root = project(tmp_path / "project", name="mine", **build)
    params = load_params(root).build
    folder = build_benchmark(root, params)
    built = {file.name: file.read_bytes() for file in folder.iterdir()}
    shutil.rmtree(folder)
    given = {"name": "mine", "take": params.clusters, "per_source": params.per_source}
    subprocess.run(
        [sys.executable, "-m", "papermill", "--no-progress-bar", "--log-level", "ERROR"]
        + [ROOT / "notebooks" / "01_build.ipynb", tmp_path / "out.ipynb"]
        + [word for name, value in given.items() for word in ("-p", name, str(value))],
        cwd=root,
        check=True,
    )
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == built


def test_the_pictures_of_the_analysis_are_the_tracked_figures():
    """nbval does not compare pictures."""
    notebook = nbformat.read(ROOT / "notebooks/04_analysis.ipynb", as_version=4)
    stored = [
        base64.b64decode(output.data["image/png"])
        for output in outputs(notebook)
        if "image/png" in output.get("data", {})
    ]
    figures = {f.name: f.read_bytes() for f in (ROOT / "figures").glob("*.png")}
    assert len(stored) == 3
    assert sorted(stored) == sorted(figures.values())
