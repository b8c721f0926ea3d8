"""Formats numbers and directions in the same way for all output."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from rrgmetrics.specs import Key
from rrgmetrics.stats import Estimate

MINUS = "\N{MINUS SIGN}"
UNSCORED = "not scored"
AT_FLOOR = " (floor)"
DIGITS = 12  # of a number that are no noise of the order in which it was summed
TOLERANCE = 1e-9  # of rounding up: 0.0420000000001 is 0.042


def decimals(key: Key) -> int:
    """The number of decimals that a score is shown with: three up to 1, two beyond."""
    return 3 if key.range[1] <= 1 else 2


def figure(value: float, places: int = 3) -> str:
    """A number with its decimals and a true minus sign; NaN is "not scored".

    Example:
        >>> figure(0.41249), figure(-0.25), figure(-0.0001), figure(float("nan"))
        ('0.412', '−0.250', '0.000', 'not scored')
        >>> figure(2.275, 2), figure(0.6025), figure(0.6024999999999999)  # half rounds up, whatever the last bit is
        ('2.28', '0.603', '0.603')
    """
    if math.isnan(value):
        return UNSCORED
    text = f"{_rounded(value, places):.{places}f}"
    return text.replace("-", MINUS) if float(text) else text.removeprefix("-")


def _rounded(value: float, places: int) -> Decimal | float:
    """A number of so many decimals: a half is rounded up, also where the last bits of the sum make it less."""
    if math.isinf(value):
        return value
    return Decimal(f"{value:.{DIGITS}g}").quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def show(value: float, key: Key) -> str:
    """A score with the decimals of its key."""
    return figure(value, decimals(key))


def signed_figure(value: float, places: int = 3) -> str:
    """A number with its sign, unless it rounds to zero.

    Example:
        >>> signed_figure(0.5, 1), signed_figure(-0.5, 1), signed_figure(0.01, 1)
        ('+0.5', '−0.5', '0.0')
    """
    text = figure(value, places)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def signed(value: float, key: Key) -> str:
    """A difference of scores, with the decimals of their key."""
    return signed_figure(value, decimals(key))


def estimate(score: Estimate, key: Key | None = None, *, places: int = 3) -> str:
    """A value with its interval, with the decimals of its key if it is a score.

    Example:
        >>> estimate(Estimate(0.288, 0.127, 0.461, 20))
        '0.288 [0.127, 0.461]'
    """
    if math.isnan(score.value):
        return UNSCORED
    value, low, high = (figure(end, places if key is None else decimals(key)) for end in score[:3])
    return value if math.isnan(score.low) else f"{value} [{low}, {high}]"


def between(low: float, high: float, key: Key) -> str:
    """The ends of an interval in words: `0.127 to 0.461`."""
    return f"{show(low, key)} to {show(high, key)}"


def bound(value: float) -> str:
    """An end of a range.

    Example:
        >>> bound(-1.0), bound(10.0), bound(float("inf"))
        ('−1', '10', '∞')
    """
    text = "∞" if math.isinf(value) else f"{abs(value):g}"
    return MINUS + text if value < 0 else text


def bounds(key: Key) -> str:
    """The range of a key: `0 to ∞`."""
    return " to ".join(map(bound, key.range))


def floor_note(at_floor: Iterable[bool]) -> str:
    """What "(floor)" means, for the note of a table; "" where no p-value is at its floor."""
    return "(floor): no smaller p is possible with so many trials." if any(at_floor) else ""


def p_value(value: float, *, at_floor: bool = False) -> str:
    """A p-value, or nothing where there is no test.

    Args:
        value: From 0 to 1, corrected or not.
        at_floor: Whether the drawn swaps or resamples could not have given a smaller one: it is rounded up to two
            digits, and says so.

    Example:
        >>> p_value(0.0123), p_value(0.0004), p_value(1 / 10_001, at_floor=True), p_value(42 / 10_001, at_floor=True)
        ('0.012', '<0.001', '≤ 0.0001 (floor)', '≤ 0.0042 (floor)')
    """
    if math.isnan(value):
        return ""
    if at_floor:
        places = 1 - math.floor(math.log10(value))
        least = math.ceil(value * 10**places - TOLERANCE) / 10**places
        return f"≤ {least:.{places}f}".rstrip("0").rstrip(".") + AT_FLOOR
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def direction(key: Key) -> str:
    """Which values are better, in words: `higher is better`."""
    return f"{key.better} is better"


def headed(key: Key) -> str:
    """The head of a score's column: `BLEU-4 ↑`."""
    return f"{key.title} {key.arrow}"


def in_words(key: Key) -> str:
    """Direction and range in a sentence.

    Example:
        >>> from rrgmetrics.specs import SPECS
        >>> in_words(SPECS["crepe"].headline)
        'Lower is better; 0 is the best.'
        >>> in_words(SPECS["crimson"].headline)
        'Higher is better, from −1 (the worst) to 1 (the best).'
    """
    low, high = key.range
    better = direction(key).capitalize()
    if key.target is not None:
        return f"{better}: {bound(key.target)} is the best; possible are {bounds(key)}."
    best, worst = (high, low) if key.higher_is_better else (low, high)
    if math.isinf(best):
        return f"{better}; there is no best." if math.isinf(worst) else f"{better}: {bound(worst)} is the worst."
    if math.isinf(worst):
        return f"{better}; {bound(best)} is the best."
    return f"{better}, from {bound(worst)} (the worst) to {bound(best)} (the best)."
