"""RadFact (Bannur et al. 2024): share of each report's phrases that follow from the other report; F1 of both shares.

Precision is the mean over the candidates that have a phrase, recall over the references that have one, and corpus F1 is
2PR/(P+R) of these means. A pair's own F1 is that of its shares, 0 if one of its reports has no phrase. Questions and
every difference from the authors: `rrgmetrics.judges.protocols.radfact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rrgmetrics.judges.base import Unscored
from rrgmetrics.judges.judge import ComparedPairs, Judge
from rrgmetrics.judges.protocols.radfact import Radfact as Protocol
from rrgmetrics.judges.protocols.radfact import RadfactVerdict
from rrgmetrics.judges.protocols.radfact_scores import JudgedPhrase, shares
from rrgmetrics.reports import Context
from rrgmetrics.scorers import judged
from rrgmetrics.scorers.base import Array, Runtime

KEYS = ("radfact", "radfact_precision", "radfact_recall")
N_STATS = 4  # precision, whether it is known, recall, whether it is known


@dataclass(frozen=True)
class F1OfMeans:
    """Reduction of RadFact."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Mean precision and recall over the reports with a phrase, and their F1; NaN without such a report."""
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]
        return dict(zip(KEYS, (_f1(precision, recall), precision, recall), strict=True))

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The pair's shares, NaN where its report has no phrase, and their F1."""
        precision, recall = (np.where(stats[:, i + 1] == 0, np.nan, stats[:, i]) for i in (0, 2))
        return dict(zip(KEYS, (_f1(stats[:, 0], stats[:, 2]), precision, recall), strict=True))


@dataclass(frozen=True)
class Radfact:
    """RadFact by the engine that `config` names; `engine` holds that engine's options."""

    config: str = "default"
    engine: Mapping[str, Any] = field(default_factory=dict)
    explain: bool = False

    @property
    def protocol(self) -> Protocol:
        """What is asked, and how the reply is read."""
        return Protocol()

    @property
    def reduction(self) -> F1OfMeans:
        """F1 of the mean shares."""
        return F1OfMeans()

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
        """Precision and recall with whether they are known `(n_pairs, 4)`."""
        found = judged.judge(self.protocol, references, candidates, contexts, annotations)
        rows = [[np.nan] * N_STATS if isinstance(one, Unscored) else _row(one) for one in found]
        return np.array(rows, dtype=np.float64).reshape(-1, N_STATS)

    def details(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[Any, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """With `explain` each verdict in words; of an asked judge, why a pair is unscored, with the raw reply."""
        return judged.details(self, references, candidates, contexts, annotations)


def _row(verdict: RadfactVerdict) -> list[float]:
    row: list[float] = []
    for phrases in (verdict.candidate, verdict.reference):
        share = shares([JudgedPhrase(phrase.entailed) for phrase in phrases]).logical
        row += [share, 1.0] if phrases else [0.0, 0.0]
    return row


def _f1(precision: Array, recall: Array) -> Array:
    """Harmonic mean; 0 for two zeros."""
    total = precision + recall
    return np.where(total == 0, 0.0, 2 * precision * recall / np.where(total == 0, 1.0, total))
