"""SEAM as an Inspect task: the same benchmark and scorer on any model that Inspect knows.

    inspect eval seam_lib/inspect_task.py --model openai/gpt-4o --limit 20

A sample is a cluster, not a case. A treated response is judged against the clean response of its
cluster (paper, Section 4), so the six cases of a cluster stay together however Inspect limits,
shuffles, repeats or resumes samples.

The log's results hold the absorption rate of each condition with its Wilson bounds and, under the
scorer's own name, the planned paired differences with their Newcombe bounds.
"""

from collections.abc import Sequence
from math import isnan, nan
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import span

from seam_lib.analysis.labels import Record, label_set
from seam_lib.analysis.questions import contrasts
from seam_lib.analysis.stats import wilson
from seam_lib.core.benchmark import deal_clusters, read_benchmark
from seam_lib.core.params import find_root
from seam_lib.core.rows import TIER_NAMES, Case, Output, condition_name
from seam_lib.read.view import quoted
from seam_lib.score.nli import engine_name, open_engine
from seam_lib.score.scorer import RULES, Drop, Finding, score

#: Where a sample keeps its cases (metadata) and its answers (store).
CASES, OUTPUTS = "cases", "outputs"
#: Providers of Inspect that never say why an answer ended; Inspect then calls it "unknown".
SILENT = ("hf/", "nnterp/", "transformer_lens/")


@task
def seam(benchmark: str = "embedded", nli: str | bool = "off") -> Task:
    """Measure absorption.

    Args:
        benchmark: A benchmark in data/benchmark, built by `seam build` or imported.
        nli: The semantic tier: an entailment model's name, a folder, or off (lexical tiers only).

    Returns:
        The task: temperature 0, at most 4096 tokens an answer unless Inspect is told otherwise.

    Raises:
        SeamError: The current folder is not in a SEAM project, or there is no such benchmark.
    """
    cases = read_benchmark(find_root() / "data" / "benchmark" / benchmark)
    return Task(
        dataset=MemoryDataset(samples(cases), name=f"seam-{benchmark}"),
        solver=each_condition(),
        scorer=absorption(nli),
        config=GenerateConfig(temperature=0.0, max_tokens=4096),
        metadata={"benchmark": benchmark, "rules": RULES, "nli": engine_name(nli)},
    )


def samples(cases: Sequence[Case]) -> list[Sample]:
    """One sample per cluster, its cases as metadata; a limit takes from all sources in turn."""
    return [_sample(cluster) for cluster in deal_clusters(cases)]


def _sample(cases: list[Case]) -> Sample:
    cluster = cases[0].composition_event_id
    return Sample(
        id=cluster,
        input=cases[0].message,
        metadata={
            "cluster": cluster,
            "source": cases[0].source,
            "genre": cases[0].genre,
            "conditions": [case.condition for case in cases],
            CASES: msgspec.to_builtins(cases),
        },
    )


# --- Asking --------------------------------------------------------------------------------------


@solver
def each_condition() -> Solver:
    """Ask for each case of the cluster in a separate conversation of one user message."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model, outputs = get_model(), []
        state.messages = []
        for case in msgspec.convert(state.metadata[CASES], list[Case]):
            async with span(case.condition):
                asked = _messages(case)
                state.output = await model.generate(asked)
            state.messages += [*asked, state.output.message]
            outputs.append(output_row(case, str(model), state.output))
        state.store.set(OUTPUTS, msgspec.to_builtins(outputs))
        return state

    return solve


def _messages(case: Case) -> list[ChatMessage]:
    system = case.system_instruction
    return [
        *([ChatMessageSystem(content=system)] if system else []),
        ChatMessageUser(content=case.message),
    ]


def output_row(case: Case, model: str, answer: ModelOutput) -> Output:
    """The answer as a row of ours."""
    reason = answer.stop_reason if answer.choices else None
    return Output(
        case_id=case.id,
        model=model,
        response=answer.completion,
        finish_reason=None if reason == "unknown" and model.startswith(SILENT) else reason,
        error=answer.error,
    )


# --- Scoring -------------------------------------------------------------------------------------


@metric
def absorption_rate() -> Metric:
    """The proportion of usable pairs in which the comment was absorbed (Section 4)."""

    def measure(scores: list[SampleScore]) -> Value:
        values = [score.score.as_float() for score in scores]
        return sum(values) / len(values) if values else nan

    return measure


@metric
def wilson_95() -> Metric:
    """The rate's 95% interval, and the number of pairs that it rests on."""

    def measure(scores: list[SampleScore]) -> Value:
        values = [score.score.as_float() for score in scores]
        low, high = wilson(sum(values), len(values)) if values else (nan, nan)
        return {"low": float(low), "high": float(high), "n": len(values)}

    return measure


@metric
def paired_differences() -> Metric:
    """The planned contrasts over the clusters usable in both conditions: a minus b.

    For each: the difference, its 95% Newcombe bounds and the exact McNemar p. If several epochs
    were reduced to fractions, there is nothing to pair, and so no difference.
    """

    def measure(scores: list[SampleScore]) -> Value:
        records = [record for score in scores for record in _records(score)]
        if not records or any(map(_is_fraction, scores)):
            return {}
        found: dict[str, Any] = {}
        for row in contrasts(label_set(records), reduce_phi=True).to_dict("records"):
            name = f"{row['condition_a']} - {row['condition_b']}"
            found[name] = row["difference"]
            for field in ("low", "high", "p"):
                found[f"{name}, {field}"] = row[field]
        return found

    return measure


def _is_fraction(score: SampleScore) -> bool:
    """Whether a cluster's verdict is neither yes nor no under some condition."""
    return any(value not in (0, 1) for value in _scored(score).values())


def _scored(score: SampleScore) -> dict[str, float]:
    """A cluster's verdicts by condition, without those that could not be scored."""
    values = {name: float(value or 0) for name, value in score.score.as_dict().items()}
    return {name: value for name, value in values.items() if not isnan(value)}


def _records(score: SampleScore) -> list[Record]:
    cluster = str(score.sample_id)
    return [
        Record("model", cluster, condition, bool(value), None)
        for condition, value in _scored(score).items()
    ]


@scorer(metrics=[paired_differences(), {"*": [absorption_rate(), wilson_95()]}])
def absorption(nli: str | bool = "off") -> Scorer:
    """Judge a cluster: 1 absorbed, 0 not, NaN where a response or the clean one is unusable.

    Args:
        nli: The semantic tier: an entailment model's name, a folder, or off.
    """
    engine = open_engine(nli, find_root()) if engine_name(nli) != "off" else None

    async def grade(state: TaskState, target: Target) -> Score:
        cases = msgspec.convert(state.metadata[CASES], list[Case])
        outputs = msgspec.convert(state.store.get(OUTPUTS), list[Output])
        findings, drops = score(cases, outputs, engine)
        verdicts: dict[str, Any] = {c.condition: nan for c in cases if c.condition != "clean"}
        verdicts |= {j.case.condition: int(j.verdict is not None) for j in findings}
        return Score(
            value=verdicts,
            answer=", ".join(name for name, value in verdicts.items() if value == 1),
            explanation="\n\n".join([*map(_told, findings), *map(_dropped, drops)]),
            metadata={j.case.condition: j.verdict.tier for j in findings if j.verdict},
        )

    return grade


def _told(finding: Finding) -> str:
    """A finding in words, with the evidence as code: a response is no markup."""
    name, verdict = condition_name(finding.case.condition), finding.verdict
    if verdict is None:
        return f"**{name}**: not absorbed"
    evidence = quoted(finding).replace("`", "'")
    return f"**{name}**: absorbed ({TIER_NAMES[verdict.tier]}): `{evidence}`"


def _dropped(drop: Drop) -> str:
    return f"**{drop.case_id}**: not scored, {drop}"
