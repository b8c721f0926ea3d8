"""`make_reward`: what TRL calls, and what it gets."""

from __future__ import annotations

import pickle

import pytest

from rrgmetrics.backends.tokens import TextFunction
from rrgmetrics.callbacks import make_reward
from rrgmetrics.callbacks.baselines import TRIVIAL
from rrgmetrics.errors import InputError
from rrgmetrics.scorers.finding_errors import FindingErrors

REFERENCE = "Small left pleural effusion."
WRONG_SIDE = "Small right pleural effusion."


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
    annotate = TextFunction.annotate
    monkeypatch.setattr(TextFunction, "annotate", lambda self, new: texts.extend(new) or annotate(self, new))
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
    ],
)
def test_wrong_set_up(arguments, message):
    with pytest.raises(InputError, match=message):
        make_reward(**arguments)
