"""How alike reports are, each with all others at once: by their mean token vectors, or by BERTScore itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.encoder import BUNDLED, Encoder, TokenVectors, load_encoder
from rrgmetrics.errors import InputError
from rrgmetrics.specs.names import parse_name

Similarities: TypeAlias = Callable[[Sequence[int]], NDArray[np.float32]]  # indices → `(n_indices, n_texts)`
Likeness: TypeAlias = Callable[[Sequence[str]], Similarities]

BERTSCORE = "bertscore"
TEXTS = 2048  # read at a time, for the token vectors of many would fill the memory
TOKENS = 200_000  # compared with a reference at a time


def by_mean_vector(texts: Sequence[str]) -> Similarities:
    """The cosine of the mean token vectors of the bundled encoder."""
    vectors = embed(texts)
    return lambda own: vectors[own] @ vectors.T


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Returns unit vectors `(n_texts, width)`: the mean token vector of the bundled encoder."""
    encoder = load_encoder(BUNDLED)
    vectors = []
    for start in range(0, len(texts), TEXTS):
        for tokens in encoder.annotate(texts[start : start + TEXTS]):
            mean = tokens.vectors[tokens.own].mean(axis=0) if tokens.own.any() else tokens.vectors[0]
            vectors.append(mean / np.linalg.norm(mean))
    return np.stack(vectors).astype(np.float32)


def by_bertscore(name: str = BERTSCORE) -> Likeness:
    """BERTScore's F-measure, every report with every other, without rescaling, which would change no order.

    Args:
        name: The metric: `bertscore` with the bundled encoder, `bertscore@paper`.

    Raises:
        InputError: Another metric, or weights of tokens.
        BackendError: The encoder is not there.
    """
    parsed = parse_name(name)
    if parsed.spec.name != BERTSCORE or parsed.spec.fragment or parsed.options["idf"] != "no":
        raise InputError(f"{name!r} is not a BERTScore without idf; pass bertscore or bertscore@paper.")

    def compare(texts: Sequence[str]) -> Similarities:
        from rrgmetrics.scoring.prepared import prepare

        with prepare([name]) as ready:
            job = ready.jobs[name]
            encoder = cast(Encoder, job.backend)
            tokens = encoder.annotate(list(map(job.normaliser.apply, texts)))
        blocks = _blocks(tokens)
        return lambda own: np.stack([np.concatenate([_f_measures(tokens[i], each) for each in blocks]) for i in own])

    return compare


class _Block(NamedTuple):
    """Token vectors of several texts, which of the tokens count, and where each text begins."""

    vectors: NDArray[np.float32]
    own: NDArray[np.bool_]
    starts: NDArray[np.int64]


def _blocks(texts: Sequence[TokenVectors]) -> list[_Block]:
    blocks, members, n_tokens = list[_Block](), list[TokenVectors](), 0
    for text in texts:
        members.append(text)
        n_tokens += len(text.ids)
        if n_tokens >= TOKENS:
            blocks.append(_joined(members))
            members, n_tokens = [], 0
    return [*blocks, *([_joined(members)] if members else [])]


def _joined(texts: Sequence[TokenVectors]) -> _Block:
    starts = np.cumsum([0, *(len(text.ids) for text in texts[:-1])])
    vectors, own = (np.concatenate(part) for part in zip(*((t.vectors, t.own) for t in texts), strict=True))
    return _Block(vectors, own, starts)


def _f_measures(reference: TokenVectors, block: _Block) -> NDArray[np.float32]:
    """BERTScore's F of a reference with each text of a block; 0 where either has no token of its own."""
    vectors, own, starts = block
    similarity = reference.vectors @ vectors.T
    n_own = np.add.reduceat(own.astype(np.float64), starts)
    matched = np.add.reduceat(np.where(own, np.minimum(similarity.max(axis=0), 1.0), 0.0), starts)
    found = np.minimum(np.maximum.reduceat(similarity[reference.own], starts, axis=1), 1.0)
    scored = (n_own > 0) & bool(reference.own.any())
    precision = np.divide(matched, n_own, out=np.zeros(len(starts)), where=scored)
    recall = found.mean(axis=0) if reference.own.any() else np.zeros(len(starts))
    total = precision + recall
    f: NDArray[np.float32] = np.divide(
        2 * precision * recall, total, out=np.zeros(len(starts)), where=scored & (total > 0)
    ).astype(np.float32)
    return f
