"""CheXbert F1 (Smit et al. 2020): do both reports have the same of CheXpert's 14 conditions?

Each report gets a status for each condition: blank, positive, negative or uncertain. What counts as having it is
positive or uncertain (as papers on report generation do), positive alone, or, with `uncertain=ignored`, positive
where neither report is uncertain. F1, precision and recall over all pairs as `rrgmetrics.scorers.labels` has them:
micro over 14 conditions (headline), macro, weighted, and the same over the five of CheXpert's competition; each
condition's own. A pair's F1 is that of the two sets of conditions, 1 if both are empty. No Finding is one of the 14;
`_13` leaves it out. Example-based F1, precision and recall are means over pairs of those of the two sets, 0 where they
are undefined (as Tanida et al. 2023 compute them): two reports without a condition score 0 there. What papers print of
all this, and with which `uncertain`: `rrgmetrics.specs.conventions`.

Configurations: `default` the reader's findings as conditions (`rrgmetrics.labels.conditions`); `paper` CheXbert's
weights (`chexbert.pth` of StanfordAIMI/RRG_scorers); a folder or a file with them, or another Hub id.

Differs from RadEval and f1chexbert: F1 per pair is F1 and not the share of labels that agree (that is
`chexbert_f1_agreement_14` and `_5`); a condition that no report has is not 0 but has no score of its own; two empty
sets agree; nothing private of scikit-learn is used, whose changes broke both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.chexbert import PUBLISHED, Chexbert, ConditionReading, Long, load_chexbert
from rrgmetrics.backends.reader import ReaderBackend, reader_backend
from rrgmetrics.labels.conditions import Status, condition_statuses, contradicted_conditions, load_conditions
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import checksum
from rrgmetrics.reading.scope import unread_spans
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Runtime, explain_both
from rrgmetrics.scorers.labels import LabelScore, LabelScores, example_scores, label_stats
from rrgmetrics.specs.label_names import label_key

Annotation = Reading | ConditionReading
Uncertain = Literal["positive", "negative", "ignored"]
NO_FINDING = "No Finding"


def label_scores() -> LabelScores:
    """The scores that the keys name."""
    conditions = load_conditions()
    five = conditions.five
    thirteen = tuple(index for index, name in enumerate(conditions.names) if name != NO_FINDING)
    scores = {
        "chexbert_f1": LabelScore(per_pair=True),
        "chexbert_f1_precision": LabelScore(measure="precision", per_pair=True),
        "chexbert_f1_recall": LabelScore(measure="recall", per_pair=True),
        "chexbert_f1_macro_14": LabelScore("macro"),
        "chexbert_f1_weighted_14": LabelScore("weighted"),
        "chexbert_f1_micro_5": LabelScore(labels=five, per_pair=True),
        "chexbert_f1_macro_5": LabelScore("macro", labels=five),
        "chexbert_f1_weighted_5": LabelScore("weighted", labels=five),
        "chexbert_f1_macro_14_precision": LabelScore("macro", "precision"),
        "chexbert_f1_macro_14_recall": LabelScore("macro", "recall"),
        "chexbert_f1_micro_5_precision": LabelScore(measure="precision", labels=five),
        "chexbert_f1_micro_5_recall": LabelScore(measure="recall", labels=five),
        "chexbert_f1_micro_13": LabelScore(labels=thirteen),
        "chexbert_f1_macro_13": LabelScore("macro", labels=thirteen),
    }
    for index, name in enumerate(conditions.names):
        scores[label_key("chexbert_f1", name)] = LabelScore(labels=(index,), one=True)
    return LabelScores(
        scores,
        len(conditions.names),
        (
            "chexbert_f1_agreement_14",
            "chexbert_f1_agreement_5",
            "chexbert_f1_example",
            "chexbert_f1_example_precision",
            "chexbert_f1_example_recall",
        ),
        unread=True,
    )


class LabelTable(NamedTuple):
    """Of each report and condition `(n_reports, 14)`: has it, is uncertain of it, both affirms and denies it."""

    has: NDArray[np.bool_]
    unsure: NDArray[np.bool_]
    contradicted: NDArray[np.bool_]


@dataclass(frozen=True)
class ChexbertF1:
    """CheXbert F1 with the options of the spec."""

    config: str = "default"
    uncertain: Uncertain = "positive"
    long: Long = "truncate"
    explain: bool = False

    @property
    def reduction(self) -> LabelScores:
        """The reduction to multi-label scores."""
        return label_scores()

    def backend(self, runtime: Runtime) -> ReaderBackend | Chexbert:
        """The reader, or CheXbert with its weights."""
        return condition_backend(self.config, self.long, runtime)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Annotation],
        statistics: None = None,
    ) -> Array:
        """The `label_stats` of 14 conditions, five means, reports too long, unread sentences."""
        sides = [[annotations[pair.reference] for pair in pairs], [annotations[pair.candidate] for pair in pairs]]
        return np.column_stack(
            [
                self.stats_of_labels(*(self.label_table(side) for side in sides))[:, :-2],
                sum(np.array([is_too_long(annotation) for annotation in side], dtype=np.float64) for side in sides),
                np.array([n_unread(*pair) for pair in zip(*sides, strict=True)], dtype=np.float64),
            ]
        )

    def label_table(self, annotations: Sequence[Annotation]) -> LabelTable:
        """Returns which conditions each report has, is uncertain of, and both affirms and denies."""
        table = status_table(annotations)
        unsure = table == Status.UNCERTAIN
        has = (table == Status.POSITIVE) | (unsure & (self.uncertain == "positive"))
        both = np.zeros_like(has)
        for row, annotation in enumerate(annotations):
            both[row, list(contradicted(annotation))] = True
        return LabelTable(has, unsure, both)

    def stats_of_labels(self, reference: LabelTable, candidate: LabelTable) -> Array:
        """The statistics of pairs as their labels give them: no report is too long, no sentence unread."""
        has = np.where(candidate.contradicted, ~reference.has, candidate.has)  # what is contradicted is wrong
        ignored = (reference.unsure | candidate.unsure) & (self.uncertain == "ignored")
        agree = (reference.has == has) | ignored
        labels = label_stats(reference.has, has, ignored)
        return np.column_stack(
            [
                labels,
                agree.mean(axis=1),
                agree[:, load_conditions().five].mean(axis=1),
                example_scores(labels),
                np.zeros((len(labels), 2)),
            ]
        )

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of reports with more tokens than CheXbert reads; empty for the reader, which reads all."""
        return {} if self.config == "default" else {"too_long": str(int(np.nansum(stats[:, -2])))}

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Annotation],
    ) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, the status of each condition that either report of a pair mentions."""
        if not self.explain:
            return {}
        return {"chexbert_f1_explained": explain_both(pairs, lambda text: _in_words(annotations[text]))}


def condition_backend(config: str, long: Long, runtime: Runtime) -> ReaderBackend | Chexbert:
    """Loads the backend that `default`, `paper`, a Hub id, a folder or a file names."""
    if config == "default":
        return reader_backend(conditions_sha256=checksum("conditions"))
    checkpoint = PUBLISHED if config == "paper" else config
    return load_chexbert(checkpoint, device=runtime.device, batch_size=runtime.batch_size, long=long)


def status_table(annotations: Sequence[Annotation]) -> NDArray[np.int8]:
    """The statuses of reports `(n_reports, 14)`."""
    rows = [one.statuses if isinstance(one, ConditionReading) else condition_statuses(one) for one in annotations]
    return np.array(rows, dtype=np.int8).reshape(-1, len(load_conditions().names))


def is_too_long(annotation: Annotation) -> bool:
    """Returns whether a report has more tokens than the model reads; the reader reads all."""
    return bool(getattr(annotation, "too_long", False))


def contradicted(annotation: Annotation) -> frozenset[int]:
    """The conditions that a report both affirms and denies, as the reader sees it."""
    return contradicted_conditions(annotation) if isinstance(annotation, Reading) else frozenset()


def n_unread(reference: Annotation, candidate: Annotation) -> int:
    """The number of a candidate's sentences that the reader did not understand, less those of the reference."""
    if not isinstance(reference, Reading) or not isinstance(candidate, Reading):
        return 0
    return len(unread_spans(reference, candidate))


def _in_words(annotation: Annotation) -> dict[str, str]:
    """Returns the status in words by condition, blank ones left out."""
    statuses = zip(load_conditions().names, status_table([annotation])[0].tolist(), strict=True)
    return {name: Status(status).name.lower() for name, status in statuses if status}
