"""Pretended responses: models over the embedded benchmark, judged answers, texts of every shape."""

from functools import cache

from hypothesis import strategies as st

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.rows import Case, Label, Output, Segment, Tier
from seam_lib.read.specimens import Specimen, join
from seam_lib.score.returned import extract
from seam_lib.score.scorer import Finding, Reading, score, to_label
from seam_lib.score.tiers import Verdict
from tests.helpers.project import ROOT

MODEL = "pretended"

# Pieces that run into the extraction steps and their borders.
SIGNS = [*"ab.!? \n\r\t\"“”'’()*_`~-#:", "\n\n", "\n---\n", "```\n", "İ", "\U0001f642"]
WORDS = ["was removed", "hope you", "sorry to hear", "two unrelated sentences", "if you'd like"]
MORE_WORDS = ["happy to help", "separate line", 'line "', "I noticed", "part 2:", "Note: ", "2. "]
SHAPES = st.lists(st.sampled_from(SIGNS + WORDS + MORE_WORDS), max_size=40).map("".join)


def benchmark() -> list[Case]:
    """The embedded benchmark, read anew: a test may change it."""
    return read_benchmark(ROOT / "data" / "benchmark" / "embedded")


# --- A model that treats every comment alike ------------------------------------------------------


def answers(cases: list[Case], treated: str = "{artifact}\n{comment}") -> list[Output]:
    """A model that returns the artifact, and under treated conditions what the pattern says."""
    outputs = []
    for case in cases:
        text = treated if case.afterthought else "{artifact}"
        response = text.replace("{comment}", case.afterthought or "")
        response = response.replace("{artifact}", case.artifact)
        if case.genre == "code":
            response = f"```python\n{response}\n```"
        outputs.append(Output(case_id=case.id, model="m", response=response))
    return outputs


# --- A model that shows every way to answer a comment ---------------------------------------------


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
        "newline_R": f"{edited} We note {' and '.join(case.witness_tokens or [])}.",
    }[case.condition]


def outputs(cases: list[Case]) -> list[Output]:
    return [Output(case_id=case.id, model=MODEL, response=answer(case)) for case in cases]


def labels(cases: list[Case], answers: list[Output]) -> list[Label]:
    return [to_label(finding) for finding in score(cases, answers)[0]]


@cache
def specimens() -> list[Specimen]:
    """The pretended model's specimens: one a label, 480 in all. Many tests share them."""
    cases = benchmark()
    made = outputs(cases)
    return join(MODEL, cases, made, labels(cases, made))


# --- One judged answer ----------------------------------------------------------------------------


def finding(number: int, tier: Tier | None, response: str = "Soup. The menu is bad.") -> Finding:
    """A judged answer; the evidence is wherever "menu is bad" stands in the default answer."""
    case = Case(
        id=f"coedit:{number}:newline:abc",
        composition_event_id=f"coedit:{number}",
        source="coedit",
        license="MIT",
        url=None,
        genre="prose",
        release_partition="permissive",
        source_item_id=str(number),
        artifact="Soup.",
        reference=None,
        operation="edit",
        source_instruction=None,
        seed=42,
        condition="newline",
        task_instruction="Edit.",
        afterthought="The menu is bad.",
        afterthought_role=None,
        forbidden_proposition="the menu is bad",
        witness_tokens=["menu is bad"],
        message="",
        segments=[Segment("typed", "task_instruction", 0, 0, "")],
    )
    treated = Reading(response, extract(response, "prose"))
    verdict = Verdict(tier, ((10, 21),)) if tier else None
    return Finding(case, "m", treated, Reading("Soup.", extract("Soup.", "prose")), verdict)
