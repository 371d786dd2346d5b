"""A small project with a trial benchmark and one run, for tests of inference."""

import json
from pathlib import Path
from typing import Any

import msgspec
import yaml
from faulty import edited
from scratch import ROOT

from seam_lib.build.clusters import Cluster, compose_cases
from seam_lib.build.comments import Comment
from seam_lib.build.conditions import conditions
from seam_lib.build.sources import Item
from seam_lib.core.files import write_rows
from seam_lib.core.rows import CONDITIONS, SOURCES, Case, Trace
from seam_lib.core.run import Run, load_run
from seam_lib.infer.prompts import message_digest, prompt_of

CASUAL = Comment("note", "My bus was late.", "the bus was late", ["bus was late"])
NATIVE = Comment("formal", "Figures are old though.", "figures are old", ["figures are old"])


def trial_cases(clusters: int = 6) -> list[Case]:
    """Six cases a cluster, the clusters spread over the sources."""
    made = [
        Cluster(_item(SOURCES[n % 6], n), head="Improve it.", casual=CASUAL, native=NATIVE)
        for n in range(clusters)
    ]
    return list(compose_cases(made, conditions(CONDITIONS), seed=42))


def trial_run(folder: Path, cases: list[Case] | None = None, **settings: Any) -> Run:
    """Write the project; `settings` go into its run, named "trial"."""
    given = {"benchmark": "trial", "provider": "openai", "model": "m", "backoff_seconds": 0.01}
    given |= {"timeout_seconds": 0.5} | settings
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["runs"] = {"trial": given}
    folder.mkdir(exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (folder / "dvc.yaml").write_text("stages: {}\n")
    write_rows(folder / "data" / "benchmark" / "trial" / "permissive.jsonl", cases or trial_cases())
    return load_run(folder, "trial")


def trace(case: Case, **fields: object) -> Trace:
    """A usable attempt at a case, with some fields changed."""
    base = {
        "run": "r", "case_id": case.id, "provider": "openai", "endpoint": "e",
        "requested_model": "m", "served_model": "m", "started_at": "2026-01-01T00:00:00+00:00",
        "request": {"messages_sha256": message_digest(prompt_of(case).messages)}, "seconds": 1.0,
        "attempt": 1, "finish_reason": "stop", "response": "text",
    }  # fmt: skip
    return msgspec.convert(base | fields, Trace)


def engine(batch: Path, results: Path, **change: Any) -> None:
    """Answer a batch as OpenAI and vLLM do: another order, one JSON object a line."""
    lines = []
    for line in batch.read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
        choice = {
            "message": {
                "role": "assistant",
                "content": edited(asked["body"]["messages"][-1]["content"]),
            },
            "finish_reason": "stop",
        }
        body = {"id": "c", "created": 1_780_000_000, "model": "served-model", "choices": [choice]}
        body |= {"usage": {"prompt_tokens": 100, "completion_tokens": 20}} | change
        response = {"status_code": 200, "request_id": "r", "body": body}
        lines.append(
            {"id": "b", "custom_id": asked["custom_id"], "response": response, "error": None}
        )
    results.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))


def _item(source: str, number: int) -> Item:
    return Item(
        source=source, id=str(number), artifact=f"Text number {number}, as pasted.\nIt ends here.",
        reference=None, operation="edit", license="MIT", genre="prose",
    )  # fmt: skip
