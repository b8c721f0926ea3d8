# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CheXbert F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
CheXbert F1 labels each report with CheXpert's 14 conditions and compares the labels: micro F1 over all pairs and
conditions, macro and weighted F1, the same over the five conditions of CheXpert's competition, and F1 of each
condition. The default labels with a bundled reader of chest X-ray reports and runs offline; CheXbert's weights are
the configuration `paper`.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; CheXbert F1 does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader.
    paper: CheXbert, chexbert.pth of StanfordAIMI/RRG_scorers.
    <id or path>: the Hub id, folder or file of such weights.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    uncertain: what an uncertain condition counts as; ignored: not at all in that pair. One of positive (default),
        negative, ignored.
    long: reports of more than 512 tokens (the reader reads all). truncate: cut as the paper does; windows: read in
        overlapping parts. One of truncate (default), windows.
    explain: also return what both reports say of each condition. One of no (default), yes.

Returns: a dict of
    chexbert_f1: CheXbert F1 micro-14; 0 to 1, higher is better.
    chexbert_f1_precision: CheXbert precision micro-14; 0 to 1, higher is better.
    chexbert_f1_recall: CheXbert recall micro-14; 0 to 1, higher is better.
    chexbert_f1_macro_14: CheXbert F1 macro-14; 0 to 1, higher is better.
    chexbert_f1_weighted_14: CheXbert F1 weighted-14; 0 to 1, higher is better.
    chexbert_f1_micro_5: CheXbert F1 micro-5; 0 to 1, higher is better.
    chexbert_f1_macro_5: CheXbert F1 macro-5; 0 to 1, higher is better.
    chexbert_f1_weighted_5: CheXbert F1 weighted-5; 0 to 1, higher is better.
    chexbert_f1_macro_14_precision: CheXbert precision macro-14; 0 to 1, higher is better.
    chexbert_f1_macro_14_recall: CheXbert recall macro-14; 0 to 1, higher is better.
    chexbert_f1_micro_5_precision: CheXbert precision micro-5; 0 to 1, higher is better.
    chexbert_f1_micro_5_recall: CheXbert recall micro-5; 0 to 1, higher is better.
    chexbert_f1_micro_13: CheXbert F1 micro-13; 0 to 1, higher is better.
    chexbert_f1_macro_13: CheXbert F1 macro-13; 0 to 1, higher is better.
    chexbert_f1_enlarged_cardiomediastinum: Enlarged Cardiomediastinum; 0 to 1, higher is better.
    chexbert_f1_cardiomegaly: Cardiomegaly; 0 to 1, higher is better.
    chexbert_f1_lung_opacity: Lung Opacity; 0 to 1, higher is better.
    chexbert_f1_lung_lesion: Lung Lesion; 0 to 1, higher is better.
    chexbert_f1_edema: Edema; 0 to 1, higher is better.
    chexbert_f1_consolidation: Consolidation; 0 to 1, higher is better.
    chexbert_f1_pneumonia: Pneumonia; 0 to 1, higher is better.
    chexbert_f1_atelectasis: Atelectasis; 0 to 1, higher is better.
    chexbert_f1_pneumothorax: Pneumothorax; 0 to 1, higher is better.
    chexbert_f1_pleural_effusion: Pleural Effusion; 0 to 1, higher is better.
    chexbert_f1_pleural_other: Pleural Other; 0 to 1, higher is better.
    chexbert_f1_fracture: Fracture; 0 to 1, higher is better.
    chexbert_f1_support_devices: Support Devices; 0 to 1, higher is better.
    chexbert_f1_no_finding: No Finding; 0 to 1, higher is better.
    chexbert_f1_agreement_14: Labels that agree, 14; 0 to 1, higher is better.
    chexbert_f1_agreement_5: Labels that agree, 5; 0 to 1, higher is better.
    chexbert_f1_example: CheXbert F1 example-based; 0 to 1, higher is better.
    chexbert_f1_example_precision: CheXbert precision example-based; 0 to 1, higher is better.
    chexbert_f1_example_recall: CheXbert recall example-based; 0 to 1, higher is better.
    chexbert_f1_n_unscored, chexbert_f1_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> chexbert_f1 = rrgmetrics.load("chexbert_f1")
    >>> results = chexbert_f1.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax.", "No acute findings."],
    ...     references=["Left pleural effusion. Mild cardiomegaly.", "Clear lungs."],
    ...     per_pair=True,
    ... )
    >>> results["chexbert_f1"], results["chexbert_f1_cardiomegaly"], [round(f1, 3) for f1 in results["chexbert_f1_per_pair"]]
    (0.8, 0.0, [0.667, 1.0])
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class ChexbertF1(evaluate.Metric):
    pass
