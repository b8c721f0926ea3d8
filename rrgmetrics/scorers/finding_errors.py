"""Errors of a candidate report, by kind, found by the reader; rrgmetrics' own metric.

Both reports are read into findings (`rrgmetrics.reading.read`), the findings are matched by an optimal assignment
(`rrgmetrics.comparing.compare`), and what differs is counted in the six categories of ReXVal and CREPE: A false
finding, B missing finding, C incorrect location, D incorrect severity, E false comparison, F missing comparison. What
the candidate leaves out of a finding that it has, its side or size say, is a part of an error of kind C or D
(`rrgmetrics.comparing.omissions`), so that counts need not be whole.

The headline is the sum of A to F; `finding_errors_significant` counts the clinically significant ones. Radiologists
differ in what they call so; `policy` says whom it follows (`rrgmetrics.comparing.policies`). `management`, the default,
counts what could change what is done: errors of findings that are urgent or actionable in the patient's context, in the
classes of CRIMSON (arXiv 2603.06183). `report` counts every error that is neither of a benign finding nor of wording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared, ComparedPairs
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.comparing.policies import MANAGEMENT, Policy, under
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime
from rrgmetrics.specs import keys_of

KEYS = keys_of("finding_errors")


@dataclass(frozen=True)
class FindingErrors:
    """Counts the errors of a candidate; with `explain` each error is described too."""

    explain: bool = False
    policy: Policy = MANAGEMENT

    @property
    def reduction(self) -> Mean:
        """The mean number of errors of a pair."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> ComparedPairs:
        """The backend that reads both reports and compares them."""
        return ComparedPairs()

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[Pair, Compared],
        statistics: None = None,
    ) -> Array:
        """The counts of each pair `(n_pairs, 8)`, in the order of `KEYS`."""
        comparisons = [under(annotations[pair].comparison, self.policy) for pair in pairs]
        rows = [
            (comparison.cost(), comparison.cost(significant=True), *(comparison.cost(kind) for kind in ErrorCategory))
            for comparison in comparisons
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[Pair, Compared],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, the errors of each pair: category, words, and the spans of both texts."""
        if not self.explain:
            return {}
        errors = [under(annotations[pair].comparison, self.policy).errors for pair in pairs]
        return {"finding_errors_explained": [[error.to_dict() for error in of_pair] for of_pair in errors]}
