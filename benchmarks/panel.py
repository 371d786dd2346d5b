"""The panel's statistics beside a plain-Python reference that gives the same numbers."""

import random
import time
from pathlib import Path

import pandas as pd

from seam_lib.analysis import stats
from seam_lib.analysis.labels import LabelSet, adjudicate, read_adjudications, read_labels
from seam_lib.analysis.questions import analyse
from seam_lib.core.params import find_root, load_params


def published(root: Path) -> LabelSet:
    folder = root / "data/published"
    panel = pd.read_csv(folder / "panel.csv")["key"]
    clusters = pd.read_csv(folder / "clusters.csv")["cluster_id"]
    labels = read_labels(folder / "labels.csv", panel, clusters)
    return adjudicate(labels, read_adjudications(folder / "adjudications.csv", "main"))


def reference_levers(labels: LabelSet, draws: int, seed: int) -> list[tuple[float, float]]:
    """The lever bootstrap as the paper's text describes it: one randrange per cluster and draw."""
    rng = random.Random(seed)
    intervals = []
    for model in labels.models:
        newline, mask_a = labels.outcomes(model, "newline")
        boundary, mask_b = labels.outcomes(model, "boundary")
        mask = mask_a & mask_b
        a, b = newline[mask].tolist(), boundary[mask].tolist()
        n = len(a)
        ratios = []
        for _ in range(draws):
            picks = [rng.randrange(n) for _ in range(n)]
            top, bottom = sum(a[i] for i in picks), sum(b[i] for i in picks)
            ratios.append(top / bottom if bottom else float("inf"))
        ratios.sort()
        edge = draws // 40
        intervals.append((ratios[edge], ratios[-edge - 1]))
    return intervals


def main() -> None:
    root = find_root(Path(__file__).parent)
    settings = load_params(root).analysis
    labels = published(root)
    start = time.perf_counter()
    result = analyse(labels, settings)
    whole = time.perf_counter() - start

    start = time.perf_counter()
    rng = stats.PythonRandom(settings.bootstrap_seed)
    for model in labels.models:
        a, mask_a = labels.outcomes(model, "newline")
        b, mask_b = labels.outcomes(model, "boundary")
        mask = mask_a & mask_b
        stats.bootstrap_sums(a[mask], b[mask], settings.bootstrap_draws, rng)
    ours = time.perf_counter() - start

    start = time.perf_counter()
    reference = reference_levers(labels, settings.bootstrap_draws, settings.bootstrap_seed)
    plain = time.perf_counter() - start
    same = reference == list(zip(result.levers["low"], result.levers["high"], strict=True))
    print(f"all statistics of the panel   {whole:8.2f} s")
    print(f"lever bootstrap, ours         {ours:8.2f} s")
    print(f"lever bootstrap, plain Python {plain:8.2f} s   {plain / ours:.0f} times as long")
    print(f"the same numbers              {'yes' if same else 'NO':>8}")


if __name__ == "__main__":
    main()
