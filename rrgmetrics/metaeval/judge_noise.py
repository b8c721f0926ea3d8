"""How much of a judge's number is noise: of its replies, of the raters, of the choice of studies.

A judge that is asked twice says two things (CRIMSON's paper, arXiv 2603.06183, prints means over five runs). With
`?runs=N` its scores are means over N runs and every run is kept. Each source of noise is resampled while the others
stay as they are: the runs of each pair, the raters, the studies; then all together. The interval of one source alone
shows what more runs, more raters or more studies would narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rrgmetrics.metaeval.agreement import AgreementReport
from rrgmetrics.metaeval.judge_runs import Spread, mean_of, runs_of, sd_of, spread_of
from rrgmetrics.metaeval.rated import Rated, mean_of_raters
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.results import Result
from rrgmetrics.stats.resampling import interval

Source = Literal["judge", "raters", "studies", "all"]
SOURCES: tuple[Source, ...] = ("judge", "raters", "studies", "all")
FEWEST = 3  # pairs or studies for a correlation


class Noise(NamedTuple):
    """One number with the interval of each source of noise.

    Attributes:
        subject: The metric as it was named.
        target: What raters counted, of a tau-b; "" of the mean score.
        value: tau-b of the means over runs and over raters, positive where they agree; or the mean score.
        of_runs: Of each run alone.
        intervals: By source.
        sds: Standard deviation of the resamples, by source.
    """

    subject: str
    target: str
    value: float
    of_runs: tuple[float, ...]
    intervals: Mapping[Source, tuple[float, float]]
    sds: Mapping[Source, float]

    @property
    def sd_of_runs(self) -> float:
        """Standard deviation from run to run."""
        return sd_of(np.array(self.of_runs))


@dataclass(frozen=True)
class NoiseReport:
    """The noise of one judge.

    Attributes:
        subject: The metric as it was named.
        spread: Of its runs.
        noises: The mean score, then tau-b with each main target.
    """

    subject: str
    spread: Spread
    noises: tuple[Noise, ...]

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers as JSON has them."""
        return {
            "subject": self.subject,
            **self.spread._asdict(),
            "noise": [
                {
                    **each._asdict(),
                    "of_runs": list(each.of_runs),
                    "intervals": dict(each.intervals),
                    "sds": dict(each.sds),
                }
                for each in self.noises
            ],
        }


def noise_reports(report: AgreementReport) -> Iterator[NoiseReport]:
    """Yields the noise of each judge that was asked several times."""
    draws = vars(report.resampling)
    for subject, result in report.results.items():
        runs = runs_of(result)
        if runs is not None:
            noises = tuple(_noises(report.data, subject, result, runs, draws))
            yield NoiseReport(subject, spread_of(runs), noises)


def _noises(data: Rated, subject: str, result: Result, runs: Array, draws: Mapping[str, Any]) -> Iterator[Noise]:
    yield _noise(subject, "", runs, None, data.studies, draws)
    turned = np.asarray(result.spec.headline.goodness(runs), dtype=np.float64)
    for target in data.main:
        yield _noise(subject, target, turned, data.values[target] * data.goodness(target), data.studies, draws)


def _noise(
    subject: str, target: str, runs: Array, raters: Array | None, studies: Sequence[str], draws: Mapping[str, Any]
) -> Noise:
    """The number, and what becomes of it where each source is drawn again; raters None: the mean score."""
    generator = np.random.default_rng(draws["seed"])
    index = np.unique(np.asarray(studies), return_inverse=True)[1]
    members = [np.flatnonzero(index == study) for study in range(index.max() + 1)]
    sources = [source for source in SOURCES if raters is not None or source != "raters"]
    intervals: dict[Source, tuple[float, float]] = {}
    sds: dict[Source, float] = {}
    value = _number(mean_of_raters(runs), raters)
    for source in sources:
        drawn = np.array([_drawn(source, runs, raters, members, generator) for _ in range(draws["trials"])])
        intervals[source] = interval(drawn, value, draws["level"])
        sds[source] = sd_of(drawn[~np.isnan(drawn)])
    return Noise(subject, target, value, tuple(_number(run, raters) for run in runs), intervals, sds)


def _drawn(source: Source, runs: Array, raters: Array | None, members: Sequence[Any], generator: Any) -> float:
    """The number of one resample of a source, or of all."""
    scores, judged = mean_of_raters(runs), raters
    if source in ("judge", "all"):
        picked = generator.integers(len(runs), size=runs.shape)
        scores = mean_of_raters(np.take_along_axis(runs, picked, axis=0))
    if judged is not None and source in ("raters", "all"):
        judged = judged[generator.integers(len(judged), size=len(judged))]
    if source in ("studies", "all"):
        rows = np.concatenate([members[study] for study in generator.integers(len(members), size=len(members))])
        scores, judged = scores[rows], None if judged is None else judged[:, rows]
    return _number(scores, judged)


def _number(scores: Array, raters: Array | None) -> float:
    """The mean of scores, or their tau-b with the mean over raters."""
    from scipy.stats import kendalltau

    if raters is None:
        return mean_of(scores)
    truth = mean_of_raters(raters).astype(np.float32)
    known = ~np.isnan(scores) & ~np.isnan(truth)
    if known.sum() < FEWEST:
        return math.nan
    return float(kendalltau(scores[known].astype(np.float32), truth[known]).statistic)
