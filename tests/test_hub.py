import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from minihub import Handler, api, hub, parquet, serving
from scratch import ROOT, scratch_project

from seam_lib.build.clusters import build_benchmark
from seam_lib.build.sources import ADAPTERS, stackexchange_api
from seam_lib.build.sources.hub import checked, hub_file, remedy, upstream
from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.errors import SeamError
from seam_lib.core.params import load_params
from seam_lib.core.rows import SOURCES

ROWS = {name: (ROOT / "data" / "sources" / f"{name}.jsonl").read_bytes() for name in SOURCES}
POSTS = [json.loads(line) for line in ROWS["stackexchange"].splitlines()]
#: What each dataset's repository holds: JSON Lines, parquet, a configuration, a script to pass by.
DATASETS = {
    "nuprl/CanItEdit": {"data/test-00000-of-00001.parquet": parquet(ROWS["canitedit"])},
    "grammarly/coedit": {"train.jsonl": ROWS["coedit"]},
    "bigcode/commitpackft": {
        "commitpackft.py": b"raise SystemExit",
        "data/python/data.jsonl": ROWS["commitpackft"],
    },
    "wanyu/IteraTeR_human_doc": {"train.json": ROWS["iterater"]},
    "taln-ls2n/pararev": {
        "README.md": (
            b"---\nconfigs:\n- config_name: pararev_full\n  data_files: full.jsonl\n"
            b"- config_name: pararev_annot_subset\n  data_files:\n  - split: train\n"
            b"    path: annot.jsonl\n---\n"
        ),
        "full.jsonl": b'{"id_paragraph": "x"}\n',
        "annot.jsonl": ROWS["pararev"],
    },
}


def seam_build(root: Path, hub_address: str, api_address: str) -> subprocess.CompletedProcess[str]:
    """Run `seam build` with the hub and the API at local addresses."""
    program = (
        "from seam_lib.build.sources import stackexchange_api\n"
        f"stackexchange_api.API = {api_address!r}\n"
        "import sys; from seam_lib.cli import main; sys.argv = ['seam', 'build']; main()"
    )
    environment = os.environ | {"HF_ENDPOINT": hub_address, "HF_HOME": str(root / "cache")}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def page(path: str, query: dict[str, str]) -> tuple[int, bytes]:
    """The API's answer to a search over our own posts."""
    assert path == "/search/advanced" and query["q"] == "refactor this code"
    assert (query["site"], query["filter"], query["sort"]) == (
        "stackoverflow",
        "withbody",
        "relevance",
    )
    start, size = (int(query["page"]) - 1) * 20, 20  # smaller pages than we ask for
    more = start + size < len(POSTS)
    body = {"items": POSTS[start : start + size], "has_more": more, "quota_remaining": 290}
    return 200, json.dumps(body).encode()


def test_a_hub_build_is_a_files_build_with_addresses(tmp_path: Path) -> None:
    root = scratch_project(tmp_path / "hub", source="hub", per_source=6)
    with serving(hub(DATASETS)) as hub_address, serving(api(page)) as api_address:
        result = seam_build(root, hub_address, api_address)
    assert result.returncode == 0, result.stderr
    cases = read_benchmark(root / "data" / "benchmark" / "embedded")
    assert {case.source: (case.url or "")[:25] for case in cases} == {
        "canitedit": "https://huggingface.co/da",
        "coedit": "https://huggingface.co/da",
        "commitpackft": "https://github.com/exampl",
        "iterater": "https://huggingface.co/da",
        "pararev": "https://huggingface.co/da",
        "stackexchange": "https://stackoverflow.com",
    }
    plain = scratch_project(tmp_path / "files", per_source=6)
    from_files = read_benchmark(build_benchmark(plain, load_params(plain).build))
    assert [msgspec.structs.replace(case, url=None) for case in cases] == from_files

    # Everything was kept: without any server, the same bytes again.
    before = (root / "data" / "benchmark" / "embedded" / "permissive.jsonl").read_bytes()
    again = seam_build(root, "http://127.0.0.1:9", "http://127.0.0.1:9")
    assert again.returncode == 0, again.stderr
    after = (root / "data" / "benchmark" / "embedded" / "permissive.jsonl").read_bytes()
    assert before == after


def test_without_a_network_one_sentence_names_the_switch(tmp_path: Path) -> None:
    root = scratch_project(tmp_path, source="hub")
    result = seam_build(root, "http://127.0.0.1:9", "http://127.0.0.1:9")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and result.stdout == ""
    assert result.stderr.startswith("seam: nuprl/CanItEdit: cannot be read (ConnectError: ")
    assert "set build.source to files in params.yaml" in result.stderr
    assert not (root / "data" / "benchmark").exists()
    assert list((root / "data" / "hub").iterdir()) == []


def test_a_dataset_that_is_gone_is_named(tmp_path: Path) -> None:
    root = scratch_project(tmp_path, source="hub")
    with serving(hub({})) as address:
        result = seam_build(root, address, address)
    assert result.returncode == 2
    assert "seam: nuprl/CanItEdit: cannot be read (DatasetNotFoundError" in result.stderr


#: What each dataset may have become, and the words for it.
MOVED: dict[str, tuple[dict[str, bytes], tuple[str, ...]]] = {
    "canitedit": (
        {"data/train-00000-of-00001.parquet": parquet(ROWS["canitedit"])},
        ("Bad split: test. Available splits: ['train']", "`canitedit: COMMIT` under build.revisi"),
    ),
    "coedit": ({}, ("gated dataset", "Its terms must be accepted", "set HF_TOKEN")),
    "commitpackft": (
        {"README.md": b"x", "data/py/data.jsonl": ROWS["commitpackft"]},
        ("data/python/data.jsonl", "It has the files data/py/data.jsonl.", "`commitpackft: COM"),
    ),
    "iterater": (
        {"README.md": b"x", "IteraTeR_human_doc.py": b"raise SystemExit"},
        ("found IteraTeR_human_doc.py", "No script is run", "`iterater: refs/convert/parquet`"),
    ),
    "pararev": (
        {
            "README.md": (
                b"---\nconfigs:\n- config_name: full\n  data_files: full.jsonl\n"
                b"- config_name: annotated\n  data_files: annot.jsonl\n---\n"
            ),
            "full.jsonl": b'{"id_paragraph": "x"}\n',
            "annot.jsonl": ROWS["pararev"],
        },
        ("Available: ['full', 'annotated']", "`pararev: COMMIT` under build.revisions"),
    ),
}


def gated(name: str, handler: type[Handler]) -> type[Handler]:
    """The same hub, where one dataset's terms must be accepted first."""

    class Gated(handler):  # type: ignore[misc,valid-type]
        def do_GET(self) -> None:  # noqa: N802
            if f"/{name}" in self.path:
                return self.send(b"{}", 403, X_Error_Code="GatedRepo")
            return super().do_GET()

        do_HEAD = do_POST = do_GET  # noqa: N815

    return Gated


def test_an_upstream_that_changed_is_told_from_a_missing_network(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from seam_lib.build.sources import ADAPTERS, hub\n"
        "from seam_lib.core.errors import SeamError\n"
        f"for name in {list(MOVED)}:\n"
        "    try: hub.hub_file(Path(sys.argv[1]), ADAPTERS[name], 40, None, [])\n"
        "    except SeamError as error: print(name, error)\n"
    )
    files = {ADAPTERS[name].dataset: held for name, (held, _) in MOVED.items()}
    with serving(gated("grammarly/coedit", hub(files))) as address:
        environment = os.environ | {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "cache")}
        result = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "hub")],
            env=environment | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
        )
    lines = dict(line.split(" ", 1) for line in result.stdout.splitlines())
    assert lines.keys() == MOVED.keys(), result.stderr
    for name, (_, words) in MOVED.items():
        assert lines[name].startswith(f"{ADAPTERS[name].dataset}: cannot be read (")
        assert all(word in lines[name] for word in words), lines[name]
        assert "network" not in lines[name]
    assert list((tmp_path / "hub").iterdir()) == []


class RefusedError(Exception):
    """What a client raises of an HTTP answer."""

    def __init__(self, status: int) -> None:
        super().__init__(f"{status} Client Error")
        self.response = httpx.Response(status)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_behind_another_error_names_the_terms(status: int) -> None:
    error = FileNotFoundError("no such file")
    error.__cause__ = RefusedError(status)
    assert remedy(error, ADAPTERS["pararev"]).startswith("Its terms must be accepted: open https:")


@pytest.mark.parametrize("error", [ConnectionError("reset"), httpx.ConnectTimeout("slow")])
def test_a_network_error_behind_another_names_the_network(error: Exception) -> None:
    outer = FileNotFoundError("no such file")
    outer.__context__ = error
    assert remedy(outer, ADAPTERS["pararev"]).startswith("Check the network")


def test_a_row_that_gives_no_item_is_kept_but_not_if_all_are_so() -> None:
    good = json.loads(ROWS["coedit"].splitlines()[0])
    bad = {"source" if key == "src" else key: value for key, value in good.items()}
    assert list(checked([bad, good | {"note": 1}], ADAPTERS["coedit"])) == [
        {key: good[key] for key in ("_id", "task", "tgt")},
        {key: good[key] for key in ("_id", "task", "src", "tgt")},
    ]
    with pytest.raises(SeamError) as caught:
        list(checked([bad, bad], ADAPTERS["coedit"]))
    message = str(caught.value)
    assert message.startswith(
        "grammarly/coedit: none of its 2 rows gives an item: Object missing required field `src`."
    )
    assert "have the columns _id, task, source, tgt" in message and "`coedit: COMMIT`" in message


def test_the_hubs_own_conversion_may_be_pinned(tmp_path: Path) -> None:
    (tmp_path / "coedit-refs-convert-parquet-8.jsonl").write_bytes(ROWS["coedit"])
    kept = hub_file(tmp_path, ADAPTERS["coedit"], 8, "refs/convert/parquet", [])
    assert kept.name == "coedit-refs-convert-parquet-8.jsonl"


def test_a_pinned_revision_is_asked_for_and_kept_apart(tmp_path: Path) -> None:
    loads = {name: source.load("abc123") for name, source in ADAPTERS.items() if source.load}
    commitpackft = loads.pop("commitpackft")
    assert {load["revision"] for load in loads.values()} == {"abc123"}
    assert "bigcode/commitpackft@abc123/" in commitpackft["data_files"]
    (tmp_path / "coedit-abc123-8.jsonl").write_bytes(ROWS["coedit"])
    kept = hub_file(tmp_path, ADAPTERS["coedit"], 8, "abc123", [])
    assert kept.name == "coedit-abc123-8.jsonl"


def test_how_many_rows_are_read() -> None:
    assert {name: source.rows(50) for name, source in ADAPTERS.items()} == {
        "canitedit": 200, "coedit": 400, "commitpackft": 600, "iterater": 400, "pararev": 400,
        "stackexchange": 400,
    }  # fmt: skip


# The Stack Exchange API


@pytest.fixture
def use_api(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[float]]:
    """Point the client at a local server; gives the list of its waits, which take no time."""

    def use(address: str) -> list[float]:
        waits: list[float] = []
        monkeypatch.setattr(stackexchange_api, "API", address)
        monkeypatch.setattr(
            "time.sleep", lambda seconds: waits.append(seconds) if seconds else None
        )
        monkeypatch.setattr(stackexchange_api.get.retry, "sleep", waits.append)
        return waits

    return use


def test_paging_ends_with_the_last_page(use_api: Any) -> None:
    with serving(api(page)) as address:
        assert use_api(address) == []
        assert list(stackexchange_api.search()) == POSTS


def test_no_page_is_fetched_beyond_what_is_wanted(use_api: Any, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(path: str, query: dict[str, str]) -> tuple[int, bytes]:
        asked.append(query["page"])
        return page(path, query)

    with serving(api(answer)) as address:
        use_api(address)
        path = hub_file(tmp_path, ADAPTERS["stackexchange"], 20, None, [])
    assert asked == ["1"] and len(path.read_bytes().splitlines()) == 20


def test_the_backoff_field_is_heeded(use_api: Any) -> None:
    def answer(path: str, query: dict[str, str]) -> tuple[int, bytes]:
        more = query["page"] == "1"
        body = {"items": [], "has_more": more} | ({"backoff": 7} if more else {})
        return 200, json.dumps(body).encode()

    with serving(api(answer)) as address:
        waits = use_api(address)
        assert list(stackexchange_api.search()) == []
    assert waits == [7]


def test_a_throttle_is_told_in_the_apis_words_and_not_retried(use_api: Any, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(path: str, query: dict[str, str]) -> tuple[int, bytes]:
        asked.append(path)
        words = "too many requests from this IP, more requests available in 72398 seconds"
        error = {"error_id": 502, "error_name": "throttle_violation", "error_message": words}
        return 400, json.dumps(error).encode()

    with serving(api(answer)) as address:
        use_api(address)
        with pytest.raises(SeamError, match=r"throttle_violation: .* 72398 seconds\. Wait"):
            hub_file(tmp_path, ADAPTERS["stackexchange"], 20, None, [])
    assert len(asked) == 1 and list(tmp_path.iterdir()) == []


def test_server_errors_are_tried_again(use_api: Any) -> None:
    statuses = [503, 500, 200]

    def answer(path: str, query: dict[str, str]) -> tuple[int, bytes]:
        status = statuses.pop(0)
        return status, b"<html>busy</html>" if status >= 500 else page(path, query)[1]

    with serving(api(answer)) as address:
        waits = use_api(address)
        first = next(stackexchange_api.search())
    assert first == POSTS[0] and waits == [0.5, 1] and statuses == []


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (503, b"", "HTTPStatusError"),
        (200, b"<html>", "DecodeError"),
        (200, b"[]", "ValidationError"),
    ],
)
def test_an_api_that_fails_for_good_is_named(
    use_api: Any, tmp_path: Path, status: int, body: bytes, message: str
) -> None:
    with serving(api(lambda path, query: (status, body))) as address:
        use_api(address)
        with pytest.raises(SeamError, match=rf"stackoverflow: cannot be read \({message}"):
            hub_file(tmp_path, ADAPTERS["stackexchange"], 20, None, [])


def test_posts_are_fetched_by_id_in_batches_and_in_order(use_api: Any) -> None:
    batches: list[list[int]] = []

    def answer(path: str, query: dict[str, str]) -> tuple[int, bytes]:
        ids = [int(number) for number in path.removeprefix("/questions/").split(";")]
        batches.append(ids)
        items = [{"question_id": number} for number in sorted(ids, reverse=True) if number != 7]
        return 200, json.dumps({"items": items, "has_more": False}).encode()

    with serving(api(answer)) as address:
        use_api(address)
        found = [row["question_id"] for row in stackexchange_api.fetch(range(1, 251))]
    assert [len(batch) for batch in batches] == [100, 100, 50]
    assert found == [number for number in range(1, 251) if number != 7], "7 was deleted"


def test_the_questions_of_the_release_are_fetched_once(use_api: Any, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(path: str, query: dict[str, str]) -> tuple[int, bytes]:
        asked.append(path)
        return 200, json.dumps({"items": POSTS[:2], "has_more": False}).encode()

    ids = [POSTS[1]["question_id"], POSTS[0]["question_id"]]
    with serving(api(answer)) as address:
        use_api(address)
        for _ in range(2):
            path = hub_file(tmp_path, ADAPTERS["stackexchange"], 400, None, ids)
    assert asked == [f"/questions/{ids[0]};{ids[1]}"]
    kept = [json.loads(line)["question_id"] for line in path.read_bytes().splitlines()]
    assert path.name == "stackexchange-release.jsonl" and kept == ids


def test_a_broken_connection_becomes_one_sentence() -> None:
    def rows() -> Any:
        yield {}
        raise httpx.ReadError("peer closed\nconnection")

    words = r"^grammarly/coedit: cannot be read \(ReadError: peer closed connection\)\. Check"
    with pytest.raises(SeamError, match=words):
        list(upstream(rows(), ADAPTERS["coedit"]))
