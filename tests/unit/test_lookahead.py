"""A backend that waits for others is given many blocks' pairs at a time; each pair once, and no longer than needed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from rrgmetrics.reports import Pair
from rrgmetrics.reports.text import get_normaliser
from rrgmetrics.scorers.base import Mean
from rrgmetrics.scoring import runner
from rrgmetrics.specs.names import parse_name


@dataclass
class Waiting:
    lookahead: int
    key: str = "waiting"
    facts: dict[str, str] = field(default_factory=dict)
    calls: list[list[Pair]] = field(default_factory=list)

    def annotate_pairs(self, pairs):
        self.calls.append(list(pairs))
        return [len(pair.candidate) for pair in pairs]


def results_of(jobs, calls):
    """The results of a walk."""
    walk = runner.run(jobs, calls, memory=runner.Memory(0))
    while True:
        try:
            next(walk)
        except StopIteration as stop:
            return stop.value


class Length:
    reduction = Mean(("bleu",))

    def pair_stats(self, pairs, annotations, statistics=None):
        return np.array([[annotations[pair]] for pair in pairs], dtype=float)


@pytest.mark.parametrize(("lookahead", "sizes"), [(1, [4, 4, 3]), (5, [8, 3]), (1000, [11])])
def test_blocks_asked_together(monkeypatch, lookahead, sizes):
    monkeypatch.setattr(runner, "BLOCK", 4)
    backend = Waiting(lookahead)
    jobs = [
        runner.Job(parse_name("bleu"), Length(), backend, get_normaliser(name)) for name in ("none", "none", "lower")
    ]
    pairs = [Pair("reference", "a" * n) for n in (*range(11), 3, 5)]
    results = results_of(jobs, [pairs])[0]
    for result in results:
        assert result.pair_stats[:, 0].tolist() == [*range(11), 3, 5]
    assert [len(call) for call in backend.calls] == sizes
    assert sorted(pair for call in backend.calls for pair in call) == sorted(pairs[:11])


def test_two_calls_share_what_was_asked(monkeypatch):
    monkeypatch.setattr(runner, "BLOCK", 2)
    backend = Waiting(1000)
    job = runner.Job(parse_name("bleu"), Length(), backend, get_normaliser("none"))
    first = [Pair("r", "a" * n) for n in range(5)]
    second = [Pair("r", "a" * n) for n in range(3, 9)]
    both = results_of([job], [first, second])
    assert [result.pair_stats[:, 0].tolist() for (result,) in both] == [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7, 8]]
    assert [len(call) for call in backend.calls] == [9]
