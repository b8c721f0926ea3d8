# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadFact: phrases of each report that follow from the other, in a judge's eyes. The metric card is README.md; the computation is rrgmetrics/scorers/radfact.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
RadFact: share of a chest X-ray report's phrases that follow from the radiologist's report (precision), of the
radiologist's that follow from it (recall), and their F1, as a judge decides. The default judge is a deterministic
reader that needs no language model; any model or server, or recorded replies, can take its place. Its text part only,
without boxes. English chest X-ray reports only.
"""

_CITATION = """
@article{bannur-etal-2024-maira2,
    title = "{MAIRA-2}: Grounded Radiology Report Generation",
    author = "Bannur, Shruthi and Bouzid, Kenza and Castro, Daniel C. and Schwaighofer, Anton and others",
    journal = "arXiv preprint arXiv:2406.04449",
    year = "2024",
    url = "https://arxiv.org/abs/2406.04449",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; RadFact does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): of a model that runs here (hf).
    progress (bool): show a bar.

Options (in config_name, for example 'openai:my-model?explain=yes'):
    configuration: default or reader (bundled), hf:<id>, vllm:<id>, openai:<model>, replies:<file>, a Hub id, or a
        folder.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    explain: yes also returns radfact_explained, for each pair the verdict in words; no (default).
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
    dict, 0 to 1, higher is better: radfact (logical F1), radfact_precision, radfact_recall; also radfact_n_unscored,
    radfact_signature.

Examples:
    >>> radfact = rrgmetrics.load("radfact")
    >>> results = radfact.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ...     progress=False,
    ... )
    >>> results["radfact"], results["radfact_precision"]
    (0.5, 0.5)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Radfact(evaluate.Metric):
    pass
