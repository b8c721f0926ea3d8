"""Results where a model's page shows them: `.eval_results/rrgmetrics.yaml` and the model card's metadata.

The Hub reads results from files in `.eval_results/` and, as it did before, from `model-index` in the metadata of
`README.md`. Both get the headline of each metric, with its interval and with the signature of what ran; what others
wrote stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.files import PathLike
from rrgmetrics.results import Result
from rrgmetrics.stats import bootstrap

TASK_TYPE, TASK_NAME = "image-to-text", "Radiology report generation"
TRIALS = 1_000


class Benchmark(NamedTuple):
    """The data on which a model was evaluated.

    Attributes:
        dataset: Its id on the Hub, such as `my-lab/my-reports`.
        task: Which task of it.
        split: Which split.
        revision: Which commit; "": none is named.
    """

    dataset: str
    task: str = "report_generation"
    split: str = "test"
    revision: str = ""


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


def entries(results: Mapping[str, Result], benchmark: Benchmark) -> list[dict[str, Any]]:
    """Returns the entries of `.eval_results/*.yaml`, one a headline."""
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    return eval_result_entries_to_yaml(  # type: ignore[no-any-return]
        [
            EvalResultEntry(
                dataset_id=benchmark.dataset,
                task_id=benchmark.task,
                value=result.scores[result.spec.headline.name],
                dataset_revision=benchmark.revision or None,
                date=datetime.now(UTC).date().isoformat(),
                notes=f"{result.titled.headline.title} {interval(result)}; {unscored(result)}{result.signature}",
            )
            for result in results.values()
        ]
    )


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
    estimate = bootstrap(result.reduction, result.pair_stats, trials=TRIALS)[result.spec.headline.name]
    if math.isnan(estimate.low):
        return result.spec.headline.arrow
    return f"{result.spec.headline.arrow} [{estimate.low:.3g}, {estimate.high:.3g}]"


def unscored(result: Result) -> str:
    """Returns how many pairs have no score, with a mark behind it; "" if all have one."""
    return f"{result.n_unscored:,} of {result.n_pairs:,} pairs unscored; " if result.n_unscored else ""
