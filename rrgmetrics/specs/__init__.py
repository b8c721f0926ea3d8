"""The one table of metric facts.

Modules, command line, cards, README, leaderboard, callbacks and the contract tests read `SPECS`; nobody repeats it.
Adding a metric begins with a row in the file of its family (CONTRIBUTING.md).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from rrgmetrics.errors import InputError
from rrgmetrics.specs.clinical import CLINICAL
from rrgmetrics.specs.judges import EXPLAIN_OPTION, JUDGE_CONFIGS, JUDGE_OPTIONS, JUDGES
from rrgmetrics.specs.labels import LABELS
from rrgmetrics.specs.lexical import LEXICAL
from rrgmetrics.specs.model import BUNDLED_MARK, HACKS, INF, Hack, Key, MetricSpec, Option, OptionValue
from rrgmetrics.specs.presets import PRESETS
from rrgmetrics.specs.shared import LONG_OPTION, TEXT_OPTION
from rrgmetrics.specs.vectors import VECTORS

__all__ = [
    "BUNDLED_MARK",
    "EXPLAIN_OPTION",
    "HACKS",
    "INF",
    "JUDGE_CONFIGS",
    "JUDGE_OPTIONS",
    "LONG_OPTION",
    "PRESETS",
    "SPECS",
    "TEXT_OPTION",
    "Hack",
    "Key",
    "MetricSpec",
    "Option",
    "OptionValue",
    "all_keys",
    "get_spec",
    "known_as",
]

SPECS: Mapping[str, MetricSpec] = {
    spec.name: spec for family in (CLINICAL, JUDGES, LABELS, LEXICAL, VECTORS) for spec in family
}


def known_as(alias: str) -> list[Key]:
    """The keys that papers call `alias`, whatever its capitals.

    Example:
        >>> [key.name for key in known_as("CheXbert-5 micro")]
        ['chexbert_f1_micro_5']
    """
    return [key for _, key in all_keys() if alias.casefold() in map(str.casefold, key.aliases)]


def get_spec(name: str) -> MetricSpec:
    """The spec of a metric; raises InputError with near spellings for an unknown name, or with what it is here."""
    if name in SPECS:
        return SPECS[name]
    if name in PRESETS:
        raise InputError(f"{name!r} stands for several metrics; name one of them here: {', '.join(PRESETS[name])}.")
    called = [(spec, key) for spec, key in all_keys() if key in known_as(name)]
    if called:
        spec, key = called[0]
        raise InputError(f"What papers call {name!r} is {key.name} here; name the metric {spec.name}.")
    near = difflib.get_close_matches(name, [*SPECS, *PRESETS], n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(SPECS)}."
    raise InputError(f"There is no metric {name!r}; {hint} `rrgmetrics list` shows all.")


def all_keys() -> Iterator[tuple[MetricSpec, Key]]:
    """Every (metric, key) of the table, in its order."""
    for spec in SPECS.values():
        for key in spec.keys:
            yield spec, key
