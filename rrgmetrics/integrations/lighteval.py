"""Metrics and tasks for lighteval (extra `lighteval`): `--custom-tasks rrgmetrics.integrations.lighteval`.

`report_metrics` makes lighteval metrics of ours, `report_tasks` tasks for report generation and report summarisation on
a data set of one's own. All replies of a task are scored together, so each distinct text is read once, a judge is asked
many questions at a time, and metrics in which pairs depend on each other (CIDEr) are right too. Corpus values are those
of `rrgmetrics.score`; of the headline `_low` and `_high` are the 95% interval by the bootstrap over pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import MissingExtraError
from rrgmetrics.integrations.documents import DEFAULT_METRICS, context_of, images_of
from rrgmetrics.integrations.pair_values import UNSCORED, PairValue, columns, corpus_value
from rrgmetrics.reports import check_pairs
from rrgmetrics.scoring.prepared import Metrics, parse_names, prepare, reduction_of
from rrgmetrics.specs.names import MetricName
from rrgmetrics.stats import bootstrap
from rrgmetrics.utils.extras import install_command

try:
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric
    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from lighteval.tasks.requests import Doc, SamplingMethod
except ImportError as error:
    raise MissingExtraError(f"Tasks for lighteval need it: {install_command('lighteval')}") from error


class PairScores(SampleLevelComputation):  # type: ignore[misc]
    """Scores all replies of a task at once with one metric."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._prepared: Metrics | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> PairScores:
        """Lighteval copies tasks; the models stay one."""
        return self

    def compute(self, responses: Sequence[Any], docs: Sequence[Any], **_: Any) -> list[PairValue]:
        """Returns the headline of each reply, NaN where it cannot be scored, with what corpus values follow from."""
        pairs = check_pairs(
            [response.final_text[0] or "" for response in responses],
            [doc.get_golds()[0] or "" for doc in docs],
            [(doc.specific or {}).get("context", {}) for doc in docs],
        )
        self._prepared = self._prepared or prepare(self.name)
        result = self._prepared.score_pairs(pairs, progress=False)[self.name]
        kept = pairs if self._prepared.names[self.name].counts_references else [None] * len(pairs)
        rows = zip(result.headline.tolist(), result.pair_stats.tolist(), kept, strict=True)
        return [PairValue(value, self.name, result.spec.name, stats, pair) for value, stats, pair in rows]


def corpus_function(
    text: str, name: MetricName, *, all_keys: bool
) -> Callable[[Sequence[PairValue]], dict[str, float]]:
    """Makes the function from a metric's values to its corpus values; a dict, so that lighteval adds no bootstrap."""

    def corpus(values: Sequence[PairValue]) -> dict[str, float]:
        found = {
            column: corpus_value([PairValue(float("nan"), text, key, value.statistics, value.pair) for value in values])
            for key, column in columns(name, all_keys=all_keys).items()
            if not key.endswith(UNSCORED)
        }
        stats = np.array([value.statistics for value in values])
        estimate = bootstrap(reduction_of(text), stats)[name.spec.headline.name]
        headline = name.slug
        unscored = float(np.isnan(np.array(values, dtype=float)).sum())
        return found | {
            f"{headline}_low": estimate.low,
            f"{headline}_high": estimate.high,
            headline + UNSCORED: unscored,
        }

    return corpus


def report_metrics(
    metrics: str | Sequence[str] = DEFAULT_METRICS, *, all_keys: bool = False
) -> list[SampleLevelMetric]:
    """Makes lighteval metrics.

    Args:
        metrics: Names as in `rrgmetrics.score`.
        all_keys: Whether each metric gives all its keys, or its headline alone.

    Raises:
        InputError: A name or option that cannot be used.
    """
    return [
        SampleLevelMetric(
            metric_name=name.slug,
            higher_is_better=bool(name.spec.higher_is_better),
            category=SamplingMethod.GENERATIVE,
            sample_level_fn=PairScores(text),
            corpus_level_fn=corpus_function(text, name, all_keys=all_keys),
            batched_compute=True,
        )
        for text, name in parse_names(metrics).items()
    ]


def report_tasks(
    data: str,
    metrics: str | Sequence[str] = DEFAULT_METRICS,
    *,
    subset: str = "default",
    split: str = "test",
    all_keys: bool = False,
) -> list[LightevalTaskConfig]:
    """Makes the tasks `report_generation` and `report_summarisation` for a data set, for `TASKS_TABLE`.

    Args:
        data: The id of a data set on the Hub, or a folder, such as one with `test.jsonl`. Columns: `reference`, and
            `findings` or `image` (one or several, or paths); `age`, `sex` and `indication` are read where they are.
        metrics: Names as in `rrgmetrics.score`.
        subset: The configuration of the data set.
        split: The split to evaluate on.
        all_keys: Whether each metric gives all its keys, or its headline alone.
    """
    questions = {"report_summarisation": summarise, "report_generation": describe}
    return [
        LightevalTaskConfig(
            name=name,
            prompt_function=question,
            hf_repo=data,
            hf_subset=subset,
            hf_avail_splits=[split],
            evaluation_splits=[split],
            metrics=report_metrics(metrics, all_keys=all_keys),
            generation_size=512,
            stop_sequence=[],
            version=1,
        )
        for name, question in questions.items()
    ]


def summarise(row: Mapping[str, Any], task_name: str = "") -> Doc:
    """Asks for the impression of the findings."""
    return _doc(row, task_name, f"Findings: {row['findings']}\nImpression:")


def describe(row: Mapping[str, Any], task_name: str = "") -> Doc:
    """Asks for the report of an image."""
    return _doc(row, task_name, "Write the report:", images=images_of(row["image"]))


def _doc(row: Mapping[str, Any], task_name: str, query: str, **more: Any) -> Doc:
    known = {"context": context_of(row)}
    return Doc(task_name=task_name, query=query, choices=[row["reference"] or ""], gold_index=0, specific=known, **more)


# A folder with test.jsonl in the working directory; by its full path, for where there is none `datasets` takes another
# folder of that name from its cache.
TASKS_TABLE = report_tasks(str(Path("reports").resolve()))
