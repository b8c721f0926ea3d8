"""Vague reports, excuses, constant texts and additions: what is declared as a hack pays, and the others do not."""

from __future__ import annotations

import pytest

from rrgmetrics.callbacks import make_reward, reward
from rrgmetrics.metaeval.gaming import game, generated_studies
from rrgmetrics.metaeval.gaming.report import SEARCHED
from rrgmetrics.metaeval.gaming.stored import stored_gaming
from rrgmetrics.metaeval.gaming.tricks import all_tricks
from rrgmetrics.specs import SPECS

EVASIONS = [name for name in all_tricks() if name.startswith(("vague", "excused", "history"))]
STORED = stored_gaming()


QUICK = "finding_errors"  # the metric whose measurement is made anew in the quick run


def fresh(name):
    """What the evasions pay on studies that are not those of the stored measurement."""
    studies = generated_studies(48, seed=7)
    return game([name], studies, steps=0, tricks=EVASIONS, trials=500, progress=False).metrics[name]


@pytest.mark.parametrize("name", STORED.metrics)
def test_what_pays_is_declared_and_nothing_else(name):
    declared = [hack for hack in SPECS[name].hacks if hack in SEARCHED]
    assert declared == list(STORED.metrics[name].hacks)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != QUICK)) for name in reward.RECOMMENDED]
)
def test_recommended_metrics_resist_what_they_do_not_declare(name):
    assert set(fresh(name).hacks) <= set(SPECS[name].hacks)


def test_make_reward_warns_of_what_a_search_found(caplog):
    gamed = next(name for name, spec in SPECS.items() if {*spec.hacks} & {*SEARCHED})
    make_reward(gamed)
    assert caplog.records[0].getMessage().startswith(f"{gamed} can be gamed as a reward: ")
