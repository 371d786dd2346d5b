"""The claims ledger, from the files to every status: how long, and where the time goes."""

import time

from seam_lib.claims import read_ledger, recompute
from seam_lib.claims.published import Published
from seam_lib.core.params import find_root


def main() -> None:
    root = find_root()
    start = time.perf_counter()
    claims, data = read_ledger(root / "paper/claims.yaml"), Published(root)
    spent: dict[str, float] = {}
    for claim in claims:
        began = time.perf_counter()
        recompute(claim, data)
        spent[claim.id] = time.perf_counter() - began
    print(f"{len(claims)} claims  {time.perf_counter() - start:6.2f} s")
    for claim_id, seconds in sorted(spent.items(), key=lambda item: -item[1])[:5]:
        print(f"{claim_id:28}  {seconds:6.2f} s")


if __name__ == "__main__":
    main()
