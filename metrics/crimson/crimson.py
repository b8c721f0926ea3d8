# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CRIMSON: findings weighted by what they mean for the patient. The metric card is README.md; the computation is rrgmetrics/scorers/crimson.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
CRIMSON: how much of what matters for this patient a chest X-ray report gets right. Findings weigh by clinical
significance in view of age and indication, matched findings earn partial credit, false ones are subtracted; 0 is the
normal template. The default judge is a deterministic reader with a rubric of its own that needs no language model; the
published medgemma-4b-it-crimson, any other model or server, and recorded replies can take its place. English only.
"""

_CITATION = """
@article{baharoon-2026-crimson,
    title = "{CRIMSON}: A Clinically-Grounded {LLM}-Based Metric for Generative Radiology Report Evaluation",
    author = "Baharoon, Mohammed and Heintz, Thibault and Raissi, Siavash and Alabbad, Mahmoud and Alhammad, Mona and
      AlOmaish, Hassan and Kim, Sung Eun and Banerjee, Oishi and Rajpurkar, Pranav",
    journal = "arXiv preprint arXiv:2603.06183",
    year = "2026",
    url = "https://arxiv.org/abs/2603.06183",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict, optional): patient's age, sex and indication; they decide how much a finding matters.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): of a model that runs here (hf).
    progress (bool): show a bar.

Options (in config_name, for example 'paper?labels=strict'):
    configuration: default or reader (bundled), paper (rajpurkarlab/medgemma-4b-it-crimson through hf), hf:<id>,
        vllm:<id>, openai:<model>, replies:<file>, a Hub id, or a folder.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    wording: how a model is asked. own (default): in our words; published: as the authors ask GPT; checkpoint: as
        medgemma-4b-it-crimson was trained (set by paper). The last two need the authors' package crimson-score.
    parser: tolerant (default): a reply that cannot be read is unscored; strict: read as the authors' code does.
    labels: published (default): an unknown label weighs 0.25; strict: such a reply is unscored.
    complete: yes counts as false or missing what a reply lists as found but puts nowhere; no (default), as published.
    explain: yes also returns crimson_explained, for each pair the verdict with its reasons in words; no (default).
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
    dict, each a mean a pair: crimson (-1 to 1, higher is better); the others 0 upwards, lower is better:
    crimson_errors (CRIMSON E), crimson_errors_significant, crimson_weighted_errors (weighted E), by kind
    crimson_false_finding, crimson_missing_finding, crimson_incorrect_location, crimson_incorrect_severity (any other
    attribute but the course), and by attribute crimson_severity, crimson_descriptor, crimson_measurement,
    crimson_certainty, crimson_unspecific, crimson_overinterpretation, crimson_temporal; also crimson_n_unscored,
    crimson_signature.

Examples:
    >>> crimson = rrgmetrics.load("crimson")
    >>> results = crimson.compute(
    ...     predictions=["Normal heart size.", "Normal heart size."],
    ...     references=["Mild cardiomegaly. Aortic atherosclerosis.", "Mild cardiomegaly. Aortic atherosclerosis."],
    ...     contexts=[{"age": 30}, {"age": 80, "indication": "Known heart failure"}],
    ...     progress=False,
    ...     per_pair=True,
    ... )
    >>> results["crimson"], results["crimson_weighted_errors_per_pair"]
    (0.0, [1.0, 0.25])
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Crimson(evaluate.Metric):
    pass
