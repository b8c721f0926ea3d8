"""Recipes of training: frozen dataclasses, read from YAML files and `key=value` arguments.

`TrainerConfig` is what every run shares, `CrepeConfig` and `EncoderConfig` add what their models need; a file states
only what it changes. The defaults of `CrepeConfig` are the paper's recipe (CREPE, EMNLP 2025, section 4 and appendix
A). The authors publish neither learning rate, weight decay and warm-up nor optimizer, schedule and seed: those are
ours, from the middle of what they say they searched, and are marked so in `configs/crepe.yaml`.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from rrgmetrics.errors import InputError

CONFIGS = Path(__file__).parent / "configs"
Precision = Literal["auto", "fp32", "bf16", "fp16"]
Schedule = Literal["linear", "cosine", "constant_with_warmup"]
Loss = Literal["mse", "poisson", "mse+bce", "poisson+bce"]
Features = Literal["pooler", "cls", "tokens"]
SEARCHABLE = ("learning_rate", "weight_decay", "warmup_ratio", "epochs", "presence_weight", "token_weight")


@dataclass(frozen=True)
class TrainerConfig:
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
        evaluations: Evaluations an epoch; each saves a checkpoint.
        patience: Evaluations without a better one after which training ends; 0 never ends early.
        workers: Processes that build batches beside the training process.
        cpu: Train on the CPU even where there is a GPU.
    """

    epochs: float = 10
    batch_size: int = 64
    accumulation: int = 1
    learning_rate: float = 3e-5
    weight_decay: float = 0.01
    warmup_ratio: float = 0.1
    schedule: Schedule = "linear"
    max_grad_norm: float = 1.0
    precision: Precision = "auto"
    seed: int = 0
    evaluations: int = 1
    patience: int = 3
    workers: int = 0
    cpu: bool = False

    def __post_init__(self) -> None:
        for name in ("batch_size", "accumulation", "evaluations"):
            _check(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        for name in ("patience", "workers", "seed", "weight_decay"):
            _check(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")
        _check(self.learning_rate > 0, "learning_rate", self.learning_rate, "more than 0")
        _check(0 <= self.warmup_ratio < 1, "warmup_ratio", self.warmup_ratio, "from 0 to below 1")
        _check(self.max_grad_norm > 0, "max_grad_norm", self.max_grad_norm, "more than 0")


@dataclass(frozen=True)
class CrepeConfig(TrainerConfig):
    """How a CREPE regressor is trained.

    Attributes:
        pairs: Parquet files of labelled pairs, or folders of them; see `rrgmetrics synthesize`.
        encoder: Hub id or folder of the encoder. A CREPE checkpoint goes on with its heads too.
        max_length: Tokens a pair, longer pairs are cut longest report first.
        heads: 6 (A to F), 2 (significant, not significant) or 1 (all).
        loss: Of the counts, and whether a presence loss stands beside it (equations 4 to 7).
        presence_weight: w of (1 - w)·L_count + w·L_presence.
        features: What the heads read: the pooler's output, the state of [CLS], or a rate for each token.
        token_weight: Weight of the squared error of token rates against the evidence (with `tokens`).
        validation_fraction: Share of studies held out where the pairs name no validation rows.
        max_pairs: Training pairs used, drawn by seed; 0 takes all.
        search: What `rrgmetrics train search` varies: a key of `SEARCHABLE` to {low, high, log} or to a list of values.
        ablation: What `rrgmetrics train ablation` varies, one at a time: a key to the list of its values.
    """

    pairs: tuple[str, ...] = ()
    encoder: str = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
    max_length: int = 512
    heads: int = 6
    loss: Loss = "mse+bce"
    presence_weight: float = 0.5
    features: Features = "pooler"
    token_weight: float = 0.0
    validation_fraction: float = 0.1
    max_pairs: int = 0
    search: Mapping[str, Any] | None = None
    ablation: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.epochs > 0, "epochs", self.epochs, "more than 0")
        _check(self.heads in (1, 2, 6), "heads", self.heads, "1, 2 or 6")
        _check(self.max_length >= 8, "max_length", self.max_length, "8 or more")
        _check(0 <= self.presence_weight <= 1, "presence_weight", self.presence_weight, "from 0 to 1")
        _check(self.token_weight >= 0, "token_weight", self.token_weight, "0 or more")
        _check(0 <= self.validation_fraction < 1, "validation_fraction", self.validation_fraction, "from 0 to below 1")
        _check(self.max_pairs >= 0, "max_pairs", self.max_pairs, "0 (all) or more")
        if self.token_weight and self.features != "tokens":
            raise InputError(f"token_weight is {self.token_weight}, but features is {self.features}; use tokens.")
        _check_search(self.search or {})
        _check_ablation(self.ablation or {})


@dataclass(frozen=True)
class EncoderConfig(TrainerConfig):
    """How the bundled encoder is made: vocabulary, masked-language-model training, SimCSE.

    `epochs`, `batch_size`, `learning_rate` and so on are those of the masked language model; 0 epochs leave it out.

    Attributes:
        corpus: Files of reports: text (one a line), CSV, JSONL, or Parquet with `report`, `reference`, `candidate`.
        vocabulary_size: Word pieces, specials included.
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
    """

    epochs: float = 3
    learning_rate: float = 5e-4
    corpus: tuple[str, ...] = ()
    vocabulary_size: int = 8192
    min_frequency: int = 2
    hidden_size: int = 256
    layers: int = 4
    attention_heads: int = 4
    intermediate_size: int = 1024
    max_length: int = 512
    dropout: float = 0.1
    initializer_range: float = 0.02
    initialise_from: str = "bundled"
    tied_queries: float = 0.0
    mask_probability: float = 0.15
    validation_texts: int = 1000
    simcse_epochs: float = 1
    simcse_batch_size: int = 64
    simcse_learning_rate: float = 3e-5
    temperature: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("hidden_size", "layers", "attention_heads", "intermediate_size", "min_frequency"):
            _check(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        for name in ("epochs", "tied_queries"):
            _check(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")
        _check(self.initializer_range > 0, "initializer_range", self.initializer_range, "more than 0")
        _check(self.vocabulary_size >= 100, "vocabulary_size", self.vocabulary_size, "100 or more")
        _check(self.max_length >= 8, "max_length", self.max_length, "8 or more")
        _check(0 <= self.dropout < 1, "dropout", self.dropout, "from 0 to below 1")
        _check(0 < self.mask_probability < 1, "mask_probability", self.mask_probability, "between 0 and 1")
        _check(self.validation_texts >= 1, "validation_texts", self.validation_texts, "1 or more")
        _check(self.simcse_epochs >= 0, "simcse_epochs", self.simcse_epochs, "0 or more")
        _check(self.simcse_batch_size >= 2, "simcse_batch_size", self.simcse_batch_size, "2 or more")
        _check(self.simcse_learning_rate > 0, "simcse_learning_rate", self.simcse_learning_rate, "more than 0")
        _check(self.temperature > 0, "temperature", self.temperature, "more than 0")
        if self.hidden_size % self.attention_heads:
            raise InputError(
                f"hidden_size {self.hidden_size} is no multiple of {self.attention_heads} attention_heads."
            )


Config = TypeVar("Config", bound=TrainerConfig)


def read_config(kind: type[Config], name: str, overrides: Sequence[str] = (), **values: Any) -> Config:
    """Reads a recipe.

    Args:
        kind: `CrepeConfig` or `EncoderConfig`.
        name: A YAML file, or the name of one of ours (`crepe`, `bundled`, `encoder`).
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
    read |= values
    return from_mapping(kind, read, str(path))


def from_mapping(kind: type[Config], read: Mapping[str, Any], where: str = "") -> Config:
    """A config from keys and values, checked; `where` begins the message of an error."""
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    begin = f"{where}: " if where else ""
    for key in read:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            advice = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}."
            raise InputError(f"{begin}there is no key {key!r}; {advice}")
    try:
        return kind(**{key: _typed(value, hints[key], key) for key, value in read.items()})
    except InputError as error:
        raise InputError(f"{begin}{error}") from None


def write_config(config: TrainerConfig, path: Path) -> None:
    """Writes every key of a config as YAML that `read_config` reads back."""
    path.write_text(dump_config(config), encoding="utf-8")


def dump_config(config: TrainerConfig) -> str:
    """Every key of a config that is not empty, as YAML, shared keys last."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(config).items()}
    shared = [field.name for field in fields(TrainerConfig)]
    keys = [*(key for key in values if key not in shared), *shared]
    text: str = yaml.safe_dump({key: values[key] for key in keys if values[key] is not None}, sort_keys=False)
    return text


def differences(one: TrainerConfig, other: TrainerConfig) -> list[str]:
    """Keys whose values differ."""
    first, second = asdict(one), asdict(other)
    return [key for key in first | second if first.get(key) != second.get(key)]


def changed(config: Config, **values: Any) -> Config:
    """The config with other values, converted and checked as those of a file are."""
    hints = get_type_hints(type(config))
    return replace(config, **{key: _typed(value, hints[key], key) for key, value in values.items()})


def _config_path(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_file():
        return path
    ours = CONFIGS / f"{name}.yaml"
    if "/" not in name and ours.is_file():
        return ours
    names = ", ".join(sorted(path.stem for path in CONFIGS.glob("*.yaml")))
    raise InputError(f"There is no file {name}, and no recipe of that name; ours are {names}.")


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read as YAML: {error}") from None
    if read is None:
        return {}
    if not isinstance(read, dict):
        raise InputError(f"{path} holds a {type(read).__name__}; write one key: value a line.")
    return read


def _parse(value: str, text: str) -> Any:
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError:
        raise InputError(f"{text!r}: the value is not YAML; put it in quotes.") from None


def _typed(value: Any, hint: Any, key: str) -> Any:
    """The value as its annotation wants it; YAML reads 1e-5 as a text and 3 as an integer."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        hint = next(argument for argument in arguments if argument is not type(None))
        origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _expect(value, value in arguments, key, " or ".join(map(str, arguments)))
    if origin is tuple:
        items = [value] if isinstance(value, str) else value
        texts = isinstance(items, list | tuple) and all(isinstance(item, str) for item in items)
        return tuple(_expect(items, texts, key, "a list of texts"))
    if origin is not None:
        return _expect(value, isinstance(value, Mapping), key, "a mapping")
    if hint is float:
        return _number(value, key)
    fits = isinstance(value, hint) and not (hint is int and isinstance(value, bool))
    return _expect(value, fits, key, {int: "a whole number", bool: "true or false", str: "a text"}[hint])


def _number(value: Any, key: str) -> float:
    try:
        return float("" if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        raise InputError(f"{key} is {value!r}; it must be a number.") from None


def _expect(value: Any, fits: bool, key: str, wanted: str) -> Any:
    if not fits:
        raise InputError(f"{key} is {value!r}; it must be {wanted}.")
    return value


def _check(fits: bool, key: str, value: Any, wanted: str) -> None:
    _expect(value, fits, key, wanted)


def _check_search(search: Mapping[str, Any]) -> None:
    for key, space in search.items():
        _expect(key, key in SEARCHABLE, "search", f"over {', '.join(SEARCHABLE)}")
        if isinstance(space, Mapping):
            fits = {"low", "high"} <= set(space) <= {"low", "high", "log"}
            _expect(space, fits, f"search.{key}", "{low: …, high: …} or {low: …, high: …, log: true}")
            low, high = (_number(space[end], f"search.{key}.{end}") for end in ("low", "high"))
            _expect(space, low < high, f"search.{key}", "with low below high")
        else:
            fits = isinstance(space, list | tuple) and bool(space)
            _expect(space, fits, f"search.{key}", "a range or a list of values")


def _check_ablation(ablation: Mapping[str, Any]) -> None:
    known = {field.name for field in fields(CrepeConfig)} - {"pairs", "search", "ablation"}
    for key, values in ablation.items():
        _expect(key, key in known, "ablation", f"over {', '.join(sorted(known))}")
        _expect(values, isinstance(values, list | tuple) and bool(values), f"ablation.{key}", "a list of values")
