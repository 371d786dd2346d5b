"""A run: its name, its settings, and where its files are."""

from pathlib import Path

import msgspec

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.params import TRIED, RunParams, load_params, load_trials
from seam_lib.core.rows import Case


class Run(msgspec.Struct, frozen=True):
    """A run's name, its settings, and where its files lie.

    Attributes:
        name: Its name.
        settings: Its settings.
        root: The project's folder.
        trial: Whether the settings are in a file of their own, from `seam try`, not in params.yaml.
    """

    name: str
    settings: RunParams
    root: Path
    trial: bool = False

    @property
    def home(self) -> str:
        """Where its settings are changed, in words."""
        return f"{TRIED}/{self.name}.yaml" if self.trial else f"runs.{self.name} of params.yaml"

    @property
    def command(self) -> str:
        """The command that continues it."""
        return "the same `seam try`" if self.trial else f"seam infer {self.name}"

    @property
    def benchmark(self) -> Path:
        """Its cases."""
        return self.root / "data" / "benchmark" / self.settings.benchmark

    @property
    def traces(self) -> Path:
        """Its log of attempts."""
        return self.root / "data" / "traces" / f"{self.name}.jsonl"

    @property
    def outputs(self) -> Path:
        """Its condensed answers."""
        return self.root / "data" / "outputs" / f"{self.name}.jsonl"

    @property
    def labels(self) -> Path:
        """The scorer's verdicts on them."""
        return self.root / "data" / "labels" / f"{self.name}.jsonl"


def load_run(root: Path, name: str) -> Run:
    """Find a run in params.yaml, or else one that `seam try` made.

    Raises:
        SeamError: There is none of this name.
    """
    ours, tried = load_params(root).runs, load_trials(root)
    runs = tried | ours
    if name not in runs:
        raise SeamError(
            f"there is no run {name!r}; the runs are: {', '.join(sorted(runs)) or 'none'}. Add it "
            f"to params.yaml below `runs:` with benchmark, provider and model, or use `seam try`."
        )
    return Run(name, runs[name], root, trial=name not in ours)


def load_cases(run: Run) -> list[Case]:
    """The cases of a run's benchmark, in the benchmark's order."""
    return read_benchmark(run.benchmark)
