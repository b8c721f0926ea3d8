"""SRR-BERT's labels by the reader, and what they count as."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics.labels.rules import CONDITIONS
from rrgmetrics.labels.srr import label_names, load_srr, srr_labels
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load, load_file

LABELS = {  # report → leaves with statuses
    "Large left effusion with compressive atelectasis.": ["Atelectasis (Present)", "Simple pleural effusion (Present)"],
    "Possible pneumonia. No pneumothorax.": ["Pneumonia (Uncertain)", "Simple pneumothorax (Absent)"],
    "Loculated right effusion.": ["Loculated pleural effusion (Present)"],
    "Patchy bilateral opacities.": ["Air space opacity–multifocal (Present)"],
    "Cavitary mass in the left upper lobe.": ["Cavitating masses (Present)"],
    "Acute fracture of the left fifth rib.": ["Acute rib fracture (Present)"],
    "Old healed fracture of the left fifth rib.": [],
    "Endotracheal tube 4 cm above the carina.": ["Suboptimal endotracheal tube (Absent)"],
    "Endotracheal tube in the right main bronchus.": ["Suboptimal endotracheal tube (Present)"],
    "Left effusion. No right effusion.": ["Simple pleural effusion (Absent)", "Simple pleural effusion (Present)"],
    "The lungs are clear.": ["No Finding"],
    "No acute cardiopulmonary process.": ["No Finding"],
    "Scoliosis.": [],
    "": [],
}
UPPER = {
    "Right lower lobe consolidation. Calcified aorta.": ["Consolidation", "Vascular finding"],
    "Small nodule. Old rib fracture. Scoliosis.": [
        "Fracture",
        "Musculoskeletal finding",
        "Solitary masslike opacity",
    ],
    "Endotracheal tube 4 cm above the carina.": ["Support Devices"],
}
PLACES = {  # label → its head in SRR-BERT's four checkpoints (RadEval 2.2, *_mapping.json)
    ("leaves", True): {"Lung Lesion (Present)": 0, "Edema (Uncertain)": 55, "Pneumoperitoneum (Absent)": 161},
    ("leaves", False): {"No Finding": 0, "Edema": 2, "Pacemaker": 50, "Pneumoperitoneum": 54},
    ("upper", True): {"Pleural Effusion (Present)": 0, "Widened aortic contour (Absent)": 52, "No Finding": 72},
    ("upper", False): {"Lung Finding": 3, "No Finding": 4, "Widened aortic contour": 5, "Musculoskeletal finding": 24},
}


def score(name, candidates, references):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]


@pytest.mark.parametrize("report", LABELS)
def test_leaves(report):
    assert sorted(srr_labels(read(report), "leaves", True)) == LABELS[report]


@pytest.mark.parametrize("report", UPPER)
def test_upper_labels(report):
    assert sorted(srr_labels(read(report), "upper", False)) == UPPER[report]


@pytest.mark.parametrize("variant", PLACES, ids=str)
def test_labels_stand_in_the_order_of_the_published_heads(variant):
    names = label_names(*variant)
    assert len(set(names)) == len(names) == {"leaves": (55, 163), "upper": (25, 73)}[variant[0]][variant[1]]
    assert {label: names.index(label) for label in PLACES[variant]} == PLACES[variant]


def test_the_table_names_known_things():
    table, known = load_file("srr"), load_srr(load())
    for row in table["rules"]:
        assert set(row["concepts"]) <= load().concepts.keys(), row
        assert row.keys() <= {"leaf", "upper", "status", "concepts", *CONDITIONS}, row
        assert row.get("leaf", "Edema") in known.names["leaves"], row
        assert row.get("upper", "Fracture") in known.names["upper"], row
    assert {*table["leaves"].values(), *table["groups"].values()} <= {*known.names["upper"]}
    assert {row["leaf"] for row in table["rules"] if "leaf" in row} == {*known.names["leaves"]}


def test_of_a_pair_f1_precision_recall_and_jaccard_are_four_things():
    """Of three labels one is found: P = 1, R = 1/3, F1 = 1/2, J = 1/3. RadEval 2.2 gives 1/3 for the first three."""
    result = score("srr_bert_f1", ["Mild edema."], ["Mild edema. Cardiomegaly. Small left effusion."])
    scores = {key: values[0] for key, values in result.per_pair.items()}
    assert scores == pytest.approx(
        {
            "srr_bert_f1": 1 / 2,
            "srr_bert_f1_precision": 1.0,
            "srr_bert_f1_recall": 1 / 3,
            "srr_bert_f1_jaccard": 1 / 3,
        }
    )


def test_corpus_scores_on_paper():
    """Edema: TP 1, C 2, R 1. Effusion: TP 1, C 1, R 2. Cardiomegaly: TP 0, C 0, R 1. Pneumonia: TP 0, C 1, R 0."""
    references = ["Mild edema. Small left effusion.", "Cardiomegaly. Small left effusion."]
    candidates = ["Mild edema. Small left effusion.", "Mild edema. Pneumonia."]
    scores = score("srr_bert_f1", candidates, references).scores
    assert scores["srr_bert_f1"] == pytest.approx((1 * 2 / 3 + 2 * 2 / 3 + 0) / 4)
    assert scores["srr_bert_f1_precision"] == pytest.approx((1 * 1 / 2 + 2 * 1 + 0) / 4)
    assert scores["srr_bert_f1_recall"] == pytest.approx((1 * 1 + 2 * 1 / 2 + 0) / 4)
    assert scores["srr_bert_f1_micro"] == pytest.approx(2 * 2 / (4 + 4))
    assert scores["srr_bert_f1_macro"] == pytest.approx((2 / 3 + 2 / 3) / 55)
    assert scores["srr_bert_f1_jaccard"] == pytest.approx((1 + 0) / 2)


def test_statuses_must_agree():
    for statuses, value in (("no", 1.0), ("yes", 0.0)):
        result = score(f"srr_bert_f1?statuses={statuses}", ["Possible pneumonia."], ["Pneumonia."])
        assert result.scores["srr_bert_f1"] == value


@pytest.mark.parametrize(
    ("references", "candidates", "values"),
    [
        (
            ["1. Cardiomegaly. 2. Bilateral effusions. 3. Edema.", "1. Basal atelectasis. 2. No pneumothorax."],
            ["1. Cardiomegaly. 2. Bilateral effusions.", "1. Basal atelectasis. 2. Small pneumothorax."],
            (0.6, 0.6, 0.6),
        ),
        (
            ["Mild edema.", "1. Cardiomegaly. 2. Left effusion. 3. Atelectasis.", "No acute abnormality."],
            ["Mild edema with effusions.", "Cardiomegaly. Left effusion.", "No acute abnormality."],
            (0.7333, 0.7, 0.8),
        ),
    ],
)
def test_the_reader_scores_as_the_checkpoint_does(references, candidates, values):
    """RadEval 2.2's test_srr_bert.py pins these F1, P and R of its checkpoint for the same findings in like words."""
    scores = score("srr_bert_f1?statuses=yes", candidates, references).scores
    ours = (scores["srr_bert_f1"], scores["srr_bert_f1_precision"], scores["srr_bert_f1_recall"])
    assert ours == pytest.approx(values, abs=1e-4)


def test_explained():
    result = score("srr_bert_f1?explain=yes&statuses=yes", ["No effusion."], ["Mild edema."])
    assert result.details["srr_bert_f1_explained"] == [
        {"reference": ["Edema (Present)"], "candidate": ["Simple pleural effusion (Absent)", "No Finding"]}
    ]
