"""The public facts that claims are recomputed from, read once; statistics are made when needed."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from seam_lib.analysis import labels, questions
from seam_lib.analysis.labels import LabelSet
from seam_lib.build.comments import Pools, read_pools
from seam_lib.core.errors import SeamError
from seam_lib.core.params import load_params


class Published:
    """The release's facts and the statistics of its labels.

    A *reading* of the labels is `detector` (as scored), `main` (with the manual changes that apply
    everywhere) or `sensitivity` (with the two more that Section 6 names).
    """

    def __init__(self, root: Path) -> None:
        """Keep the project's folder; nothing but params.yaml is read yet."""
        self.root = root
        self.folder = root / "data/published"
        self.params = load_params(root)
        self._kept: dict[tuple[str, str], Any] = {}

    @cached_property
    def panel(self) -> pd.DataFrame:
        """The panel file, indexed by model key."""
        return self.table("panel").set_index("key", drop=False)

    @cached_property
    def pools(self) -> Pools:
        """The comment pools of Appendix C."""
        return read_pools(self.root / "data/comments.yaml")

    def table(self, name: str) -> pd.DataFrame:
        """A published CSV file; empty cells are empty strings."""
        path = self.folder / f"{name}.csv"
        if not path.is_file():
            raise SeamError(f"{path}: no such file. Restore it with `git checkout -- {path}`.")
        frame: pd.DataFrame = self._once(
            ("table", name), lambda: pd.read_csv(path, keep_default_na=False)
        )
        return frame

    def labels(self, reading: str = "main") -> LabelSet:
        """The labels under one reading."""
        found: LabelSet = self._once(("labels", reading), lambda: self._read_labels(reading))
        return found

    def contrasts(self, reading: str = "main") -> pd.DataFrame:
        """The frame of `questions.contrasts`."""
        frame: pd.DataFrame = self._once(
            ("contrasts", reading), lambda: questions.contrasts(self.labels(reading))
        )
        return frame

    @cached_property
    def levers(self) -> pd.DataFrame:
        """The frame of `questions.levers`, bootstrap intervals included."""
        return questions.levers(self.labels(), self.params.analysis)

    def name(self, model: str) -> str:
        """A model's display name."""
        return str(self.panel.loc[model, "name"])

    def names(self, models: Any) -> list[str]:
        """The display names of several models, in the order given."""
        return [self.name(model) for model in models]

    def group(self, who: str | list[str]) -> list[str]:
        """Model keys: a list as it is, `all`, or a group of the panel such as `frontier`."""
        if isinstance(who, list):
            return who
        panel = self.panel
        return list(panel["key"] if who == "all" else panel.loc[panel["group"] == who, "key"])

    def _read_labels(self, reading: str) -> LabelSet:
        if reading == "detector":
            path = self.root / self.params.published.labels
            return labels.read_labels(path, self.panel["key"], self.table("clusters")["cluster_id"])
        path = self.folder / "adjudications.csv"
        if reading == "main":
            changes = labels.read_adjudications(path, "main")
            return labels.adjudicate(self.labels("detector"), changes)
        changes = labels.read_adjudications(path, "sensitivity")
        return labels.adjudicate(self.labels("main"), changes)

    def _once(self, key: tuple[str, str], make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]
