"""The report of a run, reports/RUN/: one text, as Markdown and as a page of its own."""

import re
from pathlib import Path

import jinja2
import pandas as pd
from markdown_it import MarkdownIt

from seam_lib.analysis import figures, questions
from seam_lib.core import palette
from seam_lib.core.cells import Table, markdown, plain_rows, write_tables
from seam_lib.core.files import digests, write_json, write_text
from seam_lib.core.look import save
from seam_lib.core.rows import CASUAL, CONDITIONS
from seam_lib.core.run import load_run
from seam_lib.report import words
from seam_lib.report.panel import LABELS, Panel, read_panel
from seam_lib.report.results import RunResult
from seam_lib.report.tables import display_names, run_tables

#: Where the Markdown shows the figure; the page carries it inside instead.
FIGURE = re.compile(r'<p><img src="figure2\.svg"[^>]*></p>')


def write_report(root: Path, result: RunResult) -> Path:
    """Write a run's report: report.md, report.html, figure2, statistics.json and tables.

    Args:
        root: The project's folder.
        result: The run's analysis.

    Returns:
        The folder, reports/RUN.
    """
    folder, panel = root / "reports" / result.run.name, read_panel(result)
    made = run_tables(result, panel)
    draw(folder, result, panel)
    text = report_text(result, panel, made)
    write_tables(folder / "tables", list(made.values()))
    write_text(folder / "report.md", text)
    svg = (folder / "figure2.svg").read_text(encoding="utf-8")
    write_text(folder / "report.html", page(result.run.name, text, svg))
    write_json(folder / "statistics.json", record(root, result, panel))
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


def report_text(result: RunResult, panel: Panel, tables: dict[str, Table]) -> str:
    """The report in Markdown, from report.md.j2.

    Args:
        result: The run's analysis.
        panel: The panel beside it.
        tables: Its tables, by name.
    """
    return _template("report.md.j2").render(
        result=result,
        panel=panel,
        run=result.run,
        tables=tables,
        tier=words.semantic_tier(result.scoring),
        words=words,
    )


def body(table: Table) -> str:
    """A table's rows, without the column that names the one model."""
    return markdown(table.display.drop(columns="model"))


def plain_table(frame: pd.DataFrame) -> str:
    """A frame as it is; what servers and users named is shown literally."""
    return markdown(frame.astype(str).map(words.literal))


def bullets(sentences: list[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


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
    shown = FIGURE.sub(lambda _: drawing, parser.render(text))
    return _template("report.html.j2").render(vars(palette), title=title, body=shown)


def _template(name: str) -> jinja2.Template:
    """One of the room's templates; what is put into HTML is escaped, what into Markdown is not."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("seam_lib.report"),
        autoescape=jinja2.select_autoescape(["html.j2"], default=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "body": body,
        "bullets": bullets,
        "literal": words.literal,
        "markdown": markdown,
        "plain": plain_table,
    }
    return found.get_template(name)


def record(root: Path, result: RunResult, panel: Panel) -> dict[str, object]:
    """Every number of the report as plain data, with what it was made from."""
    run = result.run
    inputs = {root / LABELS}
    for other in (load_run(root, name) for name in result.family):
        inputs |= {other.outputs, other.labels, *other.benchmark.glob("*.jsonl")}
    return questions.statistics(result.analysis) | {
        "contrasts_own_decoding": plain_rows(result.unaltered),
        "departing": result.departing,
        "family": list(result.family),
        "inputs": digests(root, (path.relative_to(root).as_posix() for path in inputs)),
        "model": run.settings.model,
        "panel_pairs": plain_rows(panel.pairs),
        "panel_ranks": plain_rows(panel.ranks),
        "nli": result.scoring.nli,
        "rules": result.scoring.rules,
        "run": run.name,
    }
