"""Multi-label classification scores: how well the labels of candidates agree with those of references.

A pair's statistics are three numbers a label: whether both texts have it, whether the candidate has it, whether the
reference has it. Their column sums TP, P and R give every corpus score:

    F1 = 2TP / (P + R),  precision = TP / P,  recall = TP / R

micro over the sums of all labels; macro the mean over labels; weighted the mean weighted by R. A label that is
undefined (0/0) counts 0 in macro and weighted, as scikit-learn's `zero_division=0` has it, but has no score of its own
(NaN). A pair's score is that of its two label sets.

Differs from scikit-learn: where nothing is labelled on either side, micro, macro and weighted are 1 and not 0. So a
pair without labels scores the same alone, in a reward, and in `per_pair`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rrgmetrics.scorers.base import Array

Average = Literal["micro", "macro", "weighted"]
Measure = Literal["f1", "precision", "recall"]


class LabelScore(NamedTuple):
    """The meaning of a key: the measure, its average, and the labels.

    Attributes:
        average: How labels are averaged.
        measure: What is averaged.
        labels: Indices of the labels that count; empty: all.
        per_pair: Whether each pair has the value too, that of its label sets.
        one: Whether `labels` are forms of one label, which has no score where nobody has it.
    """

    average: Average = "micro"
    measure: Measure = "f1"
    labels: tuple[int, ...] = ()
    per_pair: bool = False
    one: bool = False


@dataclass(frozen=True)
class LabelScores:
    """The reduction of `label_stats` to scores.

    Attributes:
        scores: Key → what it means. A single label's score is that of `labels=(index,)`, with `one`.
        n_labels: Number of labels.
        means: Keys of further columns behind the labels', each a mean over pairs.
        keys: All keys in their order, where that is not the one above; NaN for those of labels that are not read.
        unread: Whether the last column of all counts sentences of the candidate that nobody could read; in micro
            averages over all labels each is a label too many.
    """

    scores: Mapping[str, LabelScore]
    n_labels: int
    means: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    unread: bool = False

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The scores from column sums `(..., 3 n_labels + n_means)`; NaN where `n` is 0 or no report has the label."""
        some = np.asarray(n) > 0
        scores = {
            key: np.where(some, _average(score, *self._columns(sums, score), self._unread(sums, score)), np.nan)
            for key, score in self.scores.items()
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums[..., 3 * self.n_labels :] / np.asarray(n)[..., None]
        scores |= {key: means[..., i] for i, key in enumerate(self.means)}
        return {key: scores.get(key, np.full(np.shape(n), np.nan)) for key in self.keys or scores}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The scores of each pair `(n_pairs,)`, for the keys that exist per pair."""
        unscored = np.isnan(stats).any(axis=1)
        scores = {
            key: np.where(unscored, np.nan, _average(micro, *self._columns(stats, micro), self._unread(stats, micro)))
            for key, micro in ((key, score._replace(average="micro")) for key, score in self.scores.items())
            if micro.per_pair
        }
        return scores | {key: stats[:, 3 * self.n_labels + i] for i, key in enumerate(self.means)}

    def _columns(self, sums: Array, score: LabelScore) -> tuple[Array, Array, Array]:
        """Returns TP, P and R `(..., n)` of the labels that count."""
        both, candidate, reference = (
            sums[..., i * self.n_labels : (i + 1) * self.n_labels][..., score.labels or slice(None)] for i in range(3)
        )
        return both, candidate, reference

    def _unread(self, sums: Array, score: LabelScore) -> Array:
        """Returns the unread sentences `(...)` that count as labels of candidates."""
        return sums[..., -1] if self.unread and not score.labels else np.zeros(sums.shape[:-1])


def label_stats(reference: ArrayLike, candidate: ArrayLike, ignored: ArrayLike | None = None) -> Array:
    """The statistics of pairs for `LabelScores`.

    Args:
        reference: `(n_pairs, n_labels)`, True where the reference has the label.
        candidate: The same of the candidates.
        ignored: `(n_pairs, n_labels)`, True where a label of a pair counts for nothing.

    Returns:
        `(n_pairs, 3 n_labels)`: both, candidate, reference.

    Example:
        >>> label_stats([[True, True]], [[True, False]])
        array([[1., 0., 1., 0., 1., 1.]])
    """
    counts = ~np.asarray(ignored, dtype=bool) if ignored is not None else True
    has_reference = np.asarray(reference, dtype=bool) & counts
    has_candidate = np.asarray(candidate, dtype=bool) & counts
    return np.hstack([has_reference & has_candidate, has_candidate, has_reference]).astype(np.float64)


def example_scores(stats: Array) -> Array:
    """F1, precision and recall of each pair's label sets `(n_pairs, 3)`, 0 where undefined, from `label_stats`.

    Example:
        >>> example_scores(label_stats([[True, True], [False, False]], [[True, False], [False, False]])).tolist()
        [[0.6666666666666666, 1.0, 0.5], [0.0, 0.0, 0.0]]
    """
    both, candidate, reference = (part.sum(axis=1) for part in np.split(stats, 3, axis=1))
    return np.column_stack(
        [_divide(2 * both, candidate + reference), _divide(both, candidate), _divide(both, reference)]
    )


def _average(score: LabelScore, both: Array, candidate: Array, reference: Array, unread: Array) -> Array:
    """The score from TP, P and R `(..., n)`; 1 if nothing is labelled at all, NaN if that is a single label."""
    if score.average == "micro":
        value = _measure(score.measure, both.sum(-1), candidate.sum(-1) + unread, reference.sum(-1))
    elif score.average == "macro":
        value = _measure(score.measure, both, candidate, reference).mean(-1)
    else:
        weights = _divide(reference, reference.sum(-1, keepdims=True))
        value = (_measure(score.measure, both, candidate, reference) * weights).sum(-1)
    nothing = (candidate.sum(-1) + unread == 0) & (reference.sum(-1) == 0)
    return np.where(nothing, np.nan if score.one else 1.0, value)


def _measure(measure: Measure, both: Array, candidate: Array, reference: Array) -> Array:
    """Computes F1, precision or recall; 0 where undefined."""
    if measure == "f1":
        return _divide(2 * both, candidate + reference)
    return _divide(both, candidate if measure == "precision" else reference)


def _divide(numerator: Array, denominator: Array) -> Array:
    """The ratio, 0 where the denominator is."""
    zeros = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=zeros, where=denominator != 0)
