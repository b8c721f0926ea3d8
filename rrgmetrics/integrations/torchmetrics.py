"""`ReportMetric` is a torchmetrics `Metric` over our metrics (extra `torchmetrics`).

Its state is what every corpus score follows from: the column sums of the pairs' statistics, the pairs that were scored,
and those that were not. The sum over processes is again such a state, so what torchmetrics reduces is exact for corpus
BLEU too, and no report leaves its process. `rrgmetrics.callbacks.ReportMetrics` gathers reports instead: it needs no
torchmetrics, counts a study once that two processes saw, and takes the metrics that this one refuses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.reports import check_pairs
from rrgmetrics.reports.missing import Missing
from rrgmetrics.scorers import aggregate
from rrgmetrics.scoring.prepared import parse_names, prepare
from rrgmetrics.specs import Key
from rrgmetrics.specs.names import label
from rrgmetrics.utils.extras import install_command

try:
    from torchmetrics import Metric
except ImportError as error:
    raise MissingExtraError(f"ReportMetric needs torchmetrics: {install_command('torchmetrics')}") from error

if TYPE_CHECKING:
    from rrgmetrics.scoring.runner import Job

Value = TypeVar("Value", bool | None, float)
COUNTS = 2  # columns behind the sums of a state: pairs scored, pairs unscored


class ReportMetric(Metric):
    """Scores reports batch by batch, on any number of processes, in a `MetricCollection` or a `LightningModule`.

    Args:
        metrics: Names as in `rrgmetrics.score`: `"crepe"`, `["bleu", "green@paper"]`; they share what they read.
        key: The one number that `compute` returns, as a scalar: `"bleu_1"`; None: a dict of all keys, and
            `<metric>_n_unscored`. A second configuration of a metric is `crepe__paper`.
        batch_size: Texts per forward pass of a model; None leaves it to the backend.
        device: torch device of models; None takes CUDA where there is one. The state moves with `.to()`, models do not.
        missing: What becomes of pairs whose reference is missing: `"unscored"`, `"empty"` or `"error"`, as in
            `rrgmetrics.score`.
        **keywords: torchmetrics' own: `sync_on_compute`, `process_group`, ...

    Raises:
        InputError: A name, option or key that cannot be used; or a metric whose pairs depend on each other (`cider`,
            `idf=call`): its sums over batches are not those of the whole.
        BackendError: Weights or data that are not there.
        MissingExtraError: An optional dependency that is not installed.

    Example:
        >>> metric = ReportMetric(["rouge", "finding_errors"])
        >>> metric.update(["Clear lungs."], ["Lungs are clear."])
        >>> round(metric.compute()["rouge_1"].item(), 2)
        0.8
    """

    is_differentiable = False
    full_state_update = False

    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        key: str | None = None,
        batch_size: int | None = None,
        device: str | None = None,
        missing: Missing = "unscored",
        **keywords: Any,
    ) -> None:
        import torch

        super().__init__(**keywords)
        for text, name in parse_names(metrics).items():
            if name.counts_references:
                raise InputError(
                    f"{text}: the score of a pair depends on the other pairs, so a sum over batches cannot give it; "
                    "use rrgmetrics.callbacks.ReportMetrics, which scores all pairs at once."
                )
        self.metrics = prepare(metrics, batch_size=batch_size, device=device, missing=missing)
        self._is_announced = False
        self.key = key
        for index, (text, job) in enumerate(self.metrics.jobs.items()):
            zeros = torch.zeros(n_columns(text, job) + COUNTS, dtype=torch.float64)
            self.add_state(f"sums_{index}", zeros, dist_reduce_fx="sum")
        known = [key for key, _ in self._values()]
        if len(set(known)) < len(known):
            raise InputError(f"{metrics}: two names of one configuration have the same keys; name only one of them.")
        if key is not None and key not in known:
            raise InputError(f"key={key!r} is none of {metrics}; choose one of {', '.join(known)}.")

    @property
    def shown(self) -> dict[str, tuple[str, Key]]:
        """What `plot` draws, by the key of `compute`: `key`, or the headlines; each with its title."""
        rows = [(text, name, key) for text, name in self.metrics.names.items() for key in name.titled.keys]
        return {
            key.name + name.suffix: (
                label(text, name.titled) if key.name == name.spec.headline.name else key.title,
                key,
            )
            for text, name, key in rows
            if key.name + name.suffix == self.key or (self.key is None and key.name == name.spec.headline.name)
        }

    @property
    def higher_is_better(self) -> bool | None:  # type: ignore[override]  # torchmetrics has a constant
        """The direction of what is shown; None where directions differ or there is a target."""
        return common([key.higher_is_better for _, key in self.shown.values()])

    @property
    def plot_lower_bound(self) -> float | None:  # type: ignore[override]  # torchmetrics has a constant
        """The lower end of the range of what is shown, if there is one for all."""
        return common([key.range[0] for _, key in self.shown.values()])

    @property
    def plot_upper_bound(self) -> float | None:  # type: ignore[override]  # torchmetrics has a constant
        """The upper end of the range of what is shown, if there is one for all."""
        return common([key.range[1] for _, key in self.shown.values()])

    def update(self, preds: Sequence[str], target: Sequence[str], contexts: Any = None) -> None:
        """Scores a batch of reports and adds it to the sums.

        Args:
            preds: The model's reports, one a study; `""` for an empty one.
            target: The radiologists' reports, in the same order.
            contexts: One dict a pair with any of `age`, `sex`, `indication`; or None.

        Raises:
            InputError: Different lengths, or an element that is not a report; nothing was added.
        """
        pairs = check_pairs(preds, target, contexts)
        results = self.metrics.score_pairs(pairs, progress=False, announce=not self._is_announced)
        has_empty = not all(pair.candidate for pair in pairs)
        unscored = any(result.n_unscored for result in results.values())
        self._is_announced = self._is_announced or has_empty or unscored  # not with each batch
        for index, result in enumerate(results.values()):
            sums, n_scored = aggregate.column_sums(result.pair_stats)
            row = np.array([*sums, n_scored, result.n_unscored])
            state = self._state(index)
            state += state.new_tensor(row)

    def compute(self) -> Any:
        """Returns the corpus values of all that was added: a dict of scalar tensors by key, or the tensor of `key`."""
        values = {key: self._state(0).new_tensor(value) for key, value in self._values()}
        return values if self.key is None else values[self.key]

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plots headlines, or `key`, as torchmetrics plots its own.

        Args:
            val: What `compute` or `forward` returned, or a list of that, one a step; None: the current value.
            ax: Axes of matplotlib to draw on; None makes them.

        Returns:
            The figure and the axes.
        """
        val = self.compute() if val is None else val
        titles = {key: title for key, (title, _) in self.shown.items()}
        steps = [
            {title: step[key] if self.key is None else step for key, title in titles.items()}
            for step in (val if isinstance(val, Sequence) else [val])
        ]
        axes: Any
        figure, axes = self._plot(steps if isinstance(val, Sequence) else steps[0], ax)
        axes.set_ylabel(next(iter(titles.values())) if len(titles) == 1 else "score")
        return figure, axes

    def _state(self, index: int) -> Any:
        """The column sums of a metric, and behind them the numbers of pairs scored and unscored."""
        return getattr(self, f"sums_{index}")

    def _values(self) -> Iterator[tuple[str, float]]:
        """Every key with its corpus value."""
        for index, job in enumerate(self.metrics.jobs.values()):
            *sums, n_scored, n_unscored = self._state(index).tolist()
            scores = aggregate.of_sums(job.scorer.reduction, sums, n_scored)
            yield from ((key.name + job.name.suffix, scores[key.name]) for key in job.name.spec.keys)
            yield f"{job.name.slug}_n_unscored", n_unscored


def common(values: Sequence[Value]) -> Value | None:
    """The value that all have; None if they differ or it is infinite."""
    (first, *others) = dict.fromkeys(values)
    return None if others or (isinstance(first, float) and math.isinf(first)) else first


def n_columns(text: str, job: Job) -> int:
    """The number of statistics of a pair, which is that of no pairs too; InputError for a scorer that fails on none."""
    try:
        return int(job.scorer.pair_stats([], {}, None).shape[1])
    except Exception as error:
        raise InputError(
            f"{text}: pair_stats of no pairs must have the shape (0, n_statistics): {type(error).__name__}: {error}."
        ) from error
