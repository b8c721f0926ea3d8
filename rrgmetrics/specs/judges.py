"""Metrics that ask a judge, and the options of the engines that answer."""

from __future__ import annotations

from collections.abc import Mapping

from rrgmetrics.specs.model import INF, Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CATEGORIES, CHEST_XRAY, MODALITY_OPTION, TEXT_OPTION, count, unit

JUDGE_OPTIONS: Mapping[str, Option] = {  # of the engines; the bundled one, `reader`, has none
    "base_url": Option("", "openai: address of the server, as http://127.0.0.1:8000/v1; empty: OpenAI's", stated=False),
    "api_key": Option("OPENAI_API_KEY", "openai: environment variable that holds the key", stated=False),
    "temperature": Option(0.0, "openai, vllm: 0 takes the most probable word each time", stated=False),
    "top_p": Option(1.0, "openai, vllm: draw from the words that make up this share of probability", stated=False),
    "runs": Option(1, "times that each question is asked, each reply kept; scores are means of the runs", stated=False),
    "max_tokens": Option(0, "longest reply; 0: the protocol's own", stated=False),
    "total_tokens": Option(
        0,
        "hf: most tokens of question and reply together, 2048 as GREEN's authors; 0: what the model reads",
        stated=False,
    ),
    "concurrency": Option(16, "openai: requests at a time", stated=False),
    "timeout": Option(300.0, "openai: seconds that one request may take", stated=False),
    "retries": Option(5, "openai: further tries of a request that failed", stated=False),
    "processes": Option(1, "hf: processes of an `accelerate launch` that share the prompts", stated=False),
    "replicas": Option(0, "vllm: models side by side, each with its share of the GPUs; 0: one a GPU", stated=False),
    "cache": Option("", "folder that keeps replies; no: none; empty: the user's cache folder", stated=False),
    "record": Option("", "file that also gets every reply, for the engine replies:FILE", stated=False),
    "answers_as": Option("", "openai: model that answers name, if not the one asked; any: every one", stated=False),
    "price_in": Option(0.0, "openai: price of a million tokens asked, for the estimate of the cost", stated=False),
    "price_out": Option(0.0, "openai: price of a million tokens answered", stated=False),
}

BUNDLED_ENGINE = Config("the reader; no language model")
BUNDLED_CONFIGS: Mapping[str, Config] = {"default": BUNDLED_ENGINE, "reader": BUNDLED_ENGINE}
ENGINES: Mapping[str, str] = {  # that are configurations of every judge
    "hf:<id>": "a causal language model through transformers, on this machine; so is a bare Hub id or a folder",
    "vllm:<id>": "the same through vLLM (extra vllm)",
    "openai:<model>": "any OpenAI-compatible server: vLLM, llama.cpp, Ollama, TGI, OpenAI itself (extra judges)",
    "replies:<file>": "replies recorded with `rrgmetrics judge --record`: the same scores without the model",
}
EXPLAIN_OPTION = Option(False, "also return each pair's verdict in words")

JUDGES = (
    MetricSpec(
        name="green",
        title="GREEN",
        summary="matched findings against significant errors, by a judge",
        scorer="rrgmetrics.scorers.green:Green",
        keys=(
            unit("green", "GREEN", "GREEN"),
            count("green_errors_significant", "Significant errors"),
            count("green_errors", "Errors", "GREEN EC", "GREEN E"),
            Key("green_matched_findings", "Matched findings", (0.0, INF), True),
            *(count(f"green_{name}", title) for name, title in CATEGORIES.items()),
            *(count(f"green_{name}_significant", f"{title}, significant") for name, title in CATEGORIES.items()),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "parser": Option(
                "tolerant",
                "tolerant: a reply that cannot be read is unscored; strict: scored as the authors' code does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
            "paper": Config(
                "StanfordAIMI/GREEN-radllama2-7b through transformers, asked as the authors ask it; a GPU of 16 GB or "
                "more, where it runs in bf16 as it is stored (the authors: fp16; replies may differ by rounding)"
            ),
            "small": Config("StanfordAIMI/GREEN-RadPhi2, 2.7 billion weights, asked as `paper` is; not run here"),
            "multimodal": Config(
                "StanfordAIMI/GREEN-MM-RadLLaMA-7b, trained on reports of other modalities too, asked as `paper` is; "
                "not run here"
            ),
            "small_multimodal": Config("StanfordAIMI/GREEN-Gemma-2b-MM, the same at 2 billion weights; not run here"),
        },
        judge=True,
        needs=("reader",),
        takes_context=True,
        extra="",
        modality=CHEST_XRAY,
        paper="Ostmeier et al. 2024, Findings of EMNLP",
        citation="ostmeier-etal-2024-green",
        resists_tricks=True,
    ),
    MetricSpec(
        name="crimson",
        title="CRIMSON",
        summary="findings weighted by what they mean for this patient",
        scorer="rrgmetrics.scorers.crimson:Crimson",
        keys=(
            Key("crimson", "CRIMSON", (-1.0, 1.0), True, aliases=("CRIMSON",)),
            count("crimson_errors", "Errors", "CRIMSON E"),
            count("crimson_errors_significant", "Significant errors"),
            count("crimson_weighted_errors", "Weighted errors", "Weighted E"),
            count("crimson_false_finding", "A: false findings"),
            count("crimson_missing_finding", "B: missing findings"),
            count("crimson_incorrect_location", "C: wrong location"),
            count("crimson_incorrect_severity", "D: wrong in another attribute"),
            count("crimson_severity", "Wrong severity"),
            count("crimson_descriptor", "Wrong description"),
            count("crimson_measurement", "Wrong measurement"),
            count("crimson_certainty", "Wrong certainty"),
            count("crimson_unspecific", "Too vague"),
            count("crimson_overinterpretation", "Overinterpreted"),
            count("crimson_temporal", "E, F: wrong course"),
        ),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, None),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "wording": Option(
                "own",
                "how a model is asked. own: in our words; published: as the authors ask GPT; checkpoint: as "
                "medgemma-4b-it-crimson was trained; the last two need rrgmetrics[crimson]",
                ("own", "published", "checkpoint"),
            ),
            "patient": Option(
                "years",
                "how the question gives the age. years: Age: 72; dicom: Age: 072Y, or as DICOM has it, as the authors "
                "ask on RadPref; keys: age: 25, as they ask on RadJudge",
                ("years", "dicom", "keys"),
            ),
            "parser": Option(
                "tolerant",
                "tolerant: a reply that cannot be read is unscored; strict: read as the authors' code does",
                ("tolerant", "strict"),
            ),
            "labels": Option(
                "published",
                "published: an unknown label weighs 0.25, an unknown id 0; strict: such a reply is unscored",
                ("published", "strict"),
            ),
            "attributes": Option(
                "entries",
                "entries: an attribute error weighs once, whatever it names, as in the authors' code; kinds: once for "
                "each kind that it names, as in the paper",
                ("entries", "kinds"),
            ),
            "complete": Option(False, "count as false or missing what a reply lists as found but puts nowhere"),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
            "paper": Config(
                "rajpurkarlab/medgemma-4b-it-crimson through transformers, asked as it was trained, in bf16, and "
                "decoded as its generation_config.json says if it has one, as the authors do (where that samples, the "
                "seeds are made of the prompts: a run gives the same again); a GPU of 12 GB or more, and `pip install "
                "'rrgmetrics[crimson]'` for the authors' question",
                {"wording": "checkpoint"},
            ),
        },
        judge=True,
        needs=("reader",),
        takes_context=True,
        modality=CHEST_XRAY,
        paper="Baharoon et al. 2026, arXiv 2603.06183",
        citation="baharoon-2026-crimson",
        hacks=("constant",),
        resists_tricks=True,
    ),
    MetricSpec(
        name="chexprompt",
        title="CheXprompt",
        summary="errors of six types, counted by a judge",
        scorer="rrgmetrics.scorers.chexprompt:Chexprompt",
        keys=(
            count("chexprompt", "CheXprompt errors", "CheXprompt", "CheXprompt total"),
            count("chexprompt_significant", "Significant errors", "CheXprompt significant"),
            *(count(f"chexprompt_{name}", title) for name, title in CATEGORIES.items()),
            *(count(f"chexprompt_{name}_significant", f"{title}, significant") for name, title in CATEGORIES.items()),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "parser": Option(
                "tolerant",
                "tolerant: a reply that cannot be read is unscored; strict: read as the authors' code does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
        },
        judge=True,
        needs=("reader",),
        takes_context=True,
        modality=CHEST_XRAY,
        paper="Zambrano Chaves et al. 2025, Nature Communications",
        citation="zambranochaves-etal-2025-chexprompt",
        resists_tricks=True,
    ),
    MetricSpec(
        name="fineradscore",
        title="FineRadScore",
        summary="corrections weighted by severity, by a judge",
        scorer="rrgmetrics.scorers.fineradscore:Fineradscore",
        keys=(
            count("fineradscore", "FineRadScore severities", "FineRadScore"),
            count("fineradscore_corrections", "Corrections"),
            Key("fineradscore_max_severity", "Greatest severity", (0.0, 4.0), False),
            *(count(f"fineradscore_{name}", title) for name, title in CATEGORIES.items()),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
        },
        judge=True,
        needs=("reader",),
        takes_context=True,
        modality=CHEST_XRAY,
        paper="Huang et al. 2024, MLHC",
        citation="huang-etal-2024-fineradscore",
        resists_tricks=True,
    ),
    MetricSpec(
        name="radfact",
        title="RadFact",
        summary="phrases that follow from the other report, by a judge",
        scorer="rrgmetrics.scorers.radfact:Radfact",
        keys=(
            unit("radfact", "RadFact F1", "RadFact", "logical F1"),
            unit("radfact_precision", "RadFact precision", "logical precision"),
            unit("radfact_recall", "RadFact recall", "logical recall"),
        ),
        stand_in=True,
        level="corpus",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "negatives": Option(
                "keep",
                "drop: without phrases that say that something is absent or normal, which is RadFact+",
                ("keep", "drop"),
            ),
            "parser": Option("tolerant", "strict: reads replies as RadEval's radfact_ct does", ("tolerant", "strict")),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
        },
        judge=True,
        needs=("reader",),
        modality=CHEST_XRAY,
        paper="Bannur et al. 2024, arXiv 2406.04449",
        citation="bannur-etal-2024-maira2",
        hacks=("constant",),
        resists_tricks=True,
    ),
)
