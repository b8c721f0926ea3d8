"""CheXbert F1 and SembScore with the reader: labels, what uncertain counts as, and the faults of earlier code."""

from __future__ import annotations

import numpy as np
import pytest

import rrgmetrics
from float32 import in_float32
from rrgmetrics import SPECS
from rrgmetrics.backends.chexbert import ConditionReading
from rrgmetrics.labels.conditions import Status, load_conditions
from rrgmetrics.reports import Pair
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Runtime
from rrgmetrics.scorers.chexbert_f1 import ChexbertF1, label_scores
from rrgmetrics.scorers.semb_score import SembScore, cosine

BLANK, POSITIVE, NEGATIVE, UNCERTAIN = Status
EDEMA, PNEUMONIA, NO_FINDING = 4, 6, 13


def score(name, candidates, references):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]


def reading(**statuses):
    """What a labeller says: edema, pneumonia or no_finding by keyword, all else blank."""
    row = [BLANK] * 14
    for name, status in statuses.items():
        row[{"edema": EDEMA, "pneumonia": PNEUMONIA, "no_finding": NO_FINDING}[name]] = status
    return ConditionReading(tuple(row), np.zeros(3, dtype=np.float32), False)


def f1(scorer, reference, candidate):
    stats = scorer.pair_stats([Pair("r", "c")], {"r": reference, "c": candidate})
    return scorer.reduction.per_pair(stats)["chexbert_f1"][0]


@pytest.mark.parametrize(
    ("reference", "candidate", "positive", "negative", "ignored"),
    [
        ({"edema": POSITIVE}, {"edema": POSITIVE}, 1, 1, 1),
        ({"edema": POSITIVE}, {"edema": UNCERTAIN}, 1, 0, 1),
        ({"edema": UNCERTAIN}, {"edema": UNCERTAIN}, 1, 1, 1),
        ({"edema": UNCERTAIN}, {"edema": NEGATIVE}, 0, 1, 1),
        ({"edema": UNCERTAIN}, {}, 0, 1, 1),
        ({"edema": POSITIVE}, {"edema": NEGATIVE}, 0, 0, 0),
        ({"edema": POSITIVE}, {}, 0, 0, 0),
        ({"edema": NEGATIVE}, {}, 1, 1, 1),  # what is denied is not had
        ({"edema": POSITIVE, "pneumonia": UNCERTAIN}, {"edema": POSITIVE}, 2 / 3, 1, 1),
        ({"edema": POSITIVE, "pneumonia": UNCERTAIN}, {"pneumonia": POSITIVE}, 2 / 3, 0, 0),
        ({"no_finding": POSITIVE}, {"no_finding": POSITIVE}, 1, 1, 1),
    ],
)
def test_what_uncertain_counts_as(reference, candidate, positive, negative, ignored):
    for uncertain, expected in (("positive", positive), ("negative", negative), ("ignored", ignored)):
        scorer = ChexbertF1(uncertain=uncertain)
        assert f1(scorer, reading(**reference), reading(**candidate)) == pytest.approx(expected)
        assert f1(scorer, reading(**candidate), reading(**reference)) == pytest.approx(expected)


def test_counts_over_pairs():
    """Three pairs: (effusion, cardiomegaly | effusion), (edema | effusion, edema), (no finding | no finding)."""
    result = score(
        "chexbert_f1",
        ["Small left effusion.", "Pulmonary edema. Left effusion.", "Clear lungs."],
        ["Left effusion. Mild cardiomegaly.", "Mild pulmonary edema.", "No acute findings."],
    )
    scores = result.scores
    assert scores["chexbert_f1"] == pytest.approx(2 * 3 / (4 + 4))
    assert scores["chexbert_f1_precision"] == scores["chexbert_f1_recall"] == pytest.approx(3 / 4)
    assert scores["chexbert_f1_pleural_effusion"] == pytest.approx(2 / 3)
    assert (scores["chexbert_f1_cardiomegaly"], scores["chexbert_f1_edema"]) == (0, 1)
    assert scores["chexbert_f1_no_finding"] == 1
    assert np.isnan(scores["chexbert_f1_fracture"])
    assert scores["chexbert_f1_macro_14"] == pytest.approx((2 / 3 + 0 + 1 + 1) / 14)
    assert scores["chexbert_f1_weighted_14"] == pytest.approx((2 / 3 + 0 + 1 + 1) / 4)
    assert scores["chexbert_f1_micro_5"] == pytest.approx(2 * 2 / (3 + 3))
    assert scores["chexbert_f1_macro_5"] == pytest.approx((2 / 3 + 0 + 1) / 5)
    assert result.per_pair["chexbert_f1"].tolist() == pytest.approx([2 / 3, 2 / 3, 1])
    assert result.per_pair["chexbert_f1_agreement_14"].tolist() == pytest.approx([13 / 14, 13 / 14, 1])
    assert result.per_pair["chexbert_f1_agreement_5"].tolist() == pytest.approx([4 / 5, 4 / 5, 1])


def test_perfect_agreement_is_exactly_1():
    """F1CheXbert's mean of equal labels is 0.9999999999999997."""
    result = score("chexbert_f1", ["Mild edema. Left effusion."] * 7, ["Mild edema. Left effusion."] * 7)
    assert {float(value) for value in result.per_pair["chexbert_f1_agreement_14"]} == {1.0}
    assert result.scores["chexbert_f1_agreement_14"] == result.scores["chexbert_f1"] == 1.0


def test_the_published_report_of_f1chexbert():
    """The label vectors of its test: agreement per report, and the table that scikit-learn made of them."""
    candidates = [{13}, {13}, {4, 7}, {5}, set()]  # indices of positive conditions
    references = [{13}, {1}, {1}, {5}, {2, 3}]
    texts = {}
    for side, rows in (("r", references), ("c", candidates)):
        for i, row in enumerate(rows):
            statuses = tuple(POSITIVE if k in row else BLANK for k in range(14))
            texts[f"{side}{i}"] = ConditionReading(statuses, np.zeros(3, dtype=np.float32), False)
    scorer = ChexbertF1()
    stats = scorer.pair_stats([Pair(f"r{i}", f"c{i}") for i in range(5)], texts)
    per_pair, corpus = scorer.reduction.per_pair(stats), aggregate.reduce(scorer.reduction, stats)
    np.testing.assert_allclose(per_pair["chexbert_f1_agreement_5"], [1, 0.8, 0.4, 1, 1], atol=1e-12)
    np.testing.assert_allclose(per_pair["chexbert_f1_agreement_14"], [1, 12 / 14, 11 / 14, 1, 12 / 14], atol=1e-12)
    published = {
        "chexbert_f1": 0.36363636363636365,
        "chexbert_f1_precision": 0.4,
        "chexbert_f1_recall": 1 / 3,
        "chexbert_f1_macro_14": 0.11904761904761904,
        "chexbert_f1_weighted_14": 0.27777777777777773,
        "chexbert_f1_micro_5": 1 / 3,
        "chexbert_f1_macro_5": 0.2,
        "chexbert_f1_weighted_5": 1 / 3,
        "chexbert_f1_no_finding": 2 / 3,
    }
    assert {key: corpus[key] for key in published} == pytest.approx(published, abs=1e-12)


def test_a_pairs_f1_is_not_the_share_of_equal_labels():
    """RadEval's value per pair is 1.0 for an invented pneumothorax (none of its five) and 0.8 for a denied effusion."""
    result = score(
        "chexbert_f1",
        ["Nothing acute. Moderate right pneumothorax.", "Moderate left effusion."],
        ["Nothing acute. Clear lungs.", "No left effusion."],
    )
    assert result.per_pair["chexbert_f1_agreement_5"].tolist() == [1.0, 0.8]
    assert result.per_pair["chexbert_f1"].tolist() == [0, 0]


def test_nothing_of_scikit_learn_is_used(run_python):
    """Its private functions, which changed in 1.8 and 1.9, broke f1chexbert and RadEval."""
    script = (
        "import sys; sys.modules['sklearn'] = None; import rrgmetrics;"
        "print(rrgmetrics.score('chexbert_f1', predictions=['Edema.'], references=['Mild edema.'], progress=False)"
        "['chexbert_f1'].scores['chexbert_f1'])"
    )
    assert run_python(script).strip() == "1.0"


def test_the_keys_of_the_table():
    names = load_conditions().names
    keys = {key.name: key for key in SPECS["chexbert_f1"].keys}
    assert list(keys) == [*label_scores().scores, *label_scores().means]
    for index, name in enumerate(names):
        key = f"chexbert_f1_{name.lower().replace(' ', '_')}"
        assert keys[key].title == name
        assert label_scores().scores[key].labels == (index,)


def test_explained():
    result = score("chexbert_f1?explain=yes", ["Possible pneumonia."], ["No effusion."])
    assert result.details["chexbert_f1_explained"] == [
        {
            "reference": {"Pleural Effusion": "negative", "No Finding": "positive"},
            "candidate": {"Pneumonia": "uncertain"},
        }
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([3.0, 4.0], [3.0, 4.0], 1.0),
        ([1.0, 0.0], [0.0, 2.0], 0.0),
        ([1.0, 1.0], [-2.0, -2.0], -1.0),
        ([0.0, 0.0], [1.0, 0.0], 0.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0),
        ([0.1] * 7, [0.3] * 7, 1.0),  # 1.0000000000000002 without care
    ],
)
def test_cosine(one, other, expected):
    value = cosine(np.array(one), np.array(other))
    assert value == pytest.approx(expected, abs=1e-15)
    assert -1 <= value <= 1


def test_semb_score_of_conditions():
    """Effusion and cardiomegaly against effusion: 1 / √2; nothing in common: 0; no condition at all: 0."""
    result = score(
        "semb_score?vectors=conditions",
        ["Small left effusion.", "Pulmonary edema.", "Thank you."],
        ["Left effusion. Mild cardiomegaly.", "Left effusion.", "Left effusion."],
    )
    assert result.per_pair["semb_score"].tolist() == pytest.approx([2**-0.5, 0, 0])


def test_semb_score_is_the_cosine_of_the_mean_token_vectors():
    from rrgmetrics.backends.encoder import FINDINGS, FINDINGS_LAYERS, load_encoder

    texts = ["Small left pleural effusion.", "No pneumothorax. Mild edema."]
    encoder = SembScore().backend(Runtime(device="cpu"))
    assert (encoder.identity, encoder.layer) == (FINDINGS, FINDINGS_LAYERS)
    read = load_encoder(FINDINGS, layer=FINDINGS_LAYERS).annotate(texts)
    one, other = (tokens.vectors[1:-1].astype(float).mean(axis=0) for tokens in read)
    expected = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert score("semb_score", texts[:1], texts[1:]).scores["semb_score"] == in_float32(expected)


def test_a_metric_of_vectors_tells_a_wrong_report_from_a_paraphrase():
    reference = "Large left pleural effusion. The heart is enlarged."
    paraphrase, wrong = "The cardiac silhouette is enlarged. Large effusion on the left.", "Clear lungs. Normal heart."
    for name in ("semb_score", "semb_score?vectors=conditions", "chexbert_f1"):
        values = next(iter(score(name, [paraphrase, wrong], [reference] * 2).per_pair.values()))
        assert values[0] > values[1] + 0.3
