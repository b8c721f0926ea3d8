# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadCliQ for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/radcliq.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
RadCliQ is the number of errors that a linear model of four metrics (RadGraph F1, BERTScore, SembScore, BLEU-2) expects
a radiologist to count; lower is better. The default computes these with bundled models, on which the published
coefficients were not fitted; paper computes the authors' own; a file of refitted coefficients serves too.
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
    contexts (list of dict, optional): patient's age, sex and indication; RadCliQ does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key but radcliq_rexrank.
    batch_size (int), device (str): texts a forward pass, and where the models run.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?coefficients=v0'):
    configuration: default (bundled metrics), paper (RadGraph, distilroberta-base, CheXbert), or a file of coefficients
        that `rrgmetrics radcliq fit` wrote.
    coefficients: v1 (default), v0, or such a file.
    idf: weight of a token in BERTScore: no (default, as the authors), call (inverse document frequency in this call's
        references, as RadEval), frozen (in the reports of idf_file).
    idf_file: text file, one report a line.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: radcliq (mean expected errors, lower is better; below 0 for near-identical reports), radcliq_rexrank (1 / that
    mean, as ReXrank prints), radcliq_radgraph, radcliq_bertscore, radcliq_semb, radcliq_bleu (the four metrics, higher
    is better); radcliq_n_unscored; radcliq_signature.

Examples:
    >>> radcliq = rrgmetrics.load("radcliq")
    >>> results = radcliq.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax.", "Clear lungs."],
    ...     references=["There is a small left pleural effusion. No pneumothorax.", "Right apical mass."],
    ...     per_pair=True,
    ...     progress=False,
    ... )
    >>> results["radcliq_per_pair"][0] < results["radcliq_per_pair"][1]
    True
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Radcliq(evaluate.Metric):
    pass
