"""What the bundled CREPE makes of reports: the same, a false finding, and a finding told twice."""

from __future__ import annotations

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics.backends.crepe import once

REPORT = "FINDINGS: There is a small left pleural effusion. The heart is enlarged.\nIMPRESSION: Small left effusion."


def scores(reference: str, *candidates: str, name: str = "crepe") -> list[float]:
    result = rrgmetrics.load(name).compute(
        predictions=list(candidates), references=[reference] * len(candidates), per_pair=True, progress=False
    )
    return result["crepe_per_pair"]


def test_reports_that_affirm_the_same_are_free_of_errors():
    assert scores(REPORT, REPORT, f"{REPORT} No pneumothorax.", REPORT.replace(".", " .").upper())[:2] == [0, 0]
    assert scores("Clear lungs.", "No pleural effusion.", "Normal heart. Clear lungs.") == [0, 0]
    assert scores("", "") == [0]


def test_a_finding_told_again_in_the_impression_counts_once():
    right = "FINDINGS: There is a small right pleural effusion. Large heart.\nIMPRESSION: Small right effusion."
    told_once, twice = scores("Small left pleural effusion. Large heart.", right.split("\n")[0], right)
    assert twice < told_once + 0.5
    found = rrgmetrics.load("crepe", "?explain=yes").compute(predictions=[right], references=[REPORT], per_pair=True)
    shares = sum(word["rate"] for word in found["crepe_explained"][0])
    assert shares == pytest.approx(found["crepe_per_pair"][0], rel=0.2)  # shares below 0.01 are not told


def test_once_on_paper():
    rates = np.array([[0.5, 0.1], [0.4, 0.0], [0.3, 0.2], [0.2, 0.2], [0.1, 0.0]])
    told = [(0, 0), (0, 0), (0, 3), (1, 3), (-1, -1)]  # finding 0 in sentences 0 and 3, finding 1 in sentence 3
    assert once(rates, told).tolist() == [[0.5, 0], [0.4, 0], [0, 0.2], [0.2, 0.2], [0.1, 0]]
    assert once(rates, []).tolist() == rates.tolist()
    assert once(rates[:2], told).tolist() == rates[:2].tolist()  # a text that was cut
