# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""Errors by kind. The metric card is README.md; the computation is rrgmetrics/scorers/finding_errors.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
Number of errors in a chest X-ray report against the radiologist's: false and missing findings, wrong location, wrong
severity, false and missing comparisons; in all, clinically significant, and by kind. A deterministic reader finds them
and can show the words each rests on. English chest X-ray reports only.
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
    contexts (list of dict, optional): patient's age, sex and indication; they decide which errors are significant.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size, device: not used by finding_errors.
    progress (bool): show a bar.

Options (in config_name, for example '?text=findings'):
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    explain: yes also returns finding_errors_explained, for each pair a list of its errors: category, sentence,
        whether it is significant, spans of both texts; no (default).

Returns:
    dict, each a mean number a pair, 0 upwards, lower is better: finding_errors (all kinds),
    finding_errors_significant, finding_errors_false_finding, finding_errors_missing_finding,
    finding_errors_incorrect_location, finding_errors_incorrect_severity, finding_errors_false_comparison,
    finding_errors_missing_comparison; also finding_errors_n_unscored, finding_errors_signature.
    The default configuration is the only one.

Examples:
    >>> finding_errors = rrgmetrics.load("finding_errors")
    >>> results = finding_errors.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small right pleural effusion. Mild cardiomegaly."],
    ...     progress=False,
    ... )
    >>> results["finding_errors"], results["finding_errors_missing_finding"], results["finding_errors_incorrect_location"]
    (2.0, 1.0, 1.0)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class FindingErrors(evaluate.Metric):
    pass
