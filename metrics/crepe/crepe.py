# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CREPE. The metric card is README.md; the computation is rrgmetrics/scorers/crepe.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
CREPE: how many errors a radiologist would count in a chest X-ray report against the reference, predicted by a BERT with
one head for each of six kinds: false and missing findings, wrong location, wrong severity, false and missing
comparisons. The default is a small model that ships with the package; "paper" is the authors' BiomedBERT.
"""

_CITATION = """
@inproceedings{cho-2025-crepe,
    title = "{CREPE}: rapid chest {X}-ray report evaluation by predicting multi-category error counts",
    author = "Cho, Gihun and Jang, Seunghyun and Ko, Hanbin and Baek, Inhyeok and Park, Chang Min",
    booktitle = "Proceedings of the 2025 Conference on Empirical Methods in Natural Language Processing",
    year = "2025",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; not used by crepe.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int, optional): pairs a forward pass.
    device (str, optional): torch device; CUDA where there is one, else the CPU.
    progress (bool): show a bar.

Options (in config_name, for example '?explain=yes' or 'paper?precision=bf16'):
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    precision: fp32 (default), bf16, fp16.
    long: truncate (default) cuts pairs of more than 512 tokens, windows reads them in aligned parts.
    presence: yes also returns crepe_presence, each pair's probability of each kind of error; no (default).
    explain: yes also returns crepe_explained, the words that each pair's counts come from; no (default).

Returns:
    dict, each a mean number a pair, 0 upwards, lower is better: crepe (all six kinds), crepe_false_finding,
    crepe_missing_finding, crepe_incorrect_location, crepe_incorrect_severity, crepe_false_comparison,
    crepe_missing_comparison; also crepe_n_unscored, crepe_signature.
    Configurations: default, paper, a Hub id or a folder with a CREPE checkpoint.

Examples:
    >>> crepe = rrgmetrics.load("crepe")
    >>> results = crepe.compute(
    ...     predictions=["The lungs are clear.", "Small left pleural effusion."],
    ...     references=["Large right pneumothorax.", "There is a small left pleural effusion."],
    ...     per_pair=True,
    ...     progress=False,
    ... )
    >>> wrong, right = results["crepe_per_pair"]
    >>> wrong > 2 * right
    True
    >>> results["crepe_missing_finding_per_pair"][0] > 0.5
    True
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Crepe(evaluate.Metric):
    pass
