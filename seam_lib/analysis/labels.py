"""Label sets: the published CSV, the release's JSON Lines, or our runs, as arrays.

A label set knows, for each model, condition and cluster, whether the comment was absorbed, which
tier saw it, and where no usable pair exists. The arrays serve statistics; the frame that is made of
them serves reading and grouping.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from seam_lib.analysis.stats import Bools
from seam_lib.core.errors import SeamError
from seam_lib.core.files import csv_rows, numbered_rows
from seam_lib.core.rows import SOURCES, TIERS, TREATED, Label, Tier, source_of

#: Where a label changed by hand counts: everywhere, or in one sensitivity line only.
Applied = Literal["main", "sensitivity"]
#: Stands in `LabelSet.tiers` where none fired.
NO_TIER = -1


#: What the release calls a panel model's file of labels: its key, and a mark on those that hold
#: newline_R alone, collected later. One file has a name of its own.
PANEL_FILE = re.compile(r"dataset-(.+?)(?:-v4nr)?\.cascade-full\.jsonl")
OTHER_FILE = {"v4-newline-R-flash-final.cascade-full.jsonl": "deepseek-flash"}


class Record(msgspec.Struct, frozen=True):
    """One label, whatever file it came from.

    `served` is the model's identifier at its provider, where a file of the release names it.
    """

    model: str
    cluster_id: str
    condition: str
    absorbed: bool
    tier: Tier | None
    served: str = ""


@dataclass(frozen=True)
class LabelSet:
    """Labels of some models over some clusters.

    Attributes:
        models: Model keys, in panel order.
        conditions: The conditions that carry a comment, in the paper's order, then any others.
        clusters: Cluster ids, sorted.
        mask: Which cells hold a label, shape (models, conditions, clusters).
        absorbed: What they say, of the same shape; False where `mask` is.
        tiers: Places in `rows.TIERS`, of the same shape; NO_TIER where none fired.
        served: By model and condition, the identifiers at the provider that the release names.
    """

    models: tuple[str, ...]
    conditions: tuple[str, ...]
    clusters: tuple[str, ...]
    mask: Bools
    absorbed: Bools
    tiers: npt.NDArray[np.int8]
    served: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many labels there are."""
        return int(self.mask.sum())

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a label: model, cluster_id, source, condition, absorbed, tier and served.

        The last two are "" where there is none.
        """
        model, condition, cluster = np.nonzero(self.mask)
        names = dict(enumerate(TIERS)) | {NO_TIER: ""}
        return pd.DataFrame(
            {
                "model": [self.models[m] for m in model],
                "cluster_id": [self.clusters[k] for k in cluster],
                "source": [source_of(self.clusters[k]) for k in cluster],
                "condition": [self.conditions[c] for c in condition],
                "absorbed": self.absorbed[self.mask],
                "tier": [names[tier] for tier in self.tiers[self.mask].tolist()],
                "served": [
                    self.served.get((self.models[m], self.conditions[c]), "")
                    for m, c in zip(model, condition, strict=True)
                ],
            }
        )

    def cell(self, model: str, cluster: str, condition: str) -> tuple[int, int, int] | None:
        """Where the arrays hold a label; None if they hold none."""
        if (
            model not in self.models
            or condition not in self.conditions
            or cluster not in self.clusters
        ):
            return None
        found = (
            self.models.index(model),
            self.conditions.index(condition),
            self.clusters.index(cluster),
        )
        return found if self.mask[found] else None

    def outcomes(self, model: str, condition: str) -> tuple[Bools, Bools]:
        """A model's outcomes under one condition and their mask, each of shape (clusters,)."""
        at = self.models.index(model), self.conditions.index(condition)
        return self.absorbed[at], self.mask[at]

    def matched(self, a: tuple[str, str], b: tuple[str, str]) -> tuple[Bools, Bools, Bools]:
        """Two cells cluster by cluster.

        Args:
            a: A model and a condition.
            b: Another model, another condition, or both.

        Returns:
            The outcomes of a, those of b, and which clusters hold a label in both; each of shape
            (clusters,).
        """
        (outcomes_a, mask_a), (outcomes_b, mask_b) = self.outcomes(*a), self.outcomes(*b)
        return outcomes_a, outcomes_b, mask_a & mask_b

    def records(self) -> Iterator[Record]:
        """The labels one by one, in the frame's order."""
        columns = ["model", "cluster_id", "condition", "absorbed", "tier"]
        for model, cluster, condition, absorbed, tier in zip(
            *(self.frame[c].tolist() for c in columns), strict=True
        ):
            yield Record(model, cluster, condition, absorbed, tier or None)

    @property
    def sources(self) -> npt.NDArray[np.str_]:
        """The source of each cluster, shape (clusters,)."""
        return np.array([source_of(c) for c in self.clusters])


def read_labels(
    path: Path,
    models: Iterable[str] | None = None,
    clusters: Iterable[str] | None = None,
    conditions: Iterable[str] = TREATED,
) -> LabelSet:
    """Read a label set and check it.

    Args:
        path: A CSV file (model, cluster_id, condition, absorbed, tier), a JSON Lines file of
            `rows.Label` rows, or the release's folder of such files. There a file's name holds the
            panel key, its rows hold the served identifier, and files that are not a panel model's
            labels are left out (`files_left_out` names them).
        models: The models that may occur, in the order wanted; by default those that do.
        clusters: The clusters that may occur; by default those that do.
        conditions: The conditions that may occur; by default the paper's five.

    Raises:
        SeamError: A row is malformed, repeated, contradicts itself, or names a model, cluster,
            source or condition that is not known; the message names the file, the line and the
            remedy.
    """
    known_models = list(models) if models is not None else None
    known_clusters = set(clusters) if clusters is not None else None
    known_conditions = tuple(conditions)
    seen: dict[tuple[str, str, str], str] = {}
    records = []
    for place, record in _numbered_records(path):
        problem = _problem(record, known_models, known_clusters, known_conditions)
        key = (record.model, record.cluster_id, record.condition)
        if not problem and key in seen:
            problem = f"the case {' '.join(key)} was labelled before, in {seen[key]}; keep one row"
        if problem:
            raise SeamError(f"{place}: {problem}.")
        seen[key] = place
        records.append(record)
    if not records:
        raise SeamError(
            f"{path}: holds no labels. Score a run first; if it was scored, no answer is usable "
            f"beside a usable clean one (`seam health RUN` tells why)."
        )
    return label_set(records, known_models, known_clusters)


def differing_labels(found: LabelSet, published: LabelSet) -> pd.DataFrame:
    """The labels in which a set differs from the published one.

    Returns:
        One row a label: model, cluster_id, condition, found and published (a tier, "not absorbed",
        or "none" where there is no label).
    """
    keys = ["model", "cluster_id", "condition"]
    said = [
        labels.frame[[*keys, "tier"]].replace({"tier": {"": "not absorbed"}})
        for labels in (found, published)
    ]
    both = said[0].merge(said[1], "outer", keys, suffixes=("_found", "_published")).fillna("none")
    both = both.rename(columns={"tier_found": "found", "tier_published": "published"})
    return both[both["found"] != both["published"]].reset_index(drop=True)


def label_set(
    records: Iterable[Record],
    models: Iterable[str] | None = None,
    clusters: Iterable[str] | None = None,
) -> LabelSet:
    """Arrange checked records as a label set. Arguments as in `read_labels`."""
    rows = list(records)
    present = {r.model for r in rows}
    model_axis = [m for m in models if m in present] if models is not None else sorted(present)
    cluster_axis = sorted(clusters if clusters is not None else {r.cluster_id for r in rows})
    found = _empty(model_axis, {r.condition for r in rows}, cluster_axis)
    model_at, condition_at, cluster_at = map(
        _places, (found.models, found.conditions, found.clusters)
    )
    for r in rows:
        cell = model_at[r.model], condition_at[r.condition], cluster_at[r.cluster_id]
        found.mask[cell], found.absorbed[cell] = True, r.absorbed
        found.tiers[cell] = TIERS.index(r.tier) if r.tier else NO_TIER
    return replace(found, served=_served(rows))


def _served(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """The identifiers that served each model's conditions; more than one is worth seeing."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for record in records:
        if record.served:
            found[record.model, record.condition].add(record.served)
    return {cell: ", ".join(sorted(names)) for cell, names in found.items()}


def join(sets: Sequence[LabelSet]) -> LabelSet:
    """Label sets of different models as one; what a set lacks has no label there."""
    found = _empty(
        [model for labels in sets for model in labels.models],
        {condition for labels in sets for condition in labels.conditions},
        sorted({cluster for labels in sets for cluster in labels.clusters}),
    )
    model_at, condition_at, cluster_at = map(
        _places, (found.models, found.conditions, found.clusters)
    )
    for labels in sets:
        cells = np.ix_(
            [model_at[m] for m in labels.models],
            [condition_at[c] for c in labels.conditions],
            [cluster_at[k] for k in labels.clusters],
        )
        found.mask[cells], found.absorbed[cells] = labels.mask, labels.absorbed
        found.tiers[cells] = labels.tiers
    return found


def without(labels: LabelSet, where: Bools) -> LabelSet:
    """A copy that holds no label where `where` is True, an array of the shape of `mask`."""
    return replace(not_absorbed(labels, where), mask=labels.mask & ~where)


def not_absorbed(labels: LabelSet, where: Bools) -> LabelSet:
    """A copy whose labels say "not absorbed" where `where` is True, of the shape of `mask`."""
    tiers = np.where(where, np.int8(NO_TIER), labels.tiers)
    return replace(labels, absorbed=labels.absorbed & ~where, tiers=tiers)


def _empty(models: Sequence[str], conditions: set[str], clusters: Sequence[str]) -> LabelSet:
    """A set of these axes that holds no label yet."""
    condition_axis = (*TREATED, *sorted(conditions - set(TREATED)))
    shape = (len(models), len(condition_axis), len(clusters))
    return LabelSet(
        tuple(models),
        condition_axis,
        tuple(clusters),
        mask=np.zeros(shape, bool),
        absorbed=np.zeros(shape, bool),
        tiers=np.full(shape, NO_TIER, np.int8),
    )


def _places(axis: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(axis)}


def check_complete(labels: LabelSet, exclusions: Path, models: Iterable[str]) -> None:
    """Check that every case either has a label or is on the exclusion list, and none is on both.

    Args:
        labels: The label set.
        exclusions: CSV with columns model, cluster_id, condition, reason.
        models: The models that must have labels, such as the panel's.

    Raises:
        SeamError: Names the first model without any label, or the first case that is missing
            without a reason or excluded yet labelled.
    """
    if unlabelled := [model for model in models if model not in labels.models]:
        raise SeamError(
            f"no label at all of {', '.join(unlabelled)}; score it, or leave it out of the panel."
        )
    columns = ("model", "cluster_id", "condition", "reason")
    excluded = {
        (row["model"], row["cluster_id"], row["condition"])
        for _, row in csv_rows(exclusions, columns)
    }
    absent = {
        (labels.models[m], labels.clusters[k], labels.conditions[c])
        for m, c, k in np.argwhere(~labels.mask)
    }
    if unexplained := absent - excluded:
        raise SeamError(
            f"{exclusions}: no reason for the missing label of {' '.join(min(unexplained))}; "
            f"add its row ({len(unexplained)} such cases)."
        )
    if contradicted := {case for case in excluded - absent if case[0] in labels.models}:
        raise SeamError(
            f"{exclusions}: {' '.join(min(contradicted))} is excluded, yet has a label; "
            f"drop one of the two ({len(contradicted)} such cases)."
        )


def read_adjudications(path: Path, applied_in: Applied) -> set[tuple[str, str, str]]:
    """The cases whose label was changed by hand, as (model, cluster_id, condition).

    Args:
        path: adjudications.csv.
        applied_in: `main` for changes that hold everywhere, `sensitivity` for those that the
            paper applies only to Opus's boundary rate (Section 6).

    Raises:
        SeamError: The file does not fit or a row is applied in neither; names the line.
    """
    cases = set()
    for place, row in csv_rows(path, ("model", "cluster_id", "condition", "reason", "applied_in")):
        if row["applied_in"] not in get_args(Applied):
            raise SeamError(
                f"{place}: applied_in is {row['applied_in']!r}; "
                f"it must be {' or '.join(get_args(Applied))}."
            )
        if row["applied_in"] == applied_in:
            cases.add((row["model"], row["cluster_id"], row["condition"]))
    return cases


def adjudicate(labels: LabelSet, cases: Iterable[tuple[str, str, str]]) -> LabelSet:
    """A copy in which the named cases count as not absorbed.

    Args:
        labels: The detector's labels.
        cases: (model, cluster_id, condition) of labels changed by hand.

    Raises:
        SeamError: A named case is not labelled absorbed, so there is nothing to change.
    """
    where = np.zeros_like(labels.mask)
    for case in sorted(set(cases)):
        cell = labels.cell(*case)
        if cell is None:
            raise SeamError(
                f"adjudications: no label for {' '.join(case)}; drop its row or correct its ids."
            )
        if not labels.absorbed[cell]:
            raise SeamError(
                f"adjudications: {' '.join(case)} is already not absorbed; drop its row."
            )
        where[cell] = True
    return not_absorbed(labels, where)


def _problem(
    record: Record,
    models: list[str] | None,
    clusters: set[str] | None,
    conditions: tuple[str, ...],
) -> str | None:
    """What is wrong with a record taken alone, with the remedy; None if nothing is."""
    if record.absorbed and record.tier is None:
        return f"absorbed without a tier; name one of {', '.join(TIERS)}"
    if not record.absorbed and record.tier is not None:
        return f"tier {record.tier!r} without absorbed; empty the tier or set absorbed"
    if record.condition == "clean":
        return "condition 'clean' carries no comment and gets no label; drop the row"
    if models is not None and record.model not in models:
        return f"unknown model {record.model!r}; add it to the panel or correct the name"
    if clusters is not None and record.cluster_id not in clusters:
        return f"unknown cluster {record.cluster_id!r}; it is not in the benchmark"
    if source_of(record.cluster_id) not in SOURCES:
        return f"cluster {record.cluster_id!r} names no known source; known: {', '.join(SOURCES)}"
    if record.condition not in conditions:
        return f"unknown condition {record.condition!r}; known: {', '.join(conditions)}"
    return None


def panel_key(path: Path) -> str | None:
    """The panel model whose labels a file of the release holds, by its name; None if none's."""
    if match := PANEL_FILE.fullmatch(path.name):
        return match[1]
    return OTHER_FILE.get(path.name)


def files_left_out(folder: Path) -> list[str]:
    """The files of the release's folder that are no panel model's labels, by name.

    They are readers' verdicts, and labels of other prompts that repeat the panel's models and
    conditions.
    """
    return sorted(file.name for file in folder.iterdir() if panel_key(file) is None)


def _numbered_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield (file:line, record) from a CSV file, a JSON Lines file or a folder of those."""
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if panel_key(file)]
        if not files:
            raise SeamError(
                f"{path}: no file called dataset-KEY.cascade-full.jsonl. Give the release's folder "
                "results/labels."
            )
        for file in files:
            yield from _json_records(file)
    elif path.suffix == ".csv":
        yield from _csv_records(path)
    else:
        yield from _json_records(path)


def _json_records(path: Path) -> Iterator[tuple[str, Record]]:
    key = panel_key(path)
    for number, row in numbered_rows(path, Label):
        place, cluster = f"{path}:{number}", row.composition_event_id
        if row.clean_missing:
            continue  # the clean response was unusable: no pair, no label (Section 4)
        if row.source != source_of(cluster):
            raise SeamError(f"{place}: source {row.source!r} of cluster {cluster!r}; correct one.")
        model, served = (key, row.model) if key else (row.model, "")
        yield place, Record(model, cluster, row.condition, row.absorbed, row.tier, served)


def _csv_records(path: Path) -> Iterator[tuple[str, Record]]:
    for place, row in csv_rows(path, ("model", "cluster_id", "condition", "absorbed", "tier")):
        yield place, _csv_record(place, row)


def _csv_record(place: str, row: dict[str, str]) -> Record:
    if row["absorbed"] not in ("0", "1"):
        raise SeamError(f"{place}: absorbed is {row['absorbed']!r}; it must be 0 or 1.")
    try:
        return msgspec.convert(
            {**row, "absorbed": row["absorbed"] == "1", "tier": row["tier"] or None}, Record
        )
    except msgspec.ValidationError as error:
        raise SeamError(f"{place}: {error}; tiers are {', '.join(TIERS)} or empty.") from None
