"""Small label sets, made up."""

from collections.abc import Iterable

from seam_lib.analysis.labels import LabelSet, Record, label_set
from seam_lib.core.params import AnalysisParams
from seam_lib.core.rows import SOURCES, TREATED

#: Few draws: a small set needs an analysis that is right, not one that is precise.
QUICK = AnalysisParams(bootstrap_draws=200, bootstrap_seed=42, permutations=99)


def small_set(
    models: Iterable[str] = ("m",),
    conditions: Iterable[str] = TREATED,
    absorbed: Iterable[tuple[str, str]] = (("coedit:0", "newline"),),
    per_source: int = 2,
) -> LabelSet:
    """A label set of `per_source` clusters a source; `absorbed` names (cluster, condition)."""
    events = set(absorbed)
    return label_set(
        Record(
            model,
            cluster,
            condition,
            (cluster, condition) in events,
            "lexical_witness" if (cluster, condition) in events else None,
        )
        for model in models
        for cluster in (f"{source}:{i}" for source in SOURCES for i in range(per_source))
        for condition in conditions
    )
