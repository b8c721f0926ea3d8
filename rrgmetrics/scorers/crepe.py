"""CREPE (Cho et al. 2025, EMNLP): the number of errors that a radiologist would count in a report, predicted by a BERT.

For (reference, candidate) the network gives n̂_c for six categories: A false finding, B missing finding, C incorrect
location, D incorrect severity, E false comparison, F missing comparison. CREPE = Σ_c max(0, n̂_c); lower is better.
The paper's equation 8 is Σ_c n̂_c, without the 0 that the authors' package sets in the place of negative counts: it is
the key `crepe#unclipped`, of the network alone, with nothing that is counted beside it.

Configurations: `default` the bundled checkpoint, trained here on generated reports; `paper` the authors'
(gihuncho/crepe-biomedbert); a Hub id with an optional `@revision`, or a folder.

Differs from the authors: a head that gives no number makes the pair unscored (NaN), not free of errors. Pairs of more
than 512 tokens are cut as theirs are, but the signature counts them; `long=windows` reads them whole.

The bundled checkpoint reads only the sentences that affirm a finding, each once: normal statements and repetition
change nothing. Of a finding that several sentences tell of, each kind of error counts in the one where it is largest;
two texts that affirm the same word for word are free of errors. What it was not trained to see is counted beside it
(`rrgmetrics.comparing.penalties`): a sentence that nobody can read, a contradiction, a hedge about nothing; what is
left out of a finding, as far as the network does not see it (`rrgmetrics.comparing.omissions`); and a
candidate that says nothing misses at least one finding a sentence of the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rrgmetrics.backends.crepe import BUNDLED, PUBLISHED, CrepeBackend, CrepeReading, Long, WordAttribution, load_crepe
from rrgmetrics.backends.crepe.network import Precision
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import BackendError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime
from rrgmetrics.specs import keys_of
from rrgmetrics.utils.text_format import counted

CATEGORIES = tuple(category.value for category in ErrorCategory)
KEYS = keys_of("crepe")
MODELS = {"default": BUNDLED, "paper": PUBLISHED}  # the authors name no revision


@dataclass(frozen=True)
class Crepe:
    """CREPE with the options of the spec."""

    config: str = "default"
    precision: Precision = "fp32"
    long: Long = "truncate"
    presence: bool = False
    explain: bool = False

    @property
    def reduction(self) -> Mean:
        """The mean number of errors of a pair."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> CrepeBackend:
        """The checkpoint; it must have the six categories."""
        backend = load_crepe(
            MODELS.get(self.config, self.config),
            device=runtime.device,
            batch_size=runtime.batch_size,
            precision=self.precision,
            long=self.long,
            explain=self.explain,
        )
        n_heads = backend.network.settings.num_error_categories
        if n_heads != len(CATEGORIES):
            raise BackendError(
                f"{backend.network.identity} has {counted(n_heads, 'count head')}; crepe needs the six of "
                "A to F. Checkpoints with fewer are for ablations."
            )
        return backend

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[Pair, CrepeReading],
        statistics: None = None,
    ) -> Array:
        """The values in the order of `KEYS`, then 1 if the pair was too long for the model, `(n_pairs, 9)`."""
        readings = [annotations[pair] for pair in pairs]
        counts = np.array([reading.counts for reading in readings], dtype=np.float64).reshape(-1, len(CATEGORIES))
        too_long = np.array([reading.too_long for reading in readings], dtype=np.float64)
        unclipped = np.array([reading.unclipped for reading in readings], dtype=np.float64)
        too_long[np.isnan(counts).any(axis=1)] = np.nan  # an unscored row is NaN throughout
        return np.column_stack([counts.sum(axis=1), counts, unclipped, too_long])

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of pairs with more tokens than the model reads."""
        return {"too_long": str(int(np.nansum(stats[:, -1])))}

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[Pair, CrepeReading],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns the probability of each category with `presence`, the attributions of the counts with `explain`."""
        readings = [annotations[pair] for pair in pairs]
        details: dict[str, Sequence[Any]] = {}
        if self.presence:
            details["crepe_presence"] = [
                dict(zip(CATEGORIES, reading.presence.tolist(), strict=True)) for reading in readings
            ]
        if self.explain:
            details["crepe_explained"] = [[_to_dict(word) for word in reading.words] for reading in readings]
        return details


def _to_dict(word: WordAttribution) -> dict[str, object]:
    """A word's share as JSON has it; characters of the (normalised) text."""
    return {**word._asdict(), "category": CATEGORIES[word.category]}
