"""The README and the pages of docs/: every command runs, every number follows, every link leads.

A page is followed from top to bottom in a copy of the project, as its reader would: `yaml` blocks
go into params.yaml, the `python` block becomes a condition, and the lines of `sh` blocks are run.
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import standin
import yaml
from scored import change_params
from scratch import ROOT
from typer.testing import CliRunner

from seam_lib.cli import app
from seam_lib.cli.run_view import timespan
from seam_lib.core import rows as row_types
from seam_lib.core.params import RunParams
from seam_lib.core.run import Run
from seam_lib.infer.plan import forecast
from seam_lib.infer.prompts import load_prompts
from seam_lib.verify import copy_tracked

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: Commands that are not run as they stand: a pattern, what runs instead, and why.
INSTEAD = [
    (r"make (\w+)", r"make -n \1", "minutes and downloads; its recipe is the other tests' subject"),
    (r"source \.venv/bin/activate", "true", "the tests run in such an environment"),
    (r"dvc repro", "dvc repro --dry", "executes every stage: test_verify.py does"),
    (r"seam verify", "seam verify --help", "executes every stage: test_verify.py does"),
    (r"dvc repro report@(\S+)", r"seam infer \1; seam score \1", "executes four notebooks"),
    (r"vllm serve .*", "true", "needs vLLM; the stand-in answers in its place"),
    (r"vllm run-batch .*", "answer-batch", "needs vLLM; the stand-in answers in its place"),
    (r"inspect eval .*", "inspect eval --help", "test_inspect_task.py does, at a local server"),
    (r"pip install .*", "pip install --help", "downloads"),
    (r"(seam score .*) --nli \S+", r"\1 --nli off", "the weights come from the hub"),
    (r"seam build --check-digests", "seam build --help", "needs the hub: test_hub.py has one"),
    (r"seam import-benchmark .*", "seam import-benchmark --help", "needs the release's files"),
    (r"seam wild audit .*", "seam wild audit --help", "needs two people: test_wild_audit.py has"),
    (r"(seam try embedded.*)", r"\1 --yes --provider openai --base-url URL", "minutes"),
    (r"(seam try .*) --base-url \S+(.*)", r"\1\2 --yes --base-url URL", "needs the network"),
    (r"(seam try .*)", r"\1 --yes --base-url URL", "needs the network"),
]


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page, as (language, text)."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def commands(text: str) -> list[str]:
    """The commands of a `sh` block, one a line."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def instead(command: str) -> str:
    """What the test runs for a command."""
    for pattern, other, _ in INSTEAD:
        if match := re.fullmatch(pattern, command):
            return match.expand(other)
    return command


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with standin.serving() as url:
        yield url


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_reader_gets_through(
    page: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    copy_tracked(ROOT, project)
    monkeypatch.chdir(project)
    prepare(project)
    for language, text in blocks(page):
        if language == "yaml":
            put_into_params(project, yaml.safe_load(text), server)
        elif language == "python":
            (project / "data" / "conditions" / "rule.py").write_text(text, encoding="utf-8")
        elif language != "text":  # a message, to be read
            assert language == "sh", f"{page.name}: what is a reader to do with {language}?"
            for command in commands(text):
                follow(command, server, monkeypatch)


def prepare(project: Path) -> None:
    """Give the copy fewer draws, which only take longer."""
    change_params(project, lambda params: params["analysis"].update(bootstrap_draws=200))


def put_into_params(project: Path, given: dict[str, Any], server: str) -> None:
    """Set what a `yaml` block says; but builds read files and are small, and runs ask `server`."""

    def change(params: dict[str, Any]) -> None:
        for section, values in given.items():
            params[section] |= values
        params["build"] |= {"source": "files", "per_source": 2}
        for run in given.get("runs", {}).values():
            run["base_url"] = server

    change_params(project, change)


def follow(command: str, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run one command, or what stands in for it; it must succeed."""
    if match := re.fullmatch(r"export (\w+)=\.\.\.", command):
        monkeypatch.setenv(match[1], "a-key")
        return
    for part in instead(command).split("; "):
        words = shlex.split(part)
        if words == ["answer-batch"]:
            calls = Path("batch.jsonl").read_text(encoding="utf-8")
            Path("results.jsonl").write_text(standin.batch(calls), encoding="utf-8")
        elif words[0] == "seam":
            seam(words[1:], server)
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            ran = subprocess.run(words, env=os.environ | {"PATH": path}, capture_output=True)
            assert ran.returncode == 0, f"{command}\n{ran.stdout!r}\n{ran.stderr!r}"


def seam(words: list[str], server: str) -> None:
    """Run a `seam` command in this process."""
    url = server.removesuffix("/v1") if "anthropic" in words else server
    words = [url if word == "URL" else word for word in words]
    if words[0] == "try" and "--limit" not in words:
        words += ["--limit", "12"]  # the whole benchmark only takes longer
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, f"{words}\n{done.output}\n{done.exception!r}"


def test_every_stand_in_is_needed() -> None:
    everything = [
        c for p in PAGES for language, t in blocks(p) if language == "sh" for c in commands(t)
    ]
    used = [next((p for p, _, _ in INSTEAD if re.fullmatch(p, c)), None) for c in everything]
    assert {pattern for pattern, _, _ in INSTEAD} <= set(used)
    assert all(reason for _, _, reason in INSTEAD)


# --- Numbers --------------------------------------------------------------------------------------


def test_the_claims_in_the_readme_are_the_ledgers() -> None:
    with (ROOT / "paper" / "claims.csv").open(newline="", encoding="utf-8") as handle:
        claims = list(csv.DictReader(handle))
    count = Counter(claim["status"] for claim in claims)
    text = " ".join(README.split())
    assert (
        f"Of {len(claims)} quantitative statements, {count['reproduced']} follow from the public "
        f"labels as printed and {count['differs']} differ; {count['consistent']} agree with "
        f"printed totals, and {count['not_public']} need data that are not public."
    ) in text
    named = text.split("are not public. ")[1].split("; `paper/claims.md`")[0]
    assert set(re.findall(r"`(.+?)`", named)) == {
        c["id"] for c in claims if c["status"] == "differs"
    }


def test_the_figures_caption_follows_from_the_labels() -> None:
    statistics = json.loads((ROOT / "paper" / "statistics.json").read_text(encoding="utf-8"))
    newline = [100 * r["rate"] for r in statistics["rates"] if r["condition"] == "newline"]
    text = " ".join(README.split())
    assert f"Each line is one of the paper's {len(newline)} models." in text
    assert f"absorbed in {min(newline):.1f}% to {max(newline):.1f}% of the clusters" in text
    clusters = (ROOT / "data" / "published" / "clusters.csv").read_text(encoding="utf-8")
    assert f"happens: {len(clusters.splitlines()) - 1} clusters" in text

    def better(a: str, b: str) -> int:
        rows = (
            r for r in statistics["contrasts"] if (r["condition_a"], r["condition_b"]) == (a, b)
        )
        return sum(r["difference"] > 0 and r["p_holm"] < 0.05 for r in rows)

    assert better("newline", "blank") == 0 and "A blank line does not help." in text
    assert better("newline", "boundary") == len(newline) - 1


def test_the_size_of_a_run_is_the_benchmarks() -> None:
    settings = RunParams(
        benchmark="embedded", provider="openai", model="any", price_in=1.0, price_out=5.0
    )
    plan = forecast(settings, load_prompts(Run("any", settings, ROOT)), [])
    speed = f"{plan.speed:.0f} tokens per second and {settings.concurrency} calls at once"
    for what, value in {
        "calls": f"{plan.calls}",
        "tokens in": f"about {plan.input_tokens // 1000},000",
        "tokens out, without hidden reasoning": f"about {plan.output_tokens // 1000},000",
        "cost at 1 US dollar per million tokens in and 5 out": f"about ${plan.usd:.2f}",
        f"time at {speed}": f"about {timespan(plan.seconds)}",
    }.items():
        assert f"| {what} | {value} |" in README


def test_the_embedded_packages_are_those_of_the_extra() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    recipe = (
        (ROOT / "Makefile").read_text(encoding="utf-8").split("\nembedded:")[1].split("\n\n")[0]
    )
    pins = re.findall(r"[\w-]+==[\w.]+", recipe)
    assert len(pins) == 2 and all(f'"{pin}"' in project for pin in pins)


# --- Words and links ------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ["Case", "Trace", "Output", "Label"])
def test_every_field_of_a_row_is_explained(row: str) -> None:
    text = (ROOT / "docs" / "rows.md").read_text(encoding="utf-8")
    section = next(part for part in text.split("\n## ") if part.startswith(f"{row}:"))
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(f.name for f in msgspec.structs.fields(getattr(row_types, row)))


def test_the_readme_draws_every_stage() -> None:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    drawing = next(t for _, t in blocks(ROOT / "README.md") if "infer@RUN" in t)
    names = {f"{name}@RUN" if "foreach" in stage else name for name, stage in stages.items()}
    assert names <= set(drawing.split())


def test_the_design_shows_the_floors_as_they_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    plan = next(t for language, t in blocks(ROOT / "docs" / "design.md") if language == "text")
    floors = [re.split(r"\s{2,}", line)[0].split(", ") for line in plan.splitlines()]
    assert floors == [layer.split(" | ") for layer in contract["layers"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target
    for path in re.findall(r"`([\w./-]+/[\w.-]+\.\w+)`", page.read_text(encoding="utf-8")):
        if not re.search(r"NAME|RUN", path):
            assert (ROOT / path).exists(), path
