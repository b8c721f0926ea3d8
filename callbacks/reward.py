"""`make_reward` turns a metric into a reward function for TRL (GRPO, RLOO).

TRL calls a reward with `completions` and the columns of the data set, each repeated for its completions,
and wants one number a completion, or None for a row that this function has nothing to say about. Where there are
several rewards, TRL adds up those that are not None: beside a second reward None counts as 0, which is the best value
of a metric that counts errors. So a completion must not be able to earn None:

- What a completion causes itself (`rrgmetrics.utils.causes`) earns the worst value.
- An outage, and a reference that cannot be scored, earn None, or what `unscored` says.

The worst value is what the worst end of the metric's range earns. Where the range has no such end (errors without an
upper limit, CREPE, BERTScore) it is what a score earns that lies ten times as far from the best one as another
patient's report does on average (the card's figure, as for `scale="unit"`; ten for a key that has none), and never more
than the worst completion of the same call earns.
"""

from __future__ import annotations

import logging
import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rrgmetrics.backends.shared import shared
from rrgmetrics.callbacks import processes
from rrgmetrics.callbacks.arguments import key_of
from rrgmetrics.callbacks.baselines import Baselines, RewardWatch, check_baselines, compared
from rrgmetrics.callbacks.conversation import content_text
from rrgmetrics.callbacks.scale import UnitScale
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.files.tables import table_rows
from rrgmetrics.reports import CONTEXT_KEYS, Pair, check_pairs, check_report, columns_of, describe
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.specs import HACKS, SPECS, Key, MetricSpec
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.causes import Cause
from rrgmetrics.utils.text_format import counted
from rrgmetrics.version import VERSION

logger = logging.getLogger("rrgmetrics")

KEPT_REFERENCES = 1024  # token vectors of a report take some 150 kB with MiniLM
RECOMMENDED = (
    "finding_score",
    "finding_errors",
    "crepe",
    "crimson",
)  # where a metric can be gamed, those of them that resist
LOSSES = 10  # times what another patient's report loses: the worst value of a range without an end
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
    _warned: set[str] = field(default_factory=set, init=False, repr=False, compare=False)  # each cause once
    _held: list[_Metric] = field(default_factory=list, init=False, repr=False, compare=False)  # one, once it is loaded

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.name)  # TRL logs rewards/<__name__>/mean

    def __getstate__(self) -> dict[str, object]:
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
        texts, refused = _readable(completions)
        pairs = check_pairs(texts, columns[self.reference], _contexts(columns))
        watched = compared(parse_name(self.metric), self.baselines) and processes.is_main()
        trivial = self._watch.unknown(pairs) if watched else []
        scores = [Scored(math.nan, "candidate", refused.get(index, "")) for index in range(len(pairs))]
        readable = [index for index in range(len(pairs)) if index not in refused]
        scored = self._ready().scores([*(pairs[index] for index in readable), *trivial], self.key)
        for index, score in zip(readable, scored, strict=False):
            scores[index] = score
        self._say_unscored(scores)
        scores += scored[len(readable) :]
        rewards = self._rewards(scores)
        completed, earned = rewards[: len(pairs)], dict(zip(trivial, rewards[len(pairs) :], strict=True))
        if watched:
            rises = self.transform != "none" or bool(_key(self.metric, self.key).higher_is_better)
            self._watch.see(self.name, pairs, completed, earned, higher_is_better=rises)
        return completed

    def check(self, dataset: Any) -> None:
        """Checks the references and contexts of a whole data set, which the training sees a batch at a time.

        It logs how many references cannot be scored, and why: they are missing, or out of the metric's scope.

        Args:
            dataset: What the trainer is given, a `datasets.Dataset`; or any other table, as a list of dicts.

        Raises:
            InputError: There is no column of references, a reference or context that cannot be used, which is named, or
                no reference that can be scored.
        """
        wanted = (self.reference, *CONTEXT_KEYS)
        rows = [row for _, row in table_rows(dataset, wanted, "dataset")]
        names = list(dataset) if isinstance(dataset, Mapping) else columns_of(dataset)
        names = list(dict.fromkeys(name for row in rows for name in row)) if names is None else names
        if self.reference not in names:
            has = f"it has {', '.join(names)}" if names else "it has no rows"
            raise InputError(f"{self.name}: the data set has no column {self.reference!r}; {has}.")
        columns = {key: [row.get(key) for row in rows] for key in wanted if key in names}
        pairs = check_pairs([""] * len(columns[self.reference]), columns[self.reference], _contexts(columns))
        reasons = self._ready().unscored_references([pair.reference for pair in pairs])
        counts = Counter(filter(None, reasons))
        if counts:
            said = ", ".join(f"{reason} ({count:,})" for reason, count in counts.most_common())
            message = f"{self.name}: {counts.total():,} of {counted(len(pairs), 'reference')} cannot be scored: {said}."
            if counts.total() == len(pairs):
                raise InputError(message)
            logger.warning("%s", message)

    def _rewards(self, scores: Sequence[Scored]) -> list[float | None]:
        """What scores earn; the worst value where the completion itself is why there is none."""
        key = _key(self.metric, self.key)
        known = [each.value for each in scores if not math.isnan(each.value)]
        worst = min([self._worst(key), *known], key=key.goodness)
        return [self._reward(worst if each.is_candidates else each.value) for each in scores]

    def _worst(self, key: Key) -> float:
        """The worst score; where 0 is the least that can be earned it may be infinite."""
        is_limited = key.target is None and (self.scale is not None or self.transform == "unit")
        return worst_end(key) if is_limited else worst_score(self.metric, key)

    def _reward(self, score: float) -> float | None:
        if math.isnan(score):
            return None if isinstance(self.unscored, str) else float(self.unscored)
        if self.scale is not None:
            return self.scale(score)
        if callable(self.transform):
            return float(self.transform(score))
        return TRANSFORMS[self.transform](score, _key(self.metric, self.key))

    def _say_unscored(self, scores: Sequence[Scored]) -> None:
        """Warns of completions without a score, once for each cause, or raises InputError as `unscored` says."""
        for index, each in enumerate(scores):
            if not math.isnan(each.value):
                continue
            if self.unscored == "raise" and not each.is_candidates:
                raise InputError(
                    f"{self.name}: completions[{index}] could not be scored ({each.reason}), and unscored='raise'."
                )
            cause = each.reason if each.cause == "reference" else each.cause or ""  # others have texts without end
            if cause not in self._warned:
                self._warned.add(cause)
                earns = (
                    "the worst value" if each.is_candidates else "None" if self.unscored == "skip" else self.unscored
                )
                logger.warning(
                    "reward %s: completions[%d] could not be scored: %s. It gets %s; this message appears once.",
                    *(self.name, index, each.reason.rstrip(".?"), earns),
                )


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
        unscored: What a completion earns that has no score for a reason that is not its own, an outage of a judge or a
            reference that is missing: `"skip"` gives None, which TRL leaves out; a number is the reward; `"raise"`
            stops the training. A completion that is itself why there is none earns the worst value: it is too long, a
            judge refuses it, or what a judge replies cannot be read. Such completions never stop the training.
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
        named = metric if key is None else f"{key} of {metric}"
        raise InputError(
            f"{named} cannot be a reward, because its score of a pair depends on the other pairs of the call; use a "
            "metric that scores each pair by itself, such as finding_errors."
        )
    if not callable(transform) and transform not in TRANSFORMS:
        raise InputError(f"transform is {transform!r}; pass {', '.join(map(repr, TRANSFORMS))} or a function.")
    if transform == "unit":
        _unit(0.0, chosen)
    if scale not in ("none", "unit"):
        raise InputError(f"scale is {scale!r}; pass 'none' or 'unit'.")
    if scale == "unit" and transform != "signed":
        raise InputError(f"scale='unit' and transform={transform!r} both define the reward; pass one of them.")
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


def text_of(completion: Any, where: str = "the completion") -> str:
    """Returns a completion's text: the string itself, or the last turn of a conversation.

    Raises:
        InputError: It is neither; the message calls it `where`.
    """
    if isinstance(completion, str):
        return completion
    turn = completion[-1] if isinstance(completion, list | tuple) and completion else {}
    if not isinstance(completion, list | tuple) or not isinstance(turn, Mapping):
        raise InputError(f"{where} is {describe(completion)}; pass a text, or a conversation: a list of dicts.")
    return content_text(turn)


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
    raise InputError(
        f"{key.name} has the range {key.range}, for which there is no 'unit' transform; pass 'signed' or a function."
    )


TRANSFORMS: Mapping[str, Callable[[float, Key], float]] = {
    "signed": _signed,
    "unit": _unit,
    "none": lambda score, key: score,
}


def _key(metric: str, key: str) -> Key:
    return next(known for known in parse_name(metric).spec.keys if known.name == key)


def _contexts(columns: Mapping[str, Any]) -> list[dict[str, object]] | None:
    known = [key for key in CONTEXT_KEYS if key in columns]
    return [dict(zip(known, row, strict=True)) for row in zip(*(columns[key] for key in known), strict=True)] or None


class Scored(NamedTuple):
    """A completion's score, or why it has none.

    Attributes:
        value: The score; NaN if there is none.
        cause: What that is due to; None if there is a score.
        reason: In words.
    """

    value: float
    cause: Cause | None = None
    reason: str = ""

    @property
    def is_candidates(self) -> bool:
        """Whether the completion itself is why there is no score."""
        return math.isnan(self.value) and self.cause == "candidate"


def _readable(completions: Sequence[Any]) -> tuple[list[str], dict[int, str]]:
    """The texts of completions, "" in place of those that no metric reads, and by index why it does not."""
    texts = [text_of(each, f"completions[{index}]") for index, each in enumerate(completions)]
    refused = {}
    for index, text in enumerate(texts):
        if isinstance(text, str):  # anything else is a mistake in the data set, not in what a model wrote
            try:
                check_report(text, "the completion")
            except InputError as error:
                texts[index], refused[index] = "", str(error).partition(";")[0]
    return texts, refused


def worst_end(key: Key) -> float:
    """The worst end of a key's range, which may be infinite."""
    low, high = key.range
    return low if key.higher_is_better else high


def worst_score(metric: str, key: Key) -> float:
    """The worst score that a completion can be given; of a range without an end a finite one, far from the best."""
    if key.target is not None:
        ends = [end for end in key.range if math.isfinite(end)] or [key.target + LOSSES]
        return max(ends, key=lambda end: abs(end - float(key.target or 0)))
    if math.isfinite(worst_end(key)):
        return worst_end(key)
    try:
        scale = UnitScale.of(parse_name(metric), key)
    except InputError:
        best = key.best if math.isfinite(key.best) else 0.0
        return best - LOSSES if key.higher_is_better else best + LOSSES
    return scale.best + LOSSES * (scale.other - scale.best)


class _Metric:
    """A ready metric that remembers the scores of the latest pairs, and what its backends read of references."""

    def __init__(self, metric: str, batch_size: int | None, device: str | None) -> None:
        self._name = metric
        self._metrics = prepare(metric, batch_size=batch_size, device=device, kept_references=KEPT_REFERENCES)
        self._has_scored = False
        self._scores: OrderedDict[Pair, dict[str, Scored]] = OrderedDict()
        self._turn = threading.Lock()  # trainers call rewards from several threads

    def unscored_references(self, references: Sequence[str]) -> tuple[str, ...]:
        """Why each reference cannot be scored; "" if it can."""
        return self._metrics.unscored_references(references)[self._name]

    def scores(self, pairs: Sequence[Pair], key: str) -> list[Scored]:
        """The key's score of each pair, or why it has none.

        Raises:
            BackendError: Nobody has answered yet: the set-up is wrong. Later on that is an outage.
        """
        with self._turn:
            return self._scores_of(pairs, key)

    def _scores_of(self, pairs: Sequence[Pair], key: str) -> list[Scored]:
        lost = self._score(pairs)
        silent = [pair for pair in pairs if pair not in lost and self._scores[pair][key].cause is None]
        self._name_causes([pair for pair in silent if math.isnan(self._scores[pair][key].value)], key)
        values = [lost[pair] if pair in lost else self._scores[pair][key] for pair in pairs]
        while len(self._scores) > KEPT_PAIRS:
            self._scores.popitem(last=False)
        return values

    def _score(self, pairs: Sequence[Pair]) -> dict[Pair, Scored]:
        """Scores what is not known yet; returns what an outage leaves unscored, which is not kept."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._scores]
        if not new:
            return {}
        try:
            result = self._metrics.score_pairs(new, progress=False, announce=False)[self._name]  # the reward says it
        except BackendError as error:
            if not self._has_scored:
                raise
            return dict.fromkeys(new, Scored(math.nan, "outage", str(error)))
        self._has_scored = self._has_scored or result.n_unscored < len(new)
        columns = {name: values.tolist() for name, values in result.per_pair.items()}
        causes, reasons, lost = result.unscored_causes, result.unscored_reasons, dict[Pair, Scored]()
        for index, pair in enumerate(new):
            cause, reason = causes.get(index), reasons.get(index, "")
            if cause == "outage":
                lost[pair] = Scored(math.nan, cause, reason)
            else:
                self._scores[pair] = {name: Scored(values[index], cause, reason) for name, values in columns.items()}
        return lost

    def _name_causes(self, pairs: Sequence[Pair], key: str) -> None:
        """Finds out whose doing it is that a metric has no number: the reference's, if it has none against itself."""
        if not pairs:
            return
        own = {pair: pair._replace(candidate=pair.reference) for pair in pairs}
        lost = self._score(list(own.values()))
        for pair, itself in own.items():
            has_none = itself in lost or math.isnan(self._scores[itself][key].value)
            cause: Cause = "reference" if has_none else "candidate"
            self._scores[pair][key] = Scored(
                math.nan, cause, self._scores[pair][key].reason or "the metric has no number"
            )


@shared
def _load(metric: str, batch_size: int | None, device: str | None) -> _Metric:
    """A metric's models and scores, once in this process however many rewards use them."""
    return _Metric(metric, batch_size, device)
