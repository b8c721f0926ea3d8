"""Loads what others trained: configs, tokenizers and weights enter the process here and nowhere else.

A checkpoint is data. Nothing in it is run: neither the code that its `auto_map` names, about which transformers would
ask on standard input, nor a pickle's. Nothing is built that it only claims: the numbers of its config are held to
`limits`, and the network that they describe to the size of the stored weights, before memory is taken. And no score
comes of damaged weights: a number that is NaN or infinite is an error that names its tensor. Each tensor is looked at
once, where it lies after loading (7 GB/s on two cores, so 4 s for 7 billion weights in fp32; on a GPU less).
"""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.checkpoints import PICKLE, Checkpoint, limits
from rrgmetrics.backends.checkpoints.archives import check_uncompressed
from rrgmetrics.backends.checkpoints.trial import check_tokenizer
from rrgmetrics.errors import BackendError, MissingExtraError
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from torch import Tensor

WRAPPERS = ("model_state_dict", "state_dict", "model")  # keys under which training code stores the weights
SAFE_TORCH = (2, 6)  # before, `weights_only` could be made to run code (CVE-2025-32434)
SPARE = 2  # times the stored weights that a network may have: its tied weights count twice
PACKED = 16  # the same for quantised weights, of which a stored number holds several
NOT_FINITE = "contains NaN or infinite numbers; the weights are damaged."
ALLOWANCE = 2**24  # weights that any network may have: a pooler, a new head, tables that are not stored


class KnownTokenizer(NamedTuple):
    """A class of transformers that does what a checkpoint's own code does.

    Attributes:
        kind: Name of the class.
        file: The file that it reads.
        settings: What the authors' program gives it.
    """

    kind: str
    file: str
    settings: Mapping[str, Any]


# Module that `auto_map` names → the class that is taken instead of it. GREEN's authors load theirs with add_eos_token;
# add_bos_token was LlamaTokenizer's default before transformers 5.
KNOWN_TOKENIZERS: Mapping[str, KnownTokenizer] = {
    "tokenization_chexagent": KnownTokenizer(
        "LlamaTokenizer", "tokenizer.model", {"add_bos_token": True, "add_eos_token": True}
    ),
}

_LOCK = threading.RLock()


def load_config(checkpoint: Checkpoint) -> Any:
    """Loads the config of a checkpoint as transformers' class for it.

    Raises:
        BackendError: As `limits.read_config`, or transformers does not know its type; code is not run for it.
    """
    with _loading(checkpoint):
        return _config(checkpoint.folder)


def load_tokenizer(checkpoint: Checkpoint, kind: str = "AutoTokenizer", **settings: Any) -> Any:
    """Loads the tokenizer of a checkpoint, or another processor of its inputs.

    Args:
        checkpoint: Its folder.
        kind: Name of transformers' class, such as `AutoImageProcessor`.
        settings: Of the tokenizer.

    Raises:
        BackendError: It is damaged, or needs code of its own.
        MissingExtraError: It is a model of SentencePiece alone, and sentencepiece is not installed.
    """
    import transformers

    with _loading(checkpoint):
        limits.check_folder(checkpoint.folder)
        check_tokenizer(checkpoint.folder)
        known = _known_tokenizer(checkpoint.folder) if kind == "AutoTokenizer" else None
        if known:
            _check_sentencepiece(checkpoint)
            kind, settings = known.kind, {**known.settings, **settings}
        return getattr(transformers, kind).from_pretrained(
            checkpoint.folder, local_files_only=True, trust_remote_code=False, **settings
        )


def check_classes(checkpoint: Checkpoint) -> None:
    """Checks from a checkpoint's small files, before its weights are there, that classes of transformers can read it.

    Raises:
        BackendError: Its type is unknown, or its tokenizer is damaged or needs code of its own.
        MissingExtraError: What reads its tokenizer is not installed.
    """
    load_config(checkpoint)
    load_tokenizer(checkpoint)


def tokenizer_code(folder: Path) -> str:
    """Returns the module of a checkpoint's own tokenizer code; "" if it names none."""
    file = folder / "tokenizer_config.json"
    named = limits.read_json(file).get("auto_map") if file.is_file() else None
    named = named.get("AutoTokenizer") if isinstance(named, Mapping) else named
    names = [named] if isinstance(named, str) else named or ()
    return next((str(name).rpartition("--")[2].partition(".")[0] for name in names if name), "")


def load_model(
    kind: Any, checkpoint: Checkpoint, *, config: Any = None, pickled: bool = False, **settings: Any
) -> tuple[Any, Mapping[str, Any]]:
    """Loads a network with a checkpoint's weights, ready for inference, and transformers' report of missing weights.

    Args:
        kind: A class of transformers or its name, such as `AutoModel`.
        checkpoint: A folder with config.json and safetensors.
        config: What `load_config` returned, changed at will; None reads it.
        pickled: Whether `pytorch_model.bin` will do where there are no safetensors; it is read as data.
        settings: Of `from_pretrained`.

    Raises:
        BackendError: The weights are missing, damaged, not finite, or far fewer than the config describes; the config
            is refused as by `load_config`.
    """
    import transformers

    kind = getattr(transformers, kind) if isinstance(kind, str) else kind
    with _loading(checkpoint):
        checked = _config(checkpoint.folder)
        config = checked if config is None else config
        n_stored, safe = _stored(checkpoint.folder, pickled)
        _check_size(kind, config, n_stored)
        model, loading = kind.from_pretrained(
            checkpoint.folder,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=safe,
            output_loading_info=True,
            **settings,
        )
        check_finite(model.named_parameters())
    return model, loading


def build_model(config: Any, *, n_stored: int | None = None, kind: str = "AutoModel") -> Any:
    """Builds an untrained network from a config, with transformers' own code.

    Args:
        config: What `load_config` returned.
        n_stored: How many weights are to be put into it; None if they are known to fit.
        kind: Name of transformers' class.

    Raises:
        BackendError: The network is far larger than the weights.
    """
    import transformers

    auto = getattr(transformers, kind)
    if n_stored is not None:
        _check_size(auto, config, n_stored)
    with _unasked():
        return auto.from_config(config, trust_remote_code=False)


def load_weights(file: Path) -> dict[str, Tensor]:
    """Reads a state dict from safetensors or from a pickle of torch, on the CPU.

    A pickle is read with `weights_only=True`: tensors and plain containers, no code. Training code's wrapping
    (`model_state_dict`) and the prefix `module.` of parallel training are taken off.

    Raises:
        BackendError: The file is damaged, holds something else, numbers that are not finite, or would run code.
    """
    import torch

    stored: Any = load_tensors(file) if file.suffix == ".safetensors" else _load_pickle(file)
    for key in WRAPPERS:
        if isinstance(stored, Mapping) and isinstance(stored.get(key), Mapping):
            stored = stored[key]
    if not isinstance(stored, Mapping) or not all(isinstance(x, torch.Tensor) for x in stored.values()) or not stored:
        raise BackendError(f"{file} contains no state dict (names and tensors).")
    parallel = all(str(key).startswith("module.") for key in stored)
    weights = {str(key).removeprefix("module.") if parallel else str(key): tensor for key, tensor in stored.items()}
    return weights if file.suffix == ".safetensors" else _whole(weights, file)


def load_tensors(file: Path) -> dict[str, Tensor]:
    """Reads one file of safetensors, on the CPU.

    Raises:
        BackendError: The file is damaged, or a number in it is not finite.
    """
    from safetensors.torch import load_file

    limits.stored_shapes([file])
    return _finite(load_file(file), file)


def load_arrays(file: Path) -> dict[str, NDArray[np.generic]]:
    """Reads one file of safetensors without torch, unless its weights are of a kind that numpy lacks (bf16).

    Raises:
        BackendError: The file is damaged, or a number in it is not finite.
    """
    from safetensors.numpy import load_file

    limits.stored_shapes([file])
    try:
        arrays: dict[str, NDArray[np.generic]] = load_file(file)
    except (KeyError, TypeError):
        return {name: tensor.float().numpy() for name, tensor in load_tensors(file).items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise BackendError(f"{file}: {name} {NOT_FINITE}")
    return arrays


def check_pickle(file: Path) -> None:
    """Raises BackendError unless a pickle of torch can be read as data: by this torch, and without swelling."""
    import torch

    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < SAFE_TORCH:
        raise BackendError(
            f"torch {torch.__version__} may execute code in a pickle; upgrade to torch {'.'.join(map(str, SAFE_TORCH))}"
        )
    check_uncompressed(file)


def check_finite(weights: Iterable[tuple[str, Tensor]]) -> None:
    """Raises BackendError that names the first tensor with a NaN or an infinite number; one pass, no copy."""
    import torch

    for name, tensor in weights:
        if tensor.is_floating_point() and tensor.numel() and not tensor.is_meta:
            values = tensor.detach().float() if tensor.element_size() == 1 else tensor.detach()
            if not all(math.isfinite(bound) for bound in torch.aminmax(values)):
                raise BackendError(f"{name} {NOT_FINITE}")


def _known_tokenizer(folder: Path) -> KnownTokenizer | None:
    known = KNOWN_TOKENIZERS.get(tokenizer_code(folder))
    return known if known and (folder / known.file).is_file() else None


def _check_sentencepiece(checkpoint: Checkpoint) -> None:
    """Raises MissingExtraError where transformers lacks what it reads SentencePiece's models with."""
    need(f"The tokenizer of {checkpoint.identity}", "published", "sentencepiece", "google.protobuf")


def _load_pickle(file: Path) -> Any:
    import torch

    try:
        check_pickle(file)
        return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch and pickle raise whatever they like for a damaged file
        raise BackendError(
            f"{file} could not be read as weights: {limits.reason_of(error)}. If it is a pickle with more than "
            "tensors, convert it to safetensors on a machine that trusts it."
        ) from error


def _whole(weights: dict[str, Tensor], file: Path) -> dict[str, Tensor]:
    """The weights of a pickle, which can show a few numbers as a tensor of any size."""
    import torch

    for name, x in weights.items():
        if x.layout is not torch.strided or x.is_meta or x.nbytes > x.untyped_storage().nbytes():
            raise BackendError(f"{file} does not contain all of {name} that its shape requires.")
    return _finite(weights, file)


def _finite(weights: dict[str, Tensor], file: Path) -> dict[str, Tensor]:
    try:
        check_finite(weights.items())
    except BackendError as error:
        raise BackendError(f"{file}: {error}") from None
    return weights


def _config(folder: Path) -> Any:
    from transformers import CONFIG_MAPPING, AutoConfig, __version__

    limits.check_folder(folder)
    config = limits.read_config(folder)
    kind = config.get("model_type")
    if kind not in CONFIG_MAPPING and (kind is not None or "auto_map" in config):
        code = " and requests its own code (auto_map), which is never run" if "auto_map" in config else ""
        raise BackendError(
            f"config.json names the model type {kind!r}, which transformers {__version__} does not know{code}. Use a "
            "checkpoint of a known type."
        )
    return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def _stored(folder: Path, pickled: bool) -> tuple[int, bool | None]:
    """Counts a folder's weights, and says whether they are safetensors; None if transformers has to take a pickle."""
    files = limits.weight_files(folder)
    pickle = folder / PICKLE
    if pickled and not files[0].is_file() and pickle.is_file():
        check_pickle(pickle)
        return pickle.stat().st_size // 2, None  # two bytes a weight or more
    return sum(math.prod(shape) for shape in limits.stored_shapes(files).values()), True


def _check_size(kind: Any, config: Any, n_stored: int) -> None:
    """Builds the network without memory for its weights, and raises BackendError if it has far more than are stored."""
    import torch

    with torch.device("meta"), torch.random.fork_rng(devices=[]), _unasked():
        described = copy.deepcopy(config)
        auto = hasattr(kind, "from_config")
        network = kind.from_config(described, trust_remote_code=False) if auto else kind(described)
    n_weights = sum(x.numel() for x in (*network.parameters(), *network.buffers()))
    spare = PACKED if getattr(config, "quantization_config", None) else SPARE
    if n_weights > spare * n_stored + ALLOWANCE:
        raise BackendError(
            f"config.json describes a network of {n_weights:,} weights, but {n_stored:,} are stored; the two do not "
            "match."
        )


@contextmanager
def _loading(checkpoint: Checkpoint) -> Iterator[None]:
    """Turns all that goes wrong while a checkpoint is loaded into a BackendError that names it."""
    with blamed(f"{checkpoint.identity} could not be loaded from {checkpoint.folder}"), _unasked():
        yield


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Turns whatever goes wrong in code of others that reads a checkpoint's files into a BackendError of one line.

    Args:
        what: What went wrong with which file, before the reason.
    """
    try:
        yield
    except MissingExtraError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of tokenizers' Rust
            raise
        reason = limits.reason_of(error)
        if "trust_remote_code" in str(error):
            reason = "it requests its own code (auto_map), which is never run"
        raise BackendError(f"{what}: {reason}.") from error


@contextmanager
def _unasked() -> Iterator[None]:
    """Refuses code of checkpoints at any depth without asking, also where transformers loads a part on its own."""
    from transformers import dynamic_module_utils as remote

    with _LOCK:
        before = remote.TIME_OUT_REMOTE_CODE
        remote.TIME_OUT_REMOTE_CODE = 0  # seconds in which to answer
        try:
            yield
        finally:
            remote.TIME_OUT_REMOTE_CODE = before
