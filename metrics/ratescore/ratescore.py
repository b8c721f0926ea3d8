# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RaTEScore. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
RaTEScore lists the entities of either report: anatomy, abnormalities, diseases, and those that the report denies.
Each entity finds the nearest one of the other report by meaning; the cosine counts with a weight for the pair of
types, less where one is denied and the other is not. The score is the harmonic mean of both directions.
"""

_CITATION = """
@inproceedings{zhao-etal-2024-ratescore,
    title = "{R}a{TE}{S}core: A Metric for Radiology Report Generation",
    author = "Zhao, Weike and Wu, Chaoyi and Zhang, Xiaoman and Zhang, Ya and Wang, Yanfeng and Xie, Weidi",
    booktitle = "Proceedings of the 2024 Conference on Empirical Methods in Natural Language Processing",
    year = "2024",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; RaTEScore does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader and CREPE's encoder.
    paper: RaTE-NER-Deberta and BioLORD-2023-C.
    <id or path>: the Hub id or folder of a token classifier with RaTEScore's labels.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    matrix: the authors' weights of pairs of types, for long or for short. One of long (default), short.
    no_entities: a pair in which a report has no entities. f1: 1 if neither has any, else 0; published: 0.5. One of
        f1 (default), published.
    encoder: encoder of entities, a Hub id or folder; empty: the configuration's own. Default: empty.

Returns: a dict of
    ratescore: RaTEScore; 0 to 1, higher is better.
    ratescore_precision: RaTEScore precision; 0 to 1, higher is better.
    ratescore_recall: RaTEScore recall; 0 to 1, higher is better.
    ratescore_n_unscored, ratescore_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> ratescore = rrgmetrics.load("ratescore")
    >>> results = ratescore.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is fluid in the left pleural space. No pneumothorax."],
    ... )
    >>> round(results["ratescore"], 3)
    1.0
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Ratescore(evaluate.Metric):
    pass
