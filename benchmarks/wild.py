"""The occurrence screen over a million synthetic conversations, compared with only reading them.

Targets on two idle cores: 50,000 English first turns per second, and at most four times as long as
reading and decoding the same columns. CPU seconds (all processes) hold on a busy machine as well.
"""

import csv
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from seam_lib.core.params import CorpusParams, SyntheticParams, find_root, load_params
from seam_lib.wild import corpus as corpora
from seam_lib.wild.screen import screen
from seam_lib.wild.synthetic import make_shard

WORKERS = 2
ROWS_PER_SHARD = 62_500
WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def read_shard(corpus: CorpusParams, shard: Path) -> None:
    """Read and decode the columns that the screen uses, and do nothing with them."""
    with pq.ParquetFile(shard, pre_buffer=False) as file:
        leaves = corpora.parquet_leaves(file, corpus)
        for _ in file.iter_batches(corpora.BATCH, columns=leaves, use_threads=False):
            pass


def on_every_shard(work: Callable[..., object], shards: list[Path] | range) -> None:
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        list(pool.map(work, shards))


def cpu_seconds() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in WHO)


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Wall and CPU seconds of a piece of work."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    work()
    return time.perf_counter() - wall, cpu_seconds() - cpu


def main(rows: int = 1_000_000) -> None:
    synthetic = SyntheticParams(
        shards=max(rows // ROWS_PER_SHARD, WORKERS), rows_per_shard=ROWS_PER_SHARD, seed=1
    )
    ours = load_params(find_root(Path(__file__).parent)).wild
    corpus = msgspec.structs.replace(ours.known["synthetic"], folder="corpus", synthetic=synthetic)
    wild = msgspec.structs.replace(
        ours, corpora=["corpus"], known={"corpus": corpus}, engine="local", workers=WORKERS
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        on_every_shard(partial(make_shard, root / "corpus", synthetic), range(synthetic.shards))
        shards = sorted((root / "corpus").iterdir())
        read = timed(lambda: on_every_shard(partial(read_shard, corpus), shards))
        screened = timed(lambda: screen(root, wild))
        with (wild.folder(root) / "screen.csv").open() as lines:
            counts = {row["step"]: int(row["count"]) for row in csv.DictReader(lines)}
    table = Table("", "seconds", "CPU seconds", "English first turns/s", "times reading")
    for name, (wall, cpu) in {"read and decode": read, "screen": screened}.items():
        speed = counts["english_first_turn"] / wall
        table.add_row(name, f"{wall:.1f}", f"{cpu:.1f}", f"{speed:,.0f}", f"{wall / read[0]:.1f}")
    console = Console()
    console.print(f"{counts['row']:,} conversations, {counts['english_first_turn']:,} English")
    console.print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
