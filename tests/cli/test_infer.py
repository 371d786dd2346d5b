import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seam_lib.cli import main
from seam_lib.core.run import Run
from seam_lib.infer.traces import read_traces
from tests.helpers.cases import trial_cases
from tests.helpers.project import SEAM, seam, trial_run
from tests.helpers.server import Script, run_batch, serving

KEY = "sk-canary-0123456789"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments: str) -> tuple[int, str]:
    """Run `seam`; its exit status and its words on one line."""
    done = seam(*arguments)
    return done.exit_code, " ".join(done.output.split())


def call(
    project: Path, script: Script, *arguments: str, **settings: object
) -> tuple[int, str, Run]:
    with serving(script) as server:
        run = trial_run(project, cases=trial_cases(2), base_url=f"{server.url}/v1", **settings)
        return *command("infer", "trial", *arguments), run


def test_a_complete_run_says_so_and_ends_with_success(project: Path) -> None:
    code, text, _ = call(project, lambda body, n: "ok")
    assert code == 0
    assert "all 12 12 0 0 0" in text
    assert "12/12" in text
    assert "Continue with" not in text


def test_a_partial_run_counts_what_is_missing_and_fails(project: Path) -> None:
    code, text, _ = call(project, lambda body, n: "ok", "--limit", "3")
    assert code == 1
    assert "all 12 3 0 0 9" in text
    assert "9 of 12 cases have no answer yet. Continue with: seam infer trial" in text


def test_unusable_cases_are_never_hidden(project: Path) -> None:
    code, text, _ = call(project, lambda body, n: "length", attempts=2)
    assert code == 1
    assert "all 12 0 12 12 0" in text
    assert "12 x cut off at the token limit" in text
    assert "12 of 12 cases are unusable: no answer drawn was whole" in text


def test_the_providers_own_words_are_shown(project: Path) -> None:
    code, text, _ = call(project, lambda body, n: "limit")
    assert code == 1
    assert "stopped: 5 equal failures in a row: HTTP 400: You have reached your specified" in text
    assert "Continue with: seam infer trial" in text


def test_the_key_is_never_printed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", KEY)
    _, text, _ = call(project, lambda body, n: "echo key", key_env="CANARY")
    assert "Incorrect API key provided" in text
    assert KEY not in text


def test_a_dry_run_calls_nobody(project: Path) -> None:
    run = trial_run(project, cases=trial_cases(2), price_in=1.0, price_out=5.0)
    code, text = command("infer", "trial", "--dry-run")
    assert code == 0
    assert "12 planned, 0 settled" in text
    assert "calls 12" in text
    assert "at most $0.25" in text
    assert "Nothing was called." in text
    assert not run.traces.exists()


def test_a_recheck_reports_how_many_answers_are_the_same(project: Path) -> None:
    with serving(lambda body, n: "ok") as server:
        trial_run(project, cases=trial_cases(2), base_url=f"{server.url}/v1")
        command("infer", "trial")
        code, text = command("infer", "trial", "--recheck", "5")
        assert (code, "5 of 5 answers are identical" in text) == (0, True)
        server.script = lambda body, n: "empty"
        code, text = command("infer", "trial", "--recheck", "20")
    assert "0 of 12 answers are identical" in text
    assert text.count("differs:") == 12
    assert "20 were wanted" in text


def test_a_batch_goes_out_and_comes_back(project: Path) -> None:
    trial_run(project, cases=trial_cases(2))
    code, text = command("infer", "trial", "--export-batch", "b.jsonl")
    assert (code, "b.jsonl: 12 calls" in text) == (0, True)
    run_batch(project / "b.jsonl", project / "r.jsonl")
    code, text = command("infer", "trial", "--import-batch", "r.jsonl")
    assert code == 0
    assert "12 attempts imported; 0 were already in the traces" in text
    assert "all 12 12 0 0 0" in text


def test_options_that_contradict_each_other_are_refused(project: Path) -> None:
    trial_run(project)
    code, text = command("infer", "trial", "--dry-run", "--recheck", "3")
    assert code == 2
    assert "cannot be combined" in text


def test_health_is_printed_with_its_warnings(project: Path) -> None:
    call(project, lambda body, n: "length" if n == 0 else "ok")
    code, text = command("health", "trial")
    assert code == 0
    assert "temperature 0.0 all" in text
    assert "served model served-model all" in text
    assert "No warnings." in text


def test_health_names_answers_that_extraction_empties(project: Path) -> None:
    call(project, lambda body, n: "ok")
    path = project / "data" / "traces" / "trial.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[0]["response"] = "I noticed that this is unrelated."
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, text = command("health", "trial")
    assert code == 0
    assert "warning: the returned text is empty, though the answer is not, and so counts" in text
    assert rows[0]["case_id"] in text and "No warnings." not in text


def test_an_unknown_run_is_explained_without_a_traceback(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trial_run(project)
    monkeypatch.setattr(sys, "argv", ["seam", "infer", "nobody"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "no run 'nobody'; the runs are: trial" in capsys.readouterr().err


def test_ctrl_c_ends_with_counts_and_the_command_to_go_on(project: Path) -> None:
    with serving(lambda body, n: "ok" if len(server.bodies) <= 4 else "hang") as server:
        run = trial_run(project, cases=trial_cases(2), base_url=f"{server.url}/v1",
                        concurrency=1)  # fmt: skip
        process = subprocess.Popen([*SEAM, "infer", "trial"], stdout=subprocess.PIPE, text=True)
        while len(server.bodies) < 5:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted; every finished answer is on record" in text
    assert "8 of 12 cases have no answer yet" in text
    assert len(read_traces(run.traces)) == 4
