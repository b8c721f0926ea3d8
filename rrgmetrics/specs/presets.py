"""Names that stand for several metrics, wherever metrics are named."""

from __future__ import annotations

from collections.abc import Mapping

from rrgmetrics.specs.conventions import CONVENTIONS

PRESETS: Mapping[str, tuple[str, ...]] = {
    # What `rrgmetrics score` and `compare` score with if no metric is named, by the kind of report.
    "chest-xray": (
        "finding_errors",
        "crepe",
        "green",
        "radgraph_f1",
        "chexbert_f1",
        "ratescore",
        "bleu",
        "rouge",
    ),
    "chest-ct": ("finding_errors", "green", "radgraph_f1", "f1_radbert_ct", "nodule_f1", "bleu", "rouge", "meteor"),
    "brain-ct": ("finding_errors", "green", "radgraph_f1", "bleu", "rouge", "meteor"),
    "mammography": ("mammo_green", "finding_errors", "bleu", "rouge", "meteor"),
    # What RRG papers tabulate, bundled.
    "paper-table": (
        "bleu",
        "rouge",
        "meteor",
        "cider",
        "bertscore",
        "radgraph_f1",
        "chexbert_f1",
        "semb_score",
        "radcliq",
        "ratescore",
        "srr_bert_f1",
        "temporal_f1",
        "radeval_bertscore",
        "f1_radbert_ct",
    ),
    # RadEval 2.2's metrics for chest X-rays with its settings, those that ask a language model left out.
    "radeval": (
        "bleu",
        "rouge",
        "bertscore@radeval",
        "radeval_bertscore@paper",
        "chexbert_f1@paper",
        "radgraph_f1@paper?lowercase=no",
        "radcliq@paper?idf=call&text=none",
        "ratescore@paper",
        "srr_bert_f1@paper",
        "temporal_f1@paper",
    ),
    # R2Gen's wording metrics, over its cleaned MIMIC-CXR reports; METEOR differs, as its `published` says.
    "r2gen": tuple(f"{name}text=r2gen" for name in ("bleu?", "rouge?flavour=coco&", "meteor?")),
    # The metrics that the CREPE paper compares (its table 2), as its authors' helper package runs them: evaluate's BLEU
    # and ROUGE, and RadGraph (not XL), of which they take radgraph_f1_complete.
    "crepe-paper": (
        "bleu?tokenizer=13a&smoothing=none",
        "rouge?stemmer=no",
        "meteor",
        "bertscore@paper",
        "radgraph_f1@radgraph",
        "semb_score@paper",
        "ratescore@paper",
        "radcliq@paper",
        "green@paper",
        "green@paper#errors",  # GREEN EC
        "crepe@paper",
    ),
    # What the CRIMSON paper compares (its table 1), with published checkpoints: GREEN E, CRIMSON E and Weighted E are
    # keys. The paper asked GPT-5.2 (crimson@openai:...); crimson@paper is the model that its authors have trained.
    "crimson-paper": (
        "bleu",
        "rouge",
        "bertscore@paper",
        "radgraph_f1@paper",
        "green@paper",
        "green@paper#errors",
        "crimson@paper",
        "crimson@paper#errors",
        "crimson@paper#weighted_errors",
    ),
    # Tables as papers and leaderboards print them.
    **{name: convention.metrics for name, convention in CONVENTIONS.items()},
}
