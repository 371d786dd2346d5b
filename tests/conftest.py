"""What several test modules share: the published label set and its analysis."""

import gc
from pathlib import Path

import pandas as pd
import pytest
from labelsets import write_labels_folder

from seam_lib.analysis.labels import LabelSet, adjudicate, read_adjudications, read_labels
from seam_lib.analysis.questions import Analysis, analyse
from seam_lib.core.params import find_root, load_params

# statsmodels collects garbage at each Holm adjustment; what is loaded by now need not be searched.
gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    return find_root(Path(__file__).parent)


@pytest.fixture(scope="session")
def panel(root: Path) -> pd.DataFrame:
    return pd.read_csv(root / "data/published/panel.csv", keep_default_na=False)


@pytest.fixture(scope="session")
def names(panel: pd.DataFrame) -> dict[str, str]:
    return dict(zip(panel["key"], panel["name"], strict=True))


@pytest.fixture(scope="session")
def cluster_ids(root: Path) -> list[str]:
    return pd.read_csv(root / "data/published/clusters.csv")["cluster_id"].tolist()


@pytest.fixture(scope="session")
def detector(root: Path, names: dict[str, str], cluster_ids: list[str]) -> LabelSet:
    """The published labels as the detector gave them."""
    return read_labels(root / "data/published/labels.csv", names, cluster_ids)


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


@pytest.fixture(scope="session")
def release(detector, tmp_path_factory):
    """The published labels in a folder like the release's results/labels."""
    folder = tmp_path_factory.mktemp("release")
    write_labels_folder(folder, detector)
    return folder
