"""RadFact's arithmetic against the authors' (microsoft/RadFact 72463ac), tests/data/judges.json; null is NaN."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.judged import known_stats
from rrgmetrics.scorers.radfact import KEYS, F1OfMeans, with_f1
from rrgmetrics.scorers.radfact.scores import JudgedPhrase, best_match, normalise, shares

AUTHORS = json.loads((Path(__file__).parents[1] / "data" / "judges.json").read_text())["radfact"]
SAMPLES = {case["name"]: case for case in AUTHORS["per_sample"]}
SIDES = (("candidate", "precision"), ("reference", "recall"))


def side(case: dict, name: str) -> float:
    return shares([JudgedPhrase(bool(entailed)) for entailed in case[f"{name}_entailed"]]).logical


@pytest.mark.parametrize("case", AUTHORS["per_sample"], ids=lambda case: case["name"])
def test_shares_of_a_pair(case):
    for name, score in SIDES:
        expected = case["score"][f"logical_{score}"]
        assert side(case, name) == pytest.approx(math.nan if expected is None else expected, nan_ok=True)


def test_boxes():
    a, b, half, most = (tuple(AUTHORS["boxes"]["boxes"][name]) for name in ("A", "B", "half", "threequarter"))
    candidate = [
        JudgedPhrase(True),
        JudgedPhrase(True, (a,), (a,)),
        JudgedPhrase(True, (b,), (a,)),
        JudgedPhrase(False),
        JudgedPhrase(False, (a,)),
    ]
    reference = [
        JudgedPhrase(True, (a,), (half,)),
        JudgedPhrase(True, (a,), (most,)),
        JudgedPhrase(True, (a,)),
        JudgedPhrase(False),
    ]
    expected = AUTHORS["boxes"]["score"]
    for phrases, (_, score) in zip((candidate, reference), SIDES, strict=True):
        ours = shares(phrases)
        for kind in ("logical", "spatial", "grounding"):
            assert getattr(ours, kind) == pytest.approx(expected[f"{kind}_{score}"])


@pytest.mark.parametrize("case", AUTHORS["aggregate"], ids=lambda case: case["name"])
def test_corpus(case):
    shares_of_pairs = ([side(SAMPLES[name], report) for report, _ in SIDES] for name in case["samples"])
    rows = [with_f1(precision, recall) for precision, recall in shares_of_pairs]
    scores = aggregate.reduce(F1OfMeans(KEYS), known_stats(rows, len(KEYS)))
    if "raises" in case:  # the authors divide by zero
        assert scores == {"radfact": 0.0, "radfact_precision": 0.0, "radfact_recall": 0.0}
        return
    assert scores["radfact"] == pytest.approx(case["logical_f1"])
    for score in ("precision", "recall"):
        assert scores[f"radfact_{score}"] == pytest.approx(case["details"][f"logical_{score}"])


@pytest.mark.parametrize("case", AUTHORS["normalise_text"], ids=lambda case: case["input"])
def test_normalised_phrases(case):
    assert normalise(case["input"]) == case["output"]


@pytest.mark.parametrize("case", AUTHORS["find_best_match"], ids=lambda case: case["text"])
def test_best_match(case):
    best = best_match(case["text"], case["candidates"])
    assert [best.place, case["candidates"][best.place]] == case["output"]
