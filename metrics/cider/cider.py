# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CIDEr-D for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/cider.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
CIDEr-D compares n-grams weighted by how rare they are among all references of the call, so a shared rare phrase
counts more than shared boilerplate. One pair alone has no meaning. Values are times 10, as in the published code.
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
    contexts (list of dict, optional): patient's age, sex and indication; CIDEr-D does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size, device: not used by CIDEr-D.
    progress (bool): show a bar.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: cider: 0 to 10, higher is better; cider_n_unscored; cider_signature.

Examples:
    >>> cider = rrgmetrics.load("cider")
    >>> results = cider.compute(
    ...     predictions=["Small left effusion. No pneumothorax.", "Clear lungs."],
    ...     references=["Small left pleural effusion. No pneumothorax.", "The lungs are clear."],
    ...     progress=False,
    ... )
    >>> round(results["cider"], 3)
    2.308
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Cider(evaluate.Metric):
    pass
