# Copyright 2026 The rrgmetrics authors. Licensed under the Apache License, Version 2.0.
"""SRR-BERT F1. Made by `make cards` from README.md, the metric card, and the metric's row in rrgmetrics."""

import evaluate

import rrgmetrics.scoring.hub  # From: rrgmetrics

_DESCRIPTION = """
SRR-BERT's label set has 54 findings (leaves) in 24 groups (upper), and No Finding; with statuses each is present,
uncertain or absent. A report's labels are those of all its sentences together. The headline is the F1 of each label
over all pairs, averaged with the number of references that have it as weight.
"""

_CITATION = """
@inproceedings{delbrouck-etal-2025-srr,
    title = "Automated Structured Radiology Report Generation",
    author = "Delbrouck, Jean-Benoit and Xu, Justin and Moll, Johannes and others",
    booktitle = "Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics",
    year = "2025",
    url = "https://arxiv.org/abs/2505.24223",
}
"""

_INPUTS = """
Args:
    predictions (list of str): the system's reports, one a study; '' for an empty one.
    references (list of str): the radiologists' reports, in the same order.
    contexts (list of dict): patient's age, sex, indication, and prior, the report before; SRR-BERT F1 does not use
        them.
    per_pair (bool): also return <key>_per_pair, a list with one value a pair, for the keys that have one.
    batch_size (int), device (str): of a model, where one runs.
    progress (bool): show a bar.
    missing (str): a pair whose reference is missing (None, NaN, blank, 'nan', 'N/A') is 'unscored' (the default),
        scored as an 'empty' report, or an 'error'. A missing candidate is an empty report.

Configurations (config_name):
    default: the reader.
    paper: SRR-BERT's checkpoint of that level, with statuses.
    <id or path>: the Hub id or folder of such a checkpoint.

Options (in config_name, for example '?text=lower'):
    text: normaliser applied to both texts first. findings, impression: that section, else the rest of the report;
        findings_only, impression_only: a pair whose reference lacks the section is unscored; r2gen, r2gen_iu:
        R2Gen's cleaning of MIMIC-CXR and IU X-ray reports. One of none (default), space, lower, words, findings,
        impression, findings_only, impression_only, r2gen, r2gen_iu.
    level: leaves: 54 findings; upper: 24 groups of findings. One of leaves (default), upper.
    statuses: whether a label says present, uncertain or absent, and must agree in that too. One of no (default),
        yes.
    explain: also return the labels of both reports. One of no (default), yes.

Returns: a dict of
    srr_bert_f1: SRR-BERT F1 weighted; 0 to 1, higher is better.
    srr_bert_f1_precision: SRR-BERT precision weighted; 0 to 1, higher is better.
    srr_bert_f1_recall: SRR-BERT recall weighted; 0 to 1, higher is better.
    srr_bert_f1_micro: SRR-BERT F1 micro; 0 to 1, higher is better.
    srr_bert_f1_macro: SRR-BERT F1 macro; 0 to 1, higher is better.
    srr_bert_f1_jaccard: Mean Jaccard index; 0 to 1, higher is better.
    srr_bert_f1_lung_lesion: Lung Lesion; 0 to 1, higher is better.
    srr_bert_f1_edema: Edema; 0 to 1, higher is better.
    srr_bert_f1_pneumonia: Pneumonia; 0 to 1, higher is better.
    srr_bert_f1_atelectasis: Atelectasis; 0 to 1, higher is better.
    srr_bert_f1_aspiration: Aspiration; 0 to 1, higher is better.
    srr_bert_f1_lung_collapse: Lung collapse; 0 to 1, higher is better.
    srr_bert_f1_perihilar_airspace_opacity: Perihilar airspace opacity; 0 to 1, higher is better.
    srr_bert_f1_air_space_opacity_multifocal: Air space opacity–multifocal; 0 to 1, higher is better.
    srr_bert_f1_mass_solitary_lung_mass: Mass/Solitary lung mass; 0 to 1, higher is better.
    srr_bert_f1_nodule_solitary_lung_nodule: Nodule/Solitary lung nodule; 0 to 1, higher is better.
    srr_bert_f1_cavitating_mass_with_content: Cavitating mass with content; 0 to 1, higher is better.
    srr_bert_f1_cavitating_masses: Cavitating masses; 0 to 1, higher is better.
    srr_bert_f1_emphysema: Emphysema; 0 to 1, higher is better.
    srr_bert_f1_fibrosis: Fibrosis; 0 to 1, higher is better.
    srr_bert_f1_pulmonary_congestion: Pulmonary congestion; 0 to 1, higher is better.
    srr_bert_f1_hilar_lymphadenopathy: Hilar lymphadenopathy; 0 to 1, higher is better.
    srr_bert_f1_bronchiectasis: Bronchiectasis; 0 to 1, higher is better.
    srr_bert_f1_simple_pneumothorax: Simple pneumothorax; 0 to 1, higher is better.
    srr_bert_f1_loculated_pneumothorax: Loculated pneumothorax; 0 to 1, higher is better.
    srr_bert_f1_tension_pneumothorax: Tension pneumothorax; 0 to 1, higher is better.
    srr_bert_f1_simple_pleural_effusion: Simple pleural effusion; 0 to 1, higher is better.
    srr_bert_f1_loculated_pleural_effusion: Loculated pleural effusion; 0 to 1, higher is better.
    srr_bert_f1_pleural_scarring: Pleural scarring; 0 to 1, higher is better.
    srr_bert_f1_hydropneumothorax: Hydropneumothorax; 0 to 1, higher is better.
    srr_bert_f1_pleural_other: Pleural Other; 0 to 1, higher is better.
    srr_bert_f1_cardiomegaly: Cardiomegaly; 0 to 1, higher is better.
    srr_bert_f1_pericardial_effusion: Pericardial effusion; 0 to 1, higher is better.
    srr_bert_f1_inferior_mediastinal_mass: Inferior mediastinal mass; 0 to 1, higher is better.
    srr_bert_f1_superior_mediastinal_mass: Superior mediastinal mass; 0 to 1, higher is better.
    srr_bert_f1_tortuous_aorta: Tortuous Aorta; 0 to 1, higher is better.
    srr_bert_f1_calcification_of_the_aorta: Calcification of the Aorta; 0 to 1, higher is better.
    srr_bert_f1_enlarged_pulmonary_artery: Enlarged pulmonary artery; 0 to 1, higher is better.
    srr_bert_f1_hernia: Hernia; 0 to 1, higher is better.
    srr_bert_f1_pneumomediastinum: Pneumomediastinum; 0 to 1, higher is better.
    srr_bert_f1_tracheal_deviation: Tracheal deviation; 0 to 1, higher is better.
    srr_bert_f1_acute_humerus_fracture: Acute humerus fracture; 0 to 1, higher is better.
    srr_bert_f1_acute_rib_fracture: Acute rib fracture; 0 to 1, higher is better.
    srr_bert_f1_acute_clavicle_fracture: Acute clavicle fracture; 0 to 1, higher is better.
    srr_bert_f1_acute_scapula_fracture: Acute scapula fracture; 0 to 1, higher is better.
    srr_bert_f1_compression_fracture: Compression fracture; 0 to 1, higher is better.
    srr_bert_f1_shoulder_dislocation: Shoulder dislocation; 0 to 1, higher is better.
    srr_bert_f1_subcutaneous_emphysema: Subcutaneous Emphysema; 0 to 1, higher is better.
    srr_bert_f1_suboptimal_central_line: Suboptimal central line; 0 to 1, higher is better.
    srr_bert_f1_suboptimal_endotracheal_tube: Suboptimal endotracheal tube; 0 to 1, higher is better.
    srr_bert_f1_suboptimal_nasogastric_tube: Suboptimal nasogastric tube; 0 to 1, higher is better.
    srr_bert_f1_suboptimal_pulmonary_arterial_catheter: Suboptimal pulmonary arterial catheter; 0 to 1, higher is
        better.
    srr_bert_f1_pleural_tube: Pleural tube; 0 to 1, higher is better.
    srr_bert_f1_picc_line: PICC line; 0 to 1, higher is better.
    srr_bert_f1_port_catheter: Port catheter; 0 to 1, higher is better.
    srr_bert_f1_pacemaker: Pacemaker; 0 to 1, higher is better.
    srr_bert_f1_implantable_defibrillator: Implantable defibrillator; 0 to 1, higher is better.
    srr_bert_f1_lvad: LVAD; 0 to 1, higher is better.
    srr_bert_f1_intraaortic_balloon_pump: Intraaortic balloon pump; 0 to 1, higher is better.
    srr_bert_f1_pneumoperitoneum: Pneumoperitoneum; 0 to 1, higher is better.
    srr_bert_f1_pleural_effusion: Pleural Effusion, group; 0 to 1, higher is better.
    srr_bert_f1_upper_abdominal_finding: Upper abdominal finding, group; 0 to 1, higher is better.
    srr_bert_f1_widened_cardiac_silhouette: Widened cardiac silhouette, group; 0 to 1, higher is better.
    srr_bert_f1_lung_finding: Lung Finding, group; 0 to 1, higher is better.
    srr_bert_f1_widened_aortic_contour: Widened aortic contour, group; 0 to 1, higher is better.
    srr_bert_f1_pleural_thickening: Pleural Thickening, group; 0 to 1, higher is better.
    srr_bert_f1_vascular_finding: Vascular finding, group; 0 to 1, higher is better.
    srr_bert_f1_consolidation: Consolidation, group; 0 to 1, higher is better.
    srr_bert_f1_pneumothorax: Pneumothorax, group; 0 to 1, higher is better.
    srr_bert_f1_subdiaphragmatic_gas: Subdiaphragmatic gas, group; 0 to 1, higher is better.
    srr_bert_f1_masslike_opacity: Masslike opacity, group; 0 to 1, higher is better.
    srr_bert_f1_chest_wall_finding: Chest wall finding, group; 0 to 1, higher is better.
    srr_bert_f1_focal_air_space_opacity: Focal air space opacity, group; 0 to 1, higher is better.
    srr_bert_f1_segmental_collapse: Segmental collapse, group; 0 to 1, higher is better.
    srr_bert_f1_fracture: Fracture, group; 0 to 1, higher is better.
    srr_bert_f1_mediastinal_mass: Mediastinal mass, group; 0 to 1, higher is better.
    srr_bert_f1_solitary_masslike_opacity: Solitary masslike opacity, group; 0 to 1, higher is better.
    srr_bert_f1_support_devices: Support Devices, group; 0 to 1, higher is better.
    srr_bert_f1_mediastinal_finding: Mediastinal finding, group; 0 to 1, higher is better.
    srr_bert_f1_pleural_finding: Pleural finding, group; 0 to 1, higher is better.
    srr_bert_f1_air_space_opacity: Air space opacity, group; 0 to 1, higher is better.
    srr_bert_f1_diffuse_air_space_opacity: Diffuse air space opacity, group; 0 to 1, higher is better.
    srr_bert_f1_multiple_masslike_opacities: Multiple masslike opacities, group; 0 to 1, higher is better.
    srr_bert_f1_musculoskeletal_finding: Musculoskeletal finding, group; 0 to 1, higher is better.
    srr_bert_f1_no_finding: No Finding; 0 to 1, higher is better.
    srr_bert_f1_n_unscored, srr_bert_f1_signature: pairs without a score, which count nowhere; what ran.

Examples:
    >>> srr_bert_f1 = rrgmetrics.load("srr_bert_f1")
    >>> results = srr_bert_f1.compute(
    ...     predictions=["Small left pleural effusion. Cardiomegaly."],
    ...     references=["There is a small left pleural effusion and mild edema."],
    ...     progress=False,
    ... )
    >>> results["srr_bert_f1"], round(results["srr_bert_f1_jaccard"], 3)
    (0.5, 0.333)
"""


@rrgmetrics.scoring.hub.module(_DESCRIPTION, _INPUTS, _CITATION)
class SrrBertF1(evaluate.Metric):
    pass
