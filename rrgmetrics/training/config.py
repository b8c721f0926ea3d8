"""Configs of training: read from YAML files and `key=value` arguments, checked by pydantic.

`TrainerConfig` is what every run shares, `CrepeConfig` and `EncoderConfig` add what their models need; a file states
only what it changes. The defaults of `CrepeConfig` are the paper's (CREPE, EMNLP 2025, section 4 and appendix A). The
authors publish neither learning rate, weight decay and warm-up nor optimizer, schedule and seed: those are ours, from
the middle of what they say they searched, and are marked so in `configs/crepe.yaml`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from rrgmetrics.errors import InputError
from rrgmetrics.utils.bounded_files import read_yaml_text, yaml_errors

CONFIGS = Path(__file__).parent / "configs"
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Length = Annotated[int, Field(ge=8)]
CountOrNone = Annotated[int, Field(ge=0)]
Paths = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value), Field(strict=False)
]
Precision = Literal["auto", "fp32", "bf16", "fp16"]
Schedule = Literal["linear", "cosine", "constant_with_warmup"]
Loss = Literal["mse", "poisson", "mse+bce", "poisson+bce"]
Features = Literal["pooler", "cls", "tokens"]
READER, COUNTS, REPLIES = "reader", "counts", "replies:"  # whose verdicts a judge learns
SEARCHABLE = ("learning_rate", "weight_decay", "warmup_ratio", "epochs", "presence_weight", "token_weight")


class _Loader(yaml.SafeLoader):
    """Reads 1e-5 as a number, as YAML 1.2 has it; PyYAML takes it for a text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(?:\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


class TrainerConfig(BaseModel):
    """What every run shares.

    Attributes:
        epochs: Passes over the training rows; a fraction ends within one.
        batch_size: Rows an optimizer step, over all processes and accumulated passes.
        accumulation: Passes a step, for a batch that does not fit into memory.
        learning_rate: Peak of the schedule.
        weight_decay: AdamW's, on all weights but biases and normalisations.
        warmup_ratio: Share of all steps over which the learning rate rises.
        schedule: How it falls afterwards.
        max_grad_norm: Gradients are scaled down to this norm.
        precision: `auto` is fp16 on CUDA, as in the paper, and fp32 elsewhere; bf16 is autocast, on CPUs too.
        seed: Of weights, order of rows, dropout and masks.
        evaluations: Evaluations an epoch, less than one for every second, third, ...; each saves a checkpoint.
        patience: Evaluations without a better one after which training ends; 0 never ends early.
        workers: Processes that build batches beside the training process.
        cpu: Train on the CPU even where there is a GPU.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    epochs: NotNegative = 10
    batch_size: Count = 64
    accumulation: Count = 1
    learning_rate: Positive = 3e-5
    weight_decay: NotNegative = 0.01
    warmup_ratio: Share = 0.1
    schedule: Schedule = "linear"
    max_grad_norm: Positive = 1.0
    precision: Precision = "auto"
    seed: CountOrNone = 0
    evaluations: Positive = 1
    patience: CountOrNone = 3
    workers: CountOrNone = 0
    cpu: bool = False

    def __init__(self, **values: Any) -> None:
        """Checks the values.

        Raises:
            InputError: An unknown key, or a value of the wrong type or out of range.
        """
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InputError(_explained(error.errors()[0], list(type(self).model_fields))) from None


class CrepeConfig(TrainerConfig):
    """How a CREPE regressor is trained.

    Attributes:
        pairs: Parquet files of labelled pairs, or folders of them; see `rrgmetrics synthesize`.
        encoder: Hub id or folder of the encoder. A CREPE checkpoint also gives its heads.
        max_length: Tokens a pair, longer pairs are cut longest report first.
        heads: 6 (A to F), 2 (significant, not significant) or 1 (all).
        loss: Of the counts, and whether a presence loss stands beside it (equations 4 to 7).
        presence_weight: w of (1 - w)·L_count + w·L_presence.
        features: What the heads read: the pooler's output, the state of [CLS], or a rate for each token.
        token_weight: Weight of the squared error of token rates against the evidence (with `tokens`).
        alignment: Whether the network is told where each word stands in the other report.
        whole: Counts this close to a whole number are read as it, by whoever scores with the checkpoint.
        layers: The first so many that stay where a CREPE checkpoint is trained further; 0: all.
        intermediate_size: Inner neurons a layer that stay where a CREPE checkpoint is trained further; 0: all.
        validation_fraction: Share of studies held out where the pairs name no validation rows.
        max_pairs: Training pairs used, drawn by seed; 0 takes all.
        search: What `rrgmetrics train search` varies: a key of `SEARCHABLE` to {low, high, log} or to a list of values.
        ablation: What `rrgmetrics train ablation` varies, one at a time: a key to the list of its values.
    """

    epochs: Positive = 10
    pairs: Paths = ()
    encoder: str = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
    max_length: Length = 512
    heads: Literal[1, 2, 6] = 6
    loss: Loss = "mse+bce"
    presence_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    features: Features = "pooler"
    token_weight: NotNegative = 0.0
    alignment: bool = False
    whole: Annotated[float, Field(ge=0, lt=0.5)] = 0.0
    layers: CountOrNone = 0
    intermediate_size: CountOrNone = 0
    validation_fraction: Share = 0.1
    max_pairs: CountOrNone = 0
    search: Mapping[str, Any] | None = None
    ablation: Mapping[str, Any] | None = None

    @field_validator("search")
    @classmethod
    def _check_search(cls, search: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        for key, space in (search or {}).items():
            where = f"search.{key}"
            _expect(key in SEARCHABLE, "search", key, f"over {', '.join(SEARCHABLE)}")
            if isinstance(space, Mapping):
                fits = {"low", "high"} <= set(space) <= {"low", "high", "log"}
                _expect(fits, where, space, "{low: …, high: …} or {low: …, high: …, log: true}")
                numbers = all(isinstance(space[end], int | float) for end in ("low", "high"))
                _expect(numbers and space["low"] < space["high"], where, space, "two numbers with low below high")
            else:
                _expect(isinstance(space, list | tuple) and bool(space), where, space, "a range or a list of values")
        return search

    @field_validator("ablation")
    @classmethod
    def _check_ablation(cls, ablation: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        known = sorted(cls.model_fields.keys() - {"pairs", "search", "ablation"})
        for key, values in (ablation or {}).items():
            _expect(key in known, "ablation", key, f"over {', '.join(known)}")
            _expect(isinstance(values, list | tuple) and bool(values), f"ablation.{key}", values, "a list of values")
        return ablation

    @model_validator(mode="after")
    def _check_features(self) -> CrepeConfig:
        if self.token_weight and self.features != "tokens":
            raise InputError(f"token_weight is {self.token_weight}, but features is {self.features}; use tokens.")
        return self


class EncoderConfig(TrainerConfig):
    """How the bundled encoder is made: vocabulary, masked-language-model training, SimCSE.

    `epochs`, `batch_size`, `learning_rate` and so on are those of the masked language model; 0 epochs leave it out.

    Attributes:
        corpus: Files of reports: text (one a line), CSV, JSONL, or Parquet with `report`, `reference`, `candidate`.
        base: Hub id or folder of an encoder that is trained further, with its own tokenizer and sizes (a BERT, a
            RoBERTa, a ModernBERT); empty: a new BERT of the sizes below. `epochs: 0` trains no language model.
        vocabulary_size: Word pieces, special tokens included.
        min_frequency: Times a word piece must occur.
        hidden_size: Width.
        layers: Transformer layers.
        attention_heads: Heads a layer; a divisor of `hidden_size`.
        intermediate_size: Width of the feed-forward layers.
        max_length: Positions, and tokens a text.
        dropout: In the transformer.
        initializer_range: Standard deviation of the first weights (Devlin et al. 2019: 0.02).
        initialise_from: Encoder whose vectors of our tokens start ours: `bundled`, a Hub id, a folder; empty: random.
        tied_queries: Queries start this many times as large and as keys, so that from the first step a token attends to
            its like, in the other report too; 0 draws both as BERT does.
        mask_probability: Share of tokens to be predicted (Devlin et al. 2019: 0.15).
        validation_texts: Texts held out to measure the masked language model on.
        simcse_epochs: Passes of SimCSE (Gao et al. 2021, unsupervised) afterwards; 0 leaves it out.
        simcse_batch_size: Texts a step; the others in the batch are the negatives.
        simcse_learning_rate: Its peak.
        temperature: Of SimCSE's softmax.
        pooling: What SimCSE reads of a text: `mean`, of its tokens; `cls`, the first token, as its authors do.
    """

    epochs: NotNegative = 3
    learning_rate: Positive = 5e-4
    corpus: Paths = ()
    base: str = ""
    vocabulary_size: Annotated[int, Field(ge=100)] = 8192
    min_frequency: Count = 2
    hidden_size: Count = 256
    layers: Count = 4
    attention_heads: Count = 4
    intermediate_size: Count = 1024
    max_length: Length = 512
    dropout: Share = 0.1
    initializer_range: Positive = 0.02
    initialise_from: str = "bundled"
    tied_queries: NotNegative = 0.0
    mask_probability: Annotated[float, Field(gt=0, lt=1)] = 0.15
    validation_texts: Count = 1000
    simcse_epochs: NotNegative = 1
    simcse_batch_size: Annotated[int, Field(ge=2)] = 64
    simcse_learning_rate: Positive = 3e-5
    temperature: Positive = 0.05
    pooling: Literal["mean", "cls"] = "mean"

    @model_validator(mode="after")
    def _check_width(self) -> EncoderConfig:
        if self.hidden_size % self.attention_heads:
            raise InputError(
                f"hidden_size {self.hidden_size} is no multiple of {self.attention_heads} attention_heads."
            )
        return self


class LanguageConfig(TrainerConfig):
    """How a language model reads reports before it learns to judge them (continued pre-training).

    Attributes:
        corpus: Files of reports, as an encoder's.
        model: Hub id or folder of the language model.
        max_length: Tokens a row; texts are joined and cut.
        validation_fraction: Share of the texts held out to measure on.
        save_memory: Whether activations are computed twice instead of kept (gradient checkpointing).
    """

    epochs: Positive = 1
    batch_size: Count = 16
    learning_rate: Positive = 2e-5
    warmup_ratio: Share = 0.03
    schedule: Schedule = "cosine"
    corpus: Paths = ()
    model: str = ""
    max_length: Length = 1024
    validation_fraction: Annotated[float, Field(gt=0, lt=1)] = 0.05
    save_memory: bool = False


class JudgeConfig(TrainerConfig):
    """How a small language model is trained to judge pairs of reports, in the words of a protocol.

    Attributes:
        protocol: Whose question the model is asked, and whose reply it learns: green, chexprompt or crimson.
        wording: Of CRIMSON's question: `own`, ours; `checkpoint`, its authors' for theirs, from their package.
        pairs: Files of pairs (CSV, JSONL, Parquet; what `rrgmetrics synthesize` writes too).
        labels: Whose verdicts are learnt: `reader`, the bundled judge's; `counts`, the errors that the files of pairs
            count; or `replies:FILE`, a strong judge's replies (`rrgmetrics judge --record`), of several files too.
        model: Hub id or folder of the language model; empty: a new one of the sizes below, with words of its own.
        hidden_size: Of a new model: its width.
        layers: Of a new model.
        attention_heads: Of a new model; a divisor of `hidden_size`.
        vocabulary_size: Of a new model, in tokens.
        raw: Whether a model with a chat template loses it, and is asked in the protocol's own text.
        max_length: Tokens of question and reply; longer rows are left out, and counted.
        validation_fraction: Share of the references held out of files that name no parts of their own.
        validation_pairs: Held-out pairs that the model is asked about at each evaluation.
        lora_rank: Of LoRA's matrices; 0 trains all weights.
        lora_alpha: LoRA's scale, over the rank.
        lora_dropout: On LoRA's input.
        lora_targets: Layers that get LoRA's matrices; all-linear: every linear one but the last.
        beta2: AdamW's decay of squared gradients.
        merge: Whether LoRA's matrices are added to the model's weights; if not, the folder holds them alone, and
            whoever loads it needs the model too.
        save_memory: Whether activations are computed twice instead of kept (gradient checkpointing).
        attention: How attention is computed; auto: as transformers chooses. `flash_attention_2` needs flash-attn and a
            GPU.
    """

    epochs: Positive = 3
    batch_size: Count = 16
    learning_rate: Positive = 2e-4
    warmup_ratio: Share = 0.05
    schedule: Schedule = "cosine"
    protocol: Literal["green", "chexprompt", "crimson"] = "green"
    wording: Literal["own", "checkpoint"] = "own"
    pairs: Paths = ()
    labels: Paths = (READER,)
    model: str = ""
    hidden_size: Count = 256
    layers: Count = 4
    attention_heads: Count = 4
    vocabulary_size: Annotated[int, Field(ge=300)] = 4096
    raw: bool = False
    max_length: Length = 2048
    validation_fraction: Share = 0.1
    validation_pairs: Count = 64
    lora_rank: CountOrNone = 0
    lora_alpha: Count = 32
    lora_dropout: Share = 0.05
    lora_targets: Paths = ("all-linear",)
    beta2: Share = 0.999
    merge: bool = True
    save_memory: bool = False
    attention: Literal["auto", "eager", "sdpa", "flash_attention_2"] = "auto"

    @model_validator(mode="after")
    def _check_wording(self) -> JudgeConfig:
        if self.wording != "own" and self.protocol != "crimson":
            raise InputError(f"wording={self.wording} is an option of CRIMSON; {self.protocol} has one prompt.")
        return self

    @model_validator(mode="after")
    def _check_sizes(self) -> JudgeConfig:
        if self.hidden_size % self.attention_heads:
            raise InputError(
                f"hidden_size {self.hidden_size} is no multiple of {self.attention_heads} attention_heads."
            )
        if self.lora_rank and not self.model:
            raise InputError("lora_rank needs a pretrained model; name one, or leave lora_rank at 0.")
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> JudgeConfig:
        known = self.labels in ((READER,), (COUNTS,)) or all(each.startswith(REPLIES) for each in self.labels)
        _expect(known and bool(self.labels), "labels", ", ".join(self.labels), f"{READER}, {COUNTS} or {REPLIES}FILE")
        if self.labels == (COUNTS,) and self.protocol == "crimson":
            raise InputError("labels=counts does not list the findings that CRIMSON's replies need; record replies.")
        return self


def asked_as(config: JudgeConfig) -> str:
    """What stands behind a judge's folder when it is asked, for the question that it was trained on."""
    return "" if config.wording == "own" else f"?wording={config.wording}"


Config = TypeVar("Config", bound=TrainerConfig)


def read_config(kind: type[Config], name: str, overrides: Sequence[str] = (), **values: Any) -> Config:
    """Reads a config.

    Args:
        kind: `CrepeConfig`, `EncoderConfig`, `LanguageConfig` or `JudgeConfig`.
        name: A YAML file, or the name of one of ours (`crepe`, `bundled`, `encoder`, `judge`).
        overrides: `key=value` texts, values in YAML; they replace what the file says.
        values: Further values by key, which replace both.

    Raises:
        InputError: No such file, not a mapping, an unknown key, a value of the wrong type or out of range.
    """
    path = _config_path(name)
    read = _read_yaml(path)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} is not key=value, such as learning_rate=2e-5.")
        read[key.strip()] = _parse(value, text)
    try:
        return kind(**read | values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_config(config: TrainerConfig, path: Path) -> None:
    """Writes every key of a config as YAML that `read_config` reads back."""
    path.write_text(dump_config(config), encoding="utf-8")


def dump_config(config: TrainerConfig) -> str:
    """Returns every key of a config that is not empty, as YAML, shared keys last."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in dict(config).items()}
    shared = TrainerConfig.model_fields
    keys = [*(key for key in values if key not in shared), *shared]
    text: str = yaml.safe_dump({key: values[key] for key in keys if values[key] is not None}, sort_keys=False)
    return text


def differences(one: TrainerConfig, other: TrainerConfig) -> list[str]:
    """Returns the keys whose values differ."""
    first, second = dict(one), dict(other)
    return [key for key in first | second if first.get(key) != second.get(key)]


def changed(config: Config, **values: Any) -> Config:
    """Returns the config with other values, checked as those of a file are."""
    return type(config)(**{**dict(config), **values})


def _config_path(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_file():
        return path
    ours = CONFIGS / f"{name}.yaml"
    if "/" not in name and ours.is_file():
        return ours
    names = ", ".join(sorted(path.stem for path in CONFIGS.glob("*.yaml")))
    raise InputError(
        f"There is no file {name}, and no bundled configuration of that name; the bundled ones are {names}."
    )


def _read_yaml(path: Path) -> dict[str, object]:
    try:
        read = yaml.load(read_yaml_text(path), _Loader)
    except InputError:
        raise
    except yaml_errors() as error:
        raise InputError(f"{path} cannot be read as YAML: {error}") from None
    if read is None:
        return {}
    if not isinstance(read, dict):
        raise InputError(f"{path} contains a {type(read).__name__}; write one key: value a line.")
    return {str(key): value for key, value in read.items()}


def _parse(value: str, text: str) -> Any:
    try:
        return yaml.load(value, _Loader)
    except yaml.YAMLError:
        raise InputError(f"{text!r}: the value is not YAML; put it in quotes.") from None


def _explained(error: Mapping[str, Any], known: Sequence[str]) -> str:
    """Returns what pydantic found wrong with one key, in a sentence."""
    key = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, known, 1)
        return f"there is no key {key!r}; " + (
            f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}."
        )
    if error["type"] == "value_error":  # a check of ours
        return str(error["ctx"]["error"])
    return f"{key} is {error['input']!r}; it must be {error['msg'].removeprefix('Input should be ')}."


def _expect(fits: bool, key: str, value: Any, wanted: str) -> None:
    if not fits:
        raise InputError(f"{key} is {value!r}; it must be {wanted}.")
