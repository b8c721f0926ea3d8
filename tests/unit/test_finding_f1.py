"""Finding F1: numbers counted by hand, by finding and by attribute."""

from __future__ import annotations

import math

import pytest

import rrgmetrics
from rrgmetrics.scorers.finding_f1 import by_finding


def scored(references, candidates, *, options="", **keywords):
    name = f"finding_f1{options}"
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False, **keywords)[name]


def scores(reference, candidate):
    return {key.removeprefix("finding_f1_"): value for key, value in scored([reference], [candidate]).scores.items()}


def test_weights_are_those_of_the_classes():
    """Urgent 2, benign ¼: the pneumothorax is missed, the old fracture found; alike, one of two."""
    reference = "Large right tension pneumothorax. Old healed left rib fracture."
    values = scores(reference, "Old healed left rib fracture.")
    assert values["recall"] == pytest.approx(0.25 / 2.25)
    assert values["precision"] == 1.0
    assert values["finding_f1"] == pytest.approx(2 * (0.25 / 2.25) / (1 + 0.25 / 2.25))
    assert (values["unweighted_recall"], values["unweighted"]) == (0.5, pytest.approx(2 / 3))
    turned = scores("Old healed left rib fracture.", reference)
    assert turned["precision"] == pytest.approx(values["recall"])
    assert turned["recall"] == 1.0


@pytest.mark.parametrize(
    ("reference", "candidate", "f1"),
    [
        ("Lungs are clear.", "No acute abnormality.", 1.0),
        ("Lungs are clear.", "Small left effusion.", 0.0),
        ("Small left effusion.", "Lungs are clear.", 0.0),
        ("Small left effusion.", "", 0.0),
    ],
)
def test_without_findings(reference, candidate, f1):
    assert scores(reference, candidate)["finding_f1"] == f1


def test_specificity_and_npv_count_what_is_written():
    """The reference denies two findings, one of which the candidate has; the candidate denies two, one falsely."""
    values = scores(
        "Left lower lobe mass. No pneumothorax. No pleural effusion.",
        "Small right pneumothorax. No lung mass. No pleural effusion.",
    )
    assert (values["specificity"], values["npv"]) == (0.5, 0.5)
    assert values["status"] == pytest.approx(1 / 3)  # both deny the effusion; pneumothorax and mass are contradicted
    silent = scores("Left lower lobe mass. No pneumothorax.", "Left lower lobe mass.")
    assert silent["specificity"] == 1.0
    assert math.isnan(silent["npv"])


@pytest.mark.parametrize(
    ("attribute", "reference", "right", "wrong", "left_out"),
    [
        (
            "location",
            "Small left pleural effusion.",
            "Small left effusion.",
            "Small right effusion.",
            "Small effusion.",
        ),
        ("severity", "Small left effusion.", "Small left effusion.", "Large left effusion.", "Left effusion."),
        ("measurement", "8 mm right nodule.", "8 mm right nodule.", "20 mm right nodule.", "Right nodule."),
        (
            "comparison",
            "Left effusion has increased.",
            "Left effusion has increased.",
            "Left effusion has decreased.",
            "Left effusion.",
        ),
    ],
)
def test_attributes(attribute, reference, right, wrong, left_out):
    """Precision is of what the candidate states, recall of what the reference states."""
    for candidate, precision, recall in ((right, 1.0, 1.0), (wrong, 0.0, 0.0), (left_out, math.nan, 0.0)):
        values = scores(reference, candidate)
        assert values["unweighted"] == 1.0, candidate
        found = values[f"{attribute}_precision"], values[f"{attribute}_recall"]
        assert found == pytest.approx((precision, recall), nan_ok=True), candidate


def test_certainty():
    assert scores("Right lower lobe pneumonia.", "Right lower lobe pneumonia.")["certainty"] == 1.0
    assert scores("Right lower lobe pneumonia.", "Possible right lower lobe pneumonia.")["certainty"] == 0.0


def test_repetition_earns_nothing_and_a_contradiction_costs():
    reference = "Small left effusion. Right upper lobe mass."
    once, twice = scores(reference, "Small left effusion."), scores(reference, "Small left effusion. " * 3)
    assert twice["finding_f1"] == once["finding_f1"]
    torn = scores(reference, "Small left effusion. No pleural effusion.")
    assert torn["finding_f1"] < once["finding_f1"]


def test_by_finding_and_a_ratio_of_sums_over_pairs():
    references = ["Small left effusion. No pneumothorax.", "Left pneumothorax. Small left effusion.", "No effusion."]
    candidates = ["Small left effusion. No pneumothorax.", "Small left effusion. No pneumothorax.", "Left effusion."]
    result = scored(references, candidates, options="?explain=yes")
    table = by_finding(result.details["finding_f1_explained"])
    effusion, pneumothorax = table["pleural_effusion"], table["pneumothorax"]
    assert (effusion["precision"], effusion["recall"]) == (pytest.approx(2 / 3), 1.0)
    assert effusion["specificity"] == 0.0  # denied once, and claimed
    assert (pneumothorax["recall"], pneumothorax["specificity"], pneumothorax["npv"]) == (0.0, 1.0, 0.5)
    assert math.isnan(pneumothorax["precision"])
    assert next(iter(table)) in ("pleural_effusion", "pneumothorax")
    assert result.scores["finding_f1_unweighted"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert result.per_pair["finding_f1"].tolist() == [1.0, pytest.approx(result.per_pair["finding_f1"][1]), 0.0]
    assert result.scores["finding_f1_npv"] == pytest.approx(1 / 2)


def test_a_reference_that_cannot_be_read_is_unscored():
    result = scored(["Lorem ipsum dolor sit amet.", "Small left effusion."], ["Small effusion."] * 2)
    assert result.n_unscored == 1
    assert math.isnan(result.per_pair["finding_f1"][0])
    assert result.scores["finding_f1"] == 1.0


@pytest.mark.parametrize(
    ("pack", "report", "denied"),
    [
        ("chest_ct", "CT CHEST: No mosaic attenuation. 4 mm nodule in the right upper lobe.", "mosaic attenuation"),
        ("brain_ct", "CT HEAD: No midline shift. Acute infarct in the left MCA territory.", "midline shift"),
    ],
)
def test_what_is_denied_has_the_name_of_the_pack(pack, report, denied):
    name = f"finding_f1?explain=yes&modality={pack}"
    result = rrgmetrics.score(name, predictions=[report], references=[report], progress=False)[name]
    explained = result.details["finding_f1_explained"][0]
    assert [row["words"] for row in explained if row["outcome"] == "denied"] == [denied]
