"""The entailment engine: the plain pipeline's labels, fewer passes, a cache, clear errors."""

import random
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from seam_lib.core.errors import SeamError
from seam_lib.score.nli import (
    CLOSE,
    Engine,
    Pair,
    TransformersClassifier,
    engine_name,
    load_classifier,
    open_engine,
)
from tests.helpers.deberta import WORDS, save_tiny_deberta

pytestmark = [
    pytest.mark.skipif(
        find_spec("torch") is None or find_spec("transformers") is None,
        reason="the semantic tier's libraries (extra nli) are missing",
    ),
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated"),  # DeBERTa's own code
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_deberta(tmp_path_factory.mktemp("tiny"))


def load_for_tests(folder: Path) -> TransformersClassifier:
    """The model on one thread: threads that wait for each other are slow on so small a model."""
    import torch

    classifier = load_classifier(str(folder))
    torch.set_num_threads(1)
    return classifier


def some_pairs(count: int) -> list[Pair]:
    draw = random.Random(1)
    sentence = lambda most: " ".join(draw.choices(WORDS, k=draw.randint(1, most))) + "."  # noqa: E731
    pairs = [(sentence(40), sentence(8)) for _ in range(count)]
    return [*pairs, ("menu " * 200, "the menu is bad")]  # longer than the model reads


def test_labels_equal_those_of_the_plain_pipeline(folder: Path, tmp_path: Path) -> None:
    classifier = load_for_tests(folder)
    engine = Engine(classifier, tmp_path / "cache.sqlite")
    pairs = some_pairs(500)
    plain = {}
    for pair in pairs:
        (logits,) = classifier.logits([pair])
        plain[pair] = classifier.labels[logits.index(max(logits))]
    entailed = engine.entailed(pairs)
    assert entailed == {pair for pair, name in plain.items() if name == "entailment"}
    assert 25 < len(entailed) < 475  # both answers occur, so equality means something
    assert engine.passes < len(pairs) / 8


def test_a_second_engine_recalls_and_reads_nothing(folder: Path, tmp_path: Path) -> None:
    pairs = some_pairs(50)
    first = open_engine(str(folder), tmp_path)
    second = open_engine(str(folder), tmp_path)
    assert first
    assert second
    assert first.entailed(pairs + pairs) == second.entailed(pairs)
    assert first.passes > 0
    assert second.passes == 0


class Stub:
    """Entails where the sentence holds the proposition; may be unsure, may break down."""

    labels: Sequence[str] = ("contradiction", "neutral", "entailment")

    def __init__(self, identity: str = "stub", margin: float = 1.0, last: int = 10**9) -> None:
        self.identity, self.margin, self.last = identity, margin, last
        self.batches: list[list[Pair]] = []

    def lengths(self, pairs: Sequence[Pair]) -> list[int]:
        return [len(sentence) for sentence, _ in pairs]

    def logits(self, pairs: Sequence[Pair]) -> list[list[float]]:
        if len(self.batches) == self.last:
            raise KeyboardInterrupt
        self.batches.append(list(pairs))
        return [
            [0.0, 0.0, self.margin if proposition in sentence else -self.margin]
            for sentence, proposition in pairs
        ]


def test_identical_pairs_are_read_once_and_similar_lengths_together(tmp_path: Path) -> None:
    stub = Stub()
    pairs = [("x" * n + " menu", "menu") for n in (5, 900, 7, 950, 6, 5)]
    Engine(stub, tmp_path / "c").entailed(pairs)
    lengths = [[len(sentence) - 5 for sentence, _ in batch] for batch in stub.batches]
    assert lengths == [[950, 900], [7, 6, 5]]


def test_a_close_call_is_read_again_alone(tmp_path: Path) -> None:
    pairs = [("the menu", "menu"), ("the soup", "soup")]
    unsure = Stub(margin=CLOSE / 2)
    assert Engine(unsure, tmp_path / "a").entailed(pairs) == set(pairs)
    assert sorted(len(batch) for batch in unsure.batches) == [1, 1, 2]
    sure = Stub(margin=CLOSE * 2)
    assert Engine(sure, tmp_path / "b").entailed(pairs) == set(pairs)
    assert [len(batch) for batch in sure.batches] == [2]


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    pairs = [(f"{n} menu", "menu") for n in range(100)]
    with pytest.raises(KeyboardInterrupt):
        Engine(Stub(last=2), tmp_path / "c").entailed(pairs)
    resumed = Stub()
    assert Engine(resumed, tmp_path / "c").entailed(pairs) == set(pairs)
    assert sum(len(batch) for batch in resumed.batches) == 100 - 2 * 32


def test_another_model_s_answers_are_never_taken(tmp_path: Path) -> None:
    Engine(Stub("one"), tmp_path / "c").entailed([("the menu", "menu")])
    other = Stub("two")
    Engine(other, tmp_path / "c").entailed([("the menu", "menu")])
    assert other.batches == [[("the menu", "menu")]]


def test_the_identity_names_model_revision_and_libraries(folder: Path) -> None:
    import torch
    import transformers

    identity = load_classifier(str(folder)).identity
    assert identity.startswith(f"{folder.name} at ")
    assert f"transformers {transformers.__version__}, torch {torch.__version__}" in identity
    assert str(folder.parent) not in identity


def test_changed_weights_are_another_revision(folder: Path, tmp_path: Path) -> None:
    copy = save_tiny_deberta(tmp_path / folder.name)
    assert load_classifier(str(copy)).identity == load_classifier(str(folder)).identity
    (copy / "config.json").write_text((copy / "config.json").read_text() + " ")
    assert load_classifier(str(copy)).identity != load_classifier(str(folder)).identity


def test_off_opens_nothing(tmp_path: Path) -> None:
    assert open_engine("off", tmp_path / "c") is None
    assert not (tmp_path / "c").exists()


def test_a_missing_model_says_the_three_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SeamError) as caught:
        open_engine(str(tmp_path / "empty"), tmp_path / "c")
    for way in ("hub", "local folder", "--no-nli"):
        assert way in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_that_knows_no_entailment_is_refused(tmp_path: Path) -> None:
    folder = save_tiny_deberta(tmp_path / "m", labels=["positive", "negative", "mixed"])
    with pytest.raises(SeamError, match="none is entailment"):
        open_engine(str(folder), tmp_path / "c")


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("This is not a database, but it is long enough to be one. " * 20)
    with pytest.raises(SeamError, match="Remove the file"):
        Engine(Stub(), tmp_path / "c")


@pytest.mark.parametrize("given", ["off", "false", False])
def test_off_is_off_however_yaml_reads_it(given: str | bool, tmp_path: Path) -> None:
    assert engine_name(given) == "off" and open_engine(given, tmp_path) is None
    assert engine_name("some/model") == "some/model"
