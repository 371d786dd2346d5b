"""Claims about the benchmark's size and its comment pools (Section 3, Appendices B to D)."""

import re

import pandas as pd

from seam_lib.build.comments import Comment
from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed, Value
from seam_lib.core.rows import CASUAL, CONDITIONS, SOURCE_NAMES, TREATED


def size(data: Published) -> Recomputed:
    """Clusters, conditions, cases and sources."""
    clusters = data.table("clusters")
    labelled = sorted(data.labels().frame["condition"].unique(), key=CONDITIONS.index)
    conditions = len(labelled) + 1
    per_source = clusters["source"].value_counts(sort=False)
    values: dict[str, Value] = {
        "clusters": len(clusters),
        "conditions": conditions,
        "clean": 1,
        "with the comment": len(labelled),
        "casual": len([c for c in labelled if c in CASUAL]),
        "seams": 1 + len([c for c in labelled if c in CASUAL]),
        "cases": len(clusters) * conditions,
        "sources": len(per_source),
        "per source": int(per_source.min()) if per_source.nunique() == 1 else "unequal",
    }
    how = f"{len(clusters)} clusters, {len(labelled)} labelled conditions and clean"
    return Recomputed(values, how, per_source.reset_index())


def composition(data: Published, column: str) -> Recomputed:
    """One column of Table 2: examples (clusters) or cases by source, and their total."""
    each = 1 if column == "examples" else len(TREATED) + 1
    by_source = data.table("clusters")["source"].value_counts(sort=False) * each
    values: dict[str, Value] = {SOURCE_NAMES[s]: int(n) for s, n in by_source.items()}
    how = f"clusters of each source, times {each}"
    return Recomputed(values | {"total": int(by_source.sum())}, how, by_source.reset_index())


def pools(data: Published) -> Recomputed:
    """How many casual comments there are, and the smallest and the largest native pool."""
    native = {genre: len(pool) for genre, pool in data.pools.native.items()}
    values: dict[str, Value] = {
        "casual": len({c.text for c in data.pools.casual}),
        "smallest native": min(native.values()),
        "largest native": max(native.values()),
    }
    how = f"casual {len(data.pools.casual)}; {', '.join(f'{g} {n}' for g, n in native.items())}"
    rows = pd.DataFrame(
        [["casual", len(data.pools.casual)], *native.items()], columns=["pool", "comments"]
    )
    return Recomputed(values, how, rows)


def witness_words(data: Published) -> Recomputed:
    """The fewest content words in the witnesses of a casual comment: words of four letters or more.

    Shorter words of a witness are mostly articles and auxiliaries, so this is a low count.
    """
    rows = pd.DataFrame(
        [[c.text, ", ".join(c.witnesses), _content_words(c)] for c in data.pools.casual],
        columns=["comment", "witness", "content words"],
    )
    fewest = int(rows["content words"].min())
    how = f"each of {len(rows)} casual comments has {fewest} or more words of four letters"
    several = int((rows["content words"] > 1).sum())
    return Recomputed({"fewest": fewest, "comments": several}, how, rows)


def placebo_pairs(data: Published, native: bool) -> Recomputed:
    """Response-witness pairs if each response meets every comment of the pools except its own.

    Args:
        data: The published facts.
        native: Whether to include the artifact-native condition and its pools.
    """
    comments = len(data.pools.casual)
    conditions = len(TREATED) if native else len(CASUAL)
    if native:
        comments += sum(len(pool) for pool in data.pools.native.values())
    clusters = len(data.table("clusters"))
    pairs = clusters * conditions * (comments - 1)
    how = f"{clusters} clusters x {conditions} conditions x ({comments} - 1) other comments"
    return Recomputed({"pairs": pairs}, how, pools(data).rows)


def _content_words(comment: Comment) -> int:
    return sum(len(re.findall("[a-z]{4,}", witness)) for witness in comment.witnesses)
