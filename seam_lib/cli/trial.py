"""The command that goes from a model's name to its report."""

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from seam_lib.core.run import Run
    from seam_lib.infer.plan import Forecast
    from seam_lib.infer.runner import Watch


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
    from seam_lib.core.params import find_root
    from seam_lib.trial import try_model

    given = {
        key: value
        for key, value in {
            "provider": provider, "base_url": base_url, "key_env": key_env, "max_usd": max_usd,
            "price_in": price_in, "price_out": price_out, "benchmark": benchmark,
        }.items()
        if value is not None
    } | dict(map(parse_setting, settings))  # fmt: skip
    tried = try_model(
        find_root(), model, given, limit=limit, name=name, watch=Screen(),
        confirm=lambda: yes or typer.confirm("Start?", abort=True),
    )  # fmt: skip
    if tried.result is None or tried.report is None:
        raise typer.Exit(1)
    show([tried.result])
    typer.echo(f"report  {(tried.report / 'report.html').relative_to(tried.run.root)}")


class Screen:
    """Shows a trial's steps; a `seam_lib.trial.Watcher`."""

    def planned(self, run: "Run", plan: "Forecast") -> None:
        """Show what it will take."""
        from seam_lib.cli.run_view import show_forecast

        show_forecast(run, plan)

    def asking(self, run: "Run", plan: "Forecast") -> "AbstractContextManager[Watch]":
        """Show where its settings are, and a progress bar."""
        from seam_lib.cli.run_view import watching

        typer.echo(f"run     {run.home}")
        return watching(run, plan.calls)

    def asked(self, run: "Run", stopped: str | None) -> None:
        """Show what became of every case."""
        from seam_lib.cli.run_view import show_tally

        show_tally(run, stopped)


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
