"""A made-up chat corpus whose truth is known: for tests, benchmarks and a fresh clone.

Each message has a *shape*: one that the screen looks for, or one that is known to fool it. No text
is taken from a log. The screen's score here says how it treats these shapes, not how well it would
do on WildChat.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import yaml

from seam_lib.core.params import SyntheticParams
from seam_lib.wild.resume import is_current, stamp, write_stamped

#: Share of the pasted messages that copy one of their shape's `TEMPLATES` with `CHANGES` words
#: changed: about half of the paper's raw flags were near-duplicates.
SPAM_SHARE = 0.5
TEMPLATES = 25
CHANGES = 3
#: Mean length of an assistant's reply in characters: the reader has to skip them.
REPLY = 1_700

SCHEMA = pa.schema(
    {
        "conversation_hash": pa.string(),
        "conversation": pa.list_(pa.struct({"role": pa.string(), "content": pa.string()})),
        "language": pa.string(),
        "shape": pa.string(),
        "template": pa.int32(),
    }
)

Piece = Callable[[Random], str]
_PHRASES = Path(__file__).with_name("phrases.yaml")


@dataclass(frozen=True)
class Shape:
    """A way to make a message.

    Attributes:
        kind: What a perfect screen would call it; None if it should not be kept.
        weight: Its share of the corpus, relative to the others.
        make: Makes one message.
    """

    kind: str | None
    weight: float
    make: Piece


# Words and sentences


@cache
def phrases() -> dict[str, list[str]]:
    """The banks of phrases, by name."""
    banks: dict[str, list[str]] = yaml.safe_load(_PHRASES.read_text(encoding="utf-8"))
    return banks


def pick(bank: str, rng: Random) -> str:
    """One phrase from a bank."""
    choices = phrases()[bank]
    return choices[int(rng.random() * len(choices))]


def fill(rng: Random, length: int, piece: Piece, between: str) -> str:
    """Pieces, joined, until they are `length` characters long."""
    pieces: list[str] = []
    total = 0
    while total < length:
        pieces.append(piece(rng))
        total += len(pieces[-1]) + len(between)
    return between.join(pieces)


def size(rng: Random) -> int:
    """The length of a paste in characters: a median of 1,300 and a long tail up to 60,000."""
    return int(min(rng.lognormvariate(7.2, 1.1), 60_000))


def coined(rng: Random) -> str:
    """A made-up name. Without names the corpus would compress better than real text does."""
    return "".join(pick("syllable", rng) for _ in range(rng.randint(2, 4))).capitalize()


def sentence(rng: Random) -> str:
    """A plain declarative sentence with two names in it."""
    who = f"{pick('subject', rng)} of {coined(rng)}"
    what = f"{pick('verb', rng)} {pick('object', rng)}"
    return f"{who} {what} {pick('circumstance', rng)} with {coined(rng)}."


def paragraph(rng: Random) -> str:
    """Three to six sentences on one line."""
    return " ".join(sentence(rng) for _ in range(rng.randint(3, 6)))


# Artifacts: what people paste, by genre


def document(rng: Random, length: int) -> str:
    """Paragraphs, half of the time under a heading."""
    text = fill(rng, length, paragraph, "\n\n")
    return f"{pick('heading', rng)}\n\n{text}" if rng.random() < 0.5 else text


def academic(rng: Random, length: int) -> str:
    """Paragraphs that cite and report."""

    def cited(rng: Random) -> str:
        source = f"{pick('surname', rng)} et al., {rng.randint(1998, 2024)}"
        return f"{paragraph(rng)[:-1]} ({source}; p < 0.{rng.randint(10, 49)})."

    return "Abstract\n" + fill(rng, length, cited, "\n")


def email(rng: Random, length: int) -> str:
    """A letter with a greeting and no sign-off."""
    body = fill(rng, length, paragraph, "\n\n")
    return f"{pick('greeting', rng)} {pick('surname', rng)},\n\n{body}"


def story(rng: Random, length: int) -> str:
    """Narration broken by direct speech."""

    def beat(rng: Random) -> str:
        speech = f"“{sentence(rng)[:-1]},” said {pick('surname', rng)}."
        return f"{sentence(rng)}\n\n{speech} {sentence(rng)}"

    return fill(rng, length, beat, "\n\n")


def quiz(rng: Random, length: int) -> str:
    """Multiple-choice questions."""

    def item(rng: Random) -> str:
        options = "\n".join(f"{letter}) {sentence(rng)}" for letter in "ABCD")
        return f"Which statement about {pick('object', rng)} is correct?\n{options}"

    return fill(rng, length, item, "\n\n")


def code(rng: Random, length: int) -> str:
    """Short functions and queries in several languages, one after another."""

    def function(rng: Random) -> str:
        text = pick("function", rng).replace("7", str(rng.randint(2, 99)))
        for slot in ("NAME", "OTHER", "FIELD"):
            text = text.replace(slot, pick("identifier", rng))
        return text

    return fill(rng, length, function, "\n\n")


def data(rng: Random, length: int) -> str:
    """Rows of a table or lines of a log."""

    def record(rng: Random) -> str:
        day = f"2023-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        return f"{rng.randint(1, 9999)},{pick('surname', rng)},{rng.random() * 900:.2f},{day}"

    def event(rng: Random) -> str:
        clock = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:{rng.randint(0, 59):02d}"
        place = f"{pick('identifier', rng)}.{pick('identifier', rng)}"
        return f"[{clock}] INFO {place}: took {rng.randint(1, 900)} ms (id={rng.randint(1, 9999)})"

    if rng.random() < 0.5:
        return "id,name,amount,date\n" + fill(rng, length, record, "\n")
    return fill(rng, length, event, "\n")


GENRES = (academic, code, data, document, email, quiz, story)


def any_artifact(rng: Random) -> str:
    """An artifact of any genre."""
    return rng.choice(GENRES)(rng, size(rng))


def fence(rng: Random) -> str:
    """Code between Markdown fences."""
    return f"```{rng.choice(('', 'python', 'js', 'c'))}\n{code(rng, size(rng))}\n```"


# Messages: an artifact and something typed below it


def seam(rng: Random) -> str:
    """The white space between a paste and what is typed below it."""
    return "\n" if rng.random() < 0.4 else "\n\n"


def pasted(genre: Callable[[Random, int], str], tail: str, rng: Random) -> str:
    """An artifact of a genre with a phrase of bank `tail` typed below."""
    return genre(rng, size(rng)) + seam(rng) + pick(tail, rng)


def fenced(tail: str, rng: Random) -> str:
    """A fenced block with a phrase of bank `tail` typed below."""
    return fence(rng) + seam(rng) + pick(tail, rng)


def framed(rng: Random) -> str:
    """An instruction, a paste, and a further wish below it."""
    return f"{pick('lead', rng)}\n\n{any_artifact(rng)}{seam(rng)}{pick('request', rng)}"


# Messages: everything else


def question(rng: Random) -> str:
    """One short line: what most people type."""
    ending = rng.choice(("?", "", f" {pick('circumstance', rng)}?"))
    return f"{pick('question', rng)} {pick('object', rng)}{ending}"


def chat_lines(rng: Random) -> str:
    """A few short typed lines."""
    return "\n".join(question(rng) for _ in range(rng.randint(2, 4)))


def long_line(rng: Random) -> str:
    """A long prompt typed without a line break."""
    opening = f"{pick('lead', rng)[:-1]} about {pick('object', rng)}. "
    return opening + fill(rng, size(rng) // 2, sentence, " ")


def typed_specification(rng: Random) -> str:
    """Many lines of wishes, all the user's own, and a last one at the end."""

    def wish(rng: Random) -> str:
        return f"- {pick('wish', rng)} {pick('object', rng)}"

    wishes = fill(rng, size(rng), wish, "\n")
    return f"{pick('project', rng)} {pick('object', rng)}.\n{wishes}\n\n{pick('request', rng)}"


def instruction_first(rng: Random) -> str:
    """A request, then the paste, then nothing."""
    return f"{pick('lead', rng)}\n\n{any_artifact(rng)}"


def closing_paragraph(rng: Random) -> str:
    """A document whose last paragraph is one sentence of its own."""
    return f"{document(rng, size(rng))}\n\n{pick('conclusion', rng)} {sentence(rng).lower()}"


def list_ending(rng: Random) -> str:
    """A document that ends in a list."""
    items = "\n".join(f"{number}. {sentence(rng)}" for number in range(1, rng.randint(4, 9)))
    return f"{document(rng, size(rng) // 2)}\n\n{items}"


def signed_email(rng: Random) -> str:
    """A letter ended by its own courtesies and its writer's name."""
    close = f"{pick('closing', rng)}\n\n{pick('sign_off', rng)},\n{pick('surname', rng)}"
    return f"{email(rng, size(rng) // 2)}\n\n{close}"


def comment_ending(rng: Random) -> str:
    """Code that ends in a comment of its own."""
    return f"{code(rng, size(rng))}\n# {pick('code_comment', rng)}"


def error_ending(rng: Random) -> str:
    """Code and the error that it raised, nothing else."""
    trace = f"Traceback (most recent call last):\n{pick('error', rng)}"
    return f"{code(rng, size(rng) // 2)}\n\n{trace}"


def fence_alone(rng: Random) -> str:
    """A request, then a fenced block, then nothing."""
    return f"{pick('lead', rng)}\n{fence(rng)}"


def template(bank: str, rng: Random) -> str:
    """A well-known template with its slots filled."""
    text = pick(bank, rng).replace("SLOT", pick("object", rng))
    return text.replace("BODY", document(rng, size(rng) // 2))


#: Weights are chosen so that lengths are those of real logs (median 200, 95th percentile 4,000
#: characters) and, as in the paper's screen, about one message in twenty is flagged.
SHAPES: dict[str, Shape] = {
    "academic_request": Shape("paste_with_tail", 0.5, partial(pasted, academic, "request")),
    "code_remark": Shape("paste_with_tail", 0.6, partial(pasted, code, "remark")),
    "code_request": Shape("paste_with_tail", 0.8, partial(pasted, code, "code_request")),
    "data_request": Shape("paste_with_tail", 0.4, partial(pasted, data, "code_request")),
    "document_request": Shape("paste_with_tail", 0.6, partial(pasted, document, "request")),
    "email_request": Shape("paste_with_tail", 0.5, partial(pasted, email, "request")),
    "framed_request": Shape("paste_with_tail", 0.5, framed),
    "quiz_request": Shape("paste_with_tail", 0.3, partial(pasted, quiz, "request")),
    "story_request": Shape("paste_with_tail", 0.4, partial(pasted, story, "request")),
    "terse_tail": Shape("paste_with_tail", 0.3, partial(pasted, document, "terse")),
    "fence_remark": Shape("fence_trailing", 0.3, partial(fenced, "remark")),
    "fence_request": Shape("fence_trailing", 0.5, partial(fenced, "code_request")),
    "agent_scaffold": Shape(None, 1.0, partial(template, "agent")),
    "chat_lines": Shape(None, 14.0, chat_lines),
    "closing_paragraph": Shape(None, 1.5, closing_paragraph),
    "comment_ending": Shape(None, 1.0, comment_ending),
    "error_ending": Shape(None, 1.0, error_ending),
    "fence_alone": Shape(None, 1.0, fence_alone),
    "harness": Shape(None, 1.0, partial(template, "harness")),
    "image_prompt": Shape(None, 2.0, partial(template, "image")),
    "instruction_first": Shape(None, 8.0, instruction_first),
    "list_ending": Shape(None, 1.5, list_ending),
    "long_line": Shape(None, 13.0, long_line),
    "paste_alone": Shape(None, 5.0, any_artifact),
    "persona": Shape(None, 1.0, partial(template, "persona")),
    "question": Shape(None, 36.0, question),
    "signed_email": Shape(None, 1.5, signed_email),
    "typed_specification": Shape(None, 1.5, typed_specification),
}
#: Rows that never reach the rules: not English, or nothing to read.
ODDITIES = {"other_language": 8.0, "no_text": 0.2}


# Rows and shards


def message(shape: str, rng: Random) -> tuple[str, int | None]:
    """One message of a shape; half of the pasted ones are near-copies of a template.

    Returns:
        The text, and the number of the template that it copies or None.
    """
    if SHAPES[shape].kind is None or rng.random() >= SPAM_SHARE:
        return SHAPES[shape].make(rng), None
    number = rng.randrange(TEMPLATES)
    text = SHAPES[shape].make(Random(f"{shape}:{number}"))
    for _ in range(CHANGES):
        text = text.replace(" the ", f" {pick('determiner', rng)} ", 1)
    return text, number


def conversation(rng: Random, shape: str) -> dict[str, Any]:
    """One row in WildChat's format, with its shape and template as further columns."""
    text: str | None = None
    number = None
    if shape in SHAPES:
        text, number = message(shape, rng)
    elif shape == "other_language":
        text = fill(rng, 200, partial(pick, "foreign"), " ")
    turns = [{"role": "user", "content": text}]
    for _ in range(rng.choice((1, 1, 2, 6))):
        turns.append({"role": "assistant", "content": fill(rng, REPLY, sentence, " ")})
        turns.append({"role": "user", "content": fill(rng, rng.choice((40, 1500)), sentence, " ")})
    return {
        "conversation_hash": sha256(rng.randbytes(16)).hexdigest()[:32],
        "conversation": turns[:-1],
        "language": "Spanish" if shape == "other_language" else "English",
        "shape": shape,
        "template": number,
    }


def conversations(rows: int, seed: str) -> Iterator[dict[str, Any]]:
    """Rows of the corpus, shapes drawn by weight.

    Args:
        rows: How many.
        seed: Names the random stream; the same seed gives the same rows.
    """
    rng = Random(seed)
    weights = {name: shape.weight for name, shape in SHAPES.items()} | ODDITIES
    names, cumulative = list(weights), list(accumulate(weights.values()))
    for _ in range(rows):
        yield conversation(rng, rng.choices(names, cum_weights=cumulative)[0])


def labelled(per_shape: int, seed: str) -> Iterator[tuple[str, str]]:
    """The same number of new messages of every shape: the set on which precision is measured.

    Yields:
        The shape, and a message.
    """
    rng = Random(seed)
    for name, shape in SHAPES.items():
        for _ in range(per_shape):
            yield name, shape.make(rng)


def make_corpus(folder: Path, corpus: SyntheticParams) -> list[Path]:
    """The corpus as parquet shards; any that are missing are made.

    Args:
        folder: Where they are.
        corpus: Its shards, their rows, and the seed.

    Returns:
        The shards, in order.
    """
    return [make_shard(folder, corpus, number) for number in range(corpus.shards)]


def make_shard(folder: Path, corpus: SyntheticParams, number: int) -> Path:
    """Shard `number` of the corpus."""
    path = folder / f"{number:05d}-of-{corpus.shards:05d}.parquet"
    made_from = stamp(phrases(), sys.modules[__name__], corpus)
    if not is_current(path, made_from):
        rows = conversations(corpus.rows_per_shard, f"{corpus.seed}:{number}")
        write_stamped(path, pa.Table.from_pylist(list(rows), SCHEMA), made_from)
    return path
