# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""METEOR for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/meteor.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
METEOR aligns words by exact form, Porter stem and WordNet synonym, and scores the alignment by weighted recall and
precision with a penalty for broken order. NLTK's arithmetic; Java METEOR 1.5 gives about half the value.
"""

_CITATION = """
@inproceedings{banerjee-lavie-2005-meteor,
    title = "{METEOR}: An Automatic Metric for {MT} Evaluation with Improved Correlation with Human Judgments",
    author = "Banerjee, Satanjeev and Lavie, Alon",
    booktitle = "Proceedings of the {ACL} Workshop on Intrinsic and Extrinsic Evaluation Measures for Machine Translation and/or Summarization",
    year = "2005",
    url = "https://aclanthology.org/W05-0909",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; METEOR does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size, device: not used by METEOR.
    progress (bool): show a bar.

Options (in config_name, for example '?synonyms=no'):
    tokenizer: 'wordpunct' (default) words and runs of punctuation; 'whitespace' str.split().
    synonyms: yes (default) or no: match WordNet synonyms after exact words and stems.
    wordnet: folder of WordNet database files; default: the WordNet 3.0 that ships with rrgmetrics.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: meteor: 0 to 1, higher is better; meteor_n_unscored; meteor_signature.

Examples:
    >>> meteor = rrgmetrics.load("meteor")
    >>> results = meteor.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["meteor"], 3)
    0.747
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Meteor(evaluate.Metric):
    pass
