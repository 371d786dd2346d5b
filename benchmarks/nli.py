"""The semantic tier at deberta-large's size: passes and seconds, ours and the plain pipeline's.

Passes are counted over the whole embedded run, with an engine that calls one sentence in fifty an
entailment. Seconds are measured on a sample of each pipeline's passes and scaled by the number of
tokens with padding; the model has random weights, since they do not change what a pass costs. The
plain pipeline reads every sentence of treated and of clean separately.
"""

import tempfile
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from seam_lib.core.benchmark import read_benchmark
from seam_lib.core.files import read_rows
from seam_lib.core.rows import Output
from seam_lib.score.nli import Engine, Pair, TransformersClassifier
from seam_lib.score.scorer import score
from seam_lib.score.tiers import Question, semantic, sentences

ROOT = Path(__file__).parent.parent
RUN = "embedded"
#: Passes that are timed, of each pipeline.
SAMPLE = 25


def main() -> None:
    outputs = ROOT / "data" / "outputs" / f"{RUN}.jsonl"
    if not outputs.exists():
        print(f"skipped: {outputs.relative_to(ROOT)} is not there")
        return
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
    findings, _ = score(cases, read_rows(outputs, Output))
    questions = [
        Question(j.treated.returned.text, j.clean.returned.text, j.case.forbidden_proposition)
        for j in findings
        if j.verdict is None and j.case.genre != "code"
    ]
    model = random_deberta_large()
    recorder = Recorder(model)
    with tempfile.TemporaryDirectory() as folder:
        semantic(questions, Engine(recorder, Path(folder) / "cache.sqlite"))
    ours = seconds(model, recorder.batches)
    plain = [[pair] for pair in plain_passes(questions)]
    theirs = seconds(model, plain)
    print(f"{len(questions)} answers of the run {RUN!r} that the lexical tiers leave open")
    print(f"plain pipeline: {len(plain):,} passes, {theirs:,.0f} s")
    print(f"ours:           {len(recorder.batches):,} passes, {ours:,.0f} s")
    print(f"time: {theirs / ours:.1f} times less; passes: {len(plain) / len(recorder.batches):.1f}")


class Recorder:
    """Records the batches, and answers at once."""

    identity = "recorder"
    labels: Sequence[str] = ("contradiction", "neutral", "entailment")

    def __init__(self, model: TransformersClassifier) -> None:
        self.lengths = model.lengths
        self.batches: list[list[Pair]] = []

    def logits(self, pairs: Sequence[Pair]) -> list[list[float]]:
        self.batches.append(list(pairs))
        chances = (zlib.crc32(sentence.encode()) % 50 == 0 for sentence, _ in pairs)
        return [[0.0, 1.0, 2.0 * entails] for entails in chances]


def seconds(model: TransformersClassifier, batches: Sequence[Sequence[Pair]]) -> float:
    """Seconds of all batches, from a sample and the number of tokens with padding."""
    sample = batches[:: max(1, len(batches) // SAMPLE)]
    start = time.perf_counter()
    for batch in sample:
        model.logits(batch)
    spent = time.perf_counter() - start
    return spent * padded_tokens(model, batches) / padded_tokens(model, sample)


def padded_tokens(model: TransformersClassifier, batches: Sequence[Sequence[Pair]]) -> int:
    return sum(len(batch) * max(model.lengths(batch)) for batch in batches)


def plain_passes(questions: Iterable[Question]) -> Iterable[Pair]:
    """Every sentence of treated and of clean, as the plain pipeline reads a negative."""
    for question in questions:
        for text in (question.treated, question.clean):
            for sentence in sentences(text):
                yield sentence, question.proposition


def random_deberta_large() -> TransformersClassifier:
    """Microsoft's deberta-large by its published configuration, with random weights."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import DebertaConfig, PreTrainedTokenizerFast
    from transformers.models.deberta.modeling_deberta import DebertaForSequenceClassification

    torch.manual_seed(0)
    config = DebertaConfig(
        vocab_size=50265,
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        max_position_embeddings=512,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        type_vocab_size=0,
        id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"},
        label2id={"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2},
    )
    # One token per word, which is close to what the real vocabulary gives for English.
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[UNK]")
    model = DebertaForSequenceClassification(config)
    return TransformersClassifier(model, fast, "random weights")


if __name__ == "__main__":
    main()
