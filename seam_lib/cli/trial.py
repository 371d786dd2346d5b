"""The command that goes from a model's name to its report."""

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from seam_lib.core.run import Run


def register(app: typer.Typer) -> None:
    """Add this module's command to the app."""
    app.command(name="try")(trial)


def trial(
    model: str = typer.Argument(
        help="The model's name at its provider; or a run of params.yaml, such as `embedded`."
    ),
    provider: str | None = typer.Option(
        None, help="openai (any compatible server), anthropic or llamacpp.  [default: openai]"
    ),
    base_url: str | None = typer.Option(
        None, help="The server, such as http://localhost:8000/v1 for vLLM."
    ),
    key_env: str | None = typer.Option(
        None, help="The environment variable that holds the key, if not the provider's usual one."
    ),
    limit: int | None = typer.Option(
        None, min=1, help="At most this many cases, in whole clusters, each source in turn."
    ),
    benchmark: str | None = typer.Option(
        None, help="A folder in data/benchmark.  [default: build.name of params.yaml]"
    ),
    price_in: float | None = typer.Option(None, help="US dollars per million input tokens."),
    price_out: float | None = typer.Option(None, help="US dollars per million output tokens."),
    max_usd: float | None = typer.Option(None, help="Stop before the run could cost more."),
    settings: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="Any other setting of a run; repeat for more."
    ),
    name: str | None = typer.Option(None, help="Call the run try-NAME.  [default: the model]"),
    yes: bool = typer.Option(False, "--yes", "-y", help="Start without asking."),
) -> None:
    """Try a model: ask it, score the answers, and report on it beside the published panel.

    First shows the expected calls, time and cost. After any stop, start it again: nothing is asked
    twice. A larger --limit, or none, continues from the answers it has.

    seam try embedded --limit 24                          a 135M model, offline, no key

    seam try gpt-4.1-mini --limit 60                      OPENAI_API_KEY must be set

    seam try qwen3-8b --base-url http://localhost:8000/v1     vLLM, llama.cpp, any such server

    seam try claude-haiku-4-5 --provider anthropic            ANTHROPIC_API_KEY must be set
    """
    from seam_lib.cli.report import show
    from seam_lib.cli.run_view import show_forecast
    from seam_lib.core.params import find_root
    from seam_lib.infer.providers import api_key
    from seam_lib.report.page import write_report
    from seam_lib.report.results import analyse_run
    from seam_lib.trial import plan_trial, save_trial

    given = {
        key: value
        for key, value in {
            "provider": provider, "base_url": base_url, "key_env": key_env, "max_usd": max_usd,
            "price_in": price_in, "price_out": price_out, "benchmark": benchmark,
        }.items()
        if value is not None
    } | dict(map(parse_setting, settings))  # fmt: skip
    run = plan_trial(find_root(), model, given, limit, name)
    if show_forecast(run).calls:
        api_key(run.settings)  # a missing one is better known before the question
        if not yes:
            typer.confirm("Start?", abort=True)
    typer.echo(f"run     {save_trial(run).relative_to(run.root)}")
    if not ask(run):
        raise typer.Exit(1)
    label(run)
    result = analyse_run(run.root, run.name)
    show([result])
    folder = write_report(run.root, result)
    typer.echo(f"report  {(folder / 'report.html').relative_to(run.root)}")


def ask(run: "Run") -> bool:
    """Get the answers that are lacking; False if some case has none yet."""
    from seam_lib.cli.run_view import call, show_tally
    from seam_lib.core.run import load_cases
    from seam_lib.infer.plan import open_cases
    from seam_lib.infer.traces import read_traces

    show_tally(run, call(run, None))
    return not open_cases(run.settings, load_cases(run), read_traces(run.traces))


def label(run: "Run") -> None:
    """Score the answers, with the semantic tier that params.yaml names."""
    from seam_lib.core.params import load_params
    from seam_lib.score.nli import open_engine
    from seam_lib.score.scorer import score_files

    engine = open_engine(load_params(run.root).score.nli, run.root)
    score_files(run.root, run.benchmark, run.outputs, run.labels, engine)


def parse_setting(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE, the value as YAML: null, 0.5, [a, b], {c: d}."""
    import yaml

    from seam_lib.core.errors import SeamError

    key, equals, value = text.partition("=")
    if not equals:
        raise SeamError(f"--set {text}: write KEY=VALUE, such as --set temperature=null.")
    try:
        return key, yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise SeamError(f"--set {text}: the value is not YAML: {error}") from None
