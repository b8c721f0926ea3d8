"""Results, aggregation and the runner on statistics and scorers made by hand."""

from __future__ import annotations

import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from made_results import scores_of_sets

import rrgmetrics
from rrgmetrics import SPECS, InputError, Result
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Mean
from rrgmetrics.scorers.bleu import BleuReduction
from rrgmetrics.scoring import hub, prepared
from rrgmetrics.scoring.results import unscored_lines

NAN = math.nan


def result(stats) -> Result:
    stats = np.array(stats, dtype=float).reshape(-1, 1)
    reduction = Mean(("meteor",))
    return Result(
        spec=SPECS["meteor"],
        scores=aggregate.reduce(reduction, stats),
        per_pair=reduction.per_pair(stats),
        pair_stats=stats,
        reduction=reduction,
        signature="meteor|n:1|v:0",
    )


@pytest.mark.parametrize(
    ("stats", "mean", "n_unscored"),
    [([1, 0, 0.5], 0.5, 0), ([1, NAN, 0], 0.5, 1), ([NAN], NAN, 1), ([NAN, NAN], NAN, 2), ([0.25], 0.25, 0)],
)
def test_unscored_pairs_count_in_no_mean(stats, mean, n_unscored):
    made = result(stats)
    assert made.scores["meteor"] == pytest.approx(mean, nan_ok=True)
    assert (made.n_pairs, made.n_unscored) == (len(stats), n_unscored)
    assert made.per_pair["meteor"] == pytest.approx(stats, nan_ok=True)
    assert hub.as_dict(made)["meteor_n_unscored"] == n_unscored
    assert pickle.loads(pickle.dumps(made)).reduce([0]) == pytest.approx(made.reduce([0]), nan_ok=True)


@pytest.mark.parametrize(
    ("rows", "mean"),
    [([0], 1), ([1], NAN), ([0, 0, 2], 2 / 3), ((2, 3), 0.25), (slice(2, None), 0.25), ([-1], 0.5), ([], NAN),
     ([True, True, False, False], 1), (np.array([False, False, True, False]), 0), (range(4), 0.5)],
)  # fmt: skip
def test_reduce(rows, mean):
    assert result([1, NAN, 0, 0.5]).reduce(rows)["meteor"] == pytest.approx(mean, nan_ok=True)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 5], r"rows\[1\] is 5, and there are 4 pairs, numbered from 0"),
        ([-5], r"rows\[0\] is -5"),
        ([True, False], "a mask of 2 values for 4 pairs"),
        (["a"], r"rows is \['a'\] \(list\); pass indices, a mask or a slice"),
        ([0.5], "pass indices"),
        ([[0, 1]], "pass indices"),
        ({0, 1}, "pass indices"),
        (None, "rows is None"),
        (1, r"rows is 1 \(int\)"),
    ],
)
def test_reduce_names_rows_that_no_pair_has(rows, message):
    with pytest.raises(InputError, match=message):
        result([1, NAN, 0, 0.5]).reduce(rows)


def test_scores_of_sets():
    stats = np.array([[1.0], [NAN], [0.0], [0.5]])
    weights = [[1, 1, 1, 1], [2, 0, 0, 2], [0, 5, 0, 0], [0, 0, 0, 1]]
    scores = scores_of_sets(Mean(("meteor",)), stats, weights)["meteor"]
    assert scores == pytest.approx([0.5, 0.75, NAN, 0.5], nan_ok=True)


@pytest.mark.parametrize("tokenizer", ["coco", "13a"])
def test_unscored_rows_of_bleu(tokenizer):
    reduction = BleuReduction({"coco": "coco", "13a": "exp"}.get(tokenizer, tokenizer))
    row = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]
    stats = np.array([row, [NAN] * 10], dtype=float)
    assert reduction.per_pair(stats)["bleu"] == pytest.approx([1, NAN], nan_ok=True, abs=1e-8)
    assert aggregate.reduce(reduction, stats)["bleu"] == pytest.approx(1, abs=1e-8)
    assert math.isnan(aggregate.reduce(reduction, stats[1:])["bleu"])


def test_results_have_the_strings_that_were_passed():
    names = ["bleu", "bleu?tokenizer=13a", "bleu@default?tokenizer=13a"]
    results = rrgmetrics.score(names, predictions=["a b"], references=["a b"], progress=False)
    assert list(results) == names
    assert results[names[1]].scores == results[names[2]].scores
    assert abs(results[names[1]].scores["bleu"] - results["bleu"].scores["bleu"]) > 0


def test_names_as_one_string_or_any_sequence():
    for names in ("rouge", ["rouge"], ("rouge",), iter(["rouge"])):
        assert list(rrgmetrics.score(names, predictions=["a"], references=["a"], progress=False)) == ["rouge"]


def test_equal_pairs_with_other_contexts_stay_apart(monkeypatch):
    """Contexts belong to a pair's identity: a metric may use them."""
    seen = []
    build = prepared.build_scorer

    class Scorer:
        def __init__(self, name):
            self.scorer = build(name)

        def __getattr__(self, name):
            return getattr(self.scorer, name)

        def pair_stats(self, pairs, annotations, statistics=None):
            seen.extend(pair.context for pair in pairs)
            return self.scorer.pair_stats(pairs, annotations, statistics)

    monkeypatch.setattr(prepared, "build_scorer", Scorer)
    ages = ["030Y", "080Y", "030Y"]
    rrgmetrics.score(
        "rouge", predictions=["a"] * 3, references=["a"] * 3, contexts=[{"age": age} for age in ages], progress=False
    )
    assert [context.age for context in seen] == [30, 80]


def test_what_is_missing_is_known_before_any_work(monkeypatch, tmp_path):
    from rrgmetrics.scorers.bleu import Bleu

    monkeypatch.setattr(Bleu, "pair_stats", lambda *arguments: pytest.fail("scoring began"))
    for late in ("meteor?wordnet=/nowhere", f"bertscore@{tmp_path}/none"):
        with pytest.raises(rrgmetrics.BackendError, match=r"none|nowhere"):
            rrgmetrics.score(["bleu", late], predictions=["a"], references=["a"], progress=False)


def test_score_systems():
    systems = {"a": ["x y", "z"], "b": ["x", "z z"]}
    ready = rrgmetrics.prepare(["rouge", "cider"])
    scored = ready.score_systems(systems=systems, references=["x y", "z"], progress=False)
    for name, candidates in systems.items():
        alone = rrgmetrics.score(["rouge", "cider"], predictions=candidates, references=["x y", "z"], progress=False)
        assert {metric: result.scores for metric, result in scored[name].items()} == {
            metric: result.scores for metric, result in alone.items()
        }
    with pytest.raises(InputError, match="No system"):
        ready.score_systems(systems={}, references=["x"], progress=False)
    with pytest.raises(InputError, match="b"):
        ready.score_systems(systems={"a": ["x"], "b": ["x", "y"]}, references=["x"], progress=False)


def test_a_reason_is_given_once_with_the_studies():
    def left(**reasons):
        return SimpleNamespace(n_pairs=600, unscored_reasons={int(row[1:]): reason for row, reason in reasons.items()})

    ids = [f"s{number}" for number in range(600)]
    one, none, two = left(_7="it is a brain"), left(), left(_7="it is a brain", _9="there is no reply")
    assert unscored_lines({"a": {"crepe": one, "bleu": none, "green": one}}, ids) == [
        "Not scored in crepe and green: 1 study (s7), because it is a brain."
    ]
    assert unscored_lines({"a": {"crepe": one, "green": one}}) == [
        "Not scored in every metric: 1 study (7), because it is a brain."
    ]
    systems = {"a": {"crepe": one, "green": two}, "b": {"crepe": one, "green": one}, "c": {"crepe": one, "green": one}}
    assert unscored_lines(systems, ids) == [
        "Not scored in every metric: 1 study (s7), because it is a brain.",
        "Not scored in green of a: 1 study (s9), because there is no reply.",
    ]
    assert unscored_lines(systems, ids, without=["it is a brain"]) == [
        "Not scored in green of a: 1 study (s9), because there is no reply."
    ]
    many = {"a": {"green": left(**{f"_{row}": "x" for row in range(8)})}}
    assert unscored_lines(many, ids) == ["Not scored in green: 8 studies (s0, s1, s2, s3, s4 and 3 more), because x."]
