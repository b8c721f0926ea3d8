"""Intervals, paired tests and correlations: numbers for paper, parity with scipy, degenerate cases."""

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from rrgmetrics.errors import InputError
from rrgmetrics.scorers.base import Mean
from rrgmetrics.stats import (
    PairedStats,
    benjamini_hochberg,
    blocked_tau_b,
    bootstrap,
    compare,
    compare_all,
    correlate,
    correlations,
    holm,
    resampling,
    tau_b_difference,
    tau_b_draws,
    together,
)

NAN = float("nan")
MEAN = Mean(("score",))


class Share:
    """A corpus score that is no mean: matched words over words, as in BLEU."""

    def corpus(self, sums, n):
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"share": sums[..., 0] / sums[..., 1], "words": sums[..., 1]}

    def per_pair(self, rows):
        return {"share": rows[:, 0] / rows[:, 1]}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def column(*values):
    return np.array(values, dtype=float)[:, None]


def tied_columns(seed, n=60):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 7, n).astype(float)
    return x, x + rng.integers(0, 5, n)


# --- bootstrap


def test_bootstrap_of_two_pairs_by_hand():
    # Resamples of {0, 1} have the means 0, 1/2, 1 with chances 1/4, 1/2, 1/4.
    estimate = bootstrap(MEAN, column(0, 1), trials=2_000)["score"]
    assert estimate == (0.5, 0.0, 1.0, 2)
    assert bootstrap(MEAN, column(0, 1), trials=2_000, level=0.4)["score"][1:3] == (0.5, 0.5)


def test_one_pair_or_one_group_has_no_interval():
    """Every resample of it is itself, which would look like certainty."""
    for rows, groups in ((column(0.5, NAN), None), (column(0, 1), ["a", "a"]), (column(NAN), None)):
        estimate = bootstrap(MEAN, rows, groups=groups)["score"]
        assert np.isnan(estimate[1:3]).all()
    assert bootstrap(MEAN, column(0.5))["score"].value == 0.5


def test_unscored_pairs_are_left_out():
    assert bootstrap(MEAN, column(1, NAN, 3), seed=3) == bootstrap(MEAN, column(1, 3), seed=3)


def test_resampling_groups_keeps_their_pairs_together():
    # Within each case the pairs average 0.5, so that no resample of cases can differ from 0.5.
    rows = column(0, 1, 0.2, 0.8)
    assert bootstrap(MEAN, rows, groups=["a", "a", "b", "b"])["score"] == pytest.approx((0.5, 0.5, 0.5, 4))
    assert bootstrap(MEAN, rows)["score"].low < 0.4


def test_group_names_do_not_matter():
    rows = column(0, 1, 0.2, 0.9)
    assert bootstrap(MEAN, rows, groups=["b", "b", "a", "a"]) == bootstrap(MEAN, rows, groups=[1, 1, 2, 2])


def test_corpus_score_is_recomputed_from_sums():
    rows = np.array([[1.0, 10.0], [9.0, 10.0], [50.0, 100.0]])
    estimate = bootstrap(Share(), rows)["share"]
    assert estimate.value == 60 / 120
    assert 0.1 <= estimate.low < 0.5 < estimate.high <= 0.9


def test_blocks_change_nothing(monkeypatch):
    rows = np.random.default_rng(0).random((30, 1))
    whole = bootstrap(MEAN, rows, trials=500)["score"]
    monkeypatch.setattr(resampling, "BLOCK_CELLS", 100)
    assert bootstrap(MEAN, rows, trials=500)["score"] == pytest.approx(whole)


def test_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(7)
    covered = 0
    for seed in range(200):
        interval = bootstrap(MEAN, rng.normal(size=(50, 1)), trials=500, seed=seed)["score"]
        covered += interval.low <= 0 <= interval.high
    assert 180 <= covered <= 198  # 95% of 200, three standard deviations around 0.94 (n = 50)


# --- paired test


def test_five_pairs_in_one_direction():
    result = compare(MEAN, column(0, 0, 0, 0, 0), column(1, 2, 3, 4, 5))["score"]
    assert result.p_value == 2 / 32
    assert result.exact
    assert (result.baseline, result.system, result.difference.value) == (0, 3, 3)
    assert result.effect_size == pytest.approx(3 / np.std([1, 2, 3, 4, 5], ddof=1))


def test_all_swaps_of_three_pairs_by_hand():
    # Differences 1, 2, -1 sum to 2; of the sums +-1 +-2 +-1, |.| is 4, 2, 2, 0 twice each: 6 of 8 reach 2.
    assert compare(MEAN, column(0, 0, 1), column(1, 2, 0))["score"].p_value == 6 / 8


def test_ties_by_float_error_count():
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in floats: every swap that ties on paper must count.
    assert compare(MEAN, column(0, 0, 0.3), column(0.1, 0.2, 0))["score"].p_value == 1.0


def test_random_swaps_agree_with_scipy():
    rng = np.random.default_rng(1)
    first, second = rng.random(40), rng.random(40) + 0.1
    ours = compare(MEAN, first[:, None], second[:, None])["score"]
    theirs = scipy.stats.permutation_test(
        (second, first),
        lambda a, b, axis: (a - b).mean(axis),
        permutation_type="samples",
        n_resamples=10_000,
        vectorized=True,
        rng=2,
    )
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.015)
    assert not ours.exact


def test_exact_p_agrees_with_scipy_on_a_corpus_score():
    rng = np.random.default_rng(5)
    words = np.full(10, 20.0)
    first, second = rng.integers(0, 20, 10), rng.integers(4, 20, 10)
    ours = compare(Share(), np.stack([first, words], 1).astype(float), np.stack([second, words], 1).astype(float))
    theirs = scipy.stats.permutation_test(
        (second, first), lambda a, b, axis: a.sum(axis) - b.sum(axis), permutation_type="samples", vectorized=True
    )
    assert ours["share"].p_value == pytest.approx(theirs.pvalue)
    assert np.isnan(ours["words"].effect_size)
    assert ours["words"].p_value == 1.0


def test_smallest_p_is_never_zero():
    rows = column(*range(30))
    assert compare(MEAN, rows, rows + 1, trials=999)["score"].p_value == 1 / 1000


def test_p_does_not_depend_on_what_was_computed_before():
    rng = np.random.default_rng(0)
    first, second = rng.random((50, 2)), rng.random((50, 2))
    both = Mean(("one", "two"))
    alone = compare(both, first, second)
    compare(MEAN, first[:, :1], second[:, :1])
    swapped = compare(Mean(("two", "one")), first[:, ::-1], second[:, ::-1])
    assert {key: swapped[key].p_value for key in alone} == {key: alone[key].p_value for key in alone}
    assert compare(Mean(("two",)), first[:, 1:], second[:, 1:])["two"].p_value == alone["two"].p_value


def test_direction_turns_the_sign_only():
    rng = np.random.default_rng(0)
    first, second = rng.random((30, 1)), rng.random((30, 1))
    one, other = compare(MEAN, first, second)["score"], compare(MEAN, second, first)["score"]
    assert one.p_value == other.p_value
    assert one.difference.value == -other.difference.value
    assert one.effect_size == pytest.approx(-other.effect_size)


def test_pairs_without_both_scores_are_left_out_and_counted():
    result = compare(MEAN, column(0, NAN, 0, NAN), column(1, 1, NAN, NAN))["score"]
    assert (result.n_left_out, result.difference.n, result.system) == (3, 1, 1)


def test_identical_systems():
    rows = np.random.default_rng(0).random((40, 1))
    result = compare(MEAN, rows, rows)["score"]
    assert (result.p_value, result.difference) == (1.0, (0, 0, 0, 40))
    assert np.isnan(result.effect_size)


def test_no_pair_in_common():
    result = compare(MEAN, column(NAN, 1), column(1, NAN))["score"]
    assert np.isnan([result.p_value, result.difference.value, result.difference.low, result.effect_size]).all()


# --- corrections


def test_holm_by_hand():
    # Smallest times 3, next times 2, last times 1, never decreasing.
    assert holm([0.03, 0.01, 0.04]).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_agrees_with_scipy(p_values):
    np.testing.assert_allclose(benjamini_hochberg(p_values), scipy.stats.false_discovery_control(p_values))


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_nan_passes_through_and_does_not_count(correct):
    corrected = correct([0.01, NAN, 0.04])
    assert np.isnan(corrected[1])
    assert corrected[[0, 2]].tolist() == correct([0.01, 0.04]).tolist()
    assert correct([]).tolist() == []
    assert np.isnan(correct([NAN])).all()


# --- correlation


def test_correlations_by_hand():
    # Of 6 pairs of pairs one is discordant: (5 - 1) / 6. Ranks are the values: 1 - 6 * 2 / (4 * 15).
    result = correlate([1, 2, 3, 4], [1, 3, 2, 4])
    assert result.tau_b.value == pytest.approx(4 / 6)
    assert result.rho.value == pytest.approx(0.8)
    assert result.r.value == pytest.approx(0.8)
    assert result.n == result.tau_b.n == 4


def scipy_correlations(x, y):
    with np.errstate(invalid="ignore"):
        tau = scipy.stats.kendalltau(x, y).statistic
        return tau, scipy.stats.spearmanr(x, y).statistic, scipy.stats.pearsonr(x, y).statistic


@pytest.mark.parametrize("seed", range(4))
def test_values_agree_with_scipy(seed):
    x, y = tied_columns(seed)
    ours = correlate(x, y, trials=1)
    assert [estimate.value for estimate in ours[:3]] == pytest.approx(scipy_correlations(x, y), abs=1e-12)


@pytest.mark.parametrize("matrix_pairs", [0, 3_000])
def test_resamples_by_weight_are_scipys_on_the_repeated_pairs(monkeypatch, matrix_pairs):
    monkeypatch.setattr(correlations, "MATRIX_PAIRS", matrix_pairs)
    x, y = tied_columns(9, n=24)
    index = resampling.group_index(np.repeat(range(12), 2), 24)
    (weights,) = resampling.resamples(index, 50, 3)
    ours = correlations._Columns.of(x, y).correlations(weights)
    for i, weight in enumerate(weights.astype(int)):
        expected = scipy_correlations(np.repeat(x, weight), np.repeat(y, weight))
        assert [ours[key][i] for key in ("tau_b", "rho", "r")] == pytest.approx(expected, abs=1e-9)
        assert (weight[::2] == weight[1::2]).all()
    low, high = np.quantile(ours["tau_b"], [0.025, 0.975])
    assert correlate(x, y, groups=index, trials=50, seed=3).tau_b[1:3] == pytest.approx((low, high))


def test_intervals_over_cases_are_wider_where_cases_repeat():
    x, y = tied_columns(2, n=30)
    repeated = np.repeat(x, 4), np.repeat(y, 4)
    cases = correlate(*repeated, groups=np.repeat(range(30), 4)).tau_b
    pairs = correlate(*repeated).tau_b
    assert cases.high - cases.low > 1.5 * (pairs.high - pairs.low)


def test_pairs_with_nan_are_left_out():
    x, y = tied_columns(4, n=20)
    assert correlate([*x, NAN, 5], [*y, 3, NAN]) == correlate(x, y)


def test_large_shift_does_not_hurt_pearson():
    x, y = tied_columns(5)
    assert correlate(x + 1e9, y, trials=200).r == pytest.approx(correlate(x, y, trials=200).r)


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1], [2]), ([1, NAN], [NAN, 2]), ([0.1, 0.1, 0.1], [1, 2, 3]), ([1, 2, 3], [0.7, 0.7, 0.7])],
)
def test_undefined_correlations_are_nan(x, y):
    result = correlate(x, y, trials=100)
    assert np.isnan([estimate[:3] for estimate in result[:3]]).all()


def test_constant_resamples_are_left_out_of_the_interval():
    # Two thirds of the resamples of these groups have one value; the others are perfectly ordered.
    x = [1, 1, 1, 1, 1, 2]
    assert correlate(x, x, trials=100).tau_b == (1, 1, 1, 6)


def test_fewer_than_six_groups_have_no_interval_and_no_p():
    x = [1, 2, 3, 4, 5, 6]
    assert correlate(x, x, trials=100).tau_b.low > 0
    groups = [0, 0, 1, 2, 3, 4]
    estimates = correlate(x, x, groups=groups, trials=100)[:3]
    assert [estimate.value for estimate in estimates] == pytest.approx([1, 1, 1])
    assert np.isnan([estimate[1:3] for estimate in estimates]).all()
    draws = [tau_b_draws(values, x, groups=groups, trials=100) for values in (x, x[::-1])]
    compared = tau_b_difference(*draws)
    assert compared.difference.value == 2
    assert np.isnan([compared.difference.low, compared.p_value]).all()


# --- within studies


def test_blocked_tau_by_hand():
    # Study a agrees (1), b disagrees (-1), c has a constant column and d a single pair: not used; e agrees.
    groups = list("aabbccdee")
    x = [1, 2, 1, 2, 1, 1, 5, 3, 4]
    y = [1, 2, 2, 1, 1, 2, 5, 1, 9]
    result = blocked_tau_b(x, y, groups=groups)
    assert result.value == pytest.approx(1 / 3)
    assert result.n == 3
    assert np.isnan([result.low, result.high]).all()
    result = blocked_tau_b(x * 2, y * 2, groups=[*groups, *"ffgghhijj"])
    assert result.value == pytest.approx(1 / 3)
    assert (result.n, result.low, result.high) == (6, pytest.approx(-1 / 3), 1)


def test_blocked_tau_is_not_moved_by_hard_studies():
    x = [1, 2, 11, 12, 21, 22]
    y = [2, 1, 12, 11, 22, 21]
    groups = [0, 0, 1, 1, 2, 2]
    assert correlate(x, y).tau_b.value > 0.5
    assert blocked_tau_b(x, y, groups=groups)[::3] == (-1, 3)
    order = [5, 0, 2, 1, 4, 3]
    shuffled = [[column[i] for i in order] for column in (x, y, groups)]
    assert blocked_tau_b(*shuffled[:2], groups=shuffled[2])[::3] == (-1, 3)


def test_blocked_tau_without_a_study():
    assert np.isnan(blocked_tau_b([], [], groups=[]).value)
    assert blocked_tau_b([1, 1], [1, 2], groups=[0, 0]).n == 0


# --- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap(MEAN, column(1, 2), groups=["a"]), "groups has 1 entries for 2 pairs"),
        (lambda: bootstrap(MEAN, column(1, 2), trials=0), "trials is 0"),
        (lambda: bootstrap(MEAN, column(1, 2), level=95), "level is 95"),
        (lambda: compare(MEAN, column(1, 2), column(1)), "same studies"),
        (lambda: correlate([1, 2], [1]), r"shape \(2,\) and y \(1,\)"),
        (lambda: correlate([[1, 2]], [[1, 2]]), "two columns"),
    ],
)
def test_errors_say_what_and_where(call, message):
    with pytest.raises(InputError, match=message):
        call()


# --- two metrics against the same raters


def test_tau_b_of_draws_is_that_of_correlate():
    rng = np.random.default_rng(1)
    x, y, groups = rng.integers(5, size=40), rng.integers(4, size=40), np.arange(40) // 2
    draws = tau_b_draws(x, y, groups=groups, trials=200, seed=3)
    estimate = correlate(x, y, groups=groups, trials=200, seed=3).tau_b
    assert draws.value == estimate.value
    assert np.quantile(draws.drawn, [0.025, 0.975]).tolist() == [estimate.low, estimate.high]


def test_a_difference_of_tau_b():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=60)
    good, bad = truth + rng.normal(size=60) / 4, rng.normal(size=60)
    one, other = (tau_b_draws(x, truth, trials=500) for x in (good, bad))
    difference, p, floor = tau_b_difference(one, other)
    assert difference.low > 0
    assert p == floor == 2 / 501  # no resample on the other side of 0
    turned, same, _ = tau_b_difference(other, one)
    assert (turned.value, same) == (-difference.value, p)
    assert tau_b_difference(one, one) == ((0, 0, 0, 60), 1.0, 2 / 501)
    with pytest.raises(InputError, match="come from different pairs"):
        tau_b_difference(one, tau_b_draws(bad[:50], truth[:50], trials=500))


def test_a_difference_of_nothing():
    nothing = tau_b_draws([1.0], [1.0], trials=10)
    difference, p, _ = tau_b_difference(nothing, nothing)
    assert np.isnan([difference.value, p]).all()


def test_resamples_that_are_kept_are_those_that_are_drawn(monkeypatch):
    x, y, groups = np.arange(30) % 7, np.arange(30) % 5, np.arange(30) // 3
    kept = [correlate(x, y, groups=groups, trials=50, seed=seed) for seed in (0, 1, 0)]
    monkeypatch.setattr(resampling, "KEPT_CELLS", 0)
    assert kept == [correlate(x, y, groups=groups, trials=50, seed=seed) for seed in (0, 1, 0)]


def test_alone_or_together_every_number_is_the_same(monkeypatch):
    """Metrics with and without unscored pairs, of few and many statistics, in one batch and in several."""
    rng = np.random.default_rng(5)
    tests = []
    for n_stats, unscored in ((1, ()), (3, (4, 7)), (2, ()), (3, (4, 7)), (1, range(40))):
        first, second = rng.random((2, 40, n_stats))
        first[list(unscored)] = np.nan
        tests.append(PairedStats(Mean(tuple("abc"[:n_stats])), first, second, {"a": 0.5} if n_stats == 2 else {}))
    scores = [(test.reduction, table) for test in tests for table in (test.baseline, test.system)]
    alone = [compare(*test[:3], targets=test.targets, trials=300) for test in tests]
    intervals = [bootstrap(*one, trials=300) for one in scores]
    for cells in (1, 32_000_000):
        monkeypatch.setattr(together, "MATRIX_CELLS", cells)
        compared, estimates = compare_all(tests, scores, trials=300)
        for ours, theirs in zip(compared, alone, strict=True):
            assert ours.keys() == theirs.keys()
            for key, test in ours.items():
                np.testing.assert_array_equal(test.p_value, theirs[key].p_value)
                assert test.difference == pytest.approx(theirs[key].difference, rel=1e-12, nan_ok=True)
        for found, expected in zip(estimates, intervals, strict=True):
            assert all(found[key] == pytest.approx(expected[key], rel=1e-12, nan_ok=True) for key in expected)


def test_only_a_p_value_that_could_not_be_smaller_is_at_the_floor():
    rng = np.random.default_rng(0)
    low, high = rng.random((30, 1)), rng.random((30, 1)) + 1
    test = compare(Mean(("a",)), low, high, trials=99)["a"]
    assert (test.p_value, test.floor, test.at_floor) == (0.01, 0.01, True)
    assert not compare(Mean(("a",)), low, low + rng.normal(size=(30, 1)), trials=99)["a"].at_floor
    exact = compare(Mean(("a",)), low[:10], high[:10])["a"]
    assert (exact.floor, exact.at_floor) == (0.0, False)
