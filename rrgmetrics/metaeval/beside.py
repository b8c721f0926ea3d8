"""Scores that a data set was published with, beside ours of the same pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.scoring.results import Result
from rrgmetrics.stats import Estimate, correlate


@dataclass(frozen=True)
class Beside:
    """Our scores beside published ones.

    Attributes:
        published: The metric, as the data name it.
        subject: Our metric as it was named.
        key: Its result key that was compared.
        mean: Mean of ours less published.
        mean_absolute: Mean of the absolute differences.
        largest: The largest absolute difference.
        tau_b: Kendall's tau-b of the two, with its interval over studies.
        rho: Spearman's rho.
        r: Pearson's r.
        n: Pairs that have both scores.
    """

    published: str
    subject: str
    key: str
    mean: float
    mean_absolute: float
    largest: float
    tau_b: Estimate
    rho: Estimate
    r: Estimate
    n: int

    def row(self) -> dict[str, object]:
        """A row for a table of numbers, in the columns of agreements; `mae` and `bias` are of the differences."""
        return {
            "subject": self.subject,
            "key": self.key,
            "target": f"published {self.published}",
            "view": "pairs",
            "subset": "",
            "tau_b": self.tau_b.value,
            "low": self.tau_b.low,
            "high": self.tau_b.high,
            "label": "",
            "rho": self.rho.value,
            "r": self.r.value,
            "mae": self.mean_absolute,
            "bias": self.mean,
            "largest": self.largest,
            "n": self.n,
        }


def beside_published(data: Rated, results: Mapping[str, Result], draws: Mapping[str, Any]) -> Iterator[Beside]:
    """Yields each published score with each of our keys that is its counterpart.

    Args:
        data: The rated pairs.
        results: Scores of `data.pairs` by the metric's name.
        draws: How intervals are drawn: `trials`, `level`, `seed`.
    """
    for name, published in data.published.items():
        for subject, result in results.items():
            for key in published.counterparts:
                if key in result.per_pair:
                    ours = np.asarray(result.per_pair[key], dtype=np.float64)
                    found = correlate(ours, published.scores, groups=data.studies, **draws)
                    differences = (ours - published.scores)[~np.isnan(ours - published.scores)]
                    yield Beside(name, subject, key, *_sizes(differences), *found[:3], n=len(differences))


def _sizes(differences: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float, float]:
    """Mean, mean absolute and largest absolute difference; NaN without any."""
    if not len(differences):
        return np.nan, np.nan, np.nan
    sizes = np.abs(differences)
    return float(differences.mean()), float(sizes.mean()), float(sizes.max())
