"""Scores of label sets: values small enough to check on paper, and what scikit-learn says of the same labels."""

from __future__ import annotations

import numpy as np
import pytest
from made_results import scores_of_sets

from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.labels import LabelScore, LabelScores, label_stats
from rrgmetrics.stats import bootstrap

# label vectors published with F1CheXbert's test: one row a report, 14 conditions, the last one No Finding
EDEMA, CONSOLIDATION, ATELECTASIS, CARDIOMEGALY, OPACITY, LESION, NO_FINDING = 4, 5, 7, 1, 2, 3, 13
CANDIDATES = [[NO_FINDING], [NO_FINDING], [EDEMA, ATELECTASIS], [CONSOLIDATION], []]
REFERENCES = [[NO_FINDING], [CARDIOMEGALY], [CARDIOMEGALY], [CONSOLIDATION], [OPACITY, LESION]]
FIVE = (1, 4, 5, 7, 9)

SCORES = LabelScores(
    {
        "micro": LabelScore(per_pair=True),
        "precision": LabelScore(measure="precision", per_pair=True),
        "recall": LabelScore(measure="recall", per_pair=True),
        "macro": LabelScore("macro"),
        "weighted": LabelScore("weighted"),
        "micro_5": LabelScore(labels=FIVE),
        "macro_5": LabelScore("macro", labels=FIVE),
        "weighted_5": LabelScore("weighted", labels=FIVE),
        "no_finding": LabelScore(labels=(NO_FINDING,), one=True),
        "fracture": LabelScore(labels=(11,), one=True),
    },
    14,
)


def rows(labels, n=14):
    table = np.zeros((len(labels), n), dtype=bool)
    for row, present in zip(table, labels, strict=True):
        row[present] = True
    return table


STATS = label_stats(rows(REFERENCES), rows(CANDIDATES))


def test_published_values():
    assert aggregate.reduce(SCORES, STATS) == pytest.approx(
        {
            "micro": 0.36363636363636365,
            "precision": 0.4,
            "recall": 1 / 3,
            "macro": 0.11904761904761904,
            "weighted": 0.27777777777777773,
            "micro_5": 1 / 3,
            "macro_5": 0.2,
            "weighted_5": 1 / 3,
            "no_finding": 2 / 3,
            "fracture": np.nan,  # in nobody's report: no score, and not scikit-learn's 0
        },
        abs=1e-15,
        nan_ok=True,
    )


def test_each_pair():
    scores = SCORES.per_pair(STATS)
    assert list(scores) == ["micro", "precision", "recall"]
    assert scores["micro"].tolist() == [1, 0, 0, 1, 0]
    assert scores["micro"].mean() == pytest.approx(0.4)  # scikit-learn's samples F1 of the same labels


@pytest.mark.parametrize(
    ("reference", "candidate", "f1", "precision", "recall"),
    [
        ([], [], 1, 1, 1),
        ([1], [], 0, 0, 0),
        ([], [1], 0, 0, 0),
        ([1, 2, 3], [1, 4], 2 / 5, 1 / 2, 1 / 3),
        ([1, 2], [1, 2], 1, 1, 1),
    ],
)
def test_one_pair(reference, candidate, f1, precision, recall):
    stats = label_stats(rows([reference]), rows([candidate]))
    scores = SCORES.per_pair(stats)
    assert [scores[key][0] for key in ("micro", "precision", "recall")] == pytest.approx([f1, precision, recall])
    corpus = aggregate.reduce(SCORES, stats)  # one pair alone is a corpus of one pair
    assert [corpus[key] for key in ("micro", "precision", "recall")] == pytest.approx([f1, precision, recall])


def test_nothing_anywhere_is_agreement():
    scores = aggregate.reduce(SCORES, label_stats(rows([[], []]), rows([[], []])))
    assert {scores[key] for key in ("micro", "macro", "weighted", "micro_5", "macro_5", "weighted_5")} == {1}
    assert np.isnan(scores["no_finding"])


def test_ignored_labels_count_for_nothing():
    ignored = rows([[1], []])
    stats = label_stats(rows([[1, 2], [1]]), rows([[2, 3], [1]]), ignored)
    np.testing.assert_array_equal(stats, label_stats(rows([[2], [1]]), rows([[2, 3], [1]])))


def test_unscored_pairs_and_further_columns():
    reduction = LabelScores({"f": LabelScore(per_pair=True)}, 2, ("exact",))
    stats = np.hstack([label_stats([[1, 0], [1, 1], [0, 0]], [[1, 0], [1, 0], [0, 0]]), [[1.0], [0.0], [np.nan]]])
    assert aggregate.reduce(reduction, stats) == pytest.approx({"f": 4 / 5, "exact": 0.5})
    np.testing.assert_allclose(reduction.per_pair(stats)["f"], [1, 2 / 3, np.nan])
    np.testing.assert_array_equal(reduction.per_pair(stats)["exact"], [1, 0, np.nan])


def test_many_samples_at_once_equal_one_by_one():
    rng = np.random.default_rng(0)
    stats = label_stats(rng.random((40, 14)) < 0.2, rng.random((40, 14)) < 0.3)
    weights = rng.integers(0, 3, (6, 40))
    together = scores_of_sets(SCORES, stats, weights)
    for i, weight in enumerate(weights):
        alone = aggregate.reduce(SCORES, np.repeat(stats, weight, axis=0))
        assert {key: values[i] for key, values in together.items()} == pytest.approx(alone, abs=1e-12, nan_ok=True)
    assert all(np.isnan(value[0]) for value in scores_of_sets(SCORES, stats, np.zeros((1, 40))).values())
    interval = bootstrap(SCORES, stats, trials=50, seed=1)["macro"]
    assert interval.low < interval.value < interval.high


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("measure", ["f1", "precision", "recall"])
def test_equal_to_scikit_learn(average, measure):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    reference, candidate = rng.random((2, 30, 9)) < 0.15
    reference[:, 4] = candidate[:, 4] = candidate[:, 5] = reference[:, 6] = False  # undefined labels
    ours = LabelScores({"x": LabelScore(average, measure)}, 9)
    theirs = metrics.precision_recall_fscore_support(reference, candidate, average=average, zero_division=0)
    value = theirs[("precision", "recall", "f1").index(measure)]
    assert aggregate.reduce(ours, label_stats(reference, candidate))["x"] == pytest.approx(value, abs=1e-12)
