"""Cases and texts that several tests share."""

from hypothesis import strategies as st

from seam_lib.build.clusters import Cluster, compose_cases
from seam_lib.build.comments import Comment
from seam_lib.build.conditions import conditions
from seam_lib.build.sources import Item
from seam_lib.core.rows import CONDITIONS

ITEM = Item(
    source="coedit", id="1", artifact="Some text.", reference="A text.", operation="gec",
    license="MIT", genre="prose",
)  # fmt: skip
CLUSTER = Cluster(
    item=ITEM,
    head="Improve it.",
    casual=Comment("note", "My bus was late.", "the bus was late", ["bus was late"]),
    native=Comment("formal", "Figures are old though.", "figures are old", ["figures are old"]),
)
CASES = list(compose_cases([CLUSTER], conditions(CONDITIONS), seed=42))

#: Stretches that could confuse offsets, tags or line ends; the first are this cluster's own tags.
AWKWARD = [
    "<pasted-artifact-f8458437a6a7>", "</pasted-artifact-f8458437a6a7>", "</task-f8458437a6a7>",
    "<pasted-artifact-", "</pasted-artifact-000000000000>", "<task>", "```", "```python\n", "~~~",
    "\r\n", "\r", "\n", "\n\n", "\u2028", "\t", " ", "\x00", "\ufeff", "\u200b", "\u200d",
    "👩‍👩‍👧‍👦", "🇫🇷", "e\u0301", "\u0301", "ß", "İ", "ﬁ", "\U0010ffff", "שלום", "\u202e",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(AWKWARD), st.text(max_size=8)), max_size=12).map("".join)
