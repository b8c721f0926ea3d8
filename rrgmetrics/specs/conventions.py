"""Which numbers a paper or a leaderboard prints, by its own names, and how they are computed: one preset for each.

The numbers of clinical efficacy (`...-ce`) go by the same names and differ in what an uncertain condition counts as, in
the classes, in the average, and in what is undefined. A preset scores with published weights; without `@paper` the same
names score bundled stand-ins, which compare with no published number. The presets say what the papers and their code
describe; texts, sections and weights must be the paper's too before a number can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NEGATIVE, POSITIVE = "chexbert_f1@paper?uncertain=negative", "chexbert_f1@paper"  # uncertain counts as


class Number(NamedTuple):
    """A number of a paper's table: the metric and the key that it is."""

    metric: str
    key: str


class Convention(NamedTuple):
    """How a paper or a leaderboard computes its numbers.

    Attributes:
        title: The paper.
        numbers: By the paper's own words.
        words: What is computed: which classes, what uncertain is, which average.
        source: Where that stands.
    """

    title: str
    numbers: Mapping[str, Number]
    words: str
    source: str

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that give the numbers."""
        return tuple(dict.fromkeys(number.metric for number in self.numbers.values()))


CONVENTIONS: Mapping[str, Convention] = {
    "r2gen-ce": Convention(
        "R2Gen",
        {
            "precision": Number(NEGATIVE, "chexbert_f1_macro_14_precision"),
            "recall": Number(NEGATIVE, "chexbert_f1_macro_14_recall"),
            "F1": Number(NEGATIVE, "chexbert_f1_macro_14"),
            "F1 micro": Number(NEGATIVE, "chexbert_f1"),
        },
        "14 classes with No Finding; blank and uncertain count as negative; macro F1, as scikit-learn's f1_score, "
        "and micro F1. The paper used labels of the CheXpert labeller.",
        "Chen et al. 2020, EMNLP; cuhksz-nlp/R2Gen, compute_ce.py",
    ),
    "cvt2distilgpt2-ce": Convention(
        "CvT2DistilGPT2",
        {
            "precision, example-based": Number(NEGATIVE, "chexbert_f1_example_precision"),
            "recall, example-based": Number(NEGATIVE, "chexbert_f1_example_recall"),
            "F1, example-based": Number(NEGATIVE, "chexbert_f1_example"),
            "F1, micro": Number(NEGATIVE, "chexbert_f1"),
            "F1, macro": Number(NEGATIVE, "chexbert_f1_macro_14"),
        },
        "14 classes with No Finding; only positive counts as positive; example-based, and label-based micro and macro.",
        "Nicolson et al. 2023, Artificial Intelligence in Medicine; aehrc/cvt2distilgpt2",
    ),
    "rgrg-ce": Convention(
        "RGRG",
        {
            "precision, micro-5": Number(POSITIVE, "chexbert_f1_micro_5_precision"),
            "recall, micro-5": Number(POSITIVE, "chexbert_f1_micro_5_recall"),
            "F1, micro-5": Number(POSITIVE, "chexbert_f1_micro_5"),
            "precision, example-based": Number(NEGATIVE, "chexbert_f1_example_precision"),
            "recall, example-based": Number(NEGATIVE, "chexbert_f1_example_recall"),
            "F1, example-based": Number(NEGATIVE, "chexbert_f1_example"),
        },
        "micro over 5 classes, uncertain as positive (after Miura et al. 2021); example-based over 14 classes with "
        "No Finding, uncertain as negative (after CvT2DistilGPT2), 0 where undefined.",
        "Tanida et al. 2023, CVPR; ttanida/rgrg, evaluate_language_model.py",
    ),
    "maira-ce": Convention(
        "MAIRA",
        {
            "Macro-F1-14": Number(NEGATIVE, "chexbert_f1_macro_14"),
            "Micro-F1-14": Number(NEGATIVE, "chexbert_f1"),
            "Macro-F1-5": Number(NEGATIVE, "chexbert_f1_macro_5"),
            "Micro-F1-5": Number(NEGATIVE, "chexbert_f1_micro_5"),
        },
        "14 classes with No Finding and 5 classes; uncertain counts as negative; macro and micro.",
        "Hyland et al. 2023, arXiv 2311.13668",
    ),
    "rexrank": Convention(
        "ReXrank",
        {
            "1/RadCliQ-v1": Number("radcliq@paper", "radcliq_rexrank"),
            "BLEU": Number("BLEU=radcliq@paper#bleu", "radcliq_bleu"),
            "BertScore": Number("BertScore=radcliq@paper#bertscore", "radcliq_bertscore"),
            "SembScore": Number("SembScore=radcliq@paper#semb", "radcliq_semb"),
            "RadGraph": Number("RadGraph=radcliq@paper#radgraph", "radcliq_radgraph"),
            "RaTEScore": Number("RaTEScore=ratescore@paper", "ratescore"),
            "GREEN": Number("GREEN=green@paper", "green"),
        },
        "BLEU is fast-bleu's BLEU-2. RadGraph is the mean of the F1 of entities and the F1 of relations. BertScore "
        "is distilroberta's F1, rescaled, without idf weights. Each is the mean over reports. 1/RadCliQ-v1 is 1 / "
        "the mean.",
        "rajpurkarlab/CXR-Report-Metric and ReXrank-metric; Zhang et al. 2024, arXiv 2411.15122",
    ),
    "rexrank-ce": Convention(
        "ReXrank",
        {"SembScore": Number("semb_score@paper", "semb_score")},
        "not an F1 but the cosine similarity of the CheXbert embeddings of both reports.",
        "Zhang et al. 2024, arXiv 2411.15122",
    ),
}
