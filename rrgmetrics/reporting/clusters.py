"""A picture of GREEN's clusters: the significant errors of each kind as points (A.5 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.judges.protocols.counts import CATEGORIES
from rrgmetrics.scoring.error_summary import SEED, Vectors, embed_sentences, search_clusters, spaced, typical
from rrgmetrics.utils.extras import need
from rrgmetrics.utils.text_format import counted

PERPLEXITY = 30.0  # of t-SNE, as scikit-learn has it; fewer points take less
LONGEST = 70  # characters of an error that are written
SHORTEST = 4  # points; fewer are drawn by their first two principal components


class Cluster(NamedTuple):
    """The errors of one kind as points.

    Attributes:
        category: The kind, A to F.
        texts: Their words.
        labels: The cluster of each, `(n,)`.
        places: Where each is drawn, `(n, 2)`.
        typical: Those that stand for the kind in the summary.
    """

    category: ErrorCategory
    texts: tuple[str, ...]
    labels: NDArray[np.intp]
    places: Vectors
    typical: tuple[str, ...]


def clusters(
    explained: Sequence[Mapping[str, Any]], embed: Callable[[Sequence[str]], Vectors] = embed_sentences
) -> list[Cluster]:
    """Clusters the significant errors of each kind as GREEN's summary does, and places them by t-SNE.

    Args:
        explained: `green_explained` of a result: score with `green?explain=yes`.
        embed: Texts → unit vectors `(n, width)`.

    Returns:
        The kinds that have errors.

    Raises:
        InputError: There is no error.
        MissingExtraError: scikit-learn is not installed.
    """
    need("A picture of clusters", "plots", "matplotlib", "sklearn")
    found = []
    for category in CATEGORIES:
        entries = [verdict["significant"].get(category.value, {}) for verdict in explained if "score" in verdict]
        texts = spaced([error for entry in entries for error in entry.get("errors", ())])
        if texts:
            vectors = embed(texts)
            labels, best = search_clusters(vectors), typical(texts, vectors)
            found.append(Cluster(category, tuple(texts), labels, placed(vectors), best))
    if not found:
        raise InputError("No pair has a significant error described in words, so there are no clusters to plot.")
    return found


def placed(vectors: Vectors) -> Vectors:
    """Places vectors in a plane `(n, 2)` by t-SNE (van der Maaten and Hinton 2008), the same each time."""
    from sklearn.manifold import TSNE

    if len(vectors) < SHORTEST or np.allclose(vectors, vectors[0]):
        centred = vectors - vectors.mean(axis=0)
        plane = np.zeros((len(vectors), 2))
        axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
        plane[:, : len(axes)] = centred @ axes.T
        return plane
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    return np.asarray(
        TSNE(perplexity=perplexity, init="pca", random_state=SEED).fit_transform(vectors), dtype=np.float64
    )


def draw_clusters(found: Sequence[Cluster], path: str | Path, *, force: bool = False) -> None:
    """Draws a panel a kind: a colour a cluster, rings around the most typical errors, and their words below.

    Args:
        found: Of `clusters`.
        path: Where to; ends in .png.
        force: Whether a file on disk may be replaced.

    Raises:
        InputError: A file that exists, or a folder that cannot be written to.
    """
    from matplotlib.figure import Figure  # a figure of its own, outside pyplot: no global state is touched

    files.check_outputs(pictures=[path], force=force)
    rows = -(-len(found) // 3)
    figure = Figure(figsize=(13, 4.2 * rows), layout="constrained")
    panels = list(figure.subplots(rows, 3, squeeze=False).flat)
    for axes in panels:
        axes.set_axis_off()
    for axes, each in zip(panels, found, strict=False):
        axes.set_axis_on()
        axes.scatter(*each.places.T, c=each.labels, cmap="tab20", s=22, alpha=0.85, linewidths=0)
        marked = each.places[[each.texts.index(text) for text in each.typical]]
        axes.scatter(*marked.T, s=60, facecolors="none", edgecolors="black", linewidths=1)
        axes.set_xlabel("\n".join(map(_short, each.typical)), fontsize=8, parse_math=False)
        name = each.category.value.replace("_", " ")
        counts = f"{counted(len(each.texts), 'error')}, {counted(len(np.unique(each.labels)), 'cluster')}"
        axes.set_title(f"{each.category.letter} {name}: {counts}", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
