"""The published panel beside a run: labels of the same reading and, where it has any, clusters.

Like is compared with like. A run has no label changed by hand, so the panel's are those of the
detector; if the run was scored without the semantic tier, so are they, since each published label
names the tier that fired. A run on clusters of the paper is compared on these, pair by pair; to
any other run the whole panel is a backdrop.
"""

from dataclasses import dataclass, replace

import pandas as pd

from seam_lib.analysis import questions
from seam_lib.analysis.labels import LabelSet, join, not_absorbed, read_labels
from seam_lib.core.params import load_params
from seam_lib.core.rows import TIERS
from seam_lib.report.results import RunResult

#: The panel's labels and models, as files of the project.
LABELS = "data/published/labels.csv"
MODELS = "data/published/panel.csv"


@dataclass(frozen=True)
class Panel:
    """The panel's numbers: frames of `questions`, the models by their keys.

    Attributes:
        rates: Over the run's clusters of the paper, or over all 300 where it has none.
        contrasts: The same, Holm over the panel.
        levers: The same.
        pairs: The run against every model under each condition (`questions.beside`); without rows
            where no message is the paper's.
        ranks: Its places (`questions.ranks`).
        names: Display name of each model.
        lexical: Whether labels of the semantic tier count as not absorbed, as in the run.
    """

    rates: pd.DataFrame
    contrasts: pd.DataFrame
    levers: pd.DataFrame
    pairs: pd.DataFrame
    ranks: pd.DataFrame
    names: dict[str, str]
    lexical: bool


def read_panel(result: RunResult) -> Panel:
    """The panel in a run's reading and on its clusters.

    A model of the panel by whose key the run is called has "(published)" behind its key.

    Raises:
        SeamError: The published labels are missing or malformed.
    """
    root, run, lexical = result.run.root, result.run.name, result.scoring.nli == "off"
    models = pd.read_csv(root / MODELS, keep_default_na=False)
    keys = dict(zip(models["key"], models["name"], strict=True))
    labels = read_labels(root / LABELS, keys)
    if lexical:
        labels = not_absorbed(labels, labels.tiers == TIERS.index("semantic_nli"))
    apart = {key: f"{key} (published)" if key == run else key for key in labels.models}
    labels = replace(labels, models=tuple(apart.values()))
    pairs = questions.beside(join([result.labels, labels]), run, result.release.cells)
    if result.shared:
        labels = on_clusters(labels, set(result.shared))
    return Panel(
        rates=questions.rates(labels),
        contrasts=questions.contrasts(labels),
        levers=questions.levers(labels, load_params(root).analysis),
        pairs=pairs,
        ranks=questions.ranks(pairs),
        names={apart[key]: keys[key] for key in apart},
        lexical=lexical,
    )


def on_clusters(labels: LabelSet, clusters: set[str]) -> LabelSet:
    """The same labels over some of their clusters."""
    chosen = [place for place, name in enumerate(labels.clusters) if name in clusters]
    return replace(
        labels,
        clusters=tuple(labels.clusters[place] for place in chosen),
        mask=labels.mask[:, :, chosen],
        absorbed=labels.absorbed[:, :, chosen],
        tiers=labels.tiers[:, :, chosen],
    )
