import csv
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_lib.analysis.labels import (
    Record,
    adjudicate,
    check_complete,
    differing_labels,
    files_left_out,
    join,
    label_set,
    read_adjudications,
    read_labels,
    without,
)
from seam_lib.core.errors import SeamError
from seam_lib.core.files import write_rows
from seam_lib.core.rows import SOURCES, TIERS, TREATED, Label, source_of
from tests.helpers.cases import small_set

HEADER = "model,cluster_id,condition,absorbed,tier\n"
GOOD = "m,coedit:1,newline,1,lexical_witness\n"


def write_csv(path, records):
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(HEADER.strip().split(","))
        writer.writerows(
            (r.model, r.cluster_id, r.condition, int(r.absorbed), r.tier or "") for r in records
        )


def as_label(record):
    return Label(
        case_id=f"{record.cluster_id}:{record.condition}",
        model=record.model,
        source=source_of(record.cluster_id),
        condition=record.condition,
        composition_event_id=record.cluster_id,
        absorbed=record.absorbed,
        tier=record.tier,
    )


def assert_same(a, b):
    assert (a.models, a.conditions, a.clusters) == (b.models, b.conditions, b.clusters)
    assert np.array_equal(a.absorbed, b.absorbed)
    assert np.array_equal(a.mask, b.mask)
    assert np.array_equal(a.tiers, b.tiers)
    pd.testing.assert_frame_equal(a.frame.drop(columns="served"), b.frame.drop(columns="served"))


# --- reading what is right --------------------------------------------------------------------


def test_the_published_set_has_the_panel_s_order(detector, names, cluster_ids):
    assert detector.models == tuple(names)
    assert detector.conditions == TREATED
    assert detector.clusters == tuple(sorted(cluster_ids))
    assert detector.mask.sum() == len(detector.frame)
    assert detector.absorbed.sum() == detector.frame["absorbed"].sum()
    assert not (detector.absorbed & ~detector.mask).any()


def test_arrays_and_frame_say_the_same(detector):
    sample = detector.frame.sample(200, random_state=1)
    for row in sample.itertuples():
        absorbed, mask = detector.outcomes(row.model, row.condition)
        at = detector.clusters.index(row.cluster_id)
        assert mask[at]
        assert absorbed[at] == row.absorbed
        assert detector.sources[at] == row.source == source_of(row.cluster_id)
        assert (row.tier != "") == row.absorbed


def test_rows_in_any_order_give_the_same_set(tmp_path):
    records = list(small_set(models=("b", "a")).records())
    write_csv(tmp_path / "a.csv", records)
    write_csv(tmp_path / "b.csv", reversed(records))
    assert_same(read_labels(tmp_path / "a.csv"), read_labels(tmp_path / "b.csv"))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: (text + "\n\n").encode(),
        lambda text: text.rstrip("\n").encode(),
        lambda text: text.replace("coedit:1", '"coedit:1"').encode(),
    ],
    ids=["plain", "crlf", "bom", "blank lines", "no last newline", "quoted"],
)
def test_what_editors_do_to_a_csv_changes_nothing(tmp_path, change):
    path = tmp_path / "labels.csv"
    path.write_bytes(change(HEADER + GOOD + "m,coedit:1,blank,0,\n"))
    labels = read_labels(path)
    assert [(r.condition, r.absorbed, r.tier) for r in labels.records()] == [
        ("newline", True, "lexical_witness"),
        ("blank", False, None),
    ]


def test_a_condition_of_one_s_own_is_read_when_it_is_named(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + GOOD + "m,coedit:1,semantic_tags,0,\n")
    labels = read_labels(path, conditions=[*TREATED, "semantic_tags"])
    assert labels.conditions == (*TREATED, "semantic_tags")
    with pytest.raises(SeamError, match=r"labels\.csv:3: unknown condition 'semantic_tags'"):
        read_labels(path)


def test_models_without_a_label_are_not_in_the_set(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + GOOD)
    labels = read_labels(path, ["other", "m"], ["coedit:1", "coedit:2"])
    assert labels.models == ("m",)
    assert labels.clusters == ("coedit:1", "coedit:2")
    assert labels.mask.sum() == 1


# --- the release's own files ------------------------------------------------------------------


def test_the_release_s_folder_is_the_same_set(release, detector, names, cluster_ids):
    assert len(list(release.glob("*cascade-full.jsonl"))) == 39
    found = read_labels(release, names, cluster_ids)
    assert_same(found, detector)
    assert len(found) == 29_899


def test_the_served_identifiers_are_a_column(release, names, cluster_ids):
    frame = read_labels(release, names, cluster_ids).frame
    served = frame.groupby(["model", "condition"])["served"].agg(set)
    assert served["olmo2-32b", "newline"] == {"lab/olmo2-32b"}
    assert served["olmo2-32b", "newline_R"] == {"olmo2-32b-2026"}
    assert served["deepseek-flash", "newline_R"] == {"deepseek-flash-2026"}
    assert served["gpt-5.6-sol", "newline_R"] == {"lab/gpt-5.6-sol"}


def test_two_identifiers_under_one_condition_are_both_seen(tmp_path):
    path = tmp_path / "dataset-m.cascade-full.jsonl"
    rows = [json_row(), json_row(composition_event_id="coedit:3", model="m-alias")]
    path.write_bytes(b"\n".join(rows))
    assert set(read_labels(tmp_path).frame["served"]) == {"m, m-alias"}
    assert set(read_labels(tmp_path).frame["model"]) == {"m"}


def test_files_that_are_no_panel_labels_are_left_out_and_named(release):
    assert files_left_out(release) == [
        "README.md",
        "claude-opus-4-8-verdicts.jsonl",
        "m1-m2-panel-gpt.cascade-full.jsonl",
        "m2-full300-gpt.cascade-full.jsonl",
    ]


def test_what_differs_from_the_published_labels(detector):
    def labelled(number, tier=None):
        return Record("m", f"coedit:{number}", "newline", tier is not None, tier)

    published = label_set([labelled(1), labelled(2), labelled(3)])
    found = label_set([labelled(1), labelled(2, "semantic_nli"), labelled(4)])
    rows = differing_labels(found, published).itertuples(index=False, name=None)
    assert list(rows) == [
        ("m", "coedit:2", "newline", "semantic_nli", "not absorbed"),
        ("m", "coedit:3", "newline", "none", "not absorbed"),
        ("m", "coedit:4", "newline", "not absorbed", "none"),
    ]
    assert differing_labels(detector, detector).empty


def test_one_file_of_the_release_is_a_set_of_one_model(release, detector):
    labels = read_labels(release / "dataset-olmo2-32b.cascade-full.jsonl")
    assert labels.models == ("olmo2-32b",)
    expected, mask = detector.outcomes("olmo2-32b", "newline")
    assert np.array_equal(labels.outcomes("olmo2-32b", "newline")[0], expected[mask])


def test_rows_without_a_clean_response_are_no_labels(tmp_path):
    path = tmp_path / "labels.jsonl"
    kept = as_label(Record("m", "coedit:1", "newline", False, None))
    dropped = as_label(Record("m", "coedit:2", "newline", False, None))
    dropped.clean_missing = True
    write_rows(path, [dropped, kept])
    assert [r.cluster_id for r in read_labels(path).records()] == ["coedit:1"]


records = st.builds(
    Record,
    st.sampled_from(["a", "b-1.5", "ü"]),
    st.builds("{}:{}".format, st.sampled_from(SOURCES), st.sampled_from(["0", "a:b", "x,y", 'q"'])),
    st.sampled_from(TREATED),
    st.just(False),
    st.none(),
)
label_sets = st.dictionaries(
    records, st.none() | st.sampled_from(TIERS), min_size=1, max_size=30
).map(
    lambda drawn: [
        Record(r.model, r.cluster_id, r.condition, tier is not None, tier)
        for r, tier in drawn.items()
    ]
)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(drawn=label_sets)
def test_any_set_comes_back_from_both_formats(tmp_path_factory, drawn):
    folder = tmp_path_factory.mktemp("labels")
    write_csv(folder / "labels.csv", drawn)
    write_rows(folder / "labels.jsonl", [as_label(r) for r in drawn])
    expected = label_set(drawn)
    assert sorted(expected.records(), key=str) == sorted(drawn, key=str)
    assert_same(read_labels(folder / "labels.csv"), expected)
    assert_same(read_labels(folder / "labels.jsonl"), expected)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(drawn=label_sets)
def test_sets_of_single_models_join_to_the_whole(drawn):
    """Whatever clusters each of them has: where one lacks a label, the joined set has none."""
    models = sorted({r.model for r in drawn})
    assert_same(
        join([label_set(r for r in drawn if r.model == model) for model in models]),
        label_set(drawn),
    )


def test_sets_of_other_conditions_join():
    a = small_set(models=("b",), conditions=["newline", "mine"])
    b = small_set(models=("a",), per_source=1)
    joined = join([a, b])
    assert joined.models == ("b", "a")  # in the order given
    assert joined.conditions == (*TREATED, "mine")
    assert sorted(joined.records(), key=str) == sorted([*a.records(), *b.records()], key=str)


def test_labels_can_be_left_out():
    labels = small_set(absorbed=[("coedit:0", "newline"), ("coedit:1", "newline")])
    gone = ("m", "coedit:0", "newline")
    where = np.zeros_like(labels.mask)
    where[labels.cell(*gone)] = True
    kept = without(labels, where)
    expected = [r for r in labels.records() if (r.model, r.cluster_id, r.condition) != gone]
    assert list(kept.records()) == expected
    assert len(kept) == len(expected) == len(labels) - 1
    assert_same(label_set(expected, labels.models, labels.clusters), kept)
    assert kept.cell(*gone) is None


# --- what is wrong ----------------------------------------------------------------------------

BAD_CSV = {
    "unknown condition": ("m,coedit:1,newlin,0,\n", "unknown condition 'newlin'; known: newline"),
    "clean": ("m,coedit:1,clean,0,\n", "drop the row"),
    "duplicate": (GOOD, "was labelled before, in {path}:2; keep one row"),
    "contradiction": ("m,coedit:1,newline,0,\n", "was labelled before, in {path}:2; keep one row"),
    "absorbed without tier": ("m,coedit:2,newline,1,\n", "absorbed without a tier; name one of"),
    "tier without absorbed": ("m,coedit:2,newline,0,semantic_nli\n", "empty the tier or set"),
    "unknown tier": ("m,coedit:2,newline,1,guess\n", "tiers are lexical_witness"),
    "unknown model": ("n,coedit:1,newline,0,\n", "unknown model 'n'; add it to the panel"),
    "unknown cluster": ("m,coedit:9,newline,0,\n", "unknown cluster 'coedit:9'; it is not in"),
    "unknown source": ("m,arxiv:1,newline,0,\n", "names no known source; known: canitedit"),
    "absorbed is a word": ("m,coedit:2,newline,yes,\n", "absorbed is 'yes'; it must be 0 or 1"),
    "absorbed is empty": ("m,coedit:2,newline,,\n", "absorbed is ''; it must be 0 or 1"),
    "missing field": ("m,coedit:2,newline,0\n", "4 fields for 5 columns; correct the row"),
    "extra field": ("m,coedit:2,newline,0,,x\n", "6 fields for 5 columns; correct the row"),
    "open quote": ('m,"coedit:2,newline,0,\n', "unexpected end of data; correct the row"),
    "not UTF-8": (b"m,coedit:\xff,newline,0,\n", "save the file as UTF-8"),
    "UTF-16": ("m,coedit:2,newline,0,\n".encode("utf-16-le"), "NUL byte; restore the file"),
    "NUL": (b"\x00" * 40 + b"\n", "NUL byte; restore the file"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_a_bad_row_of_a_csv_is_named_with_its_remedy(tmp_path, name):
    row, complaint = BAD_CSV[name]
    path = tmp_path / "labels.csv"
    path.write_bytes((HEADER + GOOD).encode() + (row if isinstance(row, bytes) else row.encode()))
    clusters = ["coedit:1", "coedit:2", "arxiv:1"]
    with pytest.raises(SeamError) as caught:
        read_labels(path, ["m"], clusters)
    message = str(caught.value)
    assert message.startswith(f"{path}:3: ")
    assert complaint.format(path=path) in message


@pytest.mark.parametrize(
    "header",
    [
        "model,cluster_id,condition,absorbed\n",
        "model,cluster_id,condition,absorbed,tier,note\n",
        "model,condition,cluster_id,absorbed,tier\n",
        GOOD,
        "",
        "\n",
    ],
    ids=["missing column", "extra column", "other order", "no header", "empty file", "blank"],
)
def test_other_columns_are_named_with_the_right_ones(tmp_path, header):
    path = tmp_path / "labels.csv"
    path.write_text(header + GOOD if header else "")
    with pytest.raises(SeamError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"{path}:1: the columns are ")
    assert "they must be ['model', 'cluster_id', 'condition', 'absorbed', 'tier']" in str(
        caught.value
    )


def json_row(**changes):
    row = {
        "case_id": "coedit:2:newline",
        "model": "m",
        "source": "coedit",
        "condition": "newline",
        "composition_event_id": "coedit:2",
        "absorbed": False,
        "tier": None,
        "clean_missing": False,
    } | changes
    return json.dumps({k: v for k, v in row.items() if v != "absent"}).encode()


BAD_JSON = {
    "unknown condition": (json_row(condition="newlin"), "unknown condition 'newlin'"),
    "duplicate": (json_row(composition_event_id="coedit:1"), "labelled before, in {path}:1"),
    "absorbed without tier": (json_row(absorbed=True), "absorbed without a tier; name one of"),
    "tier without absorbed": (json_row(tier="semantic_nli"), "empty the tier or set absorbed"),
    "unknown tier": (json_row(absorbed=True, tier="guess"), "Invalid enum value 'guess'"),
    "unknown cluster": (json_row(composition_event_id="coedit:9"), "unknown cluster 'coedit:9'"),
    "two sources": (json_row(source="pararev"), "source 'pararev' of cluster 'coedit:2'; correct"),
    "absorbed is a number": (json_row(absorbed=1), "Expected `bool`, got `int`"),
    "absorbed is a word": (json_row(absorbed="true"), "Expected `bool`, got `str`"),
    "model is missing": (json_row(model="absent"), "missing required field `model`"),
    "model is null": (json_row(model=None), "Expected `str`, got `null`"),
    "torn line": (json_row()[:40], "correct it or restore the file"),
    "not UTF-8": (json_row().replace(b"newline", b"new\xffline"), "UTF-8"),
    "NUL": (b"\x00" * 40, "correct it or restore the file"),
    "a list": (b"[1, 2]", "Expected `object`, got `array`"),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_a_bad_row_of_the_release_is_named_with_its_remedy(tmp_path, name):
    row, complaint = BAD_JSON[name]
    good = tmp_path / "dataset-m-v4nr.cascade-full.jsonl"
    good.write_bytes(json_row(composition_event_id="coedit:1") + b"\n")
    path = tmp_path / "dataset-m.cascade-full.jsonl"
    path.write_bytes(b"\n" + row + b"\n")
    with pytest.raises(SeamError) as caught:
        read_labels(tmp_path, ["m"], ["coedit:1", "coedit:2"])
    message = str(caught.value)
    assert message.startswith(f"{path}:2: ")
    assert complaint.format(path=good) in message


def test_an_empty_file_or_folder_says_what_to_do(tmp_path):
    with pytest.raises(SeamError, match=r"no file called dataset-KEY\.cascade-full\.jsonl\. Give"):
        read_labels(tmp_path)
    file = tmp_path / "dataset-m.cascade-full.jsonl"
    file.touch()
    for path in (tmp_path, file):
        with pytest.raises(SeamError, match="holds no labels"):
            read_labels(path)
    (tmp_path / "header.csv").write_text(HEADER)
    with pytest.raises(SeamError, match="holds no labels"):
        read_labels(tmp_path / "header.csv")


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl", "folder"])
def test_a_missing_path_is_named(tmp_path, name):
    with pytest.raises(SeamError, match=f"{tmp_path / name}: no such file"):
        read_labels(tmp_path / name)


# --- exclusions and changes by hand -----------------------------------------------------------

EXCLUSIONS = "model,cluster_id,condition,reason\n"
CHANGES = "model,cluster_id,condition,reason,applied_in\n"


@pytest.fixture
def gap(tmp_path):
    """A set without one label, and the path of its exclusion list."""
    whole = small_set()
    kept = [r for r in whole.records() if (r.cluster_id, r.condition) != ("pararev:1", "blank")]
    return label_set(kept, whole.models, whole.clusters), tmp_path / "exclusions.csv"


def test_a_missing_label_with_a_reason_is_fine(gap):
    labels, path = gap
    path.write_text(EXCLUSIONS + "m,pararev:1,blank,looped\nother,pararev:0,blank,looped\n")
    check_complete(labels, path, ["m"])


def test_a_missing_label_without_a_reason_is_named(gap):
    labels, path = gap
    path.write_text(EXCLUSIONS)
    with pytest.raises(SeamError, match=f"{path}: no reason for .* m pararev:1 blank; add its row"):
        check_complete(labels, path, ["m"])


def test_a_model_without_any_label_is_named(gap):
    labels, path = gap
    path.write_text(EXCLUSIONS + "m,pararev:1,blank,looped\n")
    with pytest.raises(SeamError, match="no label at all of n; score it, or leave it out"):
        check_complete(labels, path, ["m", "n"])


def test_an_excluded_label_that_is_there_is_named(gap):
    labels, path = gap
    path.write_text(EXCLUSIONS + "m,pararev:1,blank,looped\nm,pararev:0,blank,looped\n")
    with pytest.raises(
        SeamError, match=r"m pararev:0 blank is excluded, yet has a label.*\(1 such"
    ):
        check_complete(labels, path, ["m"])


def test_a_misfit_exclusion_list_is_named(gap):
    labels, path = gap
    path.write_text("model,cluster_id,condition\nm,pararev:1,blank\n")
    with pytest.raises(SeamError, match=r"exclusions\.csv:1: the columns are"):
        check_complete(labels, path, ["m"])
    path.unlink()
    with pytest.raises(SeamError, match=r"exclusions\.csv: no such file"):
        check_complete(labels, path, ["m"])


def test_changes_are_read_by_where_they_apply(tmp_path):
    path = tmp_path / "adjudications.csv"
    path.write_text(CHANGES + "m,coedit:0,newline,acted_on,main\nm,coedit:1,blank,x,sensitivity\n")
    assert read_adjudications(path, "main") == {("m", "coedit:0", "newline")}
    assert read_adjudications(path, "sensitivity") == {("m", "coedit:1", "blank")}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (CHANGES + "m,coedit:0,newline,acted_on,mian\n", ":2: applied_in is 'mian'; it must be"),
        (CHANGES + "m,coedit:0,newline,acted_on\n", ":2: 4 fields for 5 columns"),
        (EXCLUSIONS + "m,coedit:0,newline,acted_on\n", ":1: the columns are"),
        ("", ":1: the columns are None"),
    ],
)
def test_a_misfit_change_is_named(tmp_path, content, complaint):
    path = tmp_path / "adjudications.csv"
    path.write_text(content)
    with pytest.raises(SeamError) as caught:
        read_adjudications(path, "main")
    assert str(caught.value).startswith(f"{path}{complaint}")


def test_a_change_turns_absorbed_off_and_nothing_else():
    labels = small_set(absorbed=[("coedit:0", "newline"), ("coedit:1", "blank")])
    changed = adjudicate(labels, {("m", "coedit:0", "newline")})
    assert [(r.cluster_id, r.condition) for r in changed.records() if r.absorbed] == [
        ("coedit:1", "blank")
    ]
    turned = changed.frame.query("cluster_id == 'coedit:0' and condition == 'newline'")
    assert turned[["absorbed", "tier"]].values.tolist() == [[False, ""]]
    assert np.array_equal(changed.mask, labels.mask)
    assert labels.absorbed.sum() == 2  # the set given is as it was
    assert_same(adjudicate(labels, set()), labels)


def test_changes_keep_clusters_that_only_the_axis_has():
    labels = label_set([Record("m", "coedit:0", "newline", False, None)], None, ["coedit:0", "x:1"])
    assert_same(adjudicate(labels, set()), labels)


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (("m", "coedit:1", "newline"), "is already not absorbed; drop its row"),
        (
            ("m", "coedit:77", "newline"),
            "no label for m coedit:77 newline; drop its row or correct",
        ),
        (("other", "coedit:0", "newline"), "no label for other coedit:0 newline"),
    ],
)
def test_a_change_that_fits_no_label_is_named(case, complaint):
    with pytest.raises(SeamError, match=complaint):
        adjudicate(small_set(), {case})
