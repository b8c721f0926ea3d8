# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadCliQ. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
RadCliQ is the number of errors that a linear model expects a radiologist to count, from four metrics of the pair:
RadGraph F1 (the mean of entities and relations), BERTScore, SembScore and BLEU-2. **Lower is better**; a perfect
report lies below 0.
"""

_CITATION = """
@article{yu-2023-rexval,
    title = "Evaluating progress in automatic chest X-ray radiology report generation",
    author = "Yu, Feiyang and Endo, Mark and Krishnan, Rayan and Pan, Ian and Tsai, Andy and Reis, Eduardo Pontes and
        Fonseca, Eduardo Kaiser Ururahy Nunes and Lee, Henrique Min Ho and Abad, Zahra Shakeri Hossein and Ng, Andrew Y.
        and Langlotz, Curtis P. and Venugopal, Vasantha Kumar and Rajpurkar, Pranav",
    journal = "Patterns",
    volume = "4",
    number = "9",
    year = "2023",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; RadCliQ does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the four metrics as they are bundled, in the unit of the authors'.
    paper: RadGraph with case, distilroberta-base at layer 5 rescaled, CheXbert; spaces squeezed.
    yu2022: RadGraph with case and BLEU-2 under the coefficients that the paper prints: a number of errors.
    <id or path>: a file of coefficients that `rrgmetrics radcliq fit` wrote.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    coefficients: v1, v0, yu2022 (the paper's two metrics), or a file that `rrgmetrics radcliq fit` wrote. Default:
        v1.
    idf: weight of a token in BERTScore. no: all alike, as the authors; call: inverse document frequency in this
        call's references, as RadEval; frozen: in the reports of idf_file. One of no (default), call, frozen.
    idf_file: text file, one report a line, for idf=frozen. Default: empty.

Returns: a dict of
    radcliq: RadCliQ; −∞ to ∞, lower is better.
    radcliq_rexrank: 1 / mean RadCliQ; −∞ to ∞, higher is better.
    radcliq_radgraph: RadGraph F1 in it; 0 to 1, higher is better.
    radcliq_bertscore: BERTScore in it; −∞ to 1, higher is better.
    radcliq_semb: SembScore in it; −1 to 1, higher is better.
    radcliq_bleu: BLEU-2 in it; 0 to 1, higher is better.
    radcliq_n_unscored, radcliq_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> radcliq = rrgmetrics.load("radcliq")
    >>> results = radcliq.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ... )
    >>> "calibrated:no" in results["radcliq_signature"]
    True
    >>> results = radcliq.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax.", "Clear lungs."],
    ...     references=["There is a small left pleural effusion. No pneumothorax.", "Right apical mass."],
    ...     per_pair=True,
    ... )
    >>> results["radcliq_per_pair"][0] < results["radcliq_per_pair"][1]
    True
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Radcliq(evaluate.Metric):
    pass
