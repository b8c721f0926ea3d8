"""GREEN's summary: how often a report is free of each kind of significant error, and the typical errors.

Ostmeier et al. 2024, section 3: the errors of one kind are embedded and clustered by k-means, k by silhouette; the
three nearest to the centre of the largest cluster stand for the kind. Differs from the authors' code: it shows one
error, not three; embeddings come from the encoder that ships with rrgmetrics; k-means starts ten times from a seed of
its own, so that no library's version decides. The search for k is theirs: a bisection, which does not try every k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.judges.protocols.counts import CATEGORIES

Vectors = NDArray[np.float64]
TOP = 3
MAX_ERRORS = 300  # of one kind; beyond, evenly spaced ones are clustered: the silhouette needs all distances
STARTS, STEPS, SEED = 10, 100, 42


class KindSummary(NamedTuple):
    """The summary of one kind of significant error.

    Attributes:
        category: The kind, A to F.
        n_errors: How many there are, over all scored pairs.
        accuracy: Share of scored pairs without one, 0 to 1.
        typical: Up to three of them, the most typical first.
    """

    category: ErrorCategory
    n_errors: float
    accuracy: float
    typical: tuple[str, ...]


class GreenSummary(NamedTuple):
    """The summary of GREEN over pairs: mean and (population) standard deviation, and each kind of error."""

    mean: float
    std: float
    n_scored: int
    kinds: tuple[KindSummary, ...]

    def __str__(self) -> str:
        """A few lines of text."""
        lines = [f"mean {self.mean:.3f}, standard deviation {self.std:.3f}, {self.n_scored} pairs scored"]
        for kind in self.kinds:
            name = kind.category.value.replace("_", " ")
            lines.append(f"{kind.category.letter} {name}: {kind.n_errors:g}; {kind.accuracy:.0%} of reports without")
            lines += [f"    {error}" for error in kind.typical]
        return "\n".join(lines)


def summarise(
    explained: Sequence[Mapping[str, Any]], embed: Callable[[Sequence[str]], Vectors] | None = None
) -> GreenSummary:
    """Summarises the verdicts on a system's reports.

    Args:
        explained: `green_explained` of a result: score with `green?explain=yes`.
        embed: Texts → unit vectors `(n, width)`; None takes the bundled encoder.

    Returns:
        Mean, spread, and for each kind A to F its count, accuracy and typical errors.

    Raises:
        InputError: No pair is scored.
    """
    scored = [verdict for verdict in explained if "score" in verdict]
    if not scored:
        raise InputError("There is no scored pair to summarise; pass result.details['green_explained'].")
    scores = [verdict["score"] for verdict in scored]
    kinds = tuple(_kind(category, scored, embed or embed_sentences) for category in CATEGORIES)
    return GreenSummary(float(np.mean(scores)), float(np.std(scores)), len(scored), kinds)


def _kind(
    category: ErrorCategory, scored: Sequence[Mapping[str, Any]], embed: Callable[[Sequence[str]], Vectors]
) -> KindSummary:
    entries = [verdict["significant"].get(category.value, {"count": 0, "errors": []}) for verdict in scored]
    words = [error for entry in entries for error in entry["errors"]]
    return KindSummary(
        category,
        sum(entry["count"] for entry in entries),
        sum(not entry["count"] for entry in entries) / len(entries),
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
