"""Draws from lists and weights, one random number each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any


def pick(options: Sequence[Any], rng: Random) -> Any:
    """Returns one of the options, each as likely as the others."""
    return options[int(rng.random() * len(options))]


def weighted(weights: Mapping[str, float], rng: Random) -> str:
    """Returns a key with a chance proportional to its weight."""
    at = rng.random() * sum(weights.values())
    for key, weight in weights.items():
        at -= weight
        if at < 0:
            return key
    return key
