"""No trick beats the report it was made from, in any metric that declares so."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics.metaeval.tricks import Case, Trick, load_cases, tricks
from rrgmetrics.specs import SPECS

REWARDS = [name for name, spec in SPECS.items() if spec.resists_tricks]
ROUNDING = 1e-5  # of networks in fp32: the same report in another batch
COSTS = ("contradiction", "babble")  # must be dearer, not only no better
CASES = load_cases()
TRICKS = [(index, trick) for index, case in enumerate(CASES) for trick in tricks(case)]
Scores = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def scores() -> Scores:
    """Metric, reference, candidate → score, larger is better."""
    pairs = sorted({(CASES[index].reference, text) for index, trick in TRICKS for text in trick[1:]})
    references, candidates = zip(*pairs, strict=True)
    results = rrgmetrics.score(list(REWARDS), predictions=candidates, references=references, progress=False)
    return {
        (name, *pair): SPECS[name].headline.goodness(float(value))
        for name in REWARDS
        for pair, value in zip(pairs, results[name].per_pair[name], strict=True)
    }


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize(("index", "trick"), TRICKS, ids=[f"{trick.name}-{index}" for index, trick in TRICKS])
def test_no_trick_beats_the_report_it_was_made_from(scores: Scores, name: str, index: int, trick: Trick) -> None:
    reference = CASES[index].reference
    tricked, honest = scores[name, reference, trick.candidate], scores[name, reference, trick.honest]
    assert tricked <= honest + ROUNDING
    if trick.name in COSTS:
        assert tricked < honest - ROUNDING


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_better_report_scores_better(scores: Scores, name: str, case: Case) -> None:
    good, mid, empty = (scores[name, case.reference, text] for text in (case.good, case.mid, ""))
    assert good >= mid
    assert good > empty
