"""How many edits candidates have and how like their references they are, as GREEN shows its pairs (its Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.distribution import OURS_COLOUR
from rrgmetrics.synthesis.pairs import Row

MOST_EDITS = 7  # the last bin is "7 or more"
EDGES = np.linspace(0, 1, 21)  # of similarity
SAMPLED = 1_000  # pairs whose similarity is measured, drawn at random: some 10 ms a pair
SIMILARITY = "bertscore"


@dataclass(frozen=True)
class Histograms:
    """Edits and similarity of a set of pairs.

    Attributes:
        edits: Pairs with 0, 1, 2, ... edits, of those whose edits were counted when they were made.
        similarities: BERTScore of each pair that was drawn (`bertscore`, the bundled encoder's).
        similarity_by_way: Its mean by way of pairing.
        n_pairs: Pairs in all.
    """

    edits: NDArray[np.int64]
    similarities: NDArray[np.float64]
    similarity_by_way: Mapping[str, float]
    n_pairs: int

    def to_dict(self) -> dict[str, object]:
        """Returns it as JSON has it."""
        counts, _ = np.histogram(np.clip(self.similarities, 0, 1), EDGES)
        return {
            "edits": self.edits.tolist(),
            "similarity": {
                "metric": SIMILARITY,
                "n": len(self.similarities),
                "edges": EDGES.round(2).tolist(),
                "pairs": counts.tolist(),
                "mean_by_way": dict(self.similarity_by_way),
            },
        }


def histograms(rows: Iterable[Row], *, sampled: int = SAMPLED, seed: int = 0, progress: bool = True) -> Histograms:
    """Counts edits, and measures the similarity of pairs drawn at random, in one pass.

    Args:
        rows: The pairs (`pairs.read_rows`).
        sampled: How many are drawn.
        seed: Of the draw.
        progress: Whether to show a bar.

    Raises:
        InputError: No pairs.
    """
    edits, drawn, n_pairs, rng = np.zeros(MOST_EDITS + 1, dtype=np.int64), list[Row](), 0, Random(seed)
    for number, row in enumerate(rows):
        n_pairs += 1
        if row.injected is not None:
            edits[min(sum(row.injected), MOST_EDITS)] += 1
        place = number if number < sampled else rng.randint(0, number)
        if place < sampled:
            drawn[place : place + 1] = [row]
    if not drawn:
        raise InputError("There are no pairs to measure.")
    values = _similarities(drawn, progress)
    by_way = {
        way: float(np.nanmean(values[[row.pairing == way for row in drawn]])) for way in {row.pairing for row in drawn}
    }
    return Histograms(edits, values, dict(sorted(by_way.items())), n_pairs)


def _similarities(rows: list[Row], progress: bool) -> NDArray[np.float64]:
    from rrgmetrics.scoring.prepared import score

    candidates, references = [row.candidate for row in rows], [row.reference for row in rows]
    results = score(SIMILARITY, predictions=candidates, references=references, progress=progress)
    return np.asarray(results[SIMILARITY].per_pair[SIMILARITY])


def plot_histograms(measured: Histograms, path: str | Path, *, force: bool = False) -> None:
    """Draws both histograms side by side.

    Args:
        measured: Of the pairs.
        path: Where to; ends in .png.
        force: Whether a file on disk may be replaced.

    Raises:
        InputError: A file that exists, or a folder that cannot be written to.
    """
    from matplotlib.figure import Figure  # a figure of its own, outside pyplot: no global state is touched

    files.check_outputs(pictures=[path], force=force)
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    places = np.arange(MOST_EDITS + 1)
    left.bar(places, measured.edits, 0.8, color=OURS_COLOUR)
    left.set_xticks(places, [*map(str, places[:-1]), f"{MOST_EDITS}+"])
    left.set_title(f"Edits a candidate ({measured.edits.sum():,} pairs whose edits were counted)", fontsize=11)
    right.hist(np.clip(measured.similarities, 0, 1), bins=EDGES.tolist(), color=OURS_COLOUR)
    right.set_title(f"BERTScore of pairs ({len(measured.similarities):,} drawn of {measured.n_pairs:,})", fontsize=11)
    for axes in (left, right):
        axes.set_ylabel("pairs")
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
