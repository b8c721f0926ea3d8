"""Skill: the position of a system between the best trivial system and a perfect one.

    skill = (score − best trivial) / (perfect − best trivial)

1 is as good as the references themselves, 0 is no better than a system that uses no image, below 0 is worse. The
trivial systems are made from the references alone: an empty report, one normal sentence and a normal template for every
study, the most frequent report, and another study's report.

Perfect is what the references score against themselves, in every metric: what an image's reader who wrote exactly the
radiologist's words would get. The end of a key's range is the same where it can be reached (BLEU, ROUGE, error counts);
where it cannot (F1 averaged over labels that no study has) or is infinite (RadCliQ), it would make the skill of such a
reader less than 1 or undefined.

The best trivial system is the best of each set of pairs: of all, and of each resample of the interval, which is the
paired bootstrap over the column sums of all systems' statistics (`rrgmetrics.scorers.aggregate`). The pairs are those
that the system and all trivial ones have a score for; where these are fewer than the system's own, as of a network that
scores trivial systems on a sample, `Skill.basis` says so. The system's own score is always that of all its pairs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rrgmetrics.backends.base import PairBackend
from rrgmetrics.backends.reader import Readings
from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import all_packs
from rrgmetrics.reading.scope import out_of_scope
from rrgmetrics.reports import Pair, count_distinct
from rrgmetrics.reports.missing import says_nothing
from rrgmetrics.reports.text import lower
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import Key
from rrgmetrics.specs.names import READER, MetricName, parse_name
from rrgmetrics.stats import LEVEL, Estimate
from rrgmetrics.stats.resampling import Resampled, bootstrap_all
from rrgmetrics.stats.together import Kept, Wanted
from rrgmetrics.utils.progress import showing
from rrgmetrics.utils.text_format import counted

NORMAL_REPORT = "No acute cardiopulmonary abnormality."
NORMAL_TEMPLATE = (
    "The heart is normal in size. The mediastinal contours are within normal limits. The lungs are clear. There is no "
    "focal consolidation, pleural effusion, or pneumothorax. No acute osseous abnormality."
)
PERFECT = "perfect"
TRIVIAL_NAMES: Mapping[str, str] = {  # in words
    "empty": "an empty report",
    "normal": "a one-sentence normal report",
    "template": "a normal template",
    "frequent": "the most frequent report",
    "another": "another study's report",
}
SAMPLE = 200  # studies of which trivial systems are scored by a network that reads each pair anew, such as CREPE's
TOLERANCE = 1e-9  # a perfect system that is no further from a trivial one says nothing
SHOWN = 0.005  # two digits show less as 0

Results = Mapping[str, Mapping[str, Result]]
State = Literal["better", "unsure", "no better", "undefined"]


@dataclass(frozen=True)
class Skill:
    """The skill of one system in one score.

    Attributes:
        metric: The name the metric was asked for by.
        key: Which of its scores, titled as people read it.
        system: The system's name.
        score: The system's, on every pair that all systems have a score for, as other tables show it.
        trivial: The trivial systems', by name, on the pairs that all of them and the system have a score for.
        perfect: That of the references against themselves, on the same pairs.
        skill: Between the best trivial system (0) and the perfect one (1), on the same pairs, with its interval and
            their number; NaN where the perfect one is no better than the best trivial one.
        n_scored: Pairs that the system has a score for.
    """

    metric: str
    key: Key
    system: str
    score: float
    trivial: Mapping[str, float]
    perfect: float
    skill: Estimate
    n_scored: int

    @property
    def basis(self) -> str:
        """On how many studies trivial systems were scored, where these are not all: `on 200 of 984 studies`."""
        if not self.trivial or self.skill.n >= self.n_scored:
            return ""
        return f"on {self.skill.n:,} of {counted(self.n_scored, 'study', 'studies')}"

    @property
    def title(self) -> str:
        """The key's title with the metric's name."""
        return parse_name(self.metric).titled.named(self.key)

    @property
    def best(self) -> str:
        """The name of the best trivial system; of equal ones the first."""
        return max(self.trivial, key=lambda name: self.key.goodness(self.trivial[name]))

    @property
    def state(self) -> State:
        """Whether the system beats the best trivial one; "unsure" if the interval, as it is shown, has 0 in it."""
        if np.isnan(self.skill.value):
            return "undefined"
        if self.skill.value <= TOLERANCE:
            return "no better"
        return "better" if self.skill.low >= SHOWN else "unsure"


# --- trivial systems --------------------------------------------------------------------------------------------------


def trivial_systems(
    pairs: Sequence[Pair], *, train: Sequence[str] = (), seed: int = 0, readings: Readings | None = None
) -> dict[str, list[Pair]]:
    """Makes the trivial systems, and the perfect one, of the references of pairs.

    A study whose reference is missing or out of scope, which most metrics leave unscored, changes nothing for others.

    Args:
        pairs: One a study; their candidates are not looked at.
        train: Reports to take the most frequent of; none: the references, if one of them stands there twice.
        seed: Of the studies whose reports are given to others.
        readings: Those of the scoring (`Metrics.keeping`); None: the references are read.

    Returns:
        Pairs by the names of `TRIVIAL_NAMES`, and `PERFECT`: the references themselves.
    """
    texts = {"empty": "", "normal": NORMAL_REPORT, "template": NORMAL_TEMPLATE}
    references = [pair.reference for pair in pairs]
    usable = _usable(references, readings or Readings())
    read = [references[row] for row in usable]
    frequent = most_frequent(train) if train else most_frequent(read, at_least=2)
    if frequent is not None:
        texts["frequent"] = frequent
    systems = {name: [pair._replace(candidate=text) for pair in pairs] for name, text in texts.items()}
    if len(pairs) > 1:
        others = dict(zip(usable, (usable[other] for other in another_study(read, seed=seed)), strict=True))
        systems["another"] = [
            pair._replace(candidate=references[others.get(row, usable[0])]) for row, pair in enumerate(pairs)
        ]
    return systems | {PERFECT: [pair._replace(candidate=pair.reference) for pair in pairs]}


def _usable(references: Sequence[str], readings: Readings) -> list[int]:
    """The studies whose reports are given to others: those with a reference in scope, or all if fewer than two."""

    def is_read(text: str) -> bool:
        if says_nothing(text):
            return False
        reading = readings.read(text)
        return not out_of_scope(reading.scope, all_packs()[reading.pack].title)

    known = {text: is_read(text) for text in dict.fromkeys(references)}
    rows = [row for row, text in enumerate(references) if known[text]]
    return rows if len(rows) > 1 else list(range(len(references)))


def most_frequent(reports: Sequence[str], at_least: int = 1) -> str | None:
    """Returns the report that stands there most often (letter case and white space aside), as first written.

    Args:
        reports: The reports; blank ones do not count.
        at_least: How often it must stand there, else there is none.

    Example:
        >>> most_frequent(["Clear.", "Effusion.", "effusion. "])
        'Effusion.'
    """
    counts = Counter(filter(None, map(lower, reports)))
    if not counts or (most := counts.most_common(1)[0])[1] < at_least:
        return None
    return next(report for report in reports if lower(report) == most[0])


def another_study(references: Sequence[str], *, seed: int = 0) -> list[int]:
    """Gives each study the report of another one: a permutation that leaves none in its place.

    Studies with equal reports stand side by side in a random circle, which is turned by the size of the largest
    group: no study gets words equal to its own, unless more than half of all have them.

    Args:
        references: Two or more.
        seed: Of the order.

    Returns:
        For each study the index of the one whose report it gets.

    Example:
        >>> texts = ["Clear.", "Clear.", "Effusion.", "Nodule."]
        >>> sorted(texts[other] for other in another_study(texts)[:2])
        ['Effusion.', 'Nodule.']
    """
    if len(references) < 2:
        raise InputError(
            "There is one study; this trivial system needs at least two, since it takes the report of another study."
        )
    groups: dict[str, list[int]] = {}
    for index, text in enumerate(map(lower, references)):
        groups.setdefault(text, []).append(index)
    rng = random.Random(seed)
    order = list(groups.values())
    rng.shuffle(order)
    circle = [index for group in order for index in rng.sample(group, len(group))]
    turn = max(map(len, order)) % len(circle) or 1
    turned = circle[turn:] + circle[:turn]
    return [other for _, other in sorted(zip(circle, turned, strict=True))]


# --- scores -----------------------------------------------------------------------------------------------------------


def asks_model(name: MetricName) -> bool:
    """Returns whether a metric asks a language model about each pair: trivial systems would cost as much again."""
    return name.spec.judge and name.config not in READER


def score_beside(
    metrics: Metrics, systems: Mapping[str, Sequence[Pair]], trivial: Mapping[str, Sequence[Pair]], *, progress: bool
) -> tuple[dict[str, dict[str, Result]], dict[str, dict[str, Result]]]:
    """Scores systems and, together with them, trivial ones: each distinct text is read once.

    Args:
        metrics: Prepared. Those that ask a model score the systems alone; those whose network reads each pair anew
            score the trivial ones on a fixed sample of `SAMPLE` studies.
        systems: The pairs of each; there may be none.
        trivial: As `trivial_systems` makes them.
        progress: Whether to show a bar.

    Returns:
        For each system its Results by metric; the same of the trivial ones.
    """
    n_pairs = len(next(iter(trivial.values())))
    asking = [text for text, name in metrics.names.items() if asks_model(name)]
    slow = [text for text, job in metrics.jobs.items() if text not in asking and _runs_network(job.backend)]
    if n_pairs <= SAMPLE:
        slow = []
    quick = [text for text in metrics.names if text not in asking and text not in slow]
    rows = sorted(random.Random(0).sample(range(n_pairs), min(SAMPLE, n_pairs)))
    parts: tuple[tuple[list[str], dict[str, list[Pair]]], ...] = (
        (quick, {name: list(pairs) for name, pairs in trivial.items()}),
        (slow, {name: [pairs[row] for row in rows] for name, pairs in trivial.items()}),
        (asking, {}),
    )
    found: dict[str, dict[str, Result]] = {name: {} for name in (*systems, *map(_marked, trivial))}
    walks = [
        (texts, {**systems, **{_marked(name): pairs for name, pairs in beside.items()}})
        for texts, beside in parts
        if texts and (systems or beside)
    ]
    with showing(progress) as display:
        if display is not None:
            for texts, sets in walks:
                display.expect((str(metrics.names[text]) for text in texts), count_distinct(sets.values()))
        for texts, sets in walks:
            scored = metrics.only(texts).score_sets(list(sets.values()), progress=progress)
            for name, results in zip(sets, scored, strict=True):
                spread = texts is slow and name not in systems
                found[name] |= {
                    text: _spread(result, rows, n_pairs) if spread else result for text, result in results.items()
                }
    ordered = {name: {text: found[name][text] for text in metrics.names if text in found[name]} for name in found}
    return {name: ordered[name] for name in systems}, {name: ordered[_marked(name)] for name in trivial}


def _marked(name: str) -> str:
    """A trivial system's name that no system has."""
    return f"\0{name}"


def _runs_network(backend: object) -> bool:
    """Whether each pair goes through a model of its own; texts are read once, whoever is compared by them."""
    return isinstance(backend, PairBackend) and "model" in backend.facts


def _spread(result: Result, rows: Sequence[int], n_pairs: int) -> Result:
    """The result of some of the pairs among all; the others are unscored."""
    stats = np.full((n_pairs, result.pair_stats.shape[1]), np.nan)
    stats[rows] = result.pair_stats
    return replace(result, pair_stats=stats, per_pair=result.reduction.per_pair(stats), details={})


def measure_skill(
    systems: Results,
    trivial: Results,
    *,
    rows: Sequence[int] | None = None,
    trials: int = 1_000,
    level: float = LEVEL,
    seed: int = 0,
) -> list[Skill]:
    """Measures the skill of systems in the headline of each metric.

    Args:
        systems: For each system its Results by metric, all of the same studies.
        trivial: Those of the trivial systems and of `PERFECT`; a metric that they lack is left out.
        rows: The studies that count; None: all.
        trials: Resamples of intervals.
        level: Coverage of intervals.
        seed: Of the resamples.

    Returns:
        One for each metric and system, in this order.
    """
    metrics = [text for text in next(iter(systems.values())) if text in trivial[PERFECT]]
    beside = {text: {each: results[text] for each, results in trivial.items()} for text in metrics}
    kept = Kept()
    tasks = [
        _Task.of(text, name, by_metric[text], beside[text], rows, kept)
        for text in metrics
        for name, by_metric in systems.items()
    ]
    found = bootstrap_all([task.resampled for task in tasks], trials=trials, level=level, seed=seed)
    return [task.skill(estimates["skill"]) for task, estimates in zip(tasks, found, strict=True)]


@dataclass(frozen=True)
class _Task:
    """A system's skill in a metric, over the studies that it and every trivial system have a score for.

    Attributes:
        text: The metric as it was named.
        system: The system's name.
        key: The headline.
        reduction: The metric's arithmetic.
        tables: Statistics of the system (""), of the trivial ones and of the perfect one.
        own: The system's statistics of all pairs that it has a score for.
    """

    text: str
    system: str
    key: Key
    reduction: Reduction
    tables: Mapping[str, Array]
    own: Array

    @classmethod
    def of(
        cls,
        text: str,
        system: str,
        result: Result,
        beside: Mapping[str, Result],
        rows: Sequence[int] | None,
        kept: Kept,
    ) -> _Task:
        all_stats = {name: each.pair_stats for name, each in {"": result, **beside}.items()}
        chosen = np.full(result.n_pairs, rows is None)
        chosen[[] if rows is None else list(rows)] = True
        scored = {name: aggregate.scored(stats) & chosen for name, stats in all_stats.items()}
        used = [name for name, each in scored.items() if each.any() or name in ("", PERFECT)]
        keep = np.logical_and.reduce([scored[name] for name in used])
        tables = {name: kept.of(all_stats[name], keep) for name in used}
        return cls(text, system, result.titled.headline, result.reduction, tables, result.pair_stats[scored[""]])

    @property
    def resampled(self) -> Resampled:
        """What is to be drawn."""
        n = len(self.tables[""])
        return Resampled(Wanted(tuple(self.tables.values()), self._skills), np.arange(n))

    def _values(self, sums: Sequence[Array], n: Array) -> dict[str, Array]:
        """The headline of each system from its column sums."""
        scores = (self.reduction.corpus(each, n)[self.key.name] for each in sums)
        return dict(zip(self.tables, scores, strict=True))

    def _skills(self, sums: Sequence[Array], n: Array) -> dict[str, Array]:
        goodness = {name: self.key.goodness(each) for name, each in self._values(sums, n).items()}
        own, perfect = goodness.pop(""), goodness.pop(PERFECT)
        best = np.max(list(goodness.values()), axis=0) if goodness else np.full_like(own, np.nan)
        room = np.where(perfect - best > TOLERANCE, perfect - best, np.nan)
        return {"skill": (own - best) / room}

    def skill(self, estimate: Estimate) -> Skill:
        """The skill with what it was made of."""
        scores = {name: self._score(stats) for name, stats in {**self.tables, "": self.own}.items()}
        own, perfect = scores.pop(""), scores.pop(PERFECT)
        return Skill(self.text, self.key, self.system, own, scores, perfect, estimate, len(self.own))

    def _score(self, stats: Array) -> float:
        """The headline of some pairs."""
        sums, n = stats.sum(axis=0)[None], np.array([float(len(stats))])
        return float(self.reduction.corpus(sums, n)[self.key.name][0])
