"""Loads CREPE checkpoints: rows of tokens go in, counts of errors come out.

A BERT whose heads read tokens, such as the bundled one, runs in numpy on a processor; other BERTs, other devices and 16
bits need torch; other encoders need transformers. Weights are checked against the config before anything runs: a score
never comes from a checkpoint that lacks a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.bert import BATCH_TOKENS, bert_forward, load_int8, pack_matrices, quietly, run_batches
from rrgmetrics.backends.bert_numpy import load_bert, read_arrays, unpacked
from rrgmetrics.backends.checkpoints import Checkpoint
from rrgmetrics.backends.checkpoints.limits import Shape, check_folder, read_config, stored_shapes, weight_files
from rrgmetrics.backends.checkpoints.loading import load_model
from rrgmetrics.backends.crepe.model import CrepeSettings, apply_heads, crepe_class, own_tokens
from rrgmetrics.backends.crepe.pair_tokens import PairTokenizer, load_pair_tokenizer
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError
from rrgmetrics.utils.extras import need
from rrgmetrics.utils.own_process import batches_at_once

if TYPE_CHECKING:
    from torch import Tensor

MAX_LENGTH = 512  # the authors' tokenizer call
BERT_KEYS = (
    *("vocab_size", "max_position_embeddings", "hidden_size"),
    *("intermediate_size", "num_hidden_layers", "num_attention_heads"),
)
POSITION_IDS = "bert.embeddings.position_ids"  # a constant that transformers before 4.31 wrote
NAMED = 4  # weights that a message names

Precision = Literal["fp32", "bf16", "fp16"]
Array = NDArray[np.float64]
Row = tuple[list[int], list[int]]  # ids and types


class Output(NamedTuple):
    """The counts and presence logits `(C,)` of a row, and its tokens' rates `(T, C)` if the features are tokens."""

    counts: Array
    presence_logits: Array
    rates: Array | None


Forward = Callable[[Sequence[Row]], Iterable[Output]]
TensorForward = Callable[["Tensor", "Tensor", "Tensor"], "tuple[Tensor, Tensor, Tensor | None]"]


@dataclass(frozen=True)
class Network:
    """A checkpoint in memory, with its forward pass.

    Attributes:
        identity: How the signature names the weights.
        settings: The heads.
        tokenizer: Makes rows of pairs.
        forward: The rows of a batch → an output for each.
        device: Where it runs.
        at_once: Batches that are computed at a time, in threads.
    """

    identity: str
    settings: CrepeSettings
    tokenizer: PairTokenizer
    forward: Forward
    device: str
    at_once: int = 1

    def run(self, rows: Sequence[Row], batch_size: int | None) -> list[Output]:
        """Reads rows in batches of similar lengths; returns the outputs in the order given."""

        def forward(batch: list[int]) -> Iterable[Output]:
            return self.forward([rows[i] for i in batch])

        return run_batches(forward, [len(ids) for ids, _ in rows], self.device, batch_size, self.at_once)


def _padded(forward: TensorForward, device: str) -> Forward:
    """A forward pass of torch, whose rows are padded to the longest of a batch.

    Args:
        forward: Padded ids, types and mask `(B, T)` → counts and presence logits `(B, C)`, rates `(B, T, C)` or None.
        device: Where it runs.
    """

    def run(rows: Sequence[Row]) -> Iterator[Output]:
        import torch

        lengths = [len(ids) for ids, _ in rows]
        longest = max(lengths)
        ids, types = (
            torch.tensor([row[i] + [0] * (longest - len(row[i])) for row in rows], device=device) for i in (0, 1)
        )
        mask = torch.tensor([[1] * length + [0] * (longest - length) for length in lengths], device=device)
        with torch.inference_mode():
            counts, presence, rates = forward(ids, types, mask)
        arrays = _array(counts), _array(presence), None if rates is None else _array(rates)
        for i, length in enumerate(lengths):
            yield Output(arrays[0][i], arrays[1][i], None if arrays[2] is None else arrays[2][i, :length])

    return run


def _array(tensor: Tensor) -> Array:
    array: Array = tensor.float().cpu().numpy().astype(np.float64)
    return array


@dataclass(frozen=True, eq=False)
class Description:
    """The small files of a checkpoint's folder, read and checked without torch."""

    config: Mapping[str, Any]
    settings: CrepeSettings
    tokenizer: PairTokenizer


@shared
def read_checkpoint(checkpoint: Checkpoint) -> Description:
    """Reads all but the weights and checks their names and shapes, so that errors are known within a second.

    Raises:
        BackendError: Config, tokenizer or weights are damaged, or do not belong together; names what is.
    """
    config, settings = _read_config(checkpoint)
    types = config.get("type_vocab_size", 2)
    tokenizer = load_pair_tokenizer(checkpoint.folder, max_length=_max_length(config), n_types=types)
    if _is_plain_bert(config):
        check_weights(checkpoint.identity, _stored_shapes(checkpoint), bert_shapes(config, settings))
    return Description(config, settings, tokenizer)


@shared
def load_network(checkpoint: Checkpoint, device: str, precision: Precision) -> Network:
    """Loads a checkpoint onto a device; its identity has a checksum, so weights that changed are read again."""
    known = read_checkpoint(checkpoint)
    plain = _is_plain_bert(known.config)
    if plain and known.settings.crepe_features == "tokens" and device == "cpu" and precision == "fp32":
        forward, at_once = _load_numpy(checkpoint, known.config, known.settings), batches_at_once()
    else:
        need(checkpoint.identity, "published")
        load = _load_bert if plain else _load_transformers
        forward, at_once = _padded(load(checkpoint, known.config, known.settings, device, precision), device), 1
    return Network(checkpoint.identity, known.settings, known.tokenizer, forward, device, at_once)


def _read_config(checkpoint: Checkpoint) -> tuple[Mapping[str, Any], CrepeSettings]:
    """The whole config, and what it says of the heads."""
    file = checkpoint.folder / "config.json"
    try:
        check_folder(checkpoint.folder)
        config = read_config(checkpoint.folder)
        missing = [key for key in BERT_KEYS if _is_plain_bert(config) and key not in config]
        if missing:
            raise BackendError(f"it lacks {', '.join(missing)}.")
        odd = [key for key in BERT_KEYS if key in config and not _is_size(config[key])]
        if odd:
            raise BackendError(f"{odd[0]} is {config[odd[0]]!r}; it is a whole number of 1 or more.")
        return config, CrepeSettings.read(config)
    except (ValueError, AttributeError, BackendError) as error:
        raise BackendError(f"{checkpoint.identity}: {file} cannot be used: {error}") from error


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _max_length(config: Mapping[str, Any]) -> int:
    """Tokens that a model reads: the paper's 512, or fewer if it has fewer positions."""
    positions = config.get("max_position_embeddings", MAX_LENGTH)
    if "roberta" in config.get("model_type", ""):
        positions -= config.get("pad_token_id", 1) + 1  # RoBERTa's positions begin after the padding index
    return min(MAX_LENGTH, int(positions))


def _is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Returns whether `bert_forward` computes this encoder."""
    return (
        config.get("model_type", "bert") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
    )


def _load_numpy(checkpoint: Checkpoint, config: Mapping[str, Any], settings: CrepeSettings) -> Forward:
    """The forward pass of a BERT whose heads read tokens, in numpy; as `apply_heads` computes them."""
    with _reading(checkpoint):
        weights = read_arrays(weight_files(checkpoint.folder))
    bert = load_bert(weights, config["num_attention_heads"], config.get("layer_norm_eps", 1e-12))
    regressors, presence = (
        [
            np.concatenate([unpacked(weights, f"{heads}.{i}.{part}") for i in range(settings.num_error_categories)])
            for part in ("weight", "bias")
        ]
        for heads in ("error_regressors", "error_presence")
    )
    special = [token for token in (settings.cls_token_id, settings.sep_token_id) if token is not None]

    def forward(rows: Sequence[Row]) -> Iterator[Output]:
        states = bert([ids for ids, _ in rows], [types for _, types in rows])
        start = 0
        for ids, _ in rows:
            own = states[start : start + len(ids)]
            start += len(ids)
            with np.errstate(over="ignore", invalid="ignore"):  # heads that give no number leave the pair unscored
                logits = own[0] @ presence[0].T + presence[1]
                rates = np.logaddexp(0, own @ regressors[0].T + regressors[1], dtype=np.float64)
            rates[np.isin(ids, special)] = 0
            yield Output(rates.sum(axis=0), logits.astype(np.float64), rates)

    return forward


def _load_bert(
    checkpoint: Checkpoint, config: Mapping[str, Any], settings: CrepeSettings, device: str, precision: Precision
) -> TensorForward:
    """The forward pass of a BERT in plain torch."""
    import torch

    weights = _read_weights(checkpoint)
    dtype = _dtype(precision)
    bert = {name[5:]: x.to(device, dtype) for name, x in weights.items() if name.startswith("bert.")}
    if device.startswith("cpu") and precision == "fp32":
        bert = pack_matrices(bert, BATCH_TOKENS)
    regressors, presence = (_stack(weights, heads, device) for heads in ("error_regressors", "error_presence"))
    pools = settings.crepe_features in (None, "pooler")
    sizes = {"n_layers": config["num_hidden_layers"], "n_heads": config["num_attention_heads"]}
    epsilon = config.get("layer_norm_eps", 1e-12)

    def forward(ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        states = bert_forward(bert, ids, mask, types, **sizes, epsilon=epsilon)
        pooled = None
        if pools:
            dense = torch.nn.functional.linear(states[:, 0], bert["pooler.dense.weight"], bert["pooler.dense.bias"])
            pooled = torch.tanh(dense)
        return apply_heads(states, pooled, own_tokens(ids, mask, settings), regressors, presence, settings)

    return forward


def _load_transformers(
    checkpoint: Checkpoint, config: Mapping[str, Any], settings: CrepeSettings, device: str, precision: Precision
) -> TensorForward:
    """The forward pass of any other encoder."""
    with quietly():
        model, loading = load_model(crepe_class(), checkpoint)
    _complain(checkpoint.identity, loading["missing_keys"], loading["unexpected_keys"], loading["mismatched_keys"])
    model.eval().to(device)
    model.bert.to(_dtype(precision))
    pad = config.get("pad_token_id") or 0

    def forward(ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        output = model(
            input_ids=ids.masked_fill(mask == 0, pad), attention_mask=mask, token_type_ids=types, output_rates=True
        )
        return output.counts, output.presence_logits, output.rates

    return forward


def _dtype(precision: Precision) -> Any:
    import torch

    return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]


def _stack(weights: Mapping[str, Tensor], heads: str, device: str) -> tuple[Tensor, Tensor]:
    """Weights `(C, H)` and biases `(C,)` of a set of heads."""
    import torch

    n_heads = sum(name.startswith(f"{heads}.") for name in weights) // 2
    weight, bias = (torch.cat([weights[f"{heads}.{i}.{part}"] for i in range(n_heads)]) for part in ("weight", "bias"))
    return weight.to(device), bias.to(device)


def _read_weights(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Reads the weights of a folder in fp32, whether stored so, in 16 bits, or in 8 bits with a scale for each row."""
    weights: dict[str, Tensor] = {}
    with _reading(checkpoint):
        for file in weight_files(checkpoint.folder):
            weights |= load_int8(file)
    return weights


def _stored_shapes(checkpoint: Checkpoint) -> dict[str, Shape]:
    """Names and shapes of the weights of a folder, from the heads of its files."""
    with _reading(checkpoint):
        shapes = stored_shapes(weight_files(checkpoint.folder))
    return {name: shape for name, shape in shapes.items() if not name.endswith(".scale") and name != POSITION_IDS}


@contextmanager
def _reading(checkpoint: Checkpoint) -> Iterator[None]:
    try:
        yield
    except BackendError as error:
        raise BackendError(f"{checkpoint.identity}: {error}") from error


def bert_shapes(config: Mapping[str, Any], settings: CrepeSettings) -> dict[str, Shape]:
    """The weights of a CREPE checkpoint on a BERT, with their shapes; the pooler only if the heads read it."""
    width, inner = config["hidden_size"], config["intermediate_size"]

    def linear(name: str, rows: int, columns: int) -> dict[str, Shape]:
        return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}

    def norm(name: str) -> dict[str, Shape]:
        return {f"{name}.weight": (width,), f"{name}.bias": (width,)}

    shapes: dict[str, Shape] = {
        "bert.embeddings.word_embeddings.weight": (config["vocab_size"], width),
        "bert.embeddings.position_embeddings.weight": (config["max_position_embeddings"], width),
        "bert.embeddings.token_type_embeddings.weight": (config.get("type_vocab_size", 2), width),
        **norm("bert.embeddings.LayerNorm"),
    }
    for i in range(config["num_hidden_layers"]):
        layer = f"bert.encoder.layer.{i}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= linear(f"{layer}.attention.{part}", width, width)
        shapes |= linear(f"{layer}.intermediate.dense", inner, width) | linear(f"{layer}.output.dense", width, inner)
        shapes |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    if settings.crepe_features in (None, "pooler"):
        shapes |= linear("bert.pooler.dense", width, width)
    for i in range(settings.num_error_categories):
        shapes |= linear(f"error_regressors.{i}", 1, width) | linear(f"error_presence.{i}", 1, width)
    return shapes


def check_weights(where: str, stored: Mapping[str, Shape], expected: Mapping[str, Shape]) -> None:
    """Raises BackendError that names what is missing, what does not belong there, and what has another shape."""
    unexpected = [name for name in stored if name not in expected and not name.startswith("bert.pooler.")]
    wrong = [name for name, shape in expected.items() if name in stored and stored[name] != shape]
    _complain(where, expected.keys() - stored.keys(), unexpected, wrong)


def _complain(where: str, missing: Iterable[Any], unexpected: Iterable[Any], wrong: Iterable[Any]) -> None:
    problems = {"lacks": missing, "does not expect": unexpected, "has another shape for": wrong}
    complaints = [f"{verb} {_listed(sorted(map(str, names)))}" for verb, names in problems.items() if list(names)]
    if complaints:
        raise BackendError(
            f"{where} is not the checkpoint its config.json describes: it {'; it '.join(complaints)}. "
            "Check num_error_categories and copy the folder again."
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
