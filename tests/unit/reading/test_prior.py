"""A comparison that the prior report supports is no error; one that is made up is."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics.comparing import ErrorCategory, explain

E = ErrorCategory.FALSE_COMPARISON


def false_comparisons(reference, candidate, prior=""):
    comparison = explain(reference=reference, candidate=candidate, context={"prior": prior} if prior else None)
    return [error.sentence for error in comparison.errors if error.category is E]


SUPPORTED = [  # reference, candidate, prior
    ("Large left pleural effusion.", "Large left pleural effusion, increased.", "Small left pleural effusion."),
    ("Small left pleural effusion.", "Small left effusion, decreased from before.", "Large left pleural effusion."),
    ("Small left pleural effusion.", "Unchanged small left pleural effusion.", "Small left pleural effusion."),
    ("Small left pleural effusion.", "Stable left pleural effusion.", "Left pleural effusion."),
    ("Right apical pneumothorax.", "New right apical pneumothorax.", "Lungs are clear. No pneumothorax."),
    ("No pneumothorax.", "The left pneumothorax has resolved.", "Small left pneumothorax."),
    ("Lungs are clear.", "Interval resolution of the right lower lobe opacity.", "Right lower lobe opacity."),
    (
        "12 mm nodule in the right upper lobe.",
        "12 mm right upper lobe nodule, larger.",
        "8 mm right upper lobe nodule.",
    ),
    ("Moderate cardiomegaly.", "Moderate cardiomegaly, worse since the prior.", "Mild cardiomegaly."),
    ("Small left effusion.", "No interval change. Small left effusion.", "Small left effusion."),
    ("Mild cardiomegaly.", "In comparison with the prior study, mild cardiomegaly.", "Mild cardiomegaly."),
]
MADE_UP = [
    ("Small left pleural effusion.", "Small left pleural effusion, increased.", "Large left pleural effusion."),
    ("Small left pleural effusion.", "Left pleural effusion, worse.", "Lungs are clear. No pleural effusion."),
    ("Large left pleural effusion.", "Unchanged left pleural effusion.", "Small left pleural effusion."),
    ("Small left pleural effusion.", "New left pleural effusion.", "Small left pleural effusion."),
    ("Large left effusion.", "No interval change. Large left effusion.", "Small left effusion."),
    ("Small left effusion.", "No interval change. Small left effusion.", "Small left effusion. Right apical nodule."),
    ("No pneumothorax.", "The left pneumothorax has resolved.", "No pneumothorax. Clear lungs."),
    ("No pneumothorax.", "The left pneumothorax has resolved.", "Small right pneumothorax."),
    ("Left pleural effusion.", "Left pleural effusion, increased.", "Left pleural effusion."),  # neither says how large
]


@pytest.mark.parametrize(("reference", "candidate", "prior"), SUPPORTED)
def test_what_the_prior_supports_is_no_error(reference, candidate, prior):
    assert false_comparisons(reference, candidate), "without the prior it counts as made up"
    assert false_comparisons(reference, candidate, prior) == []


@pytest.mark.parametrize(("reference", "candidate", "prior"), MADE_UP)
def test_what_the_prior_does_not_support_stays_one(reference, candidate, prior):
    assert false_comparisons(reference, candidate, prior) == false_comparisons(reference, candidate) != []


@pytest.mark.parametrize("prior", ["Small left pleural effusion.", "Large left pleural effusion.", "Clear lungs."])
def test_what_the_reference_compares_itself_is_not_for_the_prior_to_say(prior):
    pair = {"reference": "Large left effusion, increased.", "candidate": "Large left effusion, decreased."}
    without = explain(**pair)
    assert explain(**pair, context={"prior": prior}).counts == without.counts
    assert without.total


def test_every_metric_of_the_reader_takes_it():
    texts = {"references": ["Large left effusion."], "predictions": ["Large left effusion, increased."]}
    names = ["finding_errors", "finding_score", "finding_f1", "green", "crimson"]
    plain = rrgmetrics.score(names, **texts, progress=False)
    known = rrgmetrics.score(names, **texts, contexts=[{"prior": "Small left effusion."}], progress=False)
    assert plain["finding_errors"].scores["finding_errors_false_comparison"] == 1
    assert known["finding_errors"].scores["finding_errors"] == 0
    assert plain["finding_score"].scores["finding_score"] < known["finding_score"].scores["finding_score"] == 1
    assert plain["green"].scores["green"] < known["green"].scores["green"] == 1


def test_a_prior_that_is_no_report_is_refused():
    with pytest.raises(rrgmetrics.InputError, match=r"contexts\[0\]\['prior'\] is 3 \(int\)"):
        rrgmetrics.score("bleu", predictions=["a"], references=["a"], contexts=[{"prior": 3}], progress=False)
