"""`make_reward`: what TRL calls, and what it gets."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rrgmetrics.backends.reader import ReaderBackend
from rrgmetrics.callbacks import make_reward
from rrgmetrics.callbacks.baselines import TRIVIAL
from rrgmetrics.callbacks.scale import UnitScale
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.stress.stored import stored_stress
from rrgmetrics.scorers.finding_errors import FindingErrors
from rrgmetrics.specs import SPECS
from rrgmetrics.specs.names import parse_name

ROOT = Path(__file__).parents[2]

REFERENCE = "Small left pleural effusion."
WRONG_SIDE = "Small right pleural effusion."


def test_what_is_no_completion_and_no_table_is_an_error_that_names_it():
    reward = make_reward("finding_errors", reference="report")
    for wrong in (1, [1], {"role": "assistant"}):
        with pytest.raises(InputError, match=r"completions\[0\] is .*; pass a text, or a conversation"):
            reward(completions=[wrong], report=[REFERENCE])
    with pytest.raises(InputError, match="has no column 'report'; it has text"):
        reward.check([{"text": REFERENCE}])
    with pytest.raises(InputError, match="dataset is 3"):
        reward.check(3)


def test_any_table_can_be_checked(caplog):
    make_reward("finding_errors", reference="report").check([{"report": REFERENCE}, {"report": None}])
    assert "1 of 2 references cannot be scored: the reference is missing (1)." in caplog.text


def halve(score: float) -> float:
    return score / 2


@pytest.mark.parametrize(
    ("metric", "arguments", "expected"),
    [
        ("finding_errors", {}, [0.0, -1.0]),
        ("finding_errors", {"transform": "unit"}, [1.0, 0.5]),
        ("finding_errors", {"transform": "none"}, [0.0, 1.0]),
        ("finding_errors", {"transform": halve}, [0.0, 0.5]),
        ("finding_errors", {"key": "finding_errors_missing_finding"}, [0.0, 0.0]),
        ("green", {}, [1.0, 0.5]),
        ("green", {"key": "green_incorrect_location", "transform": "unit"}, [1.0, 0.5]),
        ("rouge", {"key": "rouge_1"}, [1.0, 0.75]),
    ],
)
def test_more_is_better(metric, arguments, expected):
    function = make_reward(metric, **arguments)
    assert function(completions=[REFERENCE, WRONG_SIDE], reference=[REFERENCE] * 2) == expected


@pytest.mark.parametrize("name", [name for name in stored_stress().metrics if not SPECS[name].corpus_statistics])
def test_the_unit_scale_is_1_for_the_best_and_half_for_another_patients_report(name):
    """1 for the best score, ½ for what another patient's report scores; never more for a worse score."""
    key = SPECS[name].headline
    scale = UnitScale.of(parse_name(name), key)
    assert (scale(scale.best), scale(scale.other)) == (1.0, 0.5)
    worse = [scale(scale.best + part * (scale.other - scale.best)) for part in (-0.1, 0, 0.01, 0.5, 1, 2, 10)]
    assert worse == sorted(worse, reverse=True)
    assert len(set(worse)) == 6
    assert 0 < worse[-1] < 0.001


def test_rewards_of_one_scale_are_comparable_and_say_it():
    scaled = [make_reward(metric, scale="unit") for metric in ("finding_errors", "green", "rouge")]
    texts = {"completions": [REFERENCE, WRONG_SIDE, "Large right pneumothorax."], "reference": [REFERENCE] * 3}
    for reward in scaled:
        earned = reward(**texts)
        assert earned == sorted(earned, reverse=True)
        assert earned[0] == 1
        assert 0.2 < earned[2] < earned[1] < 0.9
        assert "|scale:2^-(loss/" in reward.signature
        assert "UnitScale(best=" in repr(reward)
        assert pickle.loads(pickle.dumps(reward))(**texts) == earned
    assert "|transform:signed|scale:none|" in make_reward("green").signature


def test_crepe_prefers_the_reference():
    right, wrong = make_reward("crepe")(completions=[REFERENCE, WRONG_SIDE], reference=[REFERENCE] * 2)
    assert 0 >= right > wrong


def test_every_kind_of_completion_and_column():
    function = make_reward("rouge", reference="report")
    turns = [
        [{"role": "assistant", "content": REFERENCE}],
        [{"role": "assistant", "content": [{"type": "text", "text": REFERENCE}]}],
    ]
    columns = {"prompts": ["?"] * 2, "completion_ids": [[1]] * 2, "trainer_state": None, "images": [None] * 2}
    assert function(completions=turns, report=[REFERENCE] * 2, **columns) == [1.0, 1.0]
    with pytest.raises(InputError, match="no column 'report'"):
        function(completions=["a"], reference=["a"])


def test_context_columns_are_the_patients_context():
    """Aortic atherosclerosis is expected in the old: no significant error there."""
    function = make_reward("finding_errors", key="finding_errors_significant")
    texts = {"completions": ["No pneumothorax."] * 2, "reference": ["No pneumothorax."] * 2}
    assert function(**texts, age=["080Y", ""]) == [0, 0]
    with pytest.raises(InputError, match="age"):
        function(**texts, age=["old", "young"])


def test_unscored(monkeypatch):
    def nothing(self, references, *_):
        import numpy as np

        return np.full((len(references), 8), np.nan)

    monkeypatch.setattr(FindingErrors, "pair_stats", nothing)
    texts = {"completions": ["a"], "reference": ["b"]}
    assert make_reward("finding_errors")(**texts) == [None]
    assert make_reward("finding_errors", unscored=-5)(**texts) == [-5.0]
    with pytest.raises(InputError, match=r"completions\[0\]"):
        make_reward("finding_errors", unscored="raise")(**texts)


def test_names_are_distinct_and_pickles_work():
    rewards = [make_reward("green"), make_reward("green", key="green_errors"), make_reward("bleu?tokenizer=13a")]
    assert [function.__name__ for function in rewards] == ["green", "green_errors", "bleu__tokenizer_13a"]
    assert make_reward("green", name="mine").__name__ == "mine"
    copy = pickle.loads(pickle.dumps(rewards[1]))
    assert copy.__name__ == "green_errors"
    assert copy(completions=[WRONG_SIDE], reference=[REFERENCE]) == [-1.0]


@pytest.mark.parametrize("metric", ["finding_errors", "green"])
def test_a_reference_is_read_once_and_a_pair_scored_once(monkeypatch, metric):
    texts: list[str] = []
    annotate = ReaderBackend.annotate
    monkeypatch.setattr(ReaderBackend, "annotate", lambda self, new: texts.extend(new) or annotate(self, new))
    total, one = make_reward(metric), make_reward(metric, key=f"{metric}_missing_finding")
    for candidate in ("Clear lungs.", WRONG_SIDE, WRONG_SIDE):
        total(completions=[candidate] * 2, reference=[REFERENCE] * 2)
        one(completions=[candidate] * 2, reference=[REFERENCE] * 2)
    assert sorted(texts) == sorted([REFERENCE, "Clear lungs.", WRONG_SIDE, *TRIVIAL])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "crape"}, "crape"),
        ({"metric": "green", "key": "errors"}, "green_errors"),
        ({"metric": "cider"}, "depends on the other pairs"),
        ({"metric": "green", "transform": "log"}, "transform"),
        ({"metric": "green", "key": "green_matched_findings", "transform": "unit"}, "unit"),
        ({"metric": "green", "unscored": "zero"}, "unscored"),
        ({"metric": "green", "scale": "log"}, "scale is 'log'"),
        ({"metric": "green", "scale": "unit", "transform": "none"}, "pass one of them"),
        ({"metric": "green", "key": "green_errors", "scale": "unit"}, "headlines of default configurations"),
        ({"metric": "rouge", "key": "rouge_1", "scale": "unit"}, "rouge_1 has no 'unit' scale"),
    ],
)
def test_wrong_set_up(arguments, message):
    with pytest.raises(InputError, match=message):
        make_reward(**arguments)
