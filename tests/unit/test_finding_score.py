"""The finding score: its arithmetic on paper, its words, what context changes, and that it can be trained with."""

from __future__ import annotations

import json

import pytest

import rrgmetrics
from rrgmetrics.callbacks import best_model, make_reward
from rrgmetrics.comparing.model import ErrorCategory
from rrgmetrics.scorers.finding_score import COURSE, DESCRIPTION, NOTHING_RIGHT, RIGHT, WRONG, ScoredError, Tally


def explained(reference: str, candidate: str, context: dict[str, str] | None = None) -> tuple[float, dict]:
    name = "finding_score?explain=yes"
    result = rrgmetrics.score(
        name, predictions=[candidate], references=[reference], contexts=[context], progress=False
    )[name]
    return float(result.per_pair["finding_score"][0]), result.details["finding_score_explained"][0]


def test_the_formula_by_hand():
    """One urgent finding missed (2) beside an urgent and an incidental one that are right (2 + ½)."""
    missed = ScoredError(ErrorCategory.MISSING_FINDING, "", WRONG["urgent"], True)
    right = (RIGHT["urgent"], RIGHT["not_actionable_not_urgent"])
    tally = Tally((missed,), right, 3)
    assert tally.score == pytest.approx(1 - 2 / (2 + 2.5 + NOTHING_RIGHT))
    assert Tally((), (), 0).score == 1.0
    assert (DESCRIPTION, COURSE) == ({True: 1.0, False: 0.5}, {True: 0.5, False: 0.25})


@pytest.mark.parametrize(
    ("reference", "candidate", "score", "words"),
    [
        ("Large left pneumothorax. Right upper lobe mass.", "Large left pneumothorax.", 1 - 1 / (1 + 2 + 0.25),
         "1 of 2 findings correct; 1 missing (1 matters)."),
        ("Large left pneumothorax.", "Large right pneumothorax.", 1 - 2 / (2 + 2 + 0.25),
         "1 of 1 finding correct; 1 misplaced (1 matters)."),
        ("The lungs are clear.", "No acute cardiopulmonary abnormality.", 1.0, "No finding, and none claimed."),
        ("The lungs are clear.", "Large left pneumothorax.", 1 - 2 / 2.25, "1 false (1 matters)."),
    ],
)  # fmt: skip
def test_pairs_by_hand(reference, candidate, score, words):
    value, told = explained(reference, candidate)
    assert value == pytest.approx(score)
    assert told["words"] == words
    json.dumps(told)


def test_errors_are_told_the_heaviest_first():
    _, told = explained(
        "Large left pneumothorax. Right upper lobe mass. Calcified granuloma.", "Mild thoracic scoliosis."
    )
    weights = [error["weight"] for error in told["errors"]]
    assert weights == sorted(weights, reverse=True)
    assert told["errors"][0]["sentence"].startswith("Missing: large left pneumothorax")


def test_one_missed_urgent_finding_weighs_more_than_harmless_extras():
    reference = "Large left pneumothorax. Mild scoliosis."
    missed, _ = explained(reference, "Mild scoliosis.")
    extras, _ = explained(
        reference, f"{reference} Calcified granuloma in the right apex. Aortic calcification. Old rib fracture."
    )
    assert extras > missed


def test_context_moves_the_score():
    old = {"age": "88", "sex": "F", "indication": "Before an operation."}
    young = {"age": "24", "sex": "M", "indication": "Chest pain."}
    reference, candidate = "Small left pneumothorax. Aortic calcification.", "Small left pneumothorax."
    assert explained(reference, candidate, old)[0] > explained(reference, candidate, young)[0]


def test_it_is_a_reward_and_chooses_the_best_model():
    reward = make_reward("finding_score")
    completions = ["Small left pneumothorax.", "Small right pneumothorax."]
    right, wrong = reward(completions=completions, reference=completions[:1] * 2)
    assert right == 1.0
    assert wrong is not None
    assert 0 < wrong < 1
    assert best_model("finding_score")["greater_is_better"] is True
