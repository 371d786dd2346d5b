"""Commands about the paper's release: get it, and see what of it agrees with what we know of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import pandas as pd

#: Where the release's files are kept.
FOLDER = "data/release"


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    release = typer.Typer(
        no_args_is_help=True, help="The paper's release: fetch it, compare its labels, export it."
    )
    for command in (fetch, labels, export):
        release.command()(command)
    app.add_typer(release, name="release")


def fetch(
    source: Path | None = typer.Option(
        None, "--from", help="A clone of the release's repository, instead of the network."
    ),
) -> None:
    """Get the release's benchmark and labels, and say what agrees with data/published.

    Downloads to data/release, resumes after any stop, and imports the benchmark as
    data/benchmark/release. Then `seam try MODEL --benchmark release` asks a model the paper's own
    messages.
    """
    from rich.console import Console
    from rich.table import Table

    from seam_lib.build.fetch import copy_release, download_release
    from seam_lib.build.release import BENCHMARK, DIGESTS, LABELS, compare_digests, read_digests
    from seam_lib.core.benchmark import stream_benchmark
    from seam_lib.core.params import find_root, load_params

    root = find_root()
    folder = root / FOLDER
    if source:
        copy_release(source, folder)
    else:
        download_release(folder, load_params(root).release)
    typer.echo(
        f"The release is in {FOLDER}. {BENCHMARK['cc-by-sa']} is under CC BY-SA, "
        f"{BENCHMARK['cc-by-nc-sa']} under CC BY-NC-SA 4.0; what you pass on keeps these terms."
    )
    whole = take(root, [folder / path for path in BENCHMARK.values()])
    table = Table("of the release", "here", "agrees", title="The release and data/published")
    if whole:
        digests = read_digests(root / DIGESTS)
        found = compare_digests(stream_benchmark(root / "data/benchmark/release"), digests)
        counts = f"{found.same.total():,} of {found.published.total():,}"
        table.add_row("messages, by digest", "data/benchmark/release", counts)
        whole = found.same == found.published
    differing, count = compare_labels(root, folder / LABELS)
    table.add_row("labels", f"{FOLDER}/{LABELS}", f"{count - len(differing):,} of {count:,}")
    if differing.empty:
        table.add_row("levers, with intervals", "of these labels", count_levers(root, folder))
    Console().print(table)
    if not whole or len(differing):
        raise typer.Exit(1)


def take(root: Path, files: list[Path]) -> bool:
    """Import the benchmark as data/benchmark/release unless it is there; False if it differs."""
    from seam_lib.build.imported import import_files
    from seam_lib.cli.build import show_import

    if (root / "data/benchmark/release").exists():
        typer.echo("data/benchmark/release was there already and is left as it is.")
        return True
    cases, differences = import_files(root, files, "release")
    show_import(root, "release", cases, differences)
    return not differences


def labels(
    folder: Path = typer.Argument(help="The release's folder results/labels, or a copy of it."),
) -> None:
    """Say whether a folder holds exactly the labels of data/published/labels.csv.

    Every label that differs is listed, and the exit status is 1 if there are any.
    """
    from seam_lib.analysis.labels import files_left_out
    from seam_lib.core.params import find_root

    differing, count = compare_labels(find_root(), folder)
    for name in files_left_out(folder):
        typer.echo(f"left out, no panel model's labels: {name}")
    for row in differing.itertuples():
        typer.echo(
            f"{row.model} {row.cluster_id} {row.condition}: {row.found}; published: {row.published}"
        )
    typer.echo(f"{count - len(differing):,} of {count:,} labels are the published ones.")
    if len(differing):
        raise typer.Exit(1)


def compare_labels(root: Path, folder: Path) -> tuple["pd.DataFrame", int]:
    """The labels that differ from the published ones, and how many there are in either set."""
    from seam_lib.analysis.labels import differing_labels, read_labels
    from seam_lib.claims.published import Published

    data = Published(root)
    names = data.panel["key"], data.table("clusters")["cluster_id"]
    published = read_labels(data.folder / "labels.csv", *names)
    found = read_labels(folder, *names)
    differing = differing_labels(found, published)
    return differing, len(published) + int((differing["published"] == "none").sum())


def count_levers(root: Path, folder: Path) -> str:
    """How many published levers follow from the labels of a folder of the release."""
    from seam_lib.build.release import LABELS
    from seam_lib.claims.published import Published
    from seam_lib.claims.release import levers

    data = Published(root)
    data.params.published.labels = str(folder / LABELS)
    follow = levers(data).values["levers"]
    return f"{follow} of {len(data.table('levers'))}"


def export(
    name: str = typer.Argument(help="A benchmark that was imported, such as `release`."),
    folder: Path = typer.Argument(help="Where the three files go, named as in the release."),
) -> None:
    """Write an imported benchmark as the release has it, row by row and field by field."""
    from seam_lib.build.imported import write_release
    from seam_lib.core.benchmark import read_benchmark
    from seam_lib.core.params import find_root

    for path in write_release(folder, read_benchmark(find_root() / "data" / "benchmark" / name)):
        typer.echo(f"{path}")
