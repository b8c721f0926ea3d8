"""Baselines: the scores of trivial systems (`rrgmetrics.baselines.skill`) on a set.

Most studies are normal or nearly so, and silence is right about much of them. A metric by which a system does not beat
it would choose the silent model, or teach it. The scores need references alone: nothing is generated. Rewards are
compared with an empty report and with one normal sentence.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple

import numpy as np

from rrgmetrics.baselines.skill import NORMAL_REPORT, PERFECT, TRIVIAL_NAMES, asks_model, trivial_systems
from rrgmetrics.callbacks.scoring import Scoring, headline
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.specs.names import MetricName
from rrgmetrics.utils.text_format import counted, listed

logger = logging.getLogger("rrgmetrics")

TRIVIAL = ("", NORMAL_REPORT)
KEPT_SETS = 16  # sets of references whose baselines are kept
KEPT_REFERENCES = 262_144  # references whose trivial rewards are kept: 80 MB
CHOOSING = "Choosing the best model by it would choose"
WINDOW = 64  # completions whose mean reward is compared

Baselines = Literal["bundled", "all", "none"]
State = Literal["better", "no better", "unscored"]


class Baseline(NamedTuple):
    """The scores of trivial systems, and of the references against themselves; NaN is unscored, or not made."""

    empty: float
    normal: float
    template: float = math.nan
    frequent: float = math.nan
    another: float = math.nan
    perfect: float = math.nan

    @property
    def trivial(self) -> dict[str, float]:
        """The scores of the trivial systems that have one, by name."""
        return {name: value for name, value in zip(TRIVIAL_NAMES, self, strict=False) if not math.isnan(value)}


OUTCOMES: Mapping[str, str] = {  # the model that a score would choose if it does not beat this trivial system
    "empty": "a model that writes nothing",
    "normal": "a model that always writes a normal report",
    "template": "a model that always writes a normal report",
    "frequent": "a model that always writes the same report",
    "another": "a model that ignores the image",
}


def check_baselines(baselines: Baselines) -> Baselines:
    """Raises InputError for an unknown word."""
    if baselines not in ("bundled", "all", "none"):
        raise InputError(f"baselines is {baselines!r}; pass 'bundled', 'all' or 'none'.")
    return baselines


def compared(name: MetricName, baselines: Baselines) -> bool:
    """Returns whether a metric scores the trivial reports; a judge that asks a model does so only with `"all"`."""
    return baselines == "all" or (baselines == "bundled" and not asks_model(name))


def trivial(pairs: Collection[Pair]) -> list[list[Pair]]:
    """Returns, for each trivial report, the pairs with it in place of the candidates."""
    return [[pair._replace(candidate=text) for pair in pairs] for text in TRIVIAL]


def state_of(value: float, baseline: Baseline, higher_is_better: bool) -> State:
    """Returns whether a value beats all trivial systems that have a score, in the digits that are shown."""
    known = list(baseline.trivial.values())
    if math.isnan(value) or not known:
        return "unscored"
    beaten = [value > each if higher_is_better else value < each for each in known]
    equal = [_show(value) == _show(each) for each in known]
    return "better" if all(beaten) and not any(equal) else "no better"


def say_change(
    before: State | None, what: str, value: float, baseline: Baseline, *, higher_is_better: bool, use: str
) -> State:
    """Logs how a value compares with the trivial reports, if that has changed; a first value that beats them does not.

    Args:
        before: What this function returned the last time; None for the first value.
        what: Of what, as the beginning of a sentence: `"step 500: eval_crepe"`.
        value: The system's; NaN = unscored.
        baseline: The trivial reports'.
        higher_is_better: Direction.
        use: What the value is used for, up to what that would lead to: `"Choosing the best model by it would choose"`.

    Returns:
        How the value compares now.
    """
    state = state_of(value, baseline, higher_is_better)
    if state != (before or "better"):  # a warning also where the value now beats them: it ends an earlier warning
        logger.warning("%s", _words(state, before, what, value, baseline, higher_is_better, use))
    return state


def _words(
    state: State, before: State | None, what: str, value: float, baseline: Baseline, higher_is_better: bool, use: str
) -> str:
    shown = _show(value)
    # An empty and a normal report are always named, the others where they have a score.
    scores = {"empty": baseline.empty, "normal": baseline.normal, **baseline.trivial}
    if state == "better":
        beaten = listed([f"{TRIVIAL_NAMES[name]} ({_show(scores[name])})" for name in scores])
        return f"{what} {shown} now beats {beaten}."
    if state == "unscored":
        theirs = ", ".join(f"{TRIVIAL_NAMES[name]}'s is {_show(scores[name])}" for name in scores)
        return f"{what} cannot be compared with trivial reports: it is {shown}, {theirs}."
    better = "higher" if higher_is_better else "lower"
    best = (max if higher_is_better else min)(baseline.trivial, key=scores.__getitem__)
    against = f"{TRIVIAL_NAMES[best]}'s {_show(scores[best])}"
    verb = "no longer beats" if before == "better" else "does not beat"
    return f"{what} {shown} {verb} {against} ({better} is better). {use} {OUTCOMES[best]}."


@dataclass
class _Set:
    """The state of one set of references, by the keys that are logged."""

    baselines: dict[str, Baseline] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)


class Watch:
    """Compares each scoring with what trivial reports score on the same references, and warns once per change.

    Args:
        scoring: Its metrics, with the backends that they have loaded; None has none.
        baselines: Which of its metrics are compared.

    Raises:
        InputError: Another word than those of `Baselines`.

    Attributes:
        baselines: By logged key (with the prefix) the latest set's; every key of the metrics, not the headline alone.
    """

    def __init__(self, scoring: Scoring | None, baselines: Baselines) -> None:
        check_baselines(baselines)
        names = scoring.metrics.names if scoring else {}
        self._scoring = scoring
        self._names = {text: name for text, name in names.items() if compared(name, baselines)}
        self._headlines = {name.spec.headline.name for name in self._names.values()}
        self._sets: OrderedDict[object, _Set] = OrderedDict()
        self.baselines: dict[str, Baseline] = {}

    def see(
        self,
        pairs: Sequence[Pair],
        values: Mapping[str, float],
        *,
        prefix: str = "",
        when: str = "",
        best: str = "",
        use: str = CHOOSING,
    ) -> None:
        """Compares the headlines among the values of a scoring, and the key `best` that chooses the best model.

        Args:
            pairs: What was scored. Equal references and contexts are one set, in whatever order.
            values: As `Scoring.score` gives them.
            prefix: What is before each key where it is logged.
            when: The beginning of what is said.
            best: A key with its prefix.
            use: As `say_change` takes it.
        """
        names = {text: name for text, name in self._names.items() if headline(name) in values}
        here = self.measure(pairs, names, prefix=prefix)
        for key, logged in ((key, key.name + name.suffix) for name in names.values() for key in name.spec.keys):
            if key.name in self._headlines or prefix + logged == best:
                what, value, baseline = f"{when}{prefix}{logged}", values[logged], here.baselines[logged]
                if key.target is not None:
                    what += f", in distance from {key.target:g},"
                    value, baseline = abs(value - key.target), Baseline(*(abs(each - key.target) for each in baseline))
                here.states[logged] = say_change(
                    here.states.get(logged),
                    what,
                    value,
                    baseline,
                    higher_is_better=bool(key.higher_is_better),
                    use=use,
                )

    def see_best(self, key: str, value: float, step: int, *, higher_is_better: bool) -> None:
        """Warns if the best model of a training does not beat the trivial systems, by the key that chose it."""
        if key in self.baselines and not math.isnan(value):
            say_change(
                *(None, f"best model, step {step}: {key}", value, self.baselines[key]),
                higher_is_better=higher_is_better,
                use="The checkpoint that was kept is no better than",
            )

    def measure(self, pairs: Sequence[Pair], names: Collection[str] | None = None, *, prefix: str = "") -> _Set:
        """Scores the trivial systems on a set, if nobody has, and logs what they score.

        Args:
            pairs: Of the set; their candidates are not looked at.
            names: Metrics, as they were asked for; None: all that are compared.
            prefix: As in `see`.
        """
        here = self._find(prefix, pairs)
        wanted = self._names if names is None else {text: self._names[text] for text in names}
        new = [text for text, name in wanted.items() if headline(name) not in here.baselines]
        if new and self._scoring:
            here.baselines |= _score(self._scoring, pairs, new)
            _tell({prefix + key: here.baselines[key] for key in (headline(wanted[text]) for text in new)}, len(pairs))
        self.baselines |= {prefix + key: baseline for key, baseline in here.baselines.items()}
        return here

    def _find(self, prefix: str, pairs: Sequence[Pair]) -> _Set:
        content = prefix, frozenset(Counter((pair.reference, pair.context) for pair in pairs).items())
        entry = self._sets.setdefault(content, _Set())
        self._sets.move_to_end(content)
        while len(self._sets) > KEPT_SETS:
            self._sets.popitem(last=False)
        return entry


@dataclass
class RewardWatch:
    """Compares the mean reward of real completions with what trivial reports earn on the same references.

    A copy starts empty, in another process too.
    """

    rows: list[tuple[float | None, ...]] = field(default_factory=list)
    known: OrderedDict[bytes, tuple[float | None, ...]] = field(default_factory=OrderedDict)
    state: State | None = None

    def __reduce__(self) -> tuple[type[RewardWatch], tuple[()]]:
        return RewardWatch, ()

    def unknown(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Returns the trivial reports for each new reference, to be scored together with the completions."""
        new = {digest: pair for digest, pair in zip(_digests(pairs), pairs, strict=True) if digest not in self.known}
        return [each for part in trivial(new.values()) for each in part]

    def see(
        self,
        name: str,
        pairs: Sequence[Pair],
        rewards: Sequence[float | None],
        earned: Mapping[Pair, float | None],
        *,
        higher_is_better: bool,
    ) -> None:
        """Counts completions; after each `WINDOW` or more of them logs how they compare, if that has changed.

        Args:
            name: The reward's.
            pairs: The completions beside their references.
            rewards: Theirs; None for one without.
            earned: The rewards of what is `unknown`.
            higher_is_better: Whether the training raises the reward.
        """
        for digest, pair, reward in zip(_digests(pairs), pairs, rewards, strict=True):
            if digest not in self.known:
                self.known[digest] = tuple(earned[one] for (one,) in trivial([pair]))
            self.rows.append((reward, *self.known[digest]))
        while len(self.known) > KEPT_REFERENCES:
            self.known.popitem(last=False)
        if len(self.rows) < WINDOW:
            return
        whole = [row for row in self.rows if None not in row]
        value, *means = np.array(whole, dtype=np.float64).mean(axis=0).tolist() if whole else [math.nan] * 3
        what = f"reward {name}, mean of the latest {len(self.rows)} completions:"
        self.state = say_change(
            *(self.state, what, value, Baseline(*means)),
            higher_is_better=higher_is_better,
            use="Training on it would lead to",
        )
        self.rows.clear()


def _digests(pairs: Iterable[Pair]) -> list[bytes]:
    """Returns digests of references with their contexts, so that no data set of texts is kept."""
    return [blake2b(repr((pair.reference, pair.context)).encode(), digest_size=8).digest() for pair in pairs]


def _score(scoring: Scoring, pairs: Sequence[Pair], metrics: Sequence[str]) -> dict[str, Baseline]:
    """Scores the trivial systems, and the references themselves, in place of the candidates."""
    systems = trivial_systems(pairs)
    scored = scoring.score_sets(list(systems.values()), metrics)
    values = {name: scores.values for name, scores in zip(systems, scored, strict=True)}
    return {key: Baseline(**{name: values[name][key] for name in systems}) for key in values[PERFECT]}


def _tell(baselines: Mapping[str, Baseline], n_studies: int) -> None:
    for key, baseline in baselines.items():
        theirs = ", ".join(f"{TRIVIAL_NAMES[name]} {_show(value)}" for name, value in baseline.trivial.items())
        logger.info(
            "%s of trivial systems on %s: %s; of the references %s.",
            *(key, counted(n_studies, "study", "studies"), theirs or "unscored", _show(baseline.perfect)),
        )


def _show(value: float) -> str:
    """Writes a value: `0.312`, `1.92`, or that it is unscored."""
    return "unscored" if math.isnan(value) else f"{value:.{3 if abs(value) < 1 else 2}f}"
