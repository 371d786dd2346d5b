import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar

from seam_lib.analysis import stats
from seam_lib.analysis.stats import Paired, PythonRandom

quick = settings(max_examples=60, derandomize=True, deadline=None)
counts = st.integers(0, 60)
tables = st.builds(Paired, counts, counts, counts, counts).filter(lambda t: t.n > 0)


# --- one proportion ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [  # Newcombe (1998), Statistics in Medicine 17, 857-872, Table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_bounds(k, n, low, high):
    assert stats.wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@quick
@given(n=st.integers(1, 500), data=st.data())
def test_wilson_contains_the_estimate_mirrors_and_narrows(n, data):
    k = data.draw(st.integers(0, n))
    low, high = stats.wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    mirrored = stats.wilson(n - k, n)
    assert mirrored == pytest.approx((1 - high, 1 - low))
    wide, narrow = high - low, np.ptp(stats.wilson(10 * k, 10 * n))
    assert narrow < wide
    assert np.ptp(stats.wilson(k, n, confidence=0.99)) > wide


def test_wilson_rises_with_the_successes_and_ends_exactly():
    low, high = stats.wilson(np.arange(31), np.full(31, 30))
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()
    assert (low[0], high[-1]) == (0.0, 1.0)


def test_wilson_of_numbers_and_arrays_agree():
    low, high = stats.wilson(np.array([0, 7, 30]), np.array([30, 30, 30]))
    assert [stats.wilson(k, 30) for k in (0, 7, 30)] == list(zip(low, high, strict=True))


@pytest.mark.parametrize("n", [1, 20, 255, 300])
def test_zero_upper_bound_is_the_closed_form(n):
    assert stats.zero_upper_bound(n) == pytest.approx(1 - 0.05 ** (1 / n))
    assert stats.zero_upper_bound(n, 0.99) == pytest.approx(1 - 0.01 ** (1 / n))


def test_zero_upper_bound_is_near_three_over_n():
    assert stats.zero_upper_bound(300) == pytest.approx(3 / 300, rel=0.01)  # the rule of three


# --- two paired proportions -------------------------------------------------------------------


def test_pairs_are_counted_by_both_outcomes():
    a = np.array([1, 1, 1, 0, 0, 0], bool)
    b = np.array([1, 0, 0, 1, 0, 0], bool)
    pairs = stats.pair_counts(a, b)
    assert pairs == Paired(both=1, a_only=2, b_only=1, neither=2)
    assert (pairs.n, pairs.rate_a, pairs.rate_b) == (6, 3 / 6, 2 / 6)
    assert (pairs.difference, pairs.discordant) == (1 / 6, 3 / 6)


def test_no_pairs_count_as_none():
    empty = np.empty(0, bool)
    assert stats.pair_counts(empty, empty) == Paired(0, 0, 0, 0)


@quick
@given(table=tables)
def test_mcnemar_is_that_of_statsmodels(table):
    reference = mcnemar([[table.both, table.a_only], [table.b_only, table.neither]], exact=True)
    assert stats.mcnemar_exact(table) == pytest.approx(reference.pvalue)
    swapped = Paired(table.both, table.b_only, table.a_only, table.neither)
    assert stats.mcnemar_exact(swapped) == pytest.approx(stats.mcnemar_exact(table))


@pytest.mark.parametrize(
    ("a_only", "b_only", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (6, 0, 2 / 2**6), (5, 1, 2 * 7 / 2**6), (3, 3, 1.0)],
)
def test_mcnemar_by_hand(a_only, b_only, p):
    assert stats.mcnemar_exact(Paired(4, a_only, b_only, 9)) == pytest.approx(p)


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        (Paired(36, 12, 2, 0), 0.0569, 0.3404),  # Newcombe (1998), 17, 2635-2650, method 10
        (Paired(1, 1, 7, 12), -0.507, -0.026),  # Fagerland et al. (2014), Stat Med 33, 2850-2875
    ],
)
def test_newcombe_method_10_gives_the_published_bounds(table, low, high):
    digits = 5e-5 if high == 0.3404 else 5e-4
    assert stats.newcombe_paired(table, reduce_phi=True) == pytest.approx((low, high), abs=digits)


def plain_newcombe(table: Paired, z: float = 1.959963984540054) -> tuple[float, float]:
    """The square-and-add interval written out from the paper, without any library."""
    n = table.n

    def wilson(k: int) -> tuple[float, float]:
        middle, reach = 2 * k + z * z, z * math.sqrt(z * z + 4 * k * (n - k) / n)
        return (middle - reach) / (2 * (n + z * z)), (middle + reach) / (2 * (n + z * z))

    e, f, g, h = table
    (l1, u1), (l2, u2) = wilson(e + f), wilson(e + g)
    p1, p2 = (e + f) / n, (e + g) / n
    product = (e + f) * (g + h) * (e + g) * (f + h)
    phi = (e * h - f * g) / math.sqrt(product) if product else 0
    down = (p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2
    up = (u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2
    return p1 - p2 - math.sqrt(max(down, 0)), p1 - p2 + math.sqrt(max(up, 0))


@quick
@given(table=tables)
def test_newcombe_equals_the_formula_written_out(table):
    assert stats.newcombe_paired(table) == pytest.approx(plain_newcombe(table), abs=1e-7)


@quick
@given(table=tables, reduce_phi=st.booleans())
def test_newcombe_contains_the_difference_and_mirrors(table, reduce_phi):
    low, high = stats.newcombe_paired(table, reduce_phi=reduce_phi)
    assert -1 - 1e-9 <= low <= table.difference <= high <= 1 + 1e-9
    swapped = Paired(table.both, table.b_only, table.a_only, table.neither)
    assert stats.newcombe_paired(swapped, reduce_phi=reduce_phi) == pytest.approx((-high, -low))
    wide = stats.newcombe_paired(table, confidence=0.99, reduce_phi=reduce_phi)
    assert wide[0] <= low <= high <= wide[1]


@quick
@given(table=tables)
def test_reducing_phi_never_narrows_the_interval(table):
    low, high = stats.newcombe_paired(table)
    reduced_low, reduced_high = stats.newcombe_paired(table, reduce_phi=True)
    assert reduced_low <= low + 1e-12
    assert high - 1e-12 <= reduced_high


@pytest.mark.parametrize("table", [Paired(1, 0, 0, 0), Paired(0, 0, 0, 1), Paired(0, 1, 0, 0)])
def test_one_pair_gives_a_finite_interval(table):
    low, high = stats.newcombe_paired(table)
    assert -1 <= low < high <= 1


# --- families ---------------------------------------------------------------------------------


def test_holm_by_hand():
    # Sorted: .01 x 4, .02 x 3, then .03 x 2 and .2 x 1, each at least its predecessor.
    assert stats.holm([0.03, 0.01, 0.2, 0.02]) == pytest.approx([0.06, 0.04, 0.2, 0.06])
    assert stats.holm([0.5, 0.6]) == pytest.approx([1.0, 1.0])
    assert stats.holm([]) == []
    assert stats.holm([0.04]) == pytest.approx([0.04])


def step_down(p: list[float], alpha: float) -> list[bool]:
    """Holm's procedure as he states it: reject from the smallest p on until one is too large."""
    rejected = [False] * len(p)
    for step, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] > alpha / (len(p) - step):
            break
        rejected[i] = True
    return rejected


@settings(max_examples=10, derandomize=True, deadline=None)  # each call collects garbage: slow
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20), alpha=st.floats(0.001, 0.2))
def test_holm_rejects_what_the_step_down_procedure_rejects(p, alpha):
    adjusted = stats.holm(p)
    assert all(old - 1e-12 <= new <= 1 for old, new in zip(p, adjusted, strict=True))
    assert [x <= alpha for x in adjusted] == step_down(p, alpha)


# --- design -----------------------------------------------------------------------------------


def test_the_paper_s_resolvable_differences():
    """Appendix H: 8.4 points alone, 11.6 under Holm over 20, 12.5 at 255 pairs."""
    found = (
        stats.resolvable_difference(300, 0.272),
        stats.resolvable_difference(300, 0.272, alpha=0.05 / 20),
        stats.resolvable_difference(255, 0.272, alpha=0.05 / 20),
    )
    assert [f"{100 * d:.1f}" for d in found] == ["8.4", "11.6", "12.5"]


@quick
@given(n=st.integers(20, 5000), discordant=st.floats(0.01, 1), power=st.floats(0.5, 0.99))
def test_the_resolvable_difference_has_the_power_asked_for(n, discordant, power):
    d = stats.resolvable_difference(n, discordant, power=power)
    assert 0 < d <= discordant
    z = (d * n**0.5 - scipy_stats.norm.isf(0.025) * discordant**0.5) / (discordant - d * d) ** 0.5
    if d < discordant:
        assert scipy_stats.norm.cdf(z) == pytest.approx(power, abs=1e-6)
    assert stats.resolvable_difference(4 * n, discordant, power=power) <= d
    assert stats.resolvable_difference(n, discordant, alpha=0.001, power=power) >= d


def test_too_few_pairs_resolve_nothing_below_the_discordant_share():
    assert stats.resolvable_difference(1, 0.3) == 0.3


# --- resampling -------------------------------------------------------------------------------


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    calls=st.lists(
        st.tuples(
            st.one_of(
                st.integers(1, 400),
                st.sampled_from([1, 2, 3, 4, 255, 256, 257, 32767, 32768, 32769, 65535]),
            ),
            st.integers(0, 700),
        ),
        max_size=6,
    ),
)
def test_draws_are_python_s_own_whatever_the_calls(seed, calls):
    ours, python = PythonRandom(seed), random.Random(seed)
    for n, size in calls:
        assert ours.randrange(n, size).tolist() == [python.randrange(n) for _ in range(size)]


def test_one_long_draw_is_python_s_own():
    python = random.Random(42)
    assert PythonRandom(42).randrange(297, 100_000).tolist() == [
        python.randrange(297) for _ in range(100_000)
    ]


@pytest.mark.parametrize("n", [0, -1, 65_536, 10**6])
def test_a_bound_that_does_not_fit_is_refused(n):
    with pytest.raises(ValueError, match="65535"):
        PythonRandom(1).randrange(n, 3)


def test_a_generator_without_words_ends():
    stuck = PythonRandom(1)
    stuck._words = lambda count: np.empty(0, dtype=np.uint64)
    with pytest.raises(RuntimeError, match="3 values below 5 took more than 64 reads"):
        stuck.randrange(5, 3)


def slow_bootstrap(a, b, draws, rng):
    sums = []
    for _ in range(draws):
        picks = [rng.randrange(len(a)) for _ in range(len(a))]
        sums.append((sum(a[i] for i in picks), sum(b[i] for i in picks)))
    return sums


@quick
@given(
    outcomes=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40),
    draws=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_bootstrap_is_the_slow_one(outcomes, draws, seed):
    a, b = (np.array(x, bool) for x in zip(*outcomes, strict=True))
    sums_a, sums_b = stats.bootstrap_sums(a, b, draws, PythonRandom(seed))
    assert list(zip(sums_a.tolist(), sums_b.tolist(), strict=True)) == slow_bootstrap(
        a.tolist(), b.tolist(), draws, random.Random(seed)
    )


def test_the_bootstrap_counts_right_where_all_are_absorbed():
    n = 40_000  # beyond 15 bits
    everything = np.ones(n, bool)
    sums_a, sums_b = stats.bootstrap_sums(everything, everything, 2, PythonRandom(1))
    assert sums_a.tolist() == sums_b.tolist() == [n, n]


def test_models_share_one_stream():
    a = np.array([1, 0, 1, 1, 0], bool)
    shared, python = PythonRandom(42), random.Random(42)
    for _ in range(3):
        sums, _ = stats.bootstrap_sums(a, a, 7, shared)
        assert sums.tolist() == [x for x, _ in slow_bootstrap(a.tolist(), a.tolist(), 7, python)]


def test_ratios_are_infinite_where_nothing_is_below():
    assert stats.ratio([6, 1, 0], [3, 0, 0]).tolist() == [2.0, math.inf, math.inf]


def test_percentiles_are_the_published_positions():
    draws = np.random.default_rng(0).permutation(10_000).astype(float)
    assert stats.percentile_interval(draws) == (250.0, 9749.0)


@pytest.mark.parametrize("draws", [1, 2, 39, 40, 41])
def test_percentiles_of_few_draws_stay_inside(draws):
    low, high = stats.percentile_interval(np.arange(draws, dtype=float))
    assert 0 <= low <= high <= draws - 1


def test_percentiles_sort_infinite_draws_last():
    draws = np.array([math.inf] * 3 + [float(x) for x in range(37)])
    assert stats.percentile_interval(draws) == (1.0, math.inf)


def test_groups_are_resampled_whole():
    # Two groups that always move together: a rate is a multiple of a group's share or nothing.
    a, b, sizes = np.array([4, 0]), np.array([0, 4]), np.array([4, 4])
    rate_a, rate_b = stats.group_bootstrap(a, b, sizes, 500, seed=1)
    assert set(rate_a.tolist()) == {0.0, 0.5, 1.0}
    assert (rate_a + rate_b == 1).all()


def test_groups_weigh_by_their_size():
    rate, _ = stats.group_bootstrap(
        np.array([10, 0]), np.array([0, 0]), np.array([10, 30]), 500, seed=1
    )
    assert set(rate.tolist()) == {0.0, 0.25, 1.0}


# --- association and agreement ----------------------------------------------------------------


def test_fisher_by_hand():
    # The lady tasting tea: 3 of 4 against 1 of 4.
    assert stats.fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert stats.fisher_exact(0, 5, 0, 5) == 1.0


@quick
@given(
    values=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=12
    ).filter(lambda v: min(len(set(x)) for x in zip(*v, strict=True)) > 1)
)
def test_spearman_is_that_of_scipy(values):
    x, y = zip(*values, strict=True)
    rho, p = stats.spearman_permutation(x, y, 50, seed=1)
    assert rho == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
    assert 1 / 51 <= p <= 1
    assert stats.spearman_permutation(y, x, 50, seed=1)[0] == pytest.approx(rho)


def test_the_permutation_p_approaches_the_exact_one():
    # Of the 5! orders only the two monotone ones are as extreme as a perfect correlation.
    rho, p = stats.spearman_permutation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], 20_000, seed=1)
    assert rho == pytest.approx(1)
    assert p == pytest.approx(2 / 120, abs=0.003)


#: Two annotators: 89 both yes, 5 and 4 one only, 2 both no (paper, Appendix A).
PASTE = [[89, 5], [4, 2]]


def test_agreement_of_the_wild_audit():
    assert stats.agreement(PASTE) == 0.91
    assert f"{stats.gwet_ac1(PASTE):.2f}" == "0.90"
    assert f"{stats.cohen_kappa(PASTE):.2f}" == "0.26"


def test_agreement_on_what_comes_first():
    """68 and 62 of 89 artifact first, 79 in agreement: 60 both, 8 and 2 one only, 19 neither."""
    table = [[60, 8], [2, 19]]
    assert f"{stats.cohen_kappa(table):.2f}" == "0.72"
    assert stats.agreement(table) == pytest.approx(79 / 89)


def test_agreement_by_hand_and_at_the_edges():
    assert stats.cohen_kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)  # Cohen's own example form
    assert stats.cohen_kappa([[5, 0], [0, 5]]) == stats.gwet_ac1([[5, 0], [0, 5]]) == 1
    assert math.isnan(stats.cohen_kappa([[9, 0], [0, 0]]))
    assert stats.gwet_ac1([[9, 0], [0, 0]]) == 1


@quick
@given(table=st.lists(st.lists(st.integers(1, 50), min_size=2, max_size=2), min_size=2, max_size=2))
def test_agreement_does_not_depend_on_who_is_first(table):
    turned = np.array(table).T
    for measure in (stats.agreement, stats.cohen_kappa, stats.gwet_ac1):
        assert measure(turned) == pytest.approx(measure(table))
        assert measure(table) <= 1
