# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""BLEU. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
BLEU counts the n-grams (runs of one to four words) of a machine's report that also stand in the radiologist's
report, and lowers the score of reports that are shorter. Radiology papers mostly report BLEU-1 to BLEU-4 in the
arithmetic of coco-caption on whitespace tokens; sacrebleu's arithmetic gives other numbers for the same texts. Both
are here, and the signature says which ran. A control token that decoding left in (`</s>`, `<|im_end|>`) counts as a
word, or joined to the word before it.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; BLEU does not use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: COCO's arithmetic.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    tokenizer: coco: whitespace tokens and the COCO caption arithmetic that RRG papers and RadEval report; 13a:
        sacrebleu's tokens and smoothing. One of coco (default), 13a.
    smoothing: where no n-gram of an order matches. coco: coco-caption's constants (coco's tokens imply it); exp:
        halved again and again, as sacrebleu (13a implies it); none: BLEU is 0, as evaluate's own bleu. One of coco
        (default), exp, none.

Returns: a dict of
    bleu: BLEU-4; 0 to 1, higher is better.
    bleu_1: BLEU-1; 0 to 1, higher is better.
    bleu_2: BLEU-2; 0 to 1, higher is better.
    bleu_3: BLEU-3; 0 to 1, higher is better.
    bleu_n_unscored, bleu_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> bleu = rrgmetrics.load("bleu")
    >>> results = bleu.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ... )
    >>> round(results["bleu"], 3)
    0.461
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Bleu(evaluate.Metric):
    pass
