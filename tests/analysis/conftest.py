"""The published label set and its analysis."""

import json
from pathlib import Path

import pandas as pd
import pytest

from seam_lib.analysis.labels import LabelSet, adjudicate, read_adjudications, read_labels
from seam_lib.analysis.questions import Analysis, analyse
from seam_lib.core.params import load_params


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
    """A folder as the release has it: a file a model, fields that we do not know included."""
    folder = tmp_path_factory.mktemp("release")
    for model, rows in detector.frame.groupby("model"):
        lines = [
            {
                "case_id": f"{row.cluster_id}:{row.condition}",
                "model": model,
                "source": row.source,
                "condition": row.condition,
                "composition_event_id": row.cluster_id,
                "absorbed": row.absorbed,
                "tier": row.tier or None,
                "clean_missing": False,
                "scorer_version": "2.4.3",
                "spans": [{"start": 0, "end": 4}],
            }
            for row in rows.sample(frac=1, random_state=7).itertuples()
        ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{model}.labels.jsonl").write_text(text, encoding="utf-8")
    (folder / "README.md").write_text("not a label file")
    return folder
