# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CheXprompt: errors of six types, as a judge counts them. The metric card is README.md; the computation is rrgmetrics/scorers/chexprompt.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
CheXprompt: number of errors in a chest X-ray report against the radiologist's, clinically significant and not, of six
types, as a judge counts them. The default judge is a deterministic reader that needs no language model; any model or
server, or recorded replies, can take its place. English chest X-ray reports only.
"""

_CITATION = """
@article{zambranochaves-etal-2025-chexprompt,
    title = "A clinically accessible small multimodal radiology model and evaluation metric for chest {X}-ray findings",
    author = "Zambrano Chaves, Juan Manuel and Huang, Shih-Cheng and Xu, Yanbo and Xu, Hanwen and Usuyama, Naoto and
      Zhang, Sheng and others",
    journal = "Nature Communications",
    year = "2025",
    url = "https://doi.org/10.1038/s41467-025-58344-x",
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

Options (in config_name, for example 'openai:my-model?parser=strict'):
    configuration: default or reader (bundled), hf:<id>, vllm:<id>, openai:<model>, replies:<file>, a Hub id, or a
        folder.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.
    parser: tolerant (default): a reply that cannot be read is unscored; strict: read as the authors' code does.
    explain: yes also returns chexprompt_explained, for each pair the verdict in words; no (default).
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
    dict, each a mean number a pair, 0 upwards, lower is better: chexprompt (all errors), chexprompt_significant; by
    type, all and significant: chexprompt_false_finding, chexprompt_missing_finding, chexprompt_incorrect_location,
    chexprompt_incorrect_severity, chexprompt_false_comparison, chexprompt_missing_comparison,
    chexprompt_false_finding_significant, chexprompt_missing_finding_significant,
    chexprompt_incorrect_location_significant, chexprompt_incorrect_severity_significant,
    chexprompt_false_comparison_significant, chexprompt_missing_comparison_significant; also chexprompt_n_unscored,
    chexprompt_signature.

Examples:
    >>> chexprompt = rrgmetrics.load("chexprompt")
    >>> results = chexprompt.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ...     progress=False,
    ... )
    >>> results["chexprompt"], results["chexprompt_incorrect_location"]
    (1.0, 1.0)
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Chexprompt(evaluate.Metric):
    pass
