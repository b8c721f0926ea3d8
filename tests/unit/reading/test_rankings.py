"""Rankings by harm: of two candidates the one that a radiologist would rather act on scores higher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import rrgmetrics

ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("rankings.yaml").read_text(encoding="utf-8"))
KINDS = {
    "omission",
    "context",
    "interpretation",
    "severity",
    "side_change",
    "device",
    "imperfect_reference",
    "style",
    "hacks",
    "partial",
}


@pytest.fixture(scope="module")
def scores() -> dict[str, list[float]]:
    """Both metrics' scores: the better candidates, then the worse ones."""
    contexts = [{"age": row["age"], "indication": row["indication"]} for row in ROWS]
    results = rrgmetrics.score(
        ["crimson", "finding_score"],
        predictions=[row["better"] for row in ROWS] + [row["worse"] for row in ROWS],
        references=[row["reference"] for row in ROWS] * 2,
        contexts=contexts * 2,
        progress=False,
    )
    return {name: list(result.per_pair[name]) for name, result in results.items()}


@pytest.mark.parametrize("metric", ["crimson", "finding_score"])
@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda n: f"{n}-{ROWS[n]['kind']}")
def test_better_candidate_scores_higher(scores: dict[str, list[float]], number: int, metric: str) -> None:
    """Every row holds in both metrics, unless it names the one it holds in."""
    row = ROWS[number]
    if row.get("only", metric) != metric:
        pytest.skip(f"in {row['only']} only")
    better, worse = scores[metric][number], scores[metric][len(ROWS) + number]
    assert better > worse, row["why"]


def test_kinds() -> None:
    """Every kind of the audit has rows."""
    assert {row["kind"] for row in ROWS} == KINDS
