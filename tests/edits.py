"""Pretended responses: edits that treat the comment as told, and texts that meet every shape."""

from hypothesis import strategies as st

from seam_lib.schema import Case, Output

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
