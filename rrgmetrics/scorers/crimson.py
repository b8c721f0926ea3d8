"""CRIMSON: findings weighted by what they mean for the patient, as a judge or the reader's rubric grades them.

Formula: `rrgmetrics.judges.protocols.crimson_score`; wordings, parsers and every difference from the authors:
`rrgmetrics.judges.protocols.crimson`. A pair whose reply cannot be read is unscored.
"""

from __future__ import annotations

from dataclasses import dataclass

from rrgmetrics.backends.compared_pairs import ComparedPairs
from rrgmetrics.judges.judge import Judge
from rrgmetrics.judges.protocols.crimson import Crimson as Protocol
from rrgmetrics.judges.protocols.crimson import CrimsonVerdict
from rrgmetrics.judges.protocols.crimson_question import Patient
from rrgmetrics.judges.protocols.crimson_score import ATTRIBUTES
from rrgmetrics.scorers.base import Runtime
from rrgmetrics.scorers.judged import BUNDLED_ENGINES, JudgeScorer
from rrgmetrics.specs import keys_of

KEYS = keys_of("crimson")
_PLACE, _COURSE = ATTRIBUTES.index("location"), ATTRIBUTES.index("temporal")


@dataclass(frozen=True)
class Crimson(JudgeScorer):
    """CRIMSON by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    wording: str = "own"
    parser: str = "tolerant"
    labels: str = "published"
    complete: bool = False
    patient: Patient = "years"
    attributes: str = "entries"

    @property
    def protocol(self) -> Protocol:
        """The protocol: the prompts, and the parser of the replies."""
        return Protocol(self.wording, self.parser, self.labels, self.complete, self.patient, self.attributes)

    def backend(self, runtime: Runtime) -> Judge | ComparedPairs:
        """The judge, or the reader; raises MissingExtraError if the authors' prompt is not installed."""
        if self.config not in BUNDLED_ENGINES:
            _ = self.protocol.facts
        return super().backend(runtime)

    @staticmethod
    def row(verdict: CrimsonVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
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
