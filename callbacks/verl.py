"""Rewards for verl, which names a function of a module in its configuration and calls it with keywords.

    reward.custom_reward_function.path=pkg://rrgmetrics.callbacks.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.metric=finding_score

`compute_score` scores one completion, for the reward managers naive, dapo, gdpo and rate_limited, which call it from
several threads; `compute_scores` scores those of a batch, for the reward manager batch of verl before 0.7.1. The
ground truth is the radiologist's report; `age`, `sex`, `indication` and `prior` of `extra_info` are the patient's
context.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from rrgmetrics.callbacks.reward import Reward, make_reward
from rrgmetrics.errors import InputError
from rrgmetrics.reports import CONTEXT_KEYS
from rrgmetrics.utils.text_format import listed

METRIC = "finding_score"
UNSCORED = 0.0  # verl knows no None
SETTINGS = ("metric", "key", "transform", "unscored")
SCALED = "rewards are scaled to 0 to 1, and transform= replaces the scale"
NEAR = 0.7  # similarity of a keyword to one of these that is taken for a misspelling ("metric_name": 0.71)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    metric: str = METRIC,
    key: str | None = None,
    transform: str | None = None,
    unscored: float = UNSCORED,
    **others: Any,
) -> float:
    """Returns the reward of one completion, between 0 and 1 unless `transform` says otherwise.

    Args:
        data_source: Which data set the prompt is of; not looked at.
        solution_str: What the policy wrote.
        ground_truth: The radiologist's report.
        extra_info: What else the data set has of the study; `age`, `sex`, `indication` and `prior` are the context.
        metric: A name as in `rrgmetrics.score`.
        key: Which of the metric's keys; None is the headline.
        transform: As for `make_reward`; None is its `scale="unit"`, under which rewards of several metrics add up.
        unscored: What a completion earns that has no score for a reason that is not its own.
        **others: What verl passes besides; a name that is nearly one of the above is refused as a mistake.

    Raises:
        InputError: A misspelt argument, or one that `make_reward` refuses.

    Example:
        >>> compute_score(data_source="mimic", solution_str="Small effusion.", ground_truth="Small effusion.")
        1.0
    """
    chosen: dict[str, Any] = {"metric": metric, "key": key, "transform": transform, "unscored": unscored}
    return compute_scores([data_source], [solution_str], [ground_truth], [extra_info], **chosen, **others)[0]


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    *,
    metric: str = METRIC,
    key: str | None = None,
    transform: str | None = None,
    unscored: float = UNSCORED,
    **others: Any,
) -> list[float]:
    """Returns the rewards of a batch of completions; arguments as for `compute_score`, each a list."""
    _check_names(others)
    reward = _reward(metric, key, transform, unscored)
    infos = [info or {} for info in extra_infos] if extra_infos is not None else [{}] * len(solution_strs)
    contexts = {name: [info.get(name) for info in infos] for name in CONTEXT_KEYS}
    rewards = reward(completions=list(solution_strs), reference=list(ground_truths), **contexts)
    return [unscored if each is None else each for each in rewards]


def _check_names(others: Iterable[str]) -> None:
    """Raises InputError for a keyword that is nearly one of ours; verl's own are accepted."""
    for name in others:
        near = get_close_matches(name.lower(), (*SETTINGS, "scale"), n=1, cutoff=NEAR)
        if near:
            advice = SCALED if near[0] == "scale" else f"write {near[0]}="
            raise InputError(
                f"The reward has no argument {name!r}; {advice}. Its arguments are {listed(SETTINGS)} "
                "(reward.custom_reward_function.reward_kwargs)."
            )


@cache
def _reward(metric: str, key: str | None, transform: Any, unscored: float) -> Reward:
    """The reward of the configuration, once in this process."""
    scaled: dict[str, Any] = {"scale": "unit"} if transform is None else {"transform": transform}
    return make_reward(metric, key=key, unscored=unscored, **scaled)
