"""A message as HTML, coloured by who wrote which part of it: the model sees the same without."""

from collections.abc import Iterator, Mapping
from html import escape

from seam_lib.compose import Composed
from seam_lib.schema import Case

#: Inline styles by role, so that a page needs nothing beside them; readable in light and dark.
STYLES = {
    "task_instruction": "background:#0072b233",
    "boundary_instruction": "background:#0072b266",
    "artifact": "background:#80808033",
    "afterthought": "background:#e69f0099;font-weight:600",
    "": "color:#d55e00",
}
#: What the colours mean, for a legend; stretches without a role are tags and line breaks.
LEGEND = {
    "task_instruction": "task, typed",
    "boundary_instruction": "added sentence, typed",
    "artifact": "artifact, pasted",
    "afterthought": "comment, typed",
    "": "tags",
}
GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(19em,1fr));gap:.8em"
BOX = (
    "white-space:pre-wrap;word-break:normal;overflow-wrap:break-word;"
    "font-size:.8em;line-height:1.35;margin:.3em 0"
)


def stretches(message: Case | Composed) -> Iterator[tuple[str, str]]:
    """Cut a message at its segments' offsets.

    Yields:
        Pairs of role and text, which joined give back the message; the role is empty between
        segments.
    """
    here = 0
    for segment in message.segments:
        yield "", message.message[here : segment.start]
        yield segment.role, message.message[segment.start : segment.end]
        here = segment.end
    yield "", message.message[here:]


def to_html(messages: Mapping[str, Case | Composed]) -> str:
    """Messages side by side, each under its name, with a legend."""
    legend = " ".join(coloured(role, name) for role, name in LEGEND.items())
    boxes = "".join(f"<div>{box(name, message)}</div>" for name, message in messages.items())
    return f'<p>{legend}</p><div style="{GRID}">{boxes}</div>'


def box(name: str, message: Case | Composed) -> str:
    """One message under its name, and its system instruction if it has one."""
    parts = [f"<b>{escape(name)}</b>"]
    if message.system_instruction:
        text = escape(message.system_instruction)
        parts.append(f'<pre style="{BOX}"><i>system:</i> {text}</pre>')
    body = "".join(coloured(role, text) for role, text in stretches(message))
    return "".join([*parts, f'<pre style="{BOX}">{body}</pre>'])


def coloured(role: str, text: str) -> str:
    """A stretch of text in its role's colour; a role of a plugin's own is shown as a task is."""
    style = STYLES.get(role, STYLES["task_instruction"])
    return f'<span style="{style}">{escape(text)}</span>' if text else ""
