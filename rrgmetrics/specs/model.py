"""What a row of the table of metrics consists of: keys, options, the metric itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from rrgmetrics.errors import InputError

OptionValue = str | int | float | bool
INF = math.inf
BUNDLED_MARK = "(bundled)"  # in the titles of a stand-in

Hack = Literal["repetition", "template", "order", "contradiction"]
HACKS: Mapping[Hack, str] = {  # in words
    "repetition": "saying a sentence again raises it",
    "template": "normal sentences appended to any report raise it",
    "order": "the right words in a wrong order keep most of it",
    "contradiction": "the right words with wrong sides and without their 'no' keep most of it",
}


@dataclass(frozen=True)
class Key:
    """One number that a metric returns.

    Attributes:
        name: Result key, unique over all metrics.
        title: How tables and pages name it.
        range: Smallest and largest possible value (closed; may be infinite).
        higher_is_better: Direction.
        per_pair: Whether the value exists for each pair as well as over all.
        aliases: What papers call it.
    """

    name: str
    title: str
    range: tuple[float, float]
    higher_is_better: bool
    per_pair: bool = True
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """A choice the caller makes with `?name=value`; its type is the type of `default`.

    Attributes:
        default: Value when nothing is said.
        help: One line for the card and `rrgmetrics list`.
        choices: Allowed values; empty means any value of the type.
        stated: Whether the signature states it. False: no score depends on it, or the engine that uses it says so.
    """

    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()
    stated: bool = True

    def parse(self, text: str, where: str) -> OptionValue:
        """Reads a value as typed by a user; raises InputError naming `where`."""
        value: OptionValue
        if isinstance(self.default, bool):
            if text not in ("yes", "no"):
                raise InputError(f"{where}={text!r} is not yes or no.")
            value = text == "yes"
        elif isinstance(self.default, int | float):
            kind = type(self.default)
            try:
                value = kind(text)
            except ValueError:
                raise InputError(
                    f"{where}={text!r} is not {'a whole number' if kind is int else 'a number'}."
                ) from None
            if not math.isfinite(value):
                raise InputError(f"{where}={text!r} is not finite.")
        else:
            value = text
        if self.choices and value not in self.choices:
            raise InputError(f"{where}={text!r} is unknown; choose one of {', '.join(map(str, self.choices))}.")
        return value

    @staticmethod
    def write(value: OptionValue) -> str:
        """The inverse of `parse`."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)


@dataclass(frozen=True)
class MetricSpec:
    """What is true of a metric, whoever computes it.

    Attributes:
        name: Folder = module = headline key.
        title: How tables name it.
        scorer: `module:class` below `rrgmetrics.scorers`.
        keys: What it returns; the first is the headline and has the metric's own name.
        level: "pair" if the corpus value is the mean over scored pairs, else "corpus".
        empty: The stated values: (empty, empty), (reference, empty), (empty, candidate); None: depends on the report.
        options: Declared options.
        configs: Named configurations and the option values each stands for.
        takes_checkpoint: Whether a Hub id or a folder is a configuration too.
        judge: Whether it asks a judge: takes engines as configurations, and `JUDGE_OPTIONS` beside its own options.
        needs: Backends it reads texts with.
        extra: pip extra it needs, "" if none.
        corpus_statistics: Whether a pair's score depends on the other pairs of the call.
        stand_in: Whether the default configuration stands in for a published model, rule or judge.
        takes_context: Whether the patient's age or indication can change a score of the default configuration.
        modality: What the metric knows about.
        paper: Where it was defined.
        licence: Of the weights or data it ships or loads by default.
        citation: BibTeX key in the module's script.
        hacks: What pays in a reward although it is not right: keys of `HACKS`, as measured on the default
            configuration (tests/callbacks/test_hacks.py).
    """

    name: str
    title: str
    scorer: str
    keys: tuple[Key, ...]
    level: Literal["pair", "corpus"]
    empty: tuple[float | None, float | None, float | None]
    options: Mapping[str, Option] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=lambda: {"default": {}})
    takes_checkpoint: bool = False
    judge: bool = False
    needs: tuple[str, ...] = ()
    extra: str = ""
    corpus_statistics: bool = False
    stand_in: bool = False
    takes_context: bool = False
    modality: str = "any text"
    paper: str = ""
    licence: str = ""
    citation: str = ""
    hacks: tuple[Hack, ...] = ()

    @property
    def headline(self) -> Key:
        """The key that carries the metric's own name."""
        return self.keys[0]

    def titled(self, *, bundled: bool) -> MetricSpec:
        """The metric as people read it: of what the wheel bundles for a published metric every title says so."""
        if not bundled:
            return self
        keys = tuple(replace(key, title=f"{key.title} {BUNDLED_MARK}") for key in self.keys)
        return replace(self, title=f"{self.title} {BUNDLED_MARK}", keys=keys)

    @property
    def range(self) -> tuple[float, float]:
        """Range of the headline."""
        return self.headline.range

    @property
    def higher_is_better(self) -> bool:
        """Direction of the headline."""
        return self.headline.higher_is_better
