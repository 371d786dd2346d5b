"""Responses beside their messages, as HTML: the first look at a run."""

from collections.abc import Iterable, Mapping
from html import escape

from seam_lib.explain import printable
from seam_lib.messages import BOX, LEGEND, box, coloured
from seam_lib.schema import Case, Output

PAIR = "display:grid;grid-template-columns:1fr 1fr;gap:.8em;border-top:1px solid #80808066"


def to_html(cases: Iterable[Case], outputs: Mapping[str, Output]) -> str:
    """Each case as a row: its message, coloured by origin, and what the model returned.

    Args:
        cases: The cases to show.
        outputs: The run's outputs by case id; a case without one is shown as missing.
    """
    legend = " ".join(coloured(role, name) for role, name in LEGEND.items())
    rows = "".join(
        f'<div style="{PAIR}"><div>{box(case.condition, case)}</div>'
        f"<div>{_answer(outputs.get(case.id))}</div></div>"
        for case in cases
    )
    return f"<p>{legend}</p>{rows}"


def _answer(output: Output | None) -> str:
    """A response as it came, characters that would act made visible, with what is odd about it."""
    if output is None:
        return "<i>missing: not asked yet</i>"
    notes = [note for note in (output.error, output.decoding) if note]
    head = f"<b>response</b> <i>{escape('; '.join(notes))}</i>"
    return f'{head}<pre style="{BOX}">{escape(printable(output.response or ""))}</pre>'
