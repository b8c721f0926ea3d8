"""MammoGREEN: matched findings / (matched findings + significant errors) of mammograms, as a judge counts them.

Formula, parsers and every difference from RadEval: `rrgmetrics.judges.protocols.mammo_green`. A pair whose reply cannot
be read, or that has nothing to compare, is unscored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rrgmetrics.judges.protocols.mammo_green import KINDS, MammoVerdict
from rrgmetrics.judges.protocols.mammo_green import MammoGreen as Protocol
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of


@dataclass(frozen=True)
class MammoGreen(JudgeScorer):
    """MammoGREEN by the engine that `config` names; `engine` holds that engine's options."""

    keys = keys_of("mammo_green")

    parser: Literal["tolerant", "strict"] = "tolerant"

    @property
    def protocol(self) -> Protocol:
        """The protocol: the prompt, and the parser of the reply."""
        return Protocol(self.parser)

    @staticmethod
    def row(verdict: MammoVerdict) -> list[float]:
        """Returns the values of a verdict in the order of the keys."""
        significant = [verdict.significant[kind].number for kind in KINDS]
        everything = sum(significant) + verdict.insignificant.number
        return [verdict.score, sum(significant), everything, verdict.matched.number, *significant]
