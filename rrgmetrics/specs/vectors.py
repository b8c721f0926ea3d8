"""Metrics of vectors that an encoder gives."""

from __future__ import annotations

from rrgmetrics.specs.model import INF, Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CHEST_XRAY, LONG_OPTION, TEXT_OPTION

VECTORS = (
    MetricSpec(
        name="semb_score",
        title="SembScore",
        summary="similarity of the embeddings of both reports",
        scorer="rrgmetrics.scorers.semb_score:SembScore",
        keys=(Key("semb_score", "SembScore", (-1.0, 1.0), True, aliases=("SembScore", "CheXbert similarity")),),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "vectors": Option(
                "encoder",
                "encoder: embeddings of the bundled encoder or CheXbert's [CLS]; conditions: which of CheXpert's "
                "14 conditions a report has",
                ("encoder", "conditions"),
            ),
            "long": LONG_OPTION,
        },
        configs={
            "default": Config("CREPE's encoder"),
            "paper": Config("CheXbert's [CLS], chexbert.pth of StanfordAIMI/RRG_scorers"),
        },
        checkpoint="the Hub id, folder or file of CheXbert's weights",
        needs=("encoder",),
        modality=CHEST_XRAY,
        paper="Yu et al. 2023, Patterns",
        licence="default: Apache-2.0; paper: that of StanfordAIMI/RRG_scorers",
        citation="yu-2023-rexval",
        hacks=("order", "contradiction"),
    ),
    MetricSpec(
        name="bertscore",
        foreign_keywords={
            "lang": "name the metric bertscore@paper for bert-score's choice for English (lang='en')",
            "model_type": "name the metric bertscore@<Hub id or folder>",
            "num_layers": "name the metric bertscore?layer=N",
            "idf": "name the metric bertscore?idf=call",
            "rescale_with_baseline": "name the metric bertscore?rescale=yes",
            "baseline_path": "bertscore?rescale=yes uses bert-score's published baselines only",
            "nthreads": "it is not needed",
            "verbose": "pass progress=True",
            "all_layers": "name the metric bertscore?layer=N for each layer",
            "use_fast_tokenizer": "tokenizers are always fast ones",
        },
        title="BERTScore",
        summary="similarity of contextual token embeddings",
        scorer="rrgmetrics.scorers.bertscore:Bertscore",
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
            "layer": Option(0, "hidden layer to compare; 0: the layer of the configuration"),
            "idf": Option(
                "no",
                "weights of tokens. no: equal; call: inverse document frequency in this call's references; frozen: "
                "inverse document frequency in idf_file",
                ("no", "call", "frozen"),
            ),
            "idf_file": Option("", "text file with one report a line, for idf=frozen"),
            "rescale": Option(False, "rescale with bert-score's published English baseline for that model and layer"),
        },
        configs={
            "default": Config("the first layer of all-MiniLM-L6-v2, quantised to 8 bits"),
            "paper": Config("roberta-large, layer 17, as bert-score chooses for English"),
            "radeval": Config("distilbert-base-uncased, layer 5, rescaled, as in RadEval 2.2", {"rescale": True}),
            "radcliq": Config(
                "distilroberta-base, layer 5, rescaled, repeated spaces removed, as in RadCliQ",
                {"rescale": True, "text": "space"},
            ),
        },
        checkpoint="the Hub id (optionally followed by @revision) or folder of an encoder",
        needs=("encoder",),
        paper="Zhang et al. 2020, ICLR",
        licence="bundled: Apache-2.0 (all-MiniLM-L6-v2); others: their own",
        citation="zhang-2020-bertscore",
        hacks=("order", "contradiction", "addition"),
    ),
    MetricSpec(
        name="radeval_bertscore",
        title="RadEval-BERTScore",
        summary="similarity of token embeddings of a radiology encoder",
        scorer="rrgmetrics.scorers.radeval_bertscore:RadevalBertscore",
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
            "layer": Option(0, "hidden layer to compare; 0: the layer of the configuration"),
        },
        configs={
            "default": Config("CREPE's encoder"),
            "paper": Config("IAMJB/RadEvalModernBERT, layer 22"),
        },
        checkpoint="the Hub id (optionally followed by @revision) or folder of an encoder",
        needs=("encoder",),
        modality=CHEST_XRAY,
        paper="Xu et al. 2025, EMNLP demonstrations",
        licence="default: Apache-2.0; paper: that of its card",
        citation="xu-etal-2025-radeval",
        hacks=("contradiction",),
    ),
)
