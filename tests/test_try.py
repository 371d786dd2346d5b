"""From a model's name to its report: the shortest road, and all that may stop on it."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from samples import CASES
from scored import change_params, report_project
from standin import serving
from typer.testing import CliRunner, Result

from seam_lib.cli import app
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows
from seam_lib.core.params import load_params, load_trials
from seam_lib.core.rows import CONDITIONS, SOURCES, Case, Trace
from seam_lib.core.run import Run, load_cases, load_run
from seam_lib.infer.plan import Forecast
from seam_lib.trial import Silent, plan_trial, take_clusters, trial_name, try_model

Try = Callable[..., Result]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = report_project(tmp_path, per_source=2)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def trial(project: Path, url: str) -> Try:
    """Run `seam try` at the stand-in; a `SeamError` is raised, as only `main` prints it."""

    def run(*arguments: str, answer: str | None = None, address: str = url) -> Result:
        command = ["try", "lab/Stand-In_1", "--base-url", address, *arguments]
        return CliRunner().invoke(app, command, input=answer, env={"COLUMNS": "100"})

    return run


def calls(root: Path, name: str = "try-stand-in-1") -> list[Trace]:
    return list(read_rows(root / "data" / "traces" / f"{name}.jsonl", Trace))


# --- The whole road -------------------------------------------------------------------------------


def test_one_command_builds_asks_scores_and_reports(project: Path, trial: Try) -> None:
    done = trial("--limit", "24", "--yes")
    assert done.exit_code == 0, done.output
    for said in ("24 planned", "calls   24", "time    about", "cost    unknown", "4 of 4"):
        assert said in done.output
    assert "A small sample." in done.output and "Semantic tier: off" in done.output
    report = project / "reports" / "try-stand-in-1" / "report.md"
    assert "| lab/Stand-In_1 | " in report.read_text(encoding="utf-8").replace("\\", "")
    taken = read_benchmark(project / "data" / "benchmark" / "try-small-24")
    assert Counter(c.condition for c in taken) == dict.fromkeys(CONDITIONS, 4)
    assert len({case.source for case in taken}) == 4, "the sources take turns"


def test_it_goes_on_where_it_stopped_and_asks_nothing_twice(project: Path, trial: Try) -> None:
    trial("--limit", "12", "--yes")
    few = calls(project)
    again = trial("--limit", "12")
    assert again.exit_code == 0 and "calls   0" in again.output, "nothing to ask: no question"
    assert calls(project) == few
    assert trial("--yes").exit_code == 0
    everything = calls(project)
    assert everything[: len(few)] == few
    settled = Counter(t.case_id for t in everything if t.finish_reason == "stop")
    assert set(settled.values()) == {1} and len(settled) == 72


def test_a_no_calls_and_keeps_nothing(project: Path, trial: Try) -> None:
    assert trial("--limit", "6", answer="n\n").exit_code == 1
    assert not (project / "data" / "traces").exists()
    assert not (project / "data" / "runs").exists()


def test_every_other_command_knows_the_run(project: Path, trial: Try) -> None:
    trial("--limit", "6", "--yes", "--set", "concurrency=2")
    run = load_run(project, "try-stand-in-1")
    assert (run.settings.model, run.settings.concurrency) == ("lab/Stand-In_1", 2)
    assert len(load_cases(run)) == 6
    assert CliRunner().invoke(app, ["infer", "try-stand-in-1", "--dry-run"]).exit_code == 0
    assert CliRunner().invoke(app, ["report", "try-stand-in-1"]).exit_code == 0


def test_the_kept_settings_are_lines_for_params(project: Path, trial: Try, url: str) -> None:
    trial("--limit", "6", "--yes", "--set", "temperature=null")
    text = (project / "data" / "runs" / "try-stand-in-1.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == {
        "benchmark": "try-small-6",
        "provider": "openai",
        "model": "lab/Stand-In_1",
        "base_url": url,
        "temperature": None,
    }
    change_params(project, lambda params: params["runs"].update(mine=yaml.safe_load(text)))
    assert load_params(project).runs["mine"] == load_trials(project)["try-stand-in-1"]


def test_settings_are_kept_when_a_trial_goes_on(project: Path, trial: Try) -> None:
    trial("--limit", "6", "--yes", "--set", "max_tokens=900", "--price-in", "1", "--price-out", "2")
    more = trial("--limit", "12", "--yes")
    assert more.exit_code == 0 and "cost    about $" in more.output
    assert load_run(project, "try-stand-in-1").settings.max_tokens == 900


def test_a_run_of_params_lends_its_settings(project: Path) -> None:
    run = plan_trial(project, "embedded", {}, limit=24)
    assert run.name == "try-embedded"
    theirs = load_params(project).runs["embedded"]
    assert (run.settings.provider, run.settings.model) == (theirs.provider, theirs.model)
    assert (run.settings.server, run.settings.benchmark) == (theirs.server, "try-small-24")


# --- In a notebook's cell -------------------------------------------------------------------------


class Noted(Silent):
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def planned(self, run: Run, plan: Forecast) -> None:
        self.steps.append(f"planned {plan.calls}")

    def asked(self, run: Run, stopped: str | None) -> None:
        self.steps.append(f"asked {stopped}")


def test_one_call_takes_a_model_to_its_report(project: Path, url: str) -> None:
    noted = Noted()
    done = try_model(project, "m", {"base_url": url}, limit=12, watch=noted)
    assert noted.steps == ["planned 12", "asked None"]
    assert done.result is not None and done.report == project / "reports" / "try-m"
    assert (done.run.trial, done.result.run) == (True, done.run)
    assert set(done.result.analysis.rates["planned"]) == {2}
    assert (done.report / "report.html").exists()
    again = try_model(project, "m", limit=12, confirm=lambda: pytest.fail("nothing to ask"))
    assert again.result is not None


def test_a_trial_that_is_not_confirmed_leaves_nothing(project: Path, url: str) -> None:
    done = try_model(project, "m", {"base_url": url}, limit=6, confirm=lambda: False)
    assert (done.stopped, done.result, done.report) == ("not started", None, None)
    assert not (project / "data" / "traces").exists()
    assert not (project / "data" / "runs").exists()


def test_a_trial_that_lacks_answers_says_why_it_stopped(project: Path) -> None:
    settings = {"base_url": "http://127.0.0.1:9/v1", "backoff_seconds": 0.01}
    done = try_model(project, "m", settings, limit=6)
    assert done.stopped is not None and "no connection" in done.stopped
    assert (done.result, done.report) == (None, None)


# --- What may go wrong ----------------------------------------------------------------------------


def test_a_stopped_run_says_so_and_reports_nothing(project: Path, trial: Try) -> None:
    done = trial("--limit", "6", "--yes", "--set", "retries=0", address="http://127.0.0.1:9/v1")
    assert done.exit_code == 1
    assert "6 of 6 cases have no answer yet" in done.output
    assert not (project / "reports").exists() and not (project / "data" / "labels").exists()


def test_a_missing_key_is_named_before_any_call(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = CliRunner().invoke(app, ["try", "gpt-x", "--limit", "6", "--yes"])
    assert isinstance(done.exception, SeamError) and "OPENAI_API_KEY" in str(done.exception)


def test_the_embedded_model_says_how_to_install_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seam_lib.infer.providers.llamacpp.find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["try", "embedded", "--limit", "6", "--yes"])
    assert isinstance(done.exception, SeamError)
    assert "make embedded" in str(done.exception) and "pip install" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--limit", "5"], "a cluster has 6 cases"),
        (["--set", "temperature"], "write KEY=VALUE"),
        (["--set", "temperture=0"], "temperture"),
        (["--set", "concurrency=many"], "int"),
        (["--set", "extra_body={"], "not YAML"),
        (["--provider", "gemini"], "gemini"),
        (["--benchmark", "nowhere"], "nowhere"),
        (["--name", "///"], "--name"),
        (["--name", "x" * 200], "more than 100 characters"),
        (["--name", "a..b"], "cannot be a file's name"),
        (["--benchmark", "../small"], "'../small' cannot be a file's name"),
        (["--set", "benchmark=2026"], "benchmark"),
        (["--max-usd", "1"], "max_usd needs price_in and price_out"),
        (["--set", "concurrency=0"], "concurrency"),
        (["--set", "base_url=127.0.0.1:8000/v1"], "base_url"),
    ],
)
def test_what_cannot_be_is_refused(trial: Try, arguments: list[str], expected: str) -> None:
    done = trial(*arguments, "--yes")
    assert isinstance(done.exception, SeamError), done.output
    assert expected in str(done.exception)


def test_a_trial_says_where_its_settings_are_changed(project: Path) -> None:
    assert plan_trial(project, "m", {"base_url": "http://x"}).home == "data/runs/try-m.yaml"
    assert load_run(project, "embedded").home == "runs.embedded of params.yaml"


def test_a_run_is_a_trial_by_where_its_settings_lie(project: Path, trial: Try) -> None:
    trial("--limit", "6", "--yes")
    assert load_run(project, "try-stand-in-1").trial
    theirs = {"benchmark": "small", "provider": "openai", "model": "m"}
    change_params(project, lambda params: params["runs"].update({"try-x": theirs}))
    run = load_run(project, "try-x")
    assert not run.trial
    assert (run.home, run.command) == ("runs.try-x of params.yaml", "seam infer try-x")
    with pytest.raises(SeamError, match=r"runs.try-x of params.yaml is no trial.*seam infer try-x"):
        plan_trial(project, "x", {"base_url": "http://x"})
    change_params(project, lambda params: params["runs"].update({"try-stand-in-1": theirs}))
    taken_over = load_run(project, "try-stand-in-1")
    assert (taken_over.trial, taken_over.settings.model) == (False, "m"), "params.yaml wins"


def test_a_name_that_is_nearly_a_run_is_asked_about(project: Path) -> None:
    with pytest.raises(SeamError, match="Did you mean 'embedded'"):
        plan_trial(project, "embeded", {})
    assert plan_trial(project, "embeded", {"base_url": "http://x"}).settings.model == "embeded"


def test_refused_settings_leave_the_trial_as_it_was(project: Path, trial: Try) -> None:
    assert trial("--limit", "6", "--yes").exit_code == 0
    path = project / "data" / "runs" / "try-stand-in-1.yaml"
    before = path.read_text(encoding="utf-8")
    done = trial("--limit", "6", "--set", "max_tokens=99", "--yes")
    assert isinstance(done.exception, SeamError)
    assert "--name" in str(done.exception) and "try-stand-in-1.yaml" in str(done.exception)
    assert path.read_text(encoding="utf-8") == before
    assert trial("--limit", "6", "--yes").exit_code == 0


def test_calls_that_failed_bind_no_settings(project: Path, trial: Try) -> None:
    dead = trial("--limit", "6", "--yes", "--set", "retries=0", address="http://127.0.0.1:9/v1")
    assert "Is a server running at http://127.0.0.1:9/v1?" in " ".join(dead.output.split())
    assert trial("--limit", "6", "--set", "max_tokens=99", "--yes").exit_code == 0


def test_a_missing_key_is_named_before_the_question(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = CliRunner().invoke(app, ["try", "some-model", "--limit", "6"])
    assert "OPENAI_API_KEY is not set" in str(done.exception)
    assert "Start?" not in done.output
    assert not (project / "data" / "runs").exists()


def test_a_broken_settings_file_is_named(project: Path) -> None:
    path = project / "data" / "runs" / "try-x.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("benchmark: small\nprovider: openai\n", encoding="utf-8")
    with pytest.raises(SeamError, match=r"try-x.yaml: .*`model`"):
        load_run(project, "try-x")
    assert load_params(project).runs.keys() == {"embedded"}, "the pipeline does not read it"


# --- Names and parts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-5-mini", "try-gpt-5-mini"),
        ("meta-llama/Llama-3.1-8B-Instruct", "try-llama-3.1-8b-instruct"),
        ("Qwen3 8B (bf16)", "try-qwen3-8b-bf16"),
        ("../../etc/passwd", "try-passwd"),
        ("try-mine", "try-mine"),
    ],
)
def test_a_models_name_becomes_a_files(model: str, expected: str) -> None:
    assert trial_name(model) == expected


def cluster(source: str, number: int) -> list[Case]:
    from msgspec.structs import replace

    name = f"{source}:{number}"
    return [
        replace(c, id=f"{name}:{c.condition}", source=source, composition_event_id=name)
        for c in CASES
    ]


@given(
    st.dictionaries(st.sampled_from(SOURCES), st.integers(1, 4), min_size=1),
    st.integers(6, 100),
    st.integers(0, 60),
)
def test_parts_are_whole_spread_and_nested(sizes: dict[str, int], limit: int, more: int) -> None:
    cases = [c for s, n in sizes.items() for i in range(n) for c in cluster(s, i)]
    taken = take_clusters(cases, limit)
    assert len(taken) <= limit and (len(taken) == len(cases) or len(taken) > limit - 6)
    counts: Any = Counter(case.composition_event_id for case in taken)
    assert set(counts.values()) == {6}
    drawn = Counter(name.split(":")[0] for name in counts)
    for source, size in sizes.items():
        assert drawn[source] >= min(size, max(drawn.values()) - 1), "the sources take turns"
    assert taken == take_clusters(cases, limit + more)[: len(taken)]
