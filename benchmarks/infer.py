"""The runner's own cost: 2,000 cases against a server that answers each after 50 ms.

The server is a separate process and does nothing but wait. The time beyond the ideal (cases /
concurrency x 50 ms) is spent in the official client, which takes about nine tenths of the processor
time of a call, and in the runner, which writes a trace of every call before it counts. "Bare" is
the same exchange by aiohttp alone: what this machine allows without either.
"""

import asyncio
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from rich.console import Console
from rich.table import Table

from seam_lib.build.clusters import Cluster, compose_cases
from seam_lib.build.comments import Comment
from seam_lib.build.conditions import conditions
from seam_lib.build.sources import Item
from seam_lib.core.files import write_rows
from seam_lib.core.params import RunParams
from seam_lib.core.rows import CONDITIONS
from seam_lib.core.run import Run
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.runner import infer

CASES, DELAY = 2_000, 0.05
CONCURRENCIES = (8, 32, 64)
BODY = msgspec.json.encode(
    {
        "id": "x",
        "model": "m",
        "choices": [{"message": {"content": "An edited text. " * 40}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 160},
    }
)
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


class Waiter(asyncio.Protocol):
    """Answers every whole request on a connection after the delay."""

    def connection_made(self, transport: Any) -> None:
        self.transport, self.data = transport, b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if found:
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(rest) >= length:
                self.data = rest[length:]
                asyncio.get_running_loop().call_later(DELAY, self.transport.write, RESPONSE)


def serve(port: "multiprocessing.Queue[int]") -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Waiter, "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def write_benchmark(folder: Path) -> None:
    """2,000 cases with artifacts of about 600 characters, as in the embedded benchmark."""
    comment = Comment("note", "My bus was late.", "the bus was late", ["bus was late"])
    clusters = [
        Cluster(
            Item(source="coedit", id=str(n), artifact=f"Text {n}. " * 60, reference=None,
                 operation="edit", license="MIT", genre="prose", partition="permissive"),
            head="Improve it.", casual=comment, native=comment,
        )
        for n in range(CASES // len(CONDITIONS) + 1)
    ]  # fmt: skip
    cases = list(compose_cases(clusters, conditions(CONDITIONS), seed=42))[:CASES]
    write_rows(folder / "data" / "benchmark" / "b" / "cases.jsonl", cases)


def measure(
    url: str, concurrency: int, results: "multiprocessing.Queue[tuple[float, ...]]"
) -> None:
    """Run all cases; put wall seconds, processor seconds, and peak MB of this process."""
    settings = RunParams(
        benchmark="b", provider="openai", model="m", base_url=url, concurrency=concurrency
    )
    with tempfile.TemporaryDirectory() as name:
        write_benchmark(Path(name))
        start, cpu = time.perf_counter(), time.process_time()
        run = Run("bench", settings, Path(name))
        stopped = infer(run, load_prompts(run))
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert stopped is None
    results.put((wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


async def bare(url: str, concurrency: int) -> float:
    """Wall seconds of as many exchanges without client and runner."""
    left = iter(range(CASES))
    body = {"model": "m", "messages": [{"role": "user", "content": "Text 1. " * 60}]}

    async def work(session: aiohttp.ClientSession) -> None:
        for _ in left:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                await response.read()

    start = time.perf_counter()
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
    return time.perf_counter() - start


def main() -> None:
    """Measure every concurrency and print the table."""
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    server = context.Process(target=serve, args=(port,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.get()}/v1"
    columns = ("concurrency", "ideal s", "bare s", "wall s", "of ideal", "cpu ms a call", "peak MB")
    table = Table(*columns)
    for concurrency in CONCURRENCIES:
        results = context.Queue()
        process = context.Process(target=measure, args=(url, concurrency, results))
        process.start()
        wall, cpu, peak = results.get()
        process.join()
        ideal = CASES / concurrency * DELAY
        table.add_row(
            str(concurrency), f"{ideal:.2f}", f"{asyncio.run(bare(url, concurrency)):.2f}",
            f"{wall:.2f}", f"{ideal / wall:.0%}", f"{1000 * cpu / CASES:.2f}", f"{peak:.0f}",
        )  # fmt: skip
    server.terminate()
    Console().print(table)


if __name__ == "__main__":
    main()
