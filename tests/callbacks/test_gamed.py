"""Vague reports, excuses, constant texts and additions: what pays as measured is declared as a hack."""

from __future__ import annotations

import pytest

from rrgmetrics.callbacks import make_reward
from rrgmetrics.metaeval.gaming.report import SEARCHED
from rrgmetrics.metaeval.gaming.stored import stored_gaming
from rrgmetrics.specs import SPECS

STORED = stored_gaming()


@pytest.mark.parametrize("name", STORED.metrics)
def test_what_pays_is_declared_and_nothing_else(name):
    declared = [hack for hack in SPECS[name].hacks if hack in SEARCHED]
    assert declared == list(STORED.metrics[name].hacks)


def test_make_reward_warns_of_what_a_search_found(caplog):
    gamed = next(name for name, spec in SPECS.items() if {*spec.hacks} & {*SEARCHED})
    make_reward(gamed)
    assert caplog.records[0].getMessage().startswith(f"{gamed} can be gamed as a reward: ")
