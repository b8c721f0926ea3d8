"""FineRadScore (Huang et al. 2024): the corrections a report needs; the headline, ours, is the sum of their severities.

Question, forms of reply and every difference from the authors: `rrgmetrics.judges.protocols.fineradscore`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rrgmetrics.judges.judge import ComparedPairs, Judge
from rrgmetrics.judges.protocols.counts import CATEGORIES
from rrgmetrics.judges.protocols.fineradscore import Fineradscore as Protocol
from rrgmetrics.judges.protocols.fineradscore import FineradscoreVerdict
from rrgmetrics.reports import Context
from rrgmetrics.scorers import judged
from rrgmetrics.scorers.base import Array, Runtime

KEYS = (
    "fineradscore",
    "fineradscore_corrections",
    "fineradscore_max_severity",
    *(f"fineradscore_{category.value}" for category in CATEGORIES),
)


@dataclass(frozen=True)
class Fineradscore:
    """FineRadScore by the engine that `config` names; `engine` holds that engine's options."""

    config: str = "default"
    engine: Mapping[str, Any] = field(default_factory=dict)
    explain: bool = False

    @property
    def protocol(self) -> Protocol:
        """What is asked, and how the reply is read."""
        return Protocol()

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


def _row(verdict: FineradscoreVerdict) -> list[float]:
    kinds = [index for correction in verdict.corrections for index in correction.categories]
    counts = [kinds.count(index) for index in range(len(CATEGORIES))]
    return [verdict.score, len(verdict.corrections), verdict.worst, *counts]
