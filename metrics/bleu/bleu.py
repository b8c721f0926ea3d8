# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""BLEU for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/bleu.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
BLEU counts the n-grams that a candidate report shares with the radiologist's report, with a penalty for short ones.
It measures wording, not medicine: negating a finding hardly changes it.
"""

_CITATION = """
@inproceedings{papineni-etal-2002-bleu,
    title = "{B}leu: a Method for Automatic Evaluation of Machine Translation",
    author = "Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing",
    booktitle = "Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics",
    year = "2002",
    doi = "10.3115/1073083.1073135",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; BLEU does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size, device: not used by BLEU.
    progress (bool): show a bar.

Options (in config_name, for example '?tokenizer=13a'):
    tokenizer: 'coco' (default) whitespace tokens, as RRG papers and RadEval report; '13a' sacrebleu's.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: bleu (BLEU-4), bleu_1, bleu_2, bleu_3: 0 to 1, higher is better; bleu_n_unscored; bleu_signature.

Examples:
    >>> bleu = rrgmetrics.load("bleu")
    >>> results = bleu.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["bleu"], 3)
    0.461
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Bleu(evaluate.Metric):
    pass
