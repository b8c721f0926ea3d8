"""The forward pass of a BERT in numpy, which the bundled networks take on a processor: no torch, two seconds less.

Rows of a batch stand one behind the other, without padding. Equal to `bert.bert_forward` but for rounding in 32 bits,
and as fast: matrix products take four fifths of either (README of benchmarks/). Matrices stored in 8 bits are unpacked
when they are loaded, embeddings when a token is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.checkpoints.loading import load_arrays

Floats = NDArray[np.float32]
CHUNK = 32  # tokens whose inner values, of 1,024 to 1,536 neurons, stay in a core's cache while `gelu` passes over them
ERFC_P = 0.3275911  # Abramowitz and Stegun 1964, 7.1.26: erfc(x) to 1.5e-7
ERFC_A = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


@dataclass(frozen=True)
class Table:
    """Vectors by number, as they are stored.

    Attributes:
        rows: `(n, width)`, in 8 bits if there are scales.
        scales: `(n,)`, or None.
    """

    rows: NDArray[np.generic]
    scales: Floats | None

    def __getitem__(self, numbers: NDArray[np.int64]) -> Floats:
        """Looks up vectors `(len(numbers), width)` in 32 bits."""
        vectors: Floats = self.rows[numbers].astype(np.float32)
        if self.scales is not None:
            vectors *= self.scales[numbers, None]
        return vectors


class Linear(NamedTuple):
    """A matrix `(inputs, outputs)` and what is added to its product `(outputs,)`."""

    matrix: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Multiplies `(n, inputs)` and adds."""
        product: Floats = x @ self.matrix
        product += self.bias
        return product


class Norm(NamedTuple):
    """A layer norm: weight and bias `(width,)`."""

    weight: Floats
    bias: Floats
    epsilon: float

    def __call__(self, x: Floats) -> Floats:
        """Normalises in place."""
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(variance + np.float32(self.epsilon)))[:, None]
        x *= self.weight
        x += self.bias
        return x


class Layer(NamedTuple):
    """A layer; `attention` gives query, key and value side by side, the query divided by √(width of a head)."""

    attention: Linear
    mixed: Linear
    attention_norm: Norm
    inner: Linear
    outer: Linear
    norm: Norm


@dataclass(frozen=True, eq=False)
class NumpyBert:
    """A BERT in memory.

    Attributes:
        words: Vectors of tokens.
        positions: Vectors of places.
        types: Vectors of token types.
        norm: Of their sum.
        layers: The layers.
        n_heads: Attention heads of a layer.
    """

    words: Table
    positions: Table
    types: Table
    norm: Norm
    layers: Sequence[Layer]
    n_heads: int

    def __call__(
        self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None, n_layers: int | None = None
    ) -> Floats:
        """Computes the hidden states of rows after `n_layers` (None: all).

        Args:
            ids: Token ids of each row.
            types: Token types of each row; None: all 0.
            n_layers: Layers to run.

        Returns:
            Hidden states `(tokens of all rows, width)`, the rows one behind the other.
        """
        lengths = [len(row) for row in ids]
        states = self.words[np.concatenate([np.array(row, dtype=np.int64) for row in ids])]
        states += self.positions[np.concatenate([np.arange(length) for length in lengths])]
        states += self.types[np.concatenate(types) if types is not None else np.zeros(len(states), dtype=np.int64)]
        states = self.norm(states)
        for layer in self.layers[:n_layers]:
            mixed = layer.mixed(self._attend(layer.attention(states), lengths))
            mixed += states
            states = layer.attention_norm(mixed)
            inner = layer.inner(states)
            for start in range(0, len(inner), CHUNK):
                gelu(inner[start : start + CHUNK])
            result = layer.outer(inner)
            result += states
            states = layer.norm(result)
        return states

    def _attend(self, projected: Floats, lengths: Sequence[int]) -> Floats:
        """Mixes the values `(tokens, width)` of each row by the softmax of query · key."""
        width = projected.shape[1] // 3
        result = np.empty((len(projected), width), dtype=np.float32)
        start = 0
        for length, alike in groupby(lengths):  # neighbours of one length at once
            n_rows = sum(1 for _ in alike)
            rows = slice(start, start + n_rows * length)
            query, key, value = projected[rows].reshape(n_rows, length, 3, self.n_heads, -1).transpose(2, 0, 3, 1, 4)
            weights = query @ key.transpose(0, 1, 3, 2)
            weights -= weights.max(axis=-1, keepdims=True)
            np.exp(weights, out=weights)
            mixed = (weights @ value) / weights.sum(axis=-1, keepdims=True)
            result[rows] = mixed.transpose(0, 2, 1, 3).reshape(-1, width)
            start = rows.stop
        return result


def gelu(x: Floats) -> Floats:
    """Computes x·Φ(x) = max(x, 0) − |x|·erfc(|x|/√2)/2 in place, to 1e-7 of |x|."""
    size = np.abs(x)
    scaled = size * np.float32(0.5**0.5)
    t = scaled * np.float32(ERFC_P)
    t += np.float32(1)
    np.reciprocal(t, out=t)
    tail = t * np.float32(ERFC_A[0])
    for coefficient in ERFC_A[1:]:
        tail += np.float32(coefficient)
        tail *= t
    scaled *= scaled
    np.negative(scaled, out=scaled)
    tail *= np.exp(scaled, out=scaled)
    size *= np.float32(0.5)
    tail *= size
    np.maximum(x, 0, out=x)
    x -= tail
    return x


def load_bert(weights: Mapping[str, NDArray[np.generic]], n_heads: int, epsilon: float = 1e-12) -> NumpyBert:
    """Makes a BERT from the arrays of a BertModel's state dict, in 8 bits or more (`read_arrays`)."""

    def linear(*names: str) -> Linear:
        matrices = [unpacked(weights, f"{name}.weight") for name in names]
        return Linear(np.ascontiguousarray(np.concatenate(matrices).T), np.concatenate([bias(name) for name in names]))

    def bias(name: str) -> Floats:
        return unpacked(weights, f"{name}.bias")

    def norm(name: str) -> Norm:
        return Norm(unpacked(weights, f"{name}.weight"), bias(name), epsilon)

    def table(name: str) -> Table:
        name = f"embeddings.{name}_embeddings.weight"
        scales = weights.get(f"{name}.scale")
        return Table(weights[name], None if scales is None else scales.astype(np.float32))

    def layer(name: str) -> Layer:
        attention = linear(*(f"{name}.attention.self.{part}" for part in ("query", "key", "value")))
        width = attention.matrix.shape[0]
        for part in attention:
            part[..., :width] *= np.float32((width // n_heads) ** -0.5)
        return Layer(
            attention,
            linear(f"{name}.attention.output.dense"),
            norm(f"{name}.attention.output.LayerNorm"),
            linear(f"{name}.intermediate.dense"),
            linear(f"{name}.output.dense"),
            norm(f"{name}.output.LayerNorm"),
        )

    n_layers = sum(name.endswith(".attention.self.query.bias") for name in weights)
    layers = tuple(layer(f"encoder.layer.{i}") for i in range(n_layers))
    embeddings = table("word"), table("position"), table("token_type")
    return NumpyBert(*embeddings, norm("embeddings.LayerNorm"), layers, n_heads)


def unpacked(weights: Mapping[str, NDArray[np.generic]], name: str) -> Floats:
    """A weight in fp32, whether stored so, in 16 bits, or in 8 bits with a scale for each row."""
    weight: Floats = weights[name].astype(np.float32)
    scales = weights.get(f"{name}.scale")
    return weight if scales is None else weight * scales.astype(np.float32)[:, None]


def read_arrays(files: Sequence[Path]) -> dict[str, NDArray[np.generic]]:
    """Reads the weights of a folder as they are stored, without the prefix `bert.` of a network that has heads."""
    return {name.removeprefix("bert."): x for file in files for name, x in load_arrays(file).items()}
