"""Names, options and signatures of a metric."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.reports.text import NORMALISERS
from rrgmetrics.scorers.build import WALKED
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.specs import JUDGE_OPTIONS, Option, OptionValue
from rrgmetrics.specs.names import parse_name
from rrgmetrics.testing.case import Case
from rrgmetrics.testing.scores import assert_same
from rrgmetrics.version import VERSION

REPORT = "Indication: cough.\nFindings: Small left effusion. No  PNEUMOTHORAX.\nImpression: Effusion on the left."
N_PAIRS = 4


def check_options(case: Case) -> None:
    """The values of options and configurations are of the declared type."""
    for config in ("no such configuration", *case.spec.configs):
        preset = case.spec.preset(config)
        assert preset.keys() <= case.spec.options.keys()
        for key, value in preset.items():
            option = case.spec.options[key]
            assert option.parse(option.write(value), key) == value


def check_scorer_fields(case: Case) -> None:
    """The scorer takes the options that the row declares, with the same defaults."""
    module, _, name = case.spec.scorer.partition(":")
    fields = {field.name: field.default for field in dataclasses.fields(getattr(import_module(module), name))}
    options = {key: option.default for key, option in case.spec.options.items() if key not in WALKED}
    if case.spec.judge:
        options = {key: value for key, value in options.items() if key not in JUDGE_OPTIONS}
        fields.pop("engine")
    if case.spec.takes_checkpoint:
        options["config"] = "default"
    assert fields == options


def check_choices(case: Case) -> None:
    """Each choice of each option that has choices runs, and its signature reads back."""
    for key, option in case.spec.options.items():
        for value in option.choices or ((True, False) if isinstance(option.default, bool) else ()):
            check_choice(case, f"{case.spec.name}?{key}={option.write(value)}", key, value)


def check_choice(case: Case, text: str, key: str, value: OptionValue) -> None:
    """A choice runs, and its signature reads back into the name that was asked for.

    Args:
        case: The metric.
        text: The name that says the choice.
        key: The option.
        value: The choice.
    """
    name = parse_name(text)
    assert name.options[key] == value
    altered, references = case.altered[:N_PAIRS], case.references[:N_PAIRS]
    if key == "text" and str(value).endswith("_only"):  # leaves out reports without the section
        altered, references = map(_with_sections, (altered, references))
    result = case.score(altered, references, name=text)
    assert result.n_unscored == 0
    assert result.signature.endswith(f"|n:{N_PAIRS}|v:{VERSION}")
    options = {option: chosen for option, chosen in name.options.items() if name.spec.options[option].stated}
    read_back = signature.read(result.signature)
    assert read_back == dataclasses.replace(name, options={**read_back.options, **options})
    assert parse_name(str(name)) == name
    again = case.score(altered, references, name=str(signature.read(result.signature)))
    np.testing.assert_equal(again.scores, result.scores)
    assert again.signature == result.signature


def _with_sections(reports: Sequence[str]) -> list[str]:
    return [f"Findings: {report}\nImpression: {report}" for report in reports]


def check_options_in_one_call(case: Case) -> None:
    """Values of an option that are scored in one call score as they do alone: none takes what another has read."""
    names = [case.spec.name, *variants(case)]
    metrics = {name: ready for name in names if (ready := _ready(name))}
    candidates, references = case.altered[:N_PAIRS], case.references[:N_PAIRS]
    texts: dict[str, Any] = {"predictions": candidates, "references": references, "progress": False}
    together = Metrics.together(list(metrics.values())).score(**texts)
    for name, alone in metrics.items():
        scores, expected = together[name].per_pair, alone.score(**texts)[name].per_pair
        try:
            assert_same(scores, expected, case.tolerance)
        except AssertionError as error:
            error.add_note(
                f"{name} gives other scores together with "
                f"{', '.join(other for other in metrics if other != name)}; add to the backend's key everything "
                "that changes its output."
            )
            raise


def variants(case: Case) -> list[str]:
    """Returns the metric's names with one option off its default, for values that need no file and no server."""
    defaults, spec = parse_name(case.spec.name).options, case.spec
    options = {
        key: option
        for key, option in spec.options.items()
        if option.stated and not (spec.judge and key in JUDGE_OPTIONS)
    }
    return [
        f"{spec.name}?{key}={option.write(value)}"
        for key, option in options.items()
        for value in _others(option, defaults[key])
    ]


def _others(option: Option, default: OptionValue) -> list[OptionValue]:
    """Returns the values of an option beside its default."""
    if option.choices:
        return [value for value in option.choices if value != default]
    if isinstance(default, bool):
        return [not default]
    return [] if isinstance(default, str) else [default + 1]


def _ready(name: str) -> Metrics | None:
    """Makes a metric ready; returns None for a value that is refused or needs what is not installed."""
    try:
        return prepare(name)
    except (InputError, MissingExtraError, BackendError):
        return None


def check_normalisers(case: Case) -> None:
    """The option `text`, if there is one, applies to both texts."""
    if "text" not in case.spec.options:
        return
    references = [REPORT, REPORT, "No  effusion."]
    candidates = [REPORT.replace("left", "right"), "NO Effusion!", REPORT]
    names = {f"{case.spec.name}?text={text}": normaliser for text, normaliser in NORMALISERS.items()}
    with prepare(list(names)) as metrics:
        normalised = metrics.score(predictions=candidates, references=references, progress=False)
    pairs = []
    for name, normaliser in names.items():
        read = list(map(normaliser.reference, references))
        kept = [row for row, text in enumerate(read) if text or not normaliser.lacks]
        assert normalised[name].n_unscored >= len(references) - len(kept)
        pairs.append(([normaliser.apply(candidates[row]) for row in kept], [read[row] for row in kept]))
    for name, plain in zip(names, case.score_each(pairs), strict=True):
        assert_same(normalised[name].scores, plain.scores, case.tolerance)
