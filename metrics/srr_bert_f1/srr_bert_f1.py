# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""SRR-BERT F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
SRR-BERT's label set has 54 findings (leaves) in 24 groups (upper), and No Finding; with statuses each is present,
uncertain or absent. A report's labels are those of all its sentences together. The headline is the F1 of each label
over all pairs, averaged with the number of references that have it as weight.
"""

_CITATION = """
@inproceedings{delbrouck-etal-2025-srr,
    title = "Automated Structured Radiology Report Generation",
    author = "Delbrouck, Jean-Benoit and Xu, Justin and Moll, Johannes and others",
    booktitle = "Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics",
    year = "2025",
    url = "https://arxiv.org/abs/2505.24223",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex and indication; SRR-BERT F1 does not use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.

Configurations (config_name):
    default: the reader.
    paper: SRR-BERT's checkpoint of that level, with statuses.
    <id or path>: the Hub id or folder of such a checkpoint.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first; r2gen, r2gen_iu: R2Gen's cleaning of MIMIC-CXR and IU X-ray
        reports. One of none (default), space, lower, words, findings, impression, r2gen, r2gen_iu.
    level: leaves: 54 findings; upper: 24 groups of findings. One of leaves (default), upper.
    statuses: whether a label says present, uncertain or absent, and must agree in that too. One of no (default),
        yes.
    explain: also return the labels of both reports. One of no (default), yes.

Returns: a dict of
    srr_bert_f1: SRR-BERT F1 weighted; 0 to 1, higher is better.
    srr_bert_f1_precision: SRR-BERT precision weighted; 0 to 1, higher is better.
    srr_bert_f1_recall: SRR-BERT recall weighted; 0 to 1, higher is better.
    srr_bert_f1_micro: SRR-BERT F1 micro; 0 to 1, higher is better.
    srr_bert_f1_macro: SRR-BERT F1 macro; 0 to 1, higher is better.
    srr_bert_f1_jaccard: Mean Jaccard index; 0 to 1, higher is better.
    srr_bert_f1_n_unscored, srr_bert_f1_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> srr_bert_f1 = rrgmetrics.load("srr_bert_f1")
    >>> results = srr_bert_f1.compute(
    ...     predictions=["Small left pleural effusion. Cardiomegaly."],
    ...     references=["There is a small left pleural effusion and mild edema."],
    ...     progress=False,
    ... )
    >>> results["srr_bert_f1"], round(results["srr_bert_f1_jaccard"], 3)
    (0.5, 0.333)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class SrrBertF1(evaluate.Metric):
    pass
