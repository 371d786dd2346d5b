"""The screen's rules: does a message look like a paste with the user's own words below it?

There are two shapes (paper, Appendix A): `paste_with_tail`, a long artifact-like region with short
natural language below, and `fence_trailing`, a fenced block with more text below. The rules favour
recall; the judge, and then people, decide whether a shape is genuine. The paper's release does not
contain its screen: every threshold here is ours, with its reason beside it.
"""

import re
from typing import Literal, NamedTuple, get_args

import pyarrow as pa
import pyarrow.compute as pc

#: A shorter region is a sentence or two, which may have been typed. (The shortest message of the
#: paper's public sample has 292 characters.)
MIN_REGION = 200
#: A fenced block is marked as such, so one line of code is enough.
MIN_FENCE = 30
#: The user's own words below a paste are a few sentences; a longer ending belongs to the paste.
MAX_TAIL = 500
#: A word can be a request ("Thoughts?"), one or two characters cannot.
MIN_TAIL = 3
#: How much of a region's beginning and of its end is read, so that 5 MB cost no more than 5 kB.
WINDOW = 1_000
#: Share of symbols and digits: of our benchmark's artifacts, 47 of 48 of prose stay below it, and
#: 30 of 32 of code above it.
STRUCTURED_SHARE = 0.06
#: A sentence that names an identifier or two is still a sentence.
MAX_TAIL_SYMBOLS = 0.15
#: Share of words that say what is wanted: none of our benchmark's artifacts reaches it, and all of
#: our made-up specifications exceed it.
SPECIFICATION_SHARE = 0.06

Kind = Literal["paste_with_tail", "fence_trailing"]
Reason = Literal[
    "short_or_single_line",  # no room for a paste with something typed below
    "scaffold",  # a known template, an agent's loop, a benchmark harness
    "short_region",  # words below something, but too little above them
    "no_tail",  # the message does not end in short natural language
    "own_ending",  # short natural language, but the artifact's own ending
    "typed_specification",  # the region is the user's own list of wishes
]
KINDS: tuple[Kind, ...] = get_args(Kind)
REASONS: tuple[Reason, ...] = get_args(Reason)


class Seam(NamedTuple):
    """Where the user's own words begin.

    Attributes:
        kind: The shape.
        tail: The length in characters of those words, which end the message.
    """

    kind: Kind
    tail: int


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Templates that flood the logs and scaffolds that programs send (RE2 syntax, case ignored).
_SCAFFOLD = "|".join(
    (
        r"<\|im_start\|>|<\|(?:system|user|assistant)\|>|\[INST\]|<<SYS>>",  # chat markup
        r"### ?(?:instruction|response|input|human|assistant|user)\b",  # Alpaca and Vicuna
        r"(?:^|\n)(?:human|assistant|ai|answer|output|response)\s*:\s*$",  # a waiting harness
        r"final answer:|action input:|(?:^|\n)(?:observation|thought):",  # ReAct loops
        r"determine which next command|respond in json format as described",  # AutoGPT
        r"no user assistance|short term memory|performance evaluation:",
        r"prompt generator for a generative ai|ai called \W?midjourney",  # image prompts
        r"ignore (?:all |any |the |your )*(?:previous|prior) (?:instructions|prompts)",  # personas
        r"do anything now|stay in character|immerse yourself into the role",
        r"complete the assistant answer|you are the text completion model",  # LMSYS templates
    )
)

#: Starts of lines that belong to the text above them.
_OWN_START = re.compile(
    r"""
      [-*•–—>|\#%"“”'‘«(\[{<}/\s]     # list, quotation, comment, markup, indentation
    | \d+[.):] | [a-z][.)]\s | [qa]:  # the next item, option or answer
    | https?: | source: | references\b | copyright | © | all\ rights\ reserved | sent\ from\ my
    | traceback | \w*(?:error|exception|warning)\b            # what the code above printed
    | return\ \w+;?$ | end\b;?$ | else\b | import\b | break\b
    | (?:\w+\ )?(?:regards|wishes|thanks)[,.!]?\s*(?:\n|$)    # a letter's close
    | (?:yours|sincerely|cheers|respectfully|love)\b[^.?]*,
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: What letters say before their close, and the words that end the close, before the writer's name.
_COURTESIES = (
    "let me know if",
    "look forward to",
    "looking forward to",
    "hesitate to",
    "for your time",
    "for your consideration",
)
_CLOSES = _words("cheers faithfully love regards respectfully sincerely thanks truly wishes yours")

#: Most English sentences have one of these; code, tables and headings often have none.
_COMMON = _words(
    """a an and are as be but can do does for from have how i in is it me my not of on or so that
    the this to was what when why with you your"""
)
#: Turns to the assistant: words, pairs of words, and orders at a sentence's beginning.
_ASKING = _words(
    """paraphrase please pls plz proofread rephrase rewrite summarise summarize tl;dr tldr
    translate"""
)
_ASKING_PAIRS = {  # the second word, and what may stand before it
    "above": _words("the text code passage"),
    "code": _words("above"),
    "like": _words("i'd would"),
    "me": _words("help tell give show"),
    "need": _words("i"),
    "text": _words("above"),
    "to": _words("how"),
    "want": _words("i"),
    "you": _words("can could would will"),
}
_ORDERS = _words(
    """act add analyse analyze answer build calculate change check classify combine compare
    complete continue convert correct create critique debug define describe design draft edit
    evaluate expand explain extend extract fill find finish fix format generate give identify
    implement improve list make modify optimise optimize organise organize outline prove provide
    rank rate read reduce refactor remove reply respond review revise shorten show simplify solve
    sort suggest tell turn update use write"""
)
_BEFORE_ORDERS = _words("also just now ok okay so then")
#: Words with which people say what they want.
_WISHES = _words(
    """always avoid cannot create don't ensure generate include make must need needs never only
    please provide should use want write"""
)
#: White space around a message, as RE2 understands \s.
_SPACE = " \t\r\n\f"
_PROSE_MARKS = ".,'\"?!-"
_SYMBOLS = bytes(
    code for code in range(33, 127) if not chr(code).isalpha() and chr(code) not in _PROSE_MARKS
)


def may_hold_seam(texts: pa.Array) -> pa.Array:
    """A first test that is cheap enough for every message of a corpus.

    Args:
        texts: Messages, as bytes.

    Returns:
        False where `find_seam` cannot find one: no fence, and either too short or without a line
        break near the end.
    """
    long_enough = pc.greater_equal(pc.binary_length(texts), MIN_REGION + MIN_TAIL)
    # At most 4 bytes per character; more than 50 trailing spaces could hide the line break.
    ends = pc.binary_slice(texts, -4 * MAX_TAIL - 60, None)
    broken = pc.match_substring_regex(ends, r"\n\s*\S|\s{50}$")
    fenced = pc.match_substring_regex(texts, "```")  # ten times as fast as match_substring
    return pc.or_(pc.and_(long_enough, broken), fenced)


def is_scaffold(texts: pa.Array) -> pa.Array:
    """Whether messages, given as bytes, are a known template or a program's scaffold."""
    return pc.match_substring_regex(texts, _SCAFFOLD, ignore_case=True)


def find_seam(message: str) -> Seam | Reason:
    """Find the seam of a message that is not a scaffold.

    Args:
        message: The first user turn.

    Returns:
        The seam, or why there is none: if several cuts were tried, the first one's reason.
    """
    # Search for one character first: most messages have neither, and that is ten times faster.
    text = message.replace("\r\n", "\n") if "\r" in message else message
    text = text.strip(_SPACE)
    fences = text.count("```") if "`" in text else 0
    if fences and fences % 2 == 0:
        return _after_fence(text)
    reasons: list[Reason] = []
    for gap in ("\n", "\n\n"):  # what is typed is the last line, or the last paragraph
        cut = text.rfind(gap)
        if cut > 0:
            verdict = _after_paste(text, cut + len(gap))
            if isinstance(verdict, Seam):
                return verdict
            reasons.append(verdict)
    return reasons[0] if reasons else "short_or_single_line"


def turns_to_assistant(tail: str) -> bool:
    """Whether a tail asks for something: a question, a request, or a sentence that is an order."""
    if "?" in tail:
        return True
    for line in tail.lower().replace("’", "'").split("\n"):
        before = "."
        for word in line.split():
            bare = word.strip(".,:;!()\"'")
            if bare in _ASKING or before in _ASKING_PAIRS.get(bare, ()):
                return True
            if bare in _ORDERS and (before[-1] in ".,:;!" or before in _BEFORE_ORDERS):
                return True
            before = word
    return False


def _after_fence(text: str) -> Seam | Reason:
    """Judge what follows the last of the closed fences."""
    _, block, tail = text.rsplit("```", 2)
    tail = tail.lstrip()
    if len(block) < MIN_FENCE:
        return "short_region"
    if not _is_sentence(tail[:MAX_TAIL]):
        return "no_tail"
    if len(tail) > MAX_TAIL and not turns_to_assistant(tail[-MAX_TAIL:]):
        return "own_ending"  # a document that happens to hold a fence
    return Seam("fence_trailing", len(tail))


def _after_paste(text: str, cut: int) -> Seam | Reason:
    """Judge what follows a line break against what precedes it."""
    tail = text[cut:]
    if not MIN_TAIL <= len(tail) <= MAX_TAIL or not _is_sentence(tail):
        return "no_tail"
    if cut < MIN_REGION:
        return "short_region"
    if _is_own_ending(tail, text[cut - 40 : cut]):
        return "own_ending"
    region = text[: min(WINDOW, cut)] + text[max(WINDOW, cut - WINDOW) : cut]
    if _symbol_share(region) < STRUCTURED_SHARE:
        # Prose below prose: only a turn to the assistant tells a tail from a last paragraph.
        if not turns_to_assistant(tail):
            return "own_ending"
        if _wish_share(region) >= SPECIFICATION_SHARE:
            return "typed_specification"
    return Seam("paste_with_tail", len(tail))


def _is_sentence(tail: str) -> bool:
    """Whether a tail reads as English rather than as code, a table row or a heading."""
    if not tail or _symbol_share(tail) > MAX_TAIL_SYMBOLS:
        return False
    return not _COMMON.isdisjoint(tail.lower().split()) or turns_to_assistant(tail)


def _is_own_ending(tail: str, above: str) -> bool:
    """Whether a tail is how the artifact ends: a list item, a comment, a letter's close."""
    first, *others = tail.split("\n")
    if _OWN_START.match(first) or tail.endswith(":"):
        return True
    if any(map(_OWN_START.match, others)):
        return not (first.endswith(":") and turns_to_assistant(first))  # a list of wishes
    last_word = above.rstrip().rpartition("\n")[2].rstrip(",.!").rpartition(" ")[2]
    lowered = tail.lower()
    return last_word.lower() in _CLOSES or any(words in lowered for words in _COURTESIES)


def _symbol_share(text: str) -> float:
    """The share of symbols and digits among a text's bytes."""
    data = text.encode("utf-8", "replace")
    return 1 - len(data.translate(None, _SYMBOLS)) / len(data)


def _wish_share(text: str) -> float:
    """The share of words that say what is wanted."""
    words = text.lower().split()
    wishes = sum(word in _WISHES for word in words)
    return wishes / max(len(words), 1)
