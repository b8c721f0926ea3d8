"""GREEN (Ostmeier et al. 2024): matched findings / (matched findings + significant errors), as a judge counts them.

Formula, parsers and every difference from the authors: `rrgmetrics.judges.protocols.green`. A pair whose reply cannot
be read is unscored; where only the insignificant errors cannot be read, the keys that need them are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rrgmetrics.judges.protocols.counts import CATEGORIES, add
from rrgmetrics.judges.protocols.green import CHECKPOINTS, GreenVerdict, checkpoint_of
from rrgmetrics.judges.protocols.green import Green as Protocol
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of

KEYS = keys_of("green")


@dataclass(frozen=True)
class Green(JudgeScorer):
    """GREEN by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    parser: str = "tolerant"

    @property
    def protocol(self) -> Protocol:
        """The protocol: the prompts, and the parser of the replies."""
        published = checkpoint_of(self.config)
        if published is None:
            return Protocol(self.parser)
        return Protocol(self.parser, paper=f"hf:{published.repository}", end=published.end)

    @property
    def engine_config(self) -> str:
        """The configuration as engines know it: the named checkpoints are asked as the paper's is."""
        return "paper" if self.config in CHECKPOINTS else self.config

    @staticmethod
    def row(verdict: GreenVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        significant = verdict.significant.counts
        everything: Sequence[float] = [np.nan] * len(CATEGORIES)
        if verdict.insignificant is not None:
            everything = add(significant, verdict.insignificant.counts)
        return [verdict.score, sum(significant), sum(everything), verdict.n_matched, *everything, *significant]
