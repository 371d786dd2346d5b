"""Pretended responses: edits that treat the comment as told, and texts that meet every shape."""

from hypothesis import strategies as st

from seam_lib.core.rows import Case, Output, Segment, Tier
from seam_lib.score.returned import extract
from seam_lib.score.scorer import Finding, Reading
from seam_lib.score.tiers import Verdict

# Pieces that run into the extraction steps and their borders.
SIGNS = [*"ab.!? \n\r\t\"“”'’()*_`~-#:", "\n\n", "\n---\n", "```\n", "İ", "\U0001f642"]
WORDS = ["was removed", "hope you", "sorry to hear", "two unrelated sentences", "if you'd like"]
MORE_WORDS = ["happy to help", "separate line", 'line "', "I noticed", "part 2:", "Note: ", "2. "]
SHAPES = st.lists(st.sampled_from(SIGNS + WORDS + MORE_WORDS), max_size=40).map("".join)


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
