"""The screen: every shard of every corpus through the rules, then near-duplicates out.

A shard's result is one file in `runs/wild/screen`, written when it is complete and reused while
shard, columns and rules stay the same: a killed screen continues at the shard where it stopped.
Shards are independent, so workers and engine change how long it takes and nothing else.
"""

import os
import re
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, get_args

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_rows, write_text
from seam_lib.core.params import CorpusParams, Engine, WildParams
from seam_lib.core.progress import shown
from seam_lib.core.rows import Candidate
from seam_lib.wild import corpus as corpora
from seam_lib.wild import dedupe, rules
from seam_lib.wild.resume import is_current, stamp, write_stamped

#: What the report counts for each corpus, in the order in which messages leave the screen.
STEPS = (
    "shard",
    "unreadable_shard",
    "row",
    "bad_line",
    "other_language",
    "no_text",
    "english_first_turn",
    *rules.REASONS,
    *rules.KINDS,
    *get_args(dedupe.Copy),
)

#: What may name a conversation in tracked files; anything else could be words of a message.
_NAME = re.compile(r"[\w.:-]{1,64}", re.ASCII)

_RESULT = pa.schema(
    {
        "row": pa.int64(),
        "hash": pa.string(),
        "kind": pa.string(),
        "msglen": pa.int32(),
        "taillen": pa.int32(),
        "digest": pa.binary(16),
        "signature": pa.binary(4 * dedupe.PERMUTATIONS),
    }
)


@dataclass(frozen=True)
class Job:
    """One shard to screen.

    Attributes:
        corpus: The corpus's name.
        shard: The shard's name in it.
        path: The shard.
        columns: The names of its columns.
        result: The file for what is found.
    """

    corpus: str
    shard: str
    path: Path
    columns: CorpusParams
    result: Path


def screen(root: Path, wild: WildParams) -> list[str]:
    """Screen the corpora and write `candidates.jsonl` and `screen.csv` into the audit's folder.

    Args:
        root: The project's folder.
        wild: What is screened, and by how many workers.

    Returns:
        The shards that cannot be read and are left out, as corpus/shard.

    Raises:
        SeamError: A corpus is unknown, not available, lacks a column, or has no readable shard.
    """
    jobs = [job for name in wild.corpora for job in jobs_of(root, wild, name)]
    done = shown(run(jobs, wild.engine, wild.workers), "screen", len(jobs))
    candidates, counts, unreadable = collect(done)
    write_rows(wild.folder(root) / "candidates.jsonl", candidates)
    write_text(wild.folder(root) / "screen.csv", report(counts))
    return unreadable


def jobs_of(root: Path, wild: WildParams, name: str) -> list[Job]:
    """One job for each shard of a corpus, in the order of the shards' names."""
    corpus = corpora.find_corpus(wild, name)
    jobs = []
    for path in corpora.shards(root, corpus):
        shard = path.relative_to(root / corpus.folder).as_posix()
        result = root / "runs" / "wild" / "screen" / name / f"{shard}.parquet"
        jobs.append(Job(name, shard, path, corpus, result))
    return jobs


def run(jobs: Sequence[Job], engine: Engine, workers: int) -> Iterator[Job]:
    """Screen shards, several at a time.

    Args:
        jobs: The shards.
        engine: `local` processes, or `ray`: the cluster that RAY_ADDRESS names, else one here.
        workers: Processes on this machine.

    Yields:
        Each job when its result is written, in the order in which they were given.

    Raises:
        SeamError: Ray is wanted but not installed, a shard lacks a column, or a worker was killed.
    """
    if engine == "ray":
        yield from _run_on_ray(jobs, workers)
    elif workers == 1:
        yield from map(screen_shard, jobs)
    else:
        # Arrow keeps threads, which a forked child would lose, so start clean interpreters.
        try:
            with ProcessPoolExecutor(workers, get_context("spawn"), _start_worker) as pool:
                yield from pool.map(screen_shard, jobs)
        except BrokenProcessPool:
            raise SeamError(
                "a worker of the screen was killed, most likely because memory ran out. Lower "
                "wild.workers in params.yaml and start again: finished shards are kept."
            ) from None


def _start_worker() -> None:
    """Leave Ctrl-C to the main process, and end when that is killed instead of waiting forever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _run_on_ray(jobs: Sequence[Job], workers: int) -> Iterator[Job]:
    try:
        import ray
    except ImportError:
        raise SeamError(
            "wild.engine is ray, but Ray is not installed: pip install -e '.[cluster]'"
        ) from None

    def screen_row(row: dict[str, Any]) -> dict[str, Any]:
        try:
            screen_shard(jobs[row["id"]])
        except SeamError as error:  # Ray would wrap it in errors of its own
            return row | {"error": str(error)}
        return row | {"error": ""}

    here = None if "RAY_ADDRESS" in os.environ else workers
    with ray.init(num_cpus=here, include_dashboard=False, log_to_driver=False):
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        shards = ray.data.range(len(jobs), override_num_blocks=len(jobs))
        for row in shards.map(screen_row).iter_rows():
            if row["error"]:
                raise SeamError(row["error"])
            yield jobs[row["id"]]


def screen_shard(job: Job) -> Job:
    """Screen one shard and write its result, unless an earlier run has written the same one.

    A shard that cannot be read is tried again by the next run, since the disk may be at fault.
    """
    state = job.path.stat()
    code = corpora, rules, dedupe, sys.modules[__name__]
    made_from = stamp(*code, job.columns, state.st_size, state.st_mtime_ns)
    if is_current(job.result, made_from):
        return job
    counts: Counter[str] = Counter(shard=1)
    found: list[tuple[object, ...]] = []
    try:
        for turns in corpora.read_turns(job.path, job.columns):
            found += screen_turns(turns, counts)
    except corpora.UnreadableShardError:
        counts, found, made_from = Counter(shard=1, unreadable_shard=1), [], b""
    arrays = []
    for place, field in enumerate(_RESULT):
        arrays.append(pa.array([row[place] for row in found], field.type))
    metadata = {b"counts": msgspec.json.encode(counts)}
    write_stamped(job.result, pa.table(arrays, _RESULT.with_metadata(metadata)), made_from)
    return job


def screen_turns(turns: corpora.Turns, counts: Counter[str]) -> list[tuple[object, ...]]:
    """Put one batch through the rules.

    Args:
        turns: The batch.
        counts: Where its messages are counted, by what happened to them.

    Returns:
        Rows of the result, one per message that was kept.
    """
    counts.update(turns.skipped)
    counts["row"] += len(turns.rows) + turns.skipped.total()
    counts["english_first_turn"] += len(turns.rows)
    places = _possible(turns.texts, counts)
    texts = turns.texts.take(places).to_pylist()
    rows = turns.rows[places].tolist()
    ids = turns.ids.take(places).to_pylist()
    found: list[tuple[object, ...]] = []
    for row, conversation, text in zip(rows, ids, texts, strict=True):
        message = corpora.decode(text)
        seam = rules.find_seam(message)
        if isinstance(seam, str):
            counts[seam] += 1
            continue
        counts[seam.kind] += 1
        words = dedupe.normal_words(message)
        signature = dedupe.sign(dedupe.shingle_hashes(words)).tobytes()
        named = conversation is not None and _NAME.fullmatch(conversation)
        name = conversation if named else sha256(text).hexdigest()[:32]
        found.append(
            (row, name, seam.kind, len(message), seam.tail, dedupe.digest(words), signature)
        )
    return found


def _possible(texts: pa.Array, counts: Counter[str]) -> npt.NDArray[np.int64]:
    """The places of the messages in which a seam is possible; the others are counted."""
    places = np.flatnonzero(rules.may_hold_seam(texts))
    scaffolds = np.asarray(rules.is_scaffold(texts.take(places)))
    counts["short_or_single_line"] += len(texts) - len(places)
    counts["scaffold"] += int(scaffolds.sum())
    possible: npt.NDArray[np.int64] = places[~scaffolds]
    return possible


def collect(
    done: Iterable[Job],
) -> tuple[list[Candidate], dict[str, Counter[str]], list[str]]:
    """Put the shards' results together and drop near-duplicates, within and across corpora.

    Args:
        done: Finished jobs, in order; each result is read at once.

    Returns:
        The unique candidates, each corpus's count of every step, and the shards left out.

    Raises:
        SeamError: A corpus has no readable shard, or nothing in English.
    """
    index = dedupe.Index()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    candidates, unreadable = [], []
    for job in done:
        table = pq.read_table(job.result)
        of_shard = msgspec.json.decode(table.schema.metadata[b"counts"])
        counts[job.corpus].update(of_shard)
        if "unreadable_shard" in of_shard:
            unreadable.append(f"{job.corpus}/{job.shard}")
        for row in table.to_pylist():
            verdict = index.add(row.pop("digest"), np.frombuffer(row.pop("signature"), np.uint32))
            counts[job.corpus][verdict] += 1
            if verdict == "unique":
                candidates.append(Candidate(corpus=job.corpus, shard=job.shard, **row))
    for name, count in counts.items():
        if count["unreadable_shard"] == count["shard"]:
            raise SeamError(
                f"{name}: none of its {count['shard']} shards can be read. Fetch the corpus again, "
                "or correct its `folder` under wild.known in params.yaml."
            )
        if count["other_language"] and not count["english_first_turn"]:
            raise SeamError(
                f"{name}: none of its {count['row']} rows is in English. Under wild.known in "
                "params.yaml, correct its `language` (the column) and `english` (the value there)."
            )
    return candidates, counts, unreadable


def report(counts: dict[str, Counter[str]]) -> str:
    """Every step's count by corpus, as CSV."""
    lines = [f"{name},{step},{of_step[step]}" for name, of_step in counts.items() for step in STEPS]
    return "\n".join(["corpus,step,count", *lines, ""])
