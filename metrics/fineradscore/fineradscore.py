# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""FineRadScore: the corrections that a report needs, weighted by severity. The metric card is README.md; the computation is rrgmetrics/scorers/fineradscore.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
FineRadScore: the corrections, line by line, after which a chest X-ray report says what the radiologist's says, each
with a severity from 1 (not actionable) to 4 (emergent), as a judge makes them; the headline, our own, is the sum of
the severities. The default judge is a deterministic reader that needs no language model; any model or server, or
recorded replies, can take its place. English chest X-ray reports only.
"""

_CITATION = """
@inproceedings{huang-etal-2024-fineradscore,
    title = "{FineRadScore}: A Radiology Report Line-by-Line Evaluation Technique Generating Corrections with Severity Scores",
    author = "Huang, Alyssa and Banerjee, Oishi and Wu, Kay and Reis, Eduardo Pontes and Rajpurkar, Pranav",
    booktitle = "Machine Learning for Healthcare",
    year = "2024",
    url = "https://arxiv.org/abs/2405.20613",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; the bundled engine weighs severity by them
        (a language model is not told).
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): of a model that runs here (hf).
    progress (bool): show a bar.

Options (in config_name, for example 'openai:my-model?explain=yes'):
    configuration: default or reader (bundled), hf:<id>, vllm:<id>, openai:<model>, replies:<file>, a Hub id, or a
        folder.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    explain: yes also returns fineradscore_explained, for each pair the verdict in words; no (default).
    Of the engine that is named (the bundled one takes none):
    base_url: openai: address of the server, as http://127.0.0.1:8000/v1; empty: OpenAI's.
    api_key: openai: environment variable that holds the key.
    temperature: openai, vllm: 0 takes the most probable word each time.
    max_tokens: longest reply; 0: the protocol's own.
    concurrency: openai: requests at a time.
    timeout: openai: seconds that one request may take.
    retries: openai: further tries of a request that failed.
    processes: hf: processes of an `accelerate launch` that share the prompts.
    cache: folder that keeps replies; no: none; empty: the user's cache folder.
    record: file that also gets every reply, for the engine replies:FILE.
    price_in: openai: price of a million tokens asked, for the estimate of the cost.
    price_out: openai: price of a million tokens answered.

Returns:
    dict, each a mean a pair, 0 upwards, lower is better: fineradscore (sum of severities), fineradscore_corrections
    (number), fineradscore_max_severity (0 to 4), corrections by kind: fineradscore_false_finding,
    fineradscore_missing_finding, fineradscore_incorrect_location, fineradscore_incorrect_severity,
    fineradscore_false_comparison, fineradscore_missing_comparison; also fineradscore_n_unscored,
    fineradscore_signature.

Examples:
    >>> fineradscore = rrgmetrics.load("fineradscore")
    >>> results = fineradscore.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ...     progress=False,
    ... )
    >>> results["fineradscore"], results["fineradscore_corrections"]
    (2.0, 1.0)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Fineradscore(evaluate.Metric):
    pass
