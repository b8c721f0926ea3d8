"""What every metric's scores obey."""

from __future__ import annotations

import math
import os
import pickle
import random
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from rrgmetrics.reports.missing import REASON
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import UNDEFINED
from rrgmetrics.testing.case import Case

STRANGE = [
    "x",
    "...",
    "²³ ½ µm",
    "effusion " * 500,
    "Ergüsse beidseits. 両側胸水。 🩻",
    "a\nb\tc d",
    "no\x00 effusion",
    "'\"\\|",
]
EMPTY = ("", " ", "\n \t")
SMOOTHING = 1e-8  # COCO's smoothing leaves BLEU up to 6e-9 for an empty reference, and outside values demand just that


def assert_same(left: Mapping[str, Any], right: Mapping[str, Any], tolerance: float = 0.0) -> None:
    """The same keys and values; NaN equals NaN."""
    assert left.keys() == right.keys()
    for key in left:
        np.testing.assert_allclose(left[key], right[key], rtol=tolerance, atol=tolerance, err_msg=key)


def check_keys(case: Case) -> None:
    """A result has the keys that the row declares; the headline has the metric's name and exists for each pair."""
    result, spec, n = case.on_altered, case.spec, len(case.references)
    assert list(result.scores) == [key.name for key in spec.keys]
    assert list(result.per_pair) == [key.name for key in spec.keys if key.per_pair]
    assert spec.headline.name == spec.name
    assert spec.name in result.per_pair
    assert {type(value) for value in result.scores.values()} == {float}
    assert {(values.shape, values.dtype) for values in result.per_pair.values()} == {((n,), np.dtype(float))}
    assert result.pair_stats.shape[0] == result.n_pairs == n
    assert result.n_unscored == 0


def check_range(case: Case) -> None:
    """No value lies outside the declared range, whatever the texts; every key has a value somewhere."""
    candidates, references = [*STRANGE, *reversed(STRANGE), "", " "], [*STRANGE, *STRANGE, " \n", case.references[0]]
    strange, same = case.score(candidates, references, missing="empty"), case.score(case.references, case.references)
    for result in (strange, same, case.on_altered):
        for key in case.spec.keys:
            values = np.append(result.per_pair.get(key.name, []), result.scores[key.name])
            values = values[~np.isnan(values)]
            assert len(values) or not key.per_pair  # a label's score is undefined where no report has the label
            assert (values >= key.range[0]).all(), key.name
            assert (values <= key.range[1]).all(), key.name


def check_mean(case: Case) -> None:
    """The corpus value of a metric of level "pair" is the mean over its scored pairs."""
    if case.spec.level == "pair":
        result = case.score([*case.altered, "", "a"], [*case.references, "Clear lungs.", "a"])
        for key, values in result.per_pair.items():
            np.testing.assert_allclose(result.scores[key], np.nanmean(values), rtol=0, atol=1e-12, err_msg=key)


def check_empty_texts(case: Case) -> None:
    """Empty texts, or nothing but white space, give the values that the row states."""
    text = case.references[0]
    pairs = [([nothing, nothing, text, *case.altered], [nothing, text, nothing, *case.references]) for nothing in EMPTY]
    for result in case.score_each(pairs, missing="empty"):
        values = result.per_pair[case.spec.name]
        for value, stated in zip(values[:3], case.spec.empty, strict=True):
            if stated is None:
                assert abs(value) > 0
            elif stated == UNDEFINED:
                assert math.isnan(value)
            else:
                np.testing.assert_allclose(value, stated, rtol=0, atol=max(SMOOTHING, 1e-12 * abs(stated)))


def check_only_empty_texts(case: Case) -> None:
    """An empty pair alone gives the stated value too."""
    (value,) = case.score([""], [""], missing="empty").per_pair[case.spec.name]
    stated = case.spec.empty[0]
    assert math.isnan(value) if stated == UNDEFINED else value == stated


def check_missing_references(case: Case) -> None:
    """A pair whose reference is missing is unscored, and changes no other score."""
    result = case.score([*case.altered, *case.references[:3]], [*case.references, None, "", "nan"])
    n = len(case.references)
    assert [*result.unscored_reasons.values()] == [REASON] * 3
    assert_same(result.scores, case.on_altered.scores, case.tolerance)
    assert_same(_rows(result, np.arange(n)), case.on_altered.per_pair, case.tolerance)


def check_identical_text_is_best(case: Case) -> None:
    """Identical text scores at least as well as altered text, and better over all."""
    key = case.spec.headline
    same = case.score(case.references, case.references)
    assert (key.goodness(same.per_pair[key.name]) >= key.goodness(case.on_altered.per_pair[key.name])).all()
    assert key.goodness(same.scores[key.name]) > key.goodness(case.on_altered.scores[key.name]), (
        f"{case.spec.name} does not distinguish any altered report from its reference; pass case_of() reports that "
        "it can distinguish"
    )


def check_pair_order(case: Case) -> None:
    """The order of the pairs changes no score."""
    order = np.random.default_rng(0).permutation(len(case.references))
    shuffled = case.score([case.altered[i] for i in order], [case.references[i] for i in order])
    assert_same(shuffled.scores, case.on_altered.scores, case.tolerance)
    assert_same(shuffled.per_pair, _rows(case.on_altered, order), case.tolerance)


def check_alone_as_in_a_batch(case: Case) -> None:
    """A pair scores the same alone and among others."""
    if not case.spec.corpus_statistics:
        indices = (0, 5, len(case.references) - 1)
        results = case.score_each(([case.altered[index]], [case.references[index]]) for index in indices)
        for index, alone in zip(indices, results, strict=True):
            assert_same(alone.per_pair, _rows(case.on_altered, np.array([index])), case.tolerance)


def check_repeated_pairs(case: Case) -> None:
    """Repeated pairs score alike and count each time."""
    if not case.spec.corpus_statistics:
        result = case.score([*case.altered] * 3, [*case.references] * 3)
        expected = {key: np.tile(values, 3) for key, values in case.on_altered.per_pair.items()}
        assert_same(result.per_pair, expected, case.tolerance)
        smoothing = 1e-9  # COCO's smoothing weighs less where there are more words
        assert_same(result.scores, case.on_altered.scores, max(smoothing, case.tolerance))
        assert result.n_pairs == 3 * len(case.references)


def check_reduce_equals_scoring(case: Case) -> None:
    """The scores of a subset, from its statistics, are those that scoring it would give."""
    n = len(case.references)
    lists: list[Any] = [[3], [0, 5, 9], [2, 2, 2, 7], range(n), slice(4, 11), slice(None, None, -2), [-1]]
    subsets: list[Any] = [] if case.spec.corpus_statistics else [*lists, np.arange(n) % 3 == 0]
    picked = [np.arange(n)[rows if isinstance(rows, slice) else np.asarray(rows)] for rows in subsets]
    pairs = (([case.altered[i] for i in numbers], [case.references[i] for i in numbers]) for numbers in picked)
    for rows, fresh in zip(subsets, case.score_each(pairs), strict=True):
        assert_same(case.on_altered.reduce(rows), fresh.scores, case.tolerance)


def check_reduce_of_all_and_of_none(case: Case) -> None:
    """All pairs give the whole scores; no pair gives NaN."""
    result = case.on_altered
    assert_same(result.reduce(slice(None)), result.scores)
    nothing: list[Any] = [[], slice(0, 0), np.zeros(len(case.references), dtype=bool)]
    for rows in nothing:
        assert all(math.isnan(value) for value in result.reduce(rows).values())


def check_no_pairs(case: Case) -> None:
    """No pairs have as many statistics a pair as any: the shape is (0, n_statistics)."""
    with prepare(case.spec.name) as metrics:
        job = metrics.jobs[case.spec.name]
        statistics = job.reference_statistics([""])
        assert job.scorer.pair_stats([], {}, statistics).shape == (0, case.on_altered.pair_stats.shape[1])


def check_repeated_calls(case: Case) -> None:
    """Another call in between leaves nothing behind."""
    case.score(case.references[::-1], case.altered)
    _check_equal(case, case.score(case.altered, case.references))


def check_threads(case: Case) -> None:
    """Calls from several threads at once give what one call gives."""
    results: list[Result] = []
    threads = [
        threading.Thread(target=lambda: results.append(case.score(case.altered, case.references))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        assert_same(result.per_pair, case.on_altered.per_pair, case.tolerance)


def check_batch_size(case: Case) -> None:
    """How many texts a model reads at once changes no score."""
    for batch_size in (1, 3):
        _check_equal(case, case.score(case.altered, case.references, batch_size=batch_size))


def check_pickled(case: Case) -> None:
    """A pickled result is the same."""
    result: Result = pickle.loads(pickle.dumps(case.on_altered))
    assert_same(result.reduce([1, 4]), case.on_altered.reduce([1, 4]))
    assert result.spec == case.spec


def check_what_is_left_alone(case: Case) -> None:
    """Scoring changes neither its inputs nor the environment, the seeds or the warnings."""
    candidates, references = list(case.altered), list(case.references)

    def state() -> tuple[Any, ...]:
        filters = list(warnings.filters)
        return dict(os.environ), filters, random.getstate(), repr(np.random.get_state())

    before = state()
    case.score(candidates, references)
    assert state() == before
    assert (candidates, references) == (list(case.altered), list(case.references))


def _check_equal(case: Case, result: Result) -> None:
    assert_same(result.scores, case.on_altered.scores, case.tolerance)
    assert_same(result.per_pair, case.on_altered.per_pair, case.tolerance)
    assert result.signature == case.on_altered.signature


def _rows(result: Result, rows: Any) -> dict[str, object]:
    return {key: values[rows] for key, values in result.per_pair.items()}
