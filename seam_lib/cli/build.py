"""Commands about the benchmark: build it, compare it with the release, import the release."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from seam_lib.build.release import Comparison, Digests
    from seam_lib.core.rows import Case


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(build)
    app.command(name="import-benchmark")(import_benchmark)


def build(
    check_digests: bool = typer.Option(
        False, help="Build nothing; compare the benchmark that is there with the release."
    ),
    name: str | None = typer.Option(
        None, help="The folder in data/benchmark.  [default: build.name of params.yaml]"
    ),
) -> None:
    """Build the benchmark that params.yaml describes, and check every cluster of it.

    Items come from data/sources or from the hub (build.source), by the paper's sampling or by the
    release's cluster ids (build.clusters). The cases go to data/benchmark/NAME, one file for each
    licence partition, and README.md there reports what was built. Two builds give the same bytes.

    The exit status is 1 if a cluster of the release is missing.
    """
    import msgspec

    from seam_lib.build.clusters import build_benchmark
    from seam_lib.core.params import find_root, load_params
    from seam_lib.core.rows import SOURCES

    root = find_root()
    params = load_params(root).build
    params = msgspec.structs.replace(params, name=name or params.name)
    if check_digests:
        compare_with_release(root, params.name)
        return
    build_benchmark(root, params)
    if params.clusters == "release":
        compare_with_release(root, params.name)
        return
    clusters, count = len(SOURCES) * params.per_source, len(params.conditions)
    typer.echo(
        f"{clusters} clusters, {clusters * count} cases under {count} conditions: "
        f"data/benchmark/{params.name}. Every invariant holds."
    )


def compare_with_release(root: Path, name: str) -> None:
    """Print how many of the release's messages a benchmark holds; exit 1 if not all."""
    from seam_lib.build.release import DIGESTS, compare_digests, read_digests
    from seam_lib.core.benchmark import stream_benchmark

    folder, digests = root / "data" / "benchmark" / name, read_digests(root / DIGESTS)
    result = compare_digests(stream_benchmark(folder), digests)
    show_comparison(result, digests)
    if result.same.total() < result.published.total():
        raise typer.Exit(1)


def show_comparison(result: "Comparison", digests: "Digests") -> None:
    """Print the comparison with the release: a table of counts, then what is missing or differs."""
    from rich.console import Console
    from rich.table import Table

    from seam_lib.core.rows import SOURCES, TREATED

    table = Table("source", *TREATED, title="Messages identical to the release's")
    for source in SOURCES:
        cells = (f"{result.same[source, c]}/{result.published[source, c]}" for c in TREATED)
        table.add_row(source, *cells)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    console.print(table)
    if not result.same:
        console.print("No message is the release's: this benchmark has other texts.")
        return
    for cluster in result.missing:
        console.print(f"missing  {cluster}: {', '.join(digests[cluster].values())}")
    for cluster, names in result.changed.items():
        console.print(f"changed  {cluster}: {', '.join(names)}")
    same, published = result.same.total(), result.published.total()
    lacking = f" {len(result.missing)} of {len(digests)} clusters are missing."
    console.print(f"{same} of {published} messages are identical.{lacking * bool(result.missing)}")


def import_benchmark(
    files: list[Path] = typer.Argument(help="JSON Lines files of the release's benchmark."),
    name: str = typer.Option("release", help="Written to data/benchmark/NAME."),
) -> None:
    """Read a local copy of the release's benchmark, and hold every row against the release.

    Every message is composed again, and its digest compared with the published one. Where
    anything differs, all differences are listed, nothing is written, and the exit status is 1. The
    three files have terms of their own, so one or two of them may be imported alone.
    """
    from seam_lib.build.imported import import_files
    from seam_lib.core.params import check_name, find_root

    root = find_root()
    cases, differences = import_files(root, files, check_name(name, "--name"))
    show_import(root, name, cases, differences)
    if differences:
        raise typer.Exit(1)


def show_import(root: Path, name: str, cases: list["Case"], differences: list[str]) -> None:
    """Print what an import found, and what the imported benchmark lacks."""
    from seam_lib.build.release import COMMIT, DIGESTS, compare_digests, lacking, read_digests

    for line in differences:
        typer.echo(line)
    if differences:
        typer.echo(
            f"{len(differences)} differences from the release, so nothing was written. Get the "
            f"files again, of commit {COMMIT}."
        )
        return
    typer.echo(f"{len(cases)} cases imported to data/benchmark/{name}, 0 differences.")
    if gaps := lacking(compare_digests(cases, read_digests(root / DIGESTS))):
        typer.echo(f"Not in it: {gaps}.")
