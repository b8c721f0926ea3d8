"""How many errors of each kind a set of pairs has, beside the pairs that CREPE was trained on (its Fig. 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.pairs import CATEGORIES, LETTERS, N_CATEGORIES, Row

HIGHEST = 3  # the last bin is "3 or more"
N_PAPER = 32.0  # thousands of pairs
# CREPE, Fig. 4, read off the plot: thousands of pairs with 0, 1, 2 errors; the rest of the 32,000 have 3 or more.
PAPER = {
    "A": (20.7, 6.0, 3.0),
    "B": (2.9, 5.2, 6.6),
    "C": (28.5, 3.2, 0.3),
    "D": (25.0, 5.7, 1.2),
    "E": (18.5, 9.5, 3.0),
    "F": (28.0, 3.0, 0.8),
}
OURS_COLOUR, PAPER_COLOUR = "#1f5f8b", "#c9a227"


@dataclass(frozen=True)
class Distribution:
    """Labels of a set of pairs.

    Attributes:
        shares: Share of pairs with 0, 1, 2, 3 or more errors, `(6, 4)`; a fraction (of a judge's mean) is rounded.
        means: Mean number of errors by way of pairing, `(6,)` each.
        significant: Share of the errors that are clinically significant, `(6,)`; NaN where there is none.
        n_by_way: Pairs by way.
        n_by_split: Pairs by part of the data.
        n_identical: Pairs without any error.
    """

    shares: NDArray[np.float64]
    means: dict[str, NDArray[np.float64]]
    significant: NDArray[np.float64]
    n_by_way: dict[str, int]
    n_by_split: dict[str, int]
    n_identical: int

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return sum(self.n_by_way.values())

    def to_dict(self) -> dict[str, object]:
        """Returns it as JSON has it."""
        return {
            "n_pairs": self.n_pairs,
            "n_without_errors": self.n_identical,
            "n_by_way": self.n_by_way,
            "n_by_split": self.n_by_split,
            "shares": {letter: list(row) for letter, row in zip(LETTERS, self.shares, strict=True)},
            "shares_paper": {letter: list(row) for letter, row in zip(LETTERS, paper_shares(), strict=True)},
            "means": {way: dict(zip(LETTERS, row, strict=True)) for way, row in self.means.items()},
            "significant": dict(zip(LETTERS, self.significant, strict=True)),
        }


def paper_shares() -> NDArray[np.float64]:
    """Returns the shares of CREPE's pairs with 0, 1, 2, 3 or more errors, `(6, 4)`."""
    known = np.array([PAPER[letter] for letter in LETTERS])
    rest = np.maximum(0.0, N_PAPER - known.sum(axis=1, keepdims=True))
    counts = np.hstack([known, rest])
    shares: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
    return shares


def distribution(rows: Iterable[Row]) -> Distribution:
    """Counts the labels of pairs (`pairs.read_rows`) in one pass.

    Raises:
        InputError: No pairs.
    """
    bins = np.zeros((N_CATEGORIES, HIGHEST + 1))
    sums: dict[str, NDArray[np.float64]] = {}
    by_way: dict[str, int] = {}
    by_split: dict[str, int] = {}
    significant, n_identical = np.zeros(N_CATEGORIES), 0
    for row in rows:
        total = np.array(row.total)
        bins[range(N_CATEGORIES), np.minimum(np.rint(total), HIGHEST).astype(int)] += 1
        sums[row.pairing] = sums.get(row.pairing, np.zeros(N_CATEGORIES)) + total
        by_way[row.pairing] = by_way.get(row.pairing, 0) + 1
        by_split[row.split] = by_split.get(row.split, 0) + 1
        significant += row.significant
        n_identical += not total.any()
    if not by_way:
        raise InputError("There are no pairs to count.")
    n_pairs, errors = sum(by_way.values()), sum(sums.values(), np.zeros(N_CATEGORIES))
    with np.errstate(invalid="ignore"):
        share = significant / errors
    means = {way: sums[way] / n for way, n in by_way.items()}
    return Distribution(bins / n_pairs, means, share, by_way, by_split, n_identical)


def plot(labels: Distribution, path: str | Path, *, force: bool = False) -> None:
    """Draws the shares beside CREPE's Fig. 4, one panel a category.

    Args:
        labels: Their distribution.
        path: Where to; ends in .png.
        force: Whether a file on disk may be replaced.

    Raises:
        InputError: A file that exists, or a folder that cannot be written to.
    """
    from matplotlib.figure import Figure  # a figure of its own, outside pyplot: no global state is touched

    files.check_outputs(pictures=[path], force=force)
    figure = Figure(figsize=(11, 6), layout="constrained")
    figure.suptitle(f"Errors a pair: {labels.n_pairs:,} pairs, and the 32,000 of CREPE (Fig. 4)", fontweight="bold")
    places = np.arange(HIGHEST + 1)
    for axes, category, mine, theirs in zip(
        figure.subplots(2, 3, sharey=True).flat, CATEGORIES, labels.shares, paper_shares(), strict=True
    ):
        axes.bar(places - 0.2, 100 * mine, 0.4, color=OURS_COLOUR, label="these pairs")
        axes.bar(places + 0.2, 100 * theirs, 0.4, color=PAPER_COLOUR, label="CREPE")
        axes.set_title(f"{category.letter}  {category.value.replace('_', ' ')}", fontsize=11)
        axes.set_xticks(places, ["0", "1", "2", "3+"])
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(frameon=False)
    figure.axes[0].set_ylabel("% of pairs")
    figure.axes[3].set_ylabel("% of pairs")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
