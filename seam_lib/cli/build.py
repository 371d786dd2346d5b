"""Commands about the benchmark: build it, compare it with the release, import the release."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(build)
    app.command(name="import-benchmark")(import_benchmark)


def build(
    check_digests: bool = typer.Option(
        False, help="Build nothing; compare the benchmark that was built with the release."
    ),
) -> None:
    """Build the benchmark that params.yaml describes, and check every cluster of it.

    Items come from data/sources or from the hub (build.source). The cases go to
    data/benchmark/NAME, one file for each licence partition, and README.md there reports what was
    built. Two builds give the same bytes.
    """
    from seam_lib.build.clusters import build_benchmark
    from seam_lib.core.params import find_root, load_params
    from seam_lib.core.rows import SOURCES

    root = find_root()
    params = load_params(root).build
    folder = root / "data" / "benchmark" / params.name
    if check_digests:
        compare_with_release(root, folder, params.source)
        return
    build_benchmark(root, params)
    clusters, count = len(SOURCES) * params.per_source, len(params.conditions)
    typer.echo(
        f"{clusters} clusters, {clusters * count} cases under {count} conditions: "
        f"data/benchmark/{params.name}. Every invariant holds."
    )


def compare_with_release(root: Path, folder: Path, source: str) -> None:
    """Print how many of the release's messages a hub build reproduces; exit 1 if not all."""
    from rich.console import Console
    from rich.table import Table

    from seam_lib.build.release import compare_digests, read_digests
    from seam_lib.core.benchmark import stream_benchmark
    from seam_lib.core.errors import SeamError
    from seam_lib.core.rows import SOURCES, TREATED

    if source != "hub":
        raise SeamError(
            "params.yaml: build.source is files, and our own corpora are not the release's. Set "
            "it to hub and per_source to 50, run `seam build`, then check."
        )
    result = compare_digests(
        stream_benchmark(folder), read_digests(root / "data" / "published" / "clusters.csv")
    )
    table = Table("source", *TREATED, title="Messages identical to the release's")
    for name in SOURCES:
        cells = (f"{result.same[name, c]}/{result.published[name, c]}" for c in TREATED)
        table.add_row(name, *cells)
    console = Console()
    console.print(table)
    for cluster in result.missing:
        console.print(f"missing  {cluster}", highlight=False)
    for cluster, names in result.changed.items():
        console.print(f"changed  {cluster}: {', '.join(names)}", highlight=False)
    same, published = result.same.total(), result.published.total()
    console.print(f"{same} of {published} messages are identical.", highlight=False)
    if same < published:
        raise typer.Exit(1)


def import_benchmark(
    files: list[Path] = typer.Argument(help="JSON Lines files of the release's benchmark."),
    name: str = typer.Option("release", help="Written to data/benchmark/NAME."),
) -> None:
    """Read a local copy of the release's benchmark as ours, and compose every message anew.

    Differences are listed, and the exit status is 1 if there are any; none are expected.
    """
    from seam_lib.build.release import differences, read_release
    from seam_lib.core.benchmark import write_benchmark
    from seam_lib.core.errors import SeamError
    from seam_lib.core.params import check_name, find_root

    folder = find_root() / "data" / "benchmark" / check_name(name, "--name")
    if folder.exists():
        raise SeamError(f"{folder}: exists. Choose another --name, or remove it first.")
    cases = read_release(files)
    lines = list(differences(cases))
    write_benchmark(folder, cases)
    for line in lines:
        typer.echo(line)
    typer.echo(f"{len(cases)} cases imported to data/benchmark/{name}, {len(lines)} differences.")
    if lines:
        raise typer.Exit(1)
