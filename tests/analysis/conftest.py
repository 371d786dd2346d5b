"""The published label set and its analysis."""

from pathlib import Path

import pytest

from seam_lib.analysis.labels import LabelSet, adjudicate, read_adjudications
from seam_lib.analysis.questions import Analysis, analyse
from seam_lib.core.params import load_params
from tests.helpers.panel import cluster_ids, detector, names, panel, release

__all__ = ["cluster_ids", "detector", "names", "panel", "release"]


@pytest.fixture(scope="session")
def published(root: Path, detector: LabelSet) -> LabelSet:
    """The published labels with the changes by hand that hold everywhere."""
    return adjudicate(
        detector, read_adjudications(root / "data/published/adjudications.csv", "main")
    )


@pytest.fixture(scope="session")
def result(root: Path, published: LabelSet) -> Analysis:
    """Every statistic of the published labels, with the parameters of params.yaml."""
    return analyse(published, load_params(root).analysis)
