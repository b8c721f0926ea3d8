# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadGraph F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
RadGraph F1 makes a graph of each report, entities (anatomy; observations present, absent, uncertain) and relations
(`located_at`, `modify`, `suggestive_of`), and says how much the two graphs have in common. The default runs offline
on the graph that a bundled reader of chest X-ray reports makes of the report's words, as RadGraph does: "small left
pleural effusion" is `small` (modify `effusion`), `left` (modify `pleural`), `pleural`, and `effusion` (located_at
`pleural`); what is normal and what is denied have their words, too. RadGraph-XL and RadGraph, the authors' models,
run on an inference of our own, in batches and without their package, or in their package; graphs from anywhere can
be scored from a file.
"""

_CITATION = """
@inproceedings{delbrouck-etal-2022-improving,
    title = "Improving the Factual Correctness of Radiology Report Generation with Semantic Rewards",
    author = "Delbrouck, Jean-Benoit and Chambon, Pierre and Bluethgen, Christian and Tsai, Emily and Almusa, Omar and
      Langlotz, Curtis",
    booktitle = "Findings of the Association for Computational Linguistics: EMNLP 2022",
    year = "2022",
    url = "https://aclanthology.org/2022.findings-emnlp.319",
}
@inproceedings{jain-2021-radgraph,
    title = "{RadGraph}: Extracting Clinical Entities and Relations from Radiology Reports",
    author = "Jain, Saahil and Agrawal, Ashwin and Saporta, Adriel and Truong, Steven QH and Duong, Du Nguyen and
      Bui, Tan and Chambon, Pierre and Zhang, Yuhao and Lungren, Matthew P and Ng, Andrew Y and Langlotz, Curtis P and
      Rajpurkar, Pranav",
    booktitle = "Advances in Neural Information Processing Systems, Datasets and Benchmarks",
    year = "2021",
    url = "https://arxiv.org/abs/2106.14463",
}
@inproceedings{delbrouck-etal-2024-radgraph,
    title = "{RadGraph-XL}: A Large-Scale Expert-Annotated Dataset for Entity and Relation Extraction from Radiology Reports",
    author = "Delbrouck, Jean-Benoit and Chambon, Pierre and Chen, Zhihong and Varma, Maya and Johnston, Andrew and
      Blankemeier, Louis and Van Veen, Dave and Bui, Tan and Truong, Steven and Langlotz, Curtis",
    booktitle = "Findings of the Association for Computational Linguistics: ACL 2024",
    year = "2024",
    url = "https://aclanthology.org/2024.findings-acl.765",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; RadGraph F1 does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader.
    paper: RadGraph-XL.
    radgraph: RadGraph.
    <id or path>: the Hub id, folder or archive of such weights; package: the authors' package; graphs:FILE: JSON.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    modality: what reports are read as: chest_xray, chest_ct, mammography, brain_ct (the latter two are
        experimental), a pack of your own; auto: what each reference is. Default: auto.
    lowercase: ignore case, as the authors do since May 2026; no: as radgraph 0.1.18 and RadEval. One of yes
        (default), no.
    record: file that gets the graphs as JSON, for radgraph_f1@graphs:FILE. Default: empty.
    explain: also return the entities and relations of both reports, and which of them match. One of no (default),
        yes.

Returns: a dict of
    radgraph_f1: RadGraph F1; 0 to 1, higher is better.
    radgraph_f1_simple: RadGraph F1, simple; 0 to 1, higher is better.
    radgraph_f1_partial: RadGraph F1, partial; 0 to 1, higher is better.
    radgraph_f1_complete: RadGraph F1, complete; 0 to 1, higher is better.
    radgraph_f1_radcliq: RadGraph F1 in RadCliQ; 0 to 1, higher is better.
    radgraph_f1_entity: RadGraph F1, entities; 0 to 1, higher is better.
    radgraph_f1_relation: RadGraph F1, relations; 0 to 1, higher is better.
    radgraph_f1_n_unscored, radgraph_f1_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> radgraph_f1 = rrgmetrics.load("radgraph_f1")
    >>> results = radgraph_f1.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small right pleural effusion. No pneumothorax."],
    ... )
    >>> round(results["radgraph_f1"], 3)
    0.8
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class RadgraphF1(evaluate.Metric):
    pass
