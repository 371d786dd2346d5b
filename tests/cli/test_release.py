"""The release's files: fetched from a server or a clone, compared, exported."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from seam_lib.analysis.labels import LabelSet
from seam_lib.analysis.questions import levers
from seam_lib.build import fetch
from seam_lib.build.release import BENCHMARK, COMMIT
from seam_lib.core.errors import SeamError
from seam_lib.core.params import load_params
from tests.helpers.panel import cluster_ids, detector, names, panel, release, write_labels_folder
from tests.helpers.project import ROOT, change_params, seam
from tests.helpers.release_like import (
    FILES,
    labels_of_ours,
    release_project,
    write_files,
    write_labels_csv,
)
from tests.helpers.server import Handler, listening

__all__ = ["cluster_ids", "detector", "names", "panel", "release"]

RAW = f"/raw/{COMMIT}/"


@pytest.fixture(scope="module")
def small() -> LabelSet:
    return labels_of_ours()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, small: LabelSet) -> Path:
    """A clone of a repository like the release's: our texts, and labels of them."""
    folder = tmp_path_factory.mktemp("clone")
    write_files(folder)
    write_labels_folder(folder / "results" / "labels", small)
    (folder / "results" / "statistics.json").write_text("{}")
    (folder / "code").mkdir()
    (folder / "code" / "score.py").write_text("raise SystemExit")
    return folder


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, small: LabelSet) -> Path:
    """A project in whose eyes that repository is the release."""
    root = release_project(tmp_path_factory.mktemp("published") / "project")
    change_params(root, lambda params: params["analysis"].update(bootstrap_draws=100))
    folder = root / "data" / "published"
    shutil.copy(ROOT / "data" / "published" / "panel.csv", folder)
    (folder / "adjudications.csv").write_text("model,cluster_id,condition,reason,applied_in\n")
    write_labels_csv(folder / "labels.csv", small)
    found = levers(small, load_params(root).analysis).round(2)
    found = found.rename(columns={"low": "ci_low", "high": "ci_high"})
    found.to_csv(folder / "levers.csv", index=False)
    return root


@pytest.fixture
def project(tmp_path: Path, published: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "project"))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (fetch.get, fetch.resume):
        monkeypatch.setattr(function.retry, "sleep", lambda seconds: None)


Twist = Callable[[Handler, str, bytes], bool]


def server(clone: Path, asked: Counter[str], twist: Twist = lambda *_: False) -> type[Handler]:
    """The repository's list and its files; `twist` may answer a request for a file instead."""
    files = {
        p.relative_to(clone).as_posix(): p.read_bytes() for p in clone.rglob("*") if p.is_file()
    }
    blobs = [
        {"path": path, "mode": "100644", "type": "blob", "size": len(data), "url": "x",
         "sha": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
        for path, data in files.items()
    ]  # fmt: skip
    tree = [{"path": "benchmark", "mode": "040000", "type": "tree", "sha": "x", "url": "x"}, *blobs]
    listing = json.dumps({"sha": COMMIT, "tree": tree, "truncated": False}).encode()

    class Repository(Handler):
        def do_GET(self) -> None:  # noqa: N802
            asked[self.path] += 1
            path = self.path.removeprefix(RAW)
            if self.path == f"/trees/{COMMIT}?recursive=1":
                self.send(listing)
            elif path not in files:
                self.send(b"404: Not Found", 404)
            elif not twist(self, path, files[path]):
                self.send(files[path])

    return Repository


def ask(root: Path, address: str) -> None:
    """Point a project's settings at a server."""
    where = {"address": f"{address}/raw", "listing": f"{address}/trees"}
    change_params(root, lambda params: params.update(release=where))


def held(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "code" not in path.parts
    }


# Fetching


def test_the_release_is_fetched_imported_and_compared(clone: Path, project: Path) -> None:
    asked: Counter[str] = Counter()
    with listening(server(clone, asked)) as address:
        ask(project, address)
        result = seam("release", "fetch", cwd=project)
        again = seam("release", "fetch", cwd=project)
    assert result.exit_code == 0, result.output
    assert held(project / "data" / "release") == held(clone)
    assert not any("code" in path for path in asked)
    text = " ".join(result.output.split())
    assert "under CC BY-NC-SA 4.0; what you pass on keeps these terms." in text
    assert "576 cases imported to data/benchmark/release, 0 differences." in text
    for row, count in (
        ("messages, by digest", "480 of 480"),
        ("labels", "9,567 of 9,567"),
        ("levers, with intervals", "20 of 20"),
    ):
        (line,) = [line for line in result.output.splitlines() if f"│ {row} " in line]
        assert line.rstrip("│ ").endswith(f"│ {count}"), line
    assert again.exit_code == 0 and "was there already and is left as it is" in again.output
    assert {count for path, count in asked.items() if path.startswith(RAW)} == {1}, "asked once"


def test_a_clone_will_do(clone: Path, project: Path) -> None:
    result = seam("release", "fetch", "--from", str(clone), cwd=project)
    assert result.exit_code == 0, result.output
    assert held(project / "data" / "release") == held(clone)


def test_what_was_fetched_is_exported_as_it_was(clone: Path, project: Path, tmp_path: Path) -> None:
    seam("release", "fetch", "--from", str(clone), cwd=project)
    result = seam("release", "export", "release", str(tmp_path / "out"), cwd=project)
    assert result.exit_code == 0 and len(result.output.splitlines()) == 3
    for name in FILES:
        theirs, ours = ((side / name).read_text("utf-8") for side in (clone, tmp_path / "out"))
        assert [json.loads(line) for line in theirs.splitlines()] == [
            json.loads(line) for line in ours.splitlines()
        ]


def test_a_download_is_resumed_where_it_ended(clone: Path, project: Path) -> None:
    ranges: list[str | None] = []
    big = BENCHMARK["permissive"]

    def drop(handler: Handler, path: str, data: bytes) -> bool:
        if path != big:
            return False
        ranges.append(handler.headers.get("Range"))
        if len(ranges) > 2:
            return False
        start = int((ranges[-1] or "bytes=0-")[6:-1])
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start : start + 100_000])
        return True

    with listening(server(clone, Counter(), drop)) as address:
        ask(project, address)
        result = seam("release", "fetch", cwd=project)
    assert result.exit_code == 0, result.output
    assert ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert held(project / "data" / "release") == held(clone)


def test_a_server_that_knows_no_ranges_sends_everything_anew(clone: Path, project: Path) -> None:
    big = project / "data" / "release" / f"{BENCHMARK['permissive']}.part"
    big.parent.mkdir(parents=True)
    big.write_bytes(b"what an earlier start left")

    def whole(handler: Handler, path: str, data: bytes) -> bool:
        del handler.headers["Range"]
        return False

    with listening(server(clone, Counter(), whole)) as address:
        ask(project, address)
        result = seam("release", "fetch", cwd=project)
    assert result.exit_code == 0, result.output
    assert held(project / "data" / "release") == held(clone)


def test_a_busy_server_is_asked_again(clone: Path, project: Path) -> None:
    statuses = [503, 429]

    def busy(handler: Handler, path: str, data: bytes) -> bool:
        if statuses:
            handler.send(b"", statuses.pop())
            return True
        return False

    with listening(server(clone, Counter(), busy)) as address:
        ask(project, address)
        assert seam("release", "fetch", cwd=project).exit_code == 0
    assert statuses == []


def changed(data: bytes) -> bytes:
    return data.replace(b"1", b"2", 1)


@pytest.mark.parametrize("change", [changed, lambda data: data + b"\n", lambda data: data[:-1]])
def test_a_file_that_is_not_the_listed_one_is_not_kept(
    clone: Path, project: Path, change: Callable[[bytes], bytes]
) -> None:
    name = BENCHMARK["cc-by-sa"]

    def other(handler: Handler, path: str, data: bytes) -> bool:
        if path == name:
            handler.send(change(data))
        return path == name

    with listening(server(clone, Counter(), other)) as address:
        ask(project, address)
        result = seam("release", "fetch", cwd=project)
    assert isinstance(result.exception, SeamError)
    assert name in str(result.exception) and "seam release fetch --from" in str(result.exception)
    assert not (project / "data" / "release" / name).exists()
    assert not (project / "data" / "benchmark" / "release").exists()


@pytest.mark.parametrize("status", [403, 404])
def test_a_refusal_is_told_at_once(clone: Path, project: Path, status: int) -> None:
    asked: Counter[str] = Counter()

    def refuse(handler: Handler, path: str, data: bytes) -> bool:
        handler.send(b"no", status)
        return True

    with listening(server(clone, asked, refuse)) as address:
        ask(project, address)
        result = seam("release", "fetch", cwd=project)
    assert f"{status}" in str(result.exception) and "git" in str(result.exception)
    assert max(asked.values()) == 1


def test_without_a_network_one_sentence_names_the_way(project: Path) -> None:
    ask(project, "http://127.0.0.1:9")
    result = seam("release", "fetch", cwd=project)
    assert isinstance(result.exception, SeamError)
    assert "the release cannot be read (ConnectError" in str(result.exception)
    assert str(result.exception).endswith("and run `seam release fetch --from FOLDER`.")
    assert not (project / "data" / "release").exists()


@pytest.mark.parametrize("body", [b"<html>", b'{"message": "Not Found"}', b'{"tree": []}'])
def test_a_list_that_is_none_is_told(project: Path, body: bytes) -> None:
    class Other(Handler):
        def do_GET(self) -> None:  # noqa: N802
            self.send(body)

    with listening(Other) as address:
        ask(project, address)
        result = seam("release", "fetch", cwd=project)
    assert isinstance(result.exception, SeamError)
    assert not (project / "data" / "release").exists()


def test_a_folder_that_is_no_clone_is_named(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other" / "results").mkdir(parents=True)
    result = seam("release", "fetch", "--from", str(tmp_path / "other"), cwd=project)
    assert "has no benchmark/seam_v4_permissive.jsonl, " in str(result.exception)
    assert not (project / "data" / "release").exists()


def test_a_clone_of_another_commit_is_not_imported(
    clone: Path, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(clone, other)
    path = other / BENCHMARK["cc-by-nc-sa"]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[1]["message"] += " "
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (other / "results" / "labels" / "dataset-qwen3-8b.cascade-full.jsonl").unlink()
    result = seam("release", "fetch", "--from", str(other), cwd=project)
    assert result.exit_code == 1
    assert f"{rows[1]['composition_event_id']} newline: the message's digest is" in result.output
    assert "1 differences from the release, so nothing was written." in result.output
    assert "9,183 of 9,567" in result.output and "levers" not in result.output
    assert not (project / "data" / "benchmark" / "release").exists()


def test_a_run_over_a_part_of_the_release_names_what_is_missing(clone: Path, project: Path) -> None:
    seam("release", "fetch", "--from", str(clone), cwd=project)
    (project / "data/benchmark/release/cc-by-nc-sa.jsonl").unlink()
    run = {"benchmark": "release", "provider": "openai", "model": "m"}
    change_params(project, lambda params: params.update(runs={"part": run}))
    result = seam("infer", "part", "--dry-run", cwd=project)
    assert result.exit_code == 0, result.output
    assert "of the paper's benchmark, release lacks all of pararev" in result.output


# Labels


def test_a_folder_of_the_published_labels(release: Path) -> None:
    result = seam("release", "labels", str(release), cwd=ROOT)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[-1] == "29,899 of 29,899 labels are the published ones."
    assert "left out, no panel model's labels: m1-m2-panel-gpt.cascade-full.jsonl" in lines


def test_a_folder_in_which_a_label_differs(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    shutil.copytree(release, folder)
    path = folder / "dataset-olmo2-32b.cascade-full.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(rest), encoding="utf-8")
    row = json.loads(first)
    said = row["tier"] or "not absorbed"
    result = seam("release", "labels", str(folder), cwd=ROOT)
    assert result.exit_code == 1
    place = f"olmo2-32b {row['composition_event_id']} {row['condition']}"
    assert f"{place}: none; published: {said}" in result.output.splitlines()
    assert "29,898 of 29,899 labels are the published ones." in result.output
