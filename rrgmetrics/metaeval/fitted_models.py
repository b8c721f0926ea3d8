"""Models that `rrgmetrics radcliq fit --features` wrote, as metrics of their own: `radcliq@FILE`.

Their features are scores of other metrics. These are scored with the rest, and the model combines them pair by pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rrgmetrics.scorers.aggregate import reduce
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.scorers.radcliq import OTHER_KEYS, Coefficients, read_coefficients
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import listed_names, parse_name

RADCLIQ = "radcliq"


@dataclass(frozen=True)
class Subjects:
    """Metrics as they are asked for, models among them.

    Attributes:
        names: All, in their order.
        models: The coefficients of those that are models.
    """

    names: tuple[str, ...]
    models: Mapping[str, Coefficients]

    @property
    def scored(self) -> list[str]:
        """The metrics that are to be scored: those named, and the features of models."""
        plain = [name for name in self.names if name not in self.models]
        return list(dict.fromkeys([*plain, *(key for model in self.models.values() for key in model.features)]))

    def complete(self, results: Mapping[str, Result]) -> dict[str, Result]:
        """The results of what was asked for; those of models come last, from the results of their features."""
        features = {key for model in self.models.values() for key in model.features}
        plain = {name: result for name, result in results.items() if name in self.names or name not in features}
        return plain | {name: predicted(name, model, results) for name, model in self.models.items()}


def subjects_of(names: str | Sequence[str]) -> Subjects:
    """Finds the models among metrics.

    Raises:
        InputError: A name or file that cannot be used.
    """
    names = listed_names(names)
    found = {name: model for name in names if (model := _model(name)) is not None}
    return Subjects(tuple(names), found)


def _model(name: str) -> Coefficients | None:
    """The model of other metrics that a name stands for; None if it is another metric."""
    if RADCLIQ not in name:  # a preset, perhaps
        return None
    parsed = parse_name(name)
    if parsed.spec.name != RADCLIQ or parsed.spec.fragment or not Path(parsed.config).expanduser().is_file():
        return None
    model = read_coefficients(parsed.config)
    return model if model.parts == OTHER_KEYS else None


def combined(model: Coefficients, results: Mapping[str, Result]) -> Array:
    """What a model predicts of each pair `(n_pairs,)`, from the results of its features; NaN where one has no value."""
    values: Array = model.raw(np.column_stack([results[key].headline for key in model.features]))
    return values


def predicted(name: str, model: Coefficients, results: Mapping[str, Result]) -> Result:
    """The errors that a model predicts for each pair, from the results of its features; NaN where one has no value."""
    parsed = parse_name(name)
    spec = replace(parsed.spec, keys=(parsed.spec.headline,))
    stats = combined(model, results)[:, None]
    reduction = Mean((spec.headline.name,))
    checksum = hashlib.sha256(Path(parsed.config).expanduser().read_bytes()).hexdigest()[:8]
    facts = {"features": " ".join(model.features), "coefficients_sha256": checksum}
    return Result(
        spec=spec,
        scores=reduce(reduction, stats),
        per_pair=reduction.per_pair(stats),
        pair_stats=stats,
        reduction=reduction,
        signature=signature.write(parsed, facts=facts, n_pairs=len(stats)),
        bundled=any(results[key].bundled for key in model.features),
    )
