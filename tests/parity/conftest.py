"""Our scores beside other packages' on the same texts."""

from __future__ import annotations

import pytest

import rrgmetrics


@pytest.fixture(scope="session")
def score():
    """`score(name, candidates, references)` → Result, without a bar."""

    def run(name, candidates, references):
        return rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]

    return run
