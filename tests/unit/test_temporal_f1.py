"""Statements of change, and both forms of Temporal F1."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics.labels.temporal import count_shared, read_changes
from rrgmetrics.reading import read
from rrgmetrics.scorers.temporal_f1 import KEYWORDS, find_keywords, keyword_f1

SAID = {  # report → kinds of change with what they are said of
    "Worsening edema.": ["worse pulmonary_edema"],
    "The left effusion has resolved.": ["resolved pleural_effusion"],
    "No new opacity.": [],
    "No increase in the effusion.": ["stable pleural_effusion"],
    "The heart size is stable.": ["stable heart"],
    "No significant interval change.": ["stable"],
    "Elevated right hemidiaphragm. Enlarged heart.": [],
    "": [],
}
ONE, TWO, NONE = "Stable heart.", "Stable heart. New catheter.", "Small effusion."
PUBLISHED = [  # texts invented; values as RadEval 2.2's, from its test test_basics.py, which has these word counts
    (ONE, ONE, 0.99999999995),
    (TWO, NONE, 9.999999998e-11),
    (ONE, NONE, 1.9999999994e-10),
    (NONE, ONE, 1e-10),
    (NONE, NONE, 1.0),
]


def score(name, reference, candidate):
    result = rrgmetrics.score(name, predictions=[candidate], references=[reference], progress=False)[name]
    return result.per_pair["temporal_f1"][0]


@pytest.mark.parametrize("report", SAID)
def test_statements(report):
    statements = [
        " ".join([change.kind, *([change.finding.concept] if change.finding else sorted(change.structures))])
        for change in read_changes(read(report))
    ]
    assert statements == SAID[report]


@pytest.mark.parametrize(
    ("reference", "candidate", "shared"),
    [
        ("Larger effusion.", "Increasing effusion.", 1),
        ("Larger effusion.", "Smaller effusion.", 0),
        ("Larger left effusion.", "Larger right effusion.", 0),
        ("Larger left effusion.", "Larger bilateral effusions.", 1),
        ("Worsening consolidation.", "Worsening pneumonia.", 1),
        ("Worsening effusion.", "Worsening edema.", 0),
        ("Stable cardiomegaly. Stable effusion.", "Stable cardiomegaly.", 1),
        ("Stable cardiomegaly.", "Stable cardiomegaly. Stable heart failure.", 1),
    ],
)
def test_shared_statements(reference, candidate, shared):
    assert count_shared(read_changes(read(reference)), read_changes(read(candidate))) == shared


def test_f1_on_paper():
    """Of three and two statements two are shared: 4/5."""
    reference = "Worsening edema. Stable cardiomegaly. New left effusion."
    assert score("temporal_f1", reference, "Stable cardiomegaly. Increasing edema.") == pytest.approx(0.8)


@pytest.mark.parametrize("denied", ["No new opacity.", "No new effusion or pneumothorax.", "No new mass."])
def test_what_is_denied_is_no_change(denied):
    """The published form takes each of these for something new."""
    assert score("temporal_f1", "Small effusion.", denied) == 1.0
    assert score("temporal_f1@paper", "Small effusion.", denied) == pytest.approx(1e-10)


def test_the_published_words():
    assert len(KEYWORDS) == len(set(KEYWORDS)) == 44


def test_keywords_are_whole_words_of_the_cleaned_text():
    assert find_keywords("NEW_opacity; renewed\nworsen-ing un*changed, de%creased.") == {
        "new",
        "worsen",
        "unchanged",
        "decreased",
    }


@pytest.mark.parametrize(("reference", "candidate", "value"), PUBLISHED)
def test_published_values(reference, candidate, value):
    assert keyword_f1(find_keywords(reference), find_keywords(candidate)) == pytest.approx(value, rel=1e-9)
    assert score("temporal_f1@paper", reference, candidate) == pytest.approx(value, rel=1e-9)


def test_published_mean():
    """Two pairs without a word, one that agrees, one with two words missed, two with one missed (RadEval 2.2)."""
    pairs = [(NONE, NONE), (NONE, NONE), (ONE, ONE), (TWO, NONE), (ONE, NONE), (ONE, NONE)]
    references, candidates = map(list, zip(*pairs, strict=True))
    name = "temporal_f1@paper"
    result = rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]
    assert result.scores["temporal_f1"] == pytest.approx(0.500000000075, abs=1e-14)


def test_explained():
    name = "temporal_f1?explain=yes"
    result = rrgmetrics.score(
        name, predictions=["No new opacity."], references=["Larger left effusion."], progress=False
    )[name]
    assert result.details["temporal_f1_explained"] == [
        {"reference": [{"change": "worse", "words": "Larger left effusion"}], "candidate": []}
    ]
