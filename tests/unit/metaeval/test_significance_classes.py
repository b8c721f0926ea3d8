"""Classes of significance: matching, shares, the confusion matrix, and both data without classes and verdicts."""

from __future__ import annotations

import json
import math

import pytest

from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.metaeval.agreement import measure
from rrgmetrics.metaeval.loaders import load_radpref
from rrgmetrics.metaeval.significance_classes import (
    CLASSES,
    ClassesCompared,
    Marked,
    _match,
    compare_classes,
)
from rrgmetrics.scoring.prepared import prepare

URGENT, ACTIONABLE, MINOR, BENIGN = CLASSES
REFERENCE = "Right upper lobe mass. Small left effusion. Clips in the right breast."


@pytest.fixture
def clone(tmp_path):
    """Six cases; in each the candidates miss a mass (C1), and have a pneumothorax too many (C2)."""
    folder = tmp_path / "RadPref"
    (folder / "radiologist_annotations").mkdir(parents=True)
    cases = [
        {
            "id": number,
            "ground_truth_report": REFERENCE,
            "ground_truth_findings": ["right upper lobe mass", "small left effusion", "clips in the right breast"],
            "C1_report": "Small left effusion. Clips in the right breast.",
            "C1_findings": ["small left effusion", "clips in the right breast"],
            "C2_report": f"{REFERENCE} Large right pneumothorax.",
            "C2_findings": ["right upper lobe mass", "small left effusion", "clips", "large right pneumothorax"],
        }
        for number in range(6)
    ]
    (folder / "preference_data.json").write_text(json.dumps(cases))
    for user, (mass, air) in enumerate([(ACTIONABLE, URGENT), (URGENT, ACTIONABLE), (BENIGN, URGENT)], 1):
        missed = {"finding_errors": {}, "missing_findings": {"0": {"clinical_significance": mass}}, "rating": 2}
        false = {"finding_errors": {"3": {"error_type": "false", "clinical_significance": air}}, "rating": 3}
        alone = {"missing_findings": {"2": {"clinical_significance": MINOR}}} if user == 3 else {}
        annotations = {str(number): {"C1": missed, "C2": {**false, **alone}} for number in range(6)}
        path = folder / "radiologist_annotations" / f"user_{user}.json"
        path.write_text(json.dumps({"user_id": user, "annotations": annotations}))
    return tmp_path


def report(clone, *metrics):
    data = load_radpref(clone)
    with prepare(list(metrics)) as ready:
        return measure(data, ready.score_pairs(list(data.pairs), progress=False), trials=10, progress=False)


def test_a_judge_against_each_radiologist(clone):
    found = {(each.subject, each.rater): each for each in compare_classes(report(clone, "crimson?explain=yes"))}
    name = "crimson?explain=yes"  # bundled: a mass is actionable, a large pneumothorax urgent
    first, second, third = (found[name, f"radiologist {number}"] for number in (1, 2, 3))
    assert (first.n, first.same, first.side, first.adjacent) == (12, 1, 1, 0)
    assert (second.same, second.side, second.adjacent, second.graver) == (0, 1, 1, 0.5)
    assert (third.same, third.side, third.adjacent, third.n_rater) == (0.5, 0.5, 0, 6)
    assert second.matrix[0] == (0, 6, 0, 0)  # ours urgent, theirs actionable
    assert second.matrix[1] == (6, 0, 0, 0)
    raters = found["radiologist 1", "radiologist 2"]
    assert (raters.n, raters.same, raters.adjacent) == (12, 0, 1)


def test_metrics_without_verdicts_leave_the_raters_alone(clone):
    subjects = {each.subject for each in compare_classes(report(clone, "crimson", "rouge"))}
    assert subjects == {"radiologist 1", "radiologist 2"}


def test_each_error_is_matched_once_and_the_most_alike_first():
    ours = [Marked("left effusion", URGENT), Marked("small left pleural effusion", MINOR), Marked("mass", BENIGN)]
    theirs = [Marked("small left effusion", ACTIONABLE), Marked("nodule", BENIGN)]
    assert _match(ours, theirs) == [(MINOR, ACTIONABLE)]
    assert _match([Marked("", URGENT)], [Marked("", URGENT)]) == []


def test_shares_of_nothing_are_undefined():
    nothing = ClassesCompared("a", "b", ((0,) * 4,) * 4, (URGENT, ACTIONABLE), 1, 2)
    assert nothing.n == 0
    assert math.isnan(nothing.same)


def test_data_without_classes_are_refused(clone):
    found = report(clone, "crimson?explain=yes")
    object.__setattr__(found.data, "marks", {})
    with pytest.raises(InputError, match="has no significance class for each error"):
        list(compare_classes(found))


def test_the_command(clone, capsys, tmp_path):
    command = ["agree", "--dataset", f"radpref:{clone}", "--metrics", "crimson?explain=yes", "--also", "classes"]
    output = tmp_path / "found.json"
    assert main([*command, "--trials", "10", "--no-progress", "--json", str(output)]) == 0
    out = capsys.readouterr().out
    assert "classes of significance" in out
    assert "(rows) and radiologist 2 (columns)" in out.replace("\n", " ")
    rows = json.loads(output.read_text())["classes"]
    assert rows[1]["urgent/actionable_not_urgent"] == 6
