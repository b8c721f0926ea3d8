# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""METEOR. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
METEOR aligns the words of both reports by exact form, then by Porter stem, then by WordNet synonym; recall weighs
nine times as much as precision, and words out of order are penalised. This is NLTK's arithmetic (α = 0.9, β = 3, γ
= 0.5). WordNet 3.0 ships with the package, reduced to the single words that METEOR reads: nothing is downloaded.
The pieces of a control token that decoding left in (`</s>`, `<|im_end|>`) count as words.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; METEOR does not use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: NLTK's algorithm, with the WordNet that ships.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    tokenizer: wordpunct: words and runs of punctuation; whitespace: str.split(). One of wordpunct (default),
        whitespace.
    synonyms: match WordNet synonyms after exact words and stems. One of yes (default), no.
    wordnet: folder of WordNet database files; empty: the WordNet 3.0 that ships with rrgmetrics. Default: empty.

Returns: a dict of
    meteor: METEOR; 0 to 1, higher is better.
    meteor_n_unscored, meteor_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> meteor = rrgmetrics.load("meteor")
    >>> results = meteor.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ... )
    >>> round(results["meteor"], 3)
    0.747
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Meteor(evaluate.Metric):
    pass
