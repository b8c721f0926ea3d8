"""Baselines: the scores of an empty report, and of one normal sentence, for every study of a set.

Most studies are normal or nearly so, and silence is right about much of them. A metric by which a system does not beat
it would choose the silent model, or teach it. The two scores need references alone: nothing is generated.
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

from rrgmetrics.callbacks.scoring import Scoring, headline, suffix
from rrgmetrics.errors import InputError
from rrgmetrics.names import READER, MetricName
from rrgmetrics.reports import Pair

logger = logging.getLogger("rrgmetrics")

NORMAL_REPORT = "No acute cardiopulmonary abnormality."
TRIVIAL = ("", NORMAL_REPORT)
KEPT_SETS = 16  # sets of references whose baselines are kept
KEPT_REFERENCES = 262_144  # references whose trivial rewards are kept: 80 MB
WINDOW = 64  # completions whose mean reward is compared

Baselines = Literal["bundled", "all", "none"]
State = Literal["better", "no better", "unscored"]


class Baseline(NamedTuple):
    """The scores of the trivial reports; NaN is unscored."""

    empty: float
    normal: float


def check_baselines(baselines: Baselines) -> Baselines:
    """Raises InputError for an unknown word."""
    if baselines not in ("bundled", "all", "none"):
        raise InputError(f"baselines is {baselines!r}; pass 'bundled', 'all' or 'none'.")
    return baselines


def compared(name: MetricName, baselines: Baselines) -> bool:
    """Returns whether a metric scores the trivial reports; a judge that asks a model does so only with `"all"`."""
    asks = name.spec.judge and name.config not in READER
    return baselines == "all" or (baselines == "bundled" and not asks)


def trivial(pairs: Collection[Pair]) -> list[list[Pair]]:
    """Returns, for each trivial report, the pairs with it in place of the candidates."""
    return [[pair._replace(candidate=text) for pair in pairs] for text in TRIVIAL]


def state_of(value: float, baseline: Baseline, higher_is_better: bool) -> State:
    """Returns whether a value beats both trivial reports; one of them that is unscored is left out."""
    known = [each for each in baseline if not math.isnan(each)]
    if math.isnan(value) or not known:
        return "unscored"
    beaten = [value > each if higher_is_better else value < each for each in known]
    return "better" if all(beaten) else "no better"


def say_change(
    before: State, what: str, value: float, baseline: Baseline, *, higher_is_better: bool, use: str
) -> State:
    """Logs how a value compares with the trivial reports, if that has changed.

    Args:
        before: How it stood the last time; `"better"` at first, so that a good beginning is not worth a word.
        what: Of what, as the beginning of a sentence: `"step 500: eval_crepe"`.
        value: The system's; NaN = unscored.
        baseline: The trivial reports'.
        higher_is_better: Direction.
        use: What the value is used for, up to what that would lead to: `"Choosing the best model by it would choose"`.

    Returns:
        How it stands now.
    """
    state = state_of(value, baseline, higher_is_better)
    if state != before:
        level = logging.INFO if state == "better" else logging.WARNING
        logger.log(level, "%s", _words(state, what, value, baseline, higher_is_better, use))
    return state


def _words(state: State, what: str, value: float, baseline: Baseline, higher_is_better: bool, use: str) -> str:
    shown, empty, normal = map(_show, (value, *baseline))
    if state == "better":
        return f"{what} {shown} beats an empty report ({empty}) and a one-sentence normal report ({normal})."
    if state == "unscored":
        return (
            f"{what} cannot be compared with trivial reports: it is {shown}, an empty report's is {empty}, a "
            f"one-sentence normal report's is {normal}."
        )
    better = "higher" if higher_is_better else "lower"
    if state_of(value, baseline._replace(normal=math.nan), higher_is_better) == "no better":
        against, outcome = f"an empty report's {empty} (one-sentence normal report: {normal})", "silence"
    else:
        against, outcome = f"a one-sentence normal report's {normal} (empty report: {empty})", "a normal template"
    return f"{what} {shown} does not beat {against}; {better} is better. {use} {outcome}."


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
        self._headlines = {name.spec.name for name in self._names.values()}
        self._sets: OrderedDict[object, _Set] = OrderedDict()
        self.baselines: dict[str, Baseline] = {}

    def see(
        self, pairs: Sequence[Pair], values: Mapping[str, float], *, prefix: str = "", when: str = "", best: str = ""
    ) -> None:
        """Compares the headlines among the values of a scoring, and the key `best` that chooses the best model.

        Args:
            pairs: What was scored. Equal references and contexts are one set, in whatever order.
            values: As `Scoring.score` gives them.
            prefix: What stands before each key where it is logged.
            when: The beginning of what is said.
            best: A key with its prefix.
        """
        names = {text: name for text, name in self._names.items() if headline(name) in values}
        here = self._find(prefix, pairs)
        new = [text for text, name in names.items() if headline(name) not in here.baselines]
        if new and self._scoring:
            here.baselines |= _score(self._scoring, pairs, new)
            _tell({prefix + key: here.baselines[key] for key in (headline(names[text]) for text in new)}, len(pairs))
        self.baselines |= {prefix + key: baseline for key, baseline in here.baselines.items()}
        for key, logged in ((key, key.name + suffix(name)) for name in names.values() for key in name.spec.keys):
            if key.name in self._headlines or prefix + logged == best:
                what, value, baseline = f"{when}{prefix}{logged}", values[logged], here.baselines[logged]
                if key.target is not None:
                    what += f", in distance from {key.target:g},"
                    value, baseline = abs(value - key.target), Baseline(*(abs(each - key.target) for each in baseline))
                here.states[logged] = say_change(
                    here.states.get(logged, "better"),
                    what,
                    value,
                    baseline,
                    higher_is_better=bool(key.higher_is_better),
                    use="Choosing the best model by it would choose",
                )

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

    A copy begins anew, in another process too.
    """

    rows: list[tuple[float | None, ...]] = field(default_factory=list)
    known: OrderedDict[bytes, tuple[float | None, ...]] = field(default_factory=OrderedDict)
    state: State = "better"

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
            use="Training on it would teach",
        )
        self.rows.clear()


def _digests(pairs: Iterable[Pair]) -> list[bytes]:
    """Returns digests of references with their contexts, so that no data set of texts is kept."""
    return [blake2b(repr((pair.reference, pair.context)).encode(), digest_size=8).digest() for pair in pairs]


def _score(scoring: Scoring, pairs: Sequence[Pair], metrics: Sequence[str]) -> dict[str, Baseline]:
    """Scores the trivial reports in place of the candidates."""
    empty, normal = (scores.values for scores in scoring.score_sets(trivial(pairs), metrics))
    return {key: Baseline(empty[key], normal[key]) for key in empty}


def _tell(baselines: Mapping[str, Baseline], n_studies: int) -> None:
    scores = ", ".join(f"{key} {' and '.join(map(_show, baseline))}" for key, baseline in baselines.items())
    logger.info("An empty report and a one-sentence normal report for each of %d studies score: %s.", n_studies, scores)


def _show(value: float) -> str:
    """Writes a value: `0.312`, `1.92`, or that it is unscored."""
    return "unscored" if math.isnan(value) else f"{value:.{3 if abs(value) < 1 else 2}f}"
