"""GREEN (Ostmeier et al. 2024): matched findings / (matched findings + significant errors), as a judge counts them.

Formula, parsers and every difference from the authors: `rrgmetrics.judges.protocols.green`. A pair whose reply cannot
be read is unscored; where only the insignificant errors cannot be read, the keys that need them are NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rrgmetrics.judges.judge import ComparedPairs, Judge
from rrgmetrics.judges.protocols.counts import CATEGORIES, add
from rrgmetrics.judges.protocols.green import Green as Protocol
from rrgmetrics.judges.protocols.green import GreenVerdict
from rrgmetrics.reports import Context
from rrgmetrics.scorers import judged
from rrgmetrics.scorers.base import Array, Runtime

KEYS = (
    "green",
    "green_errors_significant",
    "green_errors",
    "green_matched_findings",
    *(f"green_{category.value}" for category in CATEGORIES),
    *(f"green_{category.value}_significant" for category in CATEGORIES),
)


@dataclass(frozen=True)
class Green:
    """GREEN by the engine that `config` names; `engine` holds that engine's options."""

    config: str = "default"
    engine: Mapping[str, Any] = field(default_factory=dict)
    parser: str = "tolerant"
    explain: bool = False

    @property
    def protocol(self) -> Protocol:
        """What is asked, and how the reply is read."""
        return Protocol(self.parser)

    @property
    def reduction(self) -> judged.KnownMean:
        """Means over pairs."""
        return judged.KnownMean(KEYS)

    def backend(self, runtime: Runtime) -> Judge | ComparedPairs:
        """The judge, or the reader."""
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
        """Values in the order of `KEYS`, and which of them are known."""
        found = judged.judge(self.protocol, references, candidates, contexts, annotations)
        return judged.stats(found, _row, len(KEYS))

    def details(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[Any, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """With `explain` each verdict in words; of an asked judge, why a pair is unscored, with the raw reply."""
        return judged.details(self, references, candidates, contexts, annotations)


def _row(verdict: GreenVerdict) -> list[float]:
    significant = verdict.significant.counts
    everything: Sequence[float] = [np.nan] * len(CATEGORIES)
    if verdict.insignificant is not None:
        everything = add(significant, verdict.insignificant.counts)
    return [verdict.score, sum(significant), sum(everything), verdict.n_matched, *everything, *significant]
