# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadEval-BERTScore. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
BERTScore with an encoder of radiology reports: each token of one report is matched with the most similar token of
the other, by cosine of contextual vectors; recall over the reference's tokens, precision over the candidate's, and
their harmonic mean. No IDF, no rescaling.
"""

_CITATION = """
@inproceedings{xu-etal-2025-radeval,
    title = "{RadEval}: A framework for radiology text evaluation",
    author = "Xu, Justin and Zhang, Xi and others",
    booktitle = "Proceedings of the 2025 Conference on Empirical Methods in Natural Language Processing: System
      Demonstrations",
    year = "2025",
    url = "https://arxiv.org/abs/2509.18030",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; RadEval-BERTScore does
        not use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: CREPE's encoder.
    paper: IAMJB/RadEvalModernBERT, layer 22.
    <id or path>: the Hub id (an optional @revision behind it) or folder of an encoder.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    layer: hidden layer to compare; 0: the configuration's own. Default: 0.

Returns: a dict of
    radeval_bertscore: RadEval-BERTScore F1; −∞ to 1, higher is better.
    radeval_bertscore_precision: RadEval-BERTScore precision; −∞ to 1, higher is better.
    radeval_bertscore_recall: RadEval-BERTScore recall; −∞ to 1, higher is better.
    radeval_bertscore_n_unscored, radeval_bertscore_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> radeval_bertscore = rrgmetrics.load("radeval_bertscore")
    >>> results = radeval_bertscore.compute(
    ...     predictions=["Small left effusion.", "Right apical pneumothorax."],
    ...     references=["There is a small effusion on the left.", "There is a small effusion on the left."],
    ...     per_pair=True,
    ...     progress=False,
    ... )
    >>> same, other = results["radeval_bertscore_per_pair"]
    >>> same > other
    True
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class RadevalBertscore(evaluate.Metric):
    pass
