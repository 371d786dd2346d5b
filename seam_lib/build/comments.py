"""Which comment follows which artifact: evenly used, and never one that occurs in the artifact.

The pools are in `data/comments.yaml` (paper, Appendix C). A *casual* comment is everyday talk; a
*native* one fits the artifact's genre, such as a code comment after code.
"""

import itertools
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import yaml

from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_rows


class Comment(msgspec.Struct, frozen=True, array_like=True):
    """One comment, one line of comments.yaml: role, text, proposition, witnesses."""

    role: str
    text: str
    proposition: str
    witnesses: list[str]


class Pools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The comments to choose from; their order matters, since the shuffles start from it."""

    casual: list[Comment]
    native: dict[str, list[Comment]]


def read_pools(path: Path) -> Pools:
    """Read the pools and check that every witness occurs in its comment.

    Args:
        path: A YAML file such as data/comments.yaml.

    Raises:
        SeamError: The file is missing or malformed, or a comment does not contain its witness.
    """
    try:
        pools = msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Pools)
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise SeamError(
            f"{path}: not a file of comment pools: {error}. Compare with data/comments.yaml."
        ) from None
    for comment in itertools.chain(pools.casual, *pools.native.values()):
        for witness in comment.witnesses:
            if witness not in comment.text.lower():
                raise SeamError(
                    f"{path}: the comment {comment.text!r} does not contain its witness "
                    f"{witness!r}. Write witnesses in lower case, word for word as in the comment."
                )
    return pools


def read_assignments(path: Path, pools: Pools) -> dict[str, tuple[Comment, Comment]]:
    """Read which comments the release gave to each of its clusters, casual and native.

    Args:
        path: data/published/assignments.csv; it names each comment by its text.
        pools: The comments that it names.

    Raises:
        SeamError: The file is missing or malformed, or names a comment that no pool has.
    """
    casual = {comment.text: comment for comment in pools.casual}
    native = {comment.text: comment for pool in pools.native.values() for comment in pool}
    assigned = {}
    for place, row in csv_rows(path, ("cluster_id", "casual", "native")):
        for kind, pool in (("casual", casual), ("native", native)):
            if row[kind] not in pool:
                raise SeamError(
                    f"{place}: data/comments.yaml has no {kind} comment {row[kind]!r}. The "
                    "release's messages need its own comments: restore the file."
                )
        assigned[row["cluster_id"]] = (casual[row["casual"]], native[row["native"]])
    return assigned


class Deck:
    """One shuffled pool, dealt in turn.

    The position goes round and is kept between deals, so over many clusters every comment is dealt
    about equally often. A comment that collides is skipped for this cluster only.
    """

    def __init__(self, pool: Sequence[Comment], generator: random.Random) -> None:
        self.comments = list(pool)
        generator.shuffle(self.comments)
        self.position = 0

    def deal(self, cluster_id: str, texts: Iterable[str | None]) -> Comment:
        """Deal the next comment that occurs in none of the texts.

        Args:
            cluster_id: Named if no comment is left.
            texts: The cluster's artifact, reference and task head.

        Raises:
            SeamError: Every comment of the pool occurs in them, by its text or by a witness.
        """
        haystack = "\n".join(text or "" for text in texts).lower()
        for step in range(len(self.comments)):
            index = (self.position + step) % len(self.comments)
            if not collides(self.comments[index], haystack):
                self.position = (index + 1) % len(self.comments)
                return self.comments[index]
        raise SeamError(
            f"{cluster_id}: each of the {len(self.comments)} comments of its pool occurs in the "
            "artifact, the reference or the task. Add comments to data/comments.yaml or drop the "
            "item."
        )


def collides(comment: Comment, haystack: str) -> bool:
    """Whether a comment's text or a witness occurs in lower-case text already."""
    return any(needle in haystack for needle in (comment.text.lower(), *comment.witnesses))
