"""Metrics of vectors that an encoder gives."""

from __future__ import annotations

from rrgmetrics.specs.model import INF, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CHEST_XRAY, LONG_OPTION, TEXT_OPTION

VECTORS = (
    MetricSpec(
        name="semb_score",
        title="SembScore",
        scorer="semb_score:SembScore",
        keys=(Key("semb_score", "SembScore", (-1.0, 1.0), True, aliases=("SembScore", "CheXbert similarity")),),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "vectors": Option(
                "encoder",
                "encoder: of the bundled encoder's tokens, or CheXbert's [CLS]; conditions: which of CheXpert's 14 "
                "a report has",
                ("encoder", "conditions"),
            ),
            "long": LONG_OPTION,
        },
        configs={"default": {}, "paper": {}},
        takes_checkpoint=True,
        needs=("encoder", "reader"),
        modality=CHEST_XRAY,
        paper="Yu et al. 2023, Patterns",
        licence="default: Apache-2.0; paper: that of StanfordAIMI/RRG_scorers",
        citation="yu-2023-rexval",
        hacks=("order", "contradiction"),
    ),
    MetricSpec(
        name="bertscore",
        title="BERTScore",
        scorer="bertscore:Bertscore",
        keys=(
            Key("bertscore", "BERTScore F1", (-INF, 1.0), True, aliases=("BERTScore", "BERTScore F1", "BS")),
            Key("bertscore_precision", "BERTScore precision", (-INF, 1.0), True, aliases=("BERTScore P",)),
            Key("bertscore_recall", "BERTScore recall", (-INF, 1.0), True, aliases=("BERTScore R",)),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "layer": Option(0, "hidden layer to compare; 0: the configuration's own"),
            "idf": Option(
                "no",
                "weight of a token. no: all alike; call: inverse document frequency in this call's references; "
                "frozen: in the reports of idf_file",
                ("no", "call", "frozen"),
            ),
            "idf_file": Option("", "text file, one report a line, for idf=frozen"),
            "rescale": Option(False, "rescale with bert-score's published English baseline of that model and layer"),
        },
        configs={
            "default": {},
            "paper": {},
            "radeval": {"rescale": True},
            "radcliq": {"rescale": True, "text": "space"},
        },
        takes_checkpoint=True,
        needs=("encoder",),
        paper="Zhang et al. 2020, ICLR",
        licence="bundled: Apache-2.0 (all-MiniLM-L6-v2); others: their own",
        citation="zhang-2020-bertscore",
        hacks=("order", "contradiction"),
    ),
    MetricSpec(
        name="radeval_bertscore",
        title="RadEval-BERTScore",
        scorer="radeval_bertscore:RadevalBertscore",
        keys=(
            Key("radeval_bertscore", "RadEval-BERTScore F1", (-INF, 1.0), True, aliases=("RadEval-BERTScore",)),
            Key("radeval_bertscore_precision", "RadEval-BERTScore precision", (-INF, 1.0), True),
            Key("radeval_bertscore_recall", "RadEval-BERTScore recall", (-INF, 1.0), True),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "layer": Option(0, "hidden layer to compare; 0: the configuration's own"),
        },
        configs={"default": {}, "paper": {}},
        takes_checkpoint=True,
        needs=("encoder",),
        modality=CHEST_XRAY,
        paper="Xu et al. 2025, EMNLP demonstrations",
        licence="default: Apache-2.0; paper: that of its card",
        citation="xu-etal-2025-radeval",
        hacks=("order", "contradiction"),
    ),
)
