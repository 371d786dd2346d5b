"""The notebooks as they are stored. That running them gives the stored output is nbval's part:
`pytest` collects `notebooks/` and runs every cell (see pyproject.toml).
"""

import ast
import base64
import re
import socket
from pathlib import Path

import nbformat
import pytest

from seam_lib.core.params import find_root

ROOT = find_root(Path(__file__).parent)
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


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    found = nbformat.read(request.param, as_version=4)
    nbformat.validate(found)
    return found


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
