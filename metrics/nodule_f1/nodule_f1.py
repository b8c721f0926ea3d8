"""Nodule F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
For **chest CT** reports: which of the radiologist's lung nodules the candidate has, and how well it describes them.
The headline is F1 = 2TP / (2TP + FP + FN) over the nodules of all pairs. Beside it stand the errors of sizes in mm,
whether density, calcification, lobe, certainty and the word (nodule or mass) are right, and for each group of sizes
the sensitivity and the false nodules a study.
"""

_CITATION = r"""
@misc{radeval-nodules,
    title = "{RadEval}: nodule\_eval and hoppr\_ctc\_lung\_nodules",
    author = "{The RadEval authors}",
    year = "2026",
    url = "https://github.com/jbdel/RadEval",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; Nodule F1 does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
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
        experimental), a pack of your own; auto: what each reference is. Default: chest_ct.
    explain: also return each pair's verdict in words. One of no (default), yes.
    form: own: a judge lists the nodules of either report, the rest is computed; nodule_eval, lung_nodules: a judge
        compares the sections PULMONARY NODULES, and is believed, as in RadEval's two metrics. One of own (default),
        nodule_eval, lung_nodules.
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
    nodule_f1: Nodule F1; 0 to 1, higher is better.
    nodule_f1_precision: Nodule precision; 0 to 1, higher is better.
    nodule_f1_recall: Nodule recall; 0 to 1, higher is better.
    nodule_f1_composite: Composite; −1 to 1, higher is better.
    nodule_f1_size_accuracy: Size within 2 mm or 20%; 0 to 1, higher is better.
    nodule_f1_size_exact: Size equal; 0 to 1, higher is better.
    nodule_f1_size_mae: Mean error of sizes, mm; 0 to ∞, lower is better.
    nodule_f1_size_mape: Mean relative error of sizes; 0 to ∞, lower is better.
    nodule_f1_density: Density, both classes; 0 to 1, higher is better.
    nodule_f1_density_solid: Density of solid nodules; 0 to 1, higher is better.
    nodule_f1_density_subsolid: Density of sub-solid nodules; 0 to 1, higher is better.
    nodule_f1_calcification: Calcification; 0 to 1, higher is better.
    nodule_f1_side: Side; 0 to 1, higher is better.
    nodule_f1_place: Lobe; 0 to 1, higher is better.
    nodule_f1_noun: Nodule or mass; 0 to 1, higher is better.
    nodule_f1_certainty: Certainty; 0 to 1, higher is better.
    nodule_f1_mae_4to6: Mean error of sizes of 4 to 6 mm, mm; 0 to ∞, lower is better.
    nodule_f1_mae_6to8: Mean error of sizes of 6 to 8 mm, mm; 0 to ∞, lower is better.
    nodule_f1_mape_gt8: Mean relative error, > 8 mm; 0 to ∞, lower is better.
    nodule_f1_sensitivity_lt4: Sensitivity, < 4 mm; 0 to 1, higher is better.
    nodule_f1_sensitivity_4to6: Sensitivity, 4 to 6 mm; 0 to 1, higher is better.
    nodule_f1_sensitivity_6to8: Sensitivity, 6 to 8 mm; 0 to 1, higher is better.
    nodule_f1_sensitivity_8to15: Sensitivity, 8 to 15 mm; 0 to 1, higher is better.
    nodule_f1_sensitivity_gt15: Sensitivity, > 15 mm; 0 to 1, higher is better.
    nodule_f1_false_lt4: False nodules a study, < 4 mm; 0 to ∞, lower is better.
    nodule_f1_false_4to6: False nodules a study, 4 to 6 mm; 0 to ∞, lower is better.
    nodule_f1_false_6to8: False nodules a study, 6 to 8 mm; 0 to ∞, lower is better.
    nodule_f1_false_8to15: False nodules a study, 8 to 15 mm; 0 to ∞, lower is better.
    nodule_f1_false_gt15: False nodules a study, > 15 mm; 0 to ∞, lower is better.
    nodule_f1_n_unscored, nodule_f1_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> nodule_f1 = rrgmetrics.load("nodule_f1")
    >>> results = nodule_f1.compute(
    ...     predictions=["There is a 9 mm nodule in the lingula."],
    ...     references=["8 mm solid nodule in the lingula. 5 mm ground-glass nodule in the right lower lobe."],
    ... )
    >>> round(results["nodule_f1"], 3), results["nodule_f1_size_mae"], results["nodule_f1_sensitivity_4to6"]
    (0.667, 1.0, 0.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class NoduleF1(evaluate.Metric):
    pass
