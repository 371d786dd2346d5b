"""A trial: from a model's name to a run that every other command knows.

A trial is a run like those of params.yaml, but for where it is written down: its settings lie in
data/runs/try-NAME.yaml, and no file called try-* is tracked. So trying a model changes nothing
that the project's own pipeline reads.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
import yaml

from seam_lib.build.clusters import build_benchmark, write_report
from seam_lib.build.composition import facts
from seam_lib.core.benchmark import deal_clusters, read_benchmark, write_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_text
from seam_lib.core.params import TRIAL, TRIED, RunParams, load_params
from seam_lib.core.rows import Case
from seam_lib.core.run import Run
from seam_lib.infer.plan import check_settings
from seam_lib.infer.traces import read_traces


def plan_trial(
    root: Path, model: str, given: dict[str, Any], limit: int | None = None, name: str | None = None
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
            has answers of other settings, or the model's name is nearly that of a run.
    """
    params = load_params(root)
    called = trial_name(name or model)
    base = params.runs.get(called, params.runs.get(model))
    if base is None and not given.keys() & {"provider", "base_url"}:
        for near in get_close_matches(model, params.runs, n=1, cutoff=0.8):
            raise SeamError(
                f"no run is called {model!r}. Did you mean {near!r}? If it is a model's name, give "
                f"its --provider."
            )
    known = msgspec.to_builtins(base) if base else {"provider": "openai", "model": model}
    benchmark = given.get("benchmark", params.build.name)
    known |= given | {"benchmark": benchmark}
    settings = _settings(known)
    if benchmark == params.build.name and not (root / "data/benchmark" / benchmark).exists():
        build_benchmark(root, params.build)
    if limit is not None:
        part = take_part(root, benchmark, limit)
        settings = msgspec.structs.replace(settings, benchmark=part)
    run = Run(called, settings, root)
    check_settings(run, read_traces(run.traces))
    return run


def trial_name(model: str) -> str:
    """A model's name as a file name, such as try-llama-3.1-8b for meta/Llama-3.1-8B."""
    plain = re.sub(r"[^a-z0-9.]+", "-", model.rsplit("/", 1)[-1].lower()).strip("-.")
    if not plain:
        raise SeamError(f"{model!r} gives no name for files. Choose one with --name.")
    return TRIAL + plain.removeprefix(TRIAL)


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
