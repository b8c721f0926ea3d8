"""Nodule F1: which nodules of the radiologist's chest CT report the candidate has, and how well it describes them.

F1 = 2TP / (2TP + FP + FN) over the nodules of all pairs, precision and recall beside it; 1 where no report has one. Of
matched nodules: sizes, density, calcification, side, place, noun, certainty; by size, sensitivity and false nodules a
study. What is a match, what is right, and every difference from RadEval: `rrgmetrics.judges.protocols.nodules`.

With `form=nodule_eval` and `form=lung_nodules` the keys are RadEval's: F1, precision, recall, composite and what is
said of sizes, noun and certainty are means over the pairs of reports that have a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rrgmetrics.judges.judge import verdicts
from rrgmetrics.judges.protocols.nodule_counts import CLASSES, DETECTION, FIELDS
from rrgmetrics.judges.protocols.nodules import Nodules as Protocol
from rrgmetrics.judges.protocols.nodules import NodulesVerdict
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.judged import JudgeScorer, row_of
from rrgmetrics.specs import keys_of

KEYS = keys_of("nodule_f1")
FIELD_OF: Mapping[str, str] = {key: key.removeprefix("nodule_f1_") for key in KEYS} | {"nodule_f1": "f1"}
DENSITY = "nodule_f1_density"  # the mean of both classes


@dataclass(frozen=True)
class Ratios:
    """The reduction to ratios of sums: numerators of `FIELDS`, then their denominators.

    Attributes:
        stated: Whether F1, precision and recall are 1 where no report has a nodule and 0 where else they are
            undefined; RadEval leaves them out.
    """

    stated: bool

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Ratios of the sums; NaN where nothing was counted."""
        return {key: np.where(np.asarray(n) > 0, value, np.nan) for key, value in self.ratios(sums).items()}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """F1, precision and recall of each pair; NaN for an unscored one."""
        unscored, ratios = np.isnan(stats).any(axis=1), self.ratios(stats)
        return {key: np.where(unscored, np.nan, ratios[key]) for key in KEYS[: len(DETECTION)]}

    def ratios(self, stats: Array) -> dict[str, Array]:
        """Every key of statistics, or sums of them, `(..., n_stats)`; NaN where nothing was counted."""
        n = len(FIELDS)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = stats[..., :n] / stats[..., n:]
        values = {field: ratios[..., index] for index, field in enumerate(FIELDS)}
        if self.stated:
            nothing = stats[..., n + FIELDS.index("f1")] == 0
            values |= {field: np.where(np.isnan(values[field]), nothing, values[field]) for field in DETECTION}
        classes = np.stack([values[field] for field in CLASSES])
        known = (~np.isnan(classes)).sum(axis=0)
        with np.errstate(invalid="ignore"):
            values["density"] = np.nansum(classes, axis=0) / np.where(known == 0, np.nan, known)
        return {key: values[field] for key, field in FIELD_OF.items()}


@dataclass(frozen=True)
class NoduleF1(JudgeScorer):
    """Nodule F1 by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    form: Literal["own", "nodule_eval", "lung_nodules"] = "own"

    @property
    def protocol(self) -> Protocol:
        """What is asked, and how the replies are read."""
        return Protocol(self.form)

    @property
    def reduction(self) -> Ratios:
        """Ratios of sums."""
        return Ratios(stated=self.form == "own")

    @staticmethod
    def row(verdict: NodulesVerdict) -> list[float]:
        """Returns numerators, then denominators, in the order of `FIELDS`."""
        return [verdict.counts[field][part] for part in (0, 1) for field in FIELDS]

    def values_of(self, verdict: NodulesVerdict) -> Mapping[str, float]:
        """The ratios of one verdict by key; NaN where undefined."""
        return {key: float(value[0]) for key, value in self.reduction.per_pair(np.array([self.row(verdict)])).items()}

    def pair_stats(self, pairs: Any, annotations: Mapping[Pair, Any], statistics: None = None) -> Array:
        """Numerators and denominators `(n_pairs, 2 n_fields)`; NaN for an unscored pair."""
        judged = verdicts(self.protocol, pairs, annotations)
        rows = [row_of(outcome, self.row, 2 * len(FIELDS)) for outcome in judged]
        return np.array(rows, dtype=np.float64).reshape(-1, 2 * len(FIELDS))
