"""Every test that takes `spec` runs for every row of the table: a new metric gets them by adding its row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rrgmetrics
from rrgmetrics import SPECS, MetricSpec, Result


@pytest.fixture(params=SPECS)
def spec(request) -> MetricSpec:
    return SPECS[request.param]


@pytest.fixture(params=[name for name, spec in SPECS.items() if spec.level == "pair"])
def pair_level_spec(request) -> MetricSpec:
    return SPECS[request.param]


@pytest.fixture(params=[name for name, spec in SPECS.items() if not spec.corpus_statistics])
def independent_spec(request) -> MetricSpec:
    """A metric whose value for a pair does not depend on the other pairs."""
    return SPECS[request.param]


@pytest.fixture(scope="session")
def score() -> Callable[..., Result]:
    """`score(name, candidates, references)` → Result, without a bar."""

    def run(name: str, candidates, references, **keywords) -> Result:
        return rrgmetrics.score(name, predictions=candidates, references=references, progress=False, **keywords)[name]

    return run


@pytest.fixture(scope="session")
def altered(score, reports) -> Callable[[str], Result]:
    """The Result of a metric on the altered reports, scored once a session."""
    done: dict[str, Result] = {}

    def get(name: str) -> Result:
        if name not in done:
            done[name] = score(name, reports.altered, reports.references)
        return done[name]

    return get


def _choices() -> list:
    return [
        pytest.param((spec, key, value), id=f"{spec.name}-{key}-{value}")
        for spec in SPECS.values()
        for key, option in spec.options.items()
        for value in option.choices or ((True, False) if isinstance(option.default, bool) else (option.default,))
    ]


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
