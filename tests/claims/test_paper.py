import re

import pytest

from seam_lib.claims.paper import compile_report
from seam_lib.core.errors import SeamError
from tests.helpers.project import scratch_project


@pytest.fixture
def project(tmp_path):
    """A copy of what the report reads, without the report."""
    scratch_project(tmp_path, "paper", "figures", "data/published/panel.csv")
    (tmp_path / "paper/report.pdf").unlink()
    return tmp_path


def test_the_same_inputs_are_the_tracked_bytes_in_any_folder(root, project):
    first = compile_report(project)
    assert first == project / "paper/report.pdf"
    made = first.read_bytes()
    assert made == (root / "paper/report.pdf").read_bytes()
    assert compile_report(project).read_bytes() == made


def test_the_report_carries_no_date_or_place(root):
    data = (root / "paper/report.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    for trace in (b"CreationDate", b"ModDate", b"/home/", b"/root", b"/work/"):
        assert trace not in data


def test_a_changed_number_changes_the_report(project):
    before = compile_report(project).read_bytes()
    path = project / "paper/statistics.json"
    text = path.read_text(encoding="utf-8")
    changed = text.replace('"rate": 0.666667', '"rate": 0.676667')
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    assert compile_report(project).read_bytes() != before


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("paper/statistics.json", "dvc repro"), ("figures/figure2.svg", "dvc repro")],
)
def test_a_missing_input_is_named_with_its_remedy(project, name, remedy):
    (project / name).unlink()
    with pytest.raises(SeamError) as caught:
        compile_report(project)
    message = str(caught.value)
    assert name.rpartition("/")[2] in message
    assert remedy in message
    assert not (project / "paper/report.pdf").exists()


def test_a_source_that_does_not_compile_leaves_the_old_report(project):
    before = compile_report(project).read_bytes()
    with (project / "paper/report.typ").open("a") as handle:
        handle.write("#let x = (\n")
    with pytest.raises(SeamError, match=r"report\.typ"):
        compile_report(project)
    assert (project / "paper/report.pdf").read_bytes() == before


def test_no_number_is_typed_in_the_text(root):
    """What is no code is words: the only digits of the prose are two conventions."""
    text = (root / "paper/report.typ").read_text(encoding="utf-8")
    prose = [line for line in text.splitlines() if re.match(r"[*_]?[A-Za-z]\w* [\w ,.]{20}", line)]
    assert len(prose) > 20
    allowed = re.compile(r"#if [^\[]*|`[^`]*`|#[\w.-]+\([^ ]*|95% interval|one-sided 95%|80% power")
    assert [line for line in prose if re.search(r"\d", allowed.sub("", line))] == []
