"""CRIMSON: findings weighted by what they mean for the patient, as a judge or the reader's rubric grades them.

Formula: `rrgmetrics.judges.protocols.crimson_score`; wordings, parsers and every difference from the authors:
`rrgmetrics.judges.protocols.crimson`. A pair whose reply cannot be read is unscored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rrgmetrics.judges.base import Unscored
from rrgmetrics.judges.judge import ComparedPairs, Judge
from rrgmetrics.judges.protocols.crimson import Crimson as Protocol
from rrgmetrics.judges.protocols.crimson import CrimsonVerdict
from rrgmetrics.judges.protocols.crimson_score import ATTRIBUTES
from rrgmetrics.reports import Context
from rrgmetrics.scorers import judged
from rrgmetrics.scorers.base import Array, Mean, Runtime

KEYS = (
    "crimson",
    "crimson_errors",
    "crimson_errors_significant",
    "crimson_weighted_errors",
    "crimson_false_finding",
    "crimson_missing_finding",
    "crimson_incorrect_location",
    "crimson_incorrect_severity",
    *(f"crimson_{attribute}" for attribute in ATTRIBUTES[1:]),
)
_PLACE, _COURSE = ATTRIBUTES.index("location"), ATTRIBUTES.index("temporal")


@dataclass(frozen=True)
class Crimson:
    """CRIMSON by the engine that `config` names; `engine` holds that engine's options."""

    config: str = "default"
    engine: Mapping[str, Any] = field(default_factory=dict)
    wording: str = "own"
    parser: str = "tolerant"
    labels: str = "published"
    complete: bool = False
    explain: bool = False

    @property
    def protocol(self) -> Protocol:
        """What is asked, and how the reply is read."""
        return Protocol(self.wording, self.parser, self.labels, self.complete)

    @property
    def reduction(self) -> Mean:
        """Means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> Judge | ComparedPairs:
        """The judge, or the reader; raises MissingExtraError if the authors' question is not at hand."""
        if self.config not in judged.EMBEDDED:
            _ = self.protocol.facts
        return judged.backend(self.protocol, self.config, self.engine, runtime)

    def statistics(self, references: Iterable[str], backend: Any) -> None:
        """None: a pair's score depends on the pair alone."""

    def pair_stats(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[Any, Any],
        statistics: None,
    ) -> Array:
        """Values `(n_pairs, 15)` in the order of `KEYS`; NaN for an unscored pair."""
        found = judged.judge(self.protocol, references, candidates, contexts, annotations)
        rows = [[np.nan] * len(KEYS) if isinstance(one, Unscored) else _row(one) for one in found]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))

    def details(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[Any, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """With `explain` each verdict in words; of an asked judge, why a pair is unscored, with the raw reply."""
        return judged.details(self, references, candidates, contexts, annotations)


def _row(verdict: CrimsonVerdict) -> list[float]:
    tally = verdict.tally
    attributes = tally.by_attribute
    return [
        tally.score,
        tally.n_errors,
        tally.significant,
        tally.weighted_errors,
        tally.n_false,
        tally.n_missing,
        attributes[_PLACE],
        sum(attributes) - attributes[_PLACE] - attributes[_COURSE],
        *attributes[1:],
    ]
