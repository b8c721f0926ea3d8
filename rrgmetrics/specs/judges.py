"""Metrics that ask a judge, and the options of the engines that answer."""

from __future__ import annotations

from collections.abc import Mapping

from rrgmetrics.specs.model import INF, Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import CATEGORIES, CHEST_XRAY, MODALITY_OPTION, TEXT_OPTION, count, unit

JUDGE_OPTIONS: Mapping[str, Option] = {  # of the engines; the bundled one, `reader`, has none
    "base_url": Option(
        "", "openai: address of the server, such as http://127.0.0.1:8000/v1; empty: OpenAI's", stated=False
    ),
    "api_key": Option("OPENAI_API_KEY", "openai: environment variable that holds the API key", stated=False),
    "temperature": Option(
        0.0, "openai, vllm: sampling temperature; 0 always takes the most probable token", stated=False
    ),
    "top_p": Option(
        1.0, "openai, vllm: sample from the most probable tokens that have this total probability", stated=False
    ),
    "runs": Option(
        1, "number of times to ask each question; every reply is kept, and scores are means over the runs", stated=False
    ),
    "max_tokens": Option(0, "maximum length of a reply, in tokens; 0: the protocol's default", stated=False),
    "total_tokens": Option(
        0,
        "hf: maximum length of question and reply together, in tokens; 2048 as GREEN's authors; 0: the model's own "
        "limit",
        stated=False,
    ),
    "concurrency": Option(16, "openai: number of requests at the same time", stated=False),
    "timeout": Option(300.0, "openai: timeout of one request, in seconds", stated=False),
    "retries": Option(5, "openai: number of retries of a failed request", stated=False),
    "processes": Option(1, "hf: number of processes of an `accelerate launch`, which share the prompts", stated=False),
    "replicas": Option(0, "vllm: number of model replicas, which share the GPUs; 0: one for each GPU", stated=False),
    "cache": Option("", "folder that caches replies; no: no cache; empty: the user's cache folder", stated=False),
    "record": Option("", "file to which every reply is also written, for the engine replies:FILE", stated=False),
    "answers_as": Option(
        "",
        "openai: accepted name of the model in replies, if it differs from the one asked for; any: every name",
        stated=False,
    ),
    "price_in": Option(0.0, "openai: price of a million input tokens, for the cost estimate", stated=False),
    "price_out": Option(0.0, "openai: price of a million output tokens", stated=False),
}

BUNDLED_ENGINE = Config("the rule-based reader; no language model")
BUNDLED_CONFIGS: Mapping[str, Config] = {"default": BUNDLED_ENGINE, "reader": BUNDLED_ENGINE}
ENGINES: Mapping[str, str] = {  # that are configurations of every judge
    "hf:<id>": (
        "a causal language model run through transformers on this machine; a bare Hub id or folder means the same"
    ),
    "vllm:<id>": "the same through vLLM (extra vllm)",
    "openai:<model>": "any OpenAI-compatible server: vLLM, llama.cpp, Ollama, TGI, OpenAI itself (extra judges)",
    "replies:<file>": "replies recorded with `rrgmetrics judge --record`: gives the same scores without the model",
}
EXPLAIN_OPTION = Option(False, "also return the verdict on each pair, in words")

JUDGES = (
    MetricSpec(
        name="green",
        title="GREEN",
        summary="matched findings against significant errors, counted by a judge",
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
                "what to do with a reply that cannot be parsed. tolerant: leave the pair unscored; strict: score "
                "it as the authors' code does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
            "paper": Config(
                "StanfordAIMI/GREEN-radllama2-7b through transformers, with the authors' prompt. It needs a GPU of "
                "16 GB or more and runs in bf16, the format in which it is stored (the authors: fp16; replies may "
                "differ by rounding)"
            ),
            "small": Config(
                "StanfordAIMI/GREEN-RadPhi2, 2.7 billion weights, with the same prompt as `paper`; not tested here"
            ),
            "multimodal": Config(
                "StanfordAIMI/GREEN-MM-RadLLaMA-7b, also trained on reports of other modalities, with the same "
                "prompt as `paper`; not tested here"
            ),
            "small_multimodal": Config(
                "StanfordAIMI/GREEN-Gemma-2b-MM, also trained on other modalities, 2 billion weights; not tested here"
            ),
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
        summary="findings and errors weighted by their significance for the patient, by a judge",
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
            count("crimson_temporal", "E, F: wrong comparison"),
        ),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, None),
        options={
            "text": TEXT_OPTION,
            "modality": MODALITY_OPTION,
            "wording": Option(
                "own",
                "prompt. own: written for rrgmetrics; published: the authors' prompt for GPT; checkpoint: the "
                "prompt that medgemma-4b-it-crimson was trained with; the last two need rrgmetrics[crimson]",
                ("own", "published", "checkpoint"),
            ),
            "patient": Option(
                "years",
                "format of the age in the prompt. years: Age: 72; dicom: Age: 072Y, or as in DICOM, as the "
                "authors' prompts on RadPref; keys: age: 25, as their prompts on RadJudge",
                ("years", "dicom", "keys"),
            ),
            "parser": Option(
                "tolerant",
                "what to do with a reply that cannot be parsed. tolerant: leave the pair unscored; strict: read it "
                "as the authors' code does",
                ("tolerant", "strict"),
            ),
            "labels": Option(
                "published",
                "published: an unknown label weighs 0.25, an unknown id 0; strict: a reply with either is unscored",
                ("published", "strict"),
            ),
            "attributes": Option(
                "entries",
                "entries: an attribute error counts once, however many kinds it names, as in the authors' code; "
                "kinds: once for each kind that it names, as in the paper",
                ("entries", "kinds"),
            ),
            "complete": Option(
                False,
                "also count findings that a reply lists but neither matches nor calls an error: as false or missing",
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
            "paper": Config(
                "rajpurkarlab/medgemma-4b-it-crimson through transformers, with the prompt that it was trained "
                "with, in bf16. It decodes as its generation_config.json says if it has one, as the authors do; if "
                "that samples, seeds derive from the prompts, so that a second run gives the same replies. It "
                "needs a GPU of 12 GB or more, and `pip install 'rrgmetrics[crimson]'` for the authors' prompt",
                {"wording": "checkpoint"},
            ),
        },
        judge=True,
        own_prompt=True,
        needs=("reader",),
        takes_context=True,
        asks_with=("age", "sex", "indication"),
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
                "what to do with a reply that cannot be parsed. tolerant: leave the pair unscored; strict: read it "
                "as the authors' code does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
        },
        judge=True,
        own_prompt=True,
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
        own_prompt=True,
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
        summary="phrases that the other report entails, counted by a judge",
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
                "drop: leave out phrases that state an absent or normal finding, as RadFact+",
                ("keep", "drop"),
            ),
            "parser": Option(
                "tolerant",
                "what to do with a reply that cannot be parsed. strict: read it as RadEval's radfact_ct does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={
            **BUNDLED_CONFIGS,
        },
        judge=True,
        own_prompt=True,
        needs=("reader",),
        modality=CHEST_XRAY,
        paper="Bannur et al. 2024, arXiv 2406.04449",
        citation="bannur-etal-2024-maira2",
        hacks=("constant",),
        resists_tricks=True,
    ),
)
