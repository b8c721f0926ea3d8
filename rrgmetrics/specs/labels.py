"""Metrics that compare labels: conditions, findings, statements of change."""

from __future__ import annotations

from dataclasses import replace

from rrgmetrics.specs.label_names import CT_CONDITIONS, NO_FINDING, SRR_GROUPS, SRR_LEAVES, label_key, label_keys
from rrgmetrics.specs.model import Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CHEST_CT, CHEST_XRAY, LONG_OPTION, MODALITY_OPTION, TEXT_OPTION, label, unit

_CONDITIONS = (  # CheXpert's, in the order of CheXbert's heads
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
    "No Finding",
)

LABELS = (
    MetricSpec(
        name="chexbert_f1",
        title="CheXbert F1",
        summary="CheXpert's 14 conditions: F1 micro, macro, weighted and for each condition",
        scorer="rrgmetrics.scorers.chexbert_f1:ChexbertF1",
        keys=(
            unit("chexbert_f1", "CheXbert F1 micro-14", "CheXbert-14 micro", "Micro-F1-14", "f1chexbert_all_micro_f1"),
            unit("chexbert_f1_precision", "CheXbert precision micro-14"),
            unit("chexbert_f1_recall", "CheXbert recall micro-14"),
            label(
                "chexbert_f1_macro_14",
                "CheXbert F1 macro-14",
                "CheXbert-14 macro",
                "Macro-F1-14",
                "f1chexbert_all_macro_f1",
            ),
            label(
                "chexbert_f1_weighted_14",
                "CheXbert F1 weighted-14",
                "CheXbert-14 weighted",
                "f1chexbert_all_weighted_f1",
            ),
            unit(
                "chexbert_f1_micro_5", "CheXbert F1 micro-5", "CheXbert-5 micro", "Micro-F1-5", "f1chexbert_5_micro_f1"
            ),
            label(
                "chexbert_f1_macro_5", "CheXbert F1 macro-5", "CheXbert-5 macro", "Macro-F1-5", "f1chexbert_5_macro_f1"
            ),
            label(
                "chexbert_f1_weighted_5", "CheXbert F1 weighted-5", "CheXbert-5 weighted", "f1chexbert_5_weighted_f1"
            ),
            label("chexbert_f1_macro_14_precision", "CheXbert precision macro-14"),
            label("chexbert_f1_macro_14_recall", "CheXbert recall macro-14"),
            label("chexbert_f1_micro_5_precision", "CheXbert precision micro-5"),
            label("chexbert_f1_micro_5_recall", "CheXbert recall micro-5"),
            label("chexbert_f1_micro_13", "CheXbert F1 micro-13"),
            label("chexbert_f1_macro_13", "CheXbert F1 macro-13"),
            *label_keys("chexbert_f1", *_CONDITIONS),
            unit("chexbert_f1_agreement_14", "Label accuracy, 14", "f1chexbert_sample_acc_all"),
            unit("chexbert_f1_agreement_5", "Label accuracy, 5", "f1chexbert_sample_acc_5"),
            unit("chexbert_f1_example", "CheXbert F1 example-based", "Example-based F1"),
            unit("chexbert_f1_example_precision", "CheXbert precision example-based"),
            unit("chexbert_f1_example_recall", "CheXbert recall example-based"),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "uncertain": Option(
                "positive",
                "what an uncertain condition counts as; ignored: the condition is left out of that pair",
                ("positive", "negative", "ignored"),
            ),
            "long": LONG_OPTION,
            "explain": Option(False, "also return the labels of both reports for each condition"),
        },
        configs={
            "default": Config("the reader"),
            "paper": Config("CheXbert, chexbert.pth of StanfordAIMI/RRG_scorers"),
        },
        checkpoint="the Hub id, folder or file of CheXbert weights",
        needs=("reader",),
        modality=CHEST_XRAY,
        paper="Smit et al. 2020, EMNLP",
        licence="default: Apache-2.0; paper: that of StanfordAIMI/RRG_scorers",
        citation="smit-etal-2020-chexbert",
        resists_tricks=True,
        hacks=("order", "contradiction"),
    ),
    MetricSpec(
        name="srr_bert_f1",
        title="SRR-BERT F1",
        summary="54 findings, or 24 groups of findings",
        scorer="rrgmetrics.scorers.srr_bert_f1:SrrBertF1",
        keys=(
            unit("srr_bert_f1", "SRR-BERT F1 weighted", "SRR-BERT", "F1-SRR-BERT", "srrbert_weighted_f1"),
            unit("srr_bert_f1_precision", "SRR-BERT precision weighted", "srrbert_weighted_precision"),
            unit("srr_bert_f1_recall", "SRR-BERT recall weighted", "srrbert_weighted_recall"),
            Key("srr_bert_f1_micro", "SRR-BERT F1 micro", (0.0, 1.0), True, per_pair=False),
            Key("srr_bert_f1_macro", "SRR-BERT F1 macro", (0.0, 1.0), True, per_pair=False),
            unit("srr_bert_f1_jaccard", "Mean Jaccard index", "as RadEval's srrbert per sample"),
            *label_keys("srr_bert_f1", *SRR_LEAVES),
            *(label(label_key("srr_bert_f1", name), f"{name}, group") for name in SRR_GROUPS),
            *label_keys("srr_bert_f1", NO_FINDING),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "level": Option("leaves", "leaves: 54 findings; upper: 24 groups of findings", ("leaves", "upper")),
            "statuses": Option(
                False, "label each finding as present, uncertain or absent, and require the same status for a match"
            ),
            "explain": Option(False, "also return the labels of both reports"),
        },
        configs={
            "default": Config("the reader"),
            "paper": Config("the SRR-BERT checkpoint of that level, with statuses", {"statuses": True}),
        },
        checkpoint="the Hub id or folder of an SRR-BERT checkpoint",
        needs=("reader",),
        modality=CHEST_XRAY,
        paper="Delbrouck et al. 2025, ACL",
        licence="default: Apache-2.0; paper: that of its card",
        citation="delbrouck-etal-2025-srr",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="f1_radbert_ct",
        title="RadBERT-CT F1",
        summary="18 conditions of chest CT reports",
        scorer="rrgmetrics.scorers.f1_radbert_ct:F1RadbertCt",
        keys=(
            unit("f1_radbert_ct", "RadBERT-CT F1 weighted", "F1RadBERT-CT", "f1radbert_ct_weighted_f1"),
            unit("f1_radbert_ct_precision", "RadBERT-CT precision weighted"),
            unit("f1_radbert_ct_recall", "RadBERT-CT recall weighted"),
            Key(
                "f1_radbert_ct_micro",
                "RadBERT-CT F1 micro",
                (0.0, 1.0),
                True,
                per_pair=False,
                aliases=("f1radbert_ct_micro_f1",),
            ),
            Key(
                "f1_radbert_ct_macro",
                "RadBERT-CT F1 macro",
                (0.0, 1.0),
                True,
                per_pair=False,
                aliases=("f1radbert_ct_macro_f1",),
            ),
            unit("f1_radbert_ct_accuracy", "Exact match of all labels", "f1radbert_ct_accuracy"),
            *label_keys("f1_radbert_ct", *CT_CONDITIONS, NO_FINDING),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "modality": replace(MODALITY_OPTION, default="chest_ct"),
            "threshold": Option(0.5, "probability threshold of a checkpoint's labels; the reader has none"),
            "explain": Option(False, "also return the labels of both reports"),
        },
        configs={
            "default": Config("the reader of chest CT reports"),
            "paper": Config("IAMJB/RadBERT-CT"),
        },
        checkpoint="the Hub id or folder of a classifier of the same 18 labels",
        needs=("reader",),
        modality=CHEST_CT,
        paper="Hamamci et al. 2024, arXiv 2403.17834",
        licence="default: Apache-2.0; paper: that of its card",
        citation="hamamci-2024-ct-rate",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="temporal_f1",
        title="Temporal F1",
        summary="statements of change since the prior study",
        scorer="rrgmetrics.scorers.temporal_f1:TemporalF1",
        keys=(unit("temporal_f1", "Temporal F1", "Temporal-F1", "TEM"),),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, None),
        options={
            "text": TEXT_OPTION,
            "form": Option(
                "reader",
                "reader: statements of change of a finding, found by the rule-based reader; keywords: the "
                "published form, sets of 44 words",
                ("reader", "keywords"),
            ),
            "explain": Option(False, "also return the statements of change in both reports"),
        },
        configs={
            "default": Config("the reader"),
            "paper": Config("the published sets of 44 words", {"form": "keywords"}),
        },
        needs=("reader",),
        modality=CHEST_XRAY,
        paper="Zhang et al. 2024, arXiv 2411.19378",
        citation="zhang-2024-libra",
    ),
)
