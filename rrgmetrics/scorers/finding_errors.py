"""Errors of a candidate report, by kind, found by the reader; rrgmetrics' own metric.

Both reports are read into findings (`rrgmetrics.reader.read`), the findings are matched by an optimal assignment
(`rrgmetrics.reader.compare`), and what differs is counted in the six categories of ReXVal and CREPE: A false finding,
B missing finding, C incorrect location, D incorrect severity, E false comparison, F missing comparison.

The headline is the sum of A to F; `finding_errors_significant` counts the clinically significant ones. A significant
A or B is a finding that is urgent or actionable in the patient's context, in the classes of CRIMSON (arXiv 2603.06183).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rrgmetrics.backends.reader import reader_backend
from rrgmetrics.backends.tokens import TextFunction
from rrgmetrics.reader import Comparison, ErrorCategory, FindingError, Reading, compare
from rrgmetrics.reports import Context
from rrgmetrics.scorers.base import Array, Mean, Runtime

KEYS = (
    "finding_errors",
    "finding_errors_significant",
    *(f"finding_errors_{category.value}" for category in ErrorCategory),
)


@dataclass(frozen=True)
class FindingErrors:
    """Counts of errors; with `explain` also each error in words."""

    explain: bool = False

    @property
    def reduction(self) -> Mean:
        """Mean number of errors a pair."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> TextFunction:
        """The reader."""
        return reader_backend()

    def statistics(self, references: Iterable[str], backend: Any) -> None:
        """None: a pair's score depends on the pair alone."""

    def pair_stats(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[str, Reading],
        statistics: None,
    ) -> Array:
        """Counts `(n_pairs, 8)` in the order of `KEYS`."""
        rows = [
            (found.total, found.significant, *(found.counts[category] for category in ErrorCategory))
            for found in _comparisons(references, candidates, contexts, annotations)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))

    def details(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[str, Reading],
    ) -> Mapping[str, Sequence[Any]]:
        """With `explain`, for each pair a list of its errors: category, words, and the spans of both texts."""
        if not self.explain:
            return {}
        found = _comparisons(references, candidates, contexts, annotations)
        return {"finding_errors_explained": [[_plain(error) for error in pair.errors] for pair in found]}


def _comparisons(
    references: Sequence[str],
    candidates: Sequence[str],
    contexts: Sequence[Context],
    annotations: Mapping[str, Reading],
) -> Iterable[Comparison]:
    for reference, candidate, context in zip(references, candidates, contexts, strict=True):
        yield compare(annotations[reference], annotations[candidate], context)


def _plain(error: FindingError) -> dict[str, Any]:
    """An error as JSON has it; spans are `[start, end]` in the (normalised) texts."""
    return {
        "category": error.category.value,
        "attribute": error.attribute,
        "significant": error.significant,
        "sentence": error.sentence,
        "reference_spans": [list(span) for span in error.reference_spans],
        "candidate_spans": [list(span) for span in error.candidate_spans],
    }
