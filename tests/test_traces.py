import multiprocessing
import os
import resource
import signal
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trial import trace, trial_cases

from seam_lib.core.errors import SeamError
from seam_lib.core.rows import Trace
from seam_lib.infer.prompts import message_digest, prompt_of
from seam_lib.infer.traces import (
    by_prompt,
    open_log,
    outputs,
    read_traces,
)

CASES = trial_cases(1)
PROMPTS = [prompt_of(case) for case in CASES]


def test_what_is_appended_is_read_back_and_survives_a_new_start(tmp_path: Path) -> None:
    path = tmp_path / "traces" / "r.jsonl"
    written = [trace(case, response="ünï\u2028code\n") for case in CASES]
    for half in (written[:3], written[3:]):
        with open_log(path) as log:
            for one in half:
                log.append(one)
    assert read_traces(path) == written


@given(st.integers(min_value=0, max_value=2_000))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_a_log_cut_at_any_byte_loses_at_most_its_last_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "r.jsonl"
    lines = [msgspec.json.encode(trace(case, response="ü")) + b"\n" for case in CASES[:4]]
    data = b"".join(lines)[:cut]
    path.write_bytes(data)
    whole = data.count(b"\n")
    assert len(read_traces(path)) == whole  # also while another process writes
    with open_log(path) as log:
        assert len(log.traces) == whole
        log.append(trace(CASES[5]))
    assert [t.case_id for t in read_traces(path)] == [
        *(case.id for case in CASES[:whole]),
        CASES[5].id,
    ]


def test_a_broken_line_in_the_middle_is_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"run": 1}\n' + msgspec.json.encode(trace(CASES[0])) + b"\n")
    with pytest.raises(SeamError, match=r"r\.jsonl:1: not a Trace"), open_log(path):
        pass


def test_two_processes_refuse_each_other_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    context = multiprocessing.get_context("fork")
    held = context.Event()
    other = context.Process(target=_hold, args=(path, held), daemon=True)
    other.start()
    assert held.wait(20)
    refusal = f"process {other.pid} is at work on this run.*Wait for it or end it"
    with pytest.raises(SeamError, match=refusal), open_log(path):
        pass
    os.kill(other.pid or 0, signal.SIGKILL)
    other.join()
    with open_log(path) as log:  # nothing to clean up by hand
        assert log.traces == []


def _hold(path: Path, held: object) -> None:
    with open_log(path):
        held.set()  # type: ignore[attr-defined]
        signal.pause()


def test_a_full_disk_stops_the_run_and_tears_no_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    one = len(msgspec.json.encode(trace(CASES[0]))) + 1
    process = multiprocessing.get_context("fork").Process(target=_fill, args=(path, 2 * one + 100))
    process.start()
    process.join()
    assert process.exitcode == 7, "the third line must not fit"
    assert path.stat().st_size == 2 * one
    assert len(read_traces(path)) == 2


def _fill(path: Path, size: int) -> None:
    """Append until the file may not grow; a file size limit fails as a full disk does."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    with open_log(path) as log:
        try:
            for _ in range(9):
                log.append(trace(CASES[0]))
        except SeamError as error:
            os._exit(7 if "Make room" in str(error) and len(log.traces) == 2 else 1)


def test_attempts_at_a_message_that_has_changed_do_not_count() -> None:
    stale = trace(CASES[0], request={"messages_sha256": "other"})
    unknown = trace(CASES[0], case_id="gone")
    assert by_prompt(PROMPTS, [stale, unknown])[CASES[0].id] == []
    assert outputs(PROMPTS, [stale, unknown]) == []


def test_the_first_usable_answer_is_the_output_and_carries_its_tag() -> None:
    case = CASES[0]
    request = {"messages_sha256": message_digest(prompt_of(case).messages)}
    attempts = [
        trace(case, response=None, finish_reason=None, error="HTTP 500: no"),
        trace(case, response="cut", finish_reason="length"),
        trace(case, response="good", request=request | {"decoding": "temperature=1.0"}),
    ]
    (row,) = outputs(PROMPTS, attempts)
    assert (row.response, row.error, row.decoding) == ("good", None, "temperature=1.0")
    (row,) = outputs(PROMPTS, attempts[:2])
    assert (row.response, row.finish_reason) == ("cut", "length")
    assert row.error is None, "the ending says what is wrong"
    (row,) = outputs(PROMPTS, attempts[:1])
    assert (row.response, row.error) == (None, "HTTP 500: no")


@given(st.randoms(use_true_random=False))
@settings(max_examples=30, derandomize=True, deadline=None)
def test_outputs_do_not_depend_on_the_order_in_which_cases_were_answered(random: object) -> None:
    attempts = {
        case.id: [
            trace(case, finish_reason="length"),
            trace(case, response=f"answer to {case.id}"),
        ]
        for case in CASES
    }
    wanted = outputs(PROMPTS, [t for pair in attempts.values() for t in pair])
    shuffled: list[Trace] = []
    left = {name: list(pair) for name, pair in attempts.items()}
    while left:
        name = random.choice(sorted(left))  # type: ignore[attr-defined]
        shuffled.append(left[name].pop(0))
        left = {name: pair for name, pair in left.items() if pair}
    assert outputs(PROMPTS, shuffled) == wanted
    assert [row.case_id for row in wanted] == sorted(case.id for case in CASES)
