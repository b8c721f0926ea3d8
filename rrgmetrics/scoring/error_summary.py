"""GREEN's summary, of every metric that names errors: how often a report is free of each kind, and the typical ones.

Ostmeier et al. 2024, section 3: the errors of one kind are embedded and clustered by k-means, k by silhouette; the
three nearest to the centre of the largest cluster represent the kind. Differs from the authors' code: it shows one
error, not three; embeddings come from the encoder that ships with rrgmetrics; k-means starts ten times from a seed of
its own, so that no library's version decides. The search for k is theirs: a bisection, which does not try every k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.judges.protocols.counts import CATEGORIES
from rrgmetrics.scoring.error_rows import ToldError, errors_of
from rrgmetrics.specs import SPECS

Vectors = NDArray[np.float64]
A_TO_F = tuple(category.value for category in CATEGORIES)
TOP = 3
MAX_ERRORS = 300  # of one kind; beyond, evenly spaced ones are clustered: the silhouette needs all distances
STARTS, STEPS, SEED = 10, 100, 42


class KindSummary(NamedTuple):
    """The summary of one kind of error.

    Attributes:
        category: The kind, A to F by name, or the metric's own; "" where the metric does not say.
        n_errors: How many there are, over all scored pairs.
        accuracy: Share of scored pairs without one, 0 to 1.
        typical: Up to three of them, the most typical first.
    """

    category: str
    n_errors: float
    accuracy: float
    typical: tuple[str, ...]

    @property
    def title(self) -> str:
        """The kind in words, after its letter if it has one."""
        if self.category in A_TO_F:
            category = ErrorCategory(self.category)
            return f"{category.letter} {category.words}"
        return self.category.replace("_", " ") or "of no kind"


class ErrorSummary(NamedTuple):
    """The summary of a metric over pairs: mean and (population) standard deviation, and each kind of error.

    Attributes:
        mean: Of the scored pairs.
        std: Of the scored pairs.
        n_scored: How many there are.
        kinds: What it counts.
        is_graded: Whether the metric says which errors are significant; then only those count.
    """

    mean: float
    std: float
    n_scored: int
    kinds: tuple[KindSummary, ...]
    is_graded: bool = True

    def __str__(self) -> str:
        """A few lines of text."""
        which = "significant errors" if self.is_graded else "errors"
        lines = [f"mean {self.mean:.3f}, standard deviation {self.std:.3f}, {self.n_scored} pairs scored; {which}:"]
        for kind in self.kinds:
            lines.append(f"{kind.title}: {kind.n_errors:g}; {kind.accuracy:.0%} of reports without")
            lines += [f"    {error}" for error in kind.typical]
        return "\n".join(lines)


def summarise(
    metric: str,
    explained: Sequence[Any],
    scores: Sequence[float],
    embed: Callable[[Sequence[str]], Vectors] | None = None,
) -> ErrorSummary:
    """Summarises what a metric says of a system's reports.

    Args:
        metric: A metric that names errors (`rrgmetrics.scoring.error_rows.ERROR_LISTS`), such as `green`.
        explained: `<metric>_explained` of a result: score with `green?explain=yes`.
        scores: The headline of each pair, `result.per_pair[metric]`; NaN if it is unscored.
        embed: Texts → unit vectors `(n, width)`; None takes the bundled encoder.

    Returns:
        Mean, spread, and for each kind of error its count, accuracy and typical errors.

    Raises:
        InputError: No pair is scored.
    """
    scored = [index for index, score in enumerate(scores) if not np.isnan(score)]
    if not scored:
        raise InputError("There is no scored pair to summarise.")
    found = [errors_of(metric, explained[index]) for index in scored]
    says_which = any(error.significant is not None for errors in found for error in errors)
    is_graded = SPECS[metric].is_graded or says_which
    counted = [[error for error in errors if error.significant is not False] for errors in found]
    kinds = tuple(_kind(category, counted, embed or embed_sentences) for category in _categories(metric, counted))
    values = [scores[index] for index in scored]
    return ErrorSummary(float(np.mean(values)), float(np.std(values)), len(scored), kinds, is_graded)


def _categories(metric: str, errors: Sequence[Sequence[ToldError]]) -> list[str]:
    """The kinds that a metric counts by itself, A to F, and those that were found besides."""
    keys = {key.name for key in SPECS[metric].keys}
    own = [name for name in A_TO_F if f"{metric}_{name}" in keys]
    return list(dict.fromkeys([*own, *(error.category for each in errors for error in each)]))


def _kind(
    category: str, pairs: Sequence[Sequence[ToldError]], embed: Callable[[Sequence[str]], Vectors]
) -> KindSummary:
    """One kind of error over all scored pairs."""
    own = [[error for error in errors if error.category == category] for errors in pairs]
    words = [error.error for errors in own for error in errors if error.error]
    return KindSummary(
        category,
        sum(error.n_errors for errors in own for error in errors),
        sum(not errors for errors in own) / len(own),
        typical(words, embed(spaced(words)) if words else np.zeros((0, 1))),
    )


def typical(texts: Sequence[str], vectors: Vectors, top: int = TOP) -> tuple[str, ...]:
    """The `top` distinct texts nearest (by cosine) to the centre of the largest cluster of their unit vectors."""
    used = spaced(texts)
    if not used:
        return ()
    labels = search_clusters(vectors)
    members = np.flatnonzero(labels == np.bincount(labels).argmax())
    centre = vectors[members].mean(axis=0)
    near = members[np.argsort(-(vectors[members] @ centre), kind="stable")]
    return tuple(dict.fromkeys(used[i] for i in near))[:top]


def search_clusters(vectors: Vectors) -> NDArray[np.intp]:
    """Labels `(n,)` of the clustering whose k a bisection on the silhouette finds; clusters in order of appearance."""
    best, best_score = np.zeros(len(vectors), dtype=np.intp), -np.inf
    low, high = 0, len(vectors) - 1
    while low <= high and (k := (low + high) // 2) >= 2:
        labels = k_means(vectors, k)
        score = silhouette(vectors, labels)
        if score > best_score:
            best, best_score, low = labels, score, k + 1
        else:
            high = k - 1
    return best


def k_means(vectors: Vectors, k: int) -> NDArray[np.intp]:
    """Labels `(n,)` of the best of ten runs from k-means++ starts with a seed of their own."""
    random = np.random.default_rng(SEED)
    runs = [_lloyd(vectors, _starts(vectors, k, random)) for _ in range(STARTS)]
    labels = min(runs, key=lambda run: run[1])[0]
    order = {label: index for index, label in enumerate(dict.fromkeys(labels.tolist()))}
    return np.array([order[label] for label in labels.tolist()], dtype=np.intp)


def _starts(vectors: Vectors, k: int, random: np.random.Generator) -> Vectors:
    """Vectors to start from, k of them, each drawn with a chance that grows with its distance from those before it."""
    chosen = [int(random.integers(len(vectors)))]
    nearest = np.full(len(vectors), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, _distances(vectors, vectors[chosen[-1:]])[:, 0])
        total = nearest.sum()
        chosen.append(int(random.choice(len(vectors), p=nearest / total if total > 0 else None)))
    return np.array(vectors[chosen])


def _lloyd(vectors: Vectors, centres: Vectors) -> tuple[NDArray[np.intp], float]:
    """Returns the labels, and the sum of squared distances from the centres."""
    labels = np.full(len(vectors), -1)
    for _ in range(STEPS):
        distances = _distances(vectors, centres)
        moved = distances.argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
        members = [vectors[labels == label] for label in range(len(centres))]
        centres = np.array([m.mean(axis=0) if len(m) else c for m, c in zip(members, centres, strict=True)])
    return labels, float(distances.min(axis=1).sum())


def _distances(left: Vectors, right: Vectors) -> Vectors:
    """Returns the squared distances `(n_left, n_right)`."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * left @ right.T, 0.0))


def silhouette(vectors: Vectors, labels: NDArray[np.intp]) -> float:
    """The mean silhouette (Rousseeuw 1987), −1 to 1; a vector alone in its cluster counts 0, one cluster for all −1."""
    names = np.unique(labels)
    if len(names) < 2:
        return -1.0
    distances = np.sqrt(_distances(vectors, vectors))
    sums = np.array([distances[:, labels == name].sum(axis=1) for name in names]).T
    sizes = np.array([(labels == name).sum() for name in names])
    own = labels[:, None] == names
    size = sizes[own.argmax(axis=1)]
    inside = sums[own] / np.maximum(size - 1, 1)
    outside = np.where(own, np.inf, sums / sizes).min(axis=1)
    widest = np.maximum(inside, outside)
    values = np.where((size > 1) & (widest > 0), (outside - inside) / np.where(widest > 0, widest, 1.0), 0.0)
    return float(values.mean())


def embed_sentences(texts: Sequence[str]) -> Vectors:
    """Embeds sentences as unit vectors `(n, width)`: the mean token vector of the bundled encoder."""
    from rrgmetrics.backends.encoder import BUNDLED, load_encoder

    seen = [
        token.vectors[token.own].mean(axis=0) if token.own.any() else token.vectors[0]
        for token in load_encoder(BUNDLED).annotate(texts)
    ]
    vectors = np.array(seen, dtype=np.float64)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def spaced(texts: Sequence[str]) -> list[str]:
    """Returns all texts, or evenly spaced ones of very many."""
    if len(texts) <= MAX_ERRORS:
        return list(texts)
    return [texts[i] for i in np.linspace(0, len(texts) - 1, MAX_ERRORS).astype(int)]
