"""Arguments that tell the Trainer a metric's key and direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rrgmetrics.callbacks.schedule import Turn, When
from rrgmetrics.callbacks.scoring import flat
from rrgmetrics.errors import InputError
from rrgmetrics.specs import Key, all_specs
from rrgmetrics.specs.names import MetricName, parse_name
from rrgmetrics.utils.text_format import did_you_mean

PREFIX = "eval"
SHORT = "g"  # the short name of a metric in advice: g=green@openai:...
REPORTS = "reports"  # <prefix>_reports: how many reports were generated
OWN_KEYS = (REPORTS, "generation_seconds", "scoring_seconds")  # of the callback, beside the metrics'


def best_model(metric: str, *, key: str | None = None, dataset: str = "") -> dict[str, object]:
    """Returns the arguments of `TrainingArguments` that make a metric choose the best checkpoint.

    Args:
        metric: A name as in `rrgmetrics.score`, or a key as it is logged (`"rouge_l"`, `"green_errors__paper"`, with
            several evaluation sets `"eval_mimic_rouge_l"`).
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
    if not dataset and key is None:
        dataset, metric = _split_set(str(metric))
    name, chosen = _find(metric, key)
    if chosen.higher_is_better is None:
        raise InputError(
            f"{chosen.name} is best {chosen.better}, and the Trainer can select a model only by the highest or "
            "lowest value."
        )
    return {
        "load_best_model_at_end": True,
        "metric_for_best_model": "_".join(filter(None, ("eval", dataset, chosen.name + name.suffix))),
        "greater_is_better": chosen.higher_is_better,
    }


def _split_set(logged: str) -> tuple[str, str]:
    """Splits `eval_<set>_<key>` into the set and the key; anything else into "" and the whole."""
    first, *words = logged.partition("__")[0].split("_")
    starts = range(len(words)) if first == PREFIX else ()
    start = next((start for start in starts if "_".join(words[start:]) in _owners()), 0)
    dataset = "_".join(words[:start])
    return dataset, logged.removeprefix(f"{PREFIX}_{dataset}_") if dataset else logged


def _find(metric: str, key: str | None) -> tuple[MetricName, Key]:
    """Returns a metric and its key, from the metric's name or from a key as it is logged."""
    logged, _, config = str(metric).removeprefix(f"{PREFIX}_").partition("__")
    owner = _owners().get(logged) if key is None else None
    if owner is None:
        name = parse_name(metric)
        return name, key_of(name, key)
    name = parse_name(f"{owner}@{config}" if config else owner)
    return name, key_of(name, logged)


def _owners() -> dict[str, str]:
    """The metric of each key."""
    return {key.name: name for name, spec in all_specs().items() for key in spec.keys}


def check_keys(keys: Sequence[str] | None, metrics: Iterable[MetricName]) -> frozenset[str] | None:
    """Returns the keys that are to be logged, None for all; raises InputError for one that no metric has."""
    if keys is None:
        return None
    if isinstance(keys, str):
        raise InputError(f"keys is the string {keys!r}; pass a list of names.")
    metrics = list(metrics)
    known = [*(key for name in metrics for key in flat(name, None, 0)), *OWN_KEYS]
    for key in keys:
        if key not in known:
            near = _short_name(key, metrics) or did_you_mean(key, known)
            raise InputError(f"keys has {key!r}, which these metrics do not log.{near} They log {', '.join(known)}.")
    return frozenset(keys)


def _short_name(key: str, metrics: Iterable[MetricName]) -> str:
    """How to name the configured metric whose key was asked for without the configuration; "" if there is none."""
    for name in metrics:
        if name.suffix and key in (each.name for each in name.spec.keys):
            text = replace(name, short=SHORT)
            return (
                f" That of {replace(name, short='')} is {key}{name.suffix}; a short name before it makes the key "
                f"short: {str(text)!r} logs {key}{text.suffix}."
            )
    return ""


def key_of(name: MetricName, key: str | None = None) -> Key:
    """Returns a metric's key by its name, None for the headline; raises InputError for an unknown key."""
    wanted = key or name.spec.headline.name
    for known in name.spec.keys:
        if known.name == wanted:
            return known
    raise InputError(
        f"{name.spec.name} has no key {wanted!r}; it has: {', '.join(known.name for known in name.spec.keys)}."
    )


def evaluation_prefix(logs: Mapping[str, Any]) -> str:
    """Returns the prefix of an evaluation's metrics (`"eval"`, `"eval_<name>"`); empty for other logs.

    Only the logs of a whole evaluation have `<prefix>_runtime`.
    """
    return next((key.removesuffix("_runtime") for key in logs if key.endswith("_runtime")), "")


def best_key(args: Any) -> str:
    """Returns the logged key that chooses the best model and stops early; empty for none."""
    wanted: str = args.metric_for_best_model or ""
    return wanted if not wanted or wanted.startswith(f"{PREFIX}_") else f"{PREFIX}_{wanted}"


def check_best_model(args: Any, logged: Mapping[str, tuple[str, Key]], when: When, turns: Mapping[str, Turn]) -> None:
    """Raises InputError if one of our keys is to choose the best model and cannot, or in the wrong direction."""
    wanted = best_key(args)
    if wanted not in logged:
        return
    metric, key = logged[wanted]
    better = key.higher_is_better
    if better is None:
        raise InputError(
            f"{wanted} is best {key.better}, and the Trainer can select a model only by the highest or lowest value."
        )
    if when.unit != "evaluation" or turns[metric].every > 1 or turns[metric].background:
        raise InputError(
            f"metric_for_best_model is {wanted}, which every evaluation must have; pass when='evaluation' and "
            f"{metric!r} with 'every:1'."
        )
    if args.greater_is_better is None:
        args.greater_is_better = better
    if bool(args.greater_is_better) != better:
        raise InputError(
            f"greater_is_better is {args.greater_is_better}, and {key.better} {wanted} is better; pass "
            f"greater_is_better={better} to TrainingArguments (the default of transformers is True). "
            f"**rrgmetrics.callbacks.best_model({metric!r}) sets both."
        )


def check_computed(trainer: Any, logged: Mapping[str, tuple[str, Key]], prefixes: Iterable[str]) -> None:
    """Raises InputError if the best model is to be chosen by a metric of ours that nothing computes.

    Args:
        trainer: A `compute_metrics` or an `evaluate` of its own may compute whatever it likes.
        logged: The metric and the key behind each name that the callbacks log, with prefixes.
        prefixes: Of the evaluation sets.
    """
    wanted, known = best_key(trainer.args), _owners()
    keys = [wanted.removeprefix(f"{prefix}_") for prefix in (*prefixes, PREFIX) if wanted.startswith(f"{prefix}_")]
    ours = any(key.partition("__")[0] in known for key in keys)
    own = type(trainer).evaluate.__module__.partition(".")[0] not in ("transformers", "trl")
    if not ours or wanted in logged or own or trainer.compute_metrics is not None:
        return
    metrics = [parse_name(metric) for metric in dict.fromkeys(metric for metric, _ in logged.values())]
    near = next(filter(None, (_short_name(key, metrics) for key in keys)), "") or did_you_mean(wanted, logged)
    raise InputError(
        f"metric_for_best_model is {wanted}, which nothing computes.{near} Name its metric in ReportMetricsCallback "
        f"as well, or choose by a key that it logs: {', '.join(logged)}."
    )
