"""Directions of keys: higher, lower, and nearest to a target; whoever asks for better asks the key."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rrgmetrics import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Mean
from rrgmetrics.scoring.scope_filter import NOTHING, Gate
from rrgmetrics.specs import Key

UP = Key("up", "Up", (0.0, 1.0), True)
DOWN = Key("down", "Down", (0.0, math.inf), False)
NEAR = Key("near", "Near", (0.0, math.inf), None, target=1.0)


@pytest.mark.parametrize(
    ("key", "better", "arrow", "best"),
    [(UP, "higher", "↑", 1.0), (DOWN, "lower", "↓", 0.0), (NEAR, "closer to 1", "→ 1", 1.0)],
)
def test_words_and_sign(key, better, arrow, best):
    assert (key.better, key.arrow, key.best) == (better, arrow, best)


@pytest.mark.parametrize(("key", "order"), [(UP, [0.0, 0.5, 2.0]), (DOWN, [2.0, 0.5, 0.0]), (NEAR, [3.0, 0.0, 1.25])])
def test_goodness_rises_from_worst_to_best(key, order):
    values = np.array(order)
    assert (np.diff(key.goodness(values)) > 0).all()
    assert [key.goodness(value) for value in order] == key.goodness(values).tolist()
    assert math.isnan(key.goodness(math.nan))


def test_a_key_has_a_direction_or_a_target():
    for higher, target in ((None, None), (True, 1.0)):
        with pytest.raises(InputError, match="either a direction"):
            Key("odd", "Odd", (0.0, 1.0), higher, target=target)


def test_the_worse_of_two_is_the_one_farther_from_the_target():
    gate = Gate([Pair("a b", "x"), Pair("a b", "")], np.array([0]), np.array([1]), ("",))
    for spoken, silent, chosen in ((1.5, 0.0, 1), (3.0, 0.0, 0), (0.2, 0.0, 1)):
        stats = np.array([[spoken], [silent]])
        assert gate.chosen(Mean(("near",)), NEAR, stats).tolist() == [chosen]
    assert NOTHING not in gate.silent_rows


def test_rewards_and_the_best_model():
    from rrgmetrics.callbacks.arguments import best_model
    from rrgmetrics.callbacks.reward import TRANSFORMS

    assert [TRANSFORMS["signed"](score, NEAR) for score in (1.0, 0.5, 2.0)] == [0.0, -0.5, -1.0]
    assert [TRANSFORMS["unit"](score, NEAR) for score in (1.0, 0.0, 2.0)] == [1.0, 0.5, 0.5]
    assert best_model("crepe")["greater_is_better"] is False


def test_pages_say_it_in_words():
    from rrgmetrics.reporting import html, numbers

    assert numbers.in_words(NEAR) == "Closer to 1 is better: 1 is the best; possible are 0 to ∞."
    assert "worst" not in html.headline(NEAR, 0.5)
