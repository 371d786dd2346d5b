"""The semantic tier at deberta-large's size: passes and seconds, ours and the plain pipeline's.

The weights are random: a pass costs the same whatever they are. The plain pipeline reads every
sentence of treated and of clean alone; it is timed on a sample of its passes, scaled by tokens.
"""

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from seam_lib.build import read_benchmark
from seam_lib.cascade import Question, semantic, sentences
from seam_lib.files import read_rows
from seam_lib.nli import Engine, Pair, TransformersClassifier
from seam_lib.schema import Output
from seam_lib.score import judge

ROOT = Path(__file__).parent.parent
RUN = "embedded"
#: Passes of the plain pipeline that are timed; the rest is proportional to tokens.
SAMPLE = 60


def main() -> None:
    outputs = ROOT / "data" / "outputs" / f"{RUN}.jsonl"
    if not outputs.exists():
        print(f"skipped: {outputs.relative_to(ROOT)} is not there")
        return
    cases = read_benchmark(ROOT / "data" / "benchmark" / "embedded")
    judgments, _ = judge(cases, read_rows(outputs, Output))
    questions = [
        Question(j.treated.artifact.text, j.clean.artifact.text, j.case.forbidden_proposition)
        for j in judgments
        if j.verdict is None and j.case.genre != "code"
    ]
    classifier = random_deberta_large()
    plain = list(plain_passes(questions))
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(classifier, Path(folder) / "cache.sqlite")
        start = time.perf_counter()
        semantic(questions, engine)
        ours = time.perf_counter() - start
    sample = plain[:: max(1, len(plain) // SAMPLE)]
    start = time.perf_counter()
    for pair in sample:
        classifier.logits([pair])
    lengths = dict(zip(plain, classifier.lengths(plain), strict=True))
    scale = sum(lengths[pair] for pair in plain) / sum(lengths[pair] for pair in sample)
    theirs = (time.perf_counter() - start) * scale
    print(f"{len(questions)} answers of the run {RUN!r} that the lexical tiers leave open")
    print(f"plain pipeline: {len(plain):,} passes, {theirs:,.0f} s (from {len(sample)} passes)")
    print(
        f"ours:           {engine.passes:,} passes, {ours:,.0f} s, {theirs / ours:.1f} times less"
    )


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
    # One token a word, which is near to what the real vocabulary makes of English.
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
