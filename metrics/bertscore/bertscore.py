# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""BERTScore for radiology reports. The metric card is README.md; the computation is rrgmetrics/scorers/bertscore.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
BERTScore matches each token of one report with the most similar token of the other, by cosine of contextual vectors.
The default runs offline on a small bundled encoder; published settings are configurations with their own weights.
"""

_CITATION = """
@inproceedings{zhang-2020-bertscore,
    title = "{BERTScore}: Evaluating Text Generation with {BERT}",
    author = "Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and Artzi, Yoav",
    booktitle = "International Conference on Learning Representations",
    year = "2020",
    url = "https://openreview.net/forum?id=SkeHuCVFDr",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; BERTScore does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): texts a forward pass, and where the model runs.
    progress (bool): show a bar.

Options (in config_name, for example 'radeval?idf=call'):
    configuration: default (bundled encoder), paper (roberta-large, layer 17), radeval (distilbert-base-uncased,
        layer 5, rescaled), radcliq (distilroberta-base, layer 5, rescaled), a Hub id, or a folder.
    layer: hidden layer to compare; 0 (default) the configuration's own.
    idf: no (default), call (document frequencies of this call's references), frozen (of the reports in idf_file).
    idf_file: text file, one report a line.
    rescale: no (default) or yes: with bert-score's published English baseline.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: bertscore (F1), bertscore_precision, bertscore_recall: at most 1, higher is better; bertscore_n_unscored;
    bertscore_signature.

Examples:
    >>> bertscore = rrgmetrics.load("bertscore")
    >>> results = bertscore.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["bertscore"], 3)
    0.921
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Bertscore(evaluate.Metric):
    pass
