"""The real model from the package, served by us: both clients, and the same bytes twice."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from trial import trial_cases, trial_run

from seam_lib.core.files import read_rows
from seam_lib.core.params import ServerParams
from seam_lib.core.rows import Output
from seam_lib.core.run import Run
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.providers.llamacpp import WEIGHTS, serve
from seam_lib.infer.runner import infer, recheck
from seam_lib.infer.traces import read_traces

MODEL = "SmolLM2-135M-Instruct.Q4_1"
pytestmark = pytest.mark.skipif(
    find_spec(WEIGHTS) is None or find_spec("xllamacpp") is None,
    reason="the packages of the embedded model are not installed (make test installs them)",
)
CASES = trial_cases(1)[:4]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve(MODEL, ServerParams(threads=1)) as url:
        yield url


def answers(run: Run) -> list[str | None]:
    assert infer(run, load_prompts(run)) is None
    return [row.response for row in read_rows(run.outputs, Output)]


def test_both_official_clients_get_the_same_answers_from_a_real_model(
    server: str, tmp_path: Path
) -> None:
    got = {}
    for provider, url in (("openai", f"{server}/v1"), ("anthropic", server)):
        run = trial_run(
            tmp_path / provider, CASES, provider=provider, base_url=url, model=MODEL,
            max_tokens=40, attempts=1, timeout_seconds=120, concurrency=2,
        )  # fmt: skip
        got[provider] = answers(run)
        traces = read_traces(run.traces)
        assert {t.served_model for t in traces} == {MODEL}
        assert {t.finish_reason for t in traces} <= {"stop", "length"}
        assert all(0 < t.usage["output_tokens"] <= 40 for t in traces)
        assert all(t.usage["input_tokens"] > 10 for t in traces)
    assert got["openai"] == got["anthropic"]
    assert all(got["openai"])


def test_a_run_with_the_embedded_model_repeats_byte_for_byte_with_its_retries(
    tmp_path: Path,
) -> None:
    settings = {"provider": "llamacpp", "model": MODEL, "max_tokens": 16, "attempts": 2}
    settings |= {"retry_seed": True, "timeout_seconds": 120, "server": {"threads": 1}}
    runs = [trial_run(tmp_path / name, CASES, **settings) for name in ("one", "two")]
    assert answers(runs[0]) == answers(runs[1])
    assert runs[0].outputs.read_bytes() == runs[1].outputs.read_bytes()
    assert {t.endpoint.split()[0] for t in read_traces(runs[0].traces)} == {"xllamacpp"}
    pairs = recheck(runs[0], load_prompts(runs[0]), 4)
    assert all(old.response == new.response for old, new in pairs)
