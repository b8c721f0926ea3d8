# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""Finding errors. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
Counts the errors of a radiology report against the radiologist's, by kind: A false finding, B missing finding, C
wrong location, D wrong severity, E false comparison, F missing comparison (the categories of ReXVal and CREPE).
Both reports are read into findings by a deterministic reader whose knowledge is a set of YAML files that a
radiologist can correct; the findings are matched, and what is left or differs is an error. Every error comes with
one plain sentence and the words it rests on in either report.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; they decide what matters.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: a rule-based reader.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    modality: what reports are read as: chest_xray, chest_ct, mammography, brain_ct (the latter two are
        experimental), a pack of your own; auto: what each reference is. Default: auto.
    policy: which errors are significant: those that could change what is done, or all but benign ones. One of
        management (default), report.
    explain: also return each pair's errors in words, with the spans of both texts. One of no (default), yes.

Returns: a dict of
    finding_errors: Finding errors; 0 to ∞, lower is better.
    finding_errors_significant: Significant errors; 0 to ∞, lower is better.
    finding_errors_false_finding: A: false findings; 0 to ∞, lower is better.
    finding_errors_missing_finding: B: missing findings; 0 to ∞, lower is better.
    finding_errors_incorrect_location: C: wrong location; 0 to ∞, lower is better.
    finding_errors_incorrect_severity: D: wrong severity; 0 to ∞, lower is better.
    finding_errors_false_comparison: E: false comparisons; 0 to ∞, lower is better.
    finding_errors_missing_comparison: F: missing comparisons; 0 to ∞, lower is better.
    finding_errors_n_unscored, finding_errors_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> finding_errors = rrgmetrics.load("finding_errors")
    >>> results = finding_errors.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small right pleural effusion. Mild cardiomegaly."],
    ... )
    >>> results["finding_errors"], results["finding_errors_missing_finding"], results["finding_errors_incorrect_location"]
    (2.0, 1.0, 1.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class FindingErrors(evaluate.Metric):
    pass
