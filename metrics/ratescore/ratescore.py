# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RaTEScore for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/ratescore.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
RaTEScore matches the entities of two reports (anatomy, abnormalities, diseases, and what is denied) by meaning, and
weighs each match by the two types. The default reads entities with the rule-based reader and compares them with an
bundled encoder; the authors' models are the configuration paper.
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
    contexts (list of dict, optional): patient's age, sex and indication; RaTEScore does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): texts a forward pass, and where the models run.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?matrix=short'):
    configuration: default (the reader and CREPE's encoder), paper (RaTE-NER-Deberta and BioLORD-2023-C), or a token
        classifier with RaTEScore's labels: a Hub id, or a folder.
    matrix: the authors' weights of pairs of types, for long (default) or short reports.
    no_entities: a pair in which a report has no entities. f1 (default): 1 if neither has any, else 0; published: 0.5.
    encoder: encoder of entities, a Hub id or folder; empty (default) the configuration's own.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: ratescore, ratescore_precision (of the candidate's entities), ratescore_recall (of the reference's): 0 to 1,
    higher is better; ratescore_n_unscored; ratescore_signature.

Examples:
    >>> ratescore = rrgmetrics.load("ratescore")
    >>> results = ratescore.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is fluid in the left pleural space. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["ratescore"], 3)
    1.0
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Ratescore(evaluate.Metric):
    pass
