"""Nodule F1: matches and counts small enough to check on paper, replies, and whole reports."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import cli
from rrgmetrics.errors import VerdictError
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.nodule_f1 import NoduleF1Protocol, read_nodules
from rrgmetrics.scorers.nodule_f1.nodules import Nodule, composite, match_nodules

REFERENCE = (
    "LUNGS: 15 x 12 mm part-solid nodule in the right upper lobe. 4 mm calcified nodule in the left lower lobe. "
    "Thyroid nodule of 9 mm."
)
CANDIDATE = "14 mm ground-glass nodule in the right lung. 9 mm solid nodule in the lingula."


def score(candidates, references, name="nodule_f1"):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]


@pytest.mark.parametrize(
    ("reference", "candidate", "differs"),
    [
        (Nodule("", 8.0, place="lingula"), Nodule("", 10.0, place="lingula"), ()),
        (Nodule("", 8.0, place="lingula"), Nodule("", 11.0, place="left upper lobe"), ("size", "place")),
        (Nodule("", 8.0), Nodule("", 13.0), None),  # more than 4 mm and than half
        (Nodule("", 20.0), Nodule("", 29.0), ("size",)),
        (Nodule("", place="right upper lobe"), Nodule("", place="right lower lobe"), None),
        (Nodule("", place="right lung"), Nodule("", place="left lung"), None),
        (Nodule("", density="part-solid"), Nodule("", density="ground-glass"), ()),
        (Nodule("", density="solid"), Nodule("", density="ground-glass"), ("density",)),
        (Nodule("", calcified=True), Nodule(""), ("calcification",)),
        (Nodule("", calcified=False), Nodule("", is_mass=True, uncertain=True), ("noun", "certainty")),
    ],
)
def test_what_matches_and_what_differs(reference, candidate, differs):
    matches = match_nodules([reference], [candidate])
    assert [match.differs for match in matches] == ([] if differs is None else [differs])


def test_the_best_assignment_and_no_nodule_twice():
    """The nearest size alone would take 8 for 7 and leave 10 without one."""
    references = [Nodule("", 7.0), Nodule("", 10.0)]
    matches = match_nodules(references, [Nodule("", 8.5), Nodule("", 4.0), Nodule("", 4.2)])
    assert sorted((match.reference, match.candidate) for match in matches) == [(0, 2), (1, 0)]
    assert composite(1, [0], 0) == 1.0


def test_on_paper():
    """Matched: 15 with 14 mm, in a vaguer place. Missed: 4 mm. False: 9 mm. The thyroid's is none of the lung."""
    result = score([CANDIDATE, "Clear lungs."], [REFERENCE, "Clear lungs."])
    expected = {
        "": 1 / 2,
        "_precision": 1 / 2,
        "_recall": 1 / 2,
        "_composite": (1 / 1.5 - 1) / (1 + 1 / 3),  # S = −(1 − 2/3) / (1 + 1/3), below 0
        "_size_mae": 1.0,
        "_size_mape": 1 / 15,
        "_size_accuracy": 1.0,
        "_size_exact": 0.0,
        "_density": 1.0,
        "_side": 1.0,
        "_place": 0.0,
        "_sensitivity_4to6": 0.0,
        "_sensitivity_8to15": 1.0,
        "_false_8to15": 1 / 2,
        "_false_gt15": 0.0,
    }
    assert {key: result.scores[f"nodule_f1{key}"] for key in expected} == pytest.approx(expected)
    assert math.isnan(result.scores["nodule_f1_calcification"])
    np.testing.assert_array_equal(result.per_pair["nodule_f1"], [0.5, 1.0])
    assert result.reduce([1])["nodule_f1_composite"] != 1  # nothing was compared: NaN


def test_a_nodule_named_twice_is_one():
    report = "FINDINGS: 8 mm nodule in the lingula. IMPRESSION: 8 mm lingular nodule."
    assert score(["8 mm nodule in the lingula."], [report]).scores["nodule_f1"] == 1.0


def test_a_total_miss_is_0_and_no_nodule_changes_no_mean():
    result = score(["Clear lungs."] * 3, [REFERENCE, "Clear lungs.", "Small effusion."])
    assert result.scores["nodule_f1"] == 0.0
    assert result.scores["nodule_f1_composite"] == 0.0


def test_radevals_form_needs_its_heading():
    name = "nodule_f1?form=nodule_eval"
    free = score(["Clear lungs."], [REFERENCE], name)
    assert (free.scores["nodule_f1_composite"], math.isnan(free.scores["nodule_f1"])) == (1.0, True)
    headed = score(
        ["PULMONARY NODULES: 8 mm nodule in the lingula."],
        ["PULMONARY NODULES: 8 mm nodule in the lingula. 5 mm nodule in the right lower lobe. BONES: Normal."],
        name,
    )
    assert headed.scores["nodule_f1_recall"] == 0.5


def entry(**said):
    unsaid = {"size_mm": None, "density": None, "calcified": None, "place": None, "noun": "nodule", "uncertain": False}
    return unsaid | {"text": "a nodule"} | said


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"nodules": []}, 0),
        ({"nodules": [entry(place="Lingula", size_mm=5)]}, 1),
        ({"nodules": [entry(place="lung")]}, 1),
        ({"nodules": [entry(place="spleen")]}, "places are"),
        ({"nodules": [entry(size_mm="5 mm")]}, 1),
        ({"nodules": [entry(size_mm="small")]}, "not a number of millimetres"),
        ({"nodules": [entry(size_mm=-5)]}, "not a number of millimetres"),
        ({"nodules": [entry(size_mm=True)]}, "not a number of millimetres"),
        ({"nodules": ["5 mm nodule"]}, "without its text"),
        ({"nodules": {"text": "a"}}, "no list"),
        ({"nodules": [entry()] * 300}, "300"),
        ({"lesions": []}, "no list"),
    ],
)
def test_replies(reply, expected):
    text = f"Here:\n```json\n{json.dumps(reply)}\n```"
    if isinstance(expected, int):
        assert len(read_nodules(text)) == expected
        return
    with pytest.raises(VerdictError, match=expected):
        read_nodules(text)


@pytest.mark.parametrize("text", ["I cannot help with that.", "", '{"nodules": [{"text": "a nod'])
def test_replies_that_are_none(text):
    with pytest.raises(VerdictError):
        read_nodules(text)


def test_recorded_replies(tmp_path, capsys):
    """A question for each report that is not empty; the second pair's candidate cannot be read."""
    candidates, references = ["One.", "Two."], ["8 mm nodule in the lingula.", "Clear lungs."]
    replies = {
        "8 mm nodule in the lingula.": [entry(size_mm=8, place="lingula")],
        "One.": [entry(size_mm=8, place="left upper lobe")],
        "Clear lungs.": [],
        "Two.": None,
    }
    file, pairs = tmp_path / "replies.jsonl", tmp_path / "pairs.csv"
    lines = []
    for pair in check_pairs(candidates, references):
        for prompt, text in zip(NoduleF1Protocol().prompts(pair), (pair.reference, pair.candidate), strict=True):
            listed = replies[text]
            reply = "No." if listed is None else json.dumps({"nodules": listed})
            lines.append({"protocol": prompt.protocol, "prompt_sha256": prompt.sha256, "reply": reply})
    file.write_text("\n".join(json.dumps(line | {"engine": "a", "parameters": {}}) for line in lines))
    result = score(candidates, references, f"nodule_f1@replies:{file}")
    assert (result.scores["nodule_f1"], result.scores["nodule_f1_place"], result.n_unscored) == (1.0, 0.0, 1)
    pairs.write_text("study_id,reference,candidate\n1,8 mm nodule in the lingula.,Clear lungs.\n")
    assert cli.main(["score", str(pairs), "--metrics", "nodule_f1?form=other", "--no-progress"]) == 2
    assert "choose one of own, nodule_eval, lung_nodules" in capsys.readouterr().err
