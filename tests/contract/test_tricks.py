"""No trick beats the report it was made from, in any metric that declares so, of any kind of report that it reads."""

from __future__ import annotations

import pytest

import rrgmetrics
from rrgmetrics.metaeval.tricks import Case, Trick, load_cases, tricks
from rrgmetrics.specs import SPECS

FOLLOW = [name for name, spec in SPECS.items() if spec.resists_tricks and "modality" in spec.options]
REWARDS = {  # by kind of report: all that declare so; of other kinds those that follow the report, or are for it
    "chest_xray": [name for name, spec in SPECS.items() if spec.resists_tricks and name != "mammo_green"],
    "chest_ct": [name for name in FOLLOW if name != "mammo_green"],
    "mammography": FOLLOW,
}
PARTIAL = ("f1_radbert_ct", "nodule_f1")  # see 18 conditions, or nodules alone: a trick may cost them nothing
ROUNDING = 1e-5  # of networks in fp32: the same report in another batch
COSTS = ("contradiction", "babble")  # must be dearer, not only no better
CASES = {pack: load_cases(pack) for pack in REWARDS}
TRICKS = [
    (pack, i, trick) for pack, cases in CASES.items() for i, case in enumerate(cases) for trick in tricks(case, pack)
]
Scores = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def scores() -> Scores:
    """Metric, reference, candidate → score, larger is better."""
    found: Scores = {}
    for kind, names in REWARDS.items():
        names = [*names, *(PARTIAL if kind == "chest_ct" else ())]
        pairs = sorted(
            {(CASES[kind][i].reference, text) for pack, i, trick in TRICKS if pack == kind for text in trick[1:]}
        )
        references, candidates = zip(*pairs, strict=True)
        results = rrgmetrics.score(names, predictions=candidates, references=references, progress=False)
        for name in names:
            assert results[name].n_unscored == 0
            for pair, value in zip(pairs, results[name].per_pair[name], strict=True):
                found[name, *pair] = SPECS[name].headline.goodness(float(value))
    return found


@pytest.mark.parametrize(("pack", "index", "trick"), TRICKS, ids=[f"{p}-{trick.name}-{i}" for p, i, trick in TRICKS])
def test_no_trick_beats_the_report_it_was_made_from(scores: Scores, pack: str, index: int, trick: Trick) -> None:
    reference = CASES[pack][index].reference
    for name in REWARDS[pack]:
        tricked, honest = scores[name, reference, trick.candidate], scores[name, reference, trick.honest]
        assert tricked <= honest + ROUNDING, name
        if trick.name in COSTS:
            assert tricked < honest - ROUNDING, name


@pytest.mark.parametrize(
    ("pack", "case"),
    [(pack, case) for pack, cases in CASES.items() for case in cases],
    ids=[f"{pack}-{i}" for pack, cases in CASES.items() for i in range(len(cases))],
)
def test_the_better_report_scores_better(scores: Scores, pack: str, case: Case) -> None:
    for name in REWARDS[pack]:
        good, mid, empty = (scores[name, case.reference, text] for text in (case.good, case.mid, ""))
        assert good >= mid, name
        assert good > empty, name


@pytest.mark.parametrize("name", PARTIAL)
def test_what_sees_a_part_of_ct_is_gamed_by_what_it_counts_alone(scores: Scores, name: str) -> None:
    """By diseases that are listed or raised where the report lists them too: told in words on the card."""
    won = {
        trick.name
        for pack, index, trick in TRICKS
        if pack == "chest_ct"
        for reference in [CASES[pack][index].reference]
        if scores[name, reference, trick.candidate] > scores[name, reference, trick.honest] + ROUNDING
    }
    assert won <= {"hedges", "assert-all alone", "hedge-all alone"}
