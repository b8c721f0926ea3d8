"""The table of all metrics and their properties.

Modules, command line, cards, README, leaderboard, callbacks and the contract tests use `SPECS`. To add a metric, start
with a row in the file of its family (CONTRIBUTING.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rrgmetrics.errors import InputError
from rrgmetrics.specs.clinical import CLINICAL
from rrgmetrics.specs.judges import BUNDLED_CONFIGS, ENGINES, EXPLAIN_OPTION, JUDGE_OPTIONS, JUDGES
from rrgmetrics.specs.labels import LABELS
from rrgmetrics.specs.lexical import LEXICAL
from rrgmetrics.specs.model import (
    BUNDLED_MARK,
    HACKS,
    INF,
    UNDEFINED,
    Config,
    Hack,
    Key,
    MetricSpec,
    Option,
    OptionValue,
)
from rrgmetrics.specs.other_modalities import OTHER_MODALITIES
from rrgmetrics.specs.plugins import Plugins, plugins
from rrgmetrics.specs.presets import PRESETS
from rrgmetrics.specs.shared import LONG_OPTION, TEXT_OPTION
from rrgmetrics.specs.vectors import VECTORS
from rrgmetrics.utils.text_format import near_names

__all__ = [
    "BUNDLED_CONFIGS",
    "BUNDLED_MARK",
    "ENGINES",
    "EXPLAIN_OPTION",
    "HACKS",
    "INF",
    "JUDGE_OPTIONS",
    "LONG_OPTION",
    "PRESETS",
    "SPECS",
    "TEXT_OPTION",
    "UNDEFINED",
    "Config",
    "Hack",
    "Key",
    "MetricSpec",
    "Option",
    "OptionValue",
    "all_keys",
    "all_specs",
    "configurations",
    "get_spec",
    "keys_of",
    "known_as",
    "others",
]

SPECS: Mapping[str, MetricSpec] = {
    spec.name: spec for family in (CLINICAL, JUDGES, LABELS, LEXICAL, OTHER_MODALITIES, VECTORS) for spec in family
}


def configurations(spec: MetricSpec) -> dict[str, str]:
    """Everything that may stand behind a metric's `@`, and what then runs.

    Example:
        >>> list(configurations(SPECS["crepe"]))
        ['default', 'paper', '<id or path>']
    """
    return {
        **{name: config.help for name, config in spec.configs.items()},
        **(ENGINES if spec.judge else {}),
        **({"<id or path>": spec.checkpoint} if spec.checkpoint else {}),
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
    theirs = others()
    if name in theirs.problems:
        raise InputError(f"{theirs.problems[name]}.")
    if name in theirs.specs:
        return theirs.specs[name]
    if name in PRESETS:
        raise InputError(f"{name!r} is a preset of several metrics; name one metric: {', '.join(PRESETS[name])}.")
    called = [(spec, key) for spec, key in all_keys() if key in known_as(name)]
    if called:
        spec, key = called[0]
        raise InputError(f"{name!r} is a score of {spec.name} (key {key.name}); name the metric, {spec.name}.")
    if re.fullmatch(r"[\w.]+:\w+", name):
        raise InputError(
            f"{name!r} looks like a Python function, which only `rrgmetrics stress` and `rrgmetrics game` take; name a "
            "metric. `rrgmetrics list` shows all metrics, also those of packages of yours."
        )
    near = near_names(name, all_specs()) or near_names(name, PRESETS)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(all_specs())}."
    raise InputError(f"There is no metric {name!r}; {hint} `rrgmetrics list` shows all metrics.")


def keys_of(name: str) -> tuple[str, ...]:
    """The names of a metric's keys, the headline first, for the columns of a scorer.

    Example:
        >>> keys_of("rouge")
        ('rouge', 'rouge_1', 'rouge_2', 'rouge_l')
    """
    return tuple(key.name for key in get_spec(name).keys)


def others() -> Plugins:
    """What other packages declare (`rrgmetrics.specs.plugins`); imports them at the first call."""
    return plugins(frozenset(name for spec, key in all_keys() for name in (spec.name, key.name)))


def all_specs() -> Mapping[str, MetricSpec]:
    """Our metrics and those of other packages, by name."""
    return {**SPECS, **others().specs}


def all_keys() -> Iterator[tuple[MetricSpec, Key]]:
    """Every (metric, key) of our own table, in its order."""
    for spec in SPECS.values():
        for key in spec.keys:
            yield spec, key
