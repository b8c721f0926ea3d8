# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""Temporal F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
Radiologists compare: an effusion is new, larger, stable or resolved. Temporal F1 asks whether a candidate makes the
same statements of change as the reference: 2·|shared| / (|reference's| + |candidate's|).
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; Temporal F1 does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader.
    paper: the published sets of 44 words.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    form: reader: statements of change of findings, as the reader understands them; keywords: the published form,
        sets of 44 words. One of reader (default), keywords.
    explain: also return what either report says of change. One of no (default), yes.

Returns: a dict of
    temporal_f1: Temporal F1; 0 to 1, higher is better.
    temporal_f1_n_unscored, temporal_f1_signature: pairs without a score, which count nowhere; what ran.

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


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class TemporalF1(evaluate.Metric):
    pass
