"""Results where a model's page shows them: `.eval_results/rrgmetrics.yaml` and the model card's metadata.

The Hub reads results from files in `.eval_results/` of a model and, as it did before, from `model-index` in the
metadata of `README.md`. Both get the headline of each metric, with its interval and with the signature of what ran;
what others wrote stays as it is. A benchmark, which is a data set, declares its tasks in `eval.yaml`, one for each
metric, and the entries of `.eval_results` name them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.files import PathLike
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import parse_name

TASK_TYPE, TASK_NAME = "image-to-text", "Radiology report generation"


FRAMEWORK = "rrgmetrics"  # evaluation_framework of eval.yaml


class Source(NamedTuple):
    """Where the evidence of results lies, to which the Hub links.

    Attributes:
        url: The address: a data set of per-pair scores, a leaderboard, a log.
        name: What the link is called.
        user: The user of the Hub to whom the results are attributed; "": nobody.
        org: The organisation of the Hub; "": none.
    """

    url: str
    name: str = "rrgmetrics"
    user: str = ""
    org: str = ""

    def to_dict(self) -> dict[str, str]:
        """The `source` of an entry of `.eval_results`."""
        return {field: value for field, value in self._asdict().items() if value}


class Benchmark(NamedTuple):
    """The data on which a model was evaluated.

    Attributes:
        dataset: Its id on the Hub, such as `my-lab/my-reports`.
        task: Which task of it; "": the one of the metric's name, as `eval_yaml` declares it.
        split: Which split.
        revision: Which commit; "": none is named.
        source: Where the evidence lies; None: nowhere.
    """

    dataset: str
    task: str = ""
    split: str = "test"
    revision: str = ""
    source: Source | None = None


def write_model_card(folder: PathLike, model: str, results: Mapping[str, Result], benchmark: Benchmark) -> list[Path]:
    """Writes results into the folder of a model's repository.

    Args:
        folder: The folder; made if missing. A `README.md` in it keeps its text and the rest of its metadata.
        model: The model's name in its `model-index`.
        results: By metric, as `rrgmetrics.score` and `ReportMetricsCallback.results` give them; a metric without any
            scored pair is left out.
        benchmark: What it was evaluated on.

    Returns:
        The files that were written.
    """
    import yaml
    from huggingface_hub import ModelCard, ModelCardData

    folder = Path(folder)
    scored = {name: result for name, result in results.items() if result.n_unscored < result.n_pairs}
    path = folder / ".eval_results" / "rrgmetrics.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(entries(scored, benchmark), sort_keys=False, allow_unicode=True), encoding="utf-8")
    readme = folder / "README.md"
    card = ModelCard.load(readme) if readme.exists() else ModelCard(f"---\ntags:\n- radiology\n---\n\n# {model}\n")
    ours = model_index(scored, benchmark)
    named = {(each.dataset_type, each.dataset_split, each.metric_type) for each in ours}
    others = [
        each
        for each in card.data.eval_results or []
        if (each.dataset_type, each.dataset_split, each.metric_type) not in named
    ]
    data: dict[str, Any] = {**card.data.to_dict(), "model_name": card.data.model_name or model}
    data.pop("model-index", None)
    card.data = ModelCardData(**data, eval_results=[*others, *ours])
    card.save(readme)
    return [path, readme]


def entries(results: Mapping[str, Result], benchmark: Benchmark) -> list[dict[str, object]]:
    """Returns the entries of `.eval_results/*.yaml`, one a headline."""
    return [
        entry(
            benchmark,
            parse_name(name).slug,
            result.scores[result.spec.headline.name],
            date=datetime.now(UTC).date().isoformat(),
            notes=f"{result.titled.headline.title} {interval(result)}; {unscored(result)}{result.signature}",
        )
        for name, result in results.items()
    ]


def entry(benchmark: Benchmark, task: str, value: float, *, date: str, notes: str) -> dict[str, object]:
    """Returns an entry of `.eval_results/*.yaml`, as `huggingface_hub.eval_result_entries_to_yaml` does since 1.4.

    Args:
        benchmark: What was evaluated on; its own task, if it names one, replaces `task`.
        task: Which task of it.
        value: The score.
        date: When, in ISO 8601.
        notes: What the Hub shows beside the value.
    """
    dataset = {"id": benchmark.dataset, "task_id": benchmark.task or task}
    if benchmark.revision:
        dataset["revision"] = benchmark.revision
    source = {"source": benchmark.source.to_dict()} if benchmark.source else {}
    return {"dataset": dataset, "value": value, "date": date, **source, "notes": notes}


def eval_yaml(metrics: Sequence[str], *, name: str, description: str = "", split: str = "test") -> str:
    """Returns the `eval.yaml` of a benchmark's data set, which declares a task for each metric.

    Args:
        metrics: Names as in `rrgmetrics.score`.
        name: What the benchmark is called.
        description: What it is.
        split: Which split is evaluated on.

    Example:
        >>> print(eval_yaml(["crepe", "green#errors"], name="My reports"), end="")
        name: My reports
        evaluation_framework: rrgmetrics
        tasks:
        - id: crepe
          config: default
          split: test
        - id: green_errors
          config: default
          split: test
    """
    import yaml

    document: dict[str, Any] = {"name": name, **({"description": description} if description else {})}
    document["evaluation_framework"] = FRAMEWORK
    document["tasks"] = [{"id": parse_name(each).slug, "config": "default", "split": split} for each in metrics]
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return text


def model_index(results: Mapping[str, Result], benchmark: Benchmark) -> list[Any]:
    """Returns the results as `EvalResult`s of a model card, one a headline."""
    from huggingface_hub import EvalResult

    return [
        EvalResult(
            task_type=TASK_TYPE,
            task_name=TASK_NAME,
            dataset_type=benchmark.dataset,
            dataset_name=benchmark.dataset,
            dataset_split=benchmark.split,
            dataset_revision=benchmark.revision or None,
            metric_type=name,
            metric_name=f"{result.titled.headline.title} {interval(result)}",
            metric_value=result.scores[result.spec.headline.name],
            metric_config=result.signature,
        )
        for name, result in results.items()
    ]


def interval(result: Result) -> str:
    """Returns the direction and the 95% interval of a headline: `↑ [0.27, 0.35]`; of a single pair the direction."""
    estimate = result.interval()
    if math.isnan(estimate.low):
        return result.spec.headline.arrow
    return f"{result.spec.headline.arrow} [{estimate.low:.3g}, {estimate.high:.3g}]"


def unscored(result: Result) -> str:
    """Returns how many studies have no score, with a mark behind it; "" if all have one."""
    return f"{result.n_unscored:,} of {result.n_pairs:,} studies not scored; " if result.n_unscored else ""
