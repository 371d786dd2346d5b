"""A trial: from a model's name to a run that every other command knows.

A trial is a run like those of params.yaml, but for where it is written down: its settings are in
data/runs/try-NAME.yaml, and git tracks no file called try-*. So trying a model changes nothing
that the project's own pipeline reads. A notebook tries a model in one cell:

    try_model(find_root(), "embedded", limit=24).result.analysis.rates
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import yaml

from seam_lib.build.clusters import build_benchmark, write_report
from seam_lib.build.composition import facts
from seam_lib.core.benchmark import deal_clusters, read_benchmark, write_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_text
from seam_lib.core.params import TRIED, RunParams, check_name, load_params, load_trials
from seam_lib.core.rows import Case
from seam_lib.core.run import Run
from seam_lib.infer.plan import Forecast, check_settings, forecast, open_prompts
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.providers import api_key
from seam_lib.infer.runner import Watch, infer
from seam_lib.infer.traces import read_traces
from seam_lib.report import page
from seam_lib.report.results import RunResult, analyse_run
from seam_lib.score.nli import open_engine
from seam_lib.score.scorer import score_files

#: How the names of trials begin; git ignores files that are called so.
TRIAL = "try-"


class Trial(NamedTuple):
    """What came of a trial.

    Attributes:
        run: The run that it is.
        stopped: Why it ended early, or None.
        result: Its analysis; None as long as some case has no answer.
        report: The folder of its report, likewise.
    """

    run: Run
    stopped: str | None
    result: RunResult | None = None
    report: Path | None = None


class Watcher(Protocol):
    """Who is told of a trial's steps."""

    def planned(self, run: Run, plan: Forecast) -> None:
        """What the trial is, and what it will take."""

    def asking(self, run: Run, plan: Forecast) -> AbstractContextManager[Watch | None]:
        """The model is asked inside of this context; what it gives is told of every attempt."""

    def asked(self, run: Run, stopped: str | None) -> None:
        """The model is asked no more, for a reason or because every case is settled."""


class Silent:
    """A watcher that says nothing."""

    def planned(self, run: Run, plan: Forecast) -> None:
        """Say nothing."""

    def asking(self, run: Run, plan: Forecast) -> AbstractContextManager[Watch | None]:
        """Say nothing of any attempt."""
        return nullcontext()

    def asked(self, run: Run, stopped: str | None) -> None:
        """Say nothing."""


SILENT = Silent()


def try_model(
    root: Path,
    model: str,
    given: dict[str, Any] | None = None,
    *,
    limit: int | None = None,
    name: str | None = None,
    confirm: Callable[[], bool] = lambda: True,
    watch: Watcher = SILENT,
) -> Trial:
    """Take a model from its name to its report: plan, ask, score, analyse, write.

    Started again after any stop it goes on where it was, and asks nothing twice.

    Args:
        root: The project's folder.
        model: As `plan_trial` takes it, like the next three.
        given: Settings that differ.
        limit: Take at most so many cases.
        name: What to call it.
        confirm: Asked before the first call, if there is any to make; no ends the trial.
        watch: Told of each step.

    Raises:
        SeamError: As `plan_trial`; or the key is missing, which is known before `confirm` is asked.
    """
    run = plan_trial(root, model, given or {}, limit, name)
    prompts = load_prompts(run)
    plan = forecast(run.settings, prompts, read_traces(run.traces))
    watch.planned(run, plan)
    if plan.calls:
        api_key(run.settings)
        if not confirm():
            return Trial(run, "not started")
    save_trial(run)
    with watch.asking(run, plan) as each:
        stopped = infer(run, prompts, watch=each)
    watch.asked(run, stopped)
    if open_prompts(run.settings, prompts, read_traces(run.traces)):
        return Trial(run, stopped)
    engine = open_engine(load_params(root).score.nli, root)
    score_files(root, run.benchmark, run.outputs, run.labels, engine)
    result = analyse_run(root, run.name)
    return Trial(run, None, result, page.write_report(root, result))


def plan_trial(
    root: Path,
    model: str,
    given: dict[str, Any],
    limit: int | None = None,
    name: str | None = None,
) -> Run:
    """Decide a trial's settings, and write its benchmark if there is none yet.

    Args:
        root: The project's folder.
        model: A run of params.yaml, whose settings are then copied, or a model's name.
        given: Settings that differ, by field of `RunParams`; kept when the trial is continued.
        limit: The most cases to take, in whole clusters.
        name: What to call it; by default after the model.

    Raises:
        SeamError: A setting is unknown or of a wrong type, the limit holds no cluster, the trial
            has answers of other settings, its name is that of a run of params.yaml, or the
            model's is nearly so.
    """
    params, tried = load_params(root), load_trials(root)
    runs = tried | params.runs
    called = trial_name(name or model)
    if called in params.runs:
        raise SeamError(
            f"runs.{called} of params.yaml is no trial: ask it with `seam infer {called}`, or call "
            f"the trial otherwise with --name."
        )
    base = tried.get(called, runs.get(model))
    if base is None and not given.keys() & {"provider", "base_url"}:
        for near in get_close_matches(model, runs, n=1, cutoff=0.8):
            raise SeamError(
                f"no run is called {model!r}. Did you mean {near!r}? If it is a model's name, give "
                f"its --provider."
            )
    known = msgspec.to_builtins(base) if base else {"provider": "openai", "model": model}
    benchmark = given.get("benchmark", params.build.name)
    settings = _settings(known | given | {"benchmark": benchmark})
    if benchmark == params.build.name and not (root / "data/benchmark" / benchmark).exists():
        build_benchmark(root, params.build)
    if limit is not None:
        part = take_part(root, benchmark, limit)
        settings = msgspec.structs.replace(settings, benchmark=part)
    run = Run(called, settings, root, trial=True)
    check_settings(run, read_traces(run.traces))
    return run


def trial_name(model: str) -> str:
    """A model's name as a file name, such as try-llama-3.1-8b for meta/Llama-3.1-8B."""
    plain = re.sub(r"[^a-z0-9.]+", "-", model.rsplit("/", 1)[-1].lower()).strip("-.")
    if not plain:
        raise SeamError(f"{model!r} cannot be used in a file name. Choose one with --name.")
    return check_name(TRIAL + plain.removeprefix(TRIAL), "--name")


def save_trial(run: Run) -> Path:
    """Write the settings of a trial that differ from the defaults, as lines for params.yaml."""
    path, settings = run.root / TRIED / f"{run.name}.yaml", run.settings
    usual = RunParams(
        benchmark=settings.benchmark, provider=settings.provider, model=settings.model
    )
    kept = {"benchmark", "provider", "model"}
    changed = {
        key: value
        for key, value in msgspec.to_builtins(settings).items()
        if key in kept or getattr(settings, key) != getattr(usual, key)
    }
    write_text(path, yaml.safe_dump(changed, sort_keys=False, allow_unicode=True))
    return path


def take_part(root: Path, benchmark: str, limit: int) -> str:
    """Write a part of a benchmark as a separate benchmark.

    Args:
        root: The project's folder.
        benchmark: The name of the whole benchmark.
        limit: The most cases to take.

    Returns:
        The part's name; a larger part contains every smaller one.
    """
    cases = take_clusters(read_benchmark(root / "data" / "benchmark" / benchmark), limit)
    name = f"{TRIAL}{benchmark}-{len(cases)}"
    folder = root / "data" / "benchmark" / name
    write_benchmark(folder, cases)
    origin = f"A part of the benchmark `{benchmark}`: whole clusters, the sources in turn."
    write_report(folder, origin, facts(cases))
    return name


def take_clusters(cases: Sequence[Case], limit: int) -> list[Case]:
    """Take as many whole clusters as the limit allows, one of each source in turn.

    Raises:
        SeamError: The limit is smaller than a cluster.
    """
    dealt = deal_clusters(cases)
    taken: list[Case] = []
    for cluster in dealt:
        if len(taken) + len(cluster) > limit:
            break
        taken += cluster
    if not taken:
        raise SeamError(
            f"--limit {limit}: a cluster has {len(dealt[0])} cases, and only whole clusters can be "
            f"compared. Give at least {len(dealt[0])}."
        )
    return taken


def _settings(fields: dict[str, Any]) -> RunParams:
    try:
        return msgspec.convert(fields, RunParams)
    except msgspec.ValidationError as error:
        raise SeamError(
            f"{error}. RunParams in seam_lib/core/params.py lists the settings."
        ) from None
