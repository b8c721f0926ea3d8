"""BERTScore (Zhang et al. 2020): greedy cosine matching of contextual token vectors.

P = Σ_c w_c max_r cos(c, r) / Σ_c w_c over candidate tokens, R likewise over reference tokens, F = 2PR / (P + R).
Tokens that open and close a text may be matched but weigh 0. Equal to bert-score 0.3.13 on the same weights.

Configurations: `default` the bundled encoder; `paper` bert-score's for English (roberta-large, layer 17); `radeval`
RadEval 2.2's metric (distilbert-base-uncased, layer 5, rescaled); `radcliq` the one inside RadCliQ (distilroberta-base,
layer 5, rescaled, spaces squeezed; no IDF, as in the authors' default configuration, while RadEval turns it on).

A report of more tokens than the model reads is cut, as bert-score cuts it; the signature counts the pairs with one.

Differs from the authors: where no token of a non-empty text has weight (every token in every reference), the pair is
unscored (NaN), not 0 and then rescaled to about -5.5.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.encoder import BUNDLED, Encoder, TokenVectors, load_encoder
from rrgmetrics.errors import InputError
from rrgmetrics.reports import MAX_CHARACTERS, Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, note_too_long, of_pairs, too_long
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.specs import keys_of

KEYS = keys_of("bertscore")
MODELS = {  # named configuration → checkpoint, layers; layers as in bert-score's model2layers
    "default": (BUNDLED, 1),
    "paper": ("roberta-large", 17),
    "radeval": ("distilbert-base-uncased", 5),
    "radcliq": ("distilroberta-base", 5),
}


class Idf(Frequencies):
    """The inverse document frequency of token ids over `n` texts: log((n + 1) / (df + 1))."""

    def weights(self, ids: NDArray[np.int64]) -> Array:
        """Returns the weight of each token."""
        return np.array([math.log((self.n + 1) / (self.documents[token] + 1)) for token in ids.tolist()])


class Baseline(NamedTuple):
    """The scores that bert-score measured between random sentences; rescaling maps them to 0, and 1 to 1."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Bertscore:
    """BERTScore with the options of the spec."""

    config: str = "default"
    layer: int = 0
    idf: str = "no"
    idf_file: str = ""
    rescale: bool = False

    def __post_init__(self) -> None:
        if (self.idf == "frozen") != bool(self.idf_file):
            raise InputError("bertscore: idf=frozen needs idf_file=PATH (one report a line), and only then.")
        if self.idf_file and not Path(self.idf_file).is_file():
            raise InputError(f"bertscore: idf_file {self.idf_file} does not exist.")
        if self.rescale:
            self._baseline()

    @property
    def checkpoint(self) -> str:
        """The model behind the configuration."""
        return MODELS[self.config][0] if self.config in MODELS else self.config

    @property
    def layers(self) -> int:
        """The number of layers used; 0 means all of a checkpoint that has no known best layer."""
        return self.layer or (MODELS[self.config][1] if self.config in MODELS else 0)

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> Encoder:
        """The encoder of the configuration."""
        encoder = load_encoder(self.checkpoint, layer=self.layers, device=runtime.device, batch_size=runtime.batch_size)
        if not self.idf_file:
            return encoder
        checksum = hashlib.sha256(Path(self.idf_file).read_bytes()).hexdigest()[:8]
        return replace(encoder, extra_facts={"idf_sha256": checksum})

    def reference_statistics(self, references: Iterable[str], backend: Encoder) -> Idf | None:
        """The document frequencies from this call's references or from `idf_file`, or None."""
        if self.idf == "no":
            return None
        return count_documents(_lines(self.idf_file) if self.idf == "frozen" else references, backend)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, TokenVectors],
        statistics: Frequencies | None = None,
    ) -> Array:
        """The F-measure, precision and recall of each pair, and how many reports were cut, `(n_pairs, 4)`."""
        idf = None if statistics is None else Idf(statistics.documents, statistics.n)
        scores = [greedy_match(*both, idf) for both in of_pairs(pairs, annotations)]
        stats = np.array([(f, precision, recall) for precision, recall, f in scores], dtype=np.float64).reshape(-1, 3)
        if self.rescale:
            baseline = self._baseline()
            base = np.array([baseline.f, baseline.precision, baseline.recall])
            stats = (stats - base) / (1 - base)
        return np.column_stack([stats, too_long(pairs, annotations, stats[:, 0])])

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of pairs with a report of more tokens than the model reads."""
        return note_too_long(stats)

    def _baseline(self) -> Baseline:
        baseline = find_baseline(self.checkpoint.partition("@")[0], self.layers)
        if baseline is None:
            raise InputError(
                f"bertscore: bert-score publishes no English baseline for {self.checkpoint} at layer {self.layers}; "
                "use rescale=no, or one of the configurations paper, radeval, radcliq."
            )
        return baseline


def greedy_match(reference: TokenVectors, candidate: TokenVectors, idf: Idf | None) -> tuple[float, float, float]:
    """Computes precision, recall and F of one pair; 0 if either text has only special tokens."""
    if not (reference.own.any() and candidate.own.any()):
        return 0.0, 0.0, 0.0
    similarity = candidate.vectors @ reference.vectors.T
    precision = _weighted_mean(similarity.max(axis=1), candidate, idf)
    recall = _weighted_mean(similarity.max(axis=0), reference, idf)
    total = precision + recall
    return precision, recall, min(2 * precision * recall / total, 1.0) if total else 0.0


def _weighted_mean(best: NDArray[np.float32], text: TokenVectors, idf: Idf | None) -> float:
    own = np.minimum(best[text.own].astype(np.float64), 1.0)  # 32-bit cosines of equal vectors reach 1.0000002
    if idf is None:
        return float(own.mean())
    weights = idf.weights(text.ids[text.own])
    return min(float(own @ weights / weights.sum()), 1.0) if weights.any() else math.nan


def count_documents(texts: Iterable[str], encoder: Encoder) -> Idf:
    """Counts the document frequencies of token ids; repeated texts count each time. Runs no model."""
    documents: Counter[int] = Counter()
    times = Counter(text.strip() for text in texts)
    for ids, count in zip(encoder.tokenize(list(times)), times.values(), strict=True):
        for token in set(ids):
            documents[token] += count
    return Idf(documents, times.total())


def find_baseline(model: str, layer: int) -> Baseline | None:
    """Looks up bert-score's published English baseline (precision, recall, F) of a model's layer, or None."""
    return _baselines().get((model, layer)) if layer else None


@lru_cache(maxsize=1)
def _baselines() -> Mapping[tuple[str, int], Baseline]:
    """Reads the English baselines of bert-score 0.3.13 (MIT): a row for each model and layer."""
    with (Path(__file__).parent / "bertscore_baselines.tsv").open(newline="", encoding="utf-8") as file:
        return {
            (row["model"], int(row["layer"])): Baseline(float(row["precision"]), float(row["recall"]), float(row["f"]))
            for row in csv.DictReader(file, delimiter="\t")
        }


def _lines(path: str) -> list[str]:
    try:
        texts = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"bertscore: idf_file {path} is not UTF-8 text ({error}).") from error
    if not any(text.strip() for text in texts) or max(map(len, texts)) > MAX_CHARACTERS:
        raise InputError(f"bertscore: idf_file {path} must contain at least one report, one a line.")
    return texts
