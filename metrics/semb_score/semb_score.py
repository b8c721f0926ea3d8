# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""SembScore. The metric card is README.md; the computation is rrgmetrics/scorers/semb_score.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
SembScore is the cosine of two vectors that say what a chest X-ray report means: CheXbert's [CLS] in the paper, the mean
token vector of a small bundled encoder by default, or a vector of CheXpert's 14 conditions.
"""

_CITATION = """
@article{yu-2023-rexval,
    title = "Evaluating progress in automatic chest {X}-ray radiology report generation",
    author = "Yu, Feiyang and Endo, Mark and Krishnan, Rayan and Pan, Ian and Tsai, Andy and Reis, Eduardo Pontes and
      Fonseca, Eduardo Kaiser Ururahy Nunes and Lee, Henrique Min Ho and Abad, Zahra Shakeri Hossein and
      Ng, Andrew Y. and Langlotz, Curtis P. and Venugopal, Vasantha Kumar and Rajpurkar, Pranav",
    journal = "Patterns",
    year = "2023",
    url = "https://doi.org/10.1016/j.patter.2023.100802",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; SembScore does not use them.
    per_pair (bool): also return a list of values, one a pair.
    batch_size (int), device (str): reports a forward pass, and where the model runs.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?long=windows'):
    configuration: default (the bundled encoder), paper (CheXbert's weights), a folder or a file with them, or a Hub id.
    vectors: encoder (default): the encoder's token vectors, or CheXbert's [CLS]; conditions: which of CheXpert's 14
        conditions a report has, by the reader or by CheXbert.
    long: reports of more than 512 tokens, for CheXbert: truncate (default), windows (read in overlapping parts).
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: semb_score (-1 to 1, higher is better), semb_score_n_unscored, semb_score_signature.

Examples:
    >>> semb_score = rrgmetrics.load("semb_score")
    >>> results = semb_score.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["semb_score"], 2)
    0.94
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class SembScore(evaluate.Metric):
    pass
