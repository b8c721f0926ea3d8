"""What a metric says of pairs, turned so that more is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.gaming.studies import Studies
from rrgmetrics.metaeval.stress.outside import Function, checked
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.specs.names import label, parse_name

KEPT_REFERENCES = 4096


@dataclass
class Player:
    """One metric that is gamed.

    Attributes:
        name: As it was asked for.
        function: Of a metric that is not ours.
        title: As tables have it.
        arrow: Which of its values are better.
        signature: What ran.
        n_scored: The pairs that it has scored.
    """

    name: str
    function: Function | None = None
    batch_size: int | None = None
    device: str | None = None
    title: str = ""
    arrow: str = "↑"
    signature: str = ""
    n_scored: int = 0
    _metrics: Metrics | None = field(default=None, repr=False)
    _worst: float = 0.0

    def __post_init__(self) -> None:
        self.title = self.title or self.name
        if self.function is not None:
            self.signature = self.name
            return
        parsed = parse_name(self.name)
        if parsed.spec.corpus_statistics or not parsed.spec.headline.per_pair:
            raise InputError(
                f"{self.name} cannot be a reward, because its score of a pair depends on the other pairs of the call; "
                "use a metric that scores each pair by itself, such as finding_errors."
            )
        self._metrics = prepare(
            self.name, batch_size=self.batch_size, device=self.device, kept_references=KEPT_REFERENCES
        )
        self.title, self.arrow = label(self.name, parsed.titled), parsed.spec.headline.arrow

    def goodness(self, pairs: Sequence[Pair]) -> Array:
        """The score of each pair, more is better; each distinct pair is scored once.

        A pair without a number gets the worst that was seen, as a completion that cannot be scored must.
        """
        distinct = list(dict.fromkeys(pairs))
        self.n_scored += len(distinct)
        values = dict(zip(distinct, self._scored(distinct), strict=True))
        found = np.array([values[pair] for pair in pairs])
        known = found[~np.isnan(found)]
        self._worst = min([self._worst, *known.tolist()])
        return np.where(np.isnan(found), self._worst, found)

    def honest(self, studies: Studies) -> dict[str, Array]:
        """The goodness of each system's candidates."""
        return {system: self.goodness(_pairs(studies.references, texts)) for system, texts in studies.systems.items()}

    def value(self, goodness: float) -> float:
        """A mean goodness in the metric's own unit."""
        return -goodness + 0.0 if self.arrow == "↓" else goodness

    def turn(self, studies: Studies) -> None:
        """Finds the better direction of a metric that is not ours: a report beats another patient's."""
        if self.function is None:
            return
        own = self.goodness(_pairs(studies.references, studies.references))
        other = self.goodness(_pairs(studies.references, (*studies.references[1:], studies.references[0])))
        self.arrow = "↓" if own.mean() < other.mean() else "↑"

    def _scored(self, pairs: Sequence[Pair]) -> Sequence[float]:
        if self.function is not None:
            found = checked(self.name, self.function, [pair.candidate for pair in pairs], [p.reference for p in pairs])
            return [-value for value in found] if self.arrow == "↓" else found
        assert self._metrics is not None
        result = self._metrics.score_pairs(pairs, progress=False, announce=False)[self.name]
        self.signature = result.signature
        headline = result.spec.headline
        return list(map(float, headline.goodness(result.headline)))


def _pairs(references: Sequence[str], candidates: Sequence[str]) -> list[Pair]:
    return [Pair(reference, candidate) for reference, candidate in zip(references, candidates, strict=True)]
