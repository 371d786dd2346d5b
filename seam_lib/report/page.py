"""The report of a run, reports/RUN/: one text, as Markdown and as a page of its own."""

from pathlib import Path

import jinja2
import numpy as np
import pandas as pd
from markdown_it import MarkdownIt

from seam_lib.analysis import figures, questions
from seam_lib.core.cells import Table, lever, markdown, plain_rows, write_tables
from seam_lib.core.files import digests, write_json, write_text
from seam_lib.core.look import save
from seam_lib.core.params import RunParams
from seam_lib.core.rows import CASUAL, CONDITION_NAMES, CONDITIONS, in_order
from seam_lib.report.results import RunResult
from seam_lib.report.tables import Panel, display_names, read_panel, run_tables
from seam_lib.report.words import (
    cautions,
    comment_words,
    literal,
    resolution,
    semantic_tier,
    without_departures,
)

#: How the Markdown names the figure; the page carries it inside instead.
FIGURE = "![Absorption rate by condition: this run over the published panel](figure2.svg)"


def write_report(root: Path, result: RunResult) -> Path:
    """Write a run's report: report.md, report.html, figure2, statistics.json and tables.

    Args:
        root: The project's folder.
        result: The run's analysis.

    Returns:
        The folder, reports/RUN.
    """
    folder, panel = root / "reports" / result.run.name, read_panel(root)
    made = run_tables(result, panel)
    draw(folder, result, panel)
    text = report_text(result, made)
    write_tables(folder / "tables", list(made.values()))
    write_text(folder / "report.md", text)
    svg = (folder / "figure2.svg").read_text(encoding="utf-8")
    write_text(folder / "report.html", page(result.run.name, text, svg))
    write_json(folder / "statistics.json", record(root, result))
    return folder


def draw(folder: Path, result: RunResult, panel: Panel) -> None:
    """Figure 2 with the run over the published panel; own conditions of the same comment follow."""
    pairs = result.analysis.contrasts[["condition_a", "condition_b"]].itertuples(index=False)
    own = [b for a, b in pairs if a == "newline" and b not in CONDITIONS]
    figure = figures.figure2(
        result.analysis.rates,
        display_names(result),
        [result.run.name],
        panel.rates,
        [*CASUAL, *own],
    )
    save(figure, folder / "figure2")


def report_text(result: RunResult, made: dict[str, Table]) -> str:
    """The report in Markdown.

    Args:
        result: The run's analysis.
        made: Its tables, by name.
    """
    run, labels = result.run, result.labels
    tier = semantic_tier(result.scoring)
    family = ", ".join(f"`{name}`" for name in result.family)
    others = len(result.family) - 1
    holm = f"Holm's p is over the {others + 1} runs {family}." if others else (
        "This run is reported alone, so Holm's p is the exact p."
    )  # fmt: skip
    parts = [
        f"# The run `{run.name}`: {literal(run.settings.model)}",
        f"How often does the model return the user's comment inside the text that it was asked to "
        f"edit? {len(labels.frame)} labels over the {len(labels.clusters)} examples of the "
        f"benchmark `{run.settings.benchmark}`; clean answers cancel what the model says anyway.",
        "## Before you read the numbers",
        bullets(cautions(result)),
        "## How often?",
        body(made["table3_full"]),
        f"{lever_words(result.analysis.levers)} {tier}",
        "## Beside the published panel",
        FIGURE,
        body(made["table3"], keep_model=True),
        f"{made['table3'].caption} {tier}",
        "## Does the way the seam is marked change it?",
        "Every example appears under every condition, so each comparison is paired: the difference "
        "is the first condition minus the second, with Newcombe's interval and McNemar's exact p.",
        body(made["contrasts"]),
        f"{holm} {tier}",
        "### What could this run have seen?",
        bullets(resolution(result.analysis.design, len(result.family))),
        "### Without answers of another decoding",
        without_departures(result),
        body(made["contrasts_own_decoding"]) if result.departing else "",
        "## Where does it happen?",
        body(made["source_rates"]),
        f"{made['source_rates'].caption} {tier}",
        "## Which tier saw it?",
        body(made["tiers"]),
        f"Absorbed labels by the tier that fired first. {tier}",
        "## Does it rest on single comments?",
        comment_words(result.analysis.comments),
        "## What came back, and from whom",
        plain_table(result.health.outcomes),
        plain_table(result.health.provenance),
        f"`seam health {run.name}` shows also when, how fast and how long.",
        "## How it was made",
        bullets(settings_words(result)),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def body(table: Table, keep_model: bool = False) -> str:
    """A table's rows; a run's own tables do without the column that names its one model."""
    frame = table.display if keep_model else table.display.drop(columns="model")
    return markdown(frame)


def plain_table(frame: pd.DataFrame) -> str:
    """A frame as it is; what servers and users named is shown literally."""
    return markdown(frame.astype(str).map(literal))


def bullets(sentences: list[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def lever_words(levers: pd.DataFrame) -> str:
    """The lever with its interval."""
    if levers.empty:
        return ""
    row = levers.iloc[0]
    if np.isnan(row["low"]) or not np.isfinite(row["lever"]):
        return "Too little was absorbed under boundary for a lever, newline over boundary."
    return (
        f"The lever, newline over boundary, is {lever(row['lever'])} (95% interval "
        f"{lever(row['low'])} to {lever(row['high'])}, by resampling examples)."
    )


def settings_words(result: RunResult) -> list[str]:
    """What was run: the settings that decide what a model answers, and what scored it."""
    settings = result.run.settings
    return [
        f"Provider `{settings.provider}`, model `{settings.model}`, {_decoding(settings)}",
        f"Labels: scoring rules {result.scoring.rules}. {semantic_tier(result.scoring)}",
        "Conditions: "
        + ", ".join(CONDITION_NAMES.get(c, c) for c in in_order(result.scoring.planned))
        + ", each against clean.",
        "`statistics.json` holds every number at full use, with the SHA-256 of every input; "
        "`tables/` holds each table as CSV, Markdown and LaTeX.",
    ]


def _decoding(settings: RunParams) -> str:
    """How answers are drawn, and drawn again when one is empty or cut off."""
    warm = settings.temperature is not None
    first = f"temperature {settings.temperature:g}" if warm else "no temperature sent"
    words = f"{first}, at most {settings.max_tokens} tokens an answer."
    if settings.attempts == 1:
        return f"{words} Nothing is drawn again."
    again = f", at temperature {settings.retry_temperature}" if warm else ""
    return (
        f"{words} An answer that is empty or cut off is drawn again{again}: "
        f"{settings.attempts} answers at most a case."
    )


def page(title: str, text: str, svg: str) -> str:
    """The report as one HTML page: styles and figure inside, nothing fetched, no script.

    Args:
        title: The page's title.
        text: The report in Markdown; raw HTML in it is shown as text.
        svg: The figure.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", lambda *_: '<div class="wide"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    drawing = f'<figure role="img" aria-label="Figure 2">{svg[svg.index("<svg") :]}</figure>'
    before, after = (parser.render(part) for part in text.split(FIGURE))
    templates = jinja2.Environment(loader=jinja2.PackageLoader("seam_lib.report"), autoescape=True)
    return templates.get_template("report.html").render(title=title, body=before + drawing + after)


def record(root: Path, result: RunResult) -> dict[str, object]:
    """Every number of the report as plain data, with what it was made from."""
    run = result.run
    inputs = [run.outputs, run.labels]
    inputs += [*run.benchmark.glob("*.jsonl"), root / "paper" / "statistics.json"]
    return questions.statistics(result.analysis) | {
        "contrasts_own_decoding": plain_rows(result.unaltered),
        "departing": result.departing,
        "family": list(result.family),
        "inputs": digests(root, (path.relative_to(root).as_posix() for path in inputs)),
        "model": run.settings.model,
        "nli": result.scoring.nli,
        "rules": result.scoring.rules,
        "run": run.name,
    }
