# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CheXbert F1. The metric card is README.md; the computation is rrgmetrics/scorers/chexbert_f1.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
CheXbert F1 asks whether two chest X-ray reports have the same of CheXpert's 14 conditions: micro, macro and weighted F1
over 14 or 5 conditions, and each condition's own. The default labels reports with a bundled reader; CheXbert's
weights are a configuration.
"""

_CITATION = """
@inproceedings{smit-etal-2020-chexbert,
    title = "Combining Automatic Labelers and Expert Annotations for Accurate Radiology Report Labeling Using {BERT}",
    author = "Smit, Akshay and Jain, Saahil and Rajpurkar, Pranav and Pareek, Anuj and Ng, Andrew Y. and
      Lungren, Matthew",
    booktitle = "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing",
    year = "2020",
    url = "https://aclanthology.org/2020.emnlp-main.117",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; CheXbert F1 does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key that exists per pair.
    batch_size (int), device (str): reports a forward pass, and where CheXbert runs.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?uncertain=negative'):
    configuration: default (the reader), paper (CheXbert's weights), a folder or a file with them, or a Hub id.
    uncertain: what an uncertain condition counts as: positive (default), negative, ignored (not at all in that pair).
    long: reports of more than 512 tokens: truncate (default), windows (read in overlapping parts).
    explain: yes also returns chexbert_f1_explained, for each pair what both reports say of each condition; no (default).
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict, each 0 to 1, higher is better: chexbert_f1 (micro F1 over 14 conditions), chexbert_f1_precision,
    chexbert_f1_recall, chexbert_f1_macro_14, chexbert_f1_weighted_14, chexbert_f1_micro_5, chexbert_f1_macro_5,
    chexbert_f1_weighted_5; F1 of each condition, NaN where no report has it: chexbert_f1_enlarged_cardiomediastinum,
    chexbert_f1_cardiomegaly, chexbert_f1_lung_opacity, chexbert_f1_lung_lesion, chexbert_f1_edema,
    chexbert_f1_consolidation, chexbert_f1_pneumonia, chexbert_f1_atelectasis, chexbert_f1_pneumothorax,
    chexbert_f1_pleural_effusion, chexbert_f1_pleural_other, chexbert_f1_fracture, chexbert_f1_support_devices,
    chexbert_f1_no_finding; shares of labels that agree: chexbert_f1_agreement_14, chexbert_f1_agreement_5; also
    chexbert_f1_n_unscored, chexbert_f1_signature.

Examples:
    >>> chexbert_f1 = rrgmetrics.load("chexbert_f1")
    >>> results = chexbert_f1.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax.", "No acute findings."],
    ...     references=["Left pleural effusion. Mild cardiomegaly.", "Clear lungs."],
    ...     per_pair=True,
    ...     progress=False,
    ... )
    >>> results["chexbert_f1"], results["chexbert_f1_cardiomegaly"], [round(f1, 3) for f1 in results["chexbert_f1_per_pair"]]
    (0.8, 0.0, [0.667, 1.0])
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class ChexbertF1(evaluate.Metric):
    pass
