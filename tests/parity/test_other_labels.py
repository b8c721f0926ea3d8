"""F1 of labels beyond the chest film, beside RadEval's own numbers: conditions of chest CT, and five label sets.

The classifiers of the five are private: what is compared is how classes become labels, and the arithmetic.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import InputError
from rrgmetrics.backends.classifier import Classifier, whole
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.f1_radbert_ct import F1RadbertCt
from rrgmetrics.scorers.labels import LabelScore, LabelScores, label_stats
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import SPECS
from rrgmetrics.specs.label_names import label_key

DATA = json.loads((Path(__file__).parents[1] / "data/other_modalities.json").read_text())
LABELS, CASES = DATA["labels"], DATA["cases"]
AVERAGES = ("micro", "macro", "weighted")
FOUR_CLASSES = ("f1hopprchexbert_ct", "f1hopprchexbert_abd", "f1hopprchexbert_msk")  # absent, not reported, unsure, yes


def cases(*metrics):
    chosen = [case for case in CASES if case["metric"] in metrics and case["function"] == "adapter.compute"]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def with_labels(scores, names):
    each = {label_key("f1", name): LabelScore(labels=(index,), one=True) for index, name in enumerate(names)}
    return LabelScores(scores | each, len(names))


def collapsed(metric, names, rows):
    """Classes of reports → labels: an unsure finding counts, and what has none of the others has no finding."""
    table = np.zeros((len(rows), len(names)), dtype=bool)
    for row, classes in zip(table, rows, strict=True):
        for name, number in classes.items():
            row[names.index(name)] = number >= 2 if metric in FOUR_CLASSES else number != 0
        row[-1] = not row[:-1].any()
    return table


@cases(*FOUR_CLASSES, "f1hopprchexbert_cth", "f1hoppr_cth_rrg_lv001_cls_lv003", "f1hoppr_msk_rrg_lv005_cls_lv009")
def test_collapse_and_arithmetic(case):
    metric, expected = case["metric"], case["expected"]
    names = LABELS.get(metric, LABELS["f1hopprchexbert_cth"])
    sides = [collapsed(metric, names, case["input"][f"{side}_classes"]) for side in ("reference", "candidate")]
    assert [[name for name, has in zip(names, row, strict=True) if has] for row in sides[0]] == expected[
        "labels_reference"
    ]
    stats = label_stats(*sides)
    reduction = with_labels({average: LabelScore(average) for average in AVERAGES}, names)
    scores = {key: value.item() for key, value in reduction.corpus(stats.sum(0), np.array(len(stats))).items()}
    for average in AVERAGES:
        assert round(scores[average], 4) == expected["default"][f"{metric}_{average}_f1"]
    each = {name: scores[label_key("f1", name)] for name in names}
    assert {name: f1 for name, f1 in each.items() if f1 > 0} == pytest.approx(expected["detailed_nonzero"])
    agree = (sides[0] == sides[1]).all(axis=1)
    assert agree.tolist() == expected["per_sample"][f"{metric}_sample_acc"]


@cases("f1hopprchexbert")
def test_collapse_of_the_chest_film(case):
    """`no_finding` has its own head, class 2 is a denial, and where nothing is labelled ours is 1, theirs 0."""
    names, top = LABELS["f1hopprchexbert"], LABELS["f1hopprchexbert_top"]
    sides = [
        np.array([[row.get(name, 0) in (1, 3) for name in names] for row in case["input"][f"{side}_classes"]])
        for side in ("reference", "candidate")
    ]
    stats = label_stats(*sides)
    chosen = {"all": tuple(range(len(names))), "5": tuple(names.index(name) for name in top)}
    for group, places in chosen.items():
        scores = LabelScores({average: LabelScore(average, labels=places) for average in AVERAGES}, len(names))
        nothing = not any(side[:, places].any() for side in sides)
        for average, value in scores.corpus(stats.sum(0), np.array(len(stats))).items():
            expected = case["expected"]["default"][f"f1hopprchexbert_{group}_{average}_f1"]
            assert (round(value.item(), 4), nothing) in [(expected, False), (expected + 1, True)]
        agree = (sides[0] == sides[1])[:, places].mean(axis=1)
        per_sample = case["expected"]["per_sample"][f"f1hopprchexbert_sample_acc_{group}"]
        assert agree == pytest.approx(per_sample, abs=1e-12)


@cases("f1radbert_ct")
def test_radbert_ct(case):
    names, given = LABELS["f1radbert_ct"], case["input"]
    rows = given["reference_probabilities"] + given["candidate_probabilities"]
    texts = [f"Report {number}." for number in range(len(rows))]
    table = {
        text: [row.get(name, given["others"]) for name in names[:-1]] for text, row in zip(texts, rows, strict=True)
    }

    def logits(pieces, batch_size):
        probabilities = np.array([table[piece] for piece in pieces])
        return np.log(probabilities / (1 - probabilities)).astype(np.float32)

    backend = Classifier("invented", whole, logits, None)
    scorer = F1RadbertCt(config="paper")
    pairs = check_pairs(texts[len(texts) // 2 :], texts[: len(texts) // 2])
    stats = scorer.pair_stats(pairs, dict(zip(texts, backend.annotate(texts), strict=True)))
    result = Result.of_stats(stats, "f1_radbert_ct|v:0", {})
    expected = case["expected"]
    for average, key in zip(AVERAGES, ("_micro", "_macro", ""), strict=True):
        assert round(result.scores[f"f1_radbert_ct{key}"], 4) == expected["default"][f"f1radbert_ct_{average}_f1"]
    assert result.per_pair["f1_radbert_ct_accuracy"].tolist() == expected["per_sample"]["f1radbert_ct_sample_acc"]
    each = {name: result.scores[label_key("f1_radbert_ct", name)] for name in names}
    assert {name: f1 for name, f1 in each.items() if f1 > 0} == pytest.approx(expected["detailed_nonzero"])


def test_a_threshold_is_for_probabilities(published_checkpoints):
    """A lower one never takes a label away; the reader has no probabilities, and 0 and 1 are none to compare with."""
    reports = {
        "predictions": ["Small effusion."] * 2,
        "references": ["Small effusion.", "A nodule."],
        "progress": False,
    }

    def labels(threshold):
        name = f"f1_radbert_ct@paper?explain=yes&threshold={threshold}"
        told = rrgmetrics.score(name, **reports)[name].details["f1_radbert_ct_explained"]
        return {label for pair in told for side in pair.values() for label in side} - {"No finding"}

    assert labels(0.001) > labels(0.5) >= labels(0.999)
    for name in ("f1_radbert_ct?threshold=0.4", "f1_radbert_ct@paper?threshold=1.0"):
        with pytest.raises(InputError, match="threshold"):
            rrgmetrics.prepare([name])


def test_rows_and_labels_are_the_readers():
    """The rows of facts cannot ask the reader for its labels; they say the same."""
    for name in ("srr_bert_f1?level=leaves", "srr_bert_f1?level=upper&statuses=yes", "f1_radbert_ct", "chexbert_f1"):
        result = rrgmetrics.score(name, predictions=["Edema."], references=["Edema."], progress=False)[name]
        assert list(result.scores) == [key.name for key in SPECS[name.partition("?")[0]].keys]


def test_f1_of_each_label_of_either_level():
    """Pneumothorax: TP 1, C 1, R 2; its status differs once."""
    references = ["Small left pneumothorax.", "Small right pneumothorax.", "Possible right pneumothorax."]
    candidates = ["Small left pneumothorax.", "The lungs are clear.", "Small right pneumothorax."]
    for options, key, expected in (
        ("level=leaves", "simple_pneumothorax", 4 / 5),
        ("level=upper", "pneumothorax", 4 / 5),
        ("level=upper&statuses=yes", "pneumothorax", 2 / 5),
        ("level=upper", "simple_pneumothorax", None),
    ):
        name = f"srr_bert_f1?{options}"
        scores = rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name].scores
        value = scores[f"srr_bert_f1_{key}"]
        assert np.isnan(value) if expected is None else value == pytest.approx(expected)
