"""Results that no metric computed: the numbers of each pair are given; and scores of sets of pairs."""

import numpy as np
from numpy.typing import ArrayLike

from rrgmetrics.scorers.base import Array, Mean, Reduction
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import Key, MetricSpec
from rrgmetrics.stats.resampling import wanted_scores
from rrgmetrics.stats.together import Kept, drawn_scores


def result(name: str, higher_is_better: bool = True, **columns: ArrayLike) -> Result:
    """A Result with a headline `name` and the keys `name_...` of the other columns."""
    keys = {name: columns.pop("headline"), **{f"{name}_{key}": values for key, values in columns.items()}}
    per_pair = {key: np.array(values, dtype=float) for key, values in keys.items()}
    spec = MetricSpec(
        name=name,
        title=name,
        scorer="",
        keys=tuple(Key(key, key, (0.0, 1.0), higher_is_better) for key in keys),
        level="pair",
        empty=(0, 0, 0),
    )
    stats = np.stack(list(per_pair.values()), axis=1)
    return Result(spec, {}, per_pair, stats, Mean(tuple(keys)), f"{name}|v:0")


def scores_of_sets(reduction: Reduction, stats: Array, weights: ArrayLike) -> dict[str, Array]:
    """The corpus scores of sets in which each pair stands `weights` `(n_sets, n_pairs)` times."""
    wanted, kept = wanted_scores(reduction, stats, np.arange(len(stats)), Kept())
    return drawn_scores([wanted], lambda: [np.asarray(weights, dtype=float)[:, kept]])[0]
