"""A DeBERTa of a few thousand random weights and a small vocabulary, saved like a real one."""

from collections.abc import Sequence
from pathlib import Path

_WORDS = "the a menu train dentist is was late bad good still i we must call not never very"
WORDS = _WORDS.split()


def save_tiny_deberta(
    folder: Path, labels: Sequence[str] = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
) -> Path:
    """Write a model and a tokenizer that `from_pretrained` reads; the same weights every time."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import DebertaConfig, PreTrainedTokenizerFast
    from transformers.models.deberta.modeling_deberta import DebertaForSequenceClassification

    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: place for place, word in enumerate([*specials, *WORDS, ".", "!", "?"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = DebertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        type_vocab_size=0,
        initializer_range=0.5,  # wide, so that random weights give all three labels
        id2label=dict(enumerate(labels)),
        label2id={name: place for place, name in enumerate(labels)},
    )
    DebertaForSequenceClassification(config).save_pretrained(folder)
    return folder
