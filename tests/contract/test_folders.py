"""Folder, script, class, doctest and card of every metric agree with the table."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
import yaml

import rrgmetrics
from rrgmetrics import SPECS
from rrgmetrics.names import parse_name
from rrgmetrics.version import VERSION

HEADINGS = (
    "# Metric Card for {title}",
    "## Metric Description",
    "## How to Use",
    "### Inputs",
    "### Output Values",
    "#### Values from Popular Papers",
    "### Examples",
    "## Limitations and Bias",
    "## Citation",
    "## Further References",
)
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


@pytest.fixture
def folder(spec) -> Path:
    return rrgmetrics.module_path(spec.name)


@pytest.fixture
def script(folder) -> str:
    return (folder / f"{folder.name}.py").read_text()


@pytest.fixture
def card(folder) -> str:
    return (folder / "README.md").read_text()


def test_every_folder_has_a_row_and_every_row_a_folder():
    root = rrgmetrics.module_path(next(iter(SPECS))).parent
    assert {path.name for path in root.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(SPECS)


def test_folder_holds_what_the_hub_needs(spec, folder):
    assert {path.name for path in folder.iterdir()} >= {f"{spec.name}.py", "README.md", "app.py", "requirements.txt"}
    assert "gradio" not in (folder / "requirements.txt").read_text()  # sdk_version on the card picks it
    assert f"=={VERSION}" in (folder / "requirements.txt").read_text()


def test_names_agree(spec, script):
    from evaluate.naming import camelcase_to_snakecase

    classes = re.findall(r"^class (\w+)\((.*)\):", script, re.MULTILINE)
    assert classes == [(classes[0][0], "evaluate.Metric")]
    assert camelcase_to_snakecase(classes[0][0]) == spec.name
    assert rrgmetrics.load(spec.name).name == spec.name


def test_evaluate_reads_the_imports_that_the_script_means(spec, folder):
    """It finds them with a regular expression, line by line; what it takes for missing is named with the pip hint."""
    from evaluate.loading import get_imports

    imports = [(kind, name, hint) for kind, name, hint, _ in get_imports(str(folder / f"{spec.name}.py"))]
    assert imports == [("library", "evaluate", "evaluate"), ("library", "rrgmetrics", "rrgmetrics")]


def test_citation_and_options_stand_in_the_script(spec, script):
    assert spec.citation in script
    inputs = script.partition('_INPUTS = """')[2].partition('"""')[0]
    for key, option in spec.options.items():
        assert re.search(rf"^    {key}: ", inputs, re.MULTILINE)
        assert all(str(choice) in inputs for choice in option.choices)
    for config in spec.configs:
        assert config in inputs
    for key in spec.keys:
        assert re.search(rf"\b{key.name}\b", inputs)


def test_doctest(spec, capfd):
    module = rrgmetrics.load(spec.name)
    example = doctest.DocTestParser().get_doctest(
        module.inputs_description, {"rrgmetrics": rrgmetrics}, spec.name, None, None
    )
    assert len(example.examples) >= 2
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0, capfd.readouterr().out


def test_doctest_of_the_card(spec, card, capfd):
    blocks = re.findall(r"```python\n(>>>.*?)```", card, re.DOTALL)
    assert blocks
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {"rrgmetrics": rrgmetrics}, "card", None, None)
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0, capfd.readouterr().out


def test_card_front_matter(spec, card):
    facts = yaml.safe_load(card.split("---")[1])
    assert facts["title"] == parse_name(spec.name).title
    assert {"evaluate", "metric"} <= set(facts["tags"])
    assert (facts["sdk"], facts["app_file"], facts["pinned"]) == ("gradio", "app.py", False)
    assert str(facts["sdk_version"]).startswith("6.")
    assert {facts["colorFrom"], facts["colorTo"]} <= COLOURS
    assert isinstance(facts["python_version"], str)


def test_card_headings(spec, card):
    lines = card.lower().splitlines()
    places = [lines.index(heading.format(title=parse_name(spec.name).title).lower()) for heading in HEADINGS]
    assert places == sorted(places)


def test_card_states_keys_ranges_and_directions(spec, card):
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", card, re.MULTILINE))
    for key in spec.keys:
        title, bounds, better = rows[key.name].split(" | ")
        assert title == key.title
        assert better == ("higher" if key.higher_is_better else "lower")
        low, high = key.range
        assert bounds == f"{low:g} to {high:g}".replace("-", "−").replace("inf", "∞")


def test_card_states_empty_values_and_options(spec, card):
    stated = re.findall(r"^\| (both empty|empty candidate|empty reference) \| (\S+) \|$", card, re.MULTILINE)
    expected = zip(("both empty", "empty candidate", "empty reference"), spec.empty, strict=True)
    assert [(case, None if value in ("findings", "varies") else float(value)) for case, value in stated] == list(
        expected
    )
    for key in spec.options:
        assert f"**{key}**" in card or f"`{key}`" in card
