"""The annotation: a seeded sample of judged positives, and the page on which people answer.

The page is one file without network access: messages, keys and storage are all in it. It holds
message text, so it is written to `runs/`; what it exports does not.
"""

import hashlib
import random
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

import jinja2
import msgspec
import pandas as pd

from seam_lib.core import files
from seam_lib.core.errors import SeamError
from seam_lib.core.params import WildParams
from seam_lib.core.rows import Judgement
from seam_lib.wild.audit import Annotation
from seam_lib.wild.judge import BUDGET, ELISION, elide, positives, read_again


class Sampled(msgspec.Struct, frozen=True):
    """A message to annotate, as the annotators' files and the paper's public one name it."""

    audit_id: str
    hash: str
    kind: str
    corpus: str
    msglen: int
    truncated: bool


def draw_sample(root: Path, wild: WildParams) -> dict[str, Judgement]:
    """Draw the judged positives that are annotated, in random order.

    Args:
        root: The project's folder.
        wild: How many, and the seed.

    Returns:
        Judgements by audit id, such as "wild-001"; all positives if there are fewer.

    Raises:
        SeamError: The judge has not run, or found nothing.
    """
    pool = positives(root, wild)
    chosen = random.Random(wild.seed).sample(pool, min(wild.annotated, len(pool)))
    return {f"wild-{number:03d}": row for number, row in enumerate(chosen, start=1)}


def check_sample(root: Path, wild: WildParams, answers: Sequence[Annotation]) -> None:
    """See that an annotator's file is about this audit's sample, and about all of it.

    Raises:
        SeamError: It is about other messages, or leaves some out: skipped ones are no random loss.
    """
    sample = {name: row.hash for name, row in draw_sample(root, wild).items()}
    for answer in answers:
        if sample.get(answer.audit_id) != answer.hash:
            raise SeamError(
                f"{answer.audit_id} of annotator {answer.annotator} is not in the sample of "
                f"{wild.name!r}. Set wild.name in params.yaml to the audit that was annotated."
            )
    if left := sample.keys() - {answer.audit_id for answer in answers}:
        raise SeamError(
            f"annotator {answers[0].annotator} has not answered {len(left)} of the {len(sample)} "
            f"messages, {min(left)} first. Finish them on the page, and export once more."
        )


def sampled(audit_id: str, row: Judgement) -> Sampled:
    """What is written of a message: its length is that of the text that annotators see."""
    truncated = row.msglen > BUDGET
    shown = BUDGET + len(ELISION) if truncated else row.msglen
    return Sampled(audit_id, row.hash, row.kind, row.corpus, shown, truncated)


def write_sample(root: Path, wild: WildParams) -> Path:
    """Write the sample's rows, without any text, as `sample.csv` into the audit's folder."""
    rows = [sampled(name, row) for name, row in draw_sample(root, wild).items()]
    path = wild.folder(root) / "sample.csv"
    files.write_text(path, pd.DataFrame(map(msgspec.structs.asdict, rows)).to_csv(index=False))
    return path


def write_page(root: Path, wild: WildParams) -> Path:
    """Write the annotation page of the sample.

    Returns:
        The page, in `runs/`: it holds message text.
    """
    sample = draw_sample(root, wild)
    texts = read_again(root, wild, sample.values())
    ordered = [texts[row.id] for row in sample.values()]
    path = root / "runs" / "wild" / f"annotate-{wild.name}.html"
    files.write_text(path, page([sampled(name, row) for name, row in sample.items()], ordered))
    return path


def page(rows: Sequence[Sampled], texts: Iterable[str]) -> str:
    """The page as HTML.

    Args:
        rows: What is annotated, in order.
        texts: Their messages.
    """
    names = " ".join(f"{row.audit_id}:{row.hash}" for row in rows)
    packet = {
        "digest": hashlib.sha256(names.encode()).hexdigest()[:16],
        "rows": [
            msgspec.structs.asdict(row) | {"message": elide(text)}
            for row, text in zip(rows, texts, strict=True)
        ],
    }
    template = resources.files("seam_lib.wild").joinpath("templates", "annotate.html.j2")
    environment = jinja2.Environment(autoescape=True, keep_trailing_newline=True)
    return environment.from_string(template.read_text("utf-8")).render(packet=packet)
