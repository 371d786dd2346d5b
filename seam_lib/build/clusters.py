"""From items to clusters to cases: the benchmark, the same bytes on every machine.

Paper, Sections 3.1 to 3.3 and Appendices B and C. Cases are ordered by source, then as sampled,
then by condition, so the cases of a cluster are neighbours.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import pandas as pd

from seam_lib.build.comments import Comment, Deck, Pools, read_assignments, read_pools
from seam_lib.build.composition import Fact, left_out, noting, report
from seam_lib.build.conditions import Condition, conditions, task_head
from seam_lib.build.invariants import INVARIANTS, check_cluster
from seam_lib.build.release import (
    ASSIGNMENTS,
    DIGESTS,
    PER_SOURCE,
    Digests,
    digest,
    in_release_order,
    question_ids,
    read_digests,
)
from seam_lib.build.sources import ADAPTERS, Corpus, Item, read_items, reasons
from seam_lib.build.sources.hub import hub_file
from seam_lib.core.benchmark import deal, write_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_text
from seam_lib.core.params import BuildParams
from seam_lib.core.progress import shown
from seam_lib.core.rows import CONDITIONS, SOURCES, TREATED, Case

FOUND = (
    "The clusters of the paper's release, by their ids and with the comments that the release gave "
    "them. Every message here has the digest that the release publishes."
)
#: What the report says about where a benchmark comes from, by `build.clusters` and `build.source`.
ORIGINS = {
    ("release", "files"): f"{FOUND} Built from the rows in data/sources.",
    ("release", "hub"): f"{FOUND} Built from the six upstream corpora.",
    ("sample", "files"): (
        "Built from the rows in data/sources. As the project ships, these are small corpora of our "
        "own in the formats of the paper's six: a stand-in for running and testing, not the "
        "paper's benchmark. A row names the licence that its corpus would give it; our own texts "
        "are MIT."
    ),
    ("sample", "hub"): (
        "Built from the six upstream corpora; `seam build --check-digests` compares it with the "
        "paper's release."
    ),
}


class Cluster(msgspec.Struct, frozen=True):
    """One composition event: an item, its task head, and the comments of its two kinds."""

    item: Item
    head: str
    casual: Comment
    native: Comment

    @property
    def id(self) -> str:
        """SOURCE:ITEM_ID."""
        return self.item.cluster_id


def own_cluster(
    artifact: str, comment: str, witnesses: Sequence[str], genre: str = "prose"
) -> Cluster:
    """A cluster of texts of your own, to see what a message looks like or how an answer is scored.

    Args:
        artifact: The pasted text.
        comment: What is typed below it.
        witnesses: Phrases of the comment that stand nowhere in the artifact.
        genre: `code` if the artifact is code, which is extracted and scored by other steps.
    """
    item = Item(
        source="own",
        id="1",
        artifact=artifact,
        operation="edit",
        instruction="Improve it.",
        license="your own",
        genre=genre,
    )
    said = Comment("own", comment, comment, [witness.lower() for witness in witnesses])
    return Cluster(item, task_head(genre, item.instruction), said, said)


def sample(source: str, items: Iterable[Item], count: int) -> list[Item]:
    """Choose items of balanced length, in a fixed order that needs no seed (Section 3.3).

    Items whose artifact repeats an earlier one are dropped. The others are split into thirds by
    length, each third is ordered by the digest of the cluster id, and the thirds are dealt in turn.

    Args:
        source: The source's name, for the error.
        items: Its items, in the corpus's order.
        count: How many to take.

    Raises:
        SeamError: There are fewer.
    """
    unique: dict[str, Item] = {}
    for item in items:
        unique.setdefault(item.artifact, item)
    if len(unique) < count:
        raise SeamError(
            f"{source}: {len(unique)} usable items, {count} wanted. Lower build.per_source in "
            "params.yaml or add rows."
        )
    lengths = sorted(map(len, unique))
    low, high = lengths[len(lengths) // 3], lengths[2 * len(lengths) // 3]
    thirds: tuple[list[Item], ...] = ([], [], [])
    for item in unique.values():
        length = len(item.artifact)
        place = 0 if length <= low else 1 if length <= high else 2
        thirds[place].append(item)
    for third in thirds:
        third.sort(key=lambda item: hashlib.sha256(item.cluster_id.encode()).hexdigest())
    return list(islice(deal(thirds), count))


def make_clusters(samples: Mapping[str, Sequence[Item]], pools: Pools, seed: int) -> list[Cluster]:
    """Give every sampled item its task head and its comments.

    Args:
        samples: The items of each source, in order.
        pools: The comments to choose from.
        seed: Seeds two generators, one for each kind of comment.

    Raises:
        SeamError: An artifact or an id occurs twice, or a pool is exhausted.
    """
    items = [item for source in samples.values() for item in source]
    refuse_repeats(items)
    heads = {item.cluster_id: task_head(item.genre, item.instruction) for item in items}
    casual = choose_casual(samples, heads, pools, seed)
    native = choose_native(items, heads, pools, seed)
    return [
        Cluster(item, heads[item.cluster_id], casual[item.cluster_id], native[item.cluster_id])
        for item in items
    ]


def refuse_repeats(items: Iterable[Item]) -> None:
    """Raise a SeamError if two items share their artifact or their id."""
    seen: dict[str, str] = {}
    for item in items:
        for key in (f"artifact {item.artifact}", f"id {item.cluster_id}"):
            if key in seen:
                raise SeamError(
                    f"{item.cluster_id}: the same {key.partition(' ')[0]} as {seen[key]}. "
                    "Drop one of the two rows."
                )
            seen[key] = item.cluster_id


def choose_casual(
    samples: Mapping[str, Sequence[Item]], heads: Mapping[str, str], pools: Pools, seed: int
) -> dict[str, Comment]:
    """The casual comment of each cluster: one generator, a newly shuffled deck for each source."""
    generator = random.Random(seed)
    chosen = {}
    for items in samples.values():
        deck = Deck(pools.casual, generator)
        for item in items:
            texts = (item.artifact, item.reference, heads[item.cluster_id])
            chosen[item.cluster_id] = deck.deal(item.cluster_id, texts)
    return chosen


def choose_native(
    items: Iterable[Item], heads: Mapping[str, str], pools: Pools, seed: int
) -> dict[str, Comment]:
    """The artifact-native comment of each cluster, dealt by genre in the order of cluster ids."""
    generator = random.Random(seed)
    decks = {genre: Deck(pool, generator) for genre, pool in pools.native.items()}
    chosen = {}
    for item in sorted(items, key=lambda item: item.cluster_id):
        if item.genre not in decks:
            raise SeamError(
                f"{item.cluster_id}: no native comments for the genre {item.genre!r}. Add a pool "
                "of that name to data/comments.yaml."
            )
        texts = (item.artifact, item.reference, heads[item.cluster_id])
        chosen[item.cluster_id] = decks[item.genre].deal(item.cluster_id, texts)
    return chosen


def compose_cases(
    clusters: Iterable[Cluster], conditions: Sequence[Condition], seed: int
) -> Iterator[Case]:
    """Compose every cluster under every condition and check the invariants.

    Yields:
        The cases, cluster by cluster, so that one cluster at a time is in memory.

    Raises:
        SeamError: An invariant does not hold; names the cluster.
    """
    for cluster in clusters:
        cases = [make_case(cluster, condition, seed) for condition in conditions]
        check_cluster(cases, [condition.name for condition in conditions])
        yield from cases


def make_case(cluster: Cluster, condition: Condition, seed: int) -> Case:
    """Compose one cluster under one condition."""
    item = cluster.item
    comment = {"casual": cluster.casual, "native": cluster.native, None: None}[condition.comment]
    composed = condition(cluster.head, item.artifact, comment.text if comment else "", cluster.id)
    return Case(
        id=f"{cluster.id}:{condition.name}:{digest(composed.message)}",
        composition_event_id=cluster.id,
        source=item.source,
        license=item.license,
        url=item.url,
        genre=item.genre,
        release_partition=item.partition,
        source_item_id=item.id,
        artifact=item.artifact,
        reference=item.reference,
        operation=item.operation,
        source_instruction=item.instruction,
        seed=seed,
        condition=condition.name,
        task_instruction=cluster.head,
        afterthought=comment.text if comment else None,
        afterthought_role=comment.role if comment else None,
        forbidden_proposition=(comment or cluster.casual).proposition,
        witness_tokens=comment.witnesses if comment else None,
        boundary_delimiters=composed.delimiters,
        system_instruction=composed.system_instruction,
        message=composed.message,
        segments=composed.segments,
        extra=item.extra,
    )


def release_clusters(
    items: Iterable[Item], assigned: Mapping[str, tuple[Comment, Comment]], digests: Digests
) -> tuple[list[Cluster], dict[str, str]]:
    """The release's clusters: items by their ids, comments as the release gave them.

    Nothing is sampled or dealt, so what upstream no longer has changes no other cluster. A cluster
    counts as found if its five messages are the published ones.

    Args:
        items: The items of all sources, in any order.
        assigned: The comments of each cluster, casual and native.
        digests: The published digests of each cluster's messages.

    Returns:
        The clusters found, in the release's order, and for each of the others the reason.
    """
    candidates: defaultdict[str, list[Cluster]] = defaultdict(list)
    for item in items:
        if item.cluster_id in assigned:
            head = task_head(item.genre, item.instruction)
            candidates[item.cluster_id].append(Cluster(item, head, *assigned[item.cluster_id]))
    found, missing = [], {}
    for name in in_release_order(assigned):
        missing[name] = "no row gives this item"
        for cluster in candidates[name]:  # an id may come twice upstream
            flaw = departure(cluster, digests[name])
            if flaw is None:
                found.append(cluster)
                del missing[name]
                break
            missing[name] = flaw
    return found, missing


def departure(cluster: Cluster, digests: Mapping[str, str]) -> str | None:
    """Why a cluster is not the published one; None if all its messages are."""
    composed = [make_case(cluster, condition, seed=0) for condition in conditions(CONDITIONS)]
    others = [c.condition for c in composed[1:] if digest(c.message) != digests[c.condition]]
    if others:
        return f"the row gives another message under {', '.join(others)}"
    return next((flaw for invariant in INVARIANTS if (flaw := invariant(composed))), None)


def build_benchmark(root: Path, params: BuildParams) -> Path:
    """Build the benchmark that params.yaml describes, with a report beside it.

    Args:
        root: The project's folder.
        params: Its `build` section.

    Returns:
        The folder written: one file of cases per licence partition, and README.md.

    Raises:
        SeamError: A source, a condition or a cluster is not as it must be; no file has changed
            then.
    """
    wanted = conditions(params.conditions, root / params.plugins)
    pools = read_pools(root / "data" / "comments.yaml")
    corpora = {name: read_corpus(root, params, name) for name in SOURCES}
    clusters, tables = choose_clusters(root, params, corpora, pools)
    bar = shown(clusters, "composing and checking clusters", len(clusters))
    folder = root / "data" / "benchmark" / params.name
    noted: list[Fact] = []
    write_benchmark(folder, noting(compose_cases(bar, wanted, params.seed), noted))
    write_report(folder, ORIGINS[params.clusters, params.source], pd.DataFrame(noted), tables)
    return folder


def choose_clusters(
    root: Path, params: BuildParams, corpora: Mapping[str, Corpus], pools: Pools
) -> tuple[list[Cluster], dict[str, pd.DataFrame]]:
    """Sample items and deal them comments, or take the release's own choice of both.

    Args:
        root: The project's folder.
        params: Its `build` section.
        corpora: The items of each source.
        pools: The comments.

    Returns:
        The clusters, and by title the tables of what is not among them.
    """
    tables = {"Rows left out": left_out(corpora)}
    if params.clusters == "release":
        clusters, missing = find_release(root, params, corpora, pools)
        return clusters, tables | {"Clusters of the release that are missing": missing}
    samples = {name: draw(name, corpora[name], params.per_source) for name in SOURCES}
    return make_clusters(samples, pools, params.seed), tables


def read_corpus(root: Path, params: BuildParams, name: str) -> Corpus:
    """A source's items: all that our own file has, or the first rows of the hub's.

    Only the latter get an address, since nobody else publishes the former.
    """
    source = ADAPTERS[name]
    if params.source == "files":
        return read_items(source, root / "data" / "sources" / f"{name}.jsonl")
    release = params.clusters == "release"
    questions = question_ids(read_digests(root / DIGESTS)) if release else []
    count = source.rows(PER_SOURCE if release else params.per_source)
    path = hub_file(root / "data" / "hub", source, count, params.revisions.get(name), questions)
    corpus = read_items(source, path)
    addressed = [msgspec.structs.replace(item, url=source.url(item)) for item in corpus.items]
    return corpus._replace(items=addressed)


def draw(name: str, corpus: Corpus, count: int) -> list[Item]:
    """Sample a corpus; where it has too few items, the error also says what was left out."""
    try:
        return sample(name, corpus.items, count)
    except SeamError as error:
        why = reasons(corpus)
        raise SeamError(f"{error} Left out: {why}." if why else f"{error}") from None


def find_release(
    root: Path, params: BuildParams, corpora: Mapping[str, Corpus], pools: Pools
) -> tuple[list[Cluster], pd.DataFrame]:
    """The release's clusters that the corpora still give, and a table of the others."""
    digests = read_digests(root / DIGESTS)
    assigned = read_assignments(root / ASSIGNMENTS, pools)
    if odd := assigned.keys() ^ digests.keys():
        raise SeamError(
            f"{root / ASSIGNMENTS}: {min(odd)} is not in this file and in {DIGESTS}. Restore both."
        )
    items = [item for corpus in corpora.values() for item in corpus.items]
    clusters, missing = release_clusters(items, assigned, digests)
    if not clusters:
        raise SeamError(
            f"params.yaml: build.clusters is release, but no row of the sources gives one of its "
            f"{len(digests)} clusters. Set build.source to hub, or build.clusters to sample."
        )
    rows = [(name, reason, *digests[name].values()) for name, reason in missing.items()]
    return clusters, pd.DataFrame(rows, columns=["cluster", "reason", *TREATED])


def write_report(
    folder: Path, origin: str, frame: pd.DataFrame, tables: Mapping[str, pd.DataFrame] | None = None
) -> None:
    """Write the report of a benchmark into its folder.

    Args:
        folder: The benchmark's folder.
        origin: What it was made from, in a sentence.
        frame: The facts of its cases.
        tables: What only the build knows, by title.
    """
    write_text(folder / "README.md", report(folder.name, origin, frame, tables))
