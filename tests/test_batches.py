import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faulty import serving
from trial import engine, trial_cases, trial_run

from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows
from seam_lib.core.rows import Output
from seam_lib.core.run import Run
from seam_lib.infer.batches import export_batch, import_batch
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.runner import infer
from seam_lib.infer.traces import read_traces


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return trial_run(tmp_path, cases=trial_cases(2), max_tokens=77)


def send(run: Run, path: Path) -> int:
    return export_batch(run, load_prompts(run), path)


def receive(run: Run, path: Path) -> tuple[int, int]:
    return import_batch(run, load_prompts(run), path)


def test_a_batch_gives_the_same_outputs_as_calls_and_twice_changes_nothing(
    run: Run, tmp_path: Path
) -> None:
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    assert send(run, batch) == 12
    body = json.loads(batch.read_text().splitlines()[0])["body"]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.0, 77)
    engine(batch, results)
    assert receive(run, results) == (12, 0)
    written = run.traces.read_bytes()
    assert receive(run, results) == (0, 12)
    assert run.traces.read_bytes() == written
    assert {t.started_at for t in read_traces(run.traces)} == {"2026-05-28T20:26:40+00:00"}
    with serving(lambda body, n: "ok") as server:
        url = f"{server.url}/v1"
        called = trial_run(tmp_path / "called", cases=trial_cases(2), max_tokens=77, base_url=url)
        infer(called, load_prompts(called))
    assert run.outputs.read_bytes() == called.outputs.read_bytes()
    with pytest.raises(SeamError, match="nothing to export"):
        send(run, batch)


def test_what_a_batch_leaves_open_is_exported_again_under_its_tag(run: Run, tmp_path: Path) -> None:
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    send(run, batch)
    engine(batch, results, choices=[{"message": {"content": "cut"}, "finish_reason": "length"}])
    assert receive(run, results) == (12, 0)
    assert receive(run, results) == (0, 12), "these answers have been counted"
    assert send(run, batch) == 12
    assert json.loads(batch.read_text().splitlines()[0])["body"]["temperature"] == 1.0
    engine(batch, results)
    assert receive(run, results) == (12, 0)
    assert {row.decoding for row in read_rows(run.outputs, Output)} == {"temperature=1.0"}


def test_failed_lines_are_on_record_with_the_providers_words(run: Run, tmp_path: Path) -> None:
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    send(run, batch)
    names = [json.loads(line)["custom_id"] for line in batch.read_text().splitlines()]
    refused = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    rows: list[dict[str, Any]] = [
        {"custom_id": names[0], "response": refused, "error": None},
        {"custom_id": names[1], "response": None, "error": {"message": "batch expired"}},
        {"custom_id": names[2], "response": {"status_code": 200, "body": {"choices": []}}},
    ]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert receive(run, results) == (3, 0)
    assert [t.error for t in read_traces(run.traces)] == [
        "HTTP 400: too long",
        "batch: batch expired",
        "malformed: the answer holds no choice",
    ]
    assert send(run, batch) == 12


def test_an_answer_follows_the_failure_of_its_call_and_failures_count_once(
    run: Run, tmp_path: Path
) -> None:
    batch, results, errors = (tmp_path / f"{name}.jsonl" for name in ("batch", "done", "errors"))
    send(run, batch)
    names = [json.loads(line)["custom_id"] for line in batch.read_text().splitlines()]
    expired = [{"custom_id": n, "response": None, "error": {"message": "expired"}} for n in names]
    errors.write_text("".join(json.dumps(row) + "\n" for row in expired))
    assert receive(run, errors) == (12, 0)
    assert receive(run, errors) == (0, 12)
    engine(batch, results)
    assert receive(run, results) == (12, 0)
    assert [t.attempt for t in read_traces(run.traces)][-1] == 2
    assert {row.error for row in read_rows(run.outputs, Output)} == {None}


def test_the_exported_file_itself_is_no_result(run: Run, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    send(run, batch)
    with pytest.raises(SeamError, match=r"batch\.jsonl:1: .*`response`"):
        receive(run, batch)


def test_a_body_that_is_text_is_read(run: Run, tmp_path: Path) -> None:
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    send(run, batch)
    name = json.loads(batch.read_text().splitlines()[0])["custom_id"]
    body = json.dumps({"choices": [{"message": {"content": "ok"}}], "created": 1_700_000_000})
    row = {"custom_id": name, "response": {"status_code": 200, "body": body}}
    results.write_text(json.dumps(row) + "\n")
    assert receive(run, results) == (1, 0)
    (trace,) = read_traces(run.traces)
    assert trace.response == "ok" and trace.error is None


def other_case(line: dict[str, Any]) -> None:
    line["custom_id"] = "nobody#1#abc"


def other_message(line: dict[str, Any]) -> None:
    line["custom_id"] = line["custom_id"][:-2] + "zz"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(other_case, "is of no case of this run"), (other_message, "has changed since the batch")],
)
def test_results_of_something_else_are_refused_and_named(
    run: Run, tmp_path: Path, spoil: Callable[[dict[str, Any]], None], words: str
) -> None:
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    send(run, batch)
    engine(batch, results)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    spoil(lines[2])
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SeamError, match=rf"results\.jsonl:3: .*{words}"):
        receive(run, results)


def test_another_protocol_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SeamError, match="provider is anthropic"):
        send(trial_run(tmp_path, provider="anthropic"), tmp_path / "batch.jsonl")
