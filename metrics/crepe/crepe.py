# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CREPE. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
CREPE predicts how many errors a radiologist would count in a chest X-ray report against the reference, in six
kinds: A false finding, B missing finding, C wrong location, D wrong severity, E false comparison, F missing
comparison. A BERT reads both reports together; one head a kind gives a count, and the score is their sum. It learns
from labelled pairs what a judge or a reader would say, and then needs neither: one forward pass a pair.
"""

_CITATION = """
@inproceedings{cho-2025-crepe,
    title = "{CREPE}: rapid chest {X}-ray report evaluation by predicting multi-category error counts",
    author = "Cho, Gihun and Jang, Seunghyun and Ko, Hanbin and Baek, Inhyeok and Park, Chang Min",
    booktitle = "Proceedings of the 2025 Conference on Empirical Methods in Natural Language Processing",
    year = "2025",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; CREPE does not use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: a BERT of 4.4 million weights, trained here.
    paper: the authors' BiomedBERT, gihuncho/crepe-biomedbert.
    <id or path>: the Hub id or folder of any CREPE checkpoint.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    precision: arithmetic of the encoder. One of fp32 (default), bf16, fp16.
    long: pairs of more than 512 tokens. truncate: cut as the paper does; windows: read in aligned parts whose
        counts are added up. One of truncate (default), windows.
    presence: also return each pair's probability of each kind of error. One of no (default), yes.
    explain: also return the words that each pair's counts come from. One of no (default), yes.

Returns: a dict of
    crepe: CREPE; 0 to ∞, lower is better.
    crepe_false_finding: A: false findings; 0 to ∞, lower is better.
    crepe_missing_finding: B: missing findings; 0 to ∞, lower is better.
    crepe_incorrect_location: C: wrong location; 0 to ∞, lower is better.
    crepe_incorrect_severity: D: wrong severity; 0 to ∞, lower is better.
    crepe_false_comparison: E: false comparisons; 0 to ∞, lower is better.
    crepe_missing_comparison: F: missing comparisons; 0 to ∞, lower is better.
    crepe_unclipped: CREPE, not clipped; −∞ to ∞, lower is better.
    crepe_n_unscored, crepe_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> crepe = rrgmetrics.load("crepe")
    >>> results = crepe.compute(
    ...     predictions=["The lungs are clear.", "Small left pleural effusion."],
    ...     references=["Large right pneumothorax.", "There is a small left pleural effusion."],
    ...     per_pair=True,
    ... )
    >>> wrong, right = results["crepe_per_pair"]
    >>> wrong > 2 * right
    True
    >>> results["crepe_missing_finding_per_pair"][0] > 0.5
    True
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Crepe(evaluate.Metric):
    pass
