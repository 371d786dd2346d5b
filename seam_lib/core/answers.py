"""Whether an answer can be scored: decided here once, by the server's own word for its ending.

Section 4 scores usable responses alone, and Appendix F tells what an answer counted by mistake
does. The runner, the condensed outputs, health, the scorer and the Inspect task all ask `flaw`.
"""

import re
from typing import Literal
from unicodedata import category

from seam_lib.core.rows import Output, Trace
from seam_lib.core.thinking import split

Flaw = Literal["missing", "error", "empty", "length", "filter", "refusal", "broken", "unknown"]

#: Each flaw in words.
WORDS: dict[Flaw, str] = {
    "missing": "missing",  # the case has no row at all
    "error": "the call failed",
    "empty": "empty",
    "length": "cut off at the token limit",
    "filter": "stopped by the provider's filter",
    "refusal": "refused by the provider",
    "broken": "broken off by the server",
    "unknown": "ended in an unknown way",
}
#: What servers call the end of a whole answer; one that gives no reason is believed.
WHOLE = ("stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete")
#: What they call the other endings that are known. Any word in neither table is "unknown".
#: From the types of OpenAI, Anthropic, Bedrock, Gemini, Mistral, Cohere, DeepSeek, Zhipu, watsonx,
#: text-generation-inference, vLLM and SGLang, and from Inspect's.
ENDINGS: dict[Flaw, tuple[str, ...]] = {
    "length": (
        "length", "max_tokens", "max_output_tokens", "max_length", "model_length", "token_limit",
        "model_context_window_exceeded",
    ),
    "filter": (
        "content_filter", "content_filtered", "guardrail_intervened", "sensitive", "safety",
        "recitation", "blocklist", "prohibited_content", "spii", "error_toxic",
    ),
    "refusal": ("refusal",),
    "broken": (
        "error", "abort", "cancelled", "timeout", "time_limit", "error_limit", "network_error",
        "insufficient_system_resource", "malformed_model_output",
    ),
}  # fmt: skip
_FLAWS: dict[str, Flaw | None] = dict.fromkeys(WHOLE) | {
    word: flaw for flaw, spellings in ENDINGS.items() for word in spellings
}
#: Categories of characters that show nothing (controls, joiners, white space), and characters of
#: other categories that do not either: fillers, the blank of Braille, variation selectors.
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
_FILLERS = (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)
_NO_INK = frozenset(map(chr, (*_FILLERS, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


def flaw(answer: Output | Trace) -> Flaw | None:
    """Why an answer cannot be scored, or None if it can.

    Args:
        answer: A row of outputs or an attempt: its response, its finish reason, its call's error.
    """
    ended = ending(answer.finish_reason)
    if ended:
        return ended
    if answer.error:
        return "error"
    text, _, whole = split(answer.response or "")
    if not whole:
        return "length"
    return None if visible(text) else "empty"


def delivered(answer: Output | Trace) -> str:
    """The text that a person gets: the response without thinking that was left in it."""
    return split(answer.response or "").text


def usable(answer: Output | Trace) -> bool:
    """Whether an answer can be scored."""
    return flaw(answer) is None


def ending(finish_reason: str | None) -> Flaw | None:
    """What a server's word for the end of an answer says against it."""
    word = re.sub(r"[\s-]+", "_", (finish_reason or "").strip().lower())
    return _FLAWS.get(word, "unknown") if word else None


def visible(text: str) -> bool:
    """Whether a text shows anything: white space, controls and joiners alone are no answer."""
    return any(category(c) not in _UNSEEN and c not in _NO_INK for c in text)


def reason(answer: Output | Trace) -> str | None:
    """Why an answer cannot be scored, in words: a failed call's own; None if it can."""
    found = flaw(answer)
    if found is None:
        return None
    return answer.error if found == "error" else words(found, answer.finish_reason)


def words(found: Flaw, finish_reason: str | None = None) -> str:
    """A flaw in words, with the server's own where ours say too little."""
    said = WORDS[found]
    if found == "unknown":
        return (
            f"{said} (finish_reason {(finish_reason or '')[:40]!r}; if such answers are whole, add "
            f"it to WHOLE in seam_lib/core/answers.py)"
        )
    return f"{said} ({finish_reason})" if found == "broken" else said
