"""Agreement: the published numbers, the annotators' files, and the way from page to estimate."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner
from wild_project import ROOT, wild_project

from seam_lib.analysis import stats
from seam_lib.analysis.agreement import (
    agreement,
    chance_agreement,
    crossed,
    interval,
    printed,
    read_tables,
    table_at,
    write_tables,
)
from seam_lib.cli import app
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, write_rows
from seam_lib.core.params import load_params
from seam_lib.core.rows import Candidate, Judgement
from seam_lib.wild.audit import Annotation, check_sample, cross, estimate, read_answers
from seam_lib.wild.sample import draw_sample
from seam_lib.wild.screen import screen

PUBLISHED = read_tables(ROOT / "data" / "published" / "agreement.csv")
POOL = pd.read_csv(ROOT / "data" / "published" / "occurrence.csv", index_col="quantity")["count"]
HEAD = "audit_id,hash,kind,corpus,msglen,truncated,annotator,genuine_paste,artifact_first"


def values(question: str) -> dict[str, float]:
    table = agreement({question: PUBLISHED[question]}, draws=200, seed=42)
    return table.set_index("statistic")["value"].round(2).to_dict()


def test_the_published_tables_give_the_papers_numbers():
    assert values("genuine") == {"raw": 0.91, "kappa": 0.26, "AC1": 0.90}
    assert values("artifact_first")["kappa"] == 0.72
    first = PUBLISHED["artifact_first"]
    assert (np.trace(first), first.sum()) == (79, 89)
    found = estimate(PUBLISHED["genuine"], POOL["judged_positive"])
    assert (found.consensus, found.matches, found.lower_bound) == (89, 18_110, 16_557)


def test_annotator_a_s_public_rows_have_the_tables_margin():
    rows = read_answers(ROOT / "data" / "published" / "wild_audit.csv")
    assert len(rows) == PUBLISHED["genuine"].sum() == 100
    assert sum(row.genuine_paste for row in rows) == PUBLISHED["genuine"][0].sum() == 94


def test_kappa_falls_with_prevalence_and_ac1_does_not():
    tables = [table_at(0.91, share) for share in (0.5, 0.8, 0.93)]
    assert [stats.agreement(table) for table in tables] == pytest.approx([0.91] * 3)
    kappas, ac1s = ([round(f(t), 2) for t in tables] for f in (stats.cohen_kappa, stats.gwet_ac1))
    assert chance_agreement(PUBLISHED["genuine"]) == pytest.approx(0.94 * 0.93 + 0.06 * 0.07)
    assert kappas == [0.82, 0.72, 0.31]
    assert ac1s == [0.82, 0.87, 0.90]


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=4, max_size=4), st.integers(0, 5))
def test_an_interval_holds_its_statistic_and_repeats_by_seed(cells, seed):
    table = np.array(cells).reshape(2, 2)
    low, high = interval(table, stats.agreement, 400, seed)
    assert low <= stats.agreement(table) <= high
    assert (low, high) == interval(table, stats.agreement, 400, seed)


def test_resamples_without_a_statistic_are_left_out():
    low, high = interval(np.array([[30, 0], [1, 0]]), stats.cohen_kappa, 500, 1)
    assert low <= high == 0


def test_pairs_are_counted_first_by_row_second_by_column():
    pairs = [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)]
    assert crossed(pairs).tolist() == [[4, 3], [2, 1]]
    assert crossed([]).tolist() == [[0, 0], [0, 0]]


def answers(path: Path, *rows: str) -> Path:
    path.write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
    return path


def row(number: int, answered: str, annotator: str = "A1") -> str:
    return f"wild-{number:03d},{number:032x},paste_with_tail,own,900,false,{annotator},{answered}"


def test_two_files_are_crossed_by_message(tmp_path):
    a = answers(tmp_path / "a.csv", row(1, "true,true"), row(2, "true,false"), row(3, "false,"))
    b = answers(tmp_path / "b.csv", *(row(number, "true,true", "B") for number in (3, 1, 2)))
    tables = cross(read_answers(a), read_answers(b))
    assert tables["genuine"].tolist() == [[2, 0], [1, 0]]
    assert tables["artifact_first"].tolist() == [[1, 0], [1, 0]]
    write_tables(tmp_path / "tables.csv", tables)
    again = read_tables(tmp_path / "tables.csv")
    assert {name: table.tolist() for name, table in again.items()} == {
        name: table.tolist() for name, table in tables.items()
    }


def test_notes_are_read_and_the_papers_file_has_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f'{HEAD},note\n{row(1, "false,")},"a list, no request"\n{row(2, "false,")},\n')
    assert [answer.note for answer in read_answers(path)] == ["a list, no request", ""]
    path.write_text(f"{HEAD}\n{row(1, 'false,')}\n")
    assert [answer.note for answer in read_answers(path)] == [""]
    path.write_text(f"{HEAD},note\n{row(1, 'false,')}\n")
    with pytest.raises(SeamError, match=r"a.csv:2: 9 fields for 10 columns"):
        read_answers(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(1, ",")], r"a.csv:2: .*`genuine_paste`.*answer what is left"),
        ([row(1, "maybe,")], r"a.csv:2: "),
        ([row(1, "true,")], r"a.csv:2: wild-001: artifact_first"),
        ([row(1, "false,true")], r"a.csv:2: wild-001: artifact_first"),
        ([row(1, "false,"), row(1, "false,")], r"a.csv:3: wild-001 comes twice"),
        ([row(1, "false,\0")], r"a.csv:2: holds a NUL byte"),
        ([], r"a.csv: no answers"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_by_line(tmp_path, rows, words):
    with pytest.raises(SeamError, match=words):
        read_answers(answers(tmp_path / "a.csv", *rows))


def test_what_a_spreadsheet_makes_of_a_file_is_read_or_refused_in_words(tmp_path):
    path = answers(tmp_path / "a.csv", row(1, "true,true"), row(2, "false,"))
    plain, text = read_answers(path), path.read_text(encoding="utf-8")
    shouted = text.replace("true", "TRUE").replace("false", "FALSE").replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + shouted.encode())
    assert read_answers(path) == plain
    for content, words in (
        (text.replace(",", ";").encode(), "a.csv:1: the columns are .*; they must be"),
        (text.encode("utf-16"), "a.csv:1: "),
        (text.replace("A1", "Ä").encode("latin-1"), "a.csv:2: .*save the file as UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(SeamError, match=words):
            read_answers(path)


def test_a_question_about_no_message_has_no_agreement_and_unanimity_no_kappa():
    a, b = (Annotation("wild-001", "x", who, False) for who in "AB")
    table = agreement(cross([a], [b]), draws=20, seed=1).set_index(["question", "statistic"])
    assert {question for question, _ in table.index} == {"genuine"}
    assert table.loc["genuine", "raw"].tolist() == [1, 1, 1, 1]
    assert table.loc[("genuine", "kappa"), ["value", "low", "high"]].isna().all()
    assert printed(table).loc[("genuine", "kappa")].tolist() == [1, "–", "–", "–"]


def test_a_missing_file_and_files_about_other_messages_are_refused(tmp_path):
    with pytest.raises(SeamError, match=r"nowhere.csv"):
        read_answers(tmp_path / "nowhere.csv")
    a, b = Annotation("wild-001", "x", "A", False), Annotation("wild-001", "y", "B", False)
    with pytest.raises(SeamError, match="wild-001 differs"):
        cross([a], [b])
    with pytest.raises(SeamError, match="wild-001 differs"):
        cross([a], [])
    with pytest.raises(SeamError, match="both files are by annotator A"):
        cross([a], [a])


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """A project whose judge has called every candidate genuine."""
    wild = wild_project(tmp_path, rows=400, annotated=8)
    screen(tmp_path, wild)
    rows = [
        Judgement(
            **{name: getattr(row, name) for name in Candidate.__struct_fields__},
            judge="stub",
            asked="",
            genuine=True,
        )
        for row in read_rows(wild.folder(tmp_path) / "candidates.jsonl", Candidate)
    ]
    write_rows(wild.folder(tmp_path) / "judgements.jsonl", rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_sample_is_seeded_random_and_without_text(judged):
    wild = load_params(judged).wild
    sample = draw_sample(judged, wild)
    assert list(sample) == [f"wild-{number:03d}" for number in range(1, 9)]
    assert sample == draw_sample(judged, wild)
    places = [row.id for row in sample.values()]
    assert places != sorted(places)
    assert CliRunner().invoke(app, ["wild", "sample"]).exit_code == 0
    table = pd.read_csv(wild.folder(judged) / "sample.csv")
    assert list(table.columns) == HEAD.split(",")[:6]
    assert table["hash"].tolist() == [row.hash for row in sample.values()]


def test_the_page_is_written_where_git_does_not_look(judged):
    done = CliRunner().invoke(app, ["wild", "annotate"])
    assert done.exit_code == 0
    assert done.stdout == "runs/wild/annotate-synthetic.html\n"
    html = (judged / "runs" / "wild" / "annotate-synthetic.html").read_text(encoding="utf-8")
    assert all(row.hash in html for row in draw_sample(judged, load_params(judged).wild).values())


def test_two_files_become_agreement_and_an_estimate(judged):
    wild = load_params(judged).wild
    lines = [f"{name},{row.hash},k,c,1,false" for name, row in draw_sample(judged, wild).items()]
    files = [
        answers(
            judged / f"{who}.csv",
            *(f"{line},{who},{said}" for line, said in zip(lines, given, strict=True)),
        )
        for who, given in {
            "A": ["true,true"] * 6 + ["false,"] * 2,
            "B": ["true,true"] * 5 + ["true,false"] + ["true,true", "false,"],
        }.items()
    ]
    done = CliRunner().invoke(app, ["wild", "audit", *map(str, files)])
    assert done.exit_code == 0
    assert "| genuine | 8 | raw | 0.88 |" in done.stdout
    assert "| artifact_first | 6 | raw | 0.83 |" in done.stdout
    pool = len(list(read_rows(wild.folder(judged) / "judgements.jsonl", Judgement)))
    assert (
        f"6 of 8 by both: about {round(0.75 * pool)} of the {pool} judged positives" in done.stdout
    )
    written = read_tables(wild.folder(judged) / "agreement.csv")
    assert written["genuine"].tolist() == [[6, 0], [1, 1]]


def test_files_about_another_sample_are_refused(judged):
    path = answers(judged / "A.csv", row(1, "false,"))
    done = CliRunner().invoke(app, ["wild", "audit", str(path), str(path)])
    assert isinstance(done.exception, SeamError)
    assert "wild-001 of annotator A1 is not in the sample of 'synthetic'" in str(done.exception)


def test_an_unfinished_file_is_refused(judged):
    wild = load_params(judged).wild
    sample = {name: row.hash for name, row in draw_sample(judged, wild).items()}
    every = [Annotation(name, digest, "A", False) for name, digest in sample.items()]
    check_sample("mine", sample, every)
    with pytest.raises(SeamError, match="A has not answered 2 of the 8 messages, wild-003 first"):
        check_sample("mine", sample, [*every[:2], *every[3:7]])


def test_every_command_explains_itself():
    for command in ("screen", "judge", "sample", "annotate", "audit"):
        done = CliRunner().invoke(app, ["wild", command, "--help"])
        assert done.exit_code == 0
        assert len(done.stdout.splitlines()) > 5
