"""Entailment by a DeBERTa fine-tuned on MNLI: batches, a cache, and the plain pipeline's labels.

The paper runs microsoft/deberta-large-mnli sentence by sentence and takes its top label (Section 4,
Appendix D). Here identical pairs are read once over all models and conditions, answers are kept on
disk, and sentences of similar length share a forward pass. A batch's logits differ from a single
pass's in the last bits, so a pair whose two top logits are close is read again alone: its label is
then those of the plain pipeline, and the others are too far from the edge to differ.
"""

import hashlib
import os
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import httpx

from seam_lib.core.errors import SeamError
from seam_lib.core.files import sha256
from seam_lib.core.progress import shown

#: A sentence and the proposition that it may entail.
Pair = tuple[str, str]
#: The library that the paper's labels were made with.
PAPER_TRANSFORMERS = "4.51.3"
#: Two top logits closer than this are read again alone; batching moves logits by about 1e-5.
CLOSE = 1e-2
#: A batch holds at most so many pairs, and tokens with padding.
BATCH_PAIRS = 32
BATCH_TOKENS = 2048
REMEDIES = (
    "Either connect to the hub once and `pip install -e '.[nli]'`; give a local "
    "folder that holds the model (score.nli or --nli); or leave the tier out with --no-nli."
)


class Classifier(Protocol):
    """A model that classifies pairs."""

    #: Names the model, its revision and its libraries: all that its labels depend on.
    identity: str
    #: The class names, in the order of the logits, in lower case.
    labels: Sequence[str]

    def lengths(self, pairs: Sequence[Pair]) -> list[int]:
        """The number of tokens of each pair."""

    def logits(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """One forward pass; logits of shape (pairs, labels)."""


class Engine:
    """The semantic tier's engine: a classifier behind a cache on disk."""

    def __init__(self, classifier: Classifier, cache: Path) -> None:
        """Open the cache, or start one.

        Args:
            classifier: The model.
            cache: An SQLite file. It may hold the answers of several models.

        Raises:
            SeamError: The model has no class "entailment", or the cache is no such file.
        """
        if "entailment" not in classifier.labels:
            raise SeamError(
                f"{classifier.identity}: its classes are {', '.join(classifier.labels)}, and none "
                "is entailment. Take a model fine-tuned on MNLI."
            )
        self.classifier = classifier
        self.passes = 0
        cache.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._cache = sqlite3.connect(cache, timeout=60)
            self._cache.execute(
                "CREATE TABLE IF NOT EXISTS label (pair BLOB PRIMARY KEY, name TEXT)"
            )
        except sqlite3.DatabaseError as error:
            raise SeamError(f"{cache}: {error}. Remove the file; it is only a cache.") from None

    def __str__(self) -> str:
        return self.classifier.identity

    def entailed(self, pairs: Iterable[Pair]) -> set[Pair]:
        """Of these (sentence, proposition) pairs, those in which the sentence entails it.

        Every batch's answers are on disk before the next begins, so a stopped run goes on where it
        was.
        """
        names = {pair: self._recall(pair) for pair in pairs}
        unread = [pair for pair, name in names.items() if name is None]
        batches = list(self._batches(unread))
        for batch in shown(batches, "entailment", len(batches)):
            found = dict(zip(batch, self.classify(batch), strict=True))
            self._remember(found)
            names |= found
        return {pair for pair, name in names.items() if name == "entailment"}

    def classify(self, batch: Sequence[Pair]) -> list[str]:
        """The top label of each pair, the same as if each were read alone."""
        names = []
        for pair, logits in zip(batch, self._logits(batch), strict=True):
            top, second = sorted(logits, reverse=True)[:2]
            if top - second < CLOSE and len(batch) > 1:
                (logits,) = self._logits([pair])
            names.append(self.classifier.labels[logits.index(max(logits))])
        return names

    def _logits(self, batch: Sequence[Pair]) -> list[list[float]]:
        self.passes += 1
        return self.classifier.logits(batch)

    def _batches(self, pairs: list[Pair]) -> Iterator[list[Pair]]:
        """Longest first, so that memory and the time left are known early."""
        lengths = dict(zip(pairs, self.classifier.lengths(pairs), strict=True)) if pairs else {}
        batch: list[Pair] = []
        for pair in sorted(pairs, key=lambda pair: (-lengths[pair], pair)):
            width = lengths[batch[0]] if batch else 0
            if batch and (len(batch) == BATCH_PAIRS or width * (len(batch) + 1) > BATCH_TOKENS):
                yield batch
                batch = []
            batch.append(pair)
        if batch:
            yield batch

    def _key(self, pair: Pair) -> bytes:
        return hashlib.sha256("\0".join([self.classifier.identity, *pair]).encode()).digest()

    def _recall(self, pair: Pair) -> str | None:
        row = self._cache.execute("SELECT name FROM label WHERE pair = ?", [self._key(pair)])
        return next((name for (name,) in row), None)

    def _remember(self, found: dict[Pair, str]) -> None:
        with self._cache:
            self._cache.executemany(
                "INSERT OR REPLACE INTO label VALUES (?, ?)",
                [(self._key(pair), name) for pair, name in found.items()],
            )


class TransformersClassifier:
    """A sequence classifier of the transformers library, on CPU."""

    def __init__(self, model: Any, tokenizer: Any, identity: str) -> None:
        """Take a loaded model; see `open_engine`."""
        names = model.config.id2label
        self.identity = identity
        self.labels: Sequence[str] = [names[index].lower() for index in sorted(names)]
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._limit = min(tokenizer.model_max_length, model.config.max_position_embeddings)

    def lengths(self, pairs: Sequence[Pair]) -> list[int]:
        """The number of tokens of each pair, after truncation."""
        return [len(ids) for ids in self._encode(pairs)["input_ids"]]

    def logits(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """One forward pass over the pairs, padded to the longest."""
        import torch

        batch = self._encode(pairs, padding=True, return_tensors="pt")
        with torch.inference_mode():
            rows: list[list[float]] = self._model(**batch).logits.tolist()
        return rows

    def _encode(self, pairs: Sequence[Pair], **how: Any) -> Any:
        premises, hypotheses = map(list, zip(*pairs, strict=True))
        return self._tokenizer(premises, hypotheses, truncation=True, max_length=self._limit, **how)


def engine_name(given: str | bool) -> str:
    """The semantic tier's name as a setting; YAML and its like read a bare off as false."""
    return "off" if given in (False, "false", "off") else str(given)


def open_engine(name: str | bool, root: Path) -> Engine | None:
    """Open the semantic tier.

    Args:
        name: A model on the hub, a local folder, or "off", as `engine_name` reads it.
        root: The project's folder; answers are kept in its runs/nli.sqlite.

    Returns:
        The engine; None for "off".

    Raises:
        SeamError: The libraries or the model are not there; the message says what to do.
    """
    wanted = engine_name(name)
    return None if wanted == "off" else Engine(load_classifier(wanted), root / "runs/nli.sqlite")


def load_classifier(name: str) -> TransformersClassifier:
    """Load a model from the hub or from a folder, for all cores of this machine."""
    try:
        import torch
        import transformers
        from transformers.models.auto.modeling_auto import AutoModelForSequenceClassification
        from transformers.models.auto.tokenization_auto import AutoTokenizer
    except ImportError as error:
        raise SeamError(
            f"The semantic tier needs {error.name}, not installed. {REMEDIES}"
        ) from None
    if transformers.__version__ != PAPER_TRANSFORMERS:
        warnings.warn(
            f"transformers {transformers.__version__}: the paper's labels were made with "
            f"{PAPER_TRANSFORMERS}, and borderline ones are known to differ.",
            stacklevel=2,
        )
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    local = Path(name).is_dir() or not _hub_answers()
    loader: Any = AutoModelForSequenceClassification
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
        model = loader.from_pretrained(name, local_files_only=local)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SeamError(
            f"{name}: the entailment model is not available: {reason} {REMEDIES}"
        ) from None
    folder = Path(name)
    revision = _digest(folder) if folder.is_dir() else model.config._commit_hash
    libraries = f"transformers {transformers.__version__}, torch {torch.__version__}"
    shown = folder.name if folder.is_dir() else name
    return TransformersClassifier(model, tokenizer, f"{shown} at {revision}, {libraries}")


def _hub_answers() -> bool:
    """Ask once, with little patience; without an answer, only what is on this machine counts."""
    from huggingface_hub.constants import ENDPOINT

    try:
        httpx.head(ENDPOINT, timeout=10)
    except httpx.HTTPError:
        return False
    return True


def _digest(folder: Path) -> str:
    """What a local model's files contain: their names and digests, hashed."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    lines = "".join(f"{path.name} {sha256(path)}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()[:12]
