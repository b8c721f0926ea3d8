"""Arguments that tell the Trainer a metric's key and direction."""

from __future__ import annotations

from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.names import MetricName, parse_name
from rrgmetrics.specs import Key


def best_model(metric: str, *, key: str | None = None, dataset: str = "") -> dict[str, Any]:
    """Returns the arguments of `TrainingArguments` that make a metric choose the best checkpoint.

    Args:
        metric: A name as in `rrgmetrics.score`.
        key: One of its keys; None is the headline.
        dataset: Name of the evaluation set, where there are several.

    Returns:
        `load_best_model_at_end`, `metric_for_best_model` and `greater_is_better`, the direction from the spec.

    Raises:
        InputError: An unknown metric or key.

    Example:
        >>> best_model("finding_errors")["greater_is_better"]
        False
    """
    name = parse_name(metric)
    chosen = key_of(name, key)
    if chosen.higher_is_better is None:
        raise InputError(
            f"{chosen.name} is best {chosen.better}: the Trainer can choose the best model by the highest or lowest "
            "value only."
        )
    return {
        "load_best_model_at_end": True,
        "metric_for_best_model": "_".join(filter(None, ("eval", dataset, chosen.name + name.suffix))),
        "greater_is_better": chosen.higher_is_better,
    }


def key_of(name: MetricName, key: str | None = None) -> Key:
    """Returns a metric's key by its name, None for the headline; raises InputError for an unknown key."""
    wanted = key or name.spec.name
    for known in name.spec.keys:
        if known.name == wanted:
            return known
    raise InputError(
        f"{name.spec.name} has no key {wanted!r}; it has: {', '.join(known.name for known in name.spec.keys)}."
    )
