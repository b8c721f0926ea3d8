"""The pairs of a config, split and tokenised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.crepe.pair_tokens import PairTokenizer
from rrgmetrics.training.config import CrepeConfig
from rrgmetrics.training.labelled import LabelledPairs, read_labelled_pairs, split_pairs
from rrgmetrics.training.tokenized import TokenizedPairs, tokenize_pairs


@dataclass(frozen=True)
class CrepeData:
    """Pairs, tokenised for one config.

    Attributes:
        pairs: All pairs.
        rows: Row numbers of each split; validation and test rows by falling length, as they are evaluated.
        tokens: The rows of each split, tokenised.
    """

    pairs: LabelledPairs
    rows: Mapping[str, NDArray[np.intp]]
    tokens: Mapping[str, TokenizedPairs]


def read_data(config: CrepeConfig, tokenizer: PairTokenizer, *, progress: bool = False) -> CrepeData:
    """Reads, splits and tokenises the pairs of a config."""
    pairs = read_labelled_pairs(config.pairs)
    rows = split_pairs(pairs, fraction=config.validation_fraction, seed=config.seed)
    if config.max_pairs:
        drawn = np.random.default_rng(config.seed).permutation(len(rows["train"]))[: config.max_pairs]
        rows["train"] = rows["train"][np.sort(drawn)]
    lengths = np.array([len(r) + len(c) for r, c in zip(pairs.references, pairs.candidates, strict=True)])
    for split in ("validation", "test"):  # evaluated in order: batches of like length
        rows[split] = rows[split][np.argsort(-lengths[rows[split]], kind="stable")]
    tokens = {
        split: tokenize_pairs(
            pairs,
            rows[split],
            tokenizer,
            n_heads=config.heads,
            targets=config.token_weight > 0,
            alignment=config.alignment,
            progress=progress,
        )
        for split in rows
    }
    return CrepeData(pairs, rows, tokens)
