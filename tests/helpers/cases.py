"""Rows that are made up: cases and their texts, traces, label sets."""

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import strategies as st

from seam_lib.analysis.labels import LabelSet, Record, label_set
from seam_lib.build.clusters import Cluster, compose_cases
from seam_lib.build.comments import Comment
from seam_lib.build.conditions import conditions
from seam_lib.build.release import Digests, digest
from seam_lib.build.sources import Item
from seam_lib.core.params import AnalysisParams
from seam_lib.core.rows import CONDITIONS, SOURCES, TREATED, Case, Trace
from seam_lib.infer.prompts import message_digest, prompt_of

CASUAL = Comment("note", "My bus was late.", "the bus was late", ["bus was late"])
NATIVE = Comment("formal", "Figures are old though.", "figures are old", ["figures are old"])

#: Stretches that could confuse offsets, tags or line ends; the first are those of coedit:101.
AWKWARD = [
    "<pasted-artifact-f8458437a6a7>", "</pasted-artifact-f8458437a6a7>", "</task-f8458437a6a7>",
    "<pasted-artifact-", "</pasted-artifact-000000000000>", "<task>", "```", "```python\n", "~~~",
    "\r\n", "\r", "\n", "\n\n", "\u2028", "\t", " ", "\x00", "\ufeff", "\u200b", "\u200d",
    "👩‍👩‍👧‍👦", "🇫🇷", "e\u0301", "\u0301", "ß", "İ", "ﬁ", "\U0010ffff", "שלום", "\u202e",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(AWKWARD), st.text(max_size=8)), max_size=12).map("".join)


def item(number: int, artifact: str, source: str = "coedit", **fields: Any) -> Item:
    base = {"operation": "gec", "license": "MIT", "genre": "prose"}
    return Item(source=source, id=str(number), artifact=artifact, **(base | fields))


def compose(items: Iterable[Item]) -> list[Case]:
    """The six cases of each item, under the same two comments."""
    clusters = [Cluster(one, head="Improve it.", casual=CASUAL, native=NATIVE) for one in items]
    return list(compose_cases(clusters, conditions(CONDITIONS), seed=42))


#: One cluster, coedit:1.
CASES = compose([item(1, "Some text.", reference="A text.")])


def trial_cases(clusters: int = 6) -> list[Case]:
    """Six cases a cluster, the clusters spread over the sources."""
    return compose(
        item(n, f"Text number {n}, as pasted.\nIt ends here.", SOURCES[n % 6], reference=None)
        for n in range(clusters)
    )


def trace(case: Case, **fields: object) -> Trace:
    """A usable attempt at a case, with some fields changed."""
    base = {
        "run": "r", "case_id": case.id, "provider": "openai", "endpoint": "e",
        "requested_model": "m", "served_model": "m", "started_at": "2026-01-01T00:00:00+00:00",
        "request": {"messages_sha256": message_digest(prompt_of(case).messages)}, "seconds": 1.0,
        "attempt": 1, "finish_reason": "stop", "response": "text",
    }  # fmt: skip
    return msgspec.convert(base | fields, Trace)


#: Few draws: a small set needs an analysis that is right, not one that is precise.
QUICK = AnalysisParams(bootstrap_draws=200, bootstrap_seed=42, permutations=99)


def small_set(
    models: Iterable[str] = ("m",),
    conditions: Iterable[str] = TREATED,
    absorbed: Iterable[tuple[str, str]] = (("coedit:0", "newline"),),
    per_source: int = 2,
) -> LabelSet:
    """A label set of `per_source` clusters a source; `absorbed` names (cluster, condition)."""
    events = set(absorbed)
    return label_set(
        Record(
            model,
            cluster,
            condition,
            (cluster, condition) in events,
            "lexical_witness" if (cluster, condition) in events else None,
        )
        for model in models
        for cluster in (f"{source}:{i}" for source in SOURCES for i in range(per_source))
        for condition in conditions
    )


def digests_of(cases: Iterable[Case]) -> Digests:
    """Cases as data/published/clusters.csv knows the release's: by the digests of the messages."""
    found: Digests = {}
    for case in cases:
        if case.condition in TREATED:
            found.setdefault(case.composition_event_id, {})[case.condition] = digest(case.message)
    return found
