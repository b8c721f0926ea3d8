"""Chooses the pack of the reader's lexicon for each pair.

A metric with the option `modality` uses the pack that it names; with `auto`, it uses for each pair the pack of the
reference's kind of report. Other metrics use the default pack, for chest X-ray reports. Published checkpoints use none.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rrgmetrics.reading.lexicon import AUTO, DEFAULT_PACK, all_packs, first_pack
from rrgmetrics.specs.names import MetricName
from rrgmetrics.utils.text_format import counted, listed

if TYPE_CHECKING:
    from rrgmetrics.scoring.results import Result

logger = logging.getLogger("rrgmetrics")

DETAILS = "_modality"  # what the details of packs are called, behind the metric's name
FACT = "pack"  # what the signature calls them
SEVERAL = "this is one score over several kinds of reports"


def follows(name: MetricName) -> bool:
    """Whether a metric reads with the pack that its option `modality` says."""
    return "modality" in name.options and (name.spec.judge or not name.published)


def pack_of(name: MetricName) -> str:
    """The pack that a metric reads with; AUTO: that of each reference's kind of report."""
    return str(name.options["modality"]) if follows(name) else DEFAULT_PACK


def details_of(name: MetricName, packs: Sequence[str]) -> dict[str, list[str]]:
    """The details of a result: the pack of each pair, if they follow from the reports and one is not the default."""
    told = pack_of(name) == AUTO and {*packs} - {DEFAULT_PACK}
    return {name.spec.name + DETAILS: list(packs)} if told else {}


def packs_of(name: MetricName, details: Mapping[str, Sequence[Any]], n_pairs: int) -> list[str]:
    """The pack that each pair of a result was read with."""
    pack = pack_of(name)
    packs = details.get(name.spec.name + DETAILS) if pack == AUTO else None
    return [each or DEFAULT_PACK for each in packs] if packs else [first_pack(pack)] * n_pairs


def counts_of(name: MetricName, details: Mapping[str, Sequence[Any]], n_pairs: int) -> dict[str, int]:
    """How many pairs of a result were read with each pack, the commonest first; none of a metric that follows none."""
    return dict(Counter(packs_of(name, details, n_pairs)).most_common()) if follows(name) else {}


def facts_of(name: MetricName, counts: Iterable[str]) -> dict[str, str]:
    """What the signature says of the packs that were read with, if they follow from the reports."""
    return {FACT: "+".join(sorted(counts))} if pack_of(name) == AUTO else {}


def warn_of_packs(read: Iterable[tuple[MetricName, Mapping[str, int]]]) -> None:
    """Warns of calls with several kinds of reports, and of packs that are experimental, once for all metrics.

    Args:
        read: Of each metric (and call) the number of scored pairs that were read with each pack.
    """
    said: dict[str, dict[str, str]] = {}
    for name, unsorted in read:
        counts = dict(Counter(unsorted).most_common())
        advice = f" {name.spec.name}?modality={next(iter(counts))} reads all as one kind." if len(counts) > 1 else ""
        for line in _lines(counts):
            said.setdefault(line, {}).setdefault(name.spec.name, advice)
    for line, names in said.items():
        logger.warning("%s: %s%s", ", ".join(names), line, next(iter(names.values())) if SEVERAL in line else "")


def kind_lines(results: Mapping[str, Mapping[str, Result]]) -> list[str]:
    """Describes for tables and pages which metrics have one score over several kinds of reports, or experimental ones.

    Args:
        results: For each system its Results by metric; all have the same references.
    """
    said: dict[str, dict[str, None]] = {}
    for result in next(iter(results.values()), {}).values():
        for line in _lines(result.scored_modalities):
            said.setdefault(line, {})[result.title] = None
    return [f"{listed(list(names))}: {line}" for line, names in said.items()]


def _lines(counts: Mapping[str, int]) -> Iterator[str]:
    packs = all_packs()
    if len(counts) > 1:
        titles = {pack: packs[pack].title for pack in counts}
        kinds = (counted(n, titles[pack].replace("reports", "report"), titles[pack]) for pack, n in counts.items())
        yield f"{SEVERAL}: {', '.join(kinds)}."
    yield from filter(None, map(experimental_note, counts))


def experimental_note(pack: str) -> str:
    """Returns that the support for the reports of a pack is experimental, as a sentence; "" if it is not."""
    known = all_packs()[pack]
    if not known.experimental:
        return ""
    return f"Support for {known.title} is experimental: it was measured on invented reports only."
