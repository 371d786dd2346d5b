"""The judge: prompts, strict verdicts, nothing asked twice, nothing of a message handed on."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows
from seam_lib.core.params import WildParams, load_params
from seam_lib.core.rows import Candidate, Judgement
from seam_lib.wild.judge import (
    BUDGET,
    ELISION,
    FENCE,
    Counts,
    draw,
    elide,
    judge,
    parse,
    positives,
    prepare,
    read_again,
)
from seam_lib.wild.screen import screen
from tests.helpers.project import seam, wild_project
from tests.helpers.server import Server, serving

YES = '{"genuine": true, "confidence": 0.9, "genre": "code", "reason": "pasted code, then a wish"}'
NO = YES.replace("true", "false")
ASKED = 12


@contextmanager
def judging(say: Callable[[int], str | int], kind: str = "ok") -> Iterator[Server]:
    """A judge; `say` maps the number of a call to a text, or to a status in place of `kind`."""

    def script(body: object, seen: int) -> str:
        said = say(len(server.bodies))
        return str(said) if isinstance(said, int) else kind

    with serving(script, lambda message: str(say(len(server.bodies)))) as server:
        yield server


def prompts(server: Server) -> list[str]:
    return [body["messages"][0]["content"] for body in server.bodies]


@pytest.fixture(scope="module")
def screened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screened")
    screen(folder, wild_project(folder, rows=400))
    return folder


@pytest.fixture
def tmp_path(tmp_path: Path, screened: Path) -> Path:
    """A screened project."""
    return shutil.copytree(screened, tmp_path, dirs_exist_ok=True)


def project(root: Path, address: str = "http://127.0.0.1:9", **wild: object) -> WildParams:
    """Let the project's judge be a server at `address`."""
    settings = {
        "benchmark": "candidates",
        "provider": "openai",
        "base_url": f"{address}/v1",
        "model": "lab/judge",
        "max_tokens": 200,
        "attempts": 1,
        "concurrency": 1,
        "retries": 0,
    }
    return wild_project(root, rows=400, judge=settings, judged=ASKED, **wild)


def run(
    root: Path, say: Callable[[int], str | int], kind: str = "ok", **wild: object
) -> tuple[Counts, list[str]]:
    """Judge with a server that answers so; gives the counts and the prompts it saw."""
    with judging(say, kind) as server:
        return judge(prepare(root, project(root, server.url, **wild))), prompts(server)


def judgements(root: Path) -> list[Judgement]:
    return list(read_rows(load_params(root).wild.folder(root) / "judgements.jsonl", Judgement))


def test_every_candidate_is_asked_once_with_its_message(tmp_path):
    tally, asked = run(tmp_path, lambda call: YES if call % 2 else NO)
    assert tally == Counts(genuine=6, not_genuine=6, unparseable=0, missing=0, stopped=None)
    wild = load_params(tmp_path).wild
    rows = judgements(tmp_path)
    texts = read_again(tmp_path, wild, rows)
    assert {prompt.split(f"\n{FENCE}\n")[1] for prompt in asked} == {
        elide(text) for text in texts.values()
    }
    assert [row.genre for row in rows] == ["code"] * ASKED
    assert len(positives(tmp_path, wild)) == 6


def test_answers_that_cannot_be_parsed_are_counted_and_never_negative(tmp_path):
    tally, _ = run(tmp_path, lambda call: "Sure! " + YES if call <= 3 else NO)
    assert (tally.unparseable, tally.not_genuine) == (3, ASKED - 3)
    assert [row.genuine for row in judgements(tmp_path)].count(None) == 3
    with pytest.raises(SeamError, match="calls no candidate genuine"):
        positives(tmp_path, load_params(tmp_path).wild)


def test_what_failed_is_missing_and_asked_again_and_nothing_else_is(tmp_path):
    tally, asked = run(tmp_path, lambda call: 500 if call in (2, 5) else YES)
    assert (tally.genuine, tally.missing, len(asked)) == (ASKED - 2, 2, ASKED)
    assert len(judgements(tmp_path)) == ASKED - 2
    tally, again = run(tmp_path, lambda _: NO)
    assert (tally.genuine, tally.not_genuine, tally.missing) == (ASKED - 2, 2, 0)
    assert sorted(again) == sorted((asked[1], asked[4]))


def test_with_all_judgements_there_neither_traces_nor_a_model_are_needed(tmp_path):
    first, _ = run(tmp_path, lambda _: YES)
    before = judgements(tmp_path)
    for path in (tmp_path / "runs" / "wild" / "judge").rglob("*.jsonl"):
        path.unlink()
    assert judge(prepare(tmp_path, project(tmp_path))) == first
    assert judgements(tmp_path) == before


def test_another_judge_is_asked_anew(tmp_path):
    run(tmp_path, lambda _: YES)
    with judging(lambda _: NO) as server:
        wild = project(tmp_path, server.url)
        other = msgspec.structs.replace(wild.judge, model="lab/other")
        judge(prepare(tmp_path, msgspec.structs.replace(wild, judge=other)))
    assert len(server.bodies) == ASKED
    assert {(row.judge, row.genuine) for row in judgements(tmp_path)} == {("lab/other", False)}


def test_another_decoding_is_asked_anew(tmp_path):
    run(tmp_path, lambda _: YES)
    wild = project(tmp_path)
    warmer = msgspec.structs.replace(wild.judge, temperature=0.7)
    assert prepare(tmp_path, wild).open == []
    assert len(prepare(tmp_path, msgspec.structs.replace(wild, judge=warmer)).open) == ASKED


def test_no_words_of_messages_or_answers_are_tracked(tmp_path):
    run(tmp_path, lambda _: YES)
    rows = judgements(tmp_path)
    texts = read_again(tmp_path, load_params(tmp_path).wild, rows)
    content = (load_params(tmp_path).wild.folder(tmp_path) / "judgements.jsonl").read_text()
    assert "pasted code" not in content
    lines = [line for text in texts.values() for line in text.split("\n") if len(line) > 20]
    assert len(lines) > 50
    assert not any(line in content for line in lines)


def test_a_judge_that_may_not_be_asked_says_where_that_is_changed(tmp_path):
    run(tmp_path, lambda _: YES)
    wild = project(tmp_path)
    docket = prepare(tmp_path, wild)
    assert docket.run.home == "wild.judge of params.yaml"
    assert docket.run.command == "seam wild judge"
    other = msgspec.structs.replace(wild.judge, model="lab/other", max_calls=0)
    stopped = judge(prepare(tmp_path, msgspec.structs.replace(wild, judge=other))).stopped
    assert stopped is not None
    assert stopped.endswith("Raise max_calls or max_usd in wild.judge of params.yaml")


def test_no_benchmark_is_made_of_candidates(tmp_path):
    run(tmp_path, lambda _: YES)
    judged = tmp_path / "runs" / "wild" / "judge"
    made = {path.parent.name for path in judged.rglob("*.jsonl")}
    assert made == {"traces", "outputs"}


def test_a_verdict_that_was_cut_off_is_none(tmp_path):
    tally, _ = run(tmp_path, lambda call: YES, kind="length")
    assert tally == Counts(0, 0, unparseable=ASKED, missing=0, stopped=None)


def test_a_changed_corpus_is_refused(tmp_path):
    wild = project(tmp_path)
    path = wild.folder(tmp_path) / "candidates.jsonl"
    rows = list(read_rows(path, Candidate))
    changed = msgspec.structs.replace(rows[0], msglen=rows[0].msglen + 1)
    with pytest.raises(SeamError, match=r"not the one that was screened.*seam wild screen"):
        read_again(tmp_path, wild, [changed])


def test_the_command_says_what_is_left_and_fails_until_it_is_done(tmp_path):
    with judging(lambda call: 400 if call == 1 else YES) as server:
        project(tmp_path, server.url)
        first = seam("wild", "judge", cwd=tmp_path)
        second = seam("wild", "judge", cwd=tmp_path)
    assert (first.exit_code, second.exit_code) == (1, 0)
    assert "11 genuine, 0 not, 0 unparseable (excluded), 1 missing" in first.stdout
    assert "12 genuine, 0 not, 0 unparseable (excluded), 0 missing" in second.stdout


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (YES, True),
        (f"  {NO}\n", False),
        (YES.replace("0.9", "1.2"), None),
        (YES.replace('"code"', '"song"'), None),
        (YES.replace("true", '"true"'), None),
        (YES[:-1], None),
        (YES + YES, None),
        (f"```json\n{YES}\n```", None),
        ('{"genuine": true}', None),
        ('{"a":' * 50_000, None),
        ("", None),
    ],
)
def test_a_verdict_is_one_json_object_and_nothing_else(answer, read):
    verdict = parse(answer)
    assert (verdict.genuine if verdict else None) is read


def test_long_messages_keep_sixty_percent_from_the_head_and_forty_from_the_tail():
    text = "".join(chr(97 + n % 26) for n in range(BUDGET + 1))
    head, tail = elide(text).split(ELISION)
    assert (len(head), len(tail)) == (7_200, 4_800)
    assert text.startswith(head) and text.endswith(tail)
    assert elide(text[:-1]) == text[:-1]


def test_a_draw_is_seeded_and_keeps_the_order():
    rows = draw(range(100), 10, 7)
    assert rows == draw(range(100), 10, 7) == sorted(rows)
    assert rows != draw(range(100), 10, 8)
    assert draw(range(5), None, 7) == draw(range(5), 9, 7) == [0, 1, 2, 3, 4]
