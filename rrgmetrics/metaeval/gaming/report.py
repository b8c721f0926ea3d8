"""What games a metric: the texts that were found, what they earn on studies the search has not seen, the tricks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rrgmetrics.metaeval.gaming.scoring import Player
from rrgmetrics.metaeval.gaming.search import GOALS, Found, Goal, Text
from rrgmetrics.metaeval.gaming.studies import Studies
from rrgmetrics.metaeval.gaming.tricks import Trick, played
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.specs import Hack
from rrgmetrics.stats import Estimate, bootstrap

LEAST = 1e-6  # a gain below it is none
NOTICEABLE = 0.05  # of what the best honest system earns more than the worst; what gains less is no hack
SEARCHED: tuple[Hack, ...] = ("vagueness", "excuse", "constant", "addition")  # the hacks that are measured here
EXCUSES = ("excused", "history")  # how the names of tricks begin


def gains(gain: Estimate) -> bool:
    """Whether a gain is above 0, by its interval; a gain without an interval (NaN) is not."""
    return gain.low > LEAST


@dataclass(frozen=True)
class Played:
    """A text or trick on studies that no search has seen.

    Attributes:
        title: What was written.
        text: A text that was searched for, with `...` where the report stands; "" for a trick.
        earned: Its mean score, in the metric's own unit.
        gain: What it earns more than honest candidates: the mean over all systems, with its interval.
        by_system: The same against each system.
        n: Candidates it was played on; a trick that changes nothing of a candidate is not.
    """

    title: str
    text: str
    earned: float
    gain: Estimate
    by_system: Mapping[str, Estimate]
    n: int

    @property
    def pays(self) -> bool:
        """Whether it earns more than honest candidates, by its interval."""
        return gains(self.gain)


@dataclass(frozen=True)
class Gamed:
    """What games one metric.

    Attributes:
        name: As it was asked for.
        title: As tables have it.
        arrow: Which of its values are better.
        signature: What ran.
        honest: The mean score of each system, in the metric's own unit.
        found: The best text by goal; empty if nothing was searched.
        tricks: By name.
        steps: Texts that were tried, by goal.
    """

    name: str
    title: str
    arrow: str
    signature: str
    honest: Mapping[str, float]
    found: Mapping[Goal, Played] = field(default_factory=dict)
    tricks: Mapping[str, Played] = field(default_factory=dict)
    steps: Mapping[Goal, int] = field(default_factory=dict)

    @property
    def paying(self) -> dict[str, Played]:
        """The tricks that pay, those first that pay most."""
        best = sorted(self.tricks.items(), key=lambda item: -item[1].gain.value)
        return {name: trick for name, trick in best if trick.pays}

    @property
    def hacks(self) -> tuple[Hack, ...]:
        """What pays noticeably, as keys of `rrgmetrics.specs.HACKS`."""
        excuses = [trick for name, trick in self.tricks.items() if name.startswith(EXCUSES)]
        constant, addition = self.found.get("constant"), self.found.get("addition")
        pays: dict[Hack, bool] = {
            "vagueness": "vague" in self.tricks and self._is_noticed(self.tricks["vague"]),
            "excuse": any(map(self._is_noticed, excuses)),
            "constant": constant is not None and "mid" in constant.by_system and constant.by_system["mid"].value >= 0,
            "addition": addition is not None and self._is_noticed(addition),
        }
        return tuple(hack for hack, does in pays.items() if does)

    def share(self, gain: float) -> float:
        """A gain as a share of what the best honest system earns more than the worst; NaN of one system."""
        between = max(self.honest.values()) - min(self.honest.values())
        return gain / between if between else float("nan")

    def _is_noticed(self, played: Played) -> bool:
        return played.pays and not self.share(played.gain.value) <= NOTICEABLE


@dataclass(frozen=True)
class GamingReport:
    """What games some metrics.

    Attributes:
        source: Where the studies come from.
        n_studies: Studies that gains were measured on, none of which was searched.
        seed: Of what was drawn.
        metrics: By name.
    """

    source: str
    n_studies: int
    seed: int
    metrics: Mapping[str, Gamed]

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields every number, a row for each metric and text or trick, over all systems and for each."""
        for name, metric in self.metrics.items():
            played = [(f"best {goal}", each) for goal, each in metric.found.items()]
            for kind, each in [*played, *metric.tricks.items()]:
                for system, gain in {"all": each.gain, **each.by_system}.items():
                    yield {
                        "metric": name,
                        "trick": kind,
                        "system": system,
                        "gain": gain.value,
                        "gain_low": gain.low,
                        "gain_high": gain.high,
                        "earned": each.earned,
                        "honest": metric.honest.get(system, float("nan")),
                        "n": each.n,
                        "text": each.text,
                    }

    def to_dict(self) -> dict[str, object]:
        """Returns the report as JSON has it; NaN becomes None."""
        metrics = {name: gamed_row(metric) for name, metric in self.metrics.items()}
        return {"source": self.source, "n_studies": self.n_studies, "seed": self.seed, "metrics": metrics}


def gamed_row(metric: Gamed) -> dict[str, object]:
    """A metric's part of the report, as JSON and YAML have it."""
    return {
        "title": metric.title,
        "arrow": metric.arrow,
        "signature": metric.signature,
        "honest": {system: _rounded(value) for system, value in metric.honest.items()},
        "steps": dict(metric.steps),
        "found": {goal: _row(each) for goal, each in metric.found.items()},
        "tricks": {name: _row(each) for name, each in metric.tricks.items()},
    }


def gamed_of(name: str, row: Mapping[str, Any]) -> Gamed:
    """Reads what `gamed_row` wrote."""
    found = {goal: _played(row["found"][goal]) for goal in GOALS if goal in row["found"]}
    tricks = {trick: _played(value) for trick, value in row["tricks"].items()}
    return Gamed(name, row["title"], row["arrow"], row["signature"], row["honest"], found, tricks, row["steps"])


def measure_text(
    player: Player, studies: Studies, honest: Mapping[str, Array], goal: Goal, found: Found, *, trials: int
) -> Played:
    """Measures a text that was found on other studies than it was found on."""
    text = found.text
    made = {
        system: [text.around("" if goal == "constant" else report) for report in reports]
        for system, reports in studies.systems.items()
    }
    title = f"best {goal}"
    return _measured(player, studies, honest, made, title, shown(text, goal), trials)


def measure_trick(
    player: Player, studies: Studies, honest: Mapping[str, Array], trick: Trick, *, trials: int
) -> Played:
    """Measures a trick."""
    return _measured(player, studies, honest, played(trick, studies), trick.title, "", trials)


def shown(text: Text, goal: Goal) -> str:
    """A text as people read it."""
    return text.around("" if goal == "constant" or not len(text) else "...")


def _measured(
    player: Player,
    studies: Studies,
    honest: Mapping[str, Array],
    made: Mapping[str, Sequence[str | None]],
    title: str,
    text: str,
    trials: int,
) -> Played:
    places = [(system, row) for system, texts in made.items() for row, each in enumerate(texts) if each is not None]
    pairs = [Pair(studies.references[row], made[system][row] or "") for system, row in places]
    if not pairs:
        nothing = Estimate(float("nan"), float("nan"), float("nan"), 0)
        return Played(title, text, float("nan"), nothing, {}, 0)
    goodness = player.goodness(pairs)
    gains = goodness - np.array([honest[system][row] for system, row in places])
    of_study = [studies.studies[row] for _, row in places]
    by_system = {
        system: _estimate(gains[mask], [study for study, kept in zip(of_study, mask, strict=True) if kept], trials)
        for system in made
        if (mask := np.array([own == system for own, _ in places])).any()
    }
    earned = player.value(float(goodness.mean()))
    return Played(title, text, earned, _estimate(gains, of_study, trials), by_system, len(pairs))


def _estimate(gains: Array, studies: Sequence[str], trials: int) -> Estimate:
    if not gains.any():  # every resample is the same
        return Estimate(0.0, 0.0, 0.0, len(gains))
    return bootstrap(Mean(("gain",)), gains[:, None], groups=studies, trials=trials)["gain"]


DIGITS = 4


def _row(each: Played) -> dict[str, object]:
    gains = {"all": each.gain, **each.by_system}
    return {
        "title": each.title,
        "text": each.text,
        "earned": _rounded(each.earned),
        "n": each.n,
        "gain": {system: [*map(_rounded, gain[:3]), gain.n] for system, gain in gains.items()},
    }


def _played(row: Mapping[str, Any]) -> Played:
    gains = {system: Estimate(*map(_or_nan, values)) for system, values in row["gain"].items()}
    return Played(row["title"], row["text"], _or_nan(row["earned"]), gains.pop("all"), gains, row["n"])


def _rounded(value: float) -> float | None:
    return None if value != value else round(float(value), DIGITS) + 0.0


def _or_nan(value: Any) -> Any:
    return float("nan") if value is None else value
