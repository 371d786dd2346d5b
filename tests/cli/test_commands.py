import subprocess
import sys

import pytest
import typer

from seam_lib.cli import app
from tests.helpers.project import seam, seam_process


def commands(group, path=()):
    """Every command and group of commands, with the words that call it."""
    for name, command in getattr(group, "commands", {}).items():
        yield (*path, name), command
        yield from commands(command, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_help_lists_every_command():
    shown = seam("--help").output
    assert {("paper",), ("verify",)} <= COMMANDS.keys()
    for path in COMMANDS:
        assert f" {path[0]} " in shown


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(path):
    done = seam(*path, "--help")
    assert done.exit_code == 0
    assert len(COMMANDS[path].help) > 30
    assert COMMANDS[path].help.split()[0] in done.output
    for option in COMMANDS[path].params:
        assert getattr(option, "help", None) or option.param_type_name == "argument", option.name


def test_no_command_is_help_and_not_a_traceback():
    done = seam_process()
    assert "Usage" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_loads_nothing_heavy():
    """`seam --help` answers at once: what a command needs is imported when it runs."""
    code = "import sys, seam_lib.cli\nprint(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        *("numpy", "pandas", "scipy", "statsmodels", "matplotlib", "seaborn", "torch"),
        *("transformers", "datasets", "pyarrow", "openai", "anthropic", "ray", "dvc", "typst"),
    }
    assert heavy & set(loaded) == set()
    assert "typer" in loaded


def test_an_unknown_stage_is_one_line_and_status_2():
    done = seam_process("verify", "--stage", "no-such-stage")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("seam: unknown stage 'no-such-stage'; dvc.lock has analysis")
    assert done.stderr.count("\n") == 1


def test_outside_a_project_is_one_line_and_status_2(tmp_path):
    for command in ("paper", "verify"):
        done = seam_process(command, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr == (
            f"seam: {tmp_path}: not inside a SEAM project. Change into the clone's folder.\n"
        )


def test_an_unknown_command_or_option_is_status_2_without_a_traceback():
    for arguments in (["no-such-command"], ["verify", "--no-such-option"]):
        done = seam_process(*arguments)
        assert done.returncode == 2
        assert "No such" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_bug_is_not_dressed_up_as_the_user_s_error(monkeypatch):
    monkeypatch.setattr("seam_lib.core.params.find_root", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        seam("paper")


def test_paper_names_what_it_wrote(monkeypatch, tmp_path):
    monkeypatch.setattr("seam_lib.core.params.find_root", lambda: tmp_path)
    monkeypatch.setattr("seam_lib.claims.paper.compile_report", lambda folder: folder / "x.pdf")
    done = seam("paper")
    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'x.pdf'}\n")
