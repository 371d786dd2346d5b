"""The sample: judged positives, drawn with a seed, that people annotate (Appendix A)."""

import random
from pathlib import Path

import msgspec
import pandas as pd

from seam_lib.core.files import write_text
from seam_lib.core.params import WildParams
from seam_lib.core.rows import Judgement
from seam_lib.wild.judge import BUDGET, ELISION, positives


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


def sampled(audit_id: str, row: Judgement) -> Sampled:
    """What is written of a message: its length is that of the text that annotators see."""
    truncated = row.msglen > BUDGET
    shown = BUDGET + len(ELISION) if truncated else row.msglen
    return Sampled(audit_id, row.hash, row.kind, row.corpus, shown, truncated)


def write_sample(root: Path, wild: WildParams) -> Path:
    """Write the sample's rows, without any text, as `sample.csv` into the audit's folder."""
    rows = [sampled(name, row) for name, row in draw_sample(root, wild).items()]
    path = wild.folder(root) / "sample.csv"
    write_text(path, pd.DataFrame(map(msgspec.structs.asdict, rows)).to_csv(index=False))
    return path
