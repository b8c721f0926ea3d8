"""Normal statements of a report, and whether what the other report affirms or suspects contradicts them."""

from __future__ import annotations

import pytest

import rrgmetrics

REFERENCE = "No pleural effusion. The lungs are clear. The heart is not enlarged."


@pytest.mark.parametrize(
    ("sure", "hedged"),
    [
        ("Large left pleural effusion.", "Possible large left pleural effusion."),
        ("Cardiomegaly.", "Cardiomegaly cannot be excluded."),
        ("Right upper lobe consolidation.", "Findings suspicious for right upper lobe consolidation."),
        ("Multiple nodules.", "Questionable multiple nodules."),
    ],
)
def test_a_false_finding_that_is_hedged_earns_no_more(sure: str, hedged: str) -> None:
    results = rrgmetrics.score(
        ["green", "radfact", "ratescore"], predictions=[sure, hedged], references=[REFERENCE] * 2, progress=False
    )
    for name, result in results.items():
        of_sure, of_hedged = result.per_pair[name]
        assert of_hedged <= of_sure + 0.02, name  # RaTEScore compares words too
    assert list(results["green"].per_pair["green_matched_findings"]) == [0, 0]


def test_a_doubt_about_something_else_lets_them_stand() -> None:
    result = rrgmetrics.score(
        "green", predictions=["A fracture of the left fourth rib is possible."], references=[REFERENCE], progress=False
    )["green"]
    assert list(result.per_pair["green_matched_findings"]) == [1]
