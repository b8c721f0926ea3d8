# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""SembScore. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
SembScore is the cosine of two vectors that say what a report means. In the paper they are CheXbert's hidden states
of [CLS], from which its 14 conditions are read; it is one of the four parts of RadCliQ. The default runs offline on
a small encoder of chest X-ray reports that ships with the package.
"""

_CITATION = """
@article{yu-2023-rexval,
    title = "Evaluating progress in automatic chest {X}-ray radiology report generation",
    author = "Yu, Feiyang and Endo, Mark and Krishnan, Rayan and Pan, Ian and Tsai, Andy and Reis, Eduardo Pontes and
      Fonseca, Eduardo Kaiser Ururahy Nunes and Lee, Henrique Min Ho and Abad, Zahra Shakeri Hossein and
      Ng, Andrew Y. and Langlotz, Curtis P. and Venugopal, Vasantha Kumar and Rajpurkar, Pranav",
    journal = "Patterns",
    year = "2023",
    url = "https://doi.org/10.1016/j.patter.2023.100802",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; SembScore does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: CREPE's encoder.
    paper: CheXbert's [CLS], chexbert.pth of StanfordAIMI/RRG_scorers.
    <id or path>: the Hub id, folder or file of CheXbert's weights.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    vectors: encoder: of the bundled encoder's tokens, or CheXbert's [CLS]; conditions: which of CheXpert's 14 a
        report has. One of encoder (default), conditions.
    long: reports of more than 512 tokens (the reader reads all). truncate: cut as the paper does; windows: read in
        overlapping parts. One of truncate (default), windows.

Returns: a dict of
    semb_score: SembScore; −1 to 1, higher is better.
    semb_score_n_unscored, semb_score_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> semb_score = rrgmetrics.load("semb_score")
    >>> results = semb_score.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ... )
    >>> round(results["semb_score"], 2)
    0.94
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class SembScore(evaluate.Metric):
    pass
