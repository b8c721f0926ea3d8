# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadGraph F1 for radiology reports. The metric card is README.md; the computation: rrgmetrics/scorers/radgraph_f1.py."""

import evaluate

import rrgmetrics  # From: rrgmetrics

_DESCRIPTION = """
RadGraph F1 compares the entities (anatomy; observations present, absent, uncertain) and relations of two radiology
reports. The default runs offline on the graph of a bundled reader; the authors' weights and recorded graphs are
configurations.
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
    contexts (list of dict, optional): patient's age, sex and indication; RadGraph F1 does not use them.
    per_pair (bool): also return a list of values, one a pair, for each key.
    batch_size (int), device (str): texts a forward pass, and where the model runs.
    progress (bool): show a bar.

Options (in config_name, for example 'paper?lowercase=no'):
    configuration: default (the bundled reader), paper (RadGraph-XL), radgraph (RadGraph), a folder, archive or Hub id
        of such weights, package or package:radgraph (the authors' package), graphs:FILE (graphs as published JSON).
    lowercase: yes (default): case does not count, as in the authors' repository since May 2026; no: it does, as in
        radgraph 0.1.18 and in RadEval.
    record: file that gets the graphs, for graphs:FILE.
    text: normaliser applied to both texts first: none (default), space, lower, words, findings, impression.

Returns:
    dict: radgraph_f1 (partial, what papers report), radgraph_f1_simple, radgraph_f1_partial, radgraph_f1_complete,
    radgraph_f1_radcliq (mean of radgraph_f1_entity and radgraph_f1_relation): 0 to 1, higher is better;
    radgraph_f1_n_unscored; radgraph_f1_signature.

Examples:
    >>> radgraph_f1 = rrgmetrics.load("radgraph_f1")
    >>> results = radgraph_f1.compute(
    ...     predictions=["Small left pleural effusion. No pneumothorax."],
    ...     references=["There is a small right pleural effusion. No pneumothorax."],
    ...     progress=False,
    ... )
    >>> round(results["radgraph_f1"], 3)
    0.889
"""


@rrgmetrics.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class RadgraphF1(evaluate.Metric):
    pass
