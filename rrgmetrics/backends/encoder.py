"""Encoders: one unit vector for each token of a text, for BERTScore and every other comparison of meanings.

Two are bundled: `BUNDLED`, the first layer of all-MiniLM-L6-v2 at 8 bits a weight, for the meaning of any English;
`FINDINGS`, the first three of the four layers of our CREPE checkpoint, which knows nothing but findings. Its last layer
knows the errors of a pair, and little of one report. Both run in numpy on a processor, elsewhere in torch. Any
checkpoint of transformers' AutoModel serves too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.bert import bert_forward, load_int8, pick_device, quietly, run_batches
from rrgmetrics.backends.bert_numpy import Floats, load_bert, read_arrays
from rrgmetrics.backends.checkpoints import Checkpoint, check_path, find_checkpoint
from rrgmetrics.backends.checkpoints.loading import blamed, load_config, load_model, load_tokenizer
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError
from rrgmetrics.utils.extras import need
from rrgmetrics.utils.own_process import batches_at_once

if TYPE_CHECKING:
    from torch import Tensor

BUNDLED = "minilm-l1-int8@1"
FINDINGS = "crepe-bundled@3"
FINDINGS_LAYERS = 3
BUNDLED_FOLDER = Path(__file__).parent / "weights" / "minilm-l1-int8"
FOLDERS = {BUNDLED: BUNDLED_FOLDER, FINDINGS: Path(__file__).parent / "weights" / "crepe-bundled-3"}
LAYER_LISTS = ("encoder.layer", "transformer.layer", "encoder.layers", "layers", "h", "encoder.block")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
SHORTEST = 1e-12  # of a vector that is divided by its length; torch's own
SPACE_SENSITIVE = ("roberta", "gpt2", "bart", "longformer", "xlm-roberta")  # bert-score and RadEval prefix a space


class TokenVectors(NamedTuple):
    """The encoder's annotation of a text: its tokens and their vectors.

    Attributes:
        ids: Token ids `(n_tokens,)`, those that open and close the text included.
        vectors: Unit vectors `(n_tokens, width)`.
        own: `(n_tokens,)`, False for the tokens that open and close the text.
        too_long: Whether the text has more tokens than the model reads; those beyond are not here.
    """

    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]
    own: NDArray[np.bool_]
    too_long: bool = False


@dataclass(frozen=True)
class Encoder:
    """A backend: an encoder in memory, cut after `layer` hidden layers.

    Attributes:
        identity: How the signature names the weights.
        layer: Number of hidden layers used.
        special_ids: Ids of the tokens that open and close a text.
        tokenize: Texts → ids, specials included, cut to what the model can read.
        encode: The ids of a batch of texts → hidden states `(n_tokens, width)` of each.
        device: Where it runs.
        batch_size: Texts per forward pass; None: as many as the token budget holds.
        extra_facts: What else a metric's signature must name.
        max_length: Tokens that the model reads; 0: any number.
        is_cut: Whether a text of `max_length` tokens was cut to them.
        at_once: Batches that are computed at a time, in threads.
    """

    identity: str
    layer: int
    special_ids: frozenset[int]
    tokenize: Callable[[Sequence[str]], list[list[int]]]
    encode: Callable[[list[list[int]]], Iterable[Floats]]
    device: str
    batch_size: int | None = None
    extra_facts: Mapping[str, str] = field(default_factory=dict)
    max_length: int = 0
    is_cut: Callable[[str], bool] = lambda text: False
    at_once: int = 1

    @property
    def key(self) -> str:
        """The identity: the model and the layer."""
        return f"encoder:{self.identity}:{self.layer}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the model and the layer."""
        return {"model": self.identity, "layers": str(self.layer), **self.extra_facts}

    def annotate(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Returns the token vectors of each text, in order; batches are of similar lengths."""
        stripped = [text.strip() for text in texts]
        ids = self.tokenize(stripped)

        def unit_vectors(batch: list[int]) -> Iterator[NDArray[np.float32]]:
            for states in self.encode([ids[i] for i in batch]):
                lengths = np.linalg.norm(states, axis=1, keepdims=True)
                yield states / np.maximum(lengths, SHORTEST)  # a view would keep the whole batch alive

        vectors = run_batches(unit_vectors, [len(row) for row in ids], self.device, self.batch_size, self.at_once)
        return list(map(self._token_vectors, stripped, ids, vectors))

    def _token_vectors(self, text: str, ids: list[int], vectors: NDArray[np.float32]) -> TokenVectors:
        own = [token not in self.special_ids for token in ids]
        too_long = len(ids) == self.max_length and self.is_cut(text)
        return TokenVectors(np.array(ids, dtype=np.int64), vectors, np.array(own, dtype=np.bool_), too_long)


@dataclass(frozen=True)
class BySentence:
    """A backend that encodes each sentence by itself: a distinct one is encoded once for all texts that contain it.

    Attributes:
        encoder: Encodes the sentences.
    """

    encoder: Encoder

    @property
    def key(self) -> str:
        """The identity: the encoder's, with what it reads at a time."""
        return f"{self.encoder.key}:sentences"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the encoder's, and what it reads at a time."""
        return {**self.encoder.facts, "unit": "sentence"}

    def annotate(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Returns the token vectors of each text: those of its sentences, in order."""
        cut = [SENTENCE_END.split(text.strip()) for text in texts]
        distinct = list(dict.fromkeys(sentence for sentences in cut for sentence in sentences))
        known = dict(zip(distinct, self.encoder.annotate(distinct), strict=True))
        return [_joined([known[sentence] for sentence in sentences]) for sentences in cut]


def _joined(parts: Sequence[TokenVectors]) -> TokenVectors:
    ids, vectors, own, too_long = zip(*parts, strict=True)
    return TokenVectors(np.concatenate(ids), np.concatenate(vectors), np.concatenate(own), any(too_long))


def _padded(forward: Callable[[Tensor, Tensor], Tensor], device: str) -> Callable[[list[list[int]]], Iterator[Floats]]:
    """A forward pass of torch, whose rows are padded to the longest of a batch.

    Args:
        forward: Padded ids and mask `(batch, length)` → hidden states `(batch, length, width)`.
        device: Where it runs.
    """

    def encode(ids: list[list[int]]) -> Iterator[Floats]:
        import torch

        longest = max(map(len, ids))
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in ids], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids], device=device)
        with torch.inference_mode():
            states = forward(padded, mask).float().cpu().numpy()
        for row, own in zip(ids, states, strict=True):
            yield own[: len(row)]

    return encode


def load_encoder(
    checkpoint: str, *, layer: int = 0, device: str | None = None, batch_size: int | None = None
) -> Encoder:
    """Loads an encoder; all users in a process share the weights.

    Args:
        checkpoint: `BUNDLED`, `FINDINGS`, a folder, or a Hub id with an optional `@revision`.
        layer: Hidden layers to use; 0 means all.
        device: torch device; None takes CUDA where there is one, else the CPU.
        batch_size: Texts per forward pass; None: as many as the token budget holds.

    Raises:
        MissingExtraError: A checkpoint, and torch or transformers is not installed.
        BackendError: Weights not found (within a second), or fewer layers than asked for.
    """
    if checkpoint in FOLDERS:
        encoder = _bundled(checkpoint, layer, pick_device(device))
    else:
        check_path(checkpoint)
        need(f"The encoder {checkpoint}", "published")
        files = find_checkpoint(checkpoint)  # before the seconds that importing transformers takes
        encoder = _published(checkpoint, files, layer, pick_device(device))
    return replace(encoder, batch_size=batch_size)


def _cut(available: int, layer: int, identity: str) -> int:
    if not 0 <= layer <= available:
        raise BackendError(f"{identity} has no layer {layer}; its last is {available}, and 0 takes all.")
    return layer or available


@dataclass(frozen=True, eq=False)
class Bundled:
    """A bundled encoder in memory: its settings, its tokenizer, and its hidden states of ids after so many layers."""

    config: Mapping[str, Any]
    tokenizer: Any
    states: Callable[[list[list[int]], int], Iterable[Floats]]


@dataclass(frozen=True, eq=False)
class Published:
    """A checkpoint of transformers in memory, cut after `layers` layers."""

    config: Any
    tokenizer: Any
    model: Any
    layers: int


def _bundled(name: str, layer: int, device: str) -> Encoder:
    loaded = _load_bundled(name, device)
    config = loaded.config
    layers = _cut(config["num_hidden_layers"], layer, name)
    return Encoder(
        identity=name,
        layer=layers,
        special_ids=frozenset((config["cls_token_id"], config["sep_token_id"])),
        tokenize=lambda texts: [encoding.ids for encoding in loaded.tokenizer.encode_batch(list(texts))],
        encode=lambda ids: loaded.states(ids, layers),
        device=device,
        max_length=config["max_position_embeddings"],
        is_cut=lambda text: bool(loaded.tokenizer.encode(text).overflowing),
        at_once=batches_at_once() if device == "cpu" else 1,
    )


@shared
def _load_bundled(name: str, device: str) -> Bundled:
    from tokenizers import Tokenizer

    folder = FOLDERS[name]
    config = json.loads((folder / "config.json").read_text())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(config["max_position_embeddings"])
    load = _states_in_numpy if device == "cpu" else partial(_states_in_torch, device=device)
    return Bundled(config, tokenizer, load(folder / "model.safetensors", config["num_attention_heads"]))


def _states_in_numpy(file: Path, n_heads: int) -> Callable[[list[list[int]], int], Iterator[Floats]]:
    bert = load_bert(read_arrays([file]), n_heads)

    def states(ids: list[list[int]], n_layers: int) -> Iterator[Floats]:
        ends = np.cumsum([len(row) for row in ids])
        yield from np.split(bert(ids, n_layers=n_layers), ends[:-1])

    return states


def _states_in_torch(file: Path, n_heads: int, *, device: str) -> Callable[[list[list[int]], int], Iterator[Floats]]:
    weights = {name.removeprefix("bert."): tensor.to(device) for name, tensor in load_int8(file).items()}

    def states(ids: list[list[int]], n_layers: int) -> Iterator[Floats]:
        return _padded(partial(bert_forward, weights, n_layers=n_layers, n_heads=n_heads), device)(ids)

    return states


def _published(checkpoint: str, files: Checkpoint, layer: int, device: str) -> Encoder:
    loaded = _load_published(checkpoint, files, layer, device)
    tokenizer, longest = loaded.tokenizer, _max_length(loaded.tokenizer, loaded.config)

    def tokenize(texts: Sequence[str]) -> list[list[int]]:
        with blamed(f"The tokenizer of {files.folder} fails"):
            encoded = tokenizer(list(texts), truncation=True, max_length=longest)
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        padded = ids.masked_fill(mask == 0, 0 if tokenizer.pad_token_id is None else tokenizer.pad_token_id)
        states: Tensor = loaded.model(input_ids=padded, attention_mask=mask).last_hidden_state
        return states

    special = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    return Encoder(
        identity=files.identity,
        layer=loaded.layers,
        special_ids=frozenset(token for token in special if token is not None),
        tokenize=tokenize,
        encode=_padded(forward, device),
        device=device,
        max_length=longest,
        is_cut=lambda text: len(tokenizer(text, verbose=False)["input_ids"]) > longest,
    )


@shared
def _load_published(checkpoint: str, files: Checkpoint, layer: int, device: str) -> Published:
    """Loads a model; the identity of the files has a checksum or a commit, so weights that changed are read again."""
    config = load_config(files)
    prefix: dict[str, Any] = {"add_prefix_space": True} if config.model_type in SPACE_SENSITIVE else {}
    tokenizer = load_tokenizer(files, **prefix)
    with quietly():
        model, loading = load_model("AutoModel", files)
    absent = sorted(key for key in loading["missing_keys"] if "pooler" not in key)
    if absent:
        raise BackendError(
            f"{checkpoint}: {files.folder} lacks {len(absent)} weights of the encoder, such as {absent[0]}."
        )
    layers = _truncate(model, layer, files.identity)
    return Published(config, tokenizer, model.eval().to(device), layers)


def _truncate(model: Any, layer: int, identity: str) -> int:
    """Drops the layers above `layer` and returns how many remain."""
    for path in LAYER_LISTS:
        *parents, name = path.split(".")
        owner = model
        for parent in parents:
            owner = getattr(owner, parent, None)
        layers = getattr(owner, name, None)
        if layers is not None:
            keep = _cut(len(layers), layer, identity)
            setattr(owner, name, layers[:keep])
            return keep
    raise BackendError(
        f"{identity} is a {type(model).__name__}, whose layers rrgmetrics cannot find; use a BERT-like encoder."
    )


def _max_length(tokenizer: Any, config: Any) -> int:
    """Tokens the model can read; a tokenizer that does not know says 1e30."""
    positions = getattr(config, "max_position_embeddings", None) or 512
    if config.model_type in SPACE_SENSITIVE and "roberta" in config.model_type:
        positions -= config.pad_token_id + 1  # RoBERTa's positions begin after the padding index
    return int(min(tokenizer.model_max_length, positions))
