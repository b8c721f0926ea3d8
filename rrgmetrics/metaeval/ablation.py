"""Checkpoints of CREPE against each other: heads, losses, encoders (CREPE's paper, the table of its ablations).

A checkpoint with one head counts all errors, with two the significant and the others, with six the kinds; its sum is
held against the raters' total errors. What differs follows from each checkpoint's own configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from rrgmetrics.backends.crepe import load_crepe
from rrgmetrics.backends.crepe.model import CrepeSettings
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.rated import TOTAL, Rated
from rrgmetrics.reports import Context
from rrgmetrics.stats import LEVEL, TRIALS, Correlation, correlate

CONFIG = "training_config.yaml"  # beside the weights of a run


@dataclass(frozen=True)
class Ablated:
    """One checkpoint on rated pairs.

    Attributes:
        checkpoint: As it was named.
        settings: Of its heads.
        encoder: What `rrgmetrics train` began with; "" where the checkpoint does not say.
        agreement: tau-b, rho and r of the sum of its counts with the raters' total errors, turned so that positive is
            agreement, with intervals over studies.
        mae: Mean absolute error of the sum.
    """

    checkpoint: str
    settings: CrepeSettings
    encoder: str
    agreement: Correlation
    mae: float

    @property
    def loss(self) -> str:
        """The loss in words: `Poisson + presence 0.5`."""
        counts = "Poisson" if self.settings.use_poisson_loss else "MSE"
        presence = f" + presence {self.settings.presence_loss_weight:g}" if self.settings.use_presence_loss else ""
        tokens = " + tokens" if self.settings.crepe_token_loss_weight else ""
        return f"{counts}{presence}{tokens}"


def ablation(
    data: Rated,
    checkpoints: Sequence[str],
    *,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
) -> list[Ablated]:
    """Measures checkpoints of any number of heads.

    Args:
        data: With total errors.
        checkpoints: Folders or Hub ids of CREPE.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
        batch_size: Pairs per forward pass.
        device: torch device.

    Raises:
        InputError: Data without total errors, or a checkpoint named twice.
        BackendError: Weights that are not there, or not CREPE's.
    """
    if TOTAL not in data.values:
        raise InputError(f"{data.name} has no total errors; name the column: --counts total_errors=COLUMN.")
    if not checkpoints or len(set(checkpoints)) < len(checkpoints):
        raise InputError("Name at least one checkpoint, each only once.")
    truth = data.mean(TOTAL)
    pairs = [pair._replace(context=Context()) for pair in data.pairs]  # CREPE knows no patient
    found = []
    for checkpoint in checkpoints:
        backend = load_crepe(checkpoint, batch_size=batch_size, device=device)
        counted = np.array([float(np.sum(reading.counts)) for reading in backend.annotate_pairs(pairs)])
        agreement = correlate(-counted, -truth, groups=data.studies, trials=trials, level=level, seed=seed)
        mae = float(np.nanmean(np.abs(counted - truth)))
        found.append(Ablated(checkpoint, backend.network.settings, encoder_of(checkpoint), agreement, mae))
    return found


def encoder_of(checkpoint: str) -> str:
    """The encoder that a run's `training_config.yaml` names; "" where there is no such file."""
    file = Path(checkpoint).expanduser() / CONFIG
    known = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None
    return str(known.get("encoder", "")) if isinstance(known, dict) else ""
