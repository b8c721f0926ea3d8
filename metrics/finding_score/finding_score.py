"""Finding score. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
How right a radiology report is, from 0 to 1, weighed by what it means for the patient. Both reports are read into
findings, the findings are matched, and each finding and each difference is graded in the patient's context in the
classes of CRIMSON. With g the weight of what is right and e the weight of what is wrong, the score is 1 − e / (e +
g + ¼).
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
    explain: also return each pair in words, and its errors with their weights. One of no (default), yes.

Returns: a dict of
    finding_score: Finding score; 0 to 1, higher is better.
    finding_score_right: Findings that both have, weighted; 0 to ∞, higher is better.
    finding_score_wrong: Errors, weighted; 0 to ∞, lower is better.
    finding_score_n_unscored, finding_score_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> finding_score = rrgmetrics.load("finding_score")
    >>> results = finding_score.compute(
    ...     predictions=["Large left pneumothorax. The right lung is clear."],
    ...     references=["Large left pneumothorax. Right upper lobe mass."],
    ... )
    >>> round(results["finding_score"], 2), results["finding_score_right"], results["finding_score_wrong"]
    (0.64, 2.0, 1.25)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class FindingScore(evaluate.Metric):
    pass
