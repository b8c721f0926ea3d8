"""Scales of rewards: what makes the rewards of different metrics comparable, by facts on their cards."""

from __future__ import annotations

import math
from typing import NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.stress.stored import stored_stress
from rrgmetrics.specs import Key
from rrgmetrics.specs.names import MetricName


class UnitScale(NamedTuple):
    """From a score to 0 to 1: `2 ** -(loss / unit)`, where the loss is how far the score is from the best one.

    So the best score earns 1, what another patient's report scores on average earns ½, and each further loss of as much
    halves it again: whatever the metric counts, in whatever direction. Better scores never earn less.

    Attributes:
        best: The end of the key's range; where that is infinite, what reports score against themselves on average.
        other: What another patient's report scores on average. Both averages are the card's, of 300 invented reports.
    """

    best: float
    other: float

    @classmethod
    def of(cls, name: MetricName, key: Key) -> UnitScale:
        """The scale of a metric's key; raises InputError where its facts are not known."""
        stressed = stored_stress().metrics.get(name.spec.name)
        if stressed is None or key.name != name.spec.name or name.config != "default":
            raise InputError(
                f"{key.name}{name.suffix} has no 'unit' scale, because the score of another patient's report is "
                "known only for headlines of default configurations. Pass transform='unit', or a function as "
                "transform."
            )
        end = key.range[1 if key.higher_is_better else 0]
        return cls(end if math.isfinite(end) else stressed.means["intact"], stressed.means["other"])

    def __call__(self, score: float) -> float:
        """The reward of a score, above 0 and at most 1."""
        return float(2.0 ** -max(0.0, (self.best - score) / (self.best - self.other)))

    def __str__(self) -> str:
        """As signatures have it: `2^-(loss/3.83),best:0`."""
        return f"2^-(loss/{abs(self.best - self.other):.3g}),best:{self.best:.3g}"
