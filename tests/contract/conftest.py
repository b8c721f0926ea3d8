"""Every test that takes `spec` runs for every row of the table: a new metric gets them by adding its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

import rrgmetrics
from rrgmetrics import SPECS, MetricSpec, Result
from rrgmetrics.testing import Case, case_of


@pytest.fixture(params=SPECS)
def spec(request) -> MetricSpec:
    return SPECS[request.param]


@cache
def case_named(name: str) -> Case:
    return case_of(name)


@pytest.fixture(params=SPECS)
def case(request) -> Case:
    """A metric with the invented reports, for the checks that other packages' metrics run too."""
    return case_named(request.param)


@pytest.fixture(scope="session")
def score() -> Callable[..., Result]:
    """`score(name, candidates, references)` → Result, without a bar."""

    def run(name: str, candidates, references, **keywords) -> Result:
        return rrgmetrics.score(name, predictions=candidates, references=references, progress=False, **keywords)[name]

    return run


@pytest.fixture(scope="session")
def altered(reports, score) -> Callable[[str], Result]:
    """The Result of a metric on the altered reports of chest X-rays, scored once a session."""

    @cache
    def of(name: str) -> Result:
        case = case_named(name)
        own = case.references == reports.references
        return case.on_altered if own else score(name, reports.altered, reports.references)

    return of


@pytest.fixture(scope="module")
def loaded() -> Iterator[None]:
    """Keeps the models of all metrics, which other users of them then share (`rrgmetrics.backends.shared`)."""
    with rrgmetrics.prepare(list(SPECS)):
        yield


_MANY = 5  # metrics that share an option


def _choices() -> list:
    """Each choice of each option of each metric; of an option that many metrics share, each choice with one in turn."""
    having: dict[str, list[str]] = {}
    for spec in SPECS.values():
        for key in spec.options:
            having.setdefault(key, []).append(spec.name)
    found = []
    for number, (key, names) in enumerate(having.items()):
        for turn, name in enumerate(names[number % len(names) :] + names[: number % len(names)]):
            option = SPECS[name].options[key]
            values = option.choices or ((True, False) if isinstance(option.default, bool) else (option.default,))
            if len(names) >= _MANY:
                values = values[turn : turn + 1]
            found += [pytest.param((SPECS[name], key, value), id=f"{name}-{key}-{value}") for value in values]
    return found


@pytest.fixture(params=_choices())
def choice_name(request, tmp_path, reports, published_checkpoints) -> tuple[str, str, object]:
    """A metric's name that says one choice of one option; the option; the choice."""
    spec, key, value = request.param
    config, companion = "", ""
    if (spec.name, key, value) == ("bertscore", "rescale", True):
        config = "@radeval"  # the bundled encoder has no published baseline
    if (key, value) == ("idf", "frozen"):
        file = tmp_path / "corpus & notes=1|2.txt"  # every character that names and signatures must escape
        file.write_text("\n".join(reports.references))
        companion = f"&idf_file={str(file).replace('&', '%26')}"
    return f"{spec.name}{config}?{key}={type(spec.options[key]).write(value)}{companion}", key, value
