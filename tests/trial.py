"""A small project with a trial benchmark and one run, for tests of inference."""

from pathlib import Path
from typing import Any

import yaml
from scratch import ROOT

from seam_lib.build import Cluster, compose_cases
from seam_lib.comments import Comment
from seam_lib.compose import conditions
from seam_lib.files import write_rows
from seam_lib.plan import Run, load_run
from seam_lib.schema import CONDITIONS, SOURCES, Case
from seam_lib.sources import Item

CASUAL = Comment("note", "My bus was late.", "the bus was late", ["bus was late"])
NATIVE = Comment("formal", "Figures are old though.", "figures are old", ["figures are old"])


def trial_cases(clusters: int = 6) -> list[Case]:
    """Six cases a cluster, the clusters spread over the sources."""
    made = [
        Cluster(_item(SOURCES[n % 6], n), head="Improve it.", casual=CASUAL, native=NATIVE)
        for n in range(clusters)
    ]
    return list(compose_cases(made, conditions(CONDITIONS), seed=42))


def trial_run(folder: Path, cases: list[Case] | None = None, **settings: Any) -> Run:
    """Write the project; `settings` go into its run, named "trial"."""
    given = {"benchmark": "trial", "provider": "openai", "model": "m", "backoff_seconds": 0.01}
    given |= {"timeout_seconds": 0.5} | settings
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["runs"] = {"trial": given}
    folder.mkdir(exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (folder / "dvc.yaml").write_text("stages: {}\n")
    write_rows(folder / "data" / "benchmark" / "trial" / "permissive.jsonl", cases or trial_cases())
    return load_run(folder, "trial")


def _item(source: str, number: int) -> Item:
    return Item(
        source=source, id=str(number), artifact=f"Text number {number}, as pasted.\nIt ends here.",
        reference=None, operation="edit", license="MIT", genre="prose", partition="permissive",
    )  # fmt: skip
