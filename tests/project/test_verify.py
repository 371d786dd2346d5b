import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from seam_lib.core.errors import SeamError
from seam_lib.verify import Check, copy_tracked, execute, read_lock, verify
from tests.helpers.project import seam

#: Two stages: `letters` makes a folder by code and a parameter, `pack` one file from it by shell.
PIPELINE = """
    stages:
      letters:
        cmd: python letters.py
        deps: [letters.py, words.txt]
        params: [copies]
        outs:
          - letters:
              cache: false
      pack:
        cmd: cat letters/*.txt > pack.txt
        deps: [letters, note.txt]
        outs:
          - pack.txt:
              cache: false
"""
LETTERS = """
    import pathlib, yaml
    from shout import shout
    copies = yaml.safe_load(open("params.yaml"))["copies"]
    folder = pathlib.Path("letters")
    folder.mkdir(exist_ok=True)
    for word in open("words.txt").read().split():
        (folder / f"{word}.txt").write_text(shout(word) * copies)
"""
FILES = {
    "dvc.yaml": PIPELINE,
    "letters.py": LETTERS,
    "shout.py": "def shout(word): return word.upper()\n",  # no dependency of any stage
    "params.yaml": "copies: 2\n",
    "words.txt": "a b\n",
    "note.txt": "read by no one\n",
    ".dvc/config": "[core]\nanalytics = false\ncheck_update = false\n",
    ".dvc/.gitignore": "/tmp\n/cache\n",
    ".gitignore": "__pycache__/\n*.log\n",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A small project that was run once."""
    folder = tmp_path_factory.mktemp("template")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip("\n"))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    execute(folder, [])
    return folder


@pytest.fixture
def project(template, tmp_path):
    return Path(shutil.copytree(template, tmp_path / "project"))


def run_cli(project, monkeypatch, *arguments):
    """`seam verify` in a project folder: exit status and what it prints."""
    monkeypatch.setattr("seam_lib.core.params.find_root", lambda: project)
    done = seam("verify", *arguments)
    return done.exit_code, done.stdout


def verdicts(lines: list[Check]) -> dict[str, str]:
    return {line.path: line.verdict for line in lines}


SAME = {"letters/a.txt": "same", "letters/b.txt": "same", "pack.txt": "same"}


def test_what_reproduces_is_said_line_by_line(project, monkeypatch):
    (project / "run.log").write_text("ignored by git")
    status, printed = run_cli(project, monkeypatch)
    assert status == 0
    rows = [line.split() for line in printed.splitlines()[:-1]]
    assert [(r[0], r[1], r[-1]) for r in rows] == [
        ("letters", "letters/a.txt", "same"),
        ("letters", "letters/b.txt", "same"),
        ("pack", "pack.txt", "same"),
    ]
    assert all(expected == got and len(got) == 12 for _, _, expected, got, _ in rows)
    assert printed.splitlines()[-1] == "3 outputs reproduced byte for byte."


def append(project, name, text="x"):
    with (project / name).open("a") as handle:
        handle.write(text)


def replace(project, name, old, new):
    text = (project / name).read_text()
    assert old in text
    (project / name).write_text(text.replace(old, new))


#: name: (damage, the lines that are not "same").
DAMAGE = {
    "a byte of an output": (lambda p: append(p, "pack.txt"), {"pack.txt": "edited"}),
    "a byte in a folder of outputs": (
        lambda p: append(p, "letters/b.txt"),
        {"letters/b.txt": "edited"},
    ),
    "an output that is gone": (lambda p: (p / "pack.txt").unlink(), {"pack.txt": "missing"}),
    "one of a folder that is gone": (
        lambda p: (p / "letters/a.txt").unlink(),
        {"letters/a.txt": "missing"},
    ),
    "one too many in a folder": (
        lambda p: append(p, "letters/c.txt"),
        {"letters/c.txt": "edited"},
    ),
    "an input that changes an output": (
        lambda p: (p / "words.txt").write_text("a c\n"),
        {
            "words.txt": "changed input",
            "letters/b.txt": "not made",
            "letters/c.txt": "differs",
            "letters/": "differs",
            "pack.txt": "differs",
        },
    ),
    "an input that changes no output": (
        lambda p: append(p, "note.txt"),
        {"note.txt": "changed input"},
    ),
    "code that changes no output": (
        lambda p: replace(p, "shout.py", "upper", "title"),
        {},  # the words are single letters: both make the same of them
    ),
    "code that changes an output": (
        lambda p: replace(p, "shout.py", "word.upper()", "word.upper() + '!'"),
        {
            "letters/a.txt": "differs",
            "letters/b.txt": "differs",
            "letters/": "differs",
            "pack.txt": "differs",
        },
    ),
    "a parameter": (
        lambda p: (p / "params.yaml").write_text("copies: 3\n"),
        {
            "params.yaml:copies": "changed input",
            "letters/a.txt": "differs",
            "letters/b.txt": "differs",
            "letters/": "differs",
            "pack.txt": "differs",
        },
    ),
    "a command": (
        lambda p: replace(p, "dvc.yaml", "cat letters/*.txt", "cat letters/?.txt"),
        {"dvc.yaml:cmd": "changed input"},
    ),
}


#: What is done in one go, since a run of DVC takes seconds: no damage here hides another.
TOGETHER = [
    ["a byte of an output", "a byte in a folder of outputs"],
    ["an output that is gone", "one of a folder that is gone", "a command"],
    ["one too many in a folder", "an input that changes no output", "code that changes no output"],
]
ALONE = [[name] for name in DAMAGE if not any(name in names for names in TOGETHER)]


@pytest.mark.parametrize("names", [*TOGETHER, *ALONE], ids=" and ".join)
def test_damage_is_caught(project, monkeypatch, names):
    expected = {}
    for damage, found in (DAMAGE[name] for name in names):
        damage(project)
        expected |= found
    before = {f: f.read_bytes() for f in project.rglob("*") if f.is_file()}
    status, printed = run_cli(project, monkeypatch)
    found = {}
    for line in printed.splitlines():
        for verdict in ("differs", "edited", "missing", "changed input", "not made"):
            if line.endswith(f"  {verdict}"):
                found[line.split()[1]] = verdict
    assert found == expected
    assert status == (1 if expected else 0)
    if expected:
        assert "dvc repro" in printed.splitlines()[-1]
    after = {f: f.read_bytes() for f in project.rglob("*") if f.is_file()}
    assert after == before  # verify looks, it mends nothing


def test_a_renamed_stage_is_neither_the_same_nor_overlooked(project, monkeypatch):
    replace(project, "dvc.lock", "  pack:\n", "  old:\n")
    lines = verify(project)
    assert verdicts(lines) == {
        "dvc.lock": "not in dvc.yaml",
        "dvc.yaml": "not in dvc.lock",
        "letters/a.txt": "same",
        "letters/b.txt": "same",
    }
    assert [line.stage for line in lines if line.verdict != "same"] == ["old", "pack"]
    monkeypatch.setattr("seam_lib.verify.verify", lambda *_: lines)
    status, printed = run_cli(project, monkeypatch)
    assert status == 1
    assert "delete its entry in dvc.lock" in printed


def test_a_stage_may_be_verified_alone(project):
    append(project, "letters/a.txt")
    lines = verify(project, ["pack"])
    assert {line.stage for line in lines} == {"pack"}
    # What another stage makes is an input here: it is not the one on record.
    assert verdicts(lines) == {"letters": "changed input", "pack.txt": "differs"}
    assert verdicts(verify(project, ["letters"])) == {
        "letters/a.txt": "edited",
        "letters/b.txt": "same",
    }


def test_a_stage_with_chance_in_it_does_not_reproduce(project):
    replace(project, "dvc.yaml", "cat letters/*.txt > pack.txt", "date +%s%N > pack.txt")
    assert verdicts(verify(project, ["pack"]))["pack.txt"] == "differs"


def test_variants_are_chosen_by_the_name_before_the_at(project):
    (project / "dvc.yaml").write_text(
        textwrap.dedent("""
        stages:
          copy:
            foreach: [a, b]
            do:
              cmd: cp words.txt ${item}.out
              deps: [words.txt]
              outs:
                - ${item}.out:
                    cache: false
        """)
    )
    execute(project, [])
    assert verdicts(verify(project, ["copy"])) == {"a.out": "same", "b.out": "same"}
    assert verdicts(verify(project, ["copy@b"])) == {"b.out": "same"}


# --- what stops it ----------------------------------------------------------------------------


def test_an_unknown_stage_names_the_known_ones(project):
    with pytest.raises(SeamError, match=r"unknown stage 'pick'; dvc\.lock has letters, pack"):
        verify(project, ["pack", "pick"])


def test_a_failing_stage_shows_the_end_of_what_it_printed(project):
    append(project, "letters.py", "\nraise SystemExit('the dog ate it')\n")
    with pytest.raises(SeamError) as caught:
        verify(project, ["letters"])
    message = str(caught.value)
    assert message.startswith("`dvc repro --force --single-item letters` failed on a copy")
    assert "the dog ate it" in message


def test_a_missing_input_is_named(project):
    (project / "words.txt").unlink()
    with pytest.raises(SeamError, match=r"words\.txt"):
        verify(project, ["letters"])


def test_a_missing_lock_says_what_to_do(project):
    (project / "dvc.lock").unlink()
    with pytest.raises(SeamError, match=r"dvc\.lock: no such file. Run `dvc repro` first"):
        verify(project)


@pytest.mark.parametrize("text", ["", "stages:\n", "- a\n", "<<<<<<< HEAD\nstages: {}\n", "a: [\n"])
def test_a_damaged_lock_is_named(project, text):
    (project / "dvc.lock").write_text(text)
    with pytest.raises(SeamError, match=r"dvc\.lock: not a lock file"):
        read_lock(project)


def test_outside_a_git_clone_git_says_so(template, tmp_path):
    project = shutil.copytree(template, tmp_path / "p", ignore=shutil.ignore_patterns(".git"))
    with pytest.raises(SeamError, match="not a git repository"):
        verify(project)


def test_without_git_it_is_named(project, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SeamError, match="`git` is not installed"):
        verify(project)


# --- the copy ---------------------------------------------------------------------------------


def test_the_copy_has_what_git_would_track_as_it_is_now(project, tmp_path, monkeypatch):
    (project / "new file é.txt").write_text("not yet added")
    (project / "run.log").write_text("ignored")
    (project / "words.txt").unlink()
    script = project / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))  # as in a git hook
    copy_tracked(project, tmp_path / "copy")
    names = {f.name for f in (tmp_path / "copy").iterdir()}
    assert {"new file é.txt", "letters", "pack.txt", "dvc.lock", ".git"} <= names
    assert not {"run.log", "words.txt", "__pycache__"} & names
    assert (tmp_path / "copy/run.sh").stat().st_mode & 0o100
    assert not (tmp_path / "elsewhere").exists()


# --- the real project -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("real") / "project"
    copy_tracked(root, folder)
    return folder


@pytest.fixture
def restored(real):
    """The copy of the real project, put back after each test."""
    names = ("paper", "seam_lib")
    kept = {f: f.read_bytes() for name in names for f in (real / name).rglob("*") if f.is_file()}
    yield real
    for file, data in kept.items():
        file.write_bytes(data)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            [("paper/report.pdf", b"%PDF-", b"%PDf-"), ("paper/statistics.json", b"\n", b"\n\n")],
            {"paper/report.pdf": "edited", "paper/statistics.json": "changed input"},
        ),
        (
            [
                ("paper/report.typ", b"People paste", b"people paste"),
                ("seam_lib/core/files.py", b"handle.write(data)", b"handle.write(data + bytes(1))"),
            ],
            {
                "paper/report.typ": "changed input",
                "seam_lib/core": "changed input",
                "paper/report.pdf": "differs",
            },
        ),
    ],
    ids=["output, and input of no effect", "input and code"],
)
def test_a_change_in_the_real_project_is_caught(restored, monkeypatch, changes, expected):
    for name, old, new in changes:
        data = (restored / name).read_bytes()
        assert old in data
        (restored / name).write_bytes(data.replace(old, new, 1))
    lines = verify(restored, ["paper"])
    assert {k: v for k, v in verdicts(lines).items() if v != "same"} == expected
    monkeypatch.setattr("seam_lib.verify.verify", lambda *_: lines)
    assert run_cli(restored, monkeypatch, "--stage", "paper")[0] == 1
