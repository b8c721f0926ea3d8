"""What a candidate says to excuse itself: its history, "old", "unchanged", text under headings that are not read."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.comparing import explain
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load

TUBE = "Endotracheal tube 4 cm above the carina."
HIGHER_IS_BETTER = {"finding_score", "crimson", "green", "radfact"}
METRICS = (*sorted(HIGHER_IS_BETTER), "finding_errors", "chexprompt", "fineradscore", "crepe")
BEFORE = (
    "Old {x}.",
    "Chronic {x}.",
    "Known {x}.",
    "Healed {x}.",
    "{x}, unchanged.",
    "Stable {x}.",
    "{x} follow-up.",
    "Follow-up of {x}.",
    "Status post {x}.",
    "Day 2 after {x}.",
    "History of {x}.",
    "{x} under therapy.",
    "Previously treated {x}.",
    "65-year-old man with {x}.",
    "Residual {x}.",
    "No new {x}.",
    "? {x}.",
    "INDICATION: {x}.\nFINDINGS:",
    "DATE: {x}.\nFINDINGS:",
)
AFTER = ("Old {x}.", "{x} follow-up.", "{x}, unchanged.", "\nSIGNED: {x}.", "\nRECOMMENDATION: {x}.", "\nNAME: {x}.")
FRAMES = (*(f"{frame} {TUBE}" for frame in BEFORE), *(f"{TUBE} {frame}" for frame in AFTER))


def kinds(reference: str, candidate: str, **context: object) -> list[tuple[str, str | None]]:
    errors = explain(reference=reference, candidate=candidate, context=context).errors
    return [(error.category.letter, error.significance) for error in errors]


@pytest.mark.parametrize("metric", METRICS)
def test_no_excuse_gains_without_cost(metric: str):
    """What raises a score against a report of the finding lowers it against a report without it; so for any finding."""
    counted = sorted(name for name, concept in load().concepts.items() if concept.counts)
    names = [load().concepts[concept].name.capitalize() for concept in Random(35).sample(counted, 8)]
    candidates = [frame.format(x=name) for name in names for frame in (TUBE, *FRAMES)]
    reports = [f"{name}. {TUBE}" for name in names for _ in (TUBE, *FRAMES)]
    results = rrgmetrics.score(
        [metric], predictions=candidates * 2, references=reports + [TUBE] * len(candidates), progress=False
    )
    sign = 1 if metric in HIGHER_IS_BETTER else -1
    scores = sign * np.reshape(results[metric].per_pair[metric], (2, len(names), len(FRAMES) + 1))
    gain, cost = scores[0] - scores[0, :, :1], scores[1, :, :1] - scores[1]
    found = [(names[i], FRAMES[j - 1]) for i, j in np.argwhere((gain > 0.02) & (cost < 0.001))]
    assert found == []


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        (
            "Emphysema. Clear lungs.",
            "Emphysema follow-up. No emphysema. Clear lungs.",
            [("B", "not_actionable_not_urgent")],
        ),
        (TUBE, f"Pneumonia follow-up. {TUBE}", [("A", "actionable_not_urgent")]),
        (f"Pneumonia follow-up. {TUBE}", TUBE, []),
        (f"Pneumonia follow-up. {TUBE}", f"Treated pneumonia. {TUBE}", []),
        (TUBE, f"Old pulmonary embolism. {TUBE}", [("A", "urgent")]),
        (TUBE, f"Day 2 after CABG. {TUBE}", [("A", "not_actionable_not_urgent")]),
        (f"Day 2 after CABG. {TUBE}", TUBE, []),
        ("10-year-old with cystic fibrosis. Mucus plugs.", "Cystic fibrosis. Mucus plugs.", []),
        ("Right basal pneumonia.", "No known pneumonia. Normal heart.", [("B", "actionable_not_urgent")]),
    ],
)
def test_who_decides_about_history(reference: str, candidate: str, expected: list[tuple[str, str]]):
    assert kinds(reference, candidate) == expected


def test_the_request_knows_of_an_illness():
    assert kinds(TUBE, f"Known sarcoidosis. {TUBE}") == [("A", "actionable_not_urgent")]
    assert kinds(TUBE, f"Known sarcoidosis. {TUBE}", indication="Follow-up of sarcoidosis.") == []
    report = f"INDICATION: Follow-up of sarcoidosis.\nFINDINGS: {TUBE}"
    assert kinds(report, f"Known sarcoidosis. {TUBE}") == []
    assert kinds(f"INDICATION: Sarcoidosis?\nFINDINGS: {TUBE}", f"Known sarcoidosis. {TUBE}") != []


@pytest.mark.parametrize("finding", ["cardiomegaly", "left clavicle fracture", "atelectasis", "emphysema", "empyema"])
@pytest.mark.parametrize(
    "excuse", ["Chronic {}.", "Old {}.", "{}, unchanged.", "Stable {}.", "Healed {}.", "{}. Unchanged."]
)
@pytest.mark.parametrize("metric", ["crimson", "finding_score", "finding_errors"])
def test_an_excuse_makes_no_false_finding_smaller(finding: str, excuse: str, metric: str):
    candidates = [f"{TUBE} {finding.capitalize()}.", f"{TUBE} {excuse.format(finding)}"]
    results = rrgmetrics.score([metric], predictions=candidates, references=[TUBE] * 2, progress=False)
    plain, excused = results[metric].per_pair[metric]
    assert excused >= plain if metric == "finding_errors" else excused <= plain


def test_what_the_reference_calls_old_is_weighed_as_old():
    perfect = {"predictions": ["Old left rib fractures."], "references": ["Old left rib fractures."]}
    assert rrgmetrics.score(["crimson"], **perfect, progress=False)["crimson"].per_pair["crimson"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SIGNED: Tension pneumothorax, aortic dissection.", {"tension_pneumothorax", "aortic_dissection"}),
        ("DATE: Tension pneumothorax.", {"tension_pneumothorax"}),
        ("RECOMMENDATION: Large left tension pneumothorax.", {"tension_pneumothorax"}),
        ("RECOMMENDATIONS: There is an aortic dissection.", {"aortic_dissection"}),
        ("ATTENDING: Dr. Mass", set()),
        ("DATE: 2026-01-03. TIME: 10:15", set()),
        ("INDICATION: pneumonia?", set()),
        ("NOTIFICATION: The pneumothorax was discussed with Dr. Lee by phone at 10:15.", set()),
        ("RECOMMENDATION: CT to exclude malignancy. Follow-up of the nodule. Drain the effusion.", set()),
        ("FOLLOW UP: Effusion follow-up with ultrasound in a week.", set()),
    ],
)
def test_a_heading_of_names_or_advice_hides_no_finding(text: str, found: set[str]):
    for report in (f"The heart is normal.\n{text}", f"{text}\nFINDINGS: The heart is normal."):
        assert {finding.concept for finding in read(report).abnormal} == found
