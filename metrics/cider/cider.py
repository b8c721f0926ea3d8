# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CIDEr-D. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
CIDEr-D compares n-grams weighted by how rare they are among all references of the call, so that "right lower lobe
consolidation" counts for more than "the lungs are clear". The formula, the Gaussian length penalty (σ = 6) and the
factor 10 are those of the published code (pycocoevalcap), on whitespace tokens as given. A control token that
decoding left in (`</s>`) counts as a word, or joined to the word before it.
"""

_CITATION = """
@inproceedings{vedantam-2015-cider,
    title = "{CIDEr}: Consensus-based Image Description Evaluation",
    author = "Vedantam, Ramakrishna and Zitnick, C. Lawrence and Parikh, Devi",
    booktitle = "Proceedings of the IEEE Conference on Computer Vision and Pattern Recognition",
    year = "2015",
    doi = "10.1109/CVPR.2015.7299087",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; CIDEr-D does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the formula.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.

Returns: a dict of
    cider: CIDEr-D; 0 to 10, higher is better.
    cider_n_unscored, cider_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> cider = rrgmetrics.load("cider")
    >>> results = cider.compute(
    ...     predictions=["Small left effusion. No pneumothorax.", "Clear lungs."],
    ...     references=["Small left pleural effusion. No pneumothorax.", "The lungs are clear."],
    ... )
    >>> round(results["cider"], 3)
    2.308
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Cider(evaluate.Metric):
    pass
