"""Messages and responses as HTML, and text made safe to show.

A message is coloured by who wrote which part of it; the model sees the same without the colours.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape

from seam_lib.core.answers import reason
from seam_lib.core.palette import BLUE, NEUTRAL, ORANGE, VERMILION
from seam_lib.core.rows import Case, Composed, Output, condition_name

#: Inline styles by role, so that a page needs nothing beside them; readable in light and dark.
STYLES = {
    "task_instruction": f"background:{BLUE}33",
    "boundary_instruction": f"background:{BLUE}66",
    "artifact": f"background:{NEUTRAL}33",
    "afterthought": f"background:{ORANGE}99;font-weight:600",
    "": f"color:{VERMILION}",
}
#: What the colours mean, for a legend; stretches without a role are tags and line breaks.
LEGEND = {
    "task_instruction": "task, typed",
    "boundary_instruction": "added sentence, typed",
    "artifact": "artifact, pasted",
    "afterthought": "comment, typed",
    "": "seam, tags",
}
PAIR = f"display:grid;grid-template-columns:1fr 1fr;gap:.8em;border-top:1px solid {NEUTRAL}66"
GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(19em,1fr));gap:.8em"
BOX = (
    "white-space:pre-wrap;word-break:normal;overflow-wrap:break-word;"
    "font-size:.8em;line-height:1.35;margin:.3em 0"
)


def stretches(message: Case | Composed) -> Iterator[tuple[str, str]]:
    """Cut a message at its segments' offsets.

    Yields:
        Pairs of role and text; joined, the texts are the message. Between segments the role is "".
    """
    here = 0
    for segment in message.segments:
        yield "", message.message[here : segment.start]
        yield segment.role, message.message[segment.start : segment.end]
        here = segment.end
    yield "", message.message[here:]


def to_html(messages: Mapping[str, Case | Composed]) -> str:
    """Messages side by side, each under its name, with a legend."""
    boxes = "".join(f"<div>{box(name, message)}</div>" for name, message in messages.items())
    return f'{legend()}<div style="{GRID}">{boxes}</div>'


def answers_html(cases: Iterable[Case], outputs: Mapping[str, Output]) -> str:
    """Each case as a row, for a first look at a run: its message, and what the model returned.

    Args:
        cases: The cases to show.
        outputs: The run's outputs by case id; a case without one is shown as missing.
    """
    rows = "".join(
        f'<div style="{PAIR}"><div>{box(case.condition, case)}</div>'
        f"<div>{_answer(outputs.get(case.id))}</div></div>"
        for case in cases
    )
    return legend() + rows


def legend() -> str:
    """What the colours mean."""
    return f"<p>{' '.join(coloured(role, name) for role, name in LEGEND.items())}</p>"


def box(name: str, message: Case | Composed) -> str:
    """One message under its name, and its system instruction if it has one."""
    parts = [f"<b>{escape(condition_name(name))}</b>"]
    if message.system_instruction:
        text = escape(message.system_instruction)
        parts.append(f'<pre style="{BOX}"><i>system:</i> {text}</pre>')
    body = "".join(coloured(role, text) for role, text in stretches(message))
    return "".join([*parts, f'<pre style="{BOX}">{body}</pre>'])


def coloured(role: str, text: str) -> str:
    """A stretch of text in its role's colour; a role that a plugin added is shown like the task."""
    style = STYLES.get(role, STYLES["task_instruction"])
    return f'<span style="{style}">{escape(text)}</span>' if text else ""


def _answer(output: Output | None) -> str:
    """A response as it came, with invisible characters made visible and any defect named."""
    if output is None:
        return "<i>missing: not asked yet</i>"
    notes = [note for note in (reason(output), output.decoding) if note]
    head = f"<b>response</b> <i>{escape('; '.join(notes))}</i>"
    return f'{head}<pre style="{BOX}">{escape(printable(output.response or ""))}</pre>'


def printable(text: str) -> str:
    """Make invisible characters visible: a model's answer must not control a terminal or a page.

    Control characters become pictures; marks that turn, break or hide text become their code.
    """
    return text.translate(_PICTURES)


#: Marks of direction, line and paragraph separators, spaces without width, hidden tag letters.
_ACTING = (0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
_TAG_LETTERS = range(0xE0000, 0xE0080)
_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
_PICTURES |= {code: f"\u27e8U+{code:04X}\u27e9" for code in (*_ACTING, *_TAG_LETTERS)}
