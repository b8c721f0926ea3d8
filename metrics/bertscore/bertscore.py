# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""BERTScore. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
BERTScore matches each token of one report with the most similar token of the other, by cosine of contextual
vectors: recall over the reference's tokens, precision over the candidate's, and their harmonic mean. The default
runs offline on a small encoder that ships with the package; the settings of published work are named configurations
with their own weights. A control token that decoding left in (`</s>`, `<|im_end|>`) counts as the pieces that the
encoder cuts it into.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; BERTScore does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the first layer of all-MiniLM-L6-v2, at 8 bits.
    paper: roberta-large, layer 17, as bert-score chooses for English.
    radeval: distilbert-base-uncased, layer 5, rescaled, as RadEval 2.2.
    radcliq: distilroberta-base, layer 5, rescaled, spaces squeezed, as in RadCliQ.
    <id or path>: the Hub id (an optional @revision behind it) or folder of an encoder.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    layer: hidden layer to compare; 0: the configuration's own. Default: 0.
    idf: weight of a token. no: all alike; call: inverse document frequency in this call's references; frozen: in
        the reports of idf_file. One of no (default), call, frozen.
    idf_file: text file, one report a line, for idf=frozen. Default: empty.
    rescale: rescale with bert-score's published English baseline of that model and layer. One of no (default), yes.

Returns: a dict of
    bertscore: BERTScore F1; −∞ to 1, higher is better.
    bertscore_precision: BERTScore precision; −∞ to 1, higher is better.
    bertscore_recall: BERTScore recall; −∞ to 1, higher is better.
    bertscore_n_unscored, bertscore_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> bertscore = rrgmetrics.load("bertscore")
    >>> results = bertscore.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small left pleural effusion. No pneumothorax."],
    ... )
    >>> round(results["bertscore"], 3)
    0.921
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Bertscore(evaluate.Metric):
    pass
