# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""ROUGE. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
ROUGE-1 and ROUGE-2 are F-measures of shared words and word pairs, ROUGE-L of the longest common subsequence over
the whole report. Equal to the rouge-score package, which tokenizes and stems. Of a control token that decoding left
in, its letters count as words: `<|im_end|>` is "im" and "end".
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; ROUGE does not use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the formula, with Porter's stemmer.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    flavour: google: the rouge-score package's words and F1; coco: coco-caption's white space tokens and F with beta
        1.2, which R2Gen and those after it report; it implies stemmer=no. One of google (default), coco.
    stemmer: Porter stems of words longer than three letters. One of yes (default), no.

Returns: a dict of
    rouge: ROUGE-L; 0 to 1, higher is better.
    rouge_1: ROUGE-1; 0 to 1, higher is better.
    rouge_2: ROUGE-2; 0 to 1, higher is better.
    rouge_l: ROUGE-L; 0 to 1, higher is better.
    rouge_n_unscored, rouge_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> rouge = rrgmetrics.load("rouge")
    >>> results = rouge.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ... )
    >>> round(results["rouge"], 3)
    0.8
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Rouge(evaluate.Metric):
    pass
