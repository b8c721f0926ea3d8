# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""ROUGE for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/rouge.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
ROUGE-1, ROUGE-2 and ROUGE-L: F-measures of shared words, shared word pairs, and the longest common subsequence.
Equal to the rouge-score package. It measures wording, not medicine.
"""

_CITATION = """
@inproceedings{lin-2004-rouge,
    title = "{ROUGE}: A Package for Automatic Evaluation of Summaries",
    author = "Lin, Chin-Yew",
    booktitle = "Text Summarization Branches Out",
    year = "2004",
    url = "https://aclanthology.org/W04-1013",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; ROUGE does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size, device: not used by ROUGE.
    progress (bool): show a bar.

Options (in config_name, for example '?stemmer=no'):
    stemmer: yes (default) compares Porter stems of words longer than three letters; no compares words.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: rouge (ROUGE-L), rouge_1, rouge_2, rouge_l: 0 to 1, higher is better; rouge_n_unscored; rouge_signature.

Examples:
    >>> rouge = rrgmetrics.load("rouge")
    >>> results = rouge.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["rouge"], 3)
    0.8
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Rouge(evaluate.Metric):
    pass
