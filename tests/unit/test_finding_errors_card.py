"""What the card of finding_errors says of its limitations and counts, tried one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

import rrgmetrics

CARD = " ".join((Path(__file__).parents[2] / "metrics/finding_errors/README.md").read_text().split())
EFFUSION = "Small left effusion."
TRIED = [  # a sentence of the card, reference, candidate, the letters of the errors
    ("an error in them is not counted", f"{EFFUSION} Left flibber.", f"{EFFUSION} Right flibber.", ""),
    ("an error in them is not counted", EFFUSION, f"{EFFUSION} Zorblax in the left hilum.", ""),
    ("in which nothing can be read is one error", EFFUSION, f"{EFFUSION} The zorblax is wubbly.", "A"),
    ("A long candidate can contain more errors", EFFUSION, f"{EFFUSION} Cardiomegaly. Edema. Pneumothorax.", "AAA"),
    ("are one error (C)", "8 mm nodule in the left upper lobe.", "8 mm nodule in the right lower lobe.", "C"),
    ("are one error (C)", "Left apical pneumothorax.", "Right basal pneumothorax.", "C"),
    ("are one error (C)", "Left upper lobe consolidation.", "Right lower lobe consolidation.", "C"),
    ("Recommendations, attenuation in HU", "8 mm nodule. CT in 3 months.", "8 mm nodule. No follow-up is needed.", ""),
    (
        "size of a nodule's solid component",
        "CT. 12 mm nodule, 3 mm solid part.",
        "CT. 12 mm nodule, 9 mm solid part.",
        "",
    ),
    ("A nodule and a mass in the same place agree", "Left upper lobe nodule.", "Left upper lobe mass.", ""),
    ("misses every finding and every normal sentence", "The heart is normal. Left effusion.", "", "BB"),
    ("both reports and denies is one error, whether", EFFUSION, f"{EFFUSION} No effusion.", "B"),
    ("both reports and denies is one error, whether", "No pneumothorax.", "No pneumothorax. Left pneumothorax.", "A"),
    ("is an error (D)", "Widened mediastinum, concerning for aortic dissection.", "Widened mediastinum.", "D"),
    ("is none", "Left opacity, likely pneumonia.", "Left opacity.", ""),
    ("that no finding of either report suggests", EFFUSION, f"{EFFUSION} Pneumonia cannot be excluded.", "A"),
]


@pytest.mark.parametrize(("sentence", "reference", "candidate", "letters"), TRIED)
def test_the_card_says_what_is_counted(sentence, reference, candidate, letters):
    assert sentence in CARD
    errors = rrgmetrics.explain(candidate=candidate, reference=reference).errors
    assert "".join(sorted(error.category.letter for error in errors)) == letters


def test_other_languages_and_parts_of_the_body_are_not_scored():
    assert "English reports only" in CARD
    for reference in ("Pequeno derrame pleural izquierdo.", "Radiograph of the left knee. Fracture of the patella."):
        result = rrgmetrics.score("finding_errors", predictions=[EFFUSION], references=[reference], progress=False)
        assert result["finding_errors"].n_unscored == 1
