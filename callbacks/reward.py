"""`make_reward` turns a metric into a reward function for TRL (GRPO, RLOO).

TRL calls a reward with `completions` and the columns of the data set, each repeated to stand beside its completion,
and wants one number a completion, or None for a row that this function has nothing to say about.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rrgmetrics.backends.shared import shared
from rrgmetrics.callbacks import processes
from rrgmetrics.callbacks.arguments import key_of
from rrgmetrics.callbacks.baselines import Baselines, RewardWatch, check_baselines, compared
from rrgmetrics.callbacks.scale import UnitScale
from rrgmetrics.errors import InputError
from rrgmetrics.names import parse_name
from rrgmetrics.prepared import prepare
from rrgmetrics.reports import CONTEXT_KEYS, Pair, check_pairs
from rrgmetrics.specs import HACKS, SPECS, Key, MetricSpec
from rrgmetrics.version import VERSION

logger = logging.getLogger("rrgmetrics")

KEPT_REFERENCES = 1024  # token vectors of a report take some 150 kB with MiniLM
RECOMMENDED = (
    "finding_score",
    "finding_errors",
    "crepe",
    "crimson",
)  # where a metric can be gamed, those of them that resist
KEPT_PAIRS = 8192  # scores of pairs, for several rewards of one metric on the same completions

Transform = Literal["signed", "unit", "none"] | Callable[[float], float]
Unscored = Literal["skip", "raise"] | float
Scale = Literal["none", "unit"]


@dataclass(frozen=True)
class Reward:
    """A reward function for TRL; made by `make_reward`, which documents the fields. Picklable."""

    metric: str
    key: str
    reference: str = "reference"
    transform: Transform = "signed"
    unscored: Unscored = "skip"
    batch_size: int | None = None
    device: str | None = None
    name: str = ""
    baselines: Baselines = "bundled"
    scale: UnitScale | None = None
    _watch: RewardWatch = field(default_factory=RewardWatch, init=False, repr=False, compare=False)
    _held: list[_Metric] = field(default_factory=list, init=False, repr=False, compare=False)  # one, once it is loaded

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.name)  # TRL logs rewards/<__name__>/mean

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": []}  # a copy in another process loads its own

    @property
    def signature(self) -> str:
        """What a score goes through before it is the reward: `crepe|transform:none|scale:2^-(loss/3.83),best:0|...`."""
        transform = self.transform if isinstance(self.transform, str) else self.transform.__name__
        steps = {"transform": "none" if self.scale else transform, "scale": self.scale or "none"}
        facts = {"key": self.key, **steps, "unscored": self.unscored, "v": VERSION}
        return "|".join([self.metric, *(f"{name}:{fact}" for name, fact in facts.items())])

    def _ready(self) -> _Metric:
        """The metric with its models, shared with the other rewards of it."""
        if not self._held:
            self._held.append(_load(self.metric, self.batch_size, self.device))
        return self._held[0]

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Returns one reward for each completion; `columns` are those of the data set, the references among them."""
        if self.reference not in columns:
            raise InputError(
                f"{self.name}: the data set has no column {self.reference!r} with the radiologists' reports; name "
                f"theirs: make_reward({self.metric!r}, reference=...). TRL passed: {', '.join(columns)}."
            )
        pairs = check_pairs([text_of(each) for each in completions], columns[self.reference], _contexts(columns))
        watched = compared(parse_name(self.metric), self.baselines) and processes.is_main()
        trivial = self._watch.unknown(pairs) if watched else []
        scores = self._ready().scores([*pairs, *trivial], self.key)
        unscored = next((index for index in range(len(pairs)) if math.isnan(scores[index])), None)
        if unscored is not None and self.unscored == "raise":
            raise InputError(f"{self.name}: completions[{unscored}] could not be scored, and unscored='raise'.")
        rewards = list(map(self._reward, scores))
        completed, earned = rewards[: len(pairs)], dict(zip(trivial, rewards[len(pairs) :], strict=True))
        if watched:
            rises = self.transform != "none" or bool(_key(self.metric, self.key).higher_is_better)
            self._watch.see(self.name, pairs, completed, earned, higher_is_better=rises)
        return completed

    def _reward(self, score: float) -> float | None:
        if math.isnan(score):
            return None if isinstance(self.unscored, str) else float(self.unscored)
        if self.scale is not None:
            return self.scale(score)
        if callable(self.transform):
            return float(self.transform(score))
        return TRANSFORMS[self.transform](score, _key(self.metric, self.key))


def make_reward(
    metric: str,
    *,
    key: str | None = None,
    reference: str = "reference",
    transform: Transform = "signed",
    scale: Scale = "none",
    unscored: Unscored = "skip",
    batch_size: int | None = None,
    device: str | None = None,
    name: str | None = None,
    baselines: Baselines = "bundled",
) -> Reward:
    """Makes a reward of a metric: more is always better, whatever the metric's direction.

    What a policy can earn without being right is said in the log `rrgmetrics`: here, if the metric is known to pay for
    repetition, normal templates, shuffled words, contradictions, vague reports, excuses, constant texts or additions
    (`MetricSpec.hacks`); and in training, if the mean reward of the latest 64 or more completions does not beat what an
    empty report and a one-sentence normal report earn on the same references, once per change. On several processes the
    main one watches its own completions.

    Rewards of one metric share its models and its scores: `make_reward("green", key="green_errors")` beside
    `make_reward("green")` costs nothing more. What the backends read of a reference is kept for its next completions.

    Args:
        metric: A name as in `rrgmetrics.score`.
        key: Which of the metric's keys; None is the headline.
        reference: The data set's column with the radiologists' reports. The columns `age`, `sex` and `indication`,
            where present, are the patients' context.
        transform: `"signed"`: the score; minus the score where lower is better; minus the distance from a target.
            `"unit"`: 0 (worst) to 1 (best); 1 / (1 + x) for distances and for counts without an upper end. `"none"`:
            the score. Or a function, at module level if the reward is to be pickled.
        scale: `"unit"` makes the rewards of several metrics comparable, so that they can be added up: all lie between 0
            and 1, the best score earns 1, what another patient's report scores on average earns ½, and each further
            loss of as much halves it again (`UnitScale`, in place of `transform`). The averages are the card's; nothing
            is fitted to the data of the training. `"none"` leaves the rewards as `transform` makes them.
        unscored: A completion without a score: `"skip"` gives None, which TRL leaves out; a number is the reward;
            `"raise"` stops the training.
        batch_size: Texts per forward pass of the metric's model; None leaves it to the backend.
        device: torch device of the metric's model; None takes CUDA where there is one.
        name: What TRL logs it as; None is the key, with the configuration behind it (`green_errors__paper`).
        baselines: Whether completions are compared with trivial reports, each distinct reference scored once for both:
            `"bundled"`, unless a judge would have to ask a model (`green@openai:...`, `green@paper`); `"all"`, there
            too; `"none"`.

    Returns:
        The reward function; its `__name__` is `name`.

    Raises:
        InputError: An unknown metric or key, a transform that does not suit it, or a metric whose score of a pair
            depends on the rest of the batch (CIDEr).
        BackendError: Weights or data that are not there.
        MissingExtraError: An optional dependency that is not installed.

    Example:
        >>> reward = make_reward("finding_errors")
        >>> reward(completions=["Small left effusion."], reference=["Small right effusion."])
        [-1.0]
        >>> reward = make_reward("finding_errors", scale="unit")
        >>> rewards = reward(completions=["Small left effusion."], reference=["Small right effusion."])
        >>> round(rewards[0], 3), reward.signature.rpartition("|unscored")[0]
        (0.833, 'finding_errors|key:finding_errors|transform:none|scale:2^-(loss/3.8),best:0')
    """
    parsed = parse_name(metric)
    chosen = key_of(parsed, key)
    logged = chosen.name + parsed.suffix
    if parsed.spec.corpus_statistics or not chosen.per_pair:
        raise InputError(
            f"{chosen.name} of {metric} is no reward: a pair's value depends on the other pairs of the call."
        )
    if not callable(transform) and transform not in TRANSFORMS:
        raise InputError(f"transform is {transform!r}; pass {', '.join(map(repr, TRANSFORMS))} or a function.")
    if transform == "unit":
        _unit(0.0, chosen)
    if scale not in ("none", "unit"):
        raise InputError(f"scale is {scale!r}; pass 'none' or 'unit'.")
    if scale == "unit" and transform != "signed":
        raise InputError(f"scale='unit' and transform={transform!r} both say what a score earns; pass one of them.")
    unit = UnitScale.of(parsed, chosen) if scale == "unit" else None
    if isinstance(unscored, str) and unscored not in ("skip", "raise"):
        raise InputError(f"unscored is {unscored!r}; pass 'skip', 'raise' or a number.")
    check_baselines(baselines)
    settings = (transform, unscored, batch_size, device, name or logged, baselines, unit)
    reward = Reward(metric, chosen.name, reference, *settings)
    reward._ready()
    _say_hacks(metric, parsed.spec)
    return reward


def _say_hacks(metric: str, spec: MetricSpec) -> None:
    """Warns of a metric that can be gamed; names those that resist what it does not."""
    resist = [name for name in RECOMMENDED if not set(SPECS[name].hacks) & set(spec.hacks)]
    if spec.hacks:
        how = "; ".join(HACKS[hack] for hack in spec.hacks)
        others = f" Metrics that resist: {', '.join(resist)}." if resist else ""
        logger.warning("%s can be gamed as a reward: %s.%s", metric, how, others)


def text_of(completion: Any) -> str:
    """Returns a completion's text: the string itself, or the last turn of a conversation."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else ""
    if isinstance(content, list):  # content in parts, as processors of images have it
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return content or ""


def _signed(score: float, key: Key) -> float:
    return key.goodness(score)


def _unit(score: float, key: Key) -> float:
    low, high = key.range
    if key.target is not None:
        return 1 / (1 + abs(score - key.target))
    if math.isfinite(low) and math.isfinite(high):
        share = (score - low) / (high - low)
        return share if key.higher_is_better else 1 - share
    if low == 0 and not key.higher_is_better:
        return 1 / (1 + score)
    raise InputError(f"{key.name} lies in {key.range}, which has no 'unit' transform; pass 'signed' or a function.")


TRANSFORMS: Mapping[str, Callable[[float, Key], float]] = {
    "signed": _signed,
    "unit": _unit,
    "none": lambda score, key: score,
}


def _key(metric: str, key: str) -> Key:
    return next(known for known in parse_name(metric).spec.keys if known.name == key)


def _contexts(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    known = [key for key in CONTEXT_KEYS if key in columns]
    return [dict(zip(known, row, strict=True)) for row in zip(*(columns[key] for key in known), strict=True)] or None


class _Metric:
    """A ready metric that remembers the scores of the latest pairs, and what its backends read of references."""

    def __init__(self, metric: str, batch_size: int | None, device: str | None) -> None:
        self._name = metric
        self._metrics = prepare(metric, batch_size=batch_size, device=device, kept_references=KEPT_REFERENCES)
        self._announced = False
        self._scores: OrderedDict[Pair, dict[str, float]] = OrderedDict()

    def scores(self, pairs: Sequence[Pair], key: str) -> list[float]:
        """The key's value of each pair; NaN if it has none."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._scores]
        if new:
            self._score(new)
        values = [self._scores[pair][key] for pair in pairs]
        while len(self._scores) > KEPT_PAIRS:
            self._scores.popitem(last=False)
        return values

    def _score(self, pairs: list[Pair]) -> None:
        result = self._metrics.score_pairs(pairs, progress=False, announce=not self._announced)[self._name]
        has_empty = not all(pair.candidate for pair in pairs)
        self._announced = self._announced or has_empty or result.n_unscored > 0  # not with each step of a training
        columns = {name: values.tolist() for name, values in result.per_pair.items()}
        for index, pair in enumerate(pairs):
            self._scores[pair] = {name: values[index] for name, values in columns.items()}


@shared
def _load(metric: str, batch_size: int | None, device: str | None) -> _Metric:
    """A metric's models and scores, once in this process however many rewards use them."""
    return _Metric(metric, batch_size, device)
