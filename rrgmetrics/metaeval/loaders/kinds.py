"""Counts of the six kinds of error, significant and not, as targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from rrgmetrics.metaeval.rated import KINDS, SIGNIFICANT, TOTAL
from rrgmetrics.scorers.base import Array

SIGNIFICANT_KINDS = tuple(f"{kind}_significant" for kind in KINDS)  # columns of the tables that this package writes
INSIGNIFICANT_KINDS = tuple(f"{kind}_insignificant" for kind in KINDS)


class Counted(TypedDict):
    """The raters and their values, as `Rated` takes them."""

    raters: Sequence[str]
    values: Mapping[str, Array]


def with_totals(significant: Array, insignificant: Array, raters: Sequence[str]) -> Counted:
    """The targets of data that count every kind twice.

    Args:
        significant: `(6, n_raters, n_pairs)`, in the order of the kinds A to F.
        insignificant: The same.
        raters: Their names.
    """
    every = significant + insignificant
    return {
        "raters": raters,
        "values": {
            TOTAL: every.sum(axis=0),
            SIGNIFICANT: significant.sum(axis=0),
            "insignificant_errors": insignificant.sum(axis=0),
            **dict(zip(KINDS, every, strict=True)),
            **dict(zip(SIGNIFICANT_KINDS, significant, strict=True)),
        },
    }
