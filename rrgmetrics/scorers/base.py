"""What a scorer is: statistics of pairs, and the arithmetic that makes scores of them.

The rule that makes everything else cheap: **a corpus score is a function of the column sums of the pair statistics**.
Bootstrap samples, swapped systems and slices of the data are then sums of rows, never a second scoring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.reports import Context, Pair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Runtime:
    """How to run, not what: changes speed, never a score beyond a stated tolerance."""

    batch_size: int | None = None
    device: str | None = None
    progress: bool = True


class Backend(Protocol):
    """Reads texts. Two scorers whose backends have the same key share what was read."""

    @property
    def key(self) -> str:
        """Identity: what this backend makes of a text depends on nothing else."""

    @property
    def facts(self) -> Mapping[str, str]:
        """What the signature must name: model, revision, checksum, library version."""

    def annotate(self, texts: Sequence[str]) -> Sequence[Any]:
        """One annotation a text, in order. `texts` are distinct."""


@runtime_checkable
class PairBackend(Protocol):
    """Reads a reference and a candidate together; `pair_stats` then gets annotations by `Pair` instead of by text."""

    @property
    def key(self) -> str:
        """Identity: what this backend makes of a pair depends on nothing else."""

    @property
    def facts(self) -> Mapping[str, str]:
        """What the signature must name: model, revision, checksum, library version."""

    def annotate_pairs(self, pairs: Sequence[Pair]) -> Sequence[Any]:
        """One annotation a pair, in order. `pairs` are distinct."""


@runtime_checkable
class Composed(Backend, Protocol):
    """A backend that makes its annotations of what others said: each of these reads a text once for all metrics."""

    @property
    def parts(self) -> Mapping[str, Backend]:
        """The backends that read the texts, by name."""

    def compose(self, readings: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        """One annotation a text, from what each part said of it, by the part's name."""


@runtime_checkable
class LookingAhead(PairBackend, Protocol):
    """A backend that waits for others: with many pairs at hand, one slow answer does not hold up the next block's."""

    @property
    def lookahead(self) -> int:
        """Pairs it would like to be given at a time, if there are so many."""


def read_parts(backend: Composed, texts: Sequence[str]) -> Sequence[Any]:
    """What `annotate` of a composed backend does where nothing is shared."""
    readings: list[dict[str, Any]] = [{} for _ in texts]
    for name, part in backend.parts.items():
        for reading, said in zip(readings, part.annotate(texts), strict=True):
            reading[name] = said
    return backend.compose(readings)


def of_both(references: Sequence[str], candidates: Sequence[str], say: Callable[[str], Any]) -> list[dict[str, Any]]:
    """What `say` tells of either report of each pair, for `Explaining.details`."""
    pairs = zip(references, candidates, strict=True)
    return [{"reference": say(reference), "candidate": say(candidate)} for reference, candidate in pairs]


class Reduction(Protocol):
    """The pure maths from statistics to scores; small and picklable."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Corpus scores from column sums `(..., n_stats)` over `n` `(...)` scored pairs; NaN where `n` is 0."""

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """Scores of each pair, shape `(n_pairs,)`, from statistics `(n_pairs, n_stats)`; NaN rows stay NaN."""


class Scorer(Protocol):
    """One configured metric."""

    @property
    def reduction(self) -> Reduction:
        """How its statistics become scores."""

    def backend(self, runtime: Runtime) -> Backend | PairBackend:
        """Loads what it reads texts or pairs with; raises before any work if that is missing."""

    def statistics(self, references: Iterable[str], backend: Any) -> Any:
        """What a pair's score takes from the whole set of references; None if nothing."""

    def pair_stats(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[Any, Any],
        statistics: Any,
    ) -> Array:
        """Statistics `(n_pairs, n_stats)`; a row of NaN is an unscored pair. `annotations`: by text, or by Pair."""


@runtime_checkable
class Explaining(Protocol):
    """A scorer that can add more than numbers to each pair."""

    def details(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context],
        annotations: Mapping[Any, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """Key → one plain (JSON) value a pair; empty if nothing was asked for."""


@runtime_checkable
class Noting(Protocol):
    """A scorer whose signature must say something about the pairs, such as how many were cut."""

    def notes(self, stats: Array) -> Mapping[str, str]:
        """Facts for the signature, from the statistics `(n_pairs, n_stats)` of all pairs."""


@dataclass(frozen=True)
class Mean:
    """Reduction of pair-level metrics: a statistic is a score, the corpus value its mean over scored pairs."""

    keys: tuple[str, ...]

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Means."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / np.asarray(n)[..., None]
        return {key: means[..., i] for i, key in enumerate(self.keys)}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The columns."""
        return {key: stats[:, i] for i, key in enumerate(self.keys)}
