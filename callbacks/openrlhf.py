"""Rewards for OpenRLHF, which loads a file and calls its `reward_func(queries, prompts, labels)`.

# reward.py, for --reward.remote_url reward.py
from rrgmetrics.callbacks.openrlhf import make_reward_func

reward_func = make_reward_func("finding_score")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rrgmetrics.callbacks.reward import make_reward
from rrgmetrics.reports.cleaning.control import without_closing_tokens

RewardFunc = Callable[[Sequence[str], Sequence[str], Sequence[str]], dict[str, Any]]


def make_reward_func(metric: str, **keywords: Any) -> RewardFunc:
    """Makes OpenRLHF's `reward_func` of a metric.

    Args:
        metric: A name as in `rrgmetrics.score`.
        **keywords: Those of `make_reward`; `scale` is "unit" unless `transform` or `scale` is given, and `unscored` 0.

    Returns:
        A function of queries (prompt and completion), prompts and labels (the radiologists' reports) that returns a
        dictionary with `rewards`, `scores` and `extra_logs`, tensors with a number for each query.
    """
    scaled = {} if {"transform", "scale"} & set(keywords) else {"scale": "unit"}
    reward = make_reward(metric, **{"unscored": 0.0, **scaled, **keywords})

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str]) -> dict[str, object]:
        import torch

        completions = [completion_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
        rewards = torch.tensor(reward(completions=completions, **{reward.reference: list(labels)}), dtype=torch.float32)
        return {"rewards": rewards, "scores": rewards, "extra_logs": {reward.name: rewards}}

    return reward_func


def completion_of(query: str, prompt: str) -> str:
    """Returns what the policy wrote behind the prompt, without the tokens that close its turn.

    Example:
        >>> completion_of("<s>Describe the image. Small effusion.</s>", "Describe the image.")
        'Small effusion.'
    """
    _, _, completion = query.rpartition(prompt) if prompt else ("", "", query)
    return without_closing_tokens(completion).strip()
