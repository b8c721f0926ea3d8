"""Metrics of what the reports say: errors, entities, and what is composed of them."""

from __future__ import annotations

from rrgmetrics.specs.model import INF, Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CHEST_XRAY, MODALITY_OPTION, TEXT_OPTION, count, label, unit

CLINICAL = (
    MetricSpec(
        name="finding_errors",
        title="Finding errors",
        summary="errors in findings (false, missing, wrong location or severity), each with its evidence",
        scorer="rrgmetrics.scorers.finding_errors:FindingErrors",
        keys=(
            count("finding_errors", "Finding errors"),
            count("finding_errors_significant", "Significant errors"),
            count("finding_errors_false_finding", "A: false findings"),
            count("finding_errors_missing_finding", "B: missing findings"),
            count("finding_errors_incorrect_location", "C: wrong location"),
            count("finding_errors_incorrect_severity", "D: wrong severity"),
            count("finding_errors_false_comparison", "E: false comparisons"),
            count("finding_errors_missing_comparison", "F: missing comparisons"),
        ),
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "policy": Option(
                "management",
                "which errors are significant. management: those that could change management; report: all except "
                "benign ones",
                ("management", "report"),
            ),
            "explain": Option(False, "also return the errors of each pair, with their spans in both texts"),
        },
        configs={
            "default": Config("a rule-based reader"),
        },
        needs=("reader",),
        takes_context=True,
        modality=CHEST_XRAY,
        paper="rrgmetrics; categories of Yu et al. 2023, Patterns",
        citation="yu-2023-rexval",
        resists_tricks=True,
    ),
    MetricSpec(
        name="finding_score",
        title="Finding score",
        summary="correct findings against errors, weighted by clinical significance",
        scorer="rrgmetrics.scorers.finding_score:FindingScore",
        keys=(
            unit("finding_score", "Finding score"),
            Key("finding_score_right", "Matched findings, weighted", (0.0, INF), True),
            Key("finding_score_wrong", "Errors, weighted", (0.0, INF), False),
        ),
        level="pair",
        empty=(1.0, None, None),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "explain": Option(False, "also return the matched findings and errors of each pair, with their weights"),
        },
        configs={
            "default": Config("a rule-based reader"),
        },
        needs=("reader",),
        takes_context=True,
        modality=CHEST_XRAY,
        paper="rrgmetrics; classes of Baharoon et al. 2026, arXiv 2603.06183",
        citation="baharoon-2026-crimson",
        resists_tricks=True,
    ),
    MetricSpec(
        name="finding_f1",
        title="Finding F1",
        summary="F1 of matched findings, weighted by clinical significance; also by attribute",
        scorer="rrgmetrics.scorers.finding_f1:FindingF1",
        keys=(
            unit("finding_f1", "Finding F1"),
            unit("finding_f1_precision", "Precision"),
            unit("finding_f1_recall", "Recall"),
            unit("finding_f1_unweighted", "F1, unweighted"),
            unit("finding_f1_unweighted_precision", "Precision, unweighted"),
            unit("finding_f1_unweighted_recall", "Recall, unweighted"),
            label("finding_f1_specificity", "Specificity of negated findings"),
            label("finding_f1_npv", "NPV of negated findings"),
            label("finding_f1_status", "Status right"),
            label("finding_f1_certainty", "Certainty right"),
            *(
                label(f"finding_f1_{attribute}{suffix}", f"{attribute.capitalize()}: {word}")
                for attribute in ("location", "severity", "measurement", "comparison")
                for suffix, word in (("", "F1"), ("_precision", "precision"), ("_recall", "recall"))
            ),
        ),
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "explain": Option(False, "also return whether each finding of each pair is matched, false or missing"),
        },
        configs={
            "default": Config("a rule-based reader"),
        },
        needs=("reader",),
        takes_context=True,
        modality=CHEST_XRAY,
        paper="rrgmetrics; classes of Baharoon et al. 2026, arXiv 2603.06183",
        citation="baharoon-2026-crimson",
    ),
    MetricSpec(
        name="crepe",
        title="CREPE",
        summary="number of errors of six kinds that a radiologist would count, predicted by a regression model",
        scorer="rrgmetrics.scorers.crepe:Crepe",
        keys=(
            Key("crepe", "CREPE", (0.0, INF), False, aliases=("CREPE",)),
            count("crepe_false_finding", "A: false findings"),
            count("crepe_missing_finding", "B: missing findings"),
            count("crepe_incorrect_location", "C: wrong location"),
            count("crepe_incorrect_severity", "D: wrong severity"),
            count("crepe_false_comparison", "E: false comparisons"),
            count("crepe_missing_comparison", "F: missing comparisons"),
            Key("crepe_unclipped", "CREPE, not clipped", (-INF, INF), False),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "precision": Option("fp32", "floating-point format of the encoder", ("fp32", "bf16", "fp16")),
            "long": Option(
                "truncate",
                "what to do with pairs of more than 512 tokens. truncate: cut them, as the paper does; windows: "
                "read them in aligned parts and add up the counts",
                ("truncate", "windows"),
            ),
            "presence": Option(False, "also return the probability of each kind of error for each pair"),
            "explain": Option(False, "also return the words that account for the counts of each pair"),
        },
        configs={
            "default": Config("a BERT with 4.4 million weights, trained for rrgmetrics"),
            "paper": Config("the authors' BiomedBERT, gihuncho/crepe-biomedbert"),
        },
        checkpoint="the Hub id or folder of any CREPE checkpoint",
        needs=("crepe",),
        modality=CHEST_XRAY,
        paper="Cho et al. 2025, EMNLP",
        licence="default: Apache-2.0; paper: none is stated",
        citation="cho-2025-crepe",
        resists_tricks=True,
    ),
    MetricSpec(
        name="radgraph_f1",
        title="RadGraph F1",
        summary="entities and relations that both reports contain",
        scorer="rrgmetrics.scorers.radgraph_f1:RadgraphF1",
        keys=(
            unit("radgraph_f1", "RadGraph F1", "RadGraph-F1", "F1-RadGraph", "RG_ER", "radgraph_partial"),
            unit("radgraph_f1_simple", "RadGraph F1, simple", "RG_E", "radgraph_simple"),
            unit("radgraph_f1_partial", "RadGraph F1, partial", "RG_ER", "radgraph_partial"),
            unit("radgraph_f1_complete", "RadGraph F1, complete", "RG_ER-bar", "radgraph_complete"),
            unit("radgraph_f1_radcliq", "RadGraph F1 in RadCliQ", "RadGraph F1 (RadCliQ)", "radgraph_radcliq"),
            unit("radgraph_f1_entity", "RadGraph F1, entities"),
            unit("radgraph_f1_relation", "RadGraph F1, relations"),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "lowercase": Option(
                True, "ignore case, as the authors do since May 2026; no: keep it, as radgraph 0.1.18 and RadEval do"
            ),
            "record": Option("", "JSON file to write the graphs to, for radgraph_f1@graphs:FILE", stated=False),
            "explain": Option(
                False, "also return the entities and relations of both reports and the matches", stated=False
            ),
        },
        configs={
            "default": Config("the reader"),
            "paper": Config("RadGraph-XL"),
            "radgraph": Config("RadGraph"),
        },
        checkpoint="the Hub id, folder or archive of RadGraph weights; package: the authors' package; graphs:FILE: "
        "graphs in JSON",
        needs=("reader", "radgraph"),
        modality=CHEST_XRAY,
        paper="Delbrouck et al. 2022, Findings of EMNLP",
        citation="delbrouck-etal-2022-improving",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="ratescore",
        title="RaTEScore",
        summary="entities matched by embedding similarity, weighted by type",
        scorer="rrgmetrics.scorers.ratescore:Ratescore",
        keys=(
            unit("ratescore", "RaTEScore", "RaTEScore", "RaTE"),
            unit("ratescore_precision", "RaTEScore precision"),
            unit("ratescore_recall", "RaTEScore recall"),
        ),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "matrix": Option(
                "long",
                "the authors' weights for pairs of entity types, for long or for short reports",
                ("long", "short"),
            ),
            "no_entities": Option(
                "f1",
                "score of a pair in which a report has no entities. f1: 1 if neither has any, else 0; published: 0.5",
                ("f1", "published"),
            ),
            "encoder": Option("", "encoder of entities, a Hub id or folder; empty: the encoder of the configuration"),
        },
        configs={
            "default": Config("the reader and CREPE's encoder"),
            "paper": Config("RaTE-NER-Deberta and BioLORD-2023-C", {"no_entities": "published"}),
        },
        checkpoint="the Hub id or folder of a token classifier with RaTEScore's labels",
        needs=("reader", "encoder"),
        modality=CHEST_XRAY,
        paper="Zhao et al. 2024, EMNLP",
        citation="zhao-etal-2024-ratescore",
        resists_tricks=True,
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="radcliq",
        title="RadCliQ",
        summary="number of errors, predicted from four other metrics",
        scorer="rrgmetrics.scorers.radcliq:Radcliq",
        keys=(
            Key("radcliq", "RadCliQ", (-INF, INF), False, aliases=("RadCliQ-v1", "RadCliQ-v0")),
            Key("radcliq_rexrank", "1 / mean RadCliQ", (-INF, INF), True, per_pair=False, aliases=("1/RadCliQ-v1",)),
            Key("radcliq_radgraph", "RadGraph F1 term", (0.0, 1.0), True),
            Key("radcliq_bertscore", "BERTScore term", (-INF, 1.0), True),
            Key("radcliq_semb", "SembScore term", (-1.0, 1.0), True),
            Key("radcliq_bleu", "BLEU-2 term", (0.0, 1.0), True),
        ),
        stand_in=True,
        level="pair",
        empty=(14.662699377912631,) * 3,
        options={
            "text": TEXT_OPTION,
            "coefficients": Option(
                "v1", "v1, v0, yu2022 (the paper's two metrics), or a file written by `rrgmetrics radcliq fit`"
            ),
            "idf": Option(
                "no",
                "weights of tokens in BERTScore. no: equal, as the authors; call: inverse document frequency in "
                "this call's references, as RadEval; frozen: inverse document frequency in idf_file",
                ("no", "call", "frozen"),
            ),
            "idf_file": Option("", "text file with one report a line, for idf=frozen"),
        },
        configs={
            "default": Config("the bundled versions of the four metrics, scaled to the authors' units"),
            "paper": Config(
                "RadGraph with case, distilroberta-base at layer 5 with rescaling, CheXbert; repeated spaces removed",
                {"text": "space"},
            ),
            "yu2022": Config(
                "RadGraph with case and BLEU-2 with the coefficients printed in the paper: a number of errors",
                {"text": "space", "coefficients": "yu2022"},
            ),
        },
        checkpoint="a file of coefficients written by `rrgmetrics radcliq fit`",
        needs=("reader", "encoder"),
        modality=CHEST_XRAY,
        paper="Yu et al. 2023, Patterns",
        citation="yu-2023-rexval",
        hacks=("contradiction",),
    ),
)
