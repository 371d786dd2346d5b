"""What the runner asks: messages, and about how long their answer will be."""

import hashlib

import msgspec

from seam_lib.core.rows import Case
from seam_lib.core.run import Run, load_cases


class Prompt(msgspec.Struct, frozen=True):
    """One thing to ask.

    Attributes:
        id: The name under which attempts and answer are kept: `case_id` of traces and outputs.
        messages: What is sent, as chat messages.
        expected: About how many characters the answer has.
    """

    id: str
    messages: list[dict[str, str]]
    expected: int


def prompt_of(case: Case) -> Prompt:
    """A case as it is asked: one user message; a system message only if the condition has one.

    An edited text is about as long as the artifact.
    """
    system = case.system_instruction
    chat = [
        *([{"role": "system", "content": system}] if system else []),
        {"role": "user", "content": case.message},
    ]
    return Prompt(case.id, chat, len(case.artifact))


def load_prompts(run: Run) -> list[Prompt]:
    """The cases of a run's benchmark as they are asked, in the benchmark's order."""
    return [prompt_of(case) for case in load_cases(run)]


def message_digest(chat: list[dict[str, str]]) -> str:
    """The SHA-256 by which a trace knows its messages."""
    return hashlib.sha256(msgspec.json.encode(chat)).hexdigest()
