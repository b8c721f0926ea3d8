"""CheXprompt (Zambrano Chaves et al. 2025): number of errors, as a judge counts them; its headline is the sum of all.

Question, parsers and every difference from the authors: `rrgmetrics.judges.protocols.chexprompt`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rrgmetrics.judges.protocols.chexprompt import Chexprompt as Protocol
from rrgmetrics.judges.protocols.chexprompt import ChexpromptVerdict
from rrgmetrics.judges.protocols.counts import add
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of

KEYS = keys_of("chexprompt")


@dataclass(frozen=True)
class Chexprompt(JudgeScorer):
    """CheXprompt by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    parser: str = "tolerant"

    @property
    def protocol(self) -> Protocol:
        """The protocol: the prompts, and the parser of the replies."""
        return Protocol(self.parser)

    @staticmethod
    def row(verdict: ChexpromptVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        if verdict.significant is None or verdict.insignificant is None:
            return [np.nan] * len(KEYS)
        significant = verdict.significant.counts
        everything = add(significant, verdict.insignificant.counts)
        return [sum(everything), sum(significant), *everything, *significant]
