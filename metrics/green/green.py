# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""GREEN: matched findings against significant errors, in a judge's eyes. The metric card is README.md; the computation is rrgmetrics/scorers/green.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
GREEN: matched findings divided by matched findings and clinically significant errors, as a judge counts them in a
chest X-ray report against the radiologist's. The default judge is a deterministic reader that needs no language
model; the published GREEN-radllama2-7b, any other model or server, and recorded replies can take its place. English
chest X-ray reports only.
"""

_CITATION = """
@inproceedings{ostmeier-etal-2024-green,
    title = "{GREEN}: Generative Radiology Report Evaluation and Error Notation",
    author = "Ostmeier, Sophie and Xu, Justin and Chen, Zhihong and Varma, Maya and Blankemeier, Louis and
      Bluethgen, Christian and Michalson, Arne Edward and Moseley, Michael and Langlotz, Curtis and
      Chaudhari, Akshay S. and Delbrouck, Jean-Benoit",
    booktitle = "Findings of the Association for Computational Linguistics: EMNLP 2024",
    year = "2024",
    url = "https://aclanthology.org/2024.findings-emnlp.21",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; they decide which errors the bundled engine
        calls significant (a language model is not told).
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): of a model that runs here (hf).
    progress (bool): show a bar.

Options (in config_name, for example 'paper?parser=strict'):
    configuration: default or reader (bundled), paper (StanfordAIMI/GREEN-radllama2-7b through hf), hf:<id>,
        vllm:<id>, openai:<model>, replies:<file>, a Hub id, or a folder.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    parser: tolerant (default): a reply that cannot be read is unscored; strict: scored as the authors' code does.
    explain: yes also returns green_explained, for each pair the verdict in words; no (default).
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
    dict, each a mean a pair: green (0 to 1, higher is better); counts, 0 upwards: green_errors_significant,
    green_errors (both kinds), green_matched_findings (higher is better); by kind of error, all and significant:
    green_false_finding, green_missing_finding, green_incorrect_location, green_incorrect_severity,
    green_false_comparison, green_missing_comparison, green_false_finding_significant,
    green_missing_finding_significant, green_incorrect_location_significant, green_incorrect_severity_significant,
    green_false_comparison_significant, green_missing_comparison_significant; also green_n_unscored, green_signature.

Examples:
    >>> green = rrgmetrics.load("green")
    >>> results = green.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ...     progress=False,
    ... )
    >>> round(results["green"], 3), results["green_incorrect_location_significant"]
    (0.667, 1.0)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Green(evaluate.Metric):
    pass
