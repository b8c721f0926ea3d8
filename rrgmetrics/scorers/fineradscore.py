"""FineRadScore (Huang et al. 2024): the corrections a report needs; the headline, ours, is the sum of their severities.

Question, forms of reply and every difference from the authors: `rrgmetrics.judges.protocols.fineradscore`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rrgmetrics.judges.protocols.counts import CATEGORIES
from rrgmetrics.judges.protocols.fineradscore import Fineradscore as Protocol
from rrgmetrics.judges.protocols.fineradscore import FineradscoreVerdict
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of

KEYS = keys_of("fineradscore")


@dataclass(frozen=True)
class Fineradscore(JudgeScorer):
    """FineRadScore by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    @property
    def protocol(self) -> Protocol:
        """The protocol: the prompts, and the parser of the replies."""
        return Protocol()

    @staticmethod
    def row(verdict: FineradscoreVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        kinds = [index for correction in verdict.corrections for index in correction.categories]
        counts = [kinds.count(index) for index in range(len(CATEGORIES))]
        return [verdict.score, len(verdict.corrections), verdict.worst, *counts]
