"""What a training reaches on held-out rows, and what it leaves behind."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.stats import Estimate, correlate
from rrgmetrics.synthesis.pairs import N_CATEGORIES
from rrgmetrics.training.config import CrepeConfig

MEASURED = "measured.json"
TRIALS = 1_000  # resamples of the intervals on the card


@dataclass(frozen=True)
class Measured:
    """A regressor on one split.

    Attributes:
        split: `validation` or `test`.
        n_pairs: Its rows.
        tau: Kendall's tau-b of predicted and labelled total errors, with its 95% interval over studies.
        rho: Spearman's rho of the same.
        mae: Mean absolute difference of the totals, in errors a pair.
        category_tau: tau-b of each category's counts (six heads only); NaN where the labels are constant.
        category_mae: Mean absolute difference of each category's counts (six heads only).
    """

    split: str
    n_pairs: int
    tau: Estimate
    rho: Estimate
    mae: float
    category_tau: tuple[float, ...] = ()
    category_mae: tuple[float, ...] = ()


@dataclass(frozen=True)
class CrepeRun:
    """What a training left behind.

    Attributes:
        folder: The checkpoint: `crepe@FOLDER` scores with it.
        config: What it was trained by.
        measured: On validation rows, and on test rows if there are any.
        seconds: Wall time of this call.
    """

    folder: Path
    config: CrepeConfig
    measured: tuple[Measured, ...]
    seconds: float


def compare_counts(
    split: str, predicted: NDArray[np.float64], labelled: NDArray[np.float64], studies: list[str]
) -> Measured:
    """Returns the agreement of predicted with labelled counts, `(n_pairs, n_heads)` each; intervals over studies."""
    totals = correlate(predicted.sum(1), labelled.sum(1), groups=studies, trials=TRIALS)
    measured = Measured(
        split, len(predicted), totals.tau_b, totals.rho, float(np.abs(predicted.sum(1) - labelled.sum(1)).mean())
    )
    if predicted.shape[1] != N_CATEGORIES:
        return measured
    taus = [correlate(predicted[:, c], labelled[:, c], trials=2).tau_b.value for c in range(N_CATEGORIES)]
    return replace(
        measured,
        category_tau=tuple(taus),
        category_mae=tuple(np.abs(predicted - labelled).mean(axis=0).tolist()),
    )


def write_measured(folder: Path, measured: tuple[Measured, ...]) -> None:
    """Writes down what a run reaches."""
    files.write_json(folder / MEASURED, [_as_json(split) for split in measured], force=True)


def read_measured(folder: Path) -> tuple[Measured, ...]:
    """Reads what an earlier run wrote down of itself."""
    read = json.loads((folder / MEASURED).read_text())
    return tuple(Measured(**{key: _from_json(value) for key, value in facts.items()}) for facts in read)


def _as_json(measured: Measured) -> dict[str, object]:
    values = vars(measured).items()
    return {key: value._asdict() if isinstance(value, Estimate) else value for key, value in values}


def _from_json(value: Any) -> Any:
    """Inverts `_as_json`, after `files.write_json` made null of NaN."""
    if isinstance(value, dict):
        return Estimate(**{key: _from_json(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    return float("nan") if value is None else value
