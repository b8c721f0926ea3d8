"""What pays as a reward without being right: `MetricSpec.hacks`, measured on invented reports."""

from __future__ import annotations

import logging
import random
import re

import pytest

from rrgmetrics.callbacks import make_reward, reward
from rrgmetrics.runner import score_systems
from rrgmetrics.specs import HACKS, SPECS

TEMPLATE = "The lungs are clear. No pleural effusion or pneumothorax. Heart size is normal."
OPPOSITE = {"left": "right", "right": "left", "small": "large", "Small": "Large", "no": "", "No": "", "without": "with"}
RESIST = {"finding_errors": set(HACKS), "crimson": set(HACKS), "crepe": set(HACKS) - {"order"}}
GAMED = [spec for spec in SPECS.values() if spec.hacks]


def sentences(text):
    return re.split(r"(?<=\.)\s+", text.strip())


def shuffled(text):
    words = text.split()
    random.Random(0).shuffle(words)
    return " ".join(words)


def contradicted(text):
    return re.sub(r"\w+", lambda word: OPPOSITE.get(word[0], word[0]), text)


@pytest.fixture(scope="module")
def gains(reports):
    """For each metric and hack how much better a hacked report scores than an honest one of some worth."""
    first = [sentences(text)[0] for text in reports.altered]
    half = [" ".join(sentences(text)[: max(1, len(sentences(text)) // 2)]) for text in reports.altered]
    systems = {
        "altered": reports.altered,
        "first": first,
        "half": half,
        "repetition": [f"{text} {text}" for text in half],
        "template": [f"{text} {TEMPLATE}" for text in first],
        "order": list(map(shuffled, reports.references)),
        "contradiction": list(map(contradicted, reports.references)),
    }
    honest = {"repetition": "half", "template": "first", "order": "altered", "contradiction": "altered"}
    names = [spec.name for spec in GAMED] + ["finding_errors", "crimson"]
    scored = score_systems(names, systems=systems, references=reports.references, progress=False)

    def gain(name, hack):
        hacked, plain = (scored[system][name].scores[name] for system in (hack, honest[hack]))
        return hacked - plain if SPECS[name].higher_is_better else plain - hacked

    return {name: {hack: gain(name, hack) for hack in HACKS} for name in names}


@pytest.mark.parametrize("spec", GAMED, ids=lambda spec: spec.name)
def test_what_is_declared_pays(spec, gains):
    assert {hack: gains[spec.name][hack] > 0 for hack in spec.hacks} == dict.fromkeys(spec.hacks, True)


@pytest.mark.parametrize("name", RESIST)
def test_the_metrics_that_are_recommended_resist(name, gains):
    assert set(SPECS[name].hacks).isdisjoint(RESIST[name])
    assert {hack: gains[name][hack] <= 0 for hack in RESIST[name]} == dict.fromkeys(RESIST[name], True)


def test_lexical_metrics_and_pure_encoders_are_declared():
    wording = {"bleu", "rouge", "meteor", "cider", "bertscore", "semb_score", "radeval_bertscore"}
    assert wording <= {spec.name for spec in GAMED}


@pytest.mark.parametrize(
    ("metric", "how", "resist"),
    [
        ("bleu", "saying a sentence again raises it; normal sentences appended", "finding_errors, crepe, crimson."),
        ("semb_score", "in a wrong order hardly lower it", "finding_errors, crimson."),
    ],
)
def test_a_reward_that_can_be_gamed_is_said_when_it_is_made(metric, how, resist, caplog):
    assert set(reward.RECOMMENDED) == set(RESIST)
    make_reward(metric)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f"{metric} can be gamed as a reward: ")
    assert how in record.getMessage()
    assert record.getMessage().endswith(resist)


def test_a_reward_that_resists_is_made_in_silence(caplog):
    make_reward("finding_errors")
    make_reward("crimson")
    assert not caplog.records
