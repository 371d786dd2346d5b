"""Thinking that a server left inside the content, told from the answer that it delivers.

A server without the model's own parser returns the thinking as text: between tags, behind a chat
template that has already opened them, or in the channels of the harmony format. None of it is the
edited text, so whoever reads an answer reads what `split` leaves of it.
"""

import re
from typing import NamedTuple

_TAG = r"(?:think|thinking|thought|reasoning|seed:think)"
#: An answer that begins with a block of thinking.
_OPENED = re.compile(rf"\s*<({_TAG})>", re.IGNORECASE)
#: The end of a block that the chat template had opened in the prompt; no tag that is quoted.
_CLOSED_ALONE = re.compile(rf"(?<![`'\"])</{_TAG}>(?![`'\"])", re.IGNORECASE)
#: Harmony's channels, with their special tokens ...
_CHANNEL = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>\s*(\w+)[^<]*<\|message\|>"
    r"(.*?)(<\|end\|>|<\|return\|>|<\|call\|>|(?=<\|start\|>|<\|channel\|>)|\Z)",
    re.DOTALL,
)
#: ... and as they look when a server drops these.
_BARE_CHANNELS = re.compile(r"\s*analysis(?=[A-Z\s])(.*?)assistantfinal(.*)", re.DOTALL)


class Delivered(NamedTuple):
    """An answer in its two parts.

    Attributes:
        text: What a person gets.
        thinking: What stood inside the content beside it; "" if nothing did.
        whole: False if a block of thinking is not closed: the answer was cut off before it began.
    """

    text: str
    thinking: str
    whole: bool


def split(content: str) -> Delivered:
    """Tell an answer from the thinking in front of it.

    Only what stands at the head is thinking. A tag further down belongs to the text, unless it
    closes a block that was opened in the prompt; then no opening tag stands before it.
    """
    if "<|channel|>" in content:
        return _channels(content)
    if opened := _OPENED.match(content):
        rest = content[opened.end() :]
        closing = re.search(rf"</{re.escape(opened[1])}>", rest, re.IGNORECASE)
        if not closing:
            return Delivered("", rest, whole=False)
        after = split(rest[closing.end() :])  # some models think twice
        return after._replace(thinking=rest[: closing.start()] + after.thinking)
    if (closing := _CLOSED_ALONE.search(content)) and not _opens(content[: closing.start()]):
        return Delivered(content[closing.end() :].lstrip(), content[: closing.start()], whole=True)
    if bare := _BARE_CHANNELS.fullmatch(content):
        return Delivered(bare[2], bare[1], whole=True)
    return Delivered(content, "", whole=True)


def _opens(text: str) -> bool:
    """Whether a text opens a block itself."""
    return re.search(rf"<{_TAG}>", text, re.IGNORECASE) is not None


def _channels(content: str) -> Delivered:
    """The final channel is the answer, every other one thinking."""
    found = [(match[1].lower(), match[2]) for match in _CHANNEL.finditer(content)]
    if not found:
        return Delivered(content, "", whole=True)
    final = "".join(text for name, text in found if name == "final")
    thinking = "".join(text for name, text in found if name != "final")
    return Delivered(final, thinking, whole=any(name == "final" for name, _ in found))
