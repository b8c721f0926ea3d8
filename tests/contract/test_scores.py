"""What every metric's scores obey."""

from __future__ import annotations

import math
import pickle
import threading

import numpy as np
import pytest

import rrgmetrics
from float32 import needs_model, rounding

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


def assert_same(left, right, tolerance=0.0):
    assert left.keys() == right.keys()
    for key in left:
        np.testing.assert_allclose(left[key], right[key], rtol=tolerance, atol=tolerance, err_msg=key)


def test_keys(spec, altered):
    result = altered(spec.name)
    assert list(result.scores) == [key.name for key in spec.keys]
    assert list(result.per_pair) == [key.name for key in spec.keys if key.per_pair]
    assert spec.headline.name == spec.name
    assert spec.name in result.per_pair
    assert {type(value) for value in result.scores.values()} == {float}
    assert {(values.shape, values.dtype) for values in result.per_pair.values()} == {((14,), np.dtype(float))}
    assert result.pair_stats.shape[0] == result.n_pairs == 14
    assert result.n_unscored == 0


def test_keys_are_unique_over_all_metrics():
    keys = [key.name for _, key in rrgmetrics.specs.all_keys()]
    assert len(keys) == len(set(keys))


def test_range(spec, score, reports, altered):
    strange = score(spec.name, [*STRANGE, *reversed(STRANGE), "", " "], [*STRANGE, *STRANGE, " \n", "Clear lungs."])
    same = score(spec.name, reports.references, reports.references)
    for result in (strange, same, altered(spec.name)):
        for key in spec.keys:
            values = np.append(result.per_pair.get(key.name, []), result.scores[key.name])
            values = values[~np.isnan(values)]
            assert len(values) or not key.per_pair  # one label's score is undefined where no report has the label
            assert (values >= key.range[0]).all()
            assert (values <= key.range[1]).all()


def test_corpus_of_pair_level_metrics_is_the_mean_over_scored_pairs(pair_level_spec, score, reports):
    result = score(pair_level_spec.name, [*reports.altered, "", "a"], [*reports.references, "Clear lungs.", "a"])
    for key, values in result.per_pair.items():
        assert result.scores[key] == pytest.approx(np.nanmean(values), abs=1e-12)


def test_empty_texts(spec, score, reports):
    text = reports.references[0]
    for nothing in ("", " ", "\n \t"):
        pairs = [
            (nothing, nothing),
            (text, nothing),
            (nothing, text),
            *zip(reports.references, reports.altered, strict=True),
        ]
        references, candidates = map(list, zip(*pairs, strict=True))
        result = score(spec.name, candidates, references)
        # COCO's smoothing leaves BLEU up to 6e-9 for an empty reference, and outside values demand just that
        for value, stated in zip(result.per_pair[spec.name][:3], spec.empty, strict=True):
            assert abs(value) > 0 if stated is None else value == pytest.approx(stated, abs=1e-8)


def test_only_empty_texts(spec, score):
    result = score(spec.name, [""], [""])
    np.testing.assert_array_equal(result.per_pair[spec.name], spec.empty[:1])


def test_identical_text_scores_at_least_as_well_as_altered_text(spec, score, reports, altered):
    sign = 1 if spec.higher_is_better else -1
    same = score(spec.name, reports.references, reports.references)
    assert (sign * same.per_pair[spec.name] >= sign * altered(spec.name).per_pair[spec.name]).all()
    assert sign * same.scores[spec.name] > sign * altered(spec.name).scores[spec.name]


def test_pair_order_does_not_matter(spec, score, reports, altered):
    order = np.random.default_rng(0).permutation(len(reports.references))
    shuffled = score(spec.name, [reports.altered[i] for i in order], [reports.references[i] for i in order])
    expected = {key: values[order] for key, values in altered(spec.name).per_pair.items()}
    assert_same(shuffled.scores, altered(spec.name).scores, rounding(spec))
    assert_same(shuffled.per_pair, expected, rounding(spec))


def test_alone_as_in_a_batch(independent_spec, score, reports, altered):
    for index in (0, 5, 13):
        alone = score(independent_spec.name, reports.altered[index : index + 1], reports.references[index : index + 1])
        batch = {key: values[index : index + 1] for key, values in altered(independent_spec.name).per_pair.items()}
        assert_same(alone.per_pair, batch, rounding(independent_spec))


def test_repeated_pairs_score_alike_and_count_each_time(independent_spec, score, reports, altered):
    result = score(independent_spec.name, reports.altered * 3, reports.references * 3)
    expected = {key: np.tile(values, 3) for key, values in altered(independent_spec.name).per_pair.items()}
    assert_same(result.per_pair, expected, rounding(independent_spec))
    smoothing = 1e-9  # COCO's smoothing weighs less where there are more words
    assert_same(result.scores, altered(independent_spec.name).scores, max(smoothing, rounding(independent_spec)))
    assert result.n_pairs == 42


@pytest.mark.parametrize(
    "rows",
    [[3], [0, 5, 9], [2, 2, 2, 7], range(14), slice(4, 11), slice(None, None, -2), [-1], np.arange(14) % 3 == 0],
    ids=str,
)
def test_reduce_equals_scoring_those_pairs(independent_spec, score, reports, altered, rows):
    picked = np.arange(14)[rows if isinstance(rows, slice) else np.asarray(rows)]
    fresh = score(independent_spec.name, [reports.altered[i] for i in picked], [reports.references[i] for i in picked])
    assert_same(altered(independent_spec.name).reduce(rows), fresh.scores, rounding(independent_spec))


def test_reduce_of_all_and_of_none(spec, altered):
    result = altered(spec.name)
    assert_same(result.reduce(slice(None)), result.scores)
    for rows in ([], slice(0, 0), np.zeros(14, dtype=bool)):
        assert all(math.isnan(value) for value in result.reduce(rows).values())


def test_repeated_calls_are_equal(spec, score, reports, altered):
    score(spec.name, reports.references[::-1], reports.altered)  # another call in between leaves nothing behind
    again = score(spec.name, reports.altered, reports.references)
    assert_same(again.scores, altered(spec.name).scores, rounding(spec))
    assert_same(again.per_pair, altered(spec.name).per_pair, rounding(spec))
    assert again.signature == altered(spec.name).signature


def test_together_as_alone(reports, altered):
    together = rrgmetrics.score(
        list(rrgmetrics.SPECS), predictions=reports.altered, references=reports.references, progress=False
    )
    assert list(together) == list(rrgmetrics.SPECS)
    for name, result in together.items():
        assert_same(result.per_pair, altered(name).per_pair, rounding(result.spec))
        assert result.signature == altered(name).signature


def test_a_pickled_result_is_the_same(spec, altered):
    result = pickle.loads(pickle.dumps(altered(spec.name)))
    assert_same(result.reduce([1, 4]), altered(spec.name).reduce([1, 4]))
    assert result.spec == spec


def test_threads(spec, score, reports, altered):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(score(spec.name, reports.altered, reports.references)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        assert_same(result.per_pair, altered(spec.name).per_pair, rounding(spec))


def test_inputs_are_left_alone(spec, score, reports):
    candidates, references = list(reports.altered), list(reports.references)
    score(spec.name, candidates, references)
    assert (candidates, references) == (reports.altered, reports.references)


@pytest.mark.parametrize("name", [name for name, spec in rrgmetrics.SPECS.items() if needs_model(spec)])
def test_the_number_of_threads_changes_no_score(name, score, reports, altered):
    """All other tests leave torch one thread (tests/conftest.py)."""
    import torch

    expected, threads = altered(name).per_pair, torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        result = score(name, reports.altered, reports.references)
    finally:
        torch.set_num_threads(threads)
    assert_same(result.per_pair, expected, rounding(rrgmetrics.SPECS[name]))


@pytest.mark.parametrize("batch_size", [1, 3])
def test_batch_size_changes_no_score(spec, score, reports, altered, batch_size):
    result = score(spec.name, reports.altered, reports.references, batch_size=batch_size)
    assert_same(result.per_pair, altered(spec.name).per_pair, rounding(spec))
