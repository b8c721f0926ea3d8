"""Numbers as they leave the board: rounded to what its page shows, whichever way they take.

A score of full precision tells whether one word stands in any hidden reference: a submission that differs from another
in that word alone differs in the seventh decimal. So everything is rounded before it is ranked, compared or handed out;
of two systems whose numbers are shown alike, nothing says which is ahead.
"""

from __future__ import annotations

from dataclasses import replace

from rrgmetrics.baselines.collapse import Collapse
from rrgmetrics.reporting.numbers import decimals
from rrgmetrics.specs import Key
from rrgmetrics.stats import Estimate, PairedTest

P_DECIMALS, EFFECT_DECIMALS, SHARE_DECIMALS, LENGTH_DECIMALS = 3, 2, 3, 1


def number(value: float, key: Key) -> float:
    """A score as it is shown; NaN stays."""
    return round(value, decimals(key)) + 0.0  # no -0.0, which has a sign


def estimate(score: Estimate, key: Key) -> Estimate:
    """A score and the ends of its interval."""
    value, low, high, n = score
    return Estimate(number(value, key), number(low, key), number(high, key), n)


def comparison(test: PairedTest, key: Key) -> PairedTest:
    """A paired comparison, its p-value still exact, for it is corrected next; 1 where both numbers are shown alike."""
    baseline, system = number(test.baseline, key), number(test.system, key)
    value = number(_distance(system, key) - _distance(baseline, key), key)
    _, low, high, n = estimate(test.difference, key)
    difference = Estimate(value, min(low, value), max(high, value), n)
    return replace(
        test,
        baseline=baseline,
        system=system,
        difference=difference,
        effect_size=round(test.effect_size, EFFECT_DECIMALS) + 0.0 if difference.value else 0.0,
        p_value=test.p_value if difference.value else 1.0,
    )


def _distance(value: float, key: Key) -> float:
    """What `PairedTest.difference` compares: a score, or its distance from the key's target."""
    return value if key.target is None else abs(value - key.target)


def collapse(found: Collapse) -> Collapse:
    """How different reports are, as tables have it, and without the commonest report, which may be a reference."""
    own, references = (
        each._replace(
            commonest="",
            commonest_share=round(each.commonest_share, SHARE_DECIMALS),
            mean_words=round(each.mean_words, LENGTH_DECIMALS),
            self_similarity=round(each.self_similarity, EFFECT_DECIMALS),
        )
        for each in (found.own, found.references)
    )
    return replace(found, own=own, references=references)


def p_value(value: float) -> float:
    """A p-value to three decimals; what is shown as "<0.001" is 0."""
    return 0.0 if value < 10**-P_DECIMALS else round(value, P_DECIMALS)
