# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""SRR-BERT F1. The metric card is README.md; the computation is rrgmetrics/scorers/srr_bert_f1.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
F1 of the findings that two chest X-ray reports name, out of SRR-BERT's 54 (or 24 groups of them), with or without their
status: present, uncertain, absent. By default the reader finds them; the published settings are SRR-BERT's checkpoints.
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
    contexts (list of dict, optional): patient's age, sex and indication; not used by srr_bert_f1.
    per_pair (bool): also return a list of values, one a pair, for srr_bert_f1, its precision, recall and the Jaccard index.
    batch_size (int), device (str): sentences a forward pass, and where the model runs.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?level=upper'):
    configuration: default (the reader), paper (SRR-BERT's checkpoint of that level, with statuses), a Hub id, or a folder.
    level: leaves (default): 54 findings; upper: 24 groups of findings.
    statuses: no (default) or yes: a label says present, uncertain or absent, and must agree in that too.
    explain: yes also returns srr_bert_f1_explained, for each pair the labels of both reports; no (default).
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict, each 0 to 1, higher is better: srr_bert_f1 (weighted F1; of a pair the F1 of its label sets),
    srr_bert_f1_precision, srr_bert_f1_recall (weighted), srr_bert_f1_micro, srr_bert_f1_macro,
    srr_bert_f1_jaccard (mean over pairs); also srr_bert_f1_n_unscored, srr_bert_f1_signature.

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
