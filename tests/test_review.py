"""Packets to read, verdicts read back, and what they say about the scorer."""

import shutil
from pathlib import Path

import pytest
from edits import answers, finding
from scratch import ROOT
from typer.testing import CliRunner

from seam_lib.cli import app
from seam_lib.core.errors import SeamError
from seam_lib.core.files import read_rows, write_rows, write_text
from seam_lib.core.rows import Case, Label, Output, Tier
from seam_lib.read.packets import blind_packet, positives_packet, write_packets
from seam_lib.read.verdicts import (
    KeyRow,
    Opinion,
    audit,
    read_csv,
    read_key,
    read_verdicts,
    write_adjudications,
)
from seam_lib.score.scorer import Finding, to_label

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">"><b>\x1b[31m\u202e'


@pytest.fixture
def findings() -> list[Finding]:
    tiers: list[Tier | None] = ["semantic_nli"] * 5 + ["lexical_witness"] * 30 + [None] * 65
    return [finding(number, tier) for number, tier in enumerate(tiers)]


def test_every_semantic_positive_is_read_and_a_sample_of_the_others(
    findings: list[Finding],
) -> None:
    packet = positives_packet(findings, seed=1, lexical=10)
    tiers = [item.finding.verdict.tier for item in packet if item.finding.verdict]
    assert (tiers.count("semantic_nli"), tiers.count("lexical_witness")) == (5, 10)
    assert packet == positives_packet(findings[::-1], seed=1, lexical=10)
    assert packet != positives_packet(findings, seed=2, lexical=10)
    assert len(positives_packet(findings, seed=1, lexical=99)) == 35


def test_the_blind_packet_hides_labels_among_decoys(
    findings: list[Finding], tmp_path: Path
) -> None:
    packet = blind_packet(findings, seed=1, negatives=20)
    labels = [bool(item.finding.verdict) for item in packet]
    assert (labels.count(False), labels.count(True)) == (20, 5)
    assert labels != sorted(labels)
    write_packets(tmp_path, [], packet)
    assert set(read_csv(tmp_path / "blind.csv")[0]) == {
        *("item", "comment", "artifact", "response", "clean_response", "verdict", "note")
    }
    for file in ("blind.csv", "blind.html"):
        text = (tmp_path / file).read_text()
        assert not any(word in text for word in ("coedit:", "newline", "lexical", "semantic"))


def test_packets_are_the_same_bytes_every_time(findings: list[Finding], tmp_path: Path) -> None:
    for folder in ("a", "b"):
        items = positives_packet(findings, 1, 10), blind_packet(findings, 1, 20)
        write_packets(tmp_path / folder, *items)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["blind.csv", "blind.html", "key.csv", "positives.csv", "positives.html"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_response_is_text_on_the_page_and_in_the_sheet(tmp_path: Path) -> None:
    items = positives_packet([finding(1, "lexical_witness", "=1+1 " + HOSTILE)], 1, 1)
    write_packets(tmp_path, items, items)
    for name in ("positives", "blind"):
        html = (tmp_path / f"{name}.html").read_text()
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "&lt;img src=x onerror=&#34;" in html
        assert "\x1b" not in html
        assert "\u202e" not in html
    assert read_csv(tmp_path / "positives.csv")[0]["response"].startswith("'=1+1")


def test_verdicts_are_not_overwritten(findings: list[Finding], tmp_path: Path) -> None:
    items = positives_packet(findings, 1, 10)
    write_packets(tmp_path, items, [])
    write_packets(tmp_path, items, [])
    sheet = tmp_path / "positives.csv"
    write_text(sheet, "item,verdict,note\np-001,yes,\n")
    with pytest.raises(SeamError, match="holds verdicts"):
        write_packets(tmp_path, items, [])
    assert "p-001,yes" in sheet.read_text()


def test_sheets_are_read_as_people_save_them(tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    write_text(
        sheet, "\ufeffitem,verdict,note,extra\r\np-1, Yes ,,x\r\np-2,,,\r\np-3,unsure,why,\r\n"
    )
    assert read_verdicts(sheet) == {"p-1": Opinion(True, ""), "p-3": Opinion(None, "why")}
    write_text(sheet, "item,verdict\np-1,maybe\n")
    with pytest.raises(SeamError, match=r"row 2: needs .* not 'maybe'"):
        read_verdicts(sheet)
    with pytest.raises(SeamError, match="no such file"):
        read_verdicts(tmp_path / "none.csv")


def test_a_half_filled_sheet_of_the_older_page_is_still_read(tmp_path: Path) -> None:
    """It quoted every cell and held a row for every item."""
    sheet = tmp_path / "positives-verdicts.csv"
    write_text(sheet, 'item,verdict,note\n"p-001","no","a ""quoted"", word"\n"p-002","","later"\n')
    assert read_verdicts(sheet) == {"p-001": Opinion(False, 'a "quoted", word')}


def key_and_labels(findings: list[Finding]) -> tuple[list[KeyRow], list[Label]]:
    labels = [to_label(j) for j in findings]
    rows = [
        KeyRow(
            f"{'p' if label.absorbed else 'b'}-{n}",
            *(label.model, label.case_id, label.composition_event_id, label.condition),
            absorbed="yes" if label.absorbed else "no",
            tier=label.tier or "",
        )
        for n, label in enumerate(labels)
    ]
    return rows, labels


def test_the_audit_counts_and_bounds(findings: list[Finding], tmp_path: Path) -> None:
    key, labels = key_and_labels(findings)
    opinions = {row.item: Opinion(row.absorbed == "yes", "") for row in key}
    opinions["p-0"] = Opinion(False, "acted_on")
    opinions["p-1"] = Opinion(None, "")
    opinions["b-99"] = Opinion(True, "")
    found = audit(key, [opinions], labels)
    assert (found.confirmed["semantic_nli"].k, found.confirmed["semantic_nli"].n) == (3, 4)
    assert (found.missed.k, found.missed.n) == (1, 65)
    assert found.missed.low < 1 / 65 < found.missed.high
    assert found.detected is not None
    assert found.detected[0] == pytest.approx(35 / 36)
    assert found.detected[1] < 35 / 36 < found.detected[2] <= 1
    assert found.agreement["scorer and readers"].tolist() == [[0, 0], [1, 64]]
    assert not found.agreement["two readers"].any()
    assert found.unsure == 1
    write_adjudications(tmp_path / "a.csv", found)
    assert read_csv(tmp_path / "a.csv") == [
        {
            **{"model": "m", "cluster_id": "coedit:0", "condition": "newline"},
            **{"reason": "acted_on", "applied_in": "main"},
        }
    ]


def test_two_readers_must_agree_and_are_compared(findings: list[Finding]) -> None:
    key, labels = key_and_labels(findings)
    one = {"p-0": Opinion(True, ""), "p-1": Opinion(False, "a"), "p-2": Opinion(True, "")}
    two = {"p-0": Opinion(True, ""), "p-1": Opinion(False, "b"), "p-2": Opinion(False, "")}
    found = audit(key, [one, two], labels)
    assert found.agreement["two readers"].tolist() == [[1, 1], [0, 1]]
    assert found.unsure == 1
    assert [(row.item, note) for row, note in found.overturned] == [("p-1", "a; b")]
    assert found.detected is None


def test_labels_that_changed_since_are_refused(findings: list[Finding]) -> None:
    key, labels = key_and_labels(findings)
    labels[0].absorbed = False
    with pytest.raises(SeamError, match="has changed since"):
        audit(key, [], labels)


def test_the_command_writes_packets_and_takes_verdicts_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "data" / "benchmark", tmp_path / "data" / "benchmark")
    monkeypatch.chdir(tmp_path)
    cases = list(read_rows(ROOT / "data/benchmark/embedded/cc-by-sa.jsonl", Case))
    outputs = answers(cases, "{artifact}")
    for output in outputs[1::6]:
        output.response = f"{output.response}\n{cases[1].afterthought}"
    write_rows(tmp_path / "data/outputs/embedded.jsonl", outputs)

    def seam(*arguments: str) -> str:
        return CliRunner().invoke(app, arguments, catch_exceptions=False).output

    assert "Semantic tier off" in seam("score", "embedded")
    assert "Answer in the pages" in " ".join(seam("review", "embedded").split())
    folder = tmp_path / "data/review/embedded"
    answer = {row.item: row.absorbed for row in read_key(folder / "key.csv")}
    for name in ("positives", "blind"):
        rows = read_csv(folder / f"{name}.csv")
        lines = [f"{row['item']},{answer[row['item']]},\n" for row in rows]
        write_text(tmp_path / f"{name}.csv", "item,verdict,note\n" + "".join(lines))
    printed = seam("review", "embedded", "--verdicts", "positives.csv", "--verdicts", "blind.csv")
    assert "missed: 0 of 60 (0.0%, 95% interval 0.0% to" in " ".join(printed.split())
    assert "| scorer and readers | 61 | kappa | 1.00 | 1.00 | 1.00 |" in printed
    assert "two readers" not in printed
    assert "overturned: 0" in printed
    assert (folder / "adjudications.csv").read_text().startswith("model,cluster_id")
    overturned = (tmp_path / "positives.csv").read_text().replace(",yes,", ",no,")
    write_text(tmp_path / "positives.csv", overturned)
    seam("review", "embedded", "--verdicts", "positives.csv")
    kept = (folder / "adjudications.csv").read_bytes()
    with pytest.raises(SeamError, match="Give all answered sheets together"):
        seam("review", "embedded", "--verdicts", "blind.csv")
    assert (folder / "adjudications.csv").read_bytes() == kept != b""
    with pytest.raises(SeamError, match=r"blind\.csv: holds no verdict yet"):
        seam("review", "embedded", "--verdicts", str(folder / "blind.csv"))


def test_outputs_without_answers_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "data" / "benchmark", tmp_path / "data" / "benchmark")
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "data/outputs/embedded.jsonl", list[Output]())
    result = CliRunner().invoke(app, ["score", "embedded"])
    assert "holds no answer" in str(result.exception)
