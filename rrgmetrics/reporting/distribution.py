"""Tables of how many errors the pairs of `rrgmetrics synthesize` have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.reporting.tables import Group, Table
from rrgmetrics.synthesis.distribution import Distribution, paper_shares
from rrgmetrics.synthesis.pairs import CATEGORIES, LETTERS


def distribution_tables(labels: Distribution) -> list[Table]:
    """Returns the errors of pairs by kind, beside those of CREPE's paper, and by way of pairing."""
    title = f"{labels.n_pairs:,} pairs, {labels.n_identical:,} without an error; % of pairs with 0 / 1 / 2 / 3 or more"
    shares = tuple(
        (
            f"{category.letter} {category.value.replace('_', ' ')}",
            _percents(mine),
            _percents(theirs),
            "" if np.isnan(matters) else f"{matters:.0%}",
        )
        for category, mine, theirs, matters in zip(
            CATEGORIES, labels.shares, paper_shares(), labels.significant, strict=True
        )
    )
    means = tuple(
        (way, f"{labels.n_by_way[way]:,}", *(f"{value:.2f}" for value in row), f"{row.sum():.2f}")
        for way, row in labels.means.items()
    )
    return [
        Table(("", "these pairs", "CREPE, Fig. 4", "significant"), (Group(shares),), title=title),
        Table(
            ("", "pairs", *LETTERS, "all"),
            (Group(means),),
            title="Mean number of errors by way of pairing",
            whole=frozenset({0}),
        ),
    ]


def _percents(shares: NDArray[np.float64]) -> str:
    return " / ".join(f"{100 * share:.0f}" for share in shares)
