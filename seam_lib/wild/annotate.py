"""The annotation page of the audit: what people are asked about the sampled messages (Appendix A).

The page holds message text, so it is written to `runs/`; what it exports does not.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from seam_lib.core.files import write_text
from seam_lib.core.params import WildParams
from seam_lib.read.annotate import Answer, Mode, Question, Shown, page, plain
from seam_lib.wild.audit import COLUMNS, YOUNGER
from seam_lib.wild.judge import elide, read_again
from seam_lib.wild.sample import Sampled, draw_sample, sampled

AUDIT = Mode(
    title="Occurrence audit",
    about="Each message is the first thing that a person sent to a chat assistant. A long one "
    "keeps its beginning and its end; a mark stands where its middle was left out. The export "
    "holds your answers, your notes and the messages’ hashes: quote no message in a note.",
    questions=(
        Question(
            field="genuine_paste",
            ask="Does it hold an embedded artifact and the user’s own request after it?",
            guide="The artifact is a block that reads as pasted: code, a letter, an article, data, "
            "a quiz. The request is the user’s own words, and acts on that block. Answer no if the "
            "block stands alone, if a request only leads into it, if the last words belong to the "
            "block itself, if the user typed the whole as one prompt, or if a program composed it.",
            opens="end",
        ),
        Question(
            field="artifact_first",
            ask="Does the artifact come first?",
            guide="Asked after a yes. Yes if the message begins with it, or with no more than a "
            "word or two before it; no if the user’s own words lead into it.",
            opens="start",
        ),
    ),
    answers=(Answer("true", "Yes", "y"), Answer("false", "No", "n")),
    columns=(*COLUMNS, *YOUNGER),
)


def write_page(root: Path, wild: WildParams) -> Path:
    """Write the annotation page of the sample.

    Returns:
        The page, in `runs/`: it holds message text.
    """
    sample = draw_sample(root, wild)
    texts = read_again(root, wild, sample.values())
    rows = [sampled(name, row) for name, row in sample.items()]
    entries = shown(rows, [texts[row.id] for row in sample.values()])
    path = root / "runs" / "wild" / f"annotate-{wild.name}.html"
    write_text(path, page(wild.name, AUDIT, entries))
    return path


def shown(rows: Sequence[Sampled], texts: Iterable[str]) -> list[Shown]:
    """Messages as the annotation page shows them; a Windows line end is a line end.

    Args:
        rows: What is annotated, in order.
        texts: Their messages.
    """
    messages = [plain("The message", elide(text).replace("\r\n", "\n")) for text in texts]
    return [
        Shown(row.audit_id, msgspec.structs.asdict(row), message, genre="code")
        for row, message in zip(rows, messages, strict=True)
    ]
