"""Names, options and signatures of every metric."""

from __future__ import annotations

import importlib.util

import pytest

from float32 import rounding
from rrgmetrics import signature
from rrgmetrics.names import parse_config, parse_name
from rrgmetrics.text import NORMALISERS
from rrgmetrics.version import VERSION

REPORT = "Indication: cough.\nFindings: Small left effusion. No  PNEUMOTHORAX.\nImpression: Effusion on the left."


def test_every_choice_runs_and_its_signature_reads_back(choice_name, score, reports):
    text, key, value = choice_name
    name = parse_name(text)
    assert name.options[key] == value
    result = score(text, reports.altered[:4], reports.references[:4])
    assert result.n_unscored == 0
    assert result.signature.endswith(f"|n:4|v:{VERSION}")
    assert signature.read(result.signature) == name
    assert parse_name(str(name)) == name
    again = score(str(signature.read(result.signature)), reports.altered[:4], reports.references[:4])
    assert again.scores == pytest.approx(result.scores, rel=0, abs=0, nan_ok=True)
    assert again.signature == result.signature


def test_every_configuration_runs_and_its_signature_reads_back(spec, score, reports, published_checkpoints):
    for config in spec.configs:
        name = f"{spec.name}@{config}"
        if name == "crimson@paper" and not importlib.util.find_spec("CRIMSON"):
            continue  # its question is in the authors' package crimson-score
        result = score(name, reports.altered[:4], reports.references[:4])
        assert signature.read(result.signature) == parse_name(name) == parse_config(spec.name, config)


def test_options_and_presets_are_of_the_declared_type(spec):
    assert spec.options["text"]
    for preset in ({}, *(config.options for config in spec.configs.values())):
        assert preset.keys() <= spec.options.keys()
        for key, value in preset.items():
            option = spec.options[key]
            assert option.parse(option.write(value), key) == value


@pytest.mark.parametrize("text", NORMALISERS)
def test_the_normaliser_applies_to_both_texts(spec, score, text):
    apply = NORMALISERS[text].apply
    references = [REPORT, REPORT, "No  effusion."]
    candidates = [REPORT.replace("left", "right"), "NO Effusion!", REPORT]
    normalised = score(f"{spec.name}?text={text}", candidates, references)
    plain = score(spec.name, list(map(apply, candidates)), list(map(apply, references)))
    assert normalised.scores == pytest.approx(plain.scores, rel=rounding(spec), abs=rounding(spec), nan_ok=True)
