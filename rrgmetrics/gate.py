"""Which pairs a metric can score: decided by the scope of their texts, before any work is done.

A metric that reads reports of one kind says nothing of others (`rrgmetrics.reader.scope`). So

- a pair whose **reference** is out of scope is unscored, with the reason;
- a **candidate** that cannot be read counts as saying nothing and as what it says: its pair is scored as it is and with
  an empty candidate, and the worse of both scores counts.

Published checkpoints and judges with an engine are asked about every pair, as their authors ask them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.english import by_number, counted
from rrgmetrics.names import MetricName
from rrgmetrics.reader.model import Scope
from rrgmetrics.reader.scope import READABLE, out_of_scope, scope_of
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.specs import Key

NOTHING = -1  # no row
THE_REFERENCE = "the reference "
PLURAL = re.compile(r"^(look|say)s")


@dataclass(frozen=True)
class Gate:
    """What of one call's pairs is scored, and how scores come back to the pairs.

    Attributes:
        pairs: The distinct pairs to score; never empty.
        rows: For each pair of the call which of `pairs` it is; NOTHING if it is unscored.
        silent_rows: Which one is the same with an empty candidate; NOTHING if the candidate can be read.
        reasons: For each pair of the call why it is unscored; "" if it is scored.
    """

    pairs: list[Pair]
    rows: NDArray[np.intp]
    silent_rows: NDArray[np.intp]
    reasons: tuple[str, ...]

    def chosen(self, reduction: Reduction, headline: Key, stats: Array) -> NDArray[np.intp]:
        """The row of `stats` `(len(pairs), n_stats)` that counts for each pair of the call: the worse of two."""
        if (self.silent_rows == NOTHING).all():
            return self.rows
        scores = reduction.per_pair(stats)[headline.name] * (1 if headline.higher_is_better else -1)
        silent = scores[self.silent_rows]
        worse = (self.silent_rows != NOTHING) & ~(scores[self.rows] <= silent) & ~np.isnan(silent)
        return np.where(worse, self.silent_rows, self.rows)

    def placed(self, chosen: NDArray[np.intp], stats: Array) -> Array:
        """Statistics of the call's pairs; a row of NaN for an unscored one."""
        placed = stats[chosen]
        placed[chosen == NOTHING] = np.nan
        return placed

    def details(self, chosen: NDArray[np.intp], name: str, details: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Details of the call's pairs, and `<name>_unscored` if any pair is."""
        unscored = [{"unscored": reason, "replies": []} if reason else None for reason in self.reasons]
        placed = {
            key: [reason or values[row] for reason, row in zip(unscored, chosen, strict=True)]
            for key, values in details.items()
        }
        return {**placed, f"{name}_unscored": unscored} if any(self.reasons) else placed


def modality_of(name: MetricName) -> str:
    """The kind of report that a metric's configuration reads; "" if it takes any text."""
    return name.spec.modality if name.spec.modality in READABLE and not name.published else ""


def scopes_of(calls: Iterable[Sequence[Pair]]) -> dict[str, Scope]:
    """The scope of each distinct text."""
    texts = dict.fromkeys(text for pairs in calls for pair in pairs for text in pair[:2])
    return {text: scope_of(text) for text in texts}


def open_gate(pairs: Sequence[Pair], modality: str, scopes: Mapping[str, Scope]) -> Gate:
    """Sorts the pairs of a call.

    Args:
        pairs: All pairs, repeated ones too.
        modality: What the metric reads; "" for any text: every pair passes.
        scopes: Of each text, if there is a modality.
    """
    index: dict[Pair, int] = {}
    rows = np.full(len(pairs), NOTHING, dtype=np.intp)
    silent_rows = np.full(len(pairs), NOTHING, dtype=np.intp)
    reasons = [""] * len(pairs)
    for i, pair in enumerate(pairs):
        if modality:
            reasons[i] = out_of_scope(scopes[pair.reference], modality)
            if reasons[i]:
                reasons[i] = THE_REFERENCE + reasons[i]
                continue
            if out_of_scope(scopes[pair.candidate], modality):
                silent_rows[i] = index.setdefault(pair._replace(candidate=""), len(index))
        rows[i] = index.setdefault(pair, len(index))
    return Gate(list(index) or [Pair("", "")], rows, silent_rows, tuple(reasons))


def announcement(modality: str, metrics: Iterable[str], gates: Iterable[Gate]) -> str:
    """What is to be said of the pairs that metrics of one modality leave unscored; "" if there are none."""
    gate = max(gates, key=lambda gate: sum(map(bool, gate.reasons)))
    reasons = Counter(reason.removeprefix(THE_REFERENCE) for reason in gate.reasons if reason)
    if not reasons:
        return ""
    first, *others = (counted(count, reason, PLURAL.sub(r"\1", reason)) for reason, count in reasons.most_common())
    count, _, rest = first.partition(" ")
    names = sorted(set(metrics))
    return (
        f"{count} of {counted(len(gate.reasons), 'reference')} {', '.join([rest, *others])}; {', '.join(names)} "
        f"{by_number(len(names), 'reads', 'read')} {modality}: such pairs are unscored."
    )
