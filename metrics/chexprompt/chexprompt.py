# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CheXprompt. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
A judge counts what a chest X-ray report gets wrong against the radiologist's: A false finding, B missing finding, C
wrong location, D wrong severity, E false comparison, F missing comparison; clinically significant ("likely affects
treatment, management or outcomes") and not. The headline is the number of all errors; papers also report the
significant ones.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; they decide what matters.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader; no language model.
    reader: the reader; no language model.
    hf:<id>: a causal language model through transformers, on this machine; so is a bare Hub id or a folder.
    vllm:<id>: the same through vLLM (extra vllm).
    openai:<model>: any OpenAI-compatible server: vLLM, llama.cpp, Ollama, TGI, OpenAI itself (extra judges).
    replies:<file>: replies recorded with `rrgmetrics judge --record`: the same scores without the model.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    parser: tolerant: a reply that cannot be read is unscored; strict: read as the authors' code does. One of
        tolerant (default), strict.
    explain: also return each pair's verdict in words. One of no (default), yes.
    base_url: openai: address of the server, as http://127.0.0.1:8000/v1; empty: OpenAI's. Default: empty.
    api_key: openai: environment variable that holds the key. Default: OPENAI_API_KEY.
    temperature: openai, vllm: 0 takes the most probable word each time. Default: 0.0.
    top_p: openai, vllm: draw from the words that make up this share of probability. Default: 1.0.
    runs: times that each question is asked, each reply kept; scores are means of the runs. Default: 1.
    max_tokens: longest reply; 0: the protocol's own. Default: 0.
    total_tokens: hf: most tokens of question and reply together, 2048 as GREEN's authors; 0: what the model reads.
        Default: 0.
    concurrency: openai: requests at a time. Default: 16.
    timeout: openai: seconds that one request may take. Default: 300.0.
    retries: openai: further tries of a request that failed. Default: 5.
    processes: hf: processes of an `accelerate launch` that share the prompts. Default: 1.
    replicas: vllm: models side by side, each with its share of the GPUs; 0: one a GPU. Default: 0.
    cache: folder that keeps replies; no: none; empty: the user's cache folder. Default: empty.
    record: file that also gets every reply, for the engine replies:FILE. Default: empty.
    answers_as: openai: model that answers name, if not the one asked; any: every one. Default: empty.
    price_in: openai: price of a million tokens asked, for the estimate of the cost. Default: 0.0.
    price_out: openai: price of a million tokens answered. Default: 0.0.

Returns: a dict of
    chexprompt: CheXprompt errors; 0 to ∞, lower is better.
    chexprompt_significant: Significant errors; 0 to ∞, lower is better.
    chexprompt_false_finding: A: false findings; 0 to ∞, lower is better.
    chexprompt_missing_finding: B: missing findings; 0 to ∞, lower is better.
    chexprompt_incorrect_location: C: wrong location; 0 to ∞, lower is better.
    chexprompt_incorrect_severity: D: wrong severity; 0 to ∞, lower is better.
    chexprompt_false_comparison: E: false comparisons; 0 to ∞, lower is better.
    chexprompt_missing_comparison: F: missing comparisons; 0 to ∞, lower is better.
    chexprompt_false_finding_significant: A: false findings, significant; 0 to ∞, lower is better.
    chexprompt_missing_finding_significant: B: missing findings, significant; 0 to ∞, lower is better.
    chexprompt_incorrect_location_significant: C: wrong location, significant; 0 to ∞, lower is better.
    chexprompt_incorrect_severity_significant: D: wrong severity, significant; 0 to ∞, lower is better.
    chexprompt_false_comparison_significant: E: false comparisons, significant; 0 to ∞, lower is better.
    chexprompt_missing_comparison_significant: F: missing comparisons, significant; 0 to ∞, lower is better.
    chexprompt_n_unscored, chexprompt_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> chexprompt = rrgmetrics.load("chexprompt")
    >>> results = chexprompt.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ... )
    >>> results["chexprompt"], results["chexprompt_incorrect_location"]
    (1.0, 1.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Chexprompt(evaluate.Metric):
    pass
