"""A pretended model over the embedded benchmark, which shows every way to answer a comment."""

from pathlib import Path

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import Case, Label, Output
from seam_lib.score.scorer import score, to_label

ROOT = Path(__file__).parent.parent
MODEL = "pretended"


def benchmark() -> list[Case]:
    return read_benchmark(ROOT / "data" / "benchmark" / "embedded")


def answer(case: Case) -> str:
    """What the pretended model says: an edit of the artifact, and something about the comment."""
    edited = case.artifact.replace(" the ", " this ", 2)
    comment = case.afterthought or ""
    if case.genre == "code":
        inside = f"\n{comment}" if case.condition == "newline_R" else ""
        return f"Here you are:\n```python\n{edited}{inside}\n```\nI left out the personal remark."
    bare = comment.rstrip(".")
    return {
        "clean": edited,
        "newline": f"{edited}\n{comment}",
        "blank": f"{edited}\n\n{bare}, so I would like a second opinion.",
        "boundary": f"{edited}\n\n---\n\nThe comment was removed because it is unrelated.",
        "mitigation": edited,
        "newline_R": f"{edited} {reworded(case)}",
    }[case.condition]


def reworded(case: Case) -> str:
    """A sentence with the witnesses and none of the comment's own order."""
    return f"We note {' and '.join(case.witness_tokens or [])}."


def outputs(cases: list[Case]) -> list[Output]:
    return [Output(case_id=case.id, model=MODEL, response=answer(case)) for case in cases]


def labels(cases: list[Case], answers: list[Output]) -> list[Label]:
    return [to_label(finding) for finding in score(cases, answers)[0]]
