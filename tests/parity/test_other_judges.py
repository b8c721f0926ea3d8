"""RadFact and CRIMSON for CT beside RadEval's own functions: replies, numbers, and whole runs with canned replies."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Reply
from rrgmetrics.judges.judge import Judge
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers import aggregate, radfact
from rrgmetrics.scorers.crimson import CrimsonProtocol
from rrgmetrics.scorers.judged import KnownMean, known_stats
from rrgmetrics.scorers.radfact import Phrase, RadfactProtocol, RadfactVerdict
from rrgmetrics.scorers.radfact.published import (
    published_entailment,
    published_phrases,
    published_positives,
)

CASES = json.loads((Path(__file__).parents[1] / "data/other_modalities.json").read_text())["cases"]
PAIR = check_pairs(["A candidate."], ["A reference."])[0]
KEYS = {"logical_f1": "radfact", "logical_precision": "radfact_precision", "logical_recall": "radfact_recall"}


def cases(metric, function):
    chosen = [case for case in CASES if (case["metric"], case["function"]) == (metric, function)]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def number(value):
    return math.nan if value in ("nan", None) else value


@cases("radfact_ct", "parse_phrases")
def test_phrases(case):
    if "raises" in case["expected"]:
        with pytest.raises(VerdictError):
            published_phrases(case["input"]["reply"])
    else:
        assert list(published_phrases(case["input"]["reply"])) == case["expected"]


@cases("radfact_ct", "parse_negatives")
def test_positives(case):
    """Where theirs returns None the run ends a step later; here the reply cannot be read."""
    expected = case["expected"]
    if expected is None or "raises" in expected:
        with pytest.raises(VerdictError):
            published_positives(**case["input"])
    else:
        assert list(published_positives(**case["input"])) == expected


@cases("radfact_ct", "parse_nli")
def test_entailment(case):
    """Evidence that is a text is one piece of it here."""
    entailed, evidence = published_entailment(case["input"]["reply"])
    said = case["expected"]["evidence"]
    assert entailed == (case["expected"]["status"] == "entailment")
    assert list(evidence) == ([said] if isinstance(said, str) else said)


def verdict_of(given):
    sides = (tuple(Phrase("p", letter == "e") for letter in given[side]) for side in ("candidate", "reference"))
    return RadfactVerdict(*sides)


@cases("radfact_ct", "compute_radfact_scores")
def test_scores_of_a_pair(case):
    scores = dict(zip(radfact.KEYS, radfact.Radfact.row(verdict_of(case["input"])), strict=True))
    for theirs, value in case["expected"].items():
        assert scores[KEYS[theirs]] == pytest.approx(number(value), nan_ok=True)


@cases("radfact_ct", "aggregate")
def test_scores_of_all_pairs(case):
    """Theirs are percentages, rounded."""
    rows = [radfact.with_f1(*map(number, pair)) for pair in case["input"]["pairs"]]
    scores = aggregate.reduce(radfact.F1OfMeans(radfact.KEYS), known_stats(rows, len(radfact.KEYS)))
    for theirs, value in case["expected"].items():
        assert 100 * scores[KEYS[theirs]] == pytest.approx(number(value), abs=5e-3, nan_ok=True)


class Words:
    """Splits, filters and judges as the fixture says: entailed is what the other list holds word for word."""

    identity, parameters, facts = "words", {}, {}

    def __init__(self, phrases):
        self.phrases, self.asked = phrases, []

    def answer(self, prompts):
        self.asked += prompts
        return [Reply(json.dumps(self._reply(prompt.messages[-1].content))) for prompt in prompts]

    def _reply(self, text):
        task = text.splitlines()[-1] if text.splitlines()[-1].startswith("Report: A ") else None
        if task:
            return {"sentence_list": [{"orig": "o", "new": self.phrases[task.removeprefix("Report: ")]}]}
        if text.startswith("Here are phrases"):
            listed = json.loads(text.rpartition("Phrases: ")[2])
            return {"phrases": [phrase for phrase in listed if not phrase.startswith("No ")]}
        other, _, phrase = text.rpartition("Report: ")[2].partition("\nPhrase: ")
        same = phrase in json.loads(other)
        return {"phrase": phrase, "status": "entailment" if same else "not_entailment", "evidence": [phrase] * same}


@pytest.mark.parametrize("parser", ["tolerant", "strict"])
@cases("radfact_ct", "score_pair")
def test_the_whole_pipeline(case, parser):
    """In as many questions as theirs, each of them about CT."""
    given, expected = case["input"], case["expected"]
    engine = Words({PAIR.candidate: given["candidate_phrases"], PAIR.reference: given["reference_phrases"]})
    protocol = RadfactProtocol("drop" if given["filter_negatives"] else "keep", parser)
    (verdict,) = Judge(protocol, engine).for_pack("chest_ct").annotate_pairs([PAIR])
    assert len(engine.asked) == expected["n_requests"]
    assert not any("X-ray" in prompt.text for prompt in engine.asked)
    assert [phrase.text for phrase in verdict.candidate] == expected["hyp_phrases"]
    assert [phrase.text for phrase in verdict.reference] == expected["ref_phrases"]
    scores = dict(zip(radfact.KEYS, radfact.Radfact.row(verdict), strict=True))
    assert {theirs: scores[ours] for theirs, ours in KEYS.items()} == pytest.approx(expected["scores"])


@cases("crimson_ct", "parse_response")
def test_crimson(case):
    """Scores are rounded there; errors as the tally has them."""
    expected, protocol = case["expected"], CrimsonProtocol(parser="strict", pack="chest_ct")
    if "raises" in expected:
        with pytest.raises(VerdictError):
            protocol.verdict(PAIR, [case["input"]["reply"]])
        return
    verdict = protocol.verdict(PAIR, [case["input"]["reply"]])
    assert verdict.score == pytest.approx(expected["crimson_score"], abs=5e-5)
    counts = expected["error_counts"]
    assert (verdict.tally.n_false, verdict.tally.n_missing) == (counts["false_findings"], counts["missing_findings"])


@cases("crimson_ct", "aggregate")
def test_crimson_of_all_pairs(case):
    """Theirs is 0 where no pair is scored, ours NaN."""
    scores = np.array([[number(score)] for score in case["input"]["scores"]])
    mean = aggregate.reduce(KnownMean(("crimson",)), known_stats(scores, 1))["crimson"]
    assert mean == pytest.approx(case["expected"]["mean"] if not np.isnan(scores).all() else math.nan, nan_ok=True)
    if not np.isnan(scores).all():
        assert np.nanstd(scores) == pytest.approx(case["expected"]["std"])


def test_crimson_asks_about_ct_and_passes_the_context():
    """Theirs never sends its CT message and takes no context."""
    pair = check_pairs(["CAND."], ["REF."], [{"age": "070Y", "indication": "Staging."}])[0]
    (prompt,) = CrimsonProtocol(pack="chest_ct").prompts(pair)
    digits = CrimsonProtocol(pack="chest_ct").facts["prompt"]
    assert prompt.messages[-1].content.startswith("You compare a candidate CT report with")
    assert "Age: 70\nIndication: Staging." in prompt.text
    assert "X-ray" in CrimsonProtocol().prompts(pair)[0].text
    assert digits != CrimsonProtocol().facts["prompt"]


@pytest.mark.parametrize("reply", ['{"sentence_list": [{"orig": "o", "new": ["Emphy', '{"phrases": []'])
def test_a_cut_reply_is_no_answer(reply):
    """Theirs takes it for a report without phrases, or keeps all of them: the card says so."""
    for read in (published_phrases, lambda text: published_positives(text, ("a",))):
        with pytest.raises(VerdictError):
            read(reply)
