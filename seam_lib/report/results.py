"""The paper's analysis of one of our runs, Holm's adjustment being over the runs beside it.

A run is one more model: its labels go through the same functions as the panel's. What a run has
that the panel's labels lack is known here too: each cluster's comment, each answer's decoding, the
conditions that a user added, and what the scorer did.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from seam_lib.analysis import questions
from seam_lib.analysis.labels import LabelSet, join, read_labels, without
from seam_lib.analysis.questions import Analysis
from seam_lib.analysis.stats import Bools
from seam_lib.build.release import Comparison, compare_digests, read_digests
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, sha256
from seam_lib.core.params import load_params
from seam_lib.core.rows import CONDITIONS, SOURCES, Case, Output
from seam_lib.core.run import Run, load_cases, load_run
from seam_lib.infer.health import Health, diagnose
from seam_lib.infer.traces import read_traces
from seam_lib.score.damage import left_empty
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
        emptied: The cases of which extraction leaves nothing, though the answer holds something.
        release: How the run's benchmark agrees with the paper's, message by message.
    """

    run: Run
    labels: LabelSet
    analysis: Analysis
    family: tuple[str, ...]
    unaltered: pd.DataFrame
    departing: int
    health: Health
    scoring: Provenance
    emptied: list[str]
    release: Comparison

    @property
    def paper_clusters(self) -> int:
        """How many clusters the paper's benchmark has."""
        return sum(self.release.published[source, "newline"] for source in SOURCES)

    @property
    def shared(self) -> list[str]:
        """The clusters that have the paper's own message at the bare newline."""
        return sorted(k for k, condition in self.release.cells if condition == "newline")


@dataclass(frozen=True)
class _Scored:
    """One run's cases and labels.

    Attributes:
        run: Its name and settings.
        cases: Its benchmark.
        plan: The contrasts that its conditions call for.
        labels: Its labels, the run's name standing for the model.
        departing: Which of them rest on an answer that departs from the run's decoding, as an array
            of the shape of `labels.mask`.
    """

    run: Run
    cases: list[Case]
    plan: tuple[tuple[str, str], ...]
    labels: LabelSet
    departing: Bools


def analyse_run(root: Path, name: str) -> RunResult:
    """Give one run the analysis that the paper gives its panel: `analyse_runs` for it alone."""
    return analyse_runs(root, [name])[0]


def analyse_runs(root: Path, names: Sequence[str]) -> list[RunResult]:
    """Give runs the analysis that the paper gives its panel.

    Args:
        root: The project's folder.
        names: Scored runs. Several are one family, over which Holm adjusts; the family of a single
            one is itself and the runs that its setting `family` names.

    Returns:
        One result a name, in their order.

    Raises:
        SeamError: A run is unknown, not scored, or scored before its answers changed.
    """
    wanted = list(dict.fromkeys(names))
    further = load_run(root, wanted[0]).settings.family if len(wanted) == 1 else []
    family = [_read(load_run(root, name)) for name in dict.fromkeys([*wanted, *further])]
    pairs = tuple(dict.fromkeys(pair for scored in family for pair in scored.plan))
    all_labels = join([scored.labels for scored in family])
    own_decoding = join([without(scored.labels, scored.departing) for scored in family])
    paired = questions.contrasts(all_labels, pairs, reduce_phi=True)
    unaltered = questions.contrasts(own_decoding, pairs, reduce_phi=True)
    return [
        _result(scored, all_labels.models, _of(scored, paired), _of(scored, unaltered))
        for scored in family[: len(wanted)]
    ]


def _result(
    mine: _Scored, family: tuple[str, ...], paired: pd.DataFrame, unaltered: pd.DataFrame
) -> RunResult:
    """One run's result, its contrasts being made already."""
    run, casual = mine.run, comments(mine.cases, "newline")
    digests = read_digests(run.root / "data" / "published" / "clusters.csv")
    settings = load_params(run.root).analysis
    return RunResult(
        run=run,
        labels=mine.labels,
        analysis=questions.analyse(mine.labels, settings, casual, paired, len(family)),
        family=family,
        unaltered=unaltered,
        departing=int((mine.labels.mask & mine.departing).sum()),
        health=diagnose(mine.cases, read_traces(run.traces), run.settings),
        scoring=read_provenance(run.labels),
        emptied=left_empty(mine.cases, read_rows(run.outputs, Output)),
        release=compare_digests(mine.cases, digests),
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
    labels = replace(read, models=(run.name,))
    departed = departing_cells(cases, read_rows(run.outputs, Output))
    return _Scored(run, cases, planned_contrasts(cases), labels, _departing(labels, departed))


def _departing(labels: LabelSet, departed: set[tuple[str, str]]) -> Bools:
    """Where a label's treated or clean answer is one of those, of the shape of `labels.mask`."""
    found = np.zeros_like(labels.mask)
    for c, condition in enumerate(labels.conditions):
        for k, cluster in enumerate(labels.clusters):
            found[:, c, k] = bool({(cluster, condition), (cluster, "clean")} & departed)
    return found


def _check_fresh(run: Run) -> None:
    """Refuse labels that were made from other answers than the run now has."""
    name = run.outputs.relative_to(run.root).as_posix()
    if read_provenance(run.labels).inputs.get(name) != sha256(run.outputs):
        raise SeamError(
            f"{provenance_path(run.labels)}: the labels were made from other answers than {name} "
            f"holds now. Run `seam score {run.name}`."
        )


def _of(scored: _Scored, contrasts: pd.DataFrame) -> pd.DataFrame:
    """A run's rows of the contrasts of its family, those that it planned itself."""
    mine = contrasts[contrasts["model"] == scored.run.name]
    pairs = zip(mine["condition_a"], mine["condition_b"], strict=True)
    return mine[np.array([pair in scored.plan for pair in pairs], bool)].reset_index(drop=True)
