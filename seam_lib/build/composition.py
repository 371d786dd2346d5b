"""What a benchmark contains: counts, lengths, and how often each comment is used."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from seam_lib.build.sources import Corpus
from seam_lib.core.cells import markdown, span
from seam_lib.core.rows import PARTITIONS, SOURCE_NAMES, SOURCES, Case

#: What the paper's Table 2 calls each source's genre, in its order.
GENRES = {
    "canitedit": "code",
    "commitpackft": "code",
    "coedit": "fluency edit",
    "iterater": "long prose",
    "pararev": "scientific",
    "stackexchange": "technical",
}


class Fact(NamedTuple):
    """What the counts below need to know of a case; role and comment are None without a comment."""

    cluster: str
    source: str
    partition: str
    license: str
    condition: str
    characters: int  # of the artifact
    role: str | None
    comment: str | None


def facts(cases: Iterable[Case]) -> pd.DataFrame:
    """One row per case with the columns of `Fact`; the texts themselves are not kept."""
    return pd.DataFrame(map(fact, cases))


def noting(cases: Iterable[Case], noted: list[Fact]) -> Iterator[Case]:
    """Let cases pass on their way to the disk, and note the facts of each."""
    for case in cases:
        noted.append(fact(case))
        yield case


def fact(case: Case) -> Fact:
    """What the counts need to know of one case."""
    return Fact(
        cluster=case.composition_event_id,
        source=case.source,
        partition=case.release_partition,
        license=case.license,
        condition=case.condition,
        characters=len(case.artifact),
        role=case.afterthought_role,
        comment=case.afterthought,
    )


def composition(frame: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 2: clusters and cases by source, and their total."""
    rows = []
    for source, genre in GENRES.items():
        group = frame[frame["source"] == source]
        if len(group):
            rows.append((SOURCE_NAMES[source], genre, group["cluster"].nunique(), len(group)))
    total = ("total", "", frame["cluster"].nunique(), len(frame))
    return pd.DataFrame([*rows, total], columns=["source", "genre", "clusters", "cases"])


def lengths(frame: pd.DataFrame) -> pd.DataFrame:
    """The quartiles of the artifacts' lengths by source, in characters."""
    artifacts = frame.drop_duplicates("cluster").groupby("source")["characters"]
    quartiles = artifacts.describe()[["min", "25%", "50%", "75%", "max"]].round().astype(int)
    return quartiles.reindex([name for name in SOURCES if name in quartiles.index]).reset_index()


def comment_use(frame: pd.DataFrame) -> pd.DataFrame:
    """How many clusters have each comment, by role; within a role in alphabetical order."""
    use = frame.dropna(subset=["comment"]).groupby(["role", "comment"])["cluster"].nunique()
    return use.rename("clusters").reset_index()


def role_use(use: pd.DataFrame) -> pd.DataFrame:
    """For each role, its comments and the fewest and most clusters that one of them has."""
    roles = use.groupby("role")["clusters"].agg(["count", "min", "max"]).reset_index()
    return roles.set_axis(["role", "comments used", "fewest clusters", "most clusters"], axis=1)


def pool_use(frame: pd.DataFrame, pool: Sequence[str]) -> str:
    """How evenly a pool of comments is dealt, in words.

    Args:
        frame: The facts.
        pool: The texts of the pool's comments.
    """
    dealt = frame[frame["comment"].isin(pool)].drop_duplicates(["cluster", "comment"])
    if dealt.empty:
        return f"No case has one of the pool's {len(pool)} comments."
    by_source = dealt.groupby(["source", "comment"]).size()
    used = by_source.groupby("source").size()
    over_all = dealt.groupby("comment").size().reindex(pool, fill_value=0)
    return (
        f"Each source uses {span(used)} of the pool's {len(pool)} comments, each of them in "
        f"{span(by_source)} of its clusters. Over all sources, a comment of the pool stands in "
        f"{span(over_all)} clusters."
    )


def partitions(frame: pd.DataFrame) -> pd.DataFrame:
    """Clusters and cases by licence partition, with its file and the licences that occur in it."""
    table = pd.DataFrame(
        {
            "file": f"{PARTITIONS[name]}.jsonl",
            "partition": name,
            "licences": ", ".join(sorted(group["license"].unique())),
            "clusters": group["cluster"].nunique(),
            "cases": len(group),
        }
        for name, group in frame.groupby("partition")
    )
    return table.sort_values(["file", "partition"])


def left_out(corpora: Mapping[str, Corpus]) -> pd.DataFrame:
    """The rows of each source that give no item, counted by reason."""
    rows = [
        (source, reason, len(lines), lines[0])
        for source, corpus in corpora.items()
        for reason, lines in corpus.left_out.items()
    ]
    return pd.DataFrame(rows, columns=["source", "reason", "rows", "first line"])


def report(
    name: str, origin: str, frame: pd.DataFrame, more: Mapping[str, pd.DataFrame] | None = None
) -> str:
    """The build report, in Markdown: what the folder holds and where it comes from.

    Args:
        name: The benchmark's name.
        origin: One sentence that says what it was built from.
        frame: The facts of its cases.
        more: What only the build knows, by title; an empty table is left out.
    """
    use = comment_use(frame)
    sections = {
        "Sources": composition(frame),
        "Licences": partitions(frame),
        "Length of the artifacts in characters": lengths(frame),
        "Use of the comments, by role": role_use(use),
        "Use of each comment": use,
        **{title: table for title, table in (more or {}).items() if len(table)},
    }
    tables = (f"## {title}\n\n{markdown(table)}" for title, table in sections.items())
    return "\n".join([f"# The benchmark `{name}`\n\n{origin}\n", *tables])
