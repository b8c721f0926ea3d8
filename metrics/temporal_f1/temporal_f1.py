# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""Temporal F1. The metric card is README.md; the computation is rrgmetrics/scorers/temporal_f1.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
F1 of what two chest X-ray reports say has changed since the previous examination: new, worse, better, stable, resolved.
The default reads statements of change with what they are said of, and knows negation; the published form compares sets
of words. Neither needs a model.
"""

_CITATION = """
@article{zhang-2024-libra,
    title = "{Libra}: Leveraging Temporal Images for Biomedical Radiology Analysis",
    author = "Zhang, Xi and Meng, Zaiqiao and Lever, Jake and Ho, Edmond S. L.",
    journal = "arXiv preprint arXiv:2411.19378",
    year = "2024",
    url = "https://arxiv.org/abs/2411.19378",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; not used by temporal_f1.
    per_pair (bool): also return a list of values, one a pair.
    batch_size, device: not used by temporal_f1.
    progress (bool): show a bar.

Options (in config_name, for example 'paper' or '?explain=yes'):
    configuration: default (form=reader) or paper (form=keywords).
    form: reader (default): statements of change of findings, as the reader understands them; keywords: the published
        form, sets of 44 words.
    explain: yes also returns temporal_f1_explained, for each pair what either report says of change; no (default).
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: temporal_f1, 0 to 1, higher is better; temporal_f1_n_unscored; temporal_f1_signature.

Examples:
    >>> temporal_f1 = rrgmetrics.load("temporal_f1")
    >>> results = temporal_f1.compute(
    ...     predictions=["Larger right effusion. No new opacity."],
    ...     references=["Increasing right effusion. The heart size is stable."],
    ...     progress=False,
    ... )
    >>> round(results["temporal_f1"], 3)
    0.667
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class TemporalF1(evaluate.Metric):
    pass
