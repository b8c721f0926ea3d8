"""One judge's replies against another's, as GREEN's paper sets its model beside GPT-4 (Tables 1, 3, 7, 8).

On the pairs on which both have a verdict: the mean absolute difference of each count and of the score, with its
standard deviation; and how alike the replies are as texts, by text metrics with the first judge's reply as reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.judge_runs import sd_of
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import Missing
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import Key, get_spec
from rrgmetrics.specs.names import READER, MetricName, parse_name
from rrgmetrics.stats import LEVEL, TRIALS, Estimate

TEXTS = ("bertscore", "rouge", "bleu")
ALIKE = 1e-9


class Apart(NamedTuple):
    """How far two judges' values of one key lie apart.

    Attributes:
        key: The key; `"<metric>_errors_insignificant"` is errors less significant ones.
        title: In words.
        mae: Mean absolute difference.
        sd: Standard deviation of the absolute differences.
        bias: Mean of the second less the first.
        same: Share of the pairs with the same value.
        n: Pairs on which both have the value.
    """

    key: str
    title: str
    mae: float
    sd: float
    bias: float
    same: float
    n: int


@dataclass(frozen=True)
class JudgesCompared:
    """Two judges on the same pairs.

    Attributes:
        first: The one that is taken as the reference.
        second: The other.
        apart: By key, the headline first.
        texts: Each text metric's score of the second's replies against the first's, with its interval over pairs.
        n_pairs: Pairs in all.
        n_both: Pairs on which both have a verdict.
        unscored: Pairs without a verdict of the first and of the second.
    """

    first: str
    second: str
    apart: tuple[Apart, ...]
    texts: Mapping[str, Estimate]
    n_pairs: int
    n_both: int
    unscored: tuple[int, int]

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers as JSON has them."""
        return {
            **vars(self),
            "apart": [each._asdict() for each in self.apart],
            "texts": {name: each._asdict() for name, each in self.texts.items()},
            "unscored": list(self.unscored),
        }


def compare_judges(
    pairs: Sequence[Pair],
    first: str,
    seconds: Sequence[str],
    *,
    texts: Sequence[str] = TEXTS,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    missing: Missing = "unscored",
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> list[JudgesCompared]:
    """Compares judges with one of them.

    Args:
        pairs: The pairs that all are asked about.
        first: The judge that is taken as the reference, such as `"green@replies:gpt4.jsonl"`.
        seconds: Judges by the same protocol, such as `"green@hf:<id>"`; the bundled one has counts, and no replies.
        texts: Metrics of texts that compare the replies; none compares no replies.
        trials: Resamples of pairs behind the intervals of the texts' scores.
        level: Coverage of these intervals.
        seed: Of these intervals.
        missing: As in `rrgmetrics.score`.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: No judges, judges of different protocols, or one whose replies are not kept.
    """
    names = {text: parse_name(text) for text in (first, *seconds)}
    _check(names, first, seconds, texts)
    runtime: dict[str, Any] = {"batch_size": batch_size, "device": device}
    with prepare([first, *seconds], missing=missing, **runtime) as metrics:
        results = metrics.score_pairs(pairs, progress=progress)
        found = []
        for second in seconds:
            both = _both(results[first], results[second])
            scores = {}
            if texts and both.any() and not any(names[each].config in READER for each in (first, second)):
                shared = [pair for pair, is_shared in zip(pairs, both, strict=True) if is_shared]
                replies = [replies_of(metrics, each, shared) for each in (first, second)]
                with prepare(texts, **runtime) as readers:
                    of_texts = readers.score(references=replies[0], predictions=replies[1], progress=progress)
                scores = {name: each.interval(trials=trials, level=level, seed=seed) for name, each in of_texts.items()}
            found.append(_compared(names, first, second, results, scores))
    return found


def replies_of(metrics: Metrics, name: str, pairs: Sequence[Pair]) -> list[str]:
    """A judge's replies about pairs, those to several questions about one pair joined; they come from the cache."""
    judge: Any = metrics.jobs[name].backend
    replies = []
    for pair, pack in metrics.as_read(name, pairs):
        texts = judge.for_pack(pack).replies(pair)
        replies.append("\n\n".join(text for text in texts if text is not None))
    return replies


def _check(names: Mapping[str, MetricName], first: str, seconds: Sequence[str], texts: Sequence[str]) -> None:
    if not seconds or first in seconds:
        raise InputError("Name at least two judges, each only once; the first is the reference.")
    for text, name in names.items():
        if not name.spec.judge:
            raise InputError(f"{text} is not a judge.")
        if name.spec.name != names[first].spec.name:
            raise InputError(f"{text} and {first} ask different questions; compare judges of one metric.")
        if name.options["runs"] != 1:
            raise InputError(f"{text}: replies of several runs are not compared; leave out runs.")
        if name.spec.fragment:
            raise InputError(f"{text}: all counts are compared; leave out {name.spec.fragment}.")
        if texts and name.options["cache"] == "no" and not name.config.startswith("replies:"):
            raise InputError(f"{text} stores no reply to compare; leave out cache=no.")


def _both(first: Result, second: Result) -> Any:
    return ~np.isnan(first.headline) & ~np.isnan(second.headline)


def _compared(
    names: Mapping[str, MetricName],
    first: str,
    second: str,
    results: Mapping[str, Result],
    texts: Mapping[str, Estimate],
) -> JudgesCompared:
    one, other = results[first], results[second]
    columns = [_columns(result) for result in (one, other)]
    keys = [key for key in get_spec(names[first].spec.name).keys if key.per_pair]
    titles = _titles(keys, names[first].spec.name)
    apart = (_apart(key, title, columns[0][key], columns[1][key]) for key, title in titles.items())
    return JudgesCompared(
        first,
        second,
        tuple(each for each in apart if each.n),
        texts,
        len(one.headline),
        int(_both(one, other).sum()),
        (int(np.isnan(one.headline).sum()), int(np.isnan(other.headline).sum())),
    )


def _titles(keys: Sequence[Key], metric: str) -> dict[str, str]:
    """The keys that are compared with their titles; insignificant errors behind the significant ones."""
    titles = {}
    for key in keys:
        titles[key.name] = key.title
        if key.name == f"{metric}_errors_significant":
            titles[f"{metric}_errors_insignificant"] = "Insignificant errors"
    return titles


def _columns(result: Result) -> dict[str, Array]:
    """The values of each pair by key, and insignificant errors where both totals are there."""
    name = result.spec.name
    columns = dict(result.per_pair)
    every, significant = columns.get(f"{name}_errors"), columns.get(f"{name}_errors_significant")
    if every is not None and significant is not None:
        columns[f"{name}_errors_insignificant"] = every - significant
    return columns


def _apart(key: str, title: str, first: Array, second: Array) -> Apart:
    off = second - first
    off = off[~np.isnan(off)]
    if not len(off):
        return Apart(key, title, *(math.nan,) * 4, 0)
    distance = np.abs(off)
    same = float((distance <= ALIKE).mean())
    return Apart(key, title, float(distance.mean()), sd_of(distance), float(off.mean()), same, len(off))
