"""F1 of RadBERT-CT's conditions: 18 findings of chest CT reports, and No finding (Hamamci et al. 2024; RadEval).

Headline: F1 of each of the 19 labels over all pairs, averaged with the number of references that have it as weight;
micro and macro averages, precision and recall, the F1 of each label, and the share of pairs whose 19 labels all agree.
A pair's F1 is that of its two label sets. No finding is the label of a report that has none of the 18.

Differs from the authors: an empty report has no label at all; theirs is No finding, so that saying nothing scores 1
against every normal reference. RadEval's only value of a pair is whether all labels agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.classifier import Classifier, load_classifier
from rrgmetrics.backends.reader import ReaderBackend, reader_backend
from rrgmetrics.errors import InputError
from rrgmetrics.labels.ct import ct_checksum, ct_conditions, load_ct
from rrgmetrics.reading import Reading
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Runtime, explain_both
from rrgmetrics.scorers.labels import LabelScore, LabelScores, label_stats
from rrgmetrics.specs import keys_of
from rrgmetrics.specs.label_names import label_key

PUBLISHED = "IAMJB/RadBERT-CT"
NO_FINDING = "No finding"
SCORES = {
    "f1_radbert_ct": LabelScore("weighted", per_pair=True),
    "f1_radbert_ct_precision": LabelScore("weighted", "precision", per_pair=True),
    "f1_radbert_ct_recall": LabelScore("weighted", "recall", per_pair=True),
    "f1_radbert_ct_micro": LabelScore("micro"),
    "f1_radbert_ct_macro": LabelScore("macro"),
}
ACCURACY = "f1_radbert_ct_accuracy"
DEFAULT_THRESHOLD = 0.5  # RadEval 2.2, f1Radbert_ct.py


@dataclass(frozen=True)
class F1RadbertCt:
    """F1 of conditions with the options of the spec."""

    config: str = "default"
    threshold: float = DEFAULT_THRESHOLD
    explain: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise InputError(f"f1_radbert_ct: threshold={self.threshold:g}; a probability must be between 0 and 1.")
        if self.config == "default" and self.threshold != DEFAULT_THRESHOLD:
            raise InputError(
                f"f1_radbert_ct: threshold={self.threshold:g} applies to a checkpoint's probabilities, and the "
                f"reader has none; write f1_radbert_ct@paper?threshold={self.threshold:g}."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The labels."""
        return (*load_ct()[0], NO_FINDING)

    @property
    def reduction(self) -> LabelScores:
        """The reduction of summed labels to F1."""
        each = {
            label_key("f1_radbert_ct", name): LabelScore(labels=(i,), one=True) for i, name in enumerate(self.names)
        }
        return LabelScores(SCORES | each, len(self.names), means=(ACCURACY,), keys=keys_of("f1_radbert_ct"))

    def backend(self, runtime: Runtime) -> ReaderBackend | Classifier:
        """The reader, or a checkpoint."""
        if self.config == "default":
            return reader_backend(labels_sha256=ct_checksum())
        return load_classifier(
            PUBLISHED if self.config == "paper" else self.config,
            n_labels=len(self.names) - 1,
            device=runtime.device,
            batch_size=runtime.batch_size,
            threshold=self.threshold,
        )

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
        statistics: None = None,
    ) -> Array:
        """Statistics of `labels.label_stats`, and whether all labels agree `(n_pairs, 3 n_labels + 1)`."""
        reference = self._table([self._vector(pair.reference, annotations[pair.reference]) for pair in pairs])
        candidate = self._table([self._vector(pair.candidate, annotations[pair.candidate]) for pair in pairs])
        return np.hstack([label_stats(reference, candidate), (reference == candidate).all(axis=1, keepdims=True)])

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, the labels of both reports of each pair."""
        if not self.explain:
            return {}
        labels = explain_both(pairs, lambda text: self._labels(text, annotations[text]))
        return {"f1_radbert_ct_explained": labels}

    def _table(self, vectors: list[Any]) -> NDArray[np.bool_]:
        """Returns which labels each report has `(n_reports, n_labels)`."""
        return np.array(vectors, dtype=np.bool_).reshape(-1, len(self.names))

    def _vector(self, text: str, annotation: Any) -> Any:
        """Returns whether a report has each label `(n_labels,)`."""
        if isinstance(annotation, Reading):
            conditions = ct_conditions(annotation)
            annotation = np.array([name in conditions for name in self.names[:-1]])
        return np.append(annotation, bool(text.strip()) and not annotation.any())

    def _labels(self, text: str, annotation: Any) -> list[str]:
        return [name for name, has in zip(self.names, self._vector(text, annotation), strict=True) if has]
