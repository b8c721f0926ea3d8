"""Prepared metrics: ready once, scored often; they own their models and share them."""

from __future__ import annotations

import gc
import pickle
from collections import Counter

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError, Metrics
from rrgmetrics.backends.reader import ReaderBackend
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.rouge import Rouge
from rrgmetrics.stats import bootstrap

REFERENCES = ["Small left pleural effusion.", "Large right pneumothorax.", "No acute disease."]
CANDIDATES = ["Small right pleural effusion.", "Clear lungs.", "No acute disease."]
PAIRS = check_pairs(CANDIDATES, REFERENCES)
NAMES = ["rouge", "finding_errors", "bleu?tokenizer=13a"]


@pytest.fixture(scope="module")
def metrics():
    return rrgmetrics.prepare(NAMES)


def scores(results):
    return {name: result.scores for name, result in results.items()}


def test_they_score_as_score_does(metrics):
    expected = scores(rrgmetrics.score(NAMES, predictions=CANDIDATES, references=REFERENCES, progress=False))
    for _ in range(2):
        assert scores(metrics.score(predictions=CANDIDATES, references=REFERENCES, progress=False)) == expected
    assert scores(metrics.score_pairs(PAIRS, progress=False)) == expected
    both = metrics.score_systems(systems={"a": CANDIDATES, "b": REFERENCES}, references=REFERENCES, progress=False)
    assert scores(both["a"]) == expected
    assert both["b"]["finding_errors"].scores["finding_errors"] == 0
    assert scores(metrics.only(["rouge"]).score_pairs(PAIRS, progress=False)) == {"rouge": expected["rouge"]}
    together = Metrics.together([rrgmetrics.prepare(name) for name in NAMES])
    assert scores(together.score_pairs(PAIRS, progress=False)) == expected
    assert scores(pickle.loads(pickle.dumps(metrics)).score_pairs(PAIRS, progress=False)) == expected


def test_they_say_what_is_ready(metrics):
    assert list(metrics.names) == list(metrics.specs) == NAMES
    assert metrics.specs["bleu?tokenizer=13a"].name == "bleu"
    result = metrics.score_pairs(PAIRS, progress=False)["finding_errors"]
    assert metrics.signatures(3)["finding_errors"] == result.signature.replace("|pack:chest_xray", "")


def test_steps_tell_how_far_they_are(metrics):
    *progress, results = metrics.steps(PAIRS, block=2)
    assert [each.done for each in progress] == [2, 4, 6, 7, 8, 9]  # two kinds of text, two blocks
    assert {each.total for each in progress} == {9}
    assert Counter(dict.fromkeys(NAMES, 3)) == sum((Counter({each.metric: each.pairs}) for each in progress), Counter())
    assert all(each.of == 3 and each.seconds >= 0 for each in progress)
    assert scores(results) == scores(metrics.score_pairs(PAIRS, progress=False))


@pytest.mark.parametrize("wrong", [[], "no_such_metric", ["rouge", "rouge"], "rouge?stemmer=maybe"])
def test_wrong_names(wrong):
    with pytest.raises(InputError):
        rrgmetrics.prepare(wrong)


def test_closed_metrics_say_so():
    with rrgmetrics.prepare("rouge") as metrics:
        assert metrics.score_pairs(PAIRS, progress=False)
    with pytest.raises(InputError, match="closed; call prepare again"):
        metrics.score_pairs(PAIRS, progress=False)
    with pytest.raises(InputError, match="no pairs"):
        rrgmetrics.prepare("rouge").score_pairs([])
    with pytest.raises(InputError, match="on_error is 'log'"):
        rrgmetrics.prepare("rouge").score_pairs(PAIRS, on_error="log")


def test_a_metric_that_fails_stops_no_other(metrics, monkeypatch):
    def failing(self, *_):
        raise RuntimeError("out of order")

    expected = scores(metrics.score_pairs(PAIRS, progress=False))
    monkeypatch.setattr(Rouge, "pair_stats", failing)
    with pytest.raises(RuntimeError, match="out of order"):
        metrics.score_pairs(PAIRS, progress=False)
    results = metrics.score_pairs(PAIRS, on_error="unscored", progress=False)
    assert list(results) == NAMES
    failed = results.pop("rouge")
    assert scores(results) == {name: expected[name] for name in results}
    assert failed.n_unscored == failed.n_pairs == 3
    assert failed.unscored_counts == {"the metric failed: RuntimeError: out of order": 3}
    assert isinstance(failed.error, RuntimeError)
    assert failed.scores.keys() == expected["rouge"].keys()
    assert np.isnan([*failed.scores.values(), *failed.per_pair["rouge"]]).all()
    assert np.isnan(bootstrap(failed.reduction, failed.pair_stats, trials=10)["rouge"].value)


def test_models_are_shared_and_leave_with_the_last_who_holds_them(run_python):
    script = """
import gc, weakref
import rrgmetrics
first, second = rrgmetrics.prepare("crepe"), rrgmetrics.prepare("crepe", batch_size=4)
networks = [metrics.jobs["crepe"].backend.network for metrics in (first, second)]
print(networks[0] is networks[1])
loaded = weakref.ref(networks[0])
del networks
first.close()
print(loaded() is not None)
second.close()
gc.collect()
print(loaded() is None)
rrgmetrics.score("bertscore", predictions=["a"], references=["a"], progress=False)
gc.collect()
from rrgmetrics.backends.encoder import Bundled
print(not any(isinstance(each, Bundled) for each in gc.get_objects()))
"""
    assert run_python(script).split() == ["True"] * 4


def test_references_are_remembered_between_calls(monkeypatch):
    read = Counter()
    annotate = ReaderBackend.annotate
    monkeypatch.setattr(ReaderBackend, "annotate", lambda self, texts: read.update(texts) or annotate(self, texts))
    metrics = rrgmetrics.prepare(["finding_errors", "green"], kept_references=2)
    for candidates in (["Rib fracture.", "Cardiomegaly."], ["Edema.", "Rib fracture."]):
        metrics.score(predictions=candidates, references=REFERENCES[:2], progress=False)
    assert read == {**dict.fromkeys(REFERENCES[:2], 1), "Rib fracture.": 2, "Cardiomegaly.": 1, "Edema.": 1}
    for references in (REFERENCES[2:], REFERENCES[:2]):  # a third one takes the place of the oldest
        metrics.score(predictions=["Edema."] * len(references), references=references, progress=False)
    assert [read[text] for text in REFERENCES] == [2, 1, 1]


def test_the_garbage_collector_is_left_on(metrics):
    frozen = gc.get_freeze_count()  # the tests freeze what they collected
    assert all(gc.isenabled() for _ in metrics.steps(PAIRS, block=1))
    assert gc.get_freeze_count() <= frozen  # some of these go out of use


def test_a_text_that_comes_again_is_read_once_however_far_away(monkeypatch):
    read = Counter()
    annotate = ReaderBackend.annotate
    monkeypatch.setattr(ReaderBackend, "annotate", lambda self, texts: read.update(texts) or annotate(self, texts))
    pairs = check_pairs([*CANDIDATES, CANDIDATES[0]], [*REFERENCES, REFERENCES[1]])
    *_, results = rrgmetrics.prepare(["finding_errors", "green"]).steps(pairs, block=1)
    assert read == dict.fromkeys([*CANDIDATES, *REFERENCES], 1)
    assert len(results["green"].pair_stats) == 4
