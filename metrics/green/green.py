# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""GREEN. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
A judge lists what a radiology report gets wrong against the radiologist's, clinically significant and
insignificant, in six kinds (a to f), and the findings that match. **GREEN = m / (m + s)** with m matched findings
and s significant errors, 0 where nothing matches. The number of errors itself is `green_errors` (GREEN EC or GREEN
E in papers).
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; they decide what matters.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader; no language model.
    reader: the reader; no language model.
    paper: StanfordAIMI/GREEN-radllama2-7b through transformers, asked as the authors ask it; a GPU of 16 GB or
        more, where it runs in bf16 as it is stored (the authors: fp16; replies may differ by rounding).
    small: StanfordAIMI/GREEN-RadPhi2, 2.7 billion weights, asked as `paper` is; not run here.
    multimodal: StanfordAIMI/GREEN-MM-RadLLaMA-7b, trained on reports of other modalities too, asked as `paper` is;
        not run here.
    small_multimodal: StanfordAIMI/GREEN-Gemma-2b-MM, the same at 2 billion weights; not run here.
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
    parser: tolerant: a reply that cannot be read is unscored; strict: scored as the authors' code does. One of
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
    green: GREEN; 0 to 1, higher is better.
    green_errors_significant: Significant errors; 0 to ∞, lower is better.
    green_errors: Errors; 0 to ∞, lower is better.
    green_matched_findings: Matched findings; 0 to ∞, higher is better.
    green_false_finding: A: false findings; 0 to ∞, lower is better.
    green_missing_finding: B: missing findings; 0 to ∞, lower is better.
    green_incorrect_location: C: wrong location; 0 to ∞, lower is better.
    green_incorrect_severity: D: wrong severity; 0 to ∞, lower is better.
    green_false_comparison: E: false comparisons; 0 to ∞, lower is better.
    green_missing_comparison: F: missing comparisons; 0 to ∞, lower is better.
    green_false_finding_significant: A: false findings, significant; 0 to ∞, lower is better.
    green_missing_finding_significant: B: missing findings, significant; 0 to ∞, lower is better.
    green_incorrect_location_significant: C: wrong location, significant; 0 to ∞, lower is better.
    green_incorrect_severity_significant: D: wrong severity, significant; 0 to ∞, lower is better.
    green_false_comparison_significant: E: false comparisons, significant; 0 to ∞, lower is better.
    green_missing_comparison_significant: F: missing comparisons, significant; 0 to ∞, lower is better.
    green_n_unscored, green_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> green = rrgmetrics.load("green")
    >>> results = green.compute(
    ...     predictions=["Small right pleural effusion. The lungs are clear."],
    ...     references=["Small left pleural effusion. The lungs are clear."],
    ... )
    >>> round(results["green"], 3), results["green_incorrect_location_significant"]
    (0.667, 1.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Green(evaluate.Metric):
    pass
