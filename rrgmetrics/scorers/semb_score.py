"""SembScore (Smit et al. 2020; Yu et al. 2023): cosine of two vectors that say what a report means.

s = r·c / (‖r‖ ‖c‖) for the vectors r of the reference and c of the candidate, 0 if either is zero.

Configurations: `default` CREPE's encoder, mean of its token vectors (`radeval_bertscore` reads the same); `paper`
CheXbert's last hidden state of [CLS]; a folder or a file with CheXbert's weights, or another Hub id. With
`vectors=conditions` the vector has one number for each of CheXpert's 14 conditions, 1 if positive or uncertain, by the
reader or by CheXbert's heads.

Differs from the authors: an empty report has the zero vector, and so scores 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rrgmetrics.backends.chexbert import Chexbert, ConditionReading, Long
from rrgmetrics.backends.encoder import FINDINGS, FINDINGS_LAYERS, Encoder, TokenVectors, load_encoder
from rrgmetrics.backends.reader import ReaderBackend
from rrgmetrics.labels.conditions import Status
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs
from rrgmetrics.scorers.chexbert_f1 import condition_backend, is_too_long, status_table
from rrgmetrics.specs import keys_of

KEYS = keys_of("semb_score")


@dataclass(frozen=True)
class SembScore:
    """SembScore with the options of the spec."""

    config: str = "default"
    vectors: Literal["encoder", "conditions"] = "encoder"
    long: Long = "truncate"

    @property
    def reduction(self) -> Mean:
        """The mean over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> Encoder | ReaderBackend | Chexbert:
        """The bundled encoder, the reader, or CheXbert's weights."""
        if self.config == "default" and self.vectors == "encoder":
            return load_encoder(FINDINGS, layer=FINDINGS_LAYERS, device=runtime.device, batch_size=runtime.batch_size)
        return condition_backend(self.config, self.long, runtime)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
        statistics: None = None,
    ) -> Array:
        """The cosine of each pair, and how many of its reports were too long for the model, `(n_pairs, 2)`."""
        rows = [
            (
                cosine(self.vector_of(reference), self.vector_of(candidate)),
                is_too_long(reference) + is_too_long(candidate),
            )
            for reference, candidate in of_pairs(pairs, annotations)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def vector_of(self, annotation: Any) -> Array:
        """The vector of a report, of any length."""
        if isinstance(annotation, TokenVectors):
            own = annotation.vectors[annotation.own]
            return own.mean(axis=0, dtype=np.float64) if len(own) else np.zeros(annotation.vectors.shape[1])
        if self.vectors == "encoder" and isinstance(annotation, ConditionReading):
            return annotation.vector.astype(np.float64)
        return np.isin(status_table([annotation])[0], (Status.POSITIVE, Status.UNCERTAIN)).astype(np.float64)

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of reports with more tokens than the model reads; none if the reader reads them."""
        is_read = self.config == "default" and self.vectors == "conditions"
        return {} if is_read else {"too_long": str(int(np.nansum(stats[:, -1])))}


def cosine(one: Array, other: Array) -> float:
    """The cosine of two vectors; 0 if either is zero.

    Example:
        >>> cosine(np.array([1.0, 1.0]), np.array([1.0, 0.0])), cosine(np.zeros(2), np.ones(2))
        (0.7071067811865475, 0.0)
    """
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return max(-1.0, min(1.0, float(one @ other) / lengths)) if lengths else 0.0
