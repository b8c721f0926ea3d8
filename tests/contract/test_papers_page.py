"""Our numbers on the page "Reproduce a paper's table" are those of the file of measurements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rrgmetrics.metaeval.measured import measured_sets

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "papers.md").read_text(encoding="utf-8")
OURS = {  # head of a column: data set and measure
    "tau, ours bundled": ("refisco", "total_errors", 2),
    "ms, ours bundled": ("cost", "seconds", 1),
    "all pairs, ours bundled (318)": ("radeval_expert", "significant_errors", 2),
    "within studies, ours bundled": ("radeval_expert", "significant_errors_within_studies", 2),
}


def columns():
    """Head, metric and cell of every column of ours."""
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        heads, _, *lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        for place, head in enumerate(heads):
            if "ours bundled" in head:
                yield head, {line[0].strip("`"): line[place] for line in lines}


@pytest.mark.parametrize(("head", "cells"), list(columns()), ids=lambda value: value if isinstance(value, str) else "")
def test_our_numbers_are_measured(head, cells):
    name, measure, places = OURS[head]
    data = measured_sets()[name]
    for metric, cell in cells.items():
        row = data.metrics.get(metric)
        known = row is not None and measure in row.values
        shown = f"{row.values[measure].value:.{places}f}".replace("-", "−") if known else ""
        assert cell == shown, metric


def test_every_column_is_there():
    assert {head for head, _ in columns()} == set(OURS)
