"""Finding F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
Which findings of the radiologist's report a candidate has (recall), and which of its own are there (precision),
weighed by what each means for the patient; and how right it is about status, location, severity, measurement,
comparison and certainty. Both reports are read into findings by a deterministic reader, and the findings are
matched; no language model is asked.
"""

_CITATION = """
@article{baharoon-2026-crimson,
    title = "{CRIMSON}: A Clinically-Grounded {LLM}-Based Metric for Generative Radiology Report Evaluation",
    author = "Baharoon, Mohammed and Heintz, Thibault and Raissi, Siavash and Alabbad, Mahmoud and Alhammad, Mona and
      AlOmaish, Hassan and Kim, Sung Eun and Banerjee, Oishi and Rajpurkar, Pranav",
    journal = "arXiv preprint arXiv:2603.06183",
    year = "2026",
    url = "https://arxiv.org/abs/2603.06183",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; they decide what matters.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
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
    explain: also return what became of each finding of each pair. One of no (default), yes.

Returns: a dict of
    finding_f1: Finding F1; 0 to 1, higher is better.
    finding_f1_precision: Precision; 0 to 1, higher is better.
    finding_f1_recall: Recall; 0 to 1, higher is better.
    finding_f1_unweighted: F1, each finding alike; 0 to 1, higher is better.
    finding_f1_unweighted_precision: Precision, each finding alike; 0 to 1, higher is better.
    finding_f1_unweighted_recall: Recall, each finding alike; 0 to 1, higher is better.
    finding_f1_specificity: Specificity of what is denied; 0 to 1, higher is better.
    finding_f1_npv: NPV of what is denied; 0 to 1, higher is better.
    finding_f1_status: Status right; 0 to 1, higher is better.
    finding_f1_certainty: Certainty right; 0 to 1, higher is better.
    finding_f1_location: Location: F1; 0 to 1, higher is better.
    finding_f1_location_precision: Location: precision; 0 to 1, higher is better.
    finding_f1_location_recall: Location: recall; 0 to 1, higher is better.
    finding_f1_severity: Severity: F1; 0 to 1, higher is better.
    finding_f1_severity_precision: Severity: precision; 0 to 1, higher is better.
    finding_f1_severity_recall: Severity: recall; 0 to 1, higher is better.
    finding_f1_measurement: Measurement: F1; 0 to 1, higher is better.
    finding_f1_measurement_precision: Measurement: precision; 0 to 1, higher is better.
    finding_f1_measurement_recall: Measurement: recall; 0 to 1, higher is better.
    finding_f1_comparison: Comparison: F1; 0 to 1, higher is better.
    finding_f1_comparison_precision: Comparison: precision; 0 to 1, higher is better.
    finding_f1_comparison_recall: Comparison: recall; 0 to 1, higher is better.
    finding_f1_n_unscored, finding_f1_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> finding_f1 = rrgmetrics.load("finding_f1")
    >>> results = finding_f1.compute(
    ...     predictions=["Large right effusion. No pneumothorax.", "Mild cardiomegaly."],
    ...     references=["Small left effusion. No pneumothorax.", "Mild cardiomegaly. Left apical pneumothorax."],
    ... )
    >>> round(results["finding_f1"], 2), results["finding_f1_precision"], results["finding_f1_recall"]
    (0.67, 1.0, 0.5)
    >>> results["finding_f1_location"], results["finding_f1_severity"], results["finding_f1_npv"]
    (0.0, 0.5, 1.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class FindingF1(evaluate.Metric):
    pass
