# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""RadBERT-CT F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
For **chest CT** reports: F1 of the 18 conditions of CT-RATE and of No finding, which a report has if it has none of
them. The headline is the F1 of each label over all pairs, averaged with the number of references that have it as
weight.
"""

_CITATION = """
@article{hamamci-2024-ct-rate,
    title = "Developing Generalist Foundation Models from a Multimodal Dataset for {3D} Computed Tomography",
    author = "Hamamci, Ibrahim Ethem and Er, Sezgin and others",
    journal = "arXiv preprint arXiv:2403.17834",
    year = "2024",
    url = "https://arxiv.org/abs/2403.17834",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; RadBERT-CT F1 does not
        use them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader of chest CT reports.
    paper: IAMJB/RadBERT-CT.
    <id or path>: the Hub id or folder of a classifier of the same 18 labels.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    modality: what reports are read as: chest_xray, chest_ct, mammography, brain_ct (the latter two are
        experimental), a pack of your own; auto: what each reference is. Default: chest_ct.
    threshold: probability above which a checkpoint's condition holds; the reader has none. Default: 0.5.
    explain: also return the labels of both reports. One of no (default), yes.

Returns: a dict of
    f1_radbert_ct: RadBERT-CT F1 weighted; 0 to 1, higher is better.
    f1_radbert_ct_precision: RadBERT-CT precision weighted; 0 to 1, higher is better.
    f1_radbert_ct_recall: RadBERT-CT recall weighted; 0 to 1, higher is better.
    f1_radbert_ct_micro: RadBERT-CT F1 micro; 0 to 1, higher is better.
    f1_radbert_ct_macro: RadBERT-CT F1 macro; 0 to 1, higher is better.
    f1_radbert_ct_accuracy: All labels agree; 0 to 1, higher is better.
    f1_radbert_ct_medical_material: Medical material; 0 to 1, higher is better.
    f1_radbert_ct_arterial_wall_calcification: Arterial wall calcification; 0 to 1, higher is better.
    f1_radbert_ct_cardiomegaly: Cardiomegaly; 0 to 1, higher is better.
    f1_radbert_ct_pericardial_effusion: Pericardial effusion; 0 to 1, higher is better.
    f1_radbert_ct_coronary_artery_wall_calcification: Coronary artery wall calcification; 0 to 1, higher is better.
    f1_radbert_ct_hiatal_hernia: Hiatal hernia; 0 to 1, higher is better.
    f1_radbert_ct_lymphadenopathy: Lymphadenopathy; 0 to 1, higher is better.
    f1_radbert_ct_emphysema: Emphysema; 0 to 1, higher is better.
    f1_radbert_ct_atelectasis: Atelectasis; 0 to 1, higher is better.
    f1_radbert_ct_lung_nodule: Lung nodule; 0 to 1, higher is better.
    f1_radbert_ct_lung_opacity: Lung opacity; 0 to 1, higher is better.
    f1_radbert_ct_pulmonary_fibrotic_sequela: Pulmonary fibrotic sequela; 0 to 1, higher is better.
    f1_radbert_ct_pleural_effusion: Pleural effusion; 0 to 1, higher is better.
    f1_radbert_ct_mosaic_attenuation_pattern: Mosaic attenuation pattern; 0 to 1, higher is better.
    f1_radbert_ct_peribronchial_thickening: Peribronchial thickening; 0 to 1, higher is better.
    f1_radbert_ct_consolidation: Consolidation; 0 to 1, higher is better.
    f1_radbert_ct_bronchiectasis: Bronchiectasis; 0 to 1, higher is better.
    f1_radbert_ct_interlobular_septal_thickening: Interlobular septal thickening; 0 to 1, higher is better.
    f1_radbert_ct_no_finding: No Finding; 0 to 1, higher is better.
    f1_radbert_ct_n_unscored, f1_radbert_ct_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> f1_radbert_ct = rrgmetrics.load("f1_radbert_ct")
    >>> results = f1_radbert_ct.compute(
    ...     predictions=["Ground-glass opacities in both lungs. Calcified coronary arteries."],
    ...     references=["Ground-glass opacities in both lungs. Small pleural effusion."],
    ...     progress=False,
    ... )
    >>> results["f1_radbert_ct"], results["f1_radbert_ct_accuracy"]
    (0.5, 0.0)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class F1RadbertCt(evaluate.Metric):
    pass
