"""Generates reports for an evaluation set with all processes: divided, gathered in order, within a time."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

from rrgmetrics.callbacks import processes
from rrgmetrics.callbacks.evaluation_set import EvaluationSet
from rrgmetrics.callbacks.generation import GenerateFunction
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair, check_report, readable_part


class Sample(NamedTuple):
    """A generated report beside its reference."""

    place: int
    identity: int | str
    pair: Pair


class Generated(NamedTuple):
    """The generated samples in the order of the set, each once; or the first failure, in words."""

    samples: list[Sample]
    failure: str
    stopped: bool


def generate(
    model: Any, examples: EvaluationSet, function: GenerateFunction, *, batch_size: int, max_seconds: float | None
) -> Generated:
    """Generates a report for each example; the same return value in every process. Collective.

    Every process generates as often as the others, as sharded parameters demand: the last ones repeat an example
    from the beginning, and repetitions are dropped.

    Args:
        model: In evaluation mode.
        examples: The set.
        function: Generates for a list of examples.
        batch_size: Examples at a time in each process.
        max_seconds: No batch is begun after this time; None means no end.
    """
    start, samples, failure, stopped = time.perf_counter(), [], "", False
    n, world = len(examples.rows), processes.count()
    places = [(processes.rank() + turn * world) % n for turn in range(math.ceil(n / world))]
    for first in range(0, len(places), batch_size):
        late = max_seconds is not None and time.perf_counter() - start > max_seconds
        if max_seconds is not None and processes.any_of(late):
            stopped = True
            break
        try:
            samples += _batch(model, examples, function, places[first : first + batch_size])
        except Exception as error:  # the other processes wait for this one's part
            failure = failure or f"{type(error).__name__}: {error}"
    gathered = processes.gather([(samples, failure)])
    failures = [words for _, words in gathered if words]
    distinct = {sample.place: sample for part, _ in gathered for sample in part}
    return Generated([distinct[place] for place in sorted(distinct)], failures[0] if failures else "", stopped)


def _batch(model: Any, examples: EvaluationSet, function: GenerateFunction, places: list[int]) -> list[Sample]:
    rows = [examples.rows[place] for place in places]
    loaded = [examples[row] for row in rows]
    candidates = list(function(model, loaded))
    if len(candidates) != len(rows):
        raise InputError(
            f"generate_fn returned {len(candidates)} reports for {len(rows)} examples; it must return one for each."
        )
    samples = []
    for place, row, example, candidate in zip(places, rows, loaded, candidates, strict=True):
        if isinstance(candidate, str):
            candidate = readable_part(candidate)
        check_report(candidate, f"The report generated for example {row}")
        pair = Pair(examples.reference(example, row), candidate, examples.context(example, row))
        samples.append(Sample(place, examples.identity(example, row), pair))
    return samples
