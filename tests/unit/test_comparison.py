"""Systems against a baseline, on numbers that can be checked on paper."""

import numpy as np
import pytest

from rrgmetrics import InputError, Result
from rrgmetrics.comparison import compare_systems
from rrgmetrics.scorers.base import Mean
from rrgmetrics.specs import Key, MetricSpec, get_spec

WORSE, SAME, BETTER = np.zeros(5), np.arange(5) / 4, np.ones(5)


def result(values):
    stats = np.stack([values] * 4, axis=1).astype(float)
    reduction = Mean(("rouge", "rouge_1", "rouge_2", "rouge_l"))
    per_pair = reduction.per_pair(stats)
    scores = {key: float(np.nanmean(column)) for key, column in per_pair.items()}
    return Result(get_spec("rouge"), scores, per_pair, stats, reduction, "rouge|v:0")


def table(**systems):
    return compare_systems({name: {"rouge": result(values)} for name, values in systems.items()}, trials=200)


def test_exact_p_and_direction():
    baseline, better, same = table(base=WORSE, better=BETTER, same=WORSE)
    assert baseline.test is None
    assert better.test.p_value == 2 / 32
    assert better.is_better is True
    assert same.test.p_value == 1.0
    assert same.is_better is None


def test_correction_is_over_the_whole_table():
    rows = table(base=WORSE, one=BETTER, two=BETTER)
    assert [row.p_corrected for row in rows[1:]] == [4 / 32, 4 / 32]  # Holm: twice 2/32
    uncorrected = compare_systems(
        {name: {"rouge": result(values)} for name, values in {"base": WORSE, "one": BETTER, "two": BETTER}.items()},
        trials=200,
        correction="none",
    )
    assert [row.p_corrected for row in uncorrected[1:]] == [2 / 32, 2 / 32]


def test_all_keys_and_unscored_pairs():
    gap = BETTER.copy()
    gap[0] = np.nan
    rows = compare_systems({"base": {"rouge": result(SAME)}, "gap": {"rouge": result(gap)}}, all_keys=True, trials=200)
    assert [row.key.name for row in rows[::2]] == ["rouge", "rouge_1", "rouge_2", "rouge_l"]
    assert rows[1].n_unscored == 1
    assert rows[1].test.n_left_out == 1
    assert rows[1].test.baseline == pytest.approx(np.mean(SAME[1:]))


def test_unknown_correction():
    with pytest.raises(InputError, match="holm, bh, none"):
        compare_systems({"base": {"rouge": result(SAME)}}, correction="bonferroni")


def test_a_target_is_better_the_nearer():
    """Of a key with a target the distances are compared, and the scores are shown as they are."""
    spec = MetricSpec(
        "length", "Length", "", (Key("length", "Length", (0.0, 9.0), None, target=1.0),), "pair", (0.0,) * 3
    )

    def length(*values):
        stats = np.array(values)[:, None]
        return Result(spec, {"length": stats.mean()}, {"length": stats[:, 0]}, stats, Mean(("length",)), "length|v:0")

    results = {"base": {"length": length(1.9, 2.1, 2.0, 2.0)}, "near": {"length": length(0.8, 0.8, 0.9, 0.9)}}
    base, near = compare_systems(results, trials=50)
    assert (base.score.value, near.score.value) == pytest.approx((2.0, 0.85))
    assert (near.test.baseline, near.test.system) == pytest.approx((2.0, 0.85))
    assert near.test.difference.value == pytest.approx(0.15 - 1.0)
    assert near.is_better
