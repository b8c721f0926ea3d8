# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadEval-BERTScore. The metric card is README.md; the computation is rrgmetrics/scorers/radeval_bertscore.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
BERTScore with an encoder of radiology reports: each token of one report is matched with the most similar token of the
other. The default runs offline on a small encoder of chest X-ray findings; the published setting is RadEvalModernBERT.
"""

_CITATION = """
@inproceedings{xu-etal-2025-radeval,
    title = "{RadEval}: A framework for radiology text evaluation",
    author = "Xu, Justin and Zhang, Xi and others",
    booktitle = "Proceedings of the 2025 Conference on Empirical Methods in Natural Language Processing: System
      Demonstrations",
    year = "2025",
    url = "https://arxiv.org/abs/2509.18030",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; not used by radeval_bertscore.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): texts a forward pass, and where the model runs.
    progress (bool): show a bar.

Options (in config_name, for example 'paper' or '?layer=2'):
    configuration: default (bundled encoder of findings, layer 1), paper (IAMJB/RadEvalModernBERT, layer 22), a Hub id,
        or a folder.
    layer: hidden layer to compare; 0 (default) the configuration's own.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: radeval_bertscore (F1), radeval_bertscore_precision, radeval_bertscore_recall: at most 1, higher is better;
    radeval_bertscore_n_unscored; radeval_bertscore_signature.

Examples:
    >>> radeval_bertscore = rrgmetrics.load("radeval_bertscore")
    >>> results = radeval_bertscore.compute(
    ...     predictions=["Small left effusion.", "Right apical pneumothorax."],
    ...     references=["There is a small effusion on the left.", "There is a small effusion on the left."],
    ...     per_pair=True,
    ...     progress=False,
    ... )
    >>> same, other = results["radeval_bertscore_per_pair"]
    >>> same > other
    True
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class RadevalBertscore(evaluate.Metric):
    pass
