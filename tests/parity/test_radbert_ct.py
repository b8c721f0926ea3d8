"""RadBERT-CT: the published layout on a tiny random checkpoint beside a plain loop; the 18 conditions by the reader."""

from __future__ import annotations

import numpy as np
import pytest

import rrgmetrics
from float32 import assert_equal_in_float32
from rrgmetrics.backends.classifier import load_classifier
from rrgmetrics.labels.ct import ct_conditions, load_ct
from rrgmetrics.labels.rules import CONDITIONS
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load, load_file
from rrgmetrics.scorers.f1_radbert_ct import PUBLISHED

NAMES = (  # RadEval 2.2, f1Radbert_ct.py
    "Medical material, Arterial wall calcification, Cardiomegaly, Pericardial effusion, "
    "Coronary artery wall calcification, Hiatal hernia, Lymphadenopathy, Emphysema, Atelectasis, Lung nodule, "
    "Lung opacity, Pulmonary fibrotic sequela, Pleural effusion, Mosaic attenuation pattern, Peribronchial thickening, "
    "Consolidation, Bronchiectasis, Interlobular septal thickening"
).split(", ")
SAID = {
    "No acute cardiopulmonary abnormality.": [],  # no label in RadEval 2.2's test_f1Radbert_ct.py either
    "Right basal opacity, may be pneumonia. Effusion present.": [
        "Lung opacity",
        "Pleural effusion",
    ],  # the same two there
    "A port catheter ends in the SVC.": ["Medical material"],
    "Calcified atheromatous plaques in the coronary arteries and the aorta.": [
        "Arterial wall calcification",
        "Coronary artery wall calcification",
    ],
    "The heart is enlarged, with a pericardial effusion of 8 mm.": ["Cardiomegaly", "Pericardial effusion"],
    "Sliding hiatal hernia. No enlarged lymph nodes.": ["Hiatal hernia"],
    "Enlarged mediastinal lymph nodes.": ["Lymphadenopathy"],
    "Emphysematous changes. Subsegmental atelectasis in the lingula.": ["Atelectasis", "Emphysema"],
    "Nonspecific millimetric nodules in both lungs.": ["Lung nodule"],
    "Ground-glass opacities. Sequela changes at both apices.": ["Lung opacity", "Pulmonary fibrotic sequela"],
    "Mosaic attenuation pattern in both lungs.": ["Mosaic attenuation pattern"],
    "Peribronchial thickening and bronchiectasis.": ["Bronchiectasis", "Peribronchial thickening"],
    "Consolidation in the left lower lobe. Pleural effusion was not detected.": ["Consolidation"],
    "Interlobular septal thickening in the lower lobes.": ["Interlobular septal thickening"],
    "The liver is normal.": [],
}


def score(name, candidates, references):
    return rrgmetrics.score(name, predictions=candidates, references=references, missing="empty", progress=False)[name]


def test_labels_are_those_of_a_plain_loop(reports, published_checkpoints, checkpoints):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = published_checkpoints / "models--IAMJB--RadBERT-CT" / "snapshots" / checkpoints.COMMIT
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = [*reports.references, "effusion " * 700]  # the last is cut at 512 tokens
    with torch.no_grad():
        rows = [tokenizer(text, truncation=True, max_length=512, return_tensors="pt") for text in texts]
        expected = np.concatenate([model(**row).logits.numpy() for row in rows])
    backend = load_classifier(PUBLISHED, n_labels=18)
    assert_equal_in_float32(backend.logits(texts, 4), expected)
    np.testing.assert_array_equal(backend.annotate(texts), expected > 0)
    np.testing.assert_array_equal(backend.annotate(texts[3:4]), expected[3:4] > 0)
    assert len({tuple(row) for row in expected > 0}) > 3  # the checkpoint tells texts apart


def test_the_order_is_the_published_one():
    assert load_ct()[0] == tuple(NAMES)


def test_the_table_names_known_things():
    lexicon = load("chest_ct")
    rules, concepts = load_file("ct", lexicon.key)["rules"], lexicon.concepts
    for row in rules:
        assert set(row["concepts"]) <= concepts.keys(), row
        assert row.keys() <= {"label", "also", "concepts", *CONDITIONS}, row
    assert {row[key] for row in rules for key in ("label", "also") if key in row} == set(NAMES)


@pytest.mark.parametrize("report", SAID)
def test_conditions_by_the_reader(report):
    assert sorted(ct_conditions(read(report))) == SAID[report]


def test_scores_on_paper():
    """Opacity: TP 1, C 1, R 1. Effusion: TP 0, C 1, R 1. No finding: TP 0, C 0, R 1."""
    references = ["Ground-glass opacities. Pleural effusion.", "The lungs are clear."]
    candidates = ["Ground-glass opacities.", "Pleural effusion."]
    result = score("f1_radbert_ct", candidates, references)
    assert {key: value for key, value in result.scores.items() if value == value} == pytest.approx(
        {
            "f1_radbert_ct": 1 / 3,
            "f1_radbert_ct_precision": 1 / 3,
            "f1_radbert_ct_recall": 1 / 3,
            "f1_radbert_ct_micro": 2 / 5,
            "f1_radbert_ct_macro": 1 / 19,
            "f1_radbert_ct_accuracy": 0.0,
            "f1_radbert_ct_lung_opacity": 1.0,
            "f1_radbert_ct_pleural_effusion": 0.0,
            "f1_radbert_ct_no_finding": 0.0,
        }
    )
    assert result.per_pair["f1_radbert_ct"] == pytest.approx([2 / 3, 0.0])


def test_saying_nothing_is_not_no_finding(published_checkpoints):
    """By the published rule an empty report has No finding, and scores 1 against every normal one."""
    for config in ("", "@paper"):
        result = score(f"f1_radbert_ct{config}", ["", "Clear lungs.", ""], ["Clear lungs.", "Clear lungs.", " "])
        assert result.per_pair["f1_radbert_ct"].tolist() == [0.0, 1.0, 1.0]
