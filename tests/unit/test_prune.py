"""benchmarks/prune.py: the totals of the frozen set, and what an invented pair pays for each rule."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from benchmark import benchmark

from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import load

EXACT, KINDS = 0.56, 0.46  # 56.5% and 46.5% when it was frozen
ROWS = (
    {
        "reference": "Increasing left effusion. No pneumothorax.",
        "candidate": "Left effusion. Pneumothorax.",
        "expected": {"A": 1, "F": 1},
    },
    {"reference": "The heart is enlarged.", "candidate": "Cardiomegaly.", "expected": {}},
)


@pytest.fixture(scope="module")
def prune() -> ModuleType:
    return benchmark("prune")


def test_the_frozen_set_is_read_as_well_as_it_was(prune: ModuleType) -> None:
    outcomes = [prune.outcome(row) for row in prune.frozen_pairs()]
    assert sum(each.exact for each in outcomes) / len(outcomes) >= EXACT
    assert sum(each.kinds for each in outcomes) / len(outcomes) >= KINDS


def test_a_changed_set_is_refused(prune: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pairs.jsonl").write_text("{}\n", encoding="utf-8")
    monkeypatch.setattr(prune, "FROZEN_PAIRS", tmp_path / "pairs.jsonl")
    with pytest.raises(ValueError, match="is not what it was"):
        prune.frozen_pairs()


def test_each_rule_has_the_pairs_in_which_it_acts_and_its_cost(prune: ModuleType) -> None:
    before = [prune.outcome(row) for row in ROWS]
    assert [(each.exact, each.kinds) for each in before] == [(True, True), (True, True)]
    rules = {rule.name: rule for rule in prune.function_rules(ROWS)}
    course, composed = rules["change.give_changes"], rules["composition.compose"]
    assert (course.acts, composed.acts) == ([0], [1])
    assert prune.cost(course, ROWS, before) == prune.Cost(read=1, exact=-1, kinds=-1, off=1)
    assert prune.cost(composed, ROWS, before) == prune.Cost(read=1, exact=-1, kinds=-1, off=1)
    assert rules["change.settle_changes"].acts == [0, 1]
    assert prune.cost(rules["change.settle_changes"], ROWS, before) == prune.Cost(0, 0, 0, 0)


def test_words_can_be_turned_off_and_are_there_again(prune: ModuleType) -> None:
    before = [prune.outcome(row) for row in ROWS]
    rules = {rule.name: rule for rule in prune.word_rules(ROWS)}
    reading = read("No pneumothorax.")
    assert prune.cost(rules["cues.negation_before"], ROWS, before).kinds == -1
    assert prune.cost(rules["context_rules.absent.before"], ROWS, before).kinds == -1
    assert prune.cost(rules["small_words.sizes"], ROWS, before) == prune.Cost(0, 0, 0, 0)
    assert load().small.sizes
    assert read("No pneumothorax.") == reading


def test_only_totals_are_printed(
    prune: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "chosen_pairs", lambda name: ROWS)
    prune.main(["--at-most", "1"])
    printed = capsys.readouterr().out
    assert "frozen       n=2 exact 100.0% kinds 100.0%" in printed
    assert "composition.compose" in printed
    assert not any(word in printed for row in ROWS for word in ("effusion", "Cardiomegaly"))
