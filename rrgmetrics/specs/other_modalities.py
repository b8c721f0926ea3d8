"""Metrics of reports other than chest X-rays."""

from __future__ import annotations

from dataclasses import replace

from rrgmetrics.specs.judges import BUNDLED_CONFIGS, EXPLAIN_OPTION, JUDGE_OPTIONS
from rrgmetrics.specs.model import INF, UNDEFINED, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CHEST_CT, MAMMOGRAPHY, MODALITY_OPTION, TEXT_OPTION, count, label, unit

SIZES = {"lt4": "< 4 mm", "4to6": "4 to 6 mm", "6to8": "6 to 8 mm", "8to15": "8 to 15 mm", "gt15": "> 15 mm"}
MAMMOGRAPHIC = {
    "false_finding": "False findings",
    "missing_finding": "Missing findings",
    "mischaracterization": "Mischaracterized findings",
    "wrong_location_laterality": "Wrong location or side",
    "incorrect_birads": "Wrong BI-RADS category",
    "incorrect_breast_density": "Wrong breast density",
}


def _least(name: str, title: str, *aliases: str) -> Key:
    return Key(f"nodule_f1_{name}", title, (0.0, INF), False, per_pair=False, aliases=aliases)


def _share(name: str, title: str, *aliases: str) -> Key:
    return label(f"nodule_f1_{name}", title, *aliases)


OTHER_MODALITIES = (
    MetricSpec(
        name="mammo_green",
        title="MammoGREEN",
        summary="errors and matches in mammography reports, counted by a judge",
        scorer="rrgmetrics.scorers.mammo_green:MammoGreen",
        keys=(
            unit("mammo_green", "MammoGREEN"),
            count("mammo_green_significant", "Significant errors"),
            count("mammo_green_errors", "All errors"),
            Key("mammo_green_matched", "Matched findings", (0.0, INF), True),
            *(count(f"mammo_green_{kind}", title) for kind, title in MAMMOGRAPHIC.items()),
        ),
        stand_in=True,
        level="pair",
        empty=(UNDEFINED, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "parser": Option(
                "tolerant",
                "strict: ask for counts, and parse and score replies, as RadEval does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs=BUNDLED_CONFIGS,
        judge=True,
        own_prompt=True,
        needs=("reader",),
        takes_context=True,
        modality=MAMMOGRAPHY,
        paper="RadEval, mammo_green; after Mammo-FM, arXiv 2512.00198",
        citation="radeval-mammo-green",
        resists_tricks=True,
    ),
    MetricSpec(
        name="nodule_f1",
        title="Nodule F1",
        summary="lung nodules of chest CT: detection, size and description",
        scorer="rrgmetrics.scorers.nodule_f1:NoduleF1",
        keys=(
            unit("nodule_f1", "Nodule F1", "nodule_eval_detection_f1", "hoppr_ctc_lung_nodules_detection_f1"),
            unit("nodule_f1_precision", "Nodule precision", "nodule_eval_detection_precision"),
            unit("nodule_f1_recall", "Nodule recall", "nodule_eval_detection_recall"),
            Key("nodule_f1_composite", "Composite", (-1.0, 1.0), True, False, ("nodule_eval_composite",)),
            _share("size_accuracy", "Size within 2 mm or 20%", "nodule_eval_size_accuracy"),
            _share("size_exact", "Size equal", "nodule_eval_size_exact_match"),
            _least("size_mae", "Mean error of sizes, mm", "nodule_eval_size_mae_mm"),
            _least("size_mape", "Mean relative error of sizes", "nodule_eval_size_mape"),
            _share("density", "Density, both classes", "hoppr_ctc_lung_nodules_density_acc_macro"),
            _share("density_solid", "Density of solid nodules", "hoppr_ctc_lung_nodules_density_acc_solid"),
            _share("density_subsolid", "Density of sub-solid nodules", "hoppr_ctc_lung_nodules_density_acc_subsolid"),
            _share("calcification", "Calcification", "hoppr_ctc_lung_nodules_calcified_accuracy"),
            _share("side", "Side", "hoppr_ctc_lung_nodules_laterality_accuracy"),
            _share("place", "Lobe", "hoppr_ctc_lung_nodules_lobe_accuracy", "nodule_eval_location_accuracy"),
            _share("noun", "Nodule or mass", "nodule_eval_noun_accuracy"),
            _share("certainty", "Certainty", "nodule_eval_uncertainty_accuracy"),
            _least("mae_4to6", "Mean error of sizes of 4 to 6 mm, mm", "hoppr_ctc_lung_nodules_diameter_mae_4to6"),
            _least("mae_6to8", "Mean error of sizes of 6 to 8 mm, mm", "hoppr_ctc_lung_nodules_diameter_mae_6to8"),
            _least("mape_gt8", "Mean relative error, > 8 mm", "hoppr_ctc_lung_nodules_diameter_mape_gt8"),
            *(
                _share(f"sensitivity_{size}", f"Sensitivity, {words}", f"hoppr_ctc_lung_nodules_sensitivity_{size}")
                for size, words in SIZES.items()
            ),
            *(
                _least(
                    f"false_{size}",
                    f"False nodules for each study, {words}",
                    f"hoppr_ctc_lung_nodules_fp_per_study_{size}",
                )
                for size, words in SIZES.items()
            ),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, None, None),
        options={
            "text": TEXT_OPTION,
            "modality": replace(MODALITY_OPTION, default="chest_ct"),
            "explain": EXPLAIN_OPTION,
            "form": Option(
                "own",
                "own: a judge lists the nodules of each report, and the comparison is computed; nodule_eval, "
                "lung_nodules: a judge compares the sections PULMONARY NODULES and its counts are used, as in "
                "RadEval's two metrics",
                ("own", "nodule_eval", "lung_nodules"),
            ),
            **JUDGE_OPTIONS,
        },
        configs=BUNDLED_CONFIGS,
        judge=True,
        own_prompt=True,
        needs=("reader",),
        modality=CHEST_CT,
        paper="RadEval, nodule_eval and hoppr_ctc_lung_nodules",
        citation="radeval-nodules",
    ),
)
