"""The record of a run: an append-only log of attempts, and what follows from it.

One line an attempt, written whole before the attempt counts. Everything else (what is left to do,
what was spent, the outputs) is derived from the log, so a run may stop at any moment.
"""

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from seam_lib.core import files
from seam_lib.core.answers import usable
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import Output, Trace
from seam_lib.infer.prompts import Prompt, message_digest

#: A line of at least so many characters, repeated at least so often, is a loop ...
LINE_CHARS, TIMES = 30, 4
#: ... and so is an ending of so many characters with a period of at most so many.
TAIL, PERIOD = 1200, 300


class Log:
    """The log of one run, open for appending and locked against other processes."""

    def __init__(self, path: Path, descriptor: int, traces: list[Trace]) -> None:
        self.path = path
        self.traces = traces
        self._descriptor = descriptor

    def append(self, trace: Trace) -> None:
        """Write one line whole, or none of it.

        Raises:
            SeamError: The disk is full or the file cannot be written.
        """
        line = memoryview(msgspec.json.encode(trace) + b"\n")
        start = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, start)
            raise SeamError(
                f"{self.path}: cannot be written: {error.strerror}. Make room, then start again: "
                f"the {len(self.traces)} attempts in it are safe."
            ) from None
        self.traces.append(trace)


@contextlib.contextmanager
def open_log(path: Path) -> Iterator[Log]:
    """Open a run's log for this process alone; a torn last line is cut off.

    The lock lies beside the log and is the kernel's: it ends with the process, however that dies.

    Args:
        path: data/traces/RUN.jsonl; made if it does not exist.

    Yields:
        The log, with the attempts that it holds.

    Raises:
        SeamError: Another process has it, or a line is not a trace.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise SeamError(
                f"{path}: process {lock.read().strip() or 'unknown'} is at work on this run (its "
                f"lock: {lock.name}). Wait for it or end it; the lock goes with it."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.ftruncate(descriptor, _whole_length(path))
            yield Log(path, descriptor, read_traces(path))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            lock.truncate(0)


def read_traces(path: Path) -> list[Trace]:
    """Read a log, also while a run writes it; none if there is no such file.

    Raises:
        SeamError: A line is not a trace.
    """
    return list(files.read_rows(path, Trace, torn_tail=True)) if path.exists() else []


def by_prompt(prompts: Iterable[Prompt], traces: Iterable[Trace]) -> dict[str, list[Trace]]:
    """The attempts at each prompt, by its id, in the order of the log.

    Attempts at a message that has changed since (the benchmark was rebuilt) are left out: they
    answer something else.
    """
    digests = {prompt.id: message_digest(prompt.messages) for prompt in prompts}
    attempts: dict[str, list[Trace]] = {name: [] for name in digests}
    for trace in traces:
        if digests.get(trace.case_id) == trace.request.get("messages_sha256"):
            attempts[trace.case_id].append(trace)
    return attempts


def outputs(prompts: Iterable[Prompt], traces: Iterable[Trace]) -> list[Output]:
    """Condense a log to one row for each prompt that was tried, sorted by id.

    The rows do not depend on the order in which answers came, or on stops between them.
    """
    return [_output(tried) for _, tried in sorted(by_prompt(prompts, traces).items()) if tried]


def _output(attempts: list[Trace]) -> Output:
    """The first usable answer, or else the last answer, or else the last failed call."""
    answers = [trace for trace in attempts if trace.error is None]
    chosen = next(filter(usable, answers), (answers or attempts)[-1])
    return Output(
        case_id=chosen.case_id,
        model=chosen.requested_model,
        response=chosen.response,
        finish_reason=chosen.finish_reason,
        error=chosen.error,
        decoding=chosen.request.get("decoding"),
    )


def repeats(text: str) -> bool:
    """Whether a response or reasoning has fallen into a repetition loop (Appendix F)."""
    lines = Counter(line.strip() for line in text.splitlines() if len(line.strip()) >= LINE_CHARS)
    if max(lines.values(), default=0) >= TIMES:
        return True
    tail = text[-TAIL:]
    return len(tail) == TAIL and any(tail[n:] == tail[:-n] for n in range(1, PERIOD + 1))


def _whole_length(path: Path) -> int:
    """Bytes up to the end of the last whole line."""
    return path.read_bytes().rfind(b"\n") + 1
