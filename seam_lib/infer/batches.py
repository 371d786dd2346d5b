"""Batches: what a run has to ask as OpenAI batch files, and results back into the same traces.

For large runs, engines read all calls from a file: vLLM's `run-batch` reads the same format, and a
batch at a provider costs about half.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from seam_lib.core import files
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import Trace
from seam_lib.core.run import Run
from seam_lib.infer.plan import answers_drawn, check_settings, next_request, open_prompts
from seam_lib.infer.prompts import Prompt, message_digest
from seam_lib.infer.providers import CallError, Reply, Request, own_words
from seam_lib.infer.providers.openai import read_reply, request_body
from seam_lib.infer.runner import make_trace
from seam_lib.infer.traces import (
    by_prompt,
    open_log,
    outputs,
    read_traces,
)

#: Where each line of a batch is sent.
URL = "/v1/chat/completions"


class _Response(msgspec.Struct):
    status_code: int
    body: Any


class BatchResult(msgspec.Struct):
    """One line of a batch's results; a line of the exported batch itself has no response."""

    custom_id: str
    response: _Response | None
    error: Any = None


def export_batch(run: Run, prompts: Sequence[Prompt], path: Path) -> int:
    """Write the next call of every open prompt as one line of an OpenAI batch file.

    Args:
        run: The run; its provider must speak OpenAI's protocol.
        prompts: What it asks.
        path: The file to write.

    Returns:
        How many calls it holds.

    Raises:
        SeamError: Another protocol, or nothing is left to ask.
    """
    if run.settings.provider != "openai":
        raise SeamError(
            f"runs.{run.name}: batch files are OpenAI's format; its provider is "
            f"{run.settings.provider}. Set `provider: openai` for a server that reads them."
        )
    traces = read_traces(run.traces)
    check_settings(run, traces)
    attempts = by_prompt(prompts, traces)
    rows = [
        {
            "custom_id": _custom_id(prompt, answers_drawn(attempts[prompt.id]) + 1),
            "method": "POST",
            "url": URL,
            "body": request_body(run.settings, request),
        }
        for prompt in open_prompts(run.settings, prompts, traces)
        if (request := next_request(prompt, attempts[prompt.id], run.settings))
    ]
    if not rows:
        raise SeamError(f"run {run.name}: every case is settled, so there is nothing to export.")
    files.write_rows(path, rows)
    return len(rows)


def import_batch(run: Run, prompts: Sequence[Prompt], path: Path) -> tuple[int, int]:
    """Take the results of an exported batch into the run's traces, and derive its outputs anew.

    Args:
        run: The run that exported it.
        prompts: What it asks.
        path: The results file (or error file) of the batch, as the engine wrote it.

    Returns:
        How many attempts were taken, and how many lines were left out since they are already on
        record: importing a file twice changes nothing. An answer follows a failure of its call.

    Raises:
        SeamError: A line is no result, belongs to no case, or to a message that has changed since
            the export.
    """
    by_id = {prompt.id: prompt for prompt in prompts}
    taken = left_out = 0
    with open_log(run.traces) as log:
        check_settings(run, log.traces)
        attempts = by_prompt(prompts, log.traces)
        for number, line in files.numbered_rows(path, BatchResult):
            prompt, answer = _find(by_id, line.custom_id, f"{path}:{number}")
            past = attempts[prompt.id]
            request = next_request(prompt, past, run.settings)
            if request is None or answer != answers_drawn(past) + 1:
                left_out += 1
                continue
            trace = _trace(run, prompt, request, line, len(past) + 1)
            if trace.error and past and past[-1].error == trace.error:
                left_out += 1  # the same failure, read again
                continue
            log.append(trace)
            past.append(trace)
            taken += 1
        files.write_rows(run.outputs, outputs(prompts, log.traces))
    return taken, left_out


def _custom_id(prompt: Prompt, answer: int) -> str:
    """Prompt, answer and message, so that a result cannot be taken for another's."""
    return f"{prompt.id}#{answer}#{message_digest(prompt.messages)[:12]}"


def _find(by_id: dict[str, Prompt], custom_id: str, where: str) -> tuple[Prompt, int]:
    """The prompt and answer that a result belongs to."""
    name, _, rest = custom_id.partition("#")
    answer = rest.partition("#")[0]
    if name not in by_id or not answer.isdecimal():
        raise SeamError(
            f"{where}: custom_id {custom_id!r} is of no case of this run's benchmark. "
            f"Import the file into the run that exported it."
        )
    if custom_id != _custom_id(by_id[name], int(answer)):
        raise SeamError(
            f"{where}: the message of case {name} has changed since the batch was exported. "
            f"Build the benchmark as it was, or export again."
        )
    return by_id[name], int(answer)


def _trace(run: Run, prompt: Prompt, request: Request, line: BatchResult, attempt: int) -> Trace:
    """A result as a trace. Batches record when an answer was made, but not how long it took."""
    outcome: Reply | CallError
    created: object = None
    try:
        if line.response is None or line.response.status_code >= 300:
            status = f"HTTP {line.response.status_code}" if line.response else "batch"
            body = line.error if line.response is None else line.response.body
            raise CallError(status, own_words(msgspec.json.encode(body).decode()))
        outcome = read_reply(line.response.body)
        if isinstance(line.response.body, dict):  # some engines give the body as text
            created = line.response.body.get("created")
    except CallError as error:
        outcome = error
    when = datetime.fromtimestamp(created, UTC) if isinstance(created, int) else datetime.now(UTC)
    return make_trace(
        run,
        prompt.id,
        request,
        outcome,
        endpoint="batch",
        started_at=when.isoformat(timespec="seconds"),
        seconds=0.0,
        attempt=attempt,
    )
