"""Decides which pairs a metric can score, by the scope of their texts, a block of pairs at a time.

A metric that reads reports of one kind cannot score other texts (`rrgmetrics.reading.scope`). Therefore

- a pair whose **reference** is missing (`rrgmetrics.reports.missing`) is unscored, whatever the metric reads;
- a pair whose **reference** is out of scope is unscored, with the reason;
- a pair whose **candidate** cannot be read is scored as it is and with an empty candidate, and the worse of both scores
  counts.

Both texts are checked twice: as they are, and after the option `text` is applied, which may leave no report.

Published checkpoints and judges with an engine score every pair, as in their authors' code.

The spec of a metric, or its pack (`rrgmetrics.scoring.packs`), defines the kinds of report that it reads.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.reading.lexicon import AUTO, DEFAULT_PACK, all_packs
from rrgmetrics.reading.model import Scope
from rrgmetrics.reading.scope import out_of_scope, readable_kinds, reads
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import REASON
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.specs import Key, MetricSpec
from rrgmetrics.specs.names import MetricName, parse_name
from rrgmetrics.utils.causes import as_entry
from rrgmetrics.utils.text_format import by_number, counted, listed

logger = logging.getLogger("rrgmetrics")
_in_tables: ContextVar[bool] = ContextVar("in_tables", default=False)

NOTHING = -1  # no row
STRANGE = "_candidate_out_of_scope"  # what the details of such candidates are called, behind the metric's name
REMOVED = "_removed"  # what the details of cleaned texts are called, behind the metric's name
THE_REFERENCE = "the reference "
UNREAD = "unread"  # the kind of a text that says nothing which could be read
IN_ENGLISH = " reports in English"
_SINGULAR = re.compile(r"^(?:(lack|look|say)s|has)\b")  # verbs of reasons


@dataclass(frozen=True)
class Gate:
    """The pairs of a call that a metric can score, and the way of their scores back to all pairs.

    Attributes:
        pairs: The distinct pairs to score; never empty.
        rows: For each of the given pairs which of `pairs` it is; NOTHING if it is unscored.
        silent_rows: Which one is the same with an empty candidate; NOTHING if the candidate can be read.
        reasons: For each of the given pairs why it is unscored; "" if it is scored.
        packs: For each of the given pairs the pack that it is read with.
        given: The given pairs of a block, distinct.
        removed: For each of the given pairs what was cleaned away from its texts, by kind.
        strange: For each of the given pairs why its candidate cannot be read; "" if it can.
    """

    pairs: list[Pair]
    rows: NDArray[np.intp]
    silent_rows: NDArray[np.intp]
    reasons: tuple[str, ...]
    packs: tuple[str, ...] = ()
    given: tuple[Pair, ...] = ()
    removed: tuple[Mapping[str, int], ...] = ()
    strange: tuple[str, ...] = ()

    @classmethod
    def joined(cls, blocks: Sequence[Gate], pairs: Sequence[Pair]) -> Gate:
        """Joins the gates of a call's blocks.

        Args:
            blocks: Of the call's distinct pairs, in the order in which they are scored.
            pairs: All pairs of the call, repeated ones too.
        """
        offsets = np.cumsum([0, *(len(block.pairs) for block in blocks)])
        order = {pair: index for index, pair in enumerate(pair for block in blocks for pair in block.given)}
        places = np.array([order[pair] for pair in pairs])
        reasons = [reason for block in blocks for reason in block.reasons]
        packs = [pack for block in blocks for pack in block.packs]
        removed = [each for block in blocks for each in block.removed or ({},) * len(block.given)]
        strange = [each for block in blocks for each in block.strange or ("",) * len(block.given)]

        def moved(rows: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
            parts = [
                np.where(row == NOTHING, NOTHING, row + offset) for row, offset in zip(rows, offsets, strict=False)
            ]
            return np.asarray(np.concatenate(parts)[places], dtype=np.intp)

        return cls(
            [pair for block in blocks for pair in block.pairs],
            moved([block.rows for block in blocks]),
            moved([block.silent_rows for block in blocks]),
            tuple(reasons[place] for place in places),
            tuple(packs[place] for place in places),
            removed=tuple(removed[place] for place in places),
            strange=tuple(strange[place] for place in places),
        )

    def chosen(self, reduction: Reduction, headline: Key, stats: Array) -> NDArray[np.intp]:
        """Returns which row of `stats` `(len(pairs), n_stats)` counts for each pair of the call: the worse of two."""
        if (self.silent_rows == NOTHING).all():
            return self.rows
        scores = headline.goodness(reduction.per_pair(stats)[headline.name])
        silent = scores[self.silent_rows]
        worse = (self.silent_rows != NOTHING) & ~(scores[self.rows] <= silent) & ~np.isnan(silent)
        return np.where(worse, self.silent_rows, self.rows)

    def placed(self, chosen: NDArray[np.intp], stats: Array) -> Array:
        """Returns the statistics of the given pairs; a row of NaN for an unscored one."""
        placed = stats[chosen]
        placed[chosen == NOTHING] = np.nan
        return placed

    def details(self, chosen: NDArray[np.intp], name: str, details: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Returns the details of the given pairs.

        Beside the scorer's `<name>_unscored` if any pair is, `<name>_removed` if any text was cleaned, and
        `<name>_candidate_out_of_scope` if any candidate cannot be read.
        """
        unscored = [as_entry(reason, "reference") if reason else None for reason in self.reasons]
        placed = {
            key: [reason or values[row] for reason, row in zip(unscored, chosen, strict=True)]
            for key, values in details.items()
        }
        if any(self.reasons):
            placed.setdefault(f"{name}_unscored", unscored)  # a judge's has reasons of its own beside these
        if any(self.strange):
            placed[name + STRANGE] = [reason or None for reason in self.strange]
        if any(self.removed):
            placed[name + REMOVED] = [dict(each) or None for each in self.removed]
        return placed


def modality_of(name: MetricName) -> str:
    """The kind of report that a metric's configuration reads, the title of a pack, or AUTO; "" if it takes any text."""
    pack, own = str(name.options.get("modality", "")), name.spec.modality
    if name.published or not (pack or readable_kinds(own)):
        return ""
    if pack == AUTO and reads(own, all_packs()[DEFAULT_PACK].kind):
        return AUTO
    return all_packs()[pack].title if pack not in ("", AUTO) else own  # a metric of mammograms follows no other kind


def open_gate(
    pairs: Sequence[Pair],
    modality: str,
    scopes: Mapping[str, Scope],
    pack: str = DEFAULT_PACK,
    *,
    left: Mapping[str, Scope] | None = None,
    missing: bool = False,
    removed: Mapping[str, Mapping[str, int]] | None = None,
    lacking: Mapping[str, str] | None = None,
) -> Gate:
    """Sorts distinct pairs.

    Args:
        pairs: The pairs.
        modality: What the metric reads; AUTO: what the pack does; "": any text.
        scopes: Of each text; not needed where the metric reads any text.
        pack: What they are read with.
        left: Of what the option `text` leaves of each text; None: all of it.
        missing: Whether pairs with a missing reference are scored, as with an empty one.
        removed: What was cleaned away from each text, by kind.
        lacking: References that the option `text` leaves out, and why.
    """
    modality = all_packs()[pack].title if modality == AUTO else modality

    def reason_of(text: str) -> str:
        if not modality:
            return ""
        return out_of_scope(scopes[text], modality) or _unread(left, text, modality)

    index: dict[Pair, int] = {}
    rows = np.full(len(pairs), NOTHING, dtype=np.intp)
    silent_rows = np.full(len(pairs), NOTHING, dtype=np.intp)
    reasons, strange = [""] * len(pairs), [""] * len(pairs)
    for i, pair in enumerate(pairs):
        if not missing and not pair.reference.strip():
            reasons[i] = REASON
            continue
        if reason := (lacking or {}).get(pair.reference) or reason_of(pair.reference):
            reasons[i] = THE_REFERENCE + reason
            continue
        if reason := reason_of(pair.candidate):
            strange[i] = reason
            silent_rows[i] = index.setdefault(pair._replace(candidate=""), len(index))
        rows[i] = index.setdefault(pair, len(index))
    gone = tuple(Counter(removed[pair.reference]) + Counter(removed[pair.candidate]) for pair in pairs if removed)
    packs = (pack,) * len(pairs)
    kept = list(index) or [Pair("", "")]
    return Gate(kept, rows, silent_rows, tuple(reasons), packs, tuple(pairs), gone, tuple(strange))


def _unread(left: Mapping[str, Scope] | None, text: str, modality: str) -> str:
    """Why nothing can be read of what the option `text` leaves; a section alone need not say what kind it is of."""
    scope = None if left is None else left[text]
    return out_of_scope(scope, modality) if scope is not None and scope.kind == UNREAD else ""


def reasons_of(details: Mapping[str, Sequence[Any]], metric: str) -> list[str]:
    """Returns why each pair is out of a metric's scope, from the details of its result; "" if it is not."""
    texts = [(entry or {}).get("unscored", "") for entry in details.get(f"{metric}_unscored", ())]
    return [text if text.startswith(THE_REFERENCE) and text != REASON else "" for text in texts]


@contextmanager
def reasons_in_tables() -> Iterator[None]:
    """Logs nothing of pairs that are out of scope while it lasts: the caller names them with its results."""
    token = _in_tables.set(True)
    try:
        yield
    finally:
        _in_tables.reset(token)


def warn_of_scopes(scopes: Iterable[tuple[MetricName, Sequence[str]]]) -> None:
    """Warns of pairs that are out of the scope of metrics, once for all metrics that read the same kind of report.

    Args:
        scopes: Of each metric (and call) why each pair is out of its scope; "" if it is not.
    """
    if _in_tables.get():
        return
    by_modality: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for name, reasons in scopes:
        by_modality.setdefault(modality_of(name), []).append((name.spec.name, reasons))
    for modality, each in by_modality.items():
        names, reasons = zip(*each, strict=True)
        message = announcement(modality, names, reasons)
        if message:
            logger.warning("%s", message)


def in_plural(reason: str) -> str:
    """Returns a reason as it is of several texts.

    Example:
        >>> in_plural("looks like a CT report"), in_plural("has no readable statement")
        ('look like a CT report', 'have no readable statement')
    """
    return _SINGULAR.sub(lambda verb: verb[1] or "have", reason)


def announcement(modality: str, metrics: Iterable[str], scopes: Iterable[Sequence[str]]) -> str:
    """Describes the pairs that metrics of one modality leave unscored; "" if there are none."""
    worst = max(scopes, key=lambda reasons: sum(reason not in ("", REASON) for reason in reasons))
    reasons = Counter(reason.removeprefix(THE_REFERENCE) for reason in worst if reason and reason != REASON)
    if not reasons:
        return ""
    first, *others = (counted(count, reason, in_plural(reason)) for reason, count in reasons.most_common())
    count, _, rest = first.partition(" ")
    names = sorted(set(metrics))
    reads = f"; {', '.join(names)} {by_number(len(names), 'supports', 'support')} {known(modality)}" if modality else ""
    return (
        f"{count} of {counted(len(worst), 'reference')} {', '.join([rest, *others])}{reads}: such pairs are unscored."
    )


def known(modality: str) -> str:
    """Returns what a metric of this modality reads, in words.

    Example:
        >>> known(AUTO)
        'chest X-ray and chest CT reports in English (experimental: brain CT and mammography)'
    """
    if modality != AUTO:
        return modality
    packs = all_packs().values()
    stable = [pack.title for pack in packs if not pack.experimental]
    ours = [title.removesuffix(IN_ENGLISH) for title in stable if title.endswith(IN_ENGLISH)]
    read = [listed(ours) + IN_ENGLISH, *(title for title in stable if not title.endswith(IN_ENGLISH))]
    tried = [pack.title.removesuffix(IN_ENGLISH) for pack in packs if pack.experimental]
    return ", ".join(read) + (f" (experimental: {listed(tried)})" if tried else "")


def reports_read(spec: MetricSpec) -> str:
    """Returns what a metric reads by default, in words: those of every list, card and message.

    Example:
        >>> from rrgmetrics.specs import SPECS
        >>> reports_read(SPECS["crepe"]), reports_read(SPECS["bleu"])
        ('chest X-ray reports in English', 'any text')
    """
    return known(modality_of(parse_name(spec.name))) or spec.modality
