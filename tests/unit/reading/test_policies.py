"""Which errors are significant, under either policy."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics.comparing import explain

# reference, candidate, age, indication, significant under management, under report
ROWS = [
    # findings
    ("Large left pneumothorax.", "Clear lungs.", "", "", 1, 1),
    ("Left basal atelectasis.", "Clear lungs.", "", "", 0, 1),
    ("Aortic calcification.", "Normal aorta.", "75", "", 0, 0),
    ("Clear lungs.", "Calcified granuloma in the left lung.", "", "", 0, 0),
    ("Clear lungs.", "Hiatal hernia.", "", "", 0, 1),
    ("Small left effusion.", "No effusion.", "77", "Known heart failure.", 0, 1),
    ("Clear lungs.", "Scoliosis. Right upper lobe mass.", "", "", 1, 2),
    ("Cervical rib.", "Normal chest.", "", "", 0, 1),
    # places
    ("Right lower lobe pneumonia.", "Left lower lobe pneumonia.", "", "", 1, 1),
    ("Bilateral effusions.", "Right effusion.", "", "", 0, 1),
    ("Calcified granuloma in the right lung.", "Calcified granuloma in the left lung.", "", "", 0, 0),
    ("Fracture of the left fourth rib.", "Fracture of the left ninth rib.", "50", "Fall.", 0, 1),
    ("Fracture of the left fourth rib.", "Fracture of the right fourth rib.", "50", "Fall.", 1, 1),
    # doubt
    ("Left lower lobe pneumonia.", "Possible left lower lobe pneumonia.", "", "", 1, 1),
    ("Possible left effusion.", "Left effusion.", "", "", 1, 1),
    ("Scarring at the right apex.", "Possible scarring at the right apex.", "", "", 0, 0),
    # severity and size
    ("Small left effusion.", "Large left effusion.", "", "", 1, 1),
    ("Mild cardiomegaly.", "Moderate cardiomegaly.", "", "", 0, 1),
    ("Mild left basal atelectasis.", "Marked left basal atelectasis.", "", "", 1, 1),
    ("Left upper lobe nodule, 8 mm.", "Left upper lobe nodule, 20 mm.", "", "", 1, 1),
    # course
    ("Left effusion, increased.", "Left effusion, decreased.", "", "", 1, 1),
    ("Left effusion, increased.", "Left effusion.", "", "", 1, 1),
    ("Left effusion.", "Left effusion, increased.", "", "", 1, 1),
    ("Left effusion, decreased.", "Left effusion.", "", "", 0, 1),
    ("CT chest. Left effusion, increased.", "CT chest. Left effusion.", "", "", 1, 1),
    ("CT chest. Left effusion, decreased.", "CT chest. Left effusion.", "", "", 0, 1),
    ("Large left pneumothorax, increased.", "Large left pneumothorax.", "", "", 1, 1),
    ("Scarring at the right apex.", "Scarring at the right apex, increased.", "", "", 0, 1),
]


@pytest.mark.parametrize(("reference", "candidate", "age", "indication", "management", "report"), ROWS)
def test_significant_errors(
    reference: str, candidate: str, age: str, indication: str, management: int, report: int
) -> None:
    """Both policies, in the comparison and in the metric."""
    context = {"age": age, "indication": indication}
    for policy, expected in (("management", management), ("report", report)):
        comparison = explain(reference=reference, candidate=candidate, context=context, policy=policy)
        assert comparison.significant == expected, policy
        name = f"finding_errors?policy={policy}"
        texts = {"references": [reference], "predictions": [candidate], "contexts": [context]}
        (scores,) = (result.scores for result in rrgmetrics.score(name, progress=False, **texts).values())
        assert scores["finding_errors_significant"] == expected
        assert scores["finding_errors"] == comparison.total


def test_signature_names_the_policy() -> None:
    """A policy other than the default stands in the signature."""
    texts = {"references": ["Clear lungs."], "predictions": ["Clear lungs."]}
    signatures = [
        str(rrgmetrics.score(name, progress=False, **texts)[name].signature)
        for name in ("finding_errors", "finding_errors?policy=report")
    ]
    assert "policy:report" in signatures[1]
    assert signatures[0] != signatures[1]
