"""Rankings by harm: of two candidates the one that a radiologist would rather act on scores higher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import rrgmetrics
from table_rows import each_row

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


@each_row("number, row", enumerate(ROWS))
def test_better_candidate_scores_higher(scores: dict[str, list[float]], number: int, row: dict[str, Any]) -> None:
    """Every row holds in both metrics, unless it names the one it holds in."""
    for metric in [row["only"]] if "only" in row else ["crimson", "finding_score"]:
        better, worse = scores[metric][number], scores[metric][len(ROWS) + number]
        assert better > worse, (metric, row["why"])


def test_kinds() -> None:
    """Every kind of the audit has rows."""
    assert {row["kind"] for row in ROWS} == KINDS
