# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""CRIMSON. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
Every abnormal finding of a radiology report weighs what it means for this patient, in view of age and indication:
urgent 1, actionable 0.5, not actionable 0.25, expected or benign 0. With W the weight of the reference's findings,
F that of false ones, and w² / (w + Σe) the credit of a matched finding whose attributes are wrong (e is 0.5 for a
difference that could change treatment, else 0): **S = (Σ credit − F) / W**; CRIMSON is S, and where false findings
outweigh what is right −A / (1 + A) with A = F − Σ credit. 1 is perfect, 0 the normal template, below 0 a report
that misleads more than it tells. Normal statements do not count; a missed finding costs its part of W.
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
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; they decide what matters.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader; no language model.
    reader: the reader; no language model.
    paper: rajpurkarlab/medgemma-4b-it-crimson through transformers, asked as it was trained, in bf16, and decoded
        as its generation_config.json says if it has one, as the authors do (where that samples, the seeds are made
        of the prompts: a run gives the same again); a GPU of 12 GB or more, and `pip install 'rrgmetrics[crimson]'`
        for the authors' question.
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
    wording: how a model is asked. own: in our words; published: as the authors ask GPT; checkpoint: as
        medgemma-4b-it-crimson was trained; the last two need rrgmetrics[crimson]. One of own (default), published,
        checkpoint.
    patient: how the question gives the age. years: Age: 72; dicom: Age: 072Y, or as DICOM has it, as the authors
        ask on RadPref; keys: age: 25, as they ask on RadJudge. One of years (default), dicom, keys.
    parser: tolerant: a reply that cannot be read is unscored; strict: read as the authors' code does. One of
        tolerant (default), strict.
    labels: published: an unknown label weighs 0.25, an unknown id 0; strict: such a reply is unscored. One of
        published (default), strict.
    attributes: entries: an attribute error weighs once, whatever it names, as in the authors' code; kinds: once for
        each kind that it names, as in the paper. One of entries (default), kinds.
    complete: count as false or missing what a reply lists as found but puts nowhere. One of no (default), yes.
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
    crimson: CRIMSON; −1 to 1, higher is better.
    crimson_errors: Errors; 0 to ∞, lower is better.
    crimson_errors_significant: Significant errors; 0 to ∞, lower is better.
    crimson_weighted_errors: Weighted errors; 0 to ∞, lower is better.
    crimson_false_finding: A: false findings; 0 to ∞, lower is better.
    crimson_missing_finding: B: missing findings; 0 to ∞, lower is better.
    crimson_incorrect_location: C: wrong location; 0 to ∞, lower is better.
    crimson_incorrect_severity: D: wrong in another attribute; 0 to ∞, lower is better.
    crimson_severity: Wrong severity; 0 to ∞, lower is better.
    crimson_descriptor: Wrong description; 0 to ∞, lower is better.
    crimson_measurement: Wrong measurement; 0 to ∞, lower is better.
    crimson_certainty: Wrong certainty; 0 to ∞, lower is better.
    crimson_unspecific: Too vague; 0 to ∞, lower is better.
    crimson_overinterpretation: Overinterpreted; 0 to ∞, lower is better.
    crimson_temporal: E, F: wrong course; 0 to ∞, lower is better.
    crimson_n_unscored, crimson_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> crimson = rrgmetrics.load("crimson")
    >>> results = crimson.compute(
    ...     predictions=["Normal heart size.", "Normal heart size."],
    ...     references=["Mild cardiomegaly. Aortic atherosclerosis.", "Mild cardiomegaly. Aortic atherosclerosis."],
    ...     contexts=[{"age": 30}, {"age": 80, "indication": "Known heart failure"}],
    ...     per_pair=True,
    ... )
    >>> results["crimson"], results["crimson_weighted_errors_per_pair"]
    (0.5, [1.0, 0.0])
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class Crimson(evaluate.Metric):
    pass
