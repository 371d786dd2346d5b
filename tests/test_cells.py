"""What cells show in a notebook, and from where to where values go."""

import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

from seam_lib.core.cells import markdown, percent, show, span


def test_a_notebook_renders_a_frame_as_its_markdown_table() -> None:
    frame = pd.DataFrame({"name": ["a|b"], "n": [1]})
    shown, _ = DisplayFormatter().format(show(frame))
    assert shown == {"text/plain": markdown(frame).strip(), "text/markdown": markdown(frame)}


@pytest.mark.parametrize(
    ("values", "text"),
    [([3], "3"), ([3, 3], "3"), ([5, 2, 3], "2 to 5"), ([1, 1200], "1 to 1,200")],
)
def test_a_span_goes_from_the_least_to_the_most(values: list[int], text: str) -> None:
    assert span(values) == text


def test_values_that_read_alike_are_no_span() -> None:
    assert span([0.1001, 0.1002], percent) == "10.0"
