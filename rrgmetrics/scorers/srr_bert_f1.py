"""F1 of SRR-BERT's labels (Delbrouck et al. 2025, ACL): 54 findings, or 24 groups of them, with or without statuses.

Headline: F1 of each label over all pairs, averaged with the number of references that have it as weight, as RadEval 2.2
reports it; micro and macro averages, precision and recall beside it. A pair's values are those of its two label sets:
F1 = 2·|R ∩ C| / (|R| + |C|), precision = |R ∩ C| / |C|, recall = |R ∩ C| / |R|; 1 if neither has a label. The F1 of
each label of the level read; with statuses its three forms are pooled.

Differs from the authors: RadEval returns the Jaccard index |R ∩ C| / |R ∪ C| of a pair under the names of its F1,
precision and recall alike; here it has a name of its own, `srr_bert_f1_jaccard`. An empty report has no label; RadEval
lets the checkpoint read a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.classifier import Classifier, load_classifier, srr_sentences
from rrgmetrics.backends.reader import ReaderBackend, reader_backend
from rrgmetrics.labels.srr import STATUSES, Level, label_names, srr_labels
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import checksum
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Runtime, explain_both
from rrgmetrics.scorers.labels import LabelScore, LabelScores, label_stats
from rrgmetrics.specs import keys_of
from rrgmetrics.specs.label_names import label_key

PUBLISHED: Mapping[tuple[Level, bool], str] = {  # level, with statuses → checkpoint
    ("leaves", True): "StanfordAIMI/SRR-BERT-Leaves-with-Statuses",
    ("leaves", False): "StanfordAIMI/SRR-BERT-Leaves",
    ("upper", True): "StanfordAIMI/SRR-BERT-Upper-with-Statuses",
    ("upper", False): "StanfordAIMI/SRR-BERT-Upper",
}
TOKENIZER = "microsoft/BiomedVLP-CXR-BERT-general"  # RadEval 2.2, srr_bert.py
SCORES = {
    "srr_bert_f1": LabelScore("weighted", per_pair=True),
    "srr_bert_f1_precision": LabelScore("weighted", "precision", per_pair=True),
    "srr_bert_f1_recall": LabelScore("weighted", "recall", per_pair=True),
    "srr_bert_f1_micro": LabelScore("micro"),
    "srr_bert_f1_macro": LabelScore("macro"),
}
JACCARD = "srr_bert_f1_jaccard"


@dataclass(frozen=True)
class SrrBertF1:
    """F1 of labels with the options of the spec."""

    config: str = "default"
    level: Level = "leaves"
    statuses: bool = False
    explain: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The labels."""
        return label_names(self.level, self.statuses)

    @property
    def reduction(self) -> LabelScores:
        """The reduction of summed labels to F1."""
        each = {
            label_key("srr_bert_f1", label): LabelScore(labels=tuple(places), one=True)
            for label, places in self._places.items()
        }
        return LabelScores(SCORES | each, len(self.names), means=(JACCARD,), keys=keys_of("srr_bert_f1"))

    @property
    def _places(self) -> Mapping[str, list[int]]:
        """The places of each label, one for each of its statuses."""
        places: dict[str, list[int]] = {}
        for index, name in enumerate(self.names):
            places.setdefault(re.sub(rf" \((?:{'|'.join(STATUSES)})\)$", "", name), []).append(index)
        return places

    def backend(self, runtime: Runtime) -> ReaderBackend | Classifier:
        """The reader, or a checkpoint."""
        if self.config == "default":
            return reader_backend(labels_sha256=checksum("srr"))
        return load_classifier(
            PUBLISHED[self.level, self.statuses] if self.config == "paper" else self.config,
            n_labels=len(self.names),
            split=srr_sentences,
            tokenizer=TOKENIZER,
            device=runtime.device,
            batch_size=runtime.batch_size,
        )

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
        statistics: None = None,
    ) -> Array:
        """Statistics of `labels.label_stats`, and the Jaccard index `(n_pairs, 3 n_labels + 1)`."""
        reference = self._table([self._vector(annotations[pair.reference]) for pair in pairs])
        candidate = self._table([self._vector(annotations[pair.candidate]) for pair in pairs])
        return np.hstack([label_stats(reference, candidate), jaccard(reference, candidate)[:, None]])

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Any],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, the labels of both reports of each pair."""
        if not self.explain:
            return {}
        return {"srr_bert_f1_explained": explain_both(pairs, lambda text: self._labels(annotations[text]))}

    def _table(self, vectors: list[Any]) -> NDArray[np.bool_]:
        """Returns which labels each report has `(n_reports, n_labels)`."""
        return np.array(vectors, dtype=np.bool_).reshape(-1, len(self.names))

    def _vector(self, annotation: Any) -> Any:
        """Returns whether a report has each label `(n_labels,)`."""
        if not isinstance(annotation, Reading):
            return annotation
        labels = srr_labels(annotation, self.level, self.statuses)
        return np.array([name in labels for name in self.names])

    def _labels(self, annotation: Any) -> list[str]:
        return [name for name, has in zip(self.names, self._vector(annotation), strict=True) if has]


def jaccard(reference: Any, candidate: Any) -> Array:
    """The shared labels among all labels of each pair `(n_pairs,)`; 1 if neither has any."""
    union = (reference | candidate).sum(axis=1)
    shared = (reference & candidate).sum(axis=1)
    return np.where(union == 0, 1.0, shared / np.maximum(union, 1))
