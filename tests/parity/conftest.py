"""Our scores beside other packages' on the same texts."""

from __future__ import annotations

import pytest

import rrgmetrics


@pytest.fixture(scope="session")
def score():
    """`score(name, candidates, references)` → Result, without a bar; a blank reference is an empty report."""

    def run(name, candidates, references):
        return rrgmetrics.score(name, predictions=candidates, references=references, missing="empty", progress=False)[
            name
        ]

    return run
