"""Commands about reading labels: write the packets, take the verdicts back."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    app.command()(review)


def review(
    run: str = typer.Argument(help="A scored run of params.yaml."),
    verdicts: list[Path] | None = typer.Option(
        None, metavar="FILE", help="A sheet of verdicts to read back; may be given again."
    ),
) -> None:
    """Read labels by eye: what is wrongly absorbed, and what does the scorer miss?

    Without --verdicts, writes two reading packets to data/review/RUN, each as a page and as a
    sheet: positives (labels shown, evidence marked) and blind (mostly negatives, labels hidden).
    With --verdicts, reads answered sheets back: adjudications.csv there lists the overturned
    labels, and the agreement and the bound on what is missed are printed.
    """
    from rich.console import Console

    from seam_lib.cli.label_view import show_audit
    from seam_lib.cli.score import find_files, find_settings
    from seam_lib.core.files import read_rows
    from seam_lib.core.params import load_params
    from seam_lib.core.rows import Label
    from seam_lib.read.packets import blind_packet, positives_packet, write_packets
    from seam_lib.read.verdicts import audit, read_key, read_verdicts, write_adjudications
    from seam_lib.score.nli import open_engine
    from seam_lib.score.scorer import read_and_score

    files, settings = find_files(run, None, None, None), find_settings()
    folder = files.root / "data" / "review" / run
    console = Console(highlight=False)
    if verdicts:
        labels = list(read_rows(files.labels, Label))
        found = audit(read_key(folder / "key.csv"), [read_verdicts(v) for v in verdicts], labels)
        write_adjudications(folder / "adjudications.csv", found)
        show_audit(console, found, load_params(files.root).analysis, folder / "adjudications.csv")
        return
    engine = open_engine(settings.nli, files.root)
    findings, _ = read_and_score(files.cases, files.outputs, engine)
    positives = positives_packet(findings, settings.seed, settings.read_lexical)
    blind = blind_packet(findings, settings.seed, settings.read_negative)
    write_packets(folder, positives, blind)
    console.print(
        f"{len(positives)} positives and {len(blind)} blind items to read: {folder}. Answer in the "
        f"pages or the sheets, then `seam review {run} --verdicts FILE`. Keep key.csv from readers."
    )
