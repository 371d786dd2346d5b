"""The statistics: arrays in, numbers out. Nothing here knows of models, files or labels.

Where scipy or statsmodels has a method, it is called. Newcombe's paired interval, Gwet's AC1 and
the resolvable difference are ours. Proportions are fractions in [0, 1]; intervals are 95% unless
another confidence is given.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Interval = tuple[float, float]
#: A p-value below this is significant.
LEVEL = 0.05
#: Reads of the generator for one call. Three or four do, since at least half of all words count.
MOST_READS = 64


# --- one proportion ---------------------------------------------------------------------------


def wilson(k: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
    """Wilson's score interval for k successes in n trials.

    Args:
        k: Successes; a number or an array.
        n: Trials, of the same shape.
        confidence: Coverage, such as 0.95.

    Returns:
        The lower and the upper bound, each of the shape of `k`.

    Source: Wilson (1927).
    """
    low, high = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
    # Exact ends: rounding would leave 1e-18 where the bound is 0 (no success) or 1 (no failure).
    low, high = np.where(np.equal(k, 0), 0.0, low), np.where(np.equal(k, n), 1.0, high)
    return low[()], high[()]  # numbers for numbers, arrays for arrays


def zero_upper_bound(n: int, confidence: float = 0.95) -> float:
    """The Clopper-Pearson one-sided upper bound where none of n trials succeeded.

    Args:
        n: Trials, at least one.
        confidence: One-sided coverage.

    Source: Clopper and Pearson (1934); for zero successes it is 1 - (1 - confidence)^(1/n).
    """
    return float(stats.binomtest(0, n, alternative="less").proportion_ci(confidence).high)


# --- two paired proportions -------------------------------------------------------------------


class Paired(NamedTuple):
    """Counts of matched pairs: absorbed in both conditions, only in a, only in b, in neither."""

    both: int
    a_only: int
    b_only: int
    neither: int

    @property
    def n(self) -> int:
        """All pairs."""
        return sum(self)

    @property
    def rate_a(self) -> float:
        """The proportion under condition a."""
        return (self.both + self.a_only) / self.n

    @property
    def rate_b(self) -> float:
        """The proportion under condition b."""
        return (self.both + self.b_only) / self.n

    @property
    def difference(self) -> float:
        """The proportion under a minus the proportion under b."""
        return (self.a_only - self.b_only) / self.n

    @property
    def discordant(self) -> float:
        """The proportion of pairs whose two members differ."""
        return (self.a_only + self.b_only) / self.n


def pair_counts(a: Bools, b: Bools) -> Paired:
    """Cross-tabulate matched outcomes.

    Args:
        a: Outcomes under condition a, shape (pairs,).
        b: Outcomes under condition b of the same pairs, in the same order.
    """
    both, a_only, b_only = (int(x.sum()) for x in (a & b, a & ~b, ~a & b))
    return Paired(both, a_only, b_only, len(a) - both - a_only - b_only)


def mcnemar_exact(pairs: Paired) -> float:
    """McNemar's test: the exact two-sided binomial p of the discordant pairs; 1 if there are none.

    Source: McNemar (1947).
    """
    discordant = pairs.a_only + pairs.b_only
    if not discordant:
        return 1.0
    return float(stats.binomtest(pairs.a_only, discordant, 0.5).pvalue)


def newcombe_paired(pairs: Paired, confidence: float = 0.95, reduce_phi: bool = False) -> Interval:
    """Newcombe's square-and-add interval for the difference of two paired proportions.

    Two Wilson intervals are combined by squares; their dependence enters through the phi
    coefficient of the 2 x 2 table.

    Args:
        pairs: The cross-tabulated outcomes, at least one pair.
        confidence: Coverage.
        reduce_phi: Reduce a positive numerator of phi by n/2, no lower than zero, as Newcombe's
            method 10 does. The paper names method 10, yet its printed intervals follow with phi
            as it is, so that is the default; the claims ledger counts the difference.

    Returns:
        Lower and upper bound of `pairs.difference`.

    Source: Newcombe (1998), Statistics in Medicine 17, 2635-2650.
    """
    n = pairs.n
    sum_a, sum_b = pairs.both + pairs.a_only, pairs.both + pairs.b_only
    low_a, high_a = wilson(sum_a, n, confidence)
    low_b, high_b = wilson(sum_b, n, confidence)
    margins = sum_a * (n - sum_a) * sum_b * (n - sum_b)
    cross: float = pairs.both * pairs.neither - pairs.a_only * pairs.b_only
    if reduce_phi and cross > 0:
        cross = max(cross - n / 2, 0)
    phi = cross / margins**0.5 if margins else 0.0

    def reach(down: float, up: float) -> float:
        return float(np.sqrt(max(down**2 - 2 * phi * down * up + up**2, 0.0)))

    rate_a, rate_b = pairs.rate_a, pairs.rate_b
    return (
        pairs.difference - reach(rate_a - low_a, high_b - rate_b),
        pairs.difference + reach(high_a - rate_a, rate_b - low_b),
    )


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of a family of p-values, in the order given.

    Source: Holm (1979).
    """
    if len(p) < 2:  # nothing to adjust; and statsmodels collects all garbage at each call
        return [float(x) for x in p]
    return [float(x) for x in multipletests(p, method="holm")[1]]


def resolvable_difference(
    n: int, discordant: float, alpha: float = LEVEL, power: float = 0.80
) -> float:
    """The smallest paired difference that n pairs detect with the given power.

    Solves z(alpha/2) sqrt(psi) + z(power) sqrt(psi - d^2) = d sqrt(n) for d, where psi is the
    discordant proportion. Under Holm, the smallest of m p-values is tested at alpha / m.

    Args:
        n: Matched pairs.
        discordant: Expected proportion of discordant pairs, psi.
        alpha: Two-sided level.
        power: Probability of detection.

    Returns:
        The difference as a fraction; `discordant` itself where even that is not resolved.

    Source: Connor (1987), Biometrics 43, 207-211; paper, Appendix H.
    """
    z_alpha, z_power = stats.norm.isf(alpha / 2), stats.norm.ppf(power)

    def excess(d: float) -> float:
        return float(d * n**0.5 - z_alpha * discordant**0.5 - z_power * (discordant - d * d) ** 0.5)

    return float(optimize.brentq(excess, 0.0, discordant)) if excess(discordant) > 0 else discordant


# --- resampling -------------------------------------------------------------------------------


class PythonRandom:
    """Python's `random.Random(seed).randrange(n)`, many draws at a time.

    The published intervals were drawn with Python's generator, one for the whole panel. numpy's
    MT19937 seeded with the array [seed] yields the same 32-bit words; `randrange(n)` takes the top
    `n.bit_length()` bits of a word and draws again while the value is not below n. Words that one
    call read ahead are kept for the next, so that calls with different n share one stream.
    """

    def __init__(self, seed: int) -> None:
        bits = np.random.MT19937()
        bits.state = np.random.RandomState([seed]).get_state(legacy=False)  # type: ignore[assignment]
        self._words = bits.random_raw
        self._ahead: npt.NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def randrange(self, n: int, size: int) -> npt.NDArray[np.uint16]:
        """The next `size` values of `randrange(n)`.

        Args:
            n: Exclusive upper bound, 1 to 65,535.
            size: How many values.

        Returns:
            An array of shape (size,).

        Raises:
            ValueError: `n` is out of its range.
        """
        if not 1 <= n <= 0xFFFF:
            raise ValueError(f"randrange takes 1 to 65535, not {n}")
        shift = np.uint64(32 - n.bit_length())
        taken = [np.empty(0, dtype=np.uint16)]
        missing = size
        for _ in range(MOST_READS):
            if not missing:
                return np.concatenate(taken)
            words = self._ahead
            if not len(words):
                words = self._words(missing * (1 << n.bit_length()) // n + 64)
            values = (words >> shift).astype(np.uint16)
            accepted = np.flatnonzero(values < n)[:missing]
            used = int(accepted[-1]) + 1 if len(accepted) == missing else len(words)
            self._ahead = words[used:]
            taken.append(values[accepted])
            missing -= len(accepted)
        raise RuntimeError(f"{size} values below {n} took more than {MOST_READS} reads")


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """Elementwise numerator / denominator, infinite where the denominator is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        top, bottom = np.asarray(numerator, float), np.asarray(denominator, float)
        return np.asarray(np.where(bottom > 0, top / bottom, np.inf))


def percentile_interval(draws: Floats) -> Interval:
    """The 95% percentile interval: sorted draws at positions B/40 and B - B/40 - 1 (0-based)."""
    ordered = np.sort(draws)
    edge = len(draws) // 40
    return float(ordered[edge]), float(ordered[-edge - 1])


def bootstrap_sums(a: Bools, b: Bools, draws: int, rng: PythonRandom) -> tuple[Ints, Ints]:
    """Resample clusters with replacement and count both outcomes in every resample.

    Args:
        a: Outcomes under condition a, shape (clusters,), at most 65,535.
        b: Outcomes of the same clusters under condition b.
        draws: Resamples.
        rng: The shared generator; it is advanced by draws x clusters values.

    Returns:
        Two arrays of shape (draws,): the counts of a and of b.

    Source: Efron (1979).
    """
    n = len(a)
    packed = a.astype(np.int32) + (b.astype(np.int32) << 16)
    sums = packed[rng.randrange(n, draws * n).reshape(draws, n)].sum(axis=1, dtype=np.int64)
    return sums & 0xFFFF, sums >> 16


def group_bootstrap(a: Ints, b: Ints, sizes: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Resample whole groups of clusters, such as all that share one comment (Section 6).

    Args:
        a: Absorbed count under condition a by group, shape (groups,).
        b: The same under condition b.
        sizes: Clusters by group.
        draws: Resamples.
        seed: Seed of numpy's default generator.

    Returns:
        The rates of a and of b, each of shape (draws,).
    """
    picks = np.random.default_rng(seed).integers(0, len(a), size=(draws, len(a)))
    total = sizes[picks].sum(axis=1)
    return a[picks].sum(axis=1) / total, b[picks].sum(axis=1) / total


# --- association and agreement ----------------------------------------------------------------


def fisher_exact(k1: int, n1: int, k2: int, n2: int) -> float:
    """Fisher's exact two-sided p for two independent proportions k1/n1 and k2/n2."""
    return float(stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)


def spearman_permutation(
    x: Sequence[float], y: Sequence[float], permutations: int, seed: int
) -> tuple[float, float]:
    """Spearman's rank correlation with a two-sided permutation p.

    Args:
        x: Values, shape (items,).
        y: Values of the same items.
        permutations: Random relabellings of y.
        seed: Seed of numpy's default generator.

    Returns:
        rho and p = (1 + relabellings at least as extreme) / (1 + permutations).
    """
    ranks_x, ranks_y = (stats.zscore(stats.rankdata(v)) for v in (x, y))
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.tile(ranks_y, (permutations, 1)), axis=1)
    rho = float(ranks_x @ ranks_y) / len(ranks_x)
    extreme = np.abs(shuffled @ ranks_x) / len(ranks_x) >= abs(rho) - 1e-12
    return rho, float((1 + extreme.sum()) / (1 + permutations))


def agreement(table: npt.ArrayLike) -> float:
    """Raw agreement of two annotators: the share of items on the diagonal.

    Args:
        table: Counts, shape (2, 2): rows annotator A yes/no, columns annotator B yes/no.
    """
    counts = np.asarray(table, float)
    return float(np.trace(counts) / counts.sum())


def _chance_corrected(table: npt.ArrayLike, chance: Callable[[Floats, Floats], float]) -> float:
    counts = np.asarray(table, float)
    share_a, share_b = counts.sum(axis=1) / counts.sum(), counts.sum(axis=0) / counts.sum()
    expected = chance(share_a, share_b)
    if expected == 1:
        return float("nan")  # one category only: nothing to correct for
    return (agreement(counts) - expected) / (1 - expected)


def cohen_kappa(table: npt.ArrayLike) -> float:
    """Cohen's kappa: agreement beyond what the two annotators' own margins give by chance.

    Args:
        table: Counts, shape (2, 2), as in `agreement`.

    Source: Cohen (1960).
    """
    return _chance_corrected(table, lambda a, b: float(a @ b))


def gwet_ac1(table: npt.ArrayLike) -> float:
    """Gwet's AC1: agreement beyond chance, robust where one category is rare.

    Args:
        table: Counts, shape (2, 2), as in `agreement`.

    Source: Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48.
    """

    def chance(a: Floats, b: Floats) -> float:
        mean = (a + b) / 2
        return float((mean * (1 - mean)).sum() / (len(mean) - 1))

    return _chance_corrected(table, chance)
