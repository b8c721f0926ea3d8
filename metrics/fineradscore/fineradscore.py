# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""FineRadScore. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
A judge corrects the machine's report line by line until it says what the radiologist's says, and gives each
correction one of four severities: 1 not actionable, 2 actionable but not urgent, 3 urgent, 4 emergent. **The
headline is our own**: the sum of the severities over all corrections. The authors publish how corrections are made,
and no formula of a score.
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
    fineradscore: FineRadScore severities; 0 to ∞, lower is better.
    fineradscore_corrections: Corrections; 0 to ∞, lower is better.
    fineradscore_max_severity: Greatest severity; 0 to 4, lower is better.
    fineradscore_false_finding: A: false findings; 0 to ∞, lower is better.
    fineradscore_missing_finding: B: missing findings; 0 to ∞, lower is better.
    fineradscore_incorrect_location: C: wrong location; 0 to ∞, lower is better.
    fineradscore_incorrect_severity: D: wrong severity; 0 to ∞, lower is better.
    fineradscore_false_comparison: E: false comparisons; 0 to ∞, lower is better.
    fineradscore_missing_comparison: F: missing comparisons; 0 to ∞, lower is better.
    fineradscore_n_unscored, fineradscore_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> fineradscore = rrgmetrics.load("fineradscore")
    >>> results = fineradscore.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ... )
    >>> results["fineradscore"], results["fineradscore_corrections"]
    (2.0, 1.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Fineradscore(evaluate.Metric):
    pass
