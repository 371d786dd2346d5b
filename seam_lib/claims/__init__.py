"""The paper's numbers, each with the function that recomputes it.

`ledger` reads paper/claims.yaml and gives every entry a status, `report` writes the results, and
`numbers` checks that no number in the paper's text is left out. The other modules hold the
recompute functions, grouped by topic.
"""

from seam_lib.claims.ledger import Claim, Outcome, read_ledger, recompute
from seam_lib.claims.report import describe, find_outcome, recompute_all, write_claims

__all__ = [
    "Claim",
    "Outcome",
    "describe",
    "find_outcome",
    "read_ledger",
    "recompute",
    "recompute_all",
    "write_claims",
]
