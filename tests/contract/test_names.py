"""Names, options and signatures of every metric."""

from __future__ import annotations

import importlib.util

import pytest

from rrgmetrics.scoring import signature
from rrgmetrics.specs.names import parse_config, parse_name
from rrgmetrics.testing import case_of, checks_of, names

pytestmark = pytest.mark.usefixtures("loaded")


def test_every_choice_runs_and_its_signature_reads_back(choice_name):
    text, key, value = choice_name
    names.check_choice(case_of(parse_name(text).spec.name), text, key, value)


@pytest.mark.parametrize(
    "check", [check for check in checks_of(names) if check is not names.check_choices], ids=lambda check: check.__name__
)
def test_names(case, check):
    check(case)


def test_every_configuration_runs_and_its_signature_reads_back(spec, score, reports, published_checkpoints):
    for config in spec.configs:
        name = f"{spec.name}@{config}"
        if name == "crimson@paper" and not importlib.util.find_spec("CRIMSON"):
            continue  # its question is in the authors' package crimson-score
        result = score(name, reports.altered[:4], reports.references[:4])
        assert signature.read(result.signature) == parse_name(name) == parse_config(spec.name, config)
