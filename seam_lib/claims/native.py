"""Claims about comments that fit the pasted text: Table 5, and where the change is largest."""

import numpy as np
import pandas as pd

from seam_lib.analysis import stats
from seam_lib.claims import contrasts
from seam_lib.claims.published import Published
from seam_lib.claims.rates import rate
from seam_lib.claims.recomputed import Recomputed, Value
from seam_lib.core.rows import CODE_SOURCES, SOURCE_NAMES

#: The six sources by genre, in the words of Section 3.3.
GENRES = {
    "canitedit": "code",
    "commitpackft": "code",
    "coedit": "short prose",
    "iterater": "long prose",
    "pararev": "scientific",
    "stackexchange": "technical",
}


def row(data: Published, model: str, reduce_phi: bool = False) -> Recomputed:
    """One row of Table 5: casual and artifact-native rate, increase, interval, code rates."""
    r = contrasts.family(data, "newline", "newline_R").loc[model]
    table = stats.Paired(*(int(r[c]) for c in stats.Paired._fields))
    low, high = stats.newcombe_paired(table, reduce_phi=reduce_phi)
    code = [rate(data, model, c, CODE_SOURCES) for c in ("newline", "newline_R")]
    values: dict[str, Value] = {
        "casual": 100 * table.rate_a,
        "artifact-native": 100 * table.rate_b,
        "increase": -100 * table.difference,
        "low": -100 * high,
        "high": -100 * low,
        "code, casual": code[0].percent,
        "code, artifact-native": code[1].percent,
    }
    how = (
        f"({table.b_only} - {table.a_only}) / {table.n}, Newcombe's interval; code "
        f"{len(code[0].absorbed)}/{code[0].usable} and {len(code[1].absorbed)}/{code[1].usable}"
    )
    cases = contrasts.discordant(data, model, "newline", "newline_R")
    return Recomputed(values, how, contrasts.rows_of(r.to_frame().T), cases)


def largest_change(data: Published, by: str = "cell") -> Recomputed:
    """Where the significant models change most between casual and artifact-native comments.

    Args:
        data: The published facts.
        by: `cell`, the genre of the largest change of one model in one source; `genre`, the genre
            with the largest mean change over models; `model`, how many models change most in code.
    """
    frame = contrasts.family(data, "newline", "newline_R")
    models = frame.index[frame["significant_increase"]]
    changes = pd.DataFrame(
        {s: [_change(data, m, [s]) for m in models] for s in GENRES}, index=data.names(models)
    )
    genres = pd.DataFrame(
        {
            genre: [_change(data, m, [s for s in GENRES if GENRES[s] == genre]) for m in models]
            for genre in dict.fromkeys(GENRES.values())
        },
        index=changes.index,
    )
    if by == "cell":
        model, source = changes.stack().idxmax()
        how = f"{model} in {SOURCE_NAMES[source]}: {changes.loc[model, source]:+.1f}"
        return Recomputed({"genre": GENRES[source]}, how, changes.reset_index(names="model"))
    if by == "genre":
        means = genres.mean()
        how = ", ".join(f"{genre} {x:+.1f}" for genre, x in means.items())
        return Recomputed({"genre": str(means.idxmax())}, how, genres.reset_index(names="model"))
    most = int((genres.idxmax(axis=1) == "code").sum())
    text = f"code in {most} of {len(models)} models"
    return Recomputed({"genre": text}, text, genres.reset_index(names="model"))


def _change(data: Published, model: str, sources: list[str]) -> float:
    """The increase (points) over the clusters of some sources, where both conditions are usable."""
    labels = data.labels()
    x, y, both = labels.matched((model, "newline"), (model, "newline_R"))
    inside = both & np.isin(labels.sources, sources)
    return -100 * stats.pair_counts(x[inside], y[inside]).difference
