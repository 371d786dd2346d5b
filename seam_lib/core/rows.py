"""The rows on disk, and the vocabulary they share.

Field names follow the paper's public release, so that its files load here and ours load there.
`afterthought` is the released name of what this project calls the *comment*.
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

#: The six matched conditions of the paper (Section 3.2), in its order.
CONDITIONS = ("clean", "newline", "blank", "boundary", "mitigation", "newline_R")
#: The five with a comment, which therefore get labels.
TREATED = CONDITIONS[1:]
#: The four in Figure 2: the same comment behind four different seams.
CASUAL = TREATED[:4]
#: The six sources, in the order in which every build and table visits them.
SOURCES = ("canitedit", "coedit", "commitpackft", "iterater", "pararev", "stackexchange")
#: The two of them whose artifacts are code.
CODE_SOURCES = ("canitedit", "commitpackft")
#: The release partition of each source: the group of licences its items may be passed on under.
PARTITION_OF = {
    "canitedit": "permissive",
    "coedit": "permissive",
    "commitpackft": "permissive_review",
    "iterater": "permissive",
    "pararev": "noncommercial_sharealike",
    "stackexchange": "sharealike",
}
#: The file of the benchmark that a release partition goes into, by the terms it may be passed on.
PARTITIONS = {
    "permissive": "permissive",
    "permissive_review": "permissive",
    "sharealike": "cc-by-sa",
    "noncommercial_sharealike": "cc-by-nc-sa",
}
#: The detector tiers, in the order in which the cascade tries them (Section 4).
TIERS = ("lexical_witness", "lexical_regex", "semantic_nli")

Tier = Literal["lexical_witness", "lexical_regex", "semantic_nli"]

#: What readers see: conditions, tiers and sources as the paper's text and tables name them. Files
#: for machines keep the release's names, and a condition without an entry has one name only.
CONDITION_NAMES = {"newline_R": "artifact-native"}
TIER_NAMES: dict[str, str] = {
    "lexical_witness": "witness",
    "lexical_regex": "regex",
    "semantic_nli": "NLI",
}
SOURCE_NAMES = {
    "canitedit": "CanItEdit",
    "coedit": "CoEdIT",
    "commitpackft": "CommitPackFT",
    "iterater": "IteraTeR",
    "pararev": "ParaRev",
    "stackexchange": "Stack Exchange",
}


def in_order(conditions: Iterable[str]) -> list[str]:
    """Distinct conditions: the paper's in its order, then your own by name."""
    found = set(conditions)
    return [c for c in CONDITIONS if c in found] + sorted(found - set(CONDITIONS))


def condition_name(condition: str) -> str:
    """What readers see of a condition; your own conditions keep their names."""
    return CONDITION_NAMES.get(condition, condition)


def contrast_name(a: str, b: str) -> str:
    """What readers see of a contrast of two conditions."""
    return f"{condition_name(a)}/{condition_name(b)}"


def source_of(cluster_id: str) -> str:
    """The source that a cluster id names before its first colon."""
    return cluster_id.partition(":")[0]


class Segment(msgspec.Struct, frozen=True):
    """A stretch of the message with one origin; `start` and `end` count its characters."""

    origin: Literal["typed", "simulated_paste"]
    role: str
    start: int
    end: int
    text: str


class Delimiters(msgspec.Struct, frozen=True):
    """The pair of tags around the artifact in the boundary conditions."""

    opening: str
    closing: str


class Composed(msgspec.Struct, frozen=True):
    """A message, and what is known about it by construction."""

    message: str
    segments: list[Segment]
    delimiters: Delimiters | None = None
    system_instruction: str | None = None


class Case(msgspec.Struct, kw_only=True):
    """One message of the benchmark: one cluster under one condition."""

    id: str
    composition_event_id: str
    source: str
    license: str
    url: str | None
    genre: str
    release_partition: str
    source_item_id: str
    artifact: str
    reference: str | None
    operation: str
    source_instruction: str | None
    seed: int
    condition: str
    task_instruction: str
    afterthought: str | None
    afterthought_role: str | None
    forbidden_proposition: str
    witness_tokens: list[str] | None
    seam_provenance: str = "simulated_by_construction"
    boundary_delimiters: Delimiters | None = None
    system_instruction: str | None = None
    message: str
    segments: list[Segment]
    extra: dict[str, Any] = {}


class Trace(msgspec.Struct, kw_only=True):
    """One attempt at one case. Traces are append-only: no later line replaces an earlier one."""

    run: str
    case_id: str
    provider: str
    endpoint: str
    requested_model: str
    served_model: str | None
    request: dict[str, Any]
    started_at: str
    seconds: float
    attempt: int
    finish_reason: str | None
    response: str | None
    reasoning_chars: int = 0
    reasoning_loops: bool = False
    usage: dict[str, int] = {}
    cost_usd: float | None = None
    error: str | None = None
    raw: dict[str, Any] = {}


class Output(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The condensed answer to one case: what the scorer reads."""

    case_id: str
    model: str
    response: str | None
    finish_reason: str | None = None
    error: str | None = None
    decoding: str | None = None


class Label(msgspec.Struct, kw_only=True):
    """The scorer's verdict on one treated case."""

    case_id: str
    model: str
    source: str
    condition: str
    composition_event_id: str
    absorbed: bool
    tier: Tier | None = None
    clean_missing: bool = False


class Candidate(msgspec.Struct, kw_only=True, frozen=True):
    """A message of a chat corpus that the screen kept; its text stays in the corpus."""

    corpus: str
    shard: str
    row: int
    hash: str
    kind: Literal["paste_with_tail", "fence_trailing"]
    msglen: int
    taillen: int

    @property
    def id(self) -> str:
        """The message's place, which is unique; a hash may come twice."""
        return f"{self.corpus}/{self.shard}/{self.row}"


class Judgement(Candidate, kw_only=True, frozen=True):
    """The judge's answer about a candidate; `genuine` is None if it cannot be parsed."""

    judge: str
    asked: str
    genuine: bool | None
    confidence: float | None = None
    genre: str | None = None
