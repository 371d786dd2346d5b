"""The README and the pages of docs/: every command runs, every number follows, every link leads.

A page is followed from top to bottom in a copy of the project, as its reader would: `yaml` blocks
go into params.yaml, the `python` block becomes a condition, and the lines of `sh` blocks are run,
but for those in `LEFT_OUT`. What differs from a reader's machine:

- The fake server stands at every model's address, at OpenAI's and Anthropic's own, and in place of
  the embedded model: only the README's own first command asks the real one, for fewer cases.
- `vllm run-batch` is the fake server's. In the place of the semantic tier's weights, a folder of
  their name holds a tiny model. Builds from the hub read our own corpora.
- The files that a page takes for granted are there: the release's cases, two annotators' answers.
"""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from seam_lib.cli.run_view import timespan
from seam_lib.core import rows as row_types
from seam_lib.core.params import RunParams, load_params
from seam_lib.core.run import Run
from seam_lib.infer.plan import forecast
from seam_lib.infer.prompts import load_prompts
from seam_lib.infer.providers import anthropic, llamacpp, openai
from seam_lib.verify import copy_tracked
from tests.helpers.deberta import save_tiny_deberta
from tests.helpers.panel import write_labels_folder
from tests.helpers.project import ROOT, change_params, environment, seam
from tests.helpers.release_like import (
    labels_of_ours,
    write_files,
    write_labels_csv,
    write_published,
)
from tests.helpers.server import Server, first_cut_off, run_batch, serving, stand_in

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: Commands that are not run, and why.
LEFT_OUT = {
    "make repro": "minutes; .ci/run verifies, which executes every stage",
    "make test": "it is what runs here",
    "make embedded": "downloads; its pins are compared below",
    "make lab": "waits for a person",
    "make notebooks": "minutes; nbval runs every notebook",
    "source .venv/bin/activate": "the tests run in such an environment",
    "dvc repro": "minutes; .ci/run verifies, which executes every stage",
    "dvc repro report@qwen3-8b-batch": "the stage of report@qwen3-8b, over imported answers",
    "seam release fetch": "needs the network: tests/cli/test_release.py fetches from a server",
    "seam verify": "minutes; .ci/run does, and test_verify.py tests it",
    "seam build --check-digests": "needs the hub: tests/build has one",
    "vllm serve Qwen/Qwen3-8B --port 8000 --reasoning-parser qwen3": "needs vLLM: a fake is there",
    "pip install -e '.[inspect]'": "downloads",
    "pip install -e '.[nli]'": "downloads",
}
#: The first command that asks a model, and what is run of it: 24 whole answers take minutes.
EMBEDDED = ("seam try embedded --limit 24", "seam try embedded --limit 6 --set max_tokens=40")


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page, as (language, text)."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def commands(text: str) -> list[str]:
    """The commands of a `sh` block, one a line."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The fake server, at the addresses that a run has by default."""
    with serving(first_cut_off, stand_in) as fake:
        monkeypatch.setattr(openai, "DEFAULT_URL", f"{fake.url}/v1")
        monkeypatch.setattr(anthropic, "DEFAULT_URL", fake.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")  # for Inspect
        monkeypatch.setattr(llamacpp, "connect", openai.connect)
        yield fake


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_reader_gets_through(
    page: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    copy_tracked(ROOT, project)
    monkeypatch.chdir(project)
    for language, text in blocks(page):
        here = re.sub(r"https?://\S+/v1\b", f"{server.url}/v1", text)
        if language == "yaml":
            put_into_params(project, yaml.safe_load(here))
        elif language == "python":
            (project / "data" / "conditions" / "rule.py").write_text(text, encoding="utf-8")
        elif language != "text":  # to be read
            assert language == "sh", f"{page.name}: what is a reader to do with {language}?"
            for command in commands(here):
                if command not in LEFT_OUT:
                    follow(command, monkeypatch)


def put_into_params(project: Path, given: dict[str, Any]) -> None:
    """Set what a `yaml` block says; but builds read files."""

    def change(params: dict[str, Any]) -> None:
        for section, values in given.items():
            params[section] |= values
        if params["build"]["source"] == "hub":
            params["build"] |= {"source": "files"}
            write_published(project)

    change_params(project, change)
    load_params(project)


def follow(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run one command; it must succeed."""
    words = shlex.split(command)
    prepare(words)
    if match := re.fullmatch(r"export (\w+)=\.\.\.", command):
        monkeypatch.setenv(match[1], "a-key")
    elif words[:2] == ["vllm", "run-batch"]:
        run_batch(Path(words[3]), Path(words[5]), stand_in)
    elif words[0] == "seam":
        done = seam(
            *words[1:],
            answer="y\n",
            cwd=released() if {"release", "import-benchmark"} & {*words} else None,
        )
        assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception!r}"
    else:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(words, env=environment(PATH=path), capture_output=True, text=True)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"


def prepare(words: list[str]) -> None:
    """Write the files that a command takes for granted."""
    if "audit" in words:
        head, *rows = Path("data/wild/synthetic/sample.csv").read_text().splitlines()
        for path, who in zip(words[-2:], ("A1", "A2"), strict=True):
            lines = [f"{head},annotator,genuine_paste,artifact_first"]
            lines += [f"{row},{who},true,true" for row in rows]
            Path(path).write_text("\n".join(lines) + "\n")
    if "--nli" in words:
        pytest.importorskip("torch", reason="needs the extra `nli`")
        save_tiny_deberta(Path(words[-1]))


def released() -> Path:
    """A copy of the project to which our own 96 clusters are the release, fetched and imported."""
    root = Path.cwd().parent / "released"
    if not root.exists():
        labels = labels_of_ours()
        copy_tracked(ROOT, root)
        write_published(root)
        write_labels_csv(root / "data/published/labels.csv", labels)
        write_labels_folder(root / "results/labels", labels)
        files = write_files(root / "clone")
        shutil.copy(files[0], root / "cases.jsonl")
        done = seam("import-benchmark", *files, "--name", "release", cwd=root)
        assert done.exit_code == 0, done.output
    return root


@pytest.mark.skipif(
    find_spec(llamacpp.WEIGHTS) is None or find_spec("xllamacpp") is None,
    reason="the packages of the embedded model are not installed (make test installs them)",
)
def test_the_embedded_model_is_tried_as_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, shorter = EMBEDDED
    assert written in README
    copy_tracked(ROOT, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    follow(shorter, monkeypatch)


def test_what_is_left_out_is_written_somewhere() -> None:
    written = {
        c for p in PAGES for language, t in blocks(p) if language == "sh" for c in commands(t)
    }
    assert LEFT_OUT.keys() <= written
    for target in (c.split()[1] for c in LEFT_OUT if c.startswith("make ")):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


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
    assert f"They are {len(clusters.splitlines()) - 1} clusters" in text

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
        if not re.search(r"NAME|RUN|KEY|^benchmark/|^results/", path):  # of the release
            assert (ROOT / path).exists(), path
