# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadFact. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
Both reports are split into phrases, each of which states one finding, present or absent. A judge then decides for
each phrase whether it follows from the other report. Logical precision is the share of the candidate's phrases that
do, recall that of the reference's, and the headline is their F1. The spatial and grounding scores of RadFact need
boxes in the image, which reports here do not have; their arithmetic is in `rrgmetrics.scorers.radfact.scores`.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; RadFact does not use
        them.
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
    modality: what reports are read as: chest_xray, chest_ct, mammography, brain_ct (the latter two are
        experimental), a pack of your own; auto: what each reference is. Default: auto.
    negatives: drop: without phrases that say that something is absent or normal, which is RadFact+. One of keep
        (default), drop.
    parser: strict: reads replies as RadEval's radfact_ct does. One of tolerant (default), strict.
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
    radfact: RadFact F1; 0 to 1, higher is better.
    radfact_precision: RadFact precision; 0 to 1, higher is better.
    radfact_recall: RadFact recall; 0 to 1, higher is better.
    radfact_n_unscored, radfact_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> radfact = rrgmetrics.load("radfact")
    >>> results = radfact.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ... )
    >>> results["radfact"], results["radfact_precision"]
    (0.5, 0.5)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Radfact(evaluate.Metric):
    pass
