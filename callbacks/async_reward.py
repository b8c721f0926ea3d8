"""`make_async_reward`: a reward that TRL awaits, so that the judges of several rewards are asked at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rrgmetrics.callbacks.reward import Reward, make_reward


@dataclass(frozen=True)
class AsyncReward:
    """A reward function for TRL that is awaited; made by `make_async_reward`. Picklable.

    Attributes:
        reward: The same reward, for callers that do not await.
    """

    reward: Reward

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.reward.name)  # TRL logs rewards/<__name__>/mean

    @property
    def signature(self) -> str:
        """What a score goes through before it is the reward."""
        return self.reward.signature

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Returns one reward for each completion; `columns` are those of the data set, the references among them."""
        return await asyncio.to_thread(self.reward, completions, **columns)

    def check(self, dataset: Any) -> None:
        """Checks the references and contexts of a whole data set, as `Reward.check` does."""
        self.reward.check(dataset)


def make_async_reward(metric: str, **keywords: Any) -> AsyncReward:
    """Makes a reward of a metric that TRL awaits: rewards of several metrics are then computed at the same time.

    This pays for judges, which wait for a server. Rewards of one metric share its models and take turns.

    Args:
        metric: A name as in `rrgmetrics.score`.
        **keywords: Those of `make_reward`.

    Returns:
        The reward function, a coroutine function as TRL 1.16 wants it; its `__name__` is `name`.

    Raises:
        InputError: As for `make_reward`.
        BackendError: As for `make_reward`.
        MissingExtraError: As for `make_reward`.

    Example:
        >>> import asyncio
        >>> reward = make_async_reward("finding_errors")
        >>> asyncio.run(reward(completions=["Small left effusion."], reference=["Small right effusion."]))
        [-1.0]
    """
    return AsyncReward(make_reward(metric, **keywords))
