"""A scorer: the statistics of pairs, and the arithmetic that makes scores of them.

The rule that makes everything else cheap: **a corpus score is a function of the column sums of the pair statistics**.
Bootstrap samples, swapped systems and slices of the data are then sums of rows, never a second scoring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.base import Backend, PairBackend
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.frequencies import Frequencies

Array = NDArray[np.float64]


@dataclass
class Bars:
    """A switch that shows or hides progress bars while metrics stay ready."""

    shown: bool = True

    def __bool__(self) -> bool:
        return self.shown


@dataclass(frozen=True)
class Runtime:
    """The settings of a run that change its speed, and never a score beyond a stated tolerance.

    Raises:
        InputError: `batch_size` is neither None nor a whole number of at least 1.
    """

    batch_size: int | None = None
    device: str | None = None
    progress: Bars = field(default_factory=Bars)

    def __post_init__(self) -> None:
        """Checks what users pass on."""
        size: Any = self.batch_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise InputError(f"batch_size is {size!r}; pass a whole number of at least 1, or None.")


def of_pairs(pairs: Sequence[Pair], annotations: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """The annotations of the reference and of the candidate of each pair."""
    return [(annotations[pair.reference], annotations[pair.candidate]) for pair in pairs]


def explain_both(pairs: Sequence[Pair], tell: Callable[[str], Any]) -> list[dict[str, object]]:
    """Describes both reports of each pair with `tell`, for `SupportsDetails.details`."""
    return [{"reference": tell(pair.reference), "candidate": tell(pair.candidate)} for pair in pairs]


def too_long(pairs: Sequence[Pair], annotations: Mapping[str, Any], scores: Array) -> Array:
    """Returns how many reports of each pair were cut, `(n_pairs,)`; NaN where a pair has no score."""
    counts = [
        float(reference.too_long) + float(candidate.too_long) for reference, candidate in of_pairs(pairs, annotations)
    ]
    return np.where(np.isnan(scores), np.nan, np.array(counts, dtype=np.float64))


def note_too_long(stats: Array) -> dict[str, str]:
    """What the signature says of pairs that were too long, which the last column of their statistics counts."""
    return {"too_long": str(int((stats[:, -1] > 0).sum()))}


class Reduction(Protocol):
    """The pure arithmetic from statistics to scores; small and picklable."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Corpus scores from column sums `(..., n_stats)` over `n` `(...)` scored pairs; NaN where `n` is 0."""

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """Scores of each pair, shape `(n_pairs,)`, from statistics `(n_pairs, n_stats)`; NaN rows stay NaN."""


class Scorer(Protocol):
    """A metric with its configuration and options."""

    @property
    def reduction(self) -> Reduction:
        """The reduction of its statistics to scores."""

    def backend(self, runtime: Runtime) -> Backend | PairBackend:
        """Loads the backend; raises before any work if its weights or data are missing."""

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[Any, Any],
        statistics: Any = None,
    ) -> Array:
        """Returns the statistics `(n_pairs, n_stats)`; a row of NaN is an unscored pair.

        Args:
            pairs: As the backend read them, normalised.
            annotations: By text, or by Pair of a PairBackend.
            statistics: The scorer's reference statistics, if it has any.
        """


@runtime_checkable
class SupportsReferenceStatistics(Protocol):
    """A scorer for which a pair's score depends on the whole set of references."""

    def reference_statistics(self, references: Iterable[str], backend: Any) -> Frequencies | None:
        """The statistics of all references of a call, repeated ones too, for `pair_stats`; None if it needs none."""


@runtime_checkable
class SupportsDetails(Protocol):
    """A scorer that can explain the score of each pair."""

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[Any, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns one JSON value for each pair, by key; empty if nothing was asked for."""


@runtime_checkable
class SupportsNotes(Protocol):
    """A scorer whose signature must say something about the pairs, such as how many were cut."""

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The facts for the signature, from the statistics `(n_pairs, n_stats)` of all pairs."""


@dataclass(frozen=True)
class Chosen:
    """A metric's arithmetic, some of its scores alone."""

    reduction: Reduction
    keys: frozenset[str]

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The corpus scores that were chosen."""
        return {key: value for key, value in self.reduction.corpus(sums, n).items() if key in self.keys}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The scores of each pair that were chosen."""
        return {key: value for key, value in self.reduction.per_pair(stats).items() if key in self.keys}


@dataclass(frozen=True)
class Mean:
    """The reduction of pair-level metrics: a statistic is a score, the corpus value its mean over scored pairs."""

    keys: tuple[str, ...]

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The means over scored pairs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / np.asarray(n)[..., None]
        return {key: means[..., i] for i, key in enumerate(self.keys)}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The scores of each pair, which are the statistics themselves."""
        return {key: stats[:, i] for i, key in enumerate(self.keys)}
