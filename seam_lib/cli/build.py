"""Commands about the benchmark: build it, compare it with the release, import the release."""

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(build)


def build() -> None:
    """Build the benchmark that params.yaml describes, and check every cluster of it."""
    from seam_lib.build import build_benchmark
    from seam_lib.params import find_root, load_params

    root = find_root()
    folder = build_benchmark(root, load_params(root).build)
    typer.echo(f"wrote {folder.relative_to(root)}")
