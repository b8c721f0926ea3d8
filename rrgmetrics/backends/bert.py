"""Shared by every BERT here: batches of similar lengths, the device, 8-bit weights, and the forward pass itself."""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rrgmetrics.backends.checkpoints.loading import load_tensors
from rrgmetrics.errors import BackendError
from rrgmetrics.utils.extras import is_installed, need

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")

logger = logging.getLogger("rrgmetrics")

BATCH_TOKENS = 1024  # a forward pass on the CPU: fastest on two cores from 512 to 8192, for BERT-base and for MiniLM
BATCH_TOKENS_ON_GPU = 65536


def batches(lengths: Sequence[int], device: str, most: int | None = None) -> Iterator[list[int]]:
    """Yields indices of rows in batches of similar lengths: `most` rows each, or as many as the token budget holds."""
    budget = BATCH_TOKENS if device.startswith("cpu") else BATCH_TOKENS_ON_GPU
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        size = most or max(1, budget // max(lengths[order[start]], 1))
        yield order[start : start + size]
        start += size


def run_batches(
    run: Callable[[list[int]], Iterable[T]],
    lengths: Sequence[int],
    device: str,
    most: int | None = None,
    at_once: int = 1,
) -> list[T]:
    """Returns a result for each row, in order.

    Args:
        run: The indices of a batch → its results.
        lengths: Tokens of each row.
        device: As for `batches`.
        most: As for `batches`.
        at_once: Batches that are computed at a time, in threads.
    """
    parts = list(batches(lengths, device, most))
    results: dict[int, T] = {}
    with ThreadPoolExecutor(at_once) as threads:
        each = threads.map(lambda part: list(run(part)), parts) if at_once > 1 else map(run, parts)
        for part, found in zip(parts, each, strict=True):
            results.update(zip(part, found, strict=True))
    return [results[i] for i in range(len(lengths))]


def pick_device(device: str | None) -> str:
    """The device to use: for None CUDA where it can be used, else the CPU; BackendError if `device` cannot be used."""
    if device == "cpu" or (device is None and not (is_installed("torch") and _has_driver())):
        return "cpu"  # without the two seconds that importing torch takes
    need(f"device {device!r}", "published", "torch")
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() and _starts_cuda() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BackendError(f"device {device!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device


def _starts_cuda() -> bool:
    """Whether CUDA can be used in this process: not in one that was forked from a process that uses it."""
    import torch

    try:
        torch.cuda.init()
    except RuntimeError as error:
        logger.warning("Models run on the CPU, because CUDA cannot be used here: %s", str(error).splitlines()[0])
        return False
    return True


def _has_driver() -> bool:
    """Whether there may be a device that torch calls CUDA: NVIDIA's library or AMD's device is there."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return Path("/dev/kfd").exists()
    return True


def load_int8(file: Path) -> dict[str, Tensor]:
    """Reads weights stored as 8-bit integers with one scale a row (`name`, `name.scale`); others as they are."""
    stored = load_tensors(file)
    return {
        name: tensor.float() * stored[f"{name}.scale"].float()[:, None] if f"{name}.scale" in stored else tensor.float()
        for name, tensor in stored.items()
        if not name.endswith(".scale")
    }


def pack_matrices(weights: Mapping[str, Tensor], rows: int) -> dict[str, Tensor]:
    """Lays out the matrices of the layers for oneDNN, where torch has it; `bert_forward` takes either.

    Twice as fast in fp32 on AMD's processors, where MKL, which torch takes otherwise, leaves half of the units idle
    (EPYC with AVX512: 100 and 230 GFLOPS a core). The sums are the same but for their order.

    Args:
        weights: State dict of transformers' BertModel, in fp32 on the CPU.
        rows: About how many tokens a forward pass has; a hint.
    """
    import torch

    available: bool = torch.backends.mkldnn.is_available()
    if not (available and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return dict(weights)
    return {
        name: torch.ops.mkldnn._reorder_linear_weight(x, rows) if ".layer." in name and x.ndim == 2 else x
        for name, x in weights.items()
    }


def bert_forward(
    weights: Mapping[str, Tensor],
    ids: Tensor,
    mask: Tensor,
    types: Tensor | None = None,
    *,
    n_layers: int,
    n_heads: int,
    epsilon: float = 1e-12,
) -> Tensor:
    """Computes the hidden states of BERT (Devlin et al. 2019) after `n_layers`, from a BertModel state dict.

    Args:
        weights: State dict of transformers' BertModel, its matrices as they are or from `pack_matrices`.
        ids: Token ids `(batch, length)`.
        mask: 1 for tokens, 0 for padding, `(batch, length)`.
        types: 0 for tokens of the first text, 1 for those of the second, `(batch, length)`; None for single texts.
        n_layers: Layers to run.
        n_heads: Attention heads.
        epsilon: Of the layer norms.

    Returns:
        Hidden states `(batch, length, width)`; those of padding have no meaning.
    """
    import torch
    from torch.nn import functional

    def linear(name: str, x: Tensor, *, gelu: bool = False) -> Tensor:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        if not weight.is_mkldnn:
            product = functional.linear(x, weight, bias)
            return functional.gelu(product) if gelu else product
        activation, algorithm = ("gelu", "none") if gelu else ("none", "")  # in the same pass over the product
        result: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, activation, [], algorithm)
        return result

    def norm(name: str, x: Tensor) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], epsilon)

    def rows(x: Tensor) -> Tensor:
        return functional.pad(x.flatten(0, 1), (0, 0, 0, surplus)) if surplus else x.flatten(0, 1)

    def heads(x: Tensor) -> Tensor:
        return x[: ids.numel()].view(*ids.shape, n_heads, -1).transpose(1, 2)

    packed = weights["encoder.layer.0.attention.self.query.weight"].is_mkldnn
    surplus = _round_up(ids.numel()) - ids.numel() if packed else 0
    positions = torch.arange(ids.shape[1], device=ids.device)
    states = weights["embeddings.word_embeddings.weight"][ids]
    states = states + weights["embeddings.position_embeddings.weight"][positions]
    states = states + weights["embeddings.token_type_embeddings.weight"][0 if types is None else types]
    states = rows(norm("embeddings.LayerNorm", states))
    attended = mask.bool()[:, None, None, :]
    for i in range(n_layers):
        layer = f"encoder.layer.{i}"
        query, key, value = (
            heads(linear(f"{layer}.attention.self.{part}", states)) for part in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=attended)
        mixed = linear(f"{layer}.attention.output.dense", rows(mixed.transpose(1, 2).flatten(2)))
        states = norm(f"{layer}.attention.output.LayerNorm", mixed + states)
        inner = linear(f"{layer}.intermediate.dense", states, gelu=True)
        states = norm(f"{layer}.output.LayerNorm", linear(f"{layer}.output.dense", inner) + states)
    return states[: ids.numel()].view(*ids.shape, -1)


def _round_up(n_rows: int) -> int:
    """A number of rows that comes up often: oneDNN compiles for each, in 20 ms and 6 MB for the shapes of a layer."""
    step = max(64, 1 << max(n_rows.bit_length() - 4, 0))
    return -(-n_rows // step) * step


@contextmanager
def quietly() -> Iterator[None]:
    """Silences the bars and reports of transformers, and restores its switches and torch's generator afterwards."""
    import torch
    from transformers.utils import logging

    bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        with torch.random.fork_rng(devices=[]):  # a pooler that the checkpoint lacks is drawn at random, and not used
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
