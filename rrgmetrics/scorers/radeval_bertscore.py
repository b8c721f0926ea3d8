"""RadEval-BERTScore (Xu et al. 2025): BERTScore with an encoder of radiology reports.

P, R and F as in `rrgmetrics.scorers.bertscore`: greedy cosine matching of token vectors, no IDF, no rescaling.

Configurations: `default` CREPE's encoder, which knows findings; `paper` IAMJB/RadEvalModernBERT, all 22 layers, as
RadEval 2.2 runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rrgmetrics.backends.encoder import FINDINGS, FINDINGS_LAYERS, Encoder, TokenVectors, load_encoder
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, note_too_long, of_pairs, too_long
from rrgmetrics.scorers.bertscore import greedy_match
from rrgmetrics.specs import keys_of

KEYS = keys_of("radeval_bertscore")
MODELS = {  # named configuration → checkpoint, layers
    "default": (FINDINGS, FINDINGS_LAYERS),
    "paper": ("IAMJB/RadEvalModernBERT", 22),
}


@dataclass(frozen=True)
class RadevalBertscore:
    """RadEval-BERTScore with the options of the spec."""

    config: str = "default"
    layer: int = 0

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> Encoder:
        """The encoder of the configuration."""
        checkpoint, layers = MODELS.get(self.config, (self.config, 0))
        return load_encoder(
            checkpoint, layer=self.layer or layers, device=runtime.device, batch_size=runtime.batch_size
        )

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, TokenVectors],
        statistics: None = None,
    ) -> Array:
        """The F-measure, precision and recall of each pair, and how many reports were cut, `(n_pairs, 4)`."""
        scores = [greedy_match(*both, None) for both in of_pairs(pairs, annotations)]
        stats = np.array([(f, precision, recall) for precision, recall, f in scores], dtype=np.float64).reshape(-1, 3)
        return np.column_stack([stats, too_long(pairs, annotations, stats[:, 0])])

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of pairs with a report of more tokens than the model reads."""
        return note_too_long(stats)
