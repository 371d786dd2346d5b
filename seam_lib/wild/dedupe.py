"""Near-duplicates: exact after normalisation, then MinHash and LSH (Broder 1997; datasketch).

About half of the paper's raw flags were copies of one another: templates with a slot changed, the
same paste sent again. Only a digest and a signature leave this module, never the words.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt
from datasketch import MinHash, MinHashLSH

#: Words per shingle: long enough that common phrases do not make unrelated messages look alike.
SHINGLE = 5
#: Messages that share this much of their shingles count as one message with a slot changed.
MIN_JACCARD = 0.7
#: LSH bands, and signature rows per band: two messages at Jaccard 0.7, 0.8 or 0.9 meet in a band
#: with probability 0.89, 0.99 or 1.00; their signatures then decide.
BANDS, BAND_ROWS = 12, 5
PERMUTATIONS = BANDS * BAND_ROWS
#: Only this many first and last words are shingled, which limits the cost of a 5 MB message.
HEAD_WORDS, TAIL_WORDS = 1_000, 200

Copy = Literal["unique", "exact_duplicate", "near_duplicate"]
Hashes = npt.NDArray[np.uint32]


def _normal(code: int) -> int:
    """What a byte becomes: letters lower case, digits 0, other ASCII characters a space."""
    character = chr(code)
    if code > 127:
        return code
    if character.isdigit():
        return ord("0")
    return ord(character.lower()) if character.isalpha() else ord(" ")


_NORMAL = bytes(map(_normal, range(256)))


def normal_words(text: str) -> list[bytes]:
    """The words of a text, lower case, without punctuation, every digit a 0."""
    return text.encode("utf-8", "replace").translate(_NORMAL).split()


def digest(words: Sequence[bytes]) -> bytes:
    """Sixteen bytes that are equal for equal words."""
    return blake2b(b" ".join(words), digest_size=16).digest()


def shingle_hashes(words: Sequence[bytes]) -> Hashes:
    """One number for every run of `SHINGLE` words (one for all of them if there are fewer)."""
    if len(words) > HEAD_WORDS + TAIL_WORDS:
        words = [*words[:HEAD_WORDS], *words[-TAIL_WORDS:]]
    hashes = np.array([crc32(word) for word in words], dtype=np.uint32)
    runs = max(len(hashes) - SHINGLE + 1, 1)
    mixed = np.zeros(runs, dtype=np.uint32)
    for offset in range(min(SHINGLE, len(hashes))):
        mixed = mixed * np.uint32(0x9E3779B1) + hashes[offset : offset + runs]
    return mixed


@cache
def _permutations() -> tuple[Hashes, Hashes]:
    """The multipliers and increments of datasketch's hash functions, as columns."""
    multipliers, increments = MinHash(num_perm=PERMUTATIONS, scheme="affine32").permutations
    return multipliers[:, None], increments[:, None]


def sign(hashes: Hashes) -> Hashes:
    """The signature, of shape (PERMUTATIONS,), of a set of shingle hashes.

    It is the one that `datasketch.MinHash.update_batch` computes, in array operations: datasketch
    visits every number in Python, which would double the cost of the whole screen.
    """
    multipliers, increments = _permutations()
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed = mixed * np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed = mixed * np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    signature: Hashes = (multipliers * mixed + increments).min(axis=1)
    return signature


class Index:
    """The unique messages so far."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._signatures: list[Hashes] = []
        self._bands = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, BAND_ROWS))
        self._sketch = MinHash(num_perm=PERMUTATIONS, scheme="affine32")

    def add(self, digest: bytes, signature: Hashes) -> Copy:
        """Compare a message with the unique ones before it; the first of several alike is unique.

        Args:
            digest: The message's digest.
            signature: Its signature, of shape (PERMUTATIONS,).
        """
        if digest in self._digests:
            return "exact_duplicate"
        self._digests.add(digest)
        self._sketch.hashvalues = signature
        met = self._bands.query(self._sketch)
        if any((self._signatures[other] == signature).mean() >= MIN_JACCARD for other in met):
            return "near_duplicate"
        self._bands.insert(len(self._signatures), self._sketch, check_duplication=False)
        self._signatures.append(signature)
        return "unique"
