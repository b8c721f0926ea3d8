"""RadFact (Bannur et al. 2024): share of each report's phrases that follow from the other report; F1 of both shares.

Precision is the mean over the candidates that have a phrase, recall over the references that have one, and corpus F1 is
2PR/(P+R) of these means. A pair's own F1 is that of its shares, 0 if one of its reports has no phrase. With
`negatives=drop` a pair of two reports without a finding is unscored. Questions and
every difference from the authors: `rrgmetrics.judges.protocols.radfact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rrgmetrics.judges.protocols.radfact import Radfact as Protocol
from rrgmetrics.judges.protocols.radfact import RadfactVerdict
from rrgmetrics.judges.protocols.radfact_scores import JudgedPhrase, shares
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.judged import JudgeScorer, KnownMean
from rrgmetrics.specs import keys_of

KEYS = keys_of("radfact")


@dataclass(frozen=True)
class F1OfMeans(KnownMean):
    """The reduction of RadFact: the means of precision and recall, and their F1."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The mean precision and recall over reports with a phrase, NaN without any; their F1, where NaN counts 0."""
        _, precision, recall = super().corpus(sums, n).values()
        f1 = np.where(np.asarray(n) > 0, _f1(np.nan_to_num(precision), np.nan_to_num(recall)), np.nan)
        return dict(zip(KEYS, (f1, precision, recall), strict=True))


@dataclass(frozen=True)
class Radfact(JudgeScorer):
    """RadFact by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    negatives: Literal["keep", "drop"] = "keep"
    parser: Literal["tolerant", "strict"] = "tolerant"

    @property
    def protocol(self) -> Protocol:
        """The protocol: the prompts, and the parser of the replies."""
        return Protocol(self.negatives, self.parser)

    @property
    def reduction(self) -> F1OfMeans:
        """The F1 of the mean shares."""
        return F1OfMeans(KEYS)

    @staticmethod
    def row(verdict: RadfactVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`; of two reports without a finding all are NaN."""
        if verdict.positives and not verdict.candidate and not verdict.reference:
            return [np.nan] * len(KEYS)
        fractions = (
            shares([JudgedPhrase(phrase.entailed) for phrase in phrases]).logical if phrases else np.nan
            for phrases in (verdict.candidate, verdict.reference)
        )
        return with_f1(*fractions)


def with_f1(precision: float, recall: float) -> list[float]:
    """Returns a pair's values in the order of `KEYS`; a share is NaN where the report has no phrase (0 in F1)."""
    return [float(_f1(np.nan_to_num(precision), np.nan_to_num(recall))), precision, recall]


def _f1(precision: Array, recall: Array) -> Array:
    """The harmonic mean; 0 for two zeros."""
    total = precision + recall
    return np.where(total == 0, 0.0, 2 * precision * recall / np.where(total == 0, 1.0, total))
