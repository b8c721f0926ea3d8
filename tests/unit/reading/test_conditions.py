"""The reader's findings as CheXpert's conditions, on invented reports."""

from __future__ import annotations

from rrgmetrics.labels.conditions import Status, condition_statuses, load_conditions, stronger
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load
from table_rows import each_row

NAMES = load_conditions().names
BLANK, POSITIVE, NEGATIVE, UNCERTAIN = Status


def statuses(report: str) -> dict[str, Status]:
    """What is not blank."""
    return {name: status for name, status in zip(NAMES, condition_statuses(read(report)), strict=True) if status}


def test_the_published_order():
    assert NAMES == (
        "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema", "Consolidation",
        "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion", "Pleural Other", "Fracture",
        "Support Devices", "No Finding",
    )  # fmt: skip
    assert [NAMES[i] for i in load_conditions().five] == [
        "Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion",
    ]  # fmt: skip
    assert (BLANK, POSITIVE, NEGATIVE, UNCERTAIN) == (0, 1, 2, 3)  # the classes of CheXbert's heads


@each_row(
    "report, expected",
    [
        ("", {}),
        ("Thank you.", {}),
        ("No acute cardiopulmonary process.", {"No Finding": POSITIVE}),
        ("Scoliosis.", {"No Finding": POSITIVE}),  # none of the 14
        ("Right jugular catheter.", {"Support Devices": POSITIVE, "No Finding": POSITIVE}),
        ("Clear lungs.", {"Lung Opacity": NEGATIVE, "No Finding": POSITIVE}),
        ("Mild cardiomegaly.", {"Cardiomegaly": POSITIVE}),
        ("Heart size is normal.", {"Cardiomegaly": NEGATIVE, "No Finding": POSITIVE}),
        ("Possible pneumonia.", {"Pneumonia": UNCERTAIN}),
        ("Opacity, likely pneumonia.", {"Lung Opacity": POSITIVE, "Pneumonia": POSITIVE}),
        ("Suspected pneumonia.", {"Pneumonia": UNCERTAIN}),
        ("Pneumonia is suspected.", {"Pneumonia": UNCERTAIN}),
        ("Probable right pleural effusion.", {"Pleural Effusion": UNCERTAIN}),
        ("Edema is probable.", {"Edema": UNCERTAIN}),
        ("Left basal atelectasis versus pneumonia.", {"Atelectasis": UNCERTAIN, "Pneumonia": UNCERTAIN}),
        ("Atelectasis vs. consolidation at the right base.", {"Atelectasis": UNCERTAIN, "Consolidation": UNCERTAIN}),
        ("Left effusion and/or atelectasis.", {"Pleural Effusion": UNCERTAIN, "Atelectasis": UNCERTAIN}),
        ("There is edema or infection.", {"Edema": UNCERTAIN, "Pneumonia": UNCERTAIN}),
        ("Likely atelectasis or pneumonia.", {"Atelectasis": UNCERTAIN, "Pneumonia": UNCERTAIN}),
        ("The heart is mildly or moderately enlarged.", {"Cardiomegaly": POSITIVE}),
        ("No edema or pneumonia.", {"Edema": NEGATIVE, "Pneumonia": NEGATIVE, "No Finding": POSITIVE}),
        ("Nodular opacity in the left apex.", {"Lung Opacity": POSITIVE, "Lung Lesion": POSITIVE}),
        ("Left hydropneumothorax.", {"Pneumothorax": POSITIVE, "Pleural Effusion": POSITIVE}),
        ("Possible fracture. No fracture is seen.", {"Fracture": UNCERTAIN}),
        ("Sternotomy wires and surgical clips.", {"No Finding": POSITIVE}),
        ("Shoulder arthroplasty.", {"Support Devices": POSITIVE, "No Finding": POSITIVE}),
        ("Calcified granuloma.", {"No Finding": POSITIVE}),
        ("Blunted left costophrenic angle.", {"No Finding": POSITIVE}),
        ("Left apical pleural thickening.", {"Pleural Other": POSITIVE}),
        ("Left pleural effusion. No right pleural effusion.", {"Pleural Effusion": POSITIVE}),
        ("No pneumothorax. Old rib fracture.", {"Pneumothorax": NEGATIVE, "Fracture": POSITIVE}),
    ],
)  # fmt: skip
def test_reports(report, expected):
    assert statuses(report) == expected


def test_positive_before_uncertain_before_negative_before_blank():
    order = [BLANK, NEGATIVE, UNCERTAIN, POSITIVE]
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            assert stronger(one, other) is order[max(i, j)]


def test_the_file_names_what_exists():
    conditions = load_conditions()
    concepts = load().concepts
    assert set(conditions.of_concept) <= set(concepts)
    assert {concept.condition for concept in concepts.values() if concept.condition} <= set(NAMES)
    assert all(0 <= i < 13 for indices in conditions.of_concept.values() for i in indices)  # none means No Finding
