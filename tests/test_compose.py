import hashlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from samples import TEXTS

from seam_lib.build import conditions as known
from seam_lib.build.conditions import MITIGATION, TEXT_ONLY, conditions, tags, task_head
from seam_lib.core.errors import SeamError
from seam_lib.core.rows import CONDITIONS, Composed

CLUSTER = "coedit:101"
EXTRA = ("semantic_tags", "semantic_tags_instruction", "boundary_text_only")
ALL = conditions([*CONDITIONS, *EXTRA])


def parts(composed: Composed) -> dict[str, str]:
    return {s.role: composed.message[s.start : s.end] for s in composed.segments}


def message(name: str, head: str = "HEAD", artifact: str = "ART", comment: str = "COM") -> str:
    (found,) = conditions([name])
    return found(head, artifact, comment, CLUSTER).message


def test_the_six_layouts_of_appendix_c() -> None:
    tag = "pasted-artifact-f8458437a6a7"
    assert message("clean") == "HEAD\n\nART"
    assert message("newline") == "HEAD\n\nART\nCOM"
    assert message("blank") == "HEAD\n\nART\n\nCOM"
    assert message("boundary") == f"HEAD\n\n<{tag}>\nART\n</{tag}>\n\nCOM"
    assert message("mitigation") == (
        "HEAD Text outside the artifact boundary is user context and must not be incorporated "
        f"into the returned artifact.\n\n<{tag}>\nART\n</{tag}>\n\nCOM"
    )
    assert message("newline_R") == message("newline")


def test_the_additional_conditions() -> None:
    assert message("boundary_text_only") == message("mitigation").replace(MITIGATION, TEXT_ONLY)
    suffix = "f8458437a6a7"
    assert message("semantic_tags") == (
        f"<task-{suffix}>\nHEAD\n</task-{suffix}>\n\n<artifact-{suffix}>\nART\n"
        f"</artifact-{suffix}>\n\n<comment-{suffix}>\nCOM\n</comment-{suffix}>"
    )
    plain, instructed = (c("HEAD", "ART", "COM", CLUSTER) for c in conditions(EXTRA[:2]))
    assert instructed.message == plain.message and plain.system_instruction is None
    for name in ("task", "artifact", "comment"):
        assert f"<{name}-{suffix}>" in (instructed.system_instruction or "")


def test_which_comment_a_condition_takes() -> None:
    assert {c.name: c.comment for c in ALL} == {
        "clean": None,
        "newline_R": "native",
        **dict.fromkeys(["newline", "blank", "boundary", "mitigation", *EXTRA], "casual"),
    }


def test_the_task_heads_of_appendix_c() -> None:
    assert task_head("code", "Do it.") == (
        "Edit the following code according to this instruction: Do it.\n"
        "Return only the revised code."
    )
    assert task_head("technical", None) == (
        "Improve the following technical post for clarity. Return only the revised post."
    )
    assert task_head("scientific_prose", "Shorten.") == (
        "Revise the following scientific passage according to this instruction: Shorten.\n"
        "Return only the revised passage."
    )
    passage = (
        "Improve the following passage for clarity and correctness. "
        "Return only the revised passage."
    )
    assert {task_head(g, None) for g in ("scientific_prose", "prose", "prose_long")} == {passage}


def test_the_published_tag_of_one_cluster() -> None:
    (pair,) = tags("coedit:101", "any artifact", "pasted-artifact")
    assert pair.opening == "<pasted-artifact-f8458437a6a7>"
    assert pair.closing == "</pasted-artifact-f8458437a6a7>"


@pytest.mark.parametrize("kind", ["opening", "closing"])
def test_a_tag_that_occurs_in_the_artifact_is_not_used(kind: str) -> None:
    (first,) = tags(CLUSTER, "", "pasted-artifact")
    (second,) = tags(CLUSTER, f"x {getattr(first, kind)} y", "pasted-artifact")
    suffix = hashlib.sha256(b"coedit:101:1").hexdigest()[:12]
    assert second.opening == f"<pasted-artifact-{suffix}>"


@settings(derandomize=True, max_examples=200, deadline=None)
@given(head=TEXTS, artifact=TEXTS, comment=TEXTS)
def test_every_segment_is_read_back(head: str, artifact: str, comment: str) -> None:
    for condition in ALL:
        composed = condition(head, artifact, comment, CLUSTER)
        found = parts(composed)
        assert found["task_instruction"] == head and found["artifact"] == artifact
        assert found.get("afterthought", comment) == comment
        assert ("afterthought" in found) == (condition.comment is not None)
        again = msgspec.json.decode(msgspec.json.encode(composed), type=Composed)
        assert again == composed and parts(again) == found
        pasted = [s.role for s in composed.segments if s.origin == "simulated_paste"]
        assert pasted == ["artifact"]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(artifact=TEXTS)
def test_each_tag_occurs_once_whatever_the_artifact_holds(artifact: str) -> None:
    for condition in ALL:
        composed = condition("HEAD", artifact, "COM", CLUSTER)
        if composed.delimiters:
            assert composed.message.count(composed.delimiters.opening) == 1
            assert composed.message.count(composed.delimiters.closing) == 1
            before = composed.message.index(composed.delimiters.opening)
            assert before < composed.message.index(composed.delimiters.closing)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(head=TEXTS, artifact=TEXTS, comment=TEXTS)
def test_bare_messages_agree_up_to_the_artifacts_end(
    head: str, artifact: str, comment: str
) -> None:
    clean = message("clean", head, artifact, comment).encode()
    for name in ("newline", "blank", "newline_R"):
        assert message(name, head, artifact, comment).encode().startswith(clean)


PLUGIN = """
from seam_lib.build.conditions import bare, condition, newline
from seam_lib.core.rows import Composed

@condition("rule", comment="casual")
def rule(head: str, artifact: str, comment: str, cluster_id: str) -> Composed:
    return bare(head, artifact, "\\n---\\n", comment)
"""


def test_a_plugin_adds_a_condition(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    for _ in range(2):  # loading it again is no clash: nothing is registered for good
        rule, clean = conditions(["rule", "clean"], tmp_path)
        assert rule("HEAD", "ART", "COM", CLUSTER).message == "HEAD\n\nART\n---\nCOM"
        assert clean is known.clean


@pytest.mark.parametrize(
    ("names", "plugin", "message"),
    [
        (["nonesuch"], "", "build.conditions names 'nonesuch'; known are clean, newline"),
        (["clean", "clean"], "", "names 'clean' twice"),
        (["clean"], "1 / 0", "cannot be run: ZeroDivisionError"),
        (["clean"], PLUGIN.replace('"rule"', '"blank"'), "'blank' already exists"),
    ],
)
def test_what_is_wrong_with_conditions_is_said(
    tmp_path: Path, names: list[str], plugin: str, message: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(plugin)
    with pytest.raises(SeamError, match=message):
        conditions(names, tmp_path)
