"""The folder of a metric's `evaluate` module: script, card and examples agree with the row."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import rrgmetrics
from rrgmetrics.reporting import cards
from rrgmetrics.specs.names import parse_name
from rrgmetrics.testing.case import Case

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


def check_folder(case: Case) -> None:
    """`rrgmetrics.load` finds the module, which has the metric's name."""
    folder = _folder(case)
    assert {path.name for path in folder.iterdir()} >= {f"{case.spec.name}.py", "README.md"}
    assert rrgmetrics.load(case.spec.name).name == case.spec.name


def check_facts(case: Case) -> None:
    """Script and card say what the row says; `rrgmetrics.reporting.cards.write_folder` (`make cards`) writes them."""
    for path, text in cards.folder_texts(_folder(case), case.spec).items():
        assert path.read_text(encoding="utf-8") == text, "run `make cards`"


def check_citation(case: Case) -> None:
    """The card has the BibTeX entry that the row names."""
    keys = re.findall(r"^\s*@\w+\{\s*([^\s,]+)", _card(case), re.MULTILINE)
    assert case.spec.citation in keys, f"citation {case.spec.citation!r} is not a key of the card's bibtex"


def check_example(case: Case) -> None:
    """The example of the card, which is that of the module, gives what it says."""
    text = rrgmetrics.load(case.spec.name).inputs_description
    example = doctest.DocTestParser().get_doctest(text, {"rrgmetrics": rrgmetrics}, case.spec.name, None, None)
    assert len(example.examples) >= 2
    told: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(example, out=told.append)
    assert results.failed == 0, "".join(told)


def check_headings(case: Case) -> None:
    """The card has its parts, in their order."""
    lines = _card(case).lower().splitlines()
    places = [lines.index(heading.format(title=parse_name(case.spec.name).title).lower()) for heading in HEADINGS]
    assert places == sorted(places)


def check_front_matter(case: Case) -> None:
    """The Hub can read the front matter, and shows it whole."""
    import yaml

    facts: dict[str, Any] = yaml.safe_load(re.split(r"^---$", _card(case), maxsplit=2, flags=re.MULTILINE)[1])
    assert facts["title"] == parse_name(case.spec.name).title
    assert len(facts["short_description"]) <= 60
    assert {facts["colorFrom"], facts["colorTo"]} <= COLOURS


def _folder(case: Case) -> Path:
    return rrgmetrics.module_path(case.spec.name)


def _card(case: Case) -> str:
    return (_folder(case) / "README.md").read_text(encoding="utf-8")
