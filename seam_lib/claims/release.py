"""Claims about the release's own result files: do they follow from its labels?"""

import numpy as np
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.claims.published import Published
from seam_lib.claims.recomputed import Recomputed

KEYS = ["model", "condition_a", "condition_b"]


def intervals(data: Published, reduce_phi: bool) -> Recomputed:
    """How many published intervals follow, once rounding in one or two steps is allowed for.

    Args:
        data: The published facts.
        reduce_phi: Newcombe's method 10, which reduces a positive phi; otherwise phi unchanged.
    """
    frame = _both(data)
    follows, moved = [], 0
    for r in frame.itertuples():
        table = stats.Paired(r.both, r.a_only, r.b_only, r.neither)
        low, high = _percent(stats.newcombe_paired(table, reduce_phi=reduce_phi))
        plain_low, plain_high = _percent(stats.newcombe_paired(table))
        if (f"{low:.1f}", f"{high:.1f}") != (f"{plain_low:.1f}", f"{plain_high:.1f}"):
            moved += 1
        follows.append(_rounds_to(low, r.ci_low_pp) and _rounds_to(high, r.ci_high_pp))
    rows = frame[[*KEYS, "ci_low_pp", "ci_high_pp"]].assign(follows=follows)
    how = f"phi {'reduced by n/2' if reduce_phi else 'unchanged'}: {sum(follows)} of {len(rows)}"
    if moved:
        how += f"; the reduction moves {moved} of them by 0.1 point or more"
    return Recomputed({"intervals": sum(follows)}, how, rows)


def _percent(interval: tuple[float, float]) -> tuple[float, float]:
    low, high = interval
    return 100 * low, 100 * high


def _rounds_to(value: float, printed: float) -> bool:
    """Whether a value has one printed decimal, rounded in one step or through two decimals."""
    return printed in (round(value, 1), round(round(value, 2), 1))


def contrasts(data: Published, rounding: str = "once") -> Recomputed:
    """How many published contrasts follow in every column.

    Args:
        data: The published facts.
        rounding: `once`, to the printed decimals; `twice`, to one more decimal first; `either`.
    """
    frame = _both(data)
    checks = [frame[f"{c}_published"] == frame[c] for c in ("a_only", "b_only")]
    for printed, computed, decimals in (
        (frame["diff_pp"], 100 * frame["difference"], 1),
        (frame["ci_low_pp"], 100 * frame["low"], 1),
        (frame["ci_high_pp"], 100 * frame["high"], 1),
        (frame["rate_a_published"], frame["rate_a"], 3),
        (frame["rate_b_published"], frame["rate_b"], 3),
    ):
        once = printed == [round(x, decimals) for x in computed]
        twice = printed == [round(round(x, decimals + 1), decimals) for x in computed]
        checks.append({"once": once, "twice": twice, "either": once | twice}[rounding])
    checks += [
        frame["p"].map(_p_value) == frame["p_exact"],
        frame["p_holm"].map(_p_value) == frame["p_holm_published"],
    ]
    follows = np.logical_and.reduce(checks)
    rows = frame[[*KEYS, "diff_pp", "ci_low_pp", "ci_high_pp"]].assign(follows=follows)
    how = f"rounded {rounding}: {follows.sum()} of {len(frame)} rows in every column"
    return Recomputed({"contrasts": int(follows.sum())}, how, rows)


def levers(data: Published) -> Recomputed:
    """How many published levers follow, with events and bootstrap interval."""
    ours = data.levers.set_index("model")
    theirs = data.table("levers").set_index("model").loc[ours.index]
    follows = (ours["newline_events"] == theirs["newline_events"]) & (
        ours["boundary_events"] == theirs["boundary_events"]
    )
    for column, printed in (("lever", "lever"), ("low", "ci_low"), ("high", "ci_high")):
        follows &= np.isclose(ours[column].round(2), theirs[printed].astype(float))
    rows = pd.concat([data.levers, follows.rename("follows").reset_index(drop=True)], axis=1)
    settings = data.params.analysis
    how = f"{settings.bootstrap_draws:,} draws, seed {settings.bootstrap_seed}"
    return Recomputed({"levers": int(follows.sum())}, how, rows)


def _both(data: Published) -> pd.DataFrame:
    """Our contrasts beside the published ones."""
    published = data.table("contrasts")
    return data.contrasts().merge(published, on=KEYS, suffixes=("", "_published"))


def _p_value(p: float) -> float:
    """A p-value as the release prints it: two digits below .001, three decimals above."""
    return float(f"{p:.1e}" if p < 0.001 else f"{p:.3f}")
