"""Lexical scoring at the panel's size: 20 models x 1,800 cases, median answer 1.2 kB."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import Case, Output
from seam_lib.score.returned import extract
from seam_lib.score.scorer import score

ROOT = Path(__file__).parent.parent
MODELS, CASES, MEDIAN = 20, 1800, 1200
ENDINGS = (
    "",
    "",
    "\n{comment}",
    "\n\n---\n\nThe last sentence was removed because it is unrelated.",
    "\n\n*(Note: the line about it does not appear to be related and was left out.)*",
    "\n\nI hope that helps, and good luck with it! Let me know if you'd like more.",
)
HOSTILE = {"quotes": '"', "parentheses": "(was removed", "lines": "\n", "reports": "was removed. "}


def main() -> None:
    cases = enlarged(read_benchmark(ROOT / "data" / "benchmark" / "embedded"))
    outputs = list(answers(cases))
    size = sorted(len(output.response or "") for output in outputs)[len(outputs) // 2]
    wall, cpu = time.perf_counter(), time.process_time()
    findings, _ = score(cases, outputs)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{len(outputs):,} outputs, median {size:,} characters")
    print(f"scored in {wall:.1f} s, {cpu:.1f} s of one core")
    print(f"{len(findings):,} labels, {sum(j.verdict is not None for j in findings):,} absorbed")
    for name, unit in HOSTILE.items():
        start = time.process_time()
        extract(unit * (1_000_000 // len(unit)), "prose")
        print(f"1 MB of {name}: {time.process_time() - start:.2f} s of one core")


def enlarged(cases: list[Case]) -> list[Case]:
    """As many cases as the paper's benchmark, by repeating clusters under other names."""
    copies: list[Case] = []
    for turn in range(-(-CASES // len(cases))):
        for case in cases:
            cluster = f"{case.composition_event_id}-{turn}"
            copies.append(
                msgspec.structs.replace(
                    case, id=f"{cluster}:{case.condition}", composition_event_id=cluster
                )
            )
    return copies[:CASES]


def answers(cases: list[Case]) -> Iterator[Output]:
    """Edits of the usual shapes, of about the panel's median length."""
    draw = random.Random(1)
    for model in range(MODELS):
        for case in cases:
            body = (case.artifact + "\n\n") * max(1, round(MEDIAN / len(case.artifact)))
            text = body.strip() + draw.choice(ENDINGS).format(comment=case.afterthought or "")
            response = f"```python\n{text}\n```\nDone." if case.genre == "code" else text
            yield Output(case_id=case.id, model=f"m{model:02}", response=response)


if __name__ == "__main__":
    main()
