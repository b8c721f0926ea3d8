"""Metrics in training loops; installed as `rrgmetrics.callbacks`.

    ReportMetricsCallback   for the Hugging Face Trainer: generates reports, scores them and logs `eval_<key>`
    make_compute_metrics    for `Seq2SeqTrainer(predict_with_generate=True)`
    make_reward             for TRL's GRPO and RLOO; make_async_reward is awaited
    verl, openrlhf          the same for verl and OpenRLHF
    ReportMetrics           update, compute, reset: for Lightning and hand-written loops
    best_model              the arguments that select the best checkpoint by a metric

Importing this package does not load torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rrgmetrics.callbacks.arguments import best_model
from rrgmetrics.callbacks.async_reward import AsyncReward, make_async_reward
from rrgmetrics.callbacks.compute_metrics import make_compute_metrics
from rrgmetrics.callbacks.report_metrics import ReportMetrics
from rrgmetrics.callbacks.reward import Reward, make_reward
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from rrgmetrics.callbacks.trainer import ReportMetricsCallback

__all__ = [
    "AsyncReward",
    "ReportMetrics",
    "ReportMetricsCallback",
    "Reward",
    "best_model",
    "make_async_reward",
    "make_compute_metrics",
    "make_reward",
]


def __getattr__(name: str) -> Any:
    if name == "ReportMetricsCallback":  # its base class is in transformers
        need("ReportMetricsCallback", "published")
        from rrgmetrics.callbacks.trainer import ReportMetricsCallback

        return ReportMetricsCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
