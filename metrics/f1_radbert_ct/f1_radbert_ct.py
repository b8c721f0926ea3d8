# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadBERT-CT F1. The metric card is README.md; the computation is rrgmetrics/scorers/f1_radbert_ct.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
F1 of the conditions that two chest CT reports name, out of the 18 of CT-RATE, and No finding. By default the reader of
chest X-ray reports finds them, which knows their words; the published setting is the classifier RadBERT-CT.
"""

_CITATION = """
@article{hamamci-2024-ct-rate,
    title = "Developing Generalist Foundation Models from a Multimodal Dataset for {3D} Computed Tomography",
    author = "Hamamci, Ibrahim Ethem and Er, Sezgin and others",
    journal = "arXiv preprint arXiv:2403.17834",
    year = "2024",
    url = "https://arxiv.org/abs/2403.17834",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; not used by f1_radbert_ct.
    per_pair (bool): also return a list of values, one a pair, for f1_radbert_ct, its precision, recall and accuracy.
    batch_size (int), device (str): reports a forward pass, and where the model runs.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?explain=yes'):
    configuration: default (the reader), paper (IAMJB/RadBERT-CT), a Hub id, or a folder.
    explain: yes also returns f1_radbert_ct_explained, for each pair the labels of both reports; no (default).
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict, each 0 to 1, higher is better: f1_radbert_ct (weighted F1; of a pair the F1 of its label sets),
    f1_radbert_ct_precision, f1_radbert_ct_recall (weighted), f1_radbert_ct_micro, f1_radbert_ct_macro,
    f1_radbert_ct_accuracy (share of pairs whose labels all agree); also f1_radbert_ct_n_unscored,
    f1_radbert_ct_signature.

Examples:
    >>> f1_radbert_ct = rrgmetrics.load("f1_radbert_ct")
    >>> results = f1_radbert_ct.compute(
    ...     predictions=["Ground-glass opacities in both lungs. Calcified coronary arteries."],
    ...     references=["Ground-glass opacities in both lungs. Small pleural effusion."],
    ...     progress=False,
    ... )
    >>> results["f1_radbert_ct"], results["f1_radbert_ct_accuracy"]
    (0.5, 0.0)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class F1RadbertCt(evaluate.Metric):
    pass
