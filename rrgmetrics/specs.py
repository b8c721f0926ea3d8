"""The one table of metric facts.

Modules, command line, cards, README, leaderboard, callbacks and the contract tests read `SPECS`; nobody repeats it.
Adding a metric begins with a row here (CONTRIBUTING.md).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from rrgmetrics.errors import InputError

OptionValue = str | int | float | bool
INF = math.inf
BUNDLED_MARK = "(bundled)"  # in the titles of a stand-in

Hack = Literal["repetition", "template", "order", "contradiction"]
HACKS: Mapping[Hack, str] = {  # in words
    "repetition": "saying a sentence again raises it",
    "template": "normal sentences appended to any report raise it",
    "order": "the right words in a wrong order keep most of it",
    "contradiction": "the right words with wrong sides and without their 'no' keep most of it",
}


@dataclass(frozen=True)
class Key:
    """One number that a metric returns.

    Attributes:
        name: Result key, unique over all metrics.
        title: How tables and pages name it.
        range: Smallest and largest possible value (closed; may be infinite).
        higher_is_better: Direction.
        per_pair: Whether the value exists for each pair as well as over all.
        aliases: What papers call it.
    """

    name: str
    title: str
    range: tuple[float, float]
    higher_is_better: bool
    per_pair: bool = True
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """A choice the caller makes with `?name=value`; its type is the type of `default`.

    Attributes:
        default: Value when nothing is said.
        help: One line for the card and `rrgmetrics list`.
        choices: Allowed values; empty means any value of the type.
        stated: Whether the signature states it. False: no score depends on it, or the engine that uses it says so.
    """

    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()
    stated: bool = True

    def parse(self, text: str, where: str) -> OptionValue:
        """Reads a value as typed by a user; raises InputError naming `where`."""
        value: OptionValue
        if isinstance(self.default, bool):
            if text not in ("yes", "no"):
                raise InputError(f"{where}={text!r} is not yes or no.")
            value = text == "yes"
        elif isinstance(self.default, int | float):
            kind = type(self.default)
            try:
                value = kind(text)
            except ValueError:
                raise InputError(
                    f"{where}={text!r} is not {'a whole number' if kind is int else 'a number'}."
                ) from None
            if not math.isfinite(value):
                raise InputError(f"{where}={text!r} is not finite.")
        else:
            value = text
        if self.choices and value not in self.choices:
            raise InputError(f"{where}={text!r} is unknown; choose one of {', '.join(map(str, self.choices))}.")
        return value

    @staticmethod
    def write(value: OptionValue) -> str:
        """The inverse of `parse`."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)


@dataclass(frozen=True)
class MetricSpec:
    """What is true of a metric, whoever computes it.

    Attributes:
        name: Folder = module = headline key.
        title: How tables name it.
        scorer: `module:class` below `rrgmetrics.scorers`.
        keys: What it returns; the first is the headline and has the metric's own name.
        level: "pair" if the corpus value is the mean over scored pairs, else "corpus".
        empty: The stated values: (empty, empty), (reference, empty), (empty, candidate); None: depends on the report.
        options: Declared options.
        configs: Named configurations and the option values each stands for.
        takes_checkpoint: Whether a Hub id or a folder is a configuration too.
        judge: Whether it asks a judge: takes engines as configurations, and `JUDGE_OPTIONS` beside its own options.
        needs: Backends it reads texts with.
        extra: pip extra it needs, "" if none.
        corpus_statistics: Whether a pair's score depends on the other pairs of the call.
        stand_in: Whether the default configuration stands in for a published model, rule or judge.
        takes_context: Whether the patient's age or indication can change a score of the default configuration.
        modality: What the metric knows about.
        paper: Where it was defined.
        licence: Of the weights or data it ships or loads by default.
        citation: BibTeX key in the module's script.
        hacks: What pays in a reward although it is not right: keys of `HACKS`, as measured on the default
            configuration (tests/callbacks/test_hacks.py).
    """

    name: str
    title: str
    scorer: str
    keys: tuple[Key, ...]
    level: Literal["pair", "corpus"]
    empty: tuple[float | None, float | None, float | None]
    options: Mapping[str, Option] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=lambda: {"default": {}})
    takes_checkpoint: bool = False
    judge: bool = False
    needs: tuple[str, ...] = ()
    extra: str = ""
    corpus_statistics: bool = False
    stand_in: bool = False
    takes_context: bool = False
    modality: str = "any text"
    paper: str = ""
    licence: str = ""
    citation: str = ""
    hacks: tuple[Hack, ...] = ()

    @property
    def headline(self) -> Key:
        """The key that carries the metric's own name."""
        return self.keys[0]

    def titled(self, *, bundled: bool) -> MetricSpec:
        """The metric as people read it: of what the wheel bundles for a published metric every title says so."""
        if not bundled:
            return self
        keys = tuple(replace(key, title=f"{key.title} {BUNDLED_MARK}") for key in self.keys)
        return replace(self, title=f"{self.title} {BUNDLED_MARK}", keys=keys)

    @property
    def range(self) -> tuple[float, float]:
        """Range of the headline."""
        return self.headline.range

    @property
    def higher_is_better(self) -> bool:
        """Direction of the headline."""
        return self.headline.higher_is_better


TEXT_OPTION = Option(
    "none", "normaliser applied to both texts first", ("none", "space", "lower", "words", "findings", "impression")
)

LONG_OPTION = Option(
    "truncate",
    "reports of more than 512 tokens (the reader reads all). truncate: cut as the paper does; windows: read in "
    "overlapping parts",
    ("truncate", "windows"),
)

JUDGE_OPTIONS: Mapping[str, Option] = {  # of the engines; the bundled one, `reader`, has none
    "base_url": Option("", "openai: address of the server, as http://127.0.0.1:8000/v1; empty: OpenAI's", stated=False),
    "api_key": Option("OPENAI_API_KEY", "openai: environment variable that holds the key", stated=False),
    "temperature": Option(0.0, "openai, vllm: 0 takes the most probable word each time", stated=False),
    "max_tokens": Option(0, "longest reply; 0: the protocol's own", stated=False),
    "concurrency": Option(16, "openai: requests at a time", stated=False),
    "timeout": Option(300.0, "openai: seconds that one request may take", stated=False),
    "retries": Option(5, "openai: further tries of a request that failed", stated=False),
    "processes": Option(1, "hf: processes of an `accelerate launch` that share the prompts", stated=False),
    "cache": Option("", "folder that keeps replies; no: none; empty: the user's cache folder", stated=False),
    "record": Option("", "file that also gets every reply, for the engine replies:FILE", stated=False),
    "price_in": Option(0.0, "openai: price of a million tokens asked, for the estimate of the cost", stated=False),
    "price_out": Option(0.0, "openai: price of a million tokens answered", stated=False),
}

JUDGE_CONFIGS: Mapping[str, Mapping[str, OptionValue]] = {"default": {}, "reader": {}}  # the bundled engine, twice
EXPLAIN_OPTION = Option(False, "also return each pair's verdict in words")
_CATEGORIES = {
    "false_finding": "A: false findings",
    "missing_finding": "B: missing findings",
    "incorrect_location": "C: wrong location",
    "incorrect_severity": "D: wrong severity",
    "false_comparison": "E: false comparisons",
    "missing_comparison": "F: missing comparisons",
}

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


def _unit(name: str, title: str, *aliases: str) -> Key:
    return Key(name, title, (0.0, 1.0), True, aliases=aliases)


def _label(name: str, title: str, *aliases: str) -> Key:
    return Key(name, title, (0.0, 1.0), True, per_pair=False, aliases=aliases)


def _count(name: str, title: str, *aliases: str) -> Key:
    return Key(name, title, (0.0, INF), False, aliases=aliases)


_ALL = (
    MetricSpec(
        name="finding_errors",
        title="Finding errors",
        scorer="finding_errors:FindingErrors",
        keys=(
            _count("finding_errors", "Finding errors"),
            _count("finding_errors_significant", "Significant errors"),
            _count("finding_errors_false_finding", "A: false findings"),
            _count("finding_errors_missing_finding", "B: missing findings"),
            _count("finding_errors_incorrect_location", "C: wrong location"),
            _count("finding_errors_incorrect_severity", "D: wrong severity"),
            _count("finding_errors_false_comparison", "E: false comparisons"),
            _count("finding_errors_missing_comparison", "F: missing comparisons"),
        ),
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "explain": Option(False, "also return each pair's errors in words, with the spans of both texts"),
        },
        needs=("reader",),
        takes_context=True,
        modality="chest X-ray reports in English",
        paper="rrgmetrics; categories of Yu et al. 2023, Patterns",
        citation="yu-2023-rexval",
    ),
    MetricSpec(
        name="crepe",
        title="CREPE",
        scorer="crepe:Crepe",
        keys=(
            Key("crepe", "CREPE", (0.0, INF), False, aliases=("CREPE",)),
            _count("crepe_false_finding", "A: false findings"),
            _count("crepe_missing_finding", "B: missing findings"),
            _count("crepe_incorrect_location", "C: wrong location"),
            _count("crepe_incorrect_severity", "D: wrong severity"),
            _count("crepe_false_comparison", "E: false comparisons"),
            _count("crepe_missing_comparison", "F: missing comparisons"),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "precision": Option("fp32", "arithmetic of the encoder", ("fp32", "bf16", "fp16")),
            "long": Option(
                "truncate",
                "pairs of more than 512 tokens. truncate: cut as the paper does; windows: read in aligned parts whose "
                "counts are added up",
                ("truncate", "windows"),
            ),
            "presence": Option(False, "also return each pair's probability of each kind of error"),
            "explain": Option(False, "also return the words that each pair's counts come from"),
        },
        configs={"default": {}, "paper": {}},
        takes_checkpoint=True,
        needs=("crepe",),
        modality="chest X-ray reports in English",
        paper="Cho et al. 2025, EMNLP",
        licence="default: Apache-2.0; paper: none is stated",
        citation="cho-2025-crepe",
    ),
    MetricSpec(
        name="green",
        title="GREEN",
        scorer="green:Green",
        keys=(
            _unit("green", "GREEN", "GREEN"),
            _count("green_errors_significant", "Significant errors"),
            _count("green_errors", "Errors", "GREEN EC", "GREEN E"),
            Key("green_matched_findings", "Matched findings", (0.0, INF), True),
            *(_count(f"green_{name}", title) for name, title in _CATEGORIES.items()),
            *(_count(f"green_{name}_significant", f"{title}, significant") for name, title in _CATEGORIES.items()),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "parser": Option(
                "tolerant",
                "tolerant: a reply that cannot be read is unscored; strict: scored as the authors' code does",
                ("tolerant", "strict"),
            ),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={**JUDGE_CONFIGS, "paper": {}},
        takes_checkpoint=True,
        judge=True,
        needs=("reader",),
        takes_context=True,
        extra="",
        modality="chest X-ray reports in English",
        paper="Ostmeier et al. 2024, Findings of EMNLP",
        citation="ostmeier-etal-2024-green",
    ),
    MetricSpec(
        name="crimson",
        title="CRIMSON",
        scorer="crimson:Crimson",
        keys=(
            Key("crimson", "CRIMSON", (-1.0, 1.0), True, aliases=("CRIMSON",)),
            _count("crimson_errors", "Errors", "CRIMSON E"),
            _count("crimson_errors_significant", "Significant errors"),
            _count("crimson_weighted_errors", "Weighted errors", "Weighted E"),
            _count("crimson_false_finding", "A: false findings"),
            _count("crimson_missing_finding", "B: missing findings"),
            _count("crimson_incorrect_location", "C: wrong location"),
            _count("crimson_incorrect_severity", "D: wrong in another attribute"),
            _count("crimson_severity", "Wrong severity"),
            _count("crimson_descriptor", "Wrong description"),
            _count("crimson_measurement", "Wrong measurement"),
            _count("crimson_certainty", "Wrong certainty"),
            _count("crimson_unspecific", "Too vague"),
            _count("crimson_overinterpretation", "Overinterpreted"),
            _count("crimson_temporal", "E, F: wrong course"),
        ),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, None),
        options={
            "text": TEXT_OPTION,
            "wording": Option(
                "own",
                "how a model is asked. own: in our words; published: as the authors ask GPT; checkpoint: as "
                "medgemma-4b-it-crimson was trained; the last two need crimson-score",
                ("own", "published", "checkpoint"),
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
            "complete": Option(False, "count as false or missing what a reply lists as found but puts nowhere"),
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs={**JUDGE_CONFIGS, "paper": {"wording": "checkpoint"}},
        takes_checkpoint=True,
        judge=True,
        needs=("reader",),
        takes_context=True,
        modality="chest X-ray reports in English",
        paper="Baharoon et al. 2026, arXiv 2603.06183",
        citation="baharoon-2026-crimson",
    ),
    MetricSpec(
        name="chexprompt",
        title="CheXprompt",
        scorer="chexprompt:Chexprompt",
        keys=(
            _count("chexprompt", "CheXprompt errors", "CheXprompt", "CheXprompt total"),
            _count("chexprompt_significant", "Significant errors", "CheXprompt significant"),
            *(_count(f"chexprompt_{name}", title) for name, title in _CATEGORIES.items()),
            *(_count(f"chexprompt_{name}_significant", f"{title}, significant") for name, title in _CATEGORIES.items()),
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
        configs=JUDGE_CONFIGS,
        takes_checkpoint=True,
        judge=True,
        needs=("reader",),
        takes_context=True,
        modality="chest X-ray reports in English",
        paper="Zambrano Chaves et al. 2025, Nature Communications",
        citation="zambranochaves-etal-2025-chexprompt",
    ),
    MetricSpec(
        name="fineradscore",
        title="FineRadScore",
        scorer="fineradscore:Fineradscore",
        keys=(
            _count("fineradscore", "FineRadScore severities", "FineRadScore"),
            _count("fineradscore_corrections", "Corrections"),
            Key("fineradscore_max_severity", "Greatest severity", (0.0, 4.0), False),
            *(_count(f"fineradscore_{name}", title) for name, title in _CATEGORIES.items()),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, None, None),
        options={
            "text": TEXT_OPTION,
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs=JUDGE_CONFIGS,
        takes_checkpoint=True,
        judge=True,
        needs=("reader",),
        takes_context=True,
        modality="chest X-ray reports in English",
        paper="Huang et al. 2024, MLHC",
        citation="huang-etal-2024-fineradscore",
    ),
    MetricSpec(
        name="radfact",
        title="RadFact",
        scorer="radfact:Radfact",
        keys=(
            _unit("radfact", "RadFact F1", "RadFact", "logical F1"),
            _unit("radfact_precision", "RadFact precision", "logical precision"),
            _unit("radfact_recall", "RadFact recall", "logical recall"),
        ),
        stand_in=True,
        level="corpus",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "explain": EXPLAIN_OPTION,
            **JUDGE_OPTIONS,
        },
        configs=JUDGE_CONFIGS,
        takes_checkpoint=True,
        judge=True,
        needs=("reader",),
        modality="chest X-ray reports in English",
        paper="Bannur et al. 2024, arXiv 2406.04449",
        citation="bannur-etal-2024-maira2",
    ),
    MetricSpec(
        name="radgraph_f1",
        title="RadGraph F1",
        scorer="radgraph_f1:RadgraphF1",
        keys=(
            _unit("radgraph_f1", "RadGraph F1", "RadGraph-F1", "F1-RadGraph", "RG_ER", "radgraph_partial"),
            _unit("radgraph_f1_simple", "RadGraph F1, simple", "RG_E", "radgraph_simple"),
            _unit("radgraph_f1_partial", "RadGraph F1, partial", "RG_ER", "radgraph_partial"),
            _unit("radgraph_f1_complete", "RadGraph F1, complete", "RG_ER-bar", "radgraph_complete"),
            _unit("radgraph_f1_radcliq", "RadGraph F1 in RadCliQ", "RadGraph F1 (RadCliQ)", "radgraph_radcliq"),
            _unit("radgraph_f1_entity", "RadGraph F1, entities"),
            _unit("radgraph_f1_relation", "RadGraph F1, relations"),
        ),
        stand_in=True,
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "lowercase": Option(
                True, "ignore case, as the authors do since May 2026; no: as radgraph 0.1.18 and RadEval"
            ),
            "record": Option("", "file that gets the graphs as JSON, for radgraph_f1@graphs:FILE", stated=False),
        },
        configs={"default": {}, "paper": {}, "radgraph": {}},
        takes_checkpoint=True,
        needs=("reader", "radgraph"),
        modality="chest X-ray reports in English",
        paper="Delbrouck et al. 2022, Findings of EMNLP",
        citation="delbrouck-etal-2022-improving",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="chexbert_f1",
        title="CheXbert F1",
        scorer="chexbert_f1:ChexbertF1",
        keys=(
            _unit("chexbert_f1", "CheXbert F1 micro-14", "CheXbert-14 micro", "Micro-F1-14", "f1chexbert_all_micro_f1"),
            _unit("chexbert_f1_precision", "CheXbert precision micro-14"),
            _unit("chexbert_f1_recall", "CheXbert recall micro-14"),
            _label(
                "chexbert_f1_macro_14",
                "CheXbert F1 macro-14",
                "CheXbert-14 macro",
                "Macro-F1-14",
                "f1chexbert_all_macro_f1",
            ),
            _label(
                "chexbert_f1_weighted_14",
                "CheXbert F1 weighted-14",
                "CheXbert-14 weighted",
                "f1chexbert_all_weighted_f1",
            ),
            _unit(
                "chexbert_f1_micro_5", "CheXbert F1 micro-5", "CheXbert-5 micro", "Micro-F1-5", "f1chexbert_5_micro_f1"
            ),
            _label(
                "chexbert_f1_macro_5", "CheXbert F1 macro-5", "CheXbert-5 macro", "Macro-F1-5", "f1chexbert_5_macro_f1"
            ),
            _label(
                "chexbert_f1_weighted_5", "CheXbert F1 weighted-5", "CheXbert-5 weighted", "f1chexbert_5_weighted_f1"
            ),
            *(_label(f"chexbert_f1_{name.lower().replace(' ', '_')}", name) for name in _CONDITIONS),
            _unit("chexbert_f1_agreement_14", "Labels that agree, 14", "f1chexbert_sample_acc_all"),
            _unit("chexbert_f1_agreement_5", "Labels that agree, 5", "f1chexbert_sample_acc_5"),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "uncertain": Option(
                "positive",
                "what an uncertain condition counts as; ignored: not at all in that pair",
                ("positive", "negative", "ignored"),
            ),
            "long": LONG_OPTION,
            "explain": Option(False, "also return what both reports say of each condition"),
        },
        configs={"default": {}, "paper": {}},
        takes_checkpoint=True,
        needs=("reader",),
        modality="chest X-ray reports in English",
        paper="Smit et al. 2020, EMNLP",
        licence="default: Apache-2.0; paper: that of StanfordAIMI/RRG_scorers",
        citation="smit-etal-2020-chexbert",
        hacks=("order", "contradiction"),
    ),
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
        modality="chest X-ray reports in English",
        paper="Yu et al. 2023, Patterns",
        licence="default: Apache-2.0; paper: that of StanfordAIMI/RRG_scorers",
        citation="yu-2023-rexval",
        hacks=("order", "contradiction"),
    ),
    MetricSpec(
        name="bleu",
        title="BLEU",
        scorer="bleu:Bleu",
        keys=(
            _unit("bleu", "BLEU-4", "BLEU", "BLEU-4", "B-4"),
            _unit("bleu_1", "BLEU-1", "BLEU-1", "B-1"),
            _unit("bleu_2", "BLEU-2", "BLEU-2", "B-2"),
            _unit("bleu_3", "BLEU-3", "BLEU-3", "B-3"),
        ),
        level="corpus",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "tokenizer": Option(
                "coco",
                "coco: whitespace tokens and the COCO caption arithmetic that RRG papers and RadEval report; "
                "13a: sacrebleu's tokens and smoothing",
                ("coco", "13a"),
            ),
        },
        needs=("tokens",),
        paper="Papineni et al. 2002, ACL",
        citation="papineni-etal-2002-bleu",
        hacks=("repetition", "template", "contradiction"),
    ),
    MetricSpec(
        name="rouge",
        title="ROUGE",
        scorer="rouge:Rouge",
        keys=(
            _unit("rouge", "ROUGE-L", "ROUGE-L", "RG-L", "R-L", "rougeL"),
            _unit("rouge_1", "ROUGE-1", "ROUGE-1", "R-1", "rouge1"),
            _unit("rouge_2", "ROUGE-2", "ROUGE-2", "R-2", "rouge2"),
            _unit("rouge_l", "ROUGE-L", "ROUGE-L", "RG-L", "R-L", "rougeL"),
        ),
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={"text": TEXT_OPTION, "stemmer": Option(True, "Porter stems of words longer than three letters")},
        needs=("tokens",),
        paper="Lin 2004, Text Summarization Branches Out",
        citation="lin-2004-rouge",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="meteor",
        title="METEOR",
        scorer="meteor:Meteor",
        keys=(_unit("meteor", "METEOR", "METEOR", "MTR"),),
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "tokenizer": Option(
                "wordpunct",
                "wordpunct: words and runs of punctuation; whitespace: str.split()",
                ("wordpunct", "whitespace"),
            ),
            "synonyms": Option(True, "match WordNet synonyms after exact words and stems"),
            "wordnet": Option(
                "", "folder of WordNet database files; empty: the WordNet 3.0 that ships with rrgmetrics"
            ),
        },
        needs=("tokens", "wordnet"),
        paper="Banerjee and Lavie 2005, ACL workshop",
        licence="WordNet 3.0 licence (synonyms)",
        citation="banerjee-lavie-2005-meteor",
        hacks=("repetition", "template", "contradiction"),
    ),
    MetricSpec(
        name="cider",
        title="CIDEr-D",
        scorer="cider:Cider",
        keys=(Key("cider", "CIDEr-D", (0.0, 10.0), True, aliases=("CIDEr", "CIDEr-D")),),
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={"text": TEXT_OPTION},
        needs=("tokens",),
        corpus_statistics=True,
        paper="Vedantam et al. 2015, CVPR",
        citation="vedantam-2015-cider",
        hacks=("repetition", "template", "contradiction"),
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
        name="temporal_f1",
        title="Temporal F1",
        scorer="temporal_f1:TemporalF1",
        keys=(_unit("temporal_f1", "Temporal F1", "Temporal-F1", "TEM"),),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, None),
        options={
            "text": TEXT_OPTION,
            "form": Option(
                "reader",
                "reader: statements of change of findings, as the reader understands them; keywords: the published "
                "form, sets of 44 words",
                ("reader", "keywords"),
            ),
            "explain": Option(False, "also return what either report says of change"),
        },
        configs={"default": {}, "paper": {"form": "keywords"}},
        needs=("reader",),
        modality="chest X-ray reports in English",
        paper="Zhang et al. 2024, arXiv 2411.19378",
        citation="zhang-2024-libra",
    ),
    MetricSpec(
        name="srr_bert_f1",
        title="SRR-BERT F1",
        scorer="srr_bert_f1:SrrBertF1",
        keys=(
            _unit("srr_bert_f1", "SRR-BERT F1 weighted", "SRR-BERT", "F1-SRR-BERT", "srrbert_weighted_f1"),
            _unit("srr_bert_f1_precision", "SRR-BERT precision weighted", "srrbert_weighted_precision"),
            _unit("srr_bert_f1_recall", "SRR-BERT recall weighted", "srrbert_weighted_recall"),
            Key("srr_bert_f1_micro", "SRR-BERT F1 micro", (0.0, 1.0), True, per_pair=False),
            Key("srr_bert_f1_macro", "SRR-BERT F1 macro", (0.0, 1.0), True, per_pair=False),
            _unit("srr_bert_f1_jaccard", "Mean Jaccard index", "RadEval's srrbert per sample"),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "level": Option("leaves", "leaves: 54 findings; upper: 24 groups of findings", ("leaves", "upper")),
            "statuses": Option(False, "whether a label says present, uncertain or absent, and must agree in that too"),
            "explain": Option(False, "also return the labels of both reports"),
        },
        configs={"default": {}, "paper": {"statuses": True}},
        takes_checkpoint=True,
        needs=("reader",),
        modality="chest X-ray reports in English",
        paper="Delbrouck et al. 2025, ACL",
        licence="default: Apache-2.0; paper: that of its card",
        citation="delbrouck-etal-2025-srr",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="radcliq",
        title="RadCliQ",
        scorer="radcliq:Radcliq",
        keys=(
            Key("radcliq", "RadCliQ", (-INF, INF), False, aliases=("RadCliQ-v1", "RadCliQ-v0")),
            Key("radcliq_rexrank", "1 / mean RadCliQ", (-INF, INF), True, per_pair=False, aliases=("1/RadCliQ-v1",)),
            Key("radcliq_radgraph", "RadGraph F1 in it", (0.0, 1.0), True),
            Key("radcliq_bertscore", "BERTScore in it", (-INF, 1.0), True),
            Key("radcliq_semb", "SembScore in it", (-1.0, 1.0), True),
            Key("radcliq_bleu", "BLEU-2 in it", (0.0, 1.0), True),
        ),
        stand_in=True,
        level="pair",
        empty=(2.4501430833271307,) * 3,
        options={
            "text": TEXT_OPTION,
            "coefficients": Option("v1", "v1, v0, or a file that `rrgmetrics radcliq fit` wrote"),
            "idf": Option(
                "no",
                "weight of a token in BERTScore. no: all alike, as the authors; call: inverse document frequency in "
                "this call's references, as RadEval; frozen: in the reports of idf_file",
                ("no", "call", "frozen"),
            ),
            "idf_file": Option("", "text file, one report a line, for idf=frozen"),
        },
        configs={"default": {}, "paper": {"text": "space"}},
        takes_checkpoint=True,
        needs=("reader", "encoder"),
        modality="chest X-ray reports in English",
        paper="Yu et al. 2023, Patterns",
        citation="yu-2023-rexval",
        hacks=("contradiction",),
    ),
    MetricSpec(
        name="ratescore",
        title="RaTEScore",
        scorer="ratescore:Ratescore",
        keys=(
            _unit("ratescore", "RaTEScore", "RaTEScore", "RaTE"),
            _unit("ratescore_precision", "RaTEScore precision"),
            _unit("ratescore_recall", "RaTEScore recall"),
        ),
        stand_in=True,
        level="pair",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "matrix": Option(
                "long", "the authors' weights of pairs of types, for long or for short", ("long", "short")
            ),
            "no_entities": Option(
                "f1",
                "a pair in which a report has no entities. f1: 1 if neither has any, else 0; published: 0.5",
                ("f1", "published"),
            ),
            "encoder": Option("", "encoder of entities, a Hub id or folder; empty: the configuration's own"),
        },
        configs={"default": {}, "paper": {"no_entities": "published"}},
        takes_checkpoint=True,
        needs=("reader", "encoder"),
        modality="chest X-ray reports in English",
        paper="Zhao et al. 2024, EMNLP",
        citation="zhao-etal-2024-ratescore",
        hacks=("contradiction",),
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
        modality="chest X-ray reports in English",
        paper="Xu et al. 2025, EMNLP demonstrations",
        licence="default: Apache-2.0; paper: that of its card",
        citation="xu-etal-2025-radeval",
        hacks=("order", "contradiction"),
    ),
    MetricSpec(
        name="f1_radbert_ct",
        title="RadBERT-CT F1",
        scorer="f1_radbert_ct:F1RadbertCt",
        keys=(
            _unit("f1_radbert_ct", "RadBERT-CT F1 weighted", "F1RadBERT-CT", "f1radbert_ct_weighted_f1"),
            _unit("f1_radbert_ct_precision", "RadBERT-CT precision weighted"),
            _unit("f1_radbert_ct_recall", "RadBERT-CT recall weighted"),
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
            _unit("f1_radbert_ct_accuracy", "All labels agree", "f1radbert_ct_accuracy"),
        ),
        stand_in=True,
        level="corpus",
        empty=(1.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "explain": Option(False, "also return the labels of both reports"),
        },
        configs={"default": {}, "paper": {}},
        takes_checkpoint=True,
        needs=("reader",),
        modality="chest CT reports in English",
        paper="Hamamci et al. 2024, arXiv 2403.17834",
        licence="default: Apache-2.0; paper: that of its card",
        citation="hamamci-2024-ct-rate",
        hacks=("contradiction",),
    ),
)

SPECS: Mapping[str, MetricSpec] = {spec.name: spec for spec in _ALL}

PRESETS: Mapping[str, tuple[str, ...]] = {  # a name that stands for several, wherever metrics are named
    # What RRG papers tabulate, bundled.
    "paper-table": (
        "bleu",
        "rouge",
        "meteor",
        "cider",
        "bertscore",
        "radgraph_f1",
        "chexbert_f1",
        "semb_score",
        "radcliq",
        "ratescore",
        "srr_bert_f1",
        "temporal_f1",
        "radeval_bertscore",
        "f1_radbert_ct",
    ),
    # RadEval 2.2's metrics for chest X-rays with its settings, those that ask a language model left out.
    "radeval": (
        "bleu",
        "rouge",
        "bertscore@radeval",
        "radeval_bertscore@paper",
        "chexbert_f1@paper",
        "radgraph_f1@paper?lowercase=no",
        "radcliq@paper?idf=call&text=none",
        "ratescore@paper",
        "srr_bert_f1@paper",
        "temporal_f1@paper",
    ),
    # What ReXrank's leaderboard shows, with the checkpoints that it names.
    "rexrank": (
        "bleu",
        "bertscore@radcliq",
        "semb_score@paper",
        "radgraph_f1@radgraph?lowercase=no",
        "radcliq@paper",
        "ratescore@paper",
        "green@paper",
    ),
    # The metrics that the CREPE paper compares (its table 2).
    "crepe-paper": (
        "bleu",
        "rouge",
        "meteor",
        "bertscore@paper",
        "radgraph_f1@paper",
        "semb_score@paper",
        "ratescore@paper",
        "radcliq@paper",
        "green@paper",
        "crepe@paper",
    ),
}


def known_as(alias: str) -> list[Key]:
    """The keys that papers call `alias`, whatever its capitals.

    Example:
        >>> [key.name for key in known_as("CheXbert-5 micro")]
        ['chexbert_f1_micro_5']
    """
    return [key for _, key in all_keys() if alias.casefold() in map(str.casefold, key.aliases)]


def get_spec(name: str) -> MetricSpec:
    """The spec of a metric; raises InputError with near spellings for an unknown name, or with what it is here."""
    if name in SPECS:
        return SPECS[name]
    if name in PRESETS:
        raise InputError(f"{name!r} stands for several metrics; name one of them here: {', '.join(PRESETS[name])}.")
    called = [(spec, key) for spec, key in all_keys() if key in known_as(name)]
    if called:
        spec, key = called[0]
        raise InputError(f"What papers call {name!r} is {key.name} here; name the metric {spec.name}.")
    near = difflib.get_close_matches(name, [*SPECS, *PRESETS], n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(SPECS)}."
    raise InputError(f"There is no metric {name!r}; {hint} `rrgmetrics list` shows all.")


def all_keys() -> Iterator[tuple[MetricSpec, Key]]:
    """Every (metric, key) of the table, in its order."""
    for spec in SPECS.values():
        for key in spec.keys:
            yield spec, key
