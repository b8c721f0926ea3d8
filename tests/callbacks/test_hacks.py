"""What pays as a reward without being right: `MetricSpec.hacks`, measured on invented reports."""

from __future__ import annotations

import logging
import random
import re

import pytest

from rrgmetrics import prepare
from rrgmetrics.callbacks import make_reward, reward
from rrgmetrics.callbacks.baselines import NORMAL_REPORT
from rrgmetrics.specs import SPECS

TEMPLATE = "The lungs are clear. No pleural effusion or pneumothorax. Heart size is normal."
OPPOSITE = {"left": "right", "right": "left", "small": "large", "Small": "Large", "no": "", "No": "", "without": "with"}
LEAST = {"repetition": 0, "template": 0, "order": 0.8, "contradiction": 0.7}  # what pays more is declared
RESIST = {name: set(LEAST) for name in ("finding_score", "finding_errors", "crimson", "crepe")}  # others: test_gamed
GAMED = [spec for spec in SPECS.values() if set(spec.hacks) & set(LEAST)]


def sentences(text):
    return re.split(r"(?<=\.)\s+", text.strip())


def shuffled(text):
    words = text.split()
    random.Random(0).shuffle(words)
    return " ".join(words)


def contradicted(text):
    return re.sub(r"\w+", lambda word: OPPOSITE.get(word[0], word[0]), text)


@pytest.fixture(scope="module")
def pays(reports):
    """For each metric and hack how much it pays, and what counts as paying.

    A repetition or a template pays what it adds to half a report or to its first sentence, in the metric's own unit.
    Words in a wrong order and contradictions pay the share that they keep of what the reference earns beyond a normal
    report.
    """
    first = [sentences(text)[0] for text in reports.altered]
    half = [" ".join(sentences(text)[: max(1, len(sentences(text)) // 2)]) for text in reports.altered]
    systems = {
        "right": reports.references,
        "normal": [NORMAL_REPORT] * len(first),
        "first": first,
        "half": half,
        "repetition": [f"{text} {text}" for text in half],
        "template": [f"{text} {TEMPLATE}" for text in first],
        "order": list(map(shuffled, reports.references)),
        "contradiction": list(map(contradicted, reports.references)),
    }
    names = [spec.name for spec in GAMED] + list(RESIST)
    scored = prepare(names).score_systems(systems=systems, references=reports.references, progress=False)

    def by_hack(name):
        goodness = SPECS[name].headline.goodness
        earned = {system: goodness(results[name].scores[name]) for system, results in scored.items()}
        worth = earned["right"] - earned["normal"]
        return {
            "repetition": earned["repetition"] - earned["half"],
            "template": earned["template"] - earned["first"],
            "order": (earned["order"] - earned["normal"]) / worth,
            "contradiction": (earned["contradiction"] - earned["normal"]) / worth,
        }

    return {name: by_hack(name) for name in names}


@pytest.mark.parametrize("spec", GAMED, ids=lambda spec: spec.name)
def test_what_is_declared_pays(spec, pays):
    declared = [hack for hack in spec.hacks if hack in LEAST]
    assert {hack: pays[spec.name][hack] for hack in declared if pays[spec.name][hack] <= LEAST[hack]} == {}


@pytest.mark.parametrize("name", RESIST)
def test_the_metrics_that_are_recommended_resist(name, pays):
    assert set(SPECS[name].hacks).isdisjoint(RESIST[name])
    assert {hack: pays[name][hack] for hack in RESIST[name] if pays[name][hack] > LEAST[hack]} == {}


def test_lexical_metrics_and_pure_encoders_are_declared():
    wording = {"bleu", "rouge", "meteor", "cider", "bertscore", "semb_score", "radeval_bertscore"}
    assert wording <= {spec.name for spec in GAMED}


@pytest.mark.parametrize(
    ("metric", "how", "resist"),
    [
        (
            "bleu",
            "repeating a sentence raises the score; appending normal sentences",
            "finding_score, finding_errors, crepe.",
        ),
        ("semb_score", "in a wrong order keep most of the score", "finding_score, finding_errors, crepe, crimson."),
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
    make_reward("finding_score")
    assert not caplog.records
