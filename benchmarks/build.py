"""Building the benchmark: time and peak memory by the number of items, on rows made up here.

Each size runs in a separate process, since the peak is one per process. Growth is the time per item
relative to the smallest size: a flat column means that the build is linear.
"""

import json
import multiprocessing
import random
import resource
import shutil
import tempfile
import time
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from seam_lib.build.clusters import build_benchmark
from seam_lib.core.params import find_root, load_params
from seam_lib.core.rows import SOURCES

SIZES = (6_000, 18_000, 60_000)
WORDS = ("the", "model", "returns", "a", "text", "that", "was", "asked", "for", "nothing", "else")


def write_rows(folder: Path, count: int) -> None:
    """Write `count` rows per source, as long as those of the embedded corpora (80 to 2,000)."""
    generator = random.Random(count)
    for source in SOURCES:
        with (folder / f"{source}.jsonl").open("w") as handle:
            for number in range(count):
                words = generator.choices(WORDS, k=generator.randint(30, 350))
                handle.write(json.dumps(row(source, number, " ".join(words))) + "\n")


def row(source: str, number: int, text: str) -> dict[str, object]:
    """A row in a source's format."""
    text = f"{text} {number}"
    match source:
        case "canitedit":
            instructions = {"instruction_lazy": "Do.", "instruction_descriptive": "Do it."}
            other = {"tests": "", "taxonomy": {}}
            return {"id": number, "before": text, "after": text} | instructions | other
        case "coedit":
            return {"_id": str(number), "task": "gec", "src": text, "tgt": text}
        case "commitpackft":
            commit = {"commit": str(number), "old_file": "a.py", "subject": "Change it"}
            texts = {"old_contents": text, "new_contents": text + "!"}
            return commit | texts | {"license": "mit", "repos": "a/b"}
        case "iterater":
            return {"doc_id": str(number), "before_revision": text, "after_revision": text}
        case "pararev":
            texts = {"id_paragraph": str(number), "parag_1": text, "parag_2": text}
            return texts | {"annot_1": None, "annot_2": None}
    return {"question_id": number, "title": "T", "body": f"<p>{text}</p>", "creation_date": 0}


def measure(items: int, results: "multiprocessing.Queue[tuple[float, float, float]]") -> None:
    """Build `items` items; put seconds, peak MB of this process, and MB written."""
    root = find_root()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data" / "sources").mkdir(parents=True)
        shutil.copy(root / "data" / "comments.yaml", folder / "data")
        write_rows(folder / "data" / "sources", items // 6)
        params = msgspec.structs.replace(
            load_params(root).build, source="files", per_source=items // 6
        )
        start = time.perf_counter()
        written = build_benchmark(folder, params)
        seconds = time.perf_counter() - start
        size = sum(path.stat().st_size for path in written.iterdir())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # KiB on Linux
    results.put((seconds, peak, size / 1e6))


def main() -> None:
    """Measure every size and print the table."""
    table = Table("items", "cases", "seconds", "ms an item", "growth", "peak MB", "MB written")
    first = None
    context = multiprocessing.get_context("spawn")
    for items in SIZES:
        results = context.Queue()
        process = context.Process(target=measure, args=(items, results))
        process.start()
        seconds, peak, size = results.get()
        process.join()
        each = 1000 * seconds / items
        first = first or each
        cells = (seconds, each, each / first, peak, size)
        table.add_row(f"{items:,}", f"{6 * items:,}", *(f"{cell:,.2f}" for cell in cells))
    Console().print(table)


if __name__ == "__main__":
    main()
