"""The paper's analysis of one of our runs, Holm's adjustment being over the runs beside it.

A run is one more model: its labels go through the same functions as the panel's. What a run has
that the panel's labels lack is known here too: each cluster's comment, each answer's decoding, the
conditions that a user added, and what the scorer did.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import pandas as pd

from seam_lib.analysis import questions
from seam_lib.analysis.labels import LabelSet, Record, label_set, read_labels
from seam_lib.analysis.questions import Analysis
from seam_lib.build.release import compare_digests, read_digests
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, sha256
from seam_lib.core.params import load_params
from seam_lib.core.rows import CONDITIONS, SOURCES, Case, Output
from seam_lib.core.run import Run, load_cases, load_run
from seam_lib.infer.health import Health, diagnose
from seam_lib.infer.traces import read_traces
from seam_lib.score.scorer import Provenance, provenance_path, read_provenance


@dataclass(frozen=True)
class RunResult:
    """What is known of a run once it is scored.

    Attributes:
        run: Its name and settings.
        labels: Its labels, the run's name standing for the model.
        analysis: Every statistic of them; Holm's p is over `family`.
        family: The runs that are reported together, this one among them.
        unaltered: The contrasts again, without pairs of which an answer departs from the run's
            decoding (Appendix F); the columns of `questions.contrasts`.
        departing: How many labels those pairs are without.
        health: What its traces tell (Appendices F and H).
        scoring: Which rules, which semantic tier, which inputs made the labels.
        paper_clusters: How many clusters the paper's benchmark has.
        shared: How many of the run's have the paper's own message at the bare newline.
    """

    run: Run
    labels: LabelSet
    analysis: Analysis
    family: tuple[str, ...]
    unaltered: pd.DataFrame
    departing: int
    health: Health
    scoring: Provenance
    paper_clusters: int
    shared: int


@dataclass(frozen=True)
class _Scored:
    """One run's cases and labels, and the (cluster, condition) whose answers depart."""

    run: Run
    cases: list[Case]
    labels: LabelSet
    departing: set[tuple[str, str]]


def analyse_run(root: Path, name: str, family: Sequence[str] | None = None) -> RunResult:
    """Give a run the analysis that the paper gives its panel.

    Args:
        root: The project's folder.
        name: The run; it must be scored.
        family: The runs over which Holm adjusts; by default the run itself and those that its
            setting `family` names.

    Raises:
        SeamError: A run is unknown, not scored, or scored before its answers changed.
    """
    named = load_run(root, name).settings.family
    together = tuple(dict.fromkeys(family or [name, *named]))
    scored = {other: _read(load_run(root, other)) for other in together}
    mine, settings = scored[name], load_params(root).analysis
    pairs = planned_contrasts(mine.cases)
    contrasts = _of(name, questions.contrasts(_joined(scored.values()), pairs, reduce_phi=True))
    kept = _joined(scored.values(), departing=False)
    own = questions.analyse(mine.labels, settings, comments(mine.cases, "newline"))
    digests = read_digests(root / "data" / "published" / "clusters.csv")
    same = compare_digests(mine.cases, digests).same
    return RunResult(
        run=mine.run,
        labels=mine.labels,
        analysis=replace(
            own, contrasts=contrasts, design=questions.design(contrasts, len(together))
        ),
        family=together,
        unaltered=_of(name, questions.contrasts(kept, pairs, reduce_phi=True)),
        departing=len(mine.labels.frame) - int((kept.frame["model"] == name).sum()),
        health=diagnose(mine.cases, read_traces(mine.run.traces), mine.run.settings),
        scoring=read_provenance(mine.run.labels),
        paper_clusters=len(digests),
        shared=sum(same[source, "newline"] for source in SOURCES),
    )


def planned_contrasts(cases: Iterable[Case]) -> tuple[tuple[str, str], ...]:
    """The paper's contrasts, then each further condition against those with the same comment.

    A condition with the casual comment is compared with the bare newline and with the boundary
    tags, one with the artifact-native comment with the bare newline before that comment.
    """
    rows = list(cases)
    pairs = list(questions.CONTRASTS)
    native = comments(rows, "newline_R")
    for condition in sorted({case.condition for case in rows} - set(CONDITIONS)):
        if comments(rows, condition) == native:
            pairs.append(("newline_R", condition))
        else:
            pairs += [("newline", condition), ("boundary", condition)]
    return tuple(pairs)


def comments(cases: Iterable[Case], condition: str) -> dict[str, str]:
    """The comment of each cluster under one condition."""
    return {
        case.composition_event_id: case.afterthought
        for case in cases
        if case.condition == condition and case.afterthought is not None
    }


def departing_cells(cases: Iterable[Case], outputs: Iterable[Output]) -> set[tuple[str, str]]:
    """The (cluster, condition) whose answer was not drawn with the run's own decoding."""
    by_id = {case.id: (case.composition_event_id, case.condition) for case in cases}
    return {by_id[o.case_id] for o in outputs if o.decoding and o.case_id in by_id}


def _read(run: Run) -> _Scored:
    cases, path = load_cases(run), run.labels
    if not path.exists():
        raise SeamError(
            f"{path}: no such file: the run {run.name!r} is not scored. Run `seam infer "
            f"{run.name}`, then `seam score {run.name}`."
        )
    _check_fresh(run)
    clusters = sorted({case.composition_event_id for case in cases})
    conditions = {case.condition for case in cases}
    read = read_labels(path, clusters=clusters, conditions=conditions)
    if len(read.models) > 1:
        raise SeamError(f"{path}: holds {len(read.models)} models; the labels of a run hold one.")
    records = (msgspec.structs.replace(record, model=run.name) for record in read.records())
    labels = label_set(records, [run.name], clusters)
    return _Scored(run, cases, labels, departing_cells(cases, read_rows(run.outputs, Output)))


def _check_fresh(run: Run) -> None:
    """Refuse labels that were made from other answers than the run now has."""
    name = run.outputs.relative_to(run.root).as_posix()
    if read_provenance(run.labels).inputs.get(name) != sha256(run.outputs):
        raise SeamError(
            f"{provenance_path(run.labels)}: the labels were made from other answers than {name} "
            f"holds now. Run `seam score {run.name}`."
        )


def _joined(runs: Collection[_Scored], *, departing: bool = True) -> LabelSet:
    """The labels of several runs as one set, with or without answers of departing decoding.

    A label departs if its treated or its clean answer does.
    """
    records: list[Record] = []
    for scored in runs:
        dropped = set() if departing else scored.departing
        records += (
            record
            for record in scored.labels.records()
            if not dropped & {(record.cluster_id, c) for c in ("clean", record.condition)}
        )
    return label_set(records, [scored.run.name for scored in runs])


def _of(name: str, contrasts: pd.DataFrame) -> pd.DataFrame:
    return contrasts[contrasts["model"] == name].reset_index(drop=True)
