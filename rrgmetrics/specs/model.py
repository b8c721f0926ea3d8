"""What a row of the table of metrics consists of: keys, options, the metric itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from rrgmetrics.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OptionValue = str | int | float | bool
Stated = float | None | Literal["undefined"]  # None: depends on the report
UNDEFINED: Literal["undefined"] = "undefined"
Values = TypeVar("Values", float, "NDArray[np.float64]")
INF = math.inf
BUNDLED_MARK = "(bundled)"  # in the titles of a stand-in

Hack = Literal["repetition", "template", "order", "contradiction", "vagueness", "excuse", "constant", "addition"]
HACKS: Mapping[Hack, str] = {  # in words
    "repetition": "repeating a sentence raises the score",
    "template": "appending normal sentences to a report raises the score",
    "order": "the correct words in a wrong order keep most of the score",
    "contradiction": "the correct words with wrong sides and without their negations keep most of the score",
    "vagueness": "leaving out sides, locations, sizes and severities raises the score",
    "excuse": (
        "calling findings chronic, old, known or unchanged, or reporting common findings as history, raises the score"
    ),
    "constant": "one constant text scores as high as reports of medium quality",
    "addition": "adding a constant text before or after a report raises the score",
}


@dataclass(frozen=True)
class Key:
    """One number that a metric returns.

    Attributes:
        name: Result key, unique over all metrics.
        title: How tables and pages name it.
        range: Smallest and largest possible value (closed; may be infinite).
        higher_is_better: Direction; None where the best value is `target`.
        per_pair: Whether the value exists for each pair as well as over all.
        aliases: What papers call it.
        target: The best value, from which worse ones lie on both sides; None where higher or lower is better.

    Example:
        >>> length = Key("length_ratio", "Length ratio", (0.0, INF), None, target=1.0)
        >>> length.better, length.arrow, length.goodness(1.25)
        ('closer to 1', '→ 1', -0.25)
    """

    name: str
    title: str
    range: tuple[float, float]
    higher_is_better: bool | None
    per_pair: bool = True
    aliases: tuple[str, ...] = ()
    target: float | None = None

    def __post_init__(self) -> None:
        if (self.higher_is_better is None) == (self.target is None):
            raise InputError(f"The key {self.name} needs either a direction (higher_is_better) or a target.")

    @property
    def better(self) -> str:
        """Which values are better, in words: "higher", "lower" or "closer to 1"."""
        if self.target is not None:
            return f"closer to {self.target:g}"
        return "higher" if self.higher_is_better else "lower"

    @property
    def arrow(self) -> str:
        """Which values are better, as a sign: "↑", "↓" or "→ 1"."""
        if self.target is not None:
            return f"→ {self.target:g}"
        return "↑" if self.higher_is_better else "↓"

    @property
    def best(self) -> float:
        """The best possible value; infinite where there is no best."""
        if self.target is not None:
            return self.target
        return self.range[1] if self.higher_is_better else self.range[0]

    def goodness(self, values: Values) -> Values:
        """Values turned so that more is better: themselves, their negatives, or how near the target they are."""
        if self.target is not None:
            return -abs(values - self.target)
        return values if self.higher_is_better else -values

    def is_better(self, difference: float) -> bool | None:
        """Whether a difference (`stats.compare`) is for the better; None for no difference or NaN.

        Of a key with a target the difference is that of the distances from it.
        """
        if not difference or math.isnan(difference):
            return None
        return (difference > 0) == bool(self.higher_is_better)


@dataclass(frozen=True)
class Option:
    """A choice the caller makes with `?name=value`; its type is the type of `default`.

    Attributes:
        default: The value of whoever does not choose.
        help: One line for the card and `rrgmetrics list`.
        choices: Allowed values; empty means any value of the type.
        stated: Whether the signature states it. False: no score depends on it, or the engine that uses it says so.
        implies: For some of its values, options whose default they change, with their values.
    """

    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()
    stated: bool = True
    implies: Mapping[OptionValue, Mapping[str, OptionValue]] = field(default_factory=dict)

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
class Config:
    """A configuration that has a name.

    Attributes:
        help: What runs, in a few words.
        options: Options whose default it changes, with their values.
    """

    help: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)


@dataclass(frozen=True)
class MetricSpec:
    """The description of a metric.

    Attributes:
        name: The name of its folder, module and headline key.
        title: Its name in tables.
        summary: What it compares, in one line for tables.
        no_number: Why a pair can lack a number, if the scorer gives no reason for each pair.
        foreign_keywords: Keywords of `evaluate`'s module of the same name, with their equivalents here.
        scorer: The class of its scorer, as `module:class`.
        modules: The package with the folder of its `evaluate` module; for a plug-in, its own package.
        keys: The numbers that it returns; the first is the headline and has the metric's name, unless the spec is
            `focused`.
        level: "pair" if the corpus value is the mean over scored pairs, else "corpus".
        empty: Its values for (empty, empty), (reference, empty) and (empty, candidate). None: depends on the report;
            UNDEFINED: there is none, and the pair is unscored.
        options: Its options by name.
        configs: Configurations by name; `default` runs if none is named.
        checkpoint: The kind of checkpoint that can replace a configuration by its Hub id or path; "": none.
        own_prompt: Whether a language model as its judge is asked with a prompt of rrgmetrics, not of the authors.
        judge: Whether it uses a judge: it then accepts engines as configurations, and `JUDGE_OPTIONS` in addition to
            its own options.
        needs: The backends that it uses.
        extra: The pip extra that it needs; "" if none.
        corpus_statistics: Whether the score of a pair depends on the other pairs of the call.
        stand_in: Whether the default configuration replaces a published model, rule or judge.
        takes_context: Whether the patient's age or indication can change a score of the default configuration.
        asks_with: The keys of the patient's context that a published configuration uses.
        modality: The kind of reports that the metric supports.
        paper: The paper that defines it.
        licence: The licence of the weights or data that it uses by default.
        citation: BibTeX key in the module's script.
        published: How published values of this name differ, if they mostly come from another program; tables say so.
        hacks: Tricks that raise its score as a reward: keys of `HACKS`, as measured on the default configuration
            (tests/callbacks/test_hacks.py).
        resists_tricks: Whether no trick of `rrgmetrics.metaeval.tricks` scores better than the honest report from which
            it was made (tests/contract/test_tricks.py).
    """

    name: str
    title: str
    scorer: str
    keys: tuple[Key, ...]
    level: Literal["pair", "corpus"]
    empty: tuple[Stated, Stated, Stated]
    options: Mapping[str, Option] = field(default_factory=dict)
    configs: Mapping[str, Config] = field(default_factory=lambda: {"default": Config("the formula")})
    checkpoint: str = ""
    judge: bool = False
    own_prompt: bool = False
    needs: tuple[str, ...] = ()
    extra: str = ""
    corpus_statistics: bool = False
    stand_in: bool = False
    takes_context: bool = False
    asks_with: tuple[str, ...] = ()
    modality: str = "any text"
    paper: str = ""
    licence: str = ""
    citation: str = ""
    hacks: tuple[Hack, ...] = ()
    resists_tricks: bool = False
    summary: str = ""
    modules: str = "rrgmetrics.metrics"
    no_number: str = "the metric gave no number"
    published: str = ""
    foreign_keywords: Mapping[str, str] = field(default_factory=dict)

    @property
    def takes_checkpoint(self) -> bool:
        """Whether a Hub id or a path is a configuration too."""
        return self.judge or bool(self.checkpoint)

    @property
    def is_graded(self) -> bool:
        """Whether the metric counts significant errors apart from all errors."""
        return any(key.name.endswith("_significant") for key in self.keys)

    def preset(self, config: str) -> Mapping[str, OptionValue]:
        """The option values that a configuration stands for; none for a checkpoint."""
        return self.configs[config].options if config in self.configs else {}

    def defaults(self, config: str, chosen: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
        """The option values of whoever does not choose: those of the row, the configuration, and what is implied.

        Args:
            config: The configuration.
            chosen: The options that were chosen.
        """
        values = {key: option.default for key, option in self.options.items()} | dict(self.preset(config))
        for key, option in self.options.items():
            values |= option.implies.get(chosen.get(key, values[key]), {})
        return values

    @property
    def headline(self) -> Key:
        """The key that carries the metric's own name, or the one that was asked for (`green#errors`)."""
        return self.keys[0]

    @property
    def fragment(self) -> str:
        """What a metric's name ends with where one of its keys was asked for: `#errors`; "" for the metric itself."""
        key = self.headline.name
        return "" if key == self.name else f"#{key.removeprefix(f'{self.name}_')}"

    @property
    def subject(self) -> str:
        """What is measured: the metric, or the key that was asked for, as `green#errors`."""
        return self.name + self.fragment

    def focused(self, key: str) -> MetricSpec:
        """The metric with one of its keys alone, which is then its headline.

        Args:
            key: The key's name, without the metric's name at will: `radcliq` is `radgraph_f1_radcliq`.

        Raises:
            InputError: No such key; lists those that there are.
        """
        known = {each.name: each for each in self.keys}
        chosen = known.get(key) or known.get(f"{self.name}_{key}")
        if chosen is None:
            ends = ", ".join(each.name.removeprefix(f"{self.name}_") for each in self.keys[1:])
            raise InputError(
                f"{self.name} has no key {key!r}; its keys after {self.name}# are: {ends}."
                if ends
                else f"{self.name} has no key {key!r}; it has one key, {self.name}."
            )
        return replace(self, keys=(chosen,))

    def titled(self, *, bundled: bool) -> MetricSpec:
        """The metric as people read it: of what the wheel bundles for a published metric every title says so."""
        if not bundled:
            return self
        keys = tuple(replace(key, title=f"{key.title} {BUNDLED_MARK}") for key in self.keys)
        return replace(self, title=f"{self.title} {BUNDLED_MARK}", keys=keys)

    def named(self, key: Key) -> str:
        """A key's title where it stands beside those of other metrics: "CRIMSON: Errors"."""
        if self.title.removesuffix(f" {BUNDLED_MARK}").removesuffix(" F1") in key.title:
            return key.title
        return f"{self.title}: {key.title.removesuffix(f' {BUNDLED_MARK}')}"

    @property
    def range(self) -> tuple[float, float]:
        """Range of the headline."""
        return self.headline.range

    @property
    def higher_is_better(self) -> bool | None:
        """Direction of the headline; None where it has a target."""
        return self.headline.higher_is_better

    @property
    def targets(self) -> Mapping[str, float]:
        """The best value of each key that has a target."""
        return {key.name: key.target for key in self.keys if key.target is not None}
