"""FineRadScore's line numbers and replies against the authors' (rajpurkarlab/FineRadScore 3f5e1dc)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rrgmetrics.errors import VerdictError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.fineradscore import FineradscoreProtocol, numbered

AUTHORS = json.loads((Path(__file__).parents[1] / "data" / "judges.json").read_text())["fineradscore"]
PAIR = Pair("", "")


@pytest.mark.parametrize("case", AUTHORS["sentence_ids"], ids=lambda case: case["input"])
def test_line_numbers(case):
    assert numbered(case["input"]) == case["output"]


@pytest.mark.parametrize("case", AUTHORS["validation"], ids=lambda case: case["name"])
def test_replies(case):
    reply = json.dumps(case["response"])
    if not case["valid"]:
        with pytest.raises(VerdictError):
            FineradscoreProtocol().verdict(PAIR, [reply])
        return
    verdict = FineradscoreProtocol().verdict(PAIR, [reply])
    assert [len(verdict.corrections), verdict.score, verdict.worst] == list(case["derived_not_in_repo"].values())


def test_every_none_of_a_reply_counts():
    case = AUTHORS["duplicate_None_key"]
    assert [entry["corrections"] for entry in case["json_loads_keeps"].values()] == ["B"]
    verdict = FineradscoreProtocol().verdict(PAIR, [case["raw"]])
    assert [(correction.line, correction.text, correction.severity) for correction in verdict.corrections] == [
        (None, "A", 3),
        (None, "B", 1),
    ]
