"""The published label set, and folders of labels as the release has them."""

import json
from pathlib import Path

import pandas as pd
import pytest

from seam_lib.analysis.labels import LabelSet, read_labels

#: The panel models whose newline_R labels stand in the file of the other conditions.
TOGETHER = ("claude-opus-4-8", "gpt-5.6-sol", "gemini-3.1-pro")


def write_labels_folder(folder: Path, labels: LabelSet) -> None:
    """Write labels of the panel as the release's folder results/labels has them, file by file.

    The rows hold the served identifier, the files' names the panel key; newline_R stands in files
    of its own but for three models; and other files lie there that are no panel labels.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for model, rows in labels.frame.groupby("model"):
        native = (rows["condition"] == "newline_R") & (model not in TOGETHER)
        write_labels(folder / f"dataset-{model}.cascade-full.jsonl", rows[~native], f"lab/{model}")
        later = "v4-newline-R-flash-final" if model == "deepseek-flash" else f"dataset-{model}-v4nr"
        if native.any():
            write_labels(folder / f"{later}.cascade-full.jsonl", rows[native], f"{model}-2026")
    repeated = labels.frame.query("model == 'gpt-5.6-sol'")
    for name in ("m1-m2-panel-gpt.cascade-full.jsonl", "m2-full300-gpt.cascade-full.jsonl"):
        write_labels(folder / name, repeated, "lab/gpt-5.6-sol")
    (folder / "claude-opus-4-8-verdicts.jsonl").write_text('{"case_id": "x", "verdict": "flip"}\n')
    (folder / "README.md").write_text("not a label file")


def write_labels(path: Path, rows: pd.DataFrame, served: str) -> None:
    """One file of labels as the release has them."""
    lines = [
        {
            "case_id": f"{row.cluster_id}:{row.condition}:0123456789ab",
            "model": served,
            "source": row.source,
            "condition": row.condition,
            "composition_event_id": row.cluster_id,
            "absorbed": row.absorbed,
            "tier": row.tier or None,
            "clean_missing": False,
        }
        for row in rows.sample(frac=1, random_state=7).itertuples()
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


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
def release(detector: LabelSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published labels in a folder like the release's results/labels."""
    folder = tmp_path_factory.mktemp("release")
    write_labels_folder(folder, detector)
    return folder
