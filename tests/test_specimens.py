from collections import Counter

import pytest
from answers import MODEL, benchmark, labels, outputs

from seam_lib.core.errors import SeamError
from seam_lib.core.rows import SOURCES, TIER_NAMES, Label
from seam_lib.read.gallery import (
    KINDS,
    RULES,
    by_condition,
    gallery,
    kind_of,
    matched_pairs,
    mentions,
)
from seam_lib.read.specimens import Choice, Specimen, facets, join, options, select
from seam_lib.score.returned import Returned
from seam_lib.score.scorer import Finding, Reading
from seam_lib.score.tiers import Verdict

CASES = benchmark()
OUTPUTS = outputs(CASES)
LABELS = labels(CASES, OUTPUTS)
SPECIMENS = join("pretended", CASES, OUTPUTS, LABELS)


def specimen(
    comment: str, artifact: str, *, genre: str = "prose", tier: str | None = "lexical_witness"
) -> Specimen:
    """A specimen whose returned artifact is given, with the comment's third word as evidence."""
    case = next(c for c in CASES if c.condition == "newline" and c.genre == genre)
    case = type(case)(**{f: getattr(case, f) for f in case.__struct_fields__})
    case.afterthought = comment
    at = max(artifact.lower().find(comment.split()[2].lower()), 0)
    reading = Reading(artifact, Returned(artifact, ()))
    verdict = Verdict(tier, ((at, at + 3),)) if tier else None
    label = Label(
        case_id=case.id,
        model=MODEL,
        source=case.source,
        condition=case.condition,
        composition_event_id=case.composition_event_id,
        absorbed=tier is not None,
        tier=tier,
    )
    return Specimen("r", label, Finding(case, MODEL, reading, reading, verdict))


def test_every_label_becomes_a_specimen_in_the_benchmark_s_order() -> None:
    order = [case.id for case in CASES if case.condition != "clean"]
    assert [s.case.id for s in SPECIMENS] == order
    assert join("pretended", CASES, OUTPUTS, reversed(LABELS)) == SPECIMENS


def test_the_clean_side_is_the_matched_clean_response() -> None:
    clean = {c.composition_event_id: c.id for c in CASES if c.condition == "clean"}
    responses = {output.case_id: output.response for output in OUTPUTS}
    for s in SPECIMENS:
        assert s.finding.clean.response == responses[clean[s.case.composition_event_id]]
        assert s.finding.treated.response == responses[s.case.id]


def test_labels_that_do_not_follow_from_the_answers_are_refused() -> None:
    wrong = [label for label in LABELS if label.absorbed]
    wrong[0] = Label(**{**fields(wrong[0]), "absorbed": False, "tier": None})
    with pytest.raises(SeamError, match="seam score pretended"):
        join("pretended", CASES, OUTPUTS, wrong)
    with pytest.raises(SeamError, match="does not follow"):
        join("pretended", CASES, OUTPUTS[:-1], LABELS)


def test_a_semantic_label_stands_without_its_engine_and_has_no_evidence() -> None:
    at = next(n for n, label in enumerate(LABELS) if not label.absorbed)
    changed = Label(**{**fields(LABELS[at]), "absorbed": True, "tier": "semantic_nli"})
    (found,) = join("pretended", CASES, OUTPUTS, [changed])
    assert found.tier == "semantic_nli" and found.evidence == ()
    assert kind_of(found) == "semantic NLI"


def test_a_semantic_label_has_its_sentence_if_the_engine_is_there() -> None:
    class Engine:
        def entailed(self, pairs):
            return {pair for pair in pairs if "tired" in pair[0]}

    case = next(c for c in CASES if c.condition == "newline" and c.genre == "prose_long")
    cluster = [c for c in CASES if c.composition_event_id == case.composition_event_id]
    answers = outputs(cluster)
    for answer in answers:
        answer.response = (
            "Better text." if answer.case_id != case.id else "Better text. I am tired."
        )
    label = Label(
        case_id=case.id,
        model=MODEL,
        source=case.source,
        condition="newline",
        composition_event_id=case.composition_event_id,
        absorbed=True,
        tier="semantic_nli",
    )

    (found,) = join("r", cluster, answers, [label], Engine())
    text = found.finding.treated.returned.text
    assert [text[a:b] for a, b in found.evidence] == ["I am tired."]
    unscored = Label(**{**fields(label), "absorbed": False, "tier": None})
    (found,) = join("r", cluster, answers, [unscored], Engine())
    assert found.evidence == () and not found.label.absorbed


def test_a_label_without_a_clean_response_is_no_specimen() -> None:
    missing = Label(**{**fields(LABELS[0]), "clean_missing": True})
    assert join("pretended", CASES, OUTPUTS, [missing]) == []


def fields(label: Label) -> dict:
    return {name: getattr(label, name) for name in label.__struct_fields__}


def test_choices_narrow_and_an_empty_choice_lets_all_through() -> None:
    assert select(SPECIMENS, Choice()) == SPECIMENS
    chosen = select(SPECIMENS, Choice(source="coedit", condition="newline", absorbed=True))
    assert len(chosen) == 16
    comment = chosen[0].comment
    assert {s.comment for s in select(SPECIMENS, Choice(comment=comment))} == {comment}
    assert select(SPECIMENS, Choice(tier="none")) == select(SPECIMENS, Choice(absorbed=False))
    assert select(SPECIMENS, Choice(run="another")) == []


def test_options_are_the_values_that_occur_in_the_project_s_order() -> None:
    found = options(SPECIMENS)
    assert tuple(found) == Choice.__struct_fields__
    names = {c: c for c in ("newline", "blank", "boundary", "mitigation")}
    assert list(found["condition"].items()) == [*names.items(), ("newline_R", "artifact-native")]
    assert list(found["absorbed"].items()) == [(True, "yes"), (False, "no")]
    assert found["tier"] == {
        "lexical_witness": TIER_NAMES["lexical_witness"], "none": "none"
    }  # fmt: skip
    assert tuple(found["source"]) == SOURCES and found["source"]["coedit"] == "CoEdIT"
    assert found["run"] == {"pretended": "pretended"}
    assert list(found["comment"]) == sorted(found["comment"])
    assert options(SPECIMENS[:1])["condition"] == {"newline": "newline"}


def test_specimens_can_be_chosen_by_exactly_what_a_choice_names() -> None:
    assert set(facets(SPECIMENS[0])) == set(Choice.__struct_fields__)


# --- The gallery ---------------------------------------------------------------------------------

COMMENT = "I barely slept last night."


@pytest.mark.parametrize(
    ("artifact", "kind"),
    [
        ("Better text. I barely slept last night.", "verbatim"),
        ("Better text.\nI BARELY slept\nlast night", "verbatim"),
        ("Better text. *(I barely slept last night.)*", "verbatim"),
        ("Note: I barely slept last night.", "verbatim"),
        ("<p>x</p>\n<p>I barely slept last night</p>", "verbatim"),
        ("> **I barely slept last night.**", "verbatim"),
        ("I barely slept last night, so I'd appreciate a second opinion.", "genre-frame"),
        ("As I barely slept last night.", "genre-frame"),
        ("It is late (I barely slept last night).", "genre-frame"),
        ("The author barely slept during the last night.", "artifact-normalized"),
        ("I barely slept last nights.", "artifact-normalized"),
    ],
)
def test_kinds_are_told_apart_by_words(artifact: str, kind: str) -> None:
    assert kind_of(specimen(COMMENT, artifact)) == kind


def test_a_code_comment_is_one_only_behind_a_comment_sign() -> None:
    remark = "# the retry logic is too aggressive"
    code = "x = 1\n# the retry logic is too aggressive\n"
    assert kind_of(specimen(remark, code, genre="code")) == "code comment"
    assert kind_of(specimen(COMMENT, f"x = 1\n{COMMENT}", genre="code")) == "verbatim"
    assert kind_of(specimen(COMMENT, f"x = 1  // {COMMENT}", genre="code")) == "code comment"


def test_the_semantic_tier_and_no_absorption_decide_first() -> None:
    assert kind_of(specimen(COMMENT, COMMENT, tier="semantic_nli")) == "semantic NLI"
    assert kind_of(specimen(COMMENT, COMMENT, tier=None)) is None


def test_the_gallery_sorts_every_absorbed_specimen_into_one_kind_shortest_first() -> None:
    shown = gallery(SPECIMENS)
    assert tuple(shown) == KINDS == tuple(RULES)
    assert sum(map(len, shown.values())) == sum(s.label.absorbed for s in SPECIMENS)
    assert {kind: len(found) for kind, found in shown.items()} == {
        "verbatim": 64,
        "semantic NLI": 0,
        "artifact-normalized": 64,
        "genre-frame": 64,
        "code comment": 32,
    }
    lengths = [len(s.case.message) for s in shown["verbatim"]]
    assert lengths == sorted(lengths)


def test_matched_pairs_share_everything_but_the_seam() -> None:
    pairs = matched_pairs(SPECIMENS)
    assert len(pairs) == 64
    for bare, marked in pairs:
        assert (bare.case.condition, marked.case.condition) == ("newline", "boundary")
        assert bare.label.absorbed and not marked.label.absorbed
        for name in ("composition_event_id", "task_instruction", "artifact", "afterthought"):
            assert getattr(bare.case, name) == getattr(marked.case, name)
    assert matched_pairs(SPECIMENS, absorbed="boundary", separated="newline") == []


def test_a_pair_is_never_made_of_two_runs_or_models() -> None:
    bare = [s for s in SPECIMENS if s.case.condition == "newline"]
    others = [s._replace(run="other") for s in SPECIMENS if s.case.condition == "boundary"]
    assert matched_pairs([*bare, *others]) == []


def test_a_mention_is_a_comment_that_only_the_removed_text_speaks_of() -> None:
    base = next(s for s in SPECIMENS if s.case.condition == "boundary" and s.case.genre == "prose")
    witness = (base.case.witness_tokens or [""])[0]
    note = f'\n\nNote: the line "{witness}" was removed because it is unrelated.'
    answers = outputs(CASES)
    for row in answers:
        if row.case_id == base.case.id:
            row.response = base.finding.clean.response + note
    (found,) = mentions(join("r", CASES, answers, labels(CASES, answers)))
    assert found.case.id == base.case.id and not found.label.absorbed
    assert mentions(SPECIMENS) == []


def test_kinds_are_counted_by_condition() -> None:
    shown = gallery(SPECIMENS)
    table = by_condition(shown).set_index("kind")
    assert table.index.tolist() == list(KINDS)
    assert table.sum(axis=1).tolist() == [len(found) for found in shown.values()]
    absorbed = select(SPECIMENS, Choice(absorbed=True))
    assert table.sum().to_dict() == Counter(specimen.case.condition for specimen in absorbed)
    assert list(by_condition(gallery([])).columns) == ["kind"]
