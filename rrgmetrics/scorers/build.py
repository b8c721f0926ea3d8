"""Builds the scorer of a metric's name: from the row of the spec table to the class that it names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.reading.lexicon import check_pack
from rrgmetrics.scorers.base import Chosen, Reduction, Scorer
from rrgmetrics.specs import JUDGE_OPTIONS, SPECS, MetricSpec, others
from rrgmetrics.specs.names import MetricName, parse_name

WALKED = ("text", "modality")  # options of the walk through the pairs, of which scorers know nothing


def build_scorer(name: MetricName) -> Scorer:
    """Builds the scorer of a metric with its options; loads no model."""
    if "modality" in name.options:
        check_pack(str(name.options["modality"]), f"{name.spec.name}?modality")
    scorer_class = _scorer_class(name.spec)
    options: dict[str, Any] = {key: value for key, value in name.options.items() if key not in WALKED}
    if name.spec.judge:
        options["engine"] = {key: options.pop(key) for key in JUDGE_OPTIONS}
    if name.spec.takes_checkpoint:
        options["config"] = name.config
    try:
        scorer: Scorer = scorer_class(**options)
    except TypeError as error:
        raise InputError(
            f"{_with_package(name.spec)}: scorer={name.spec.scorer!r} does not accept the options of the spec: {error}."
        ) from error
    return scorer


def _scorer_class(spec: MetricSpec) -> Any:
    """Imports the class that a row names; raises InputError where it cannot be imported."""
    module, _, class_name = spec.scorer.partition(":")
    try:
        return getattr(import_module(module), class_name)
    except MissingExtraError:
        raise
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{_with_package(spec)}: scorer={spec.scorer!r} cannot be imported: {error}.") from error


def _with_package(spec: MetricSpec) -> str:
    """Returns a metric's name, with its package if that is another one."""
    return spec.name if spec.name in SPECS else f"{spec.name} ({others().packages.get(spec.name, 'another package')})"


def reduction_of(name: str) -> Reduction:
    """Returns the reduction of a metric's statistics to its scores, or to the key that is asked for; loads no model."""
    parsed = parse_name(name)
    reduction = build_scorer(parsed).reduction
    return Chosen(reduction, frozenset({parsed.spec.headline.name})) if parsed.spec.fragment else reduction
