"""How much an error counts, in the words of every page, terminal, figure and trace."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.utils.text_format import by_number, counted


def weight_words(significant: bool | None, part: float) -> str:
    """Whether an error is significant, and which part of one it is; "" for a whole one where nobody says.

    Example:
        >>> weight_words(True, 1), weight_words(False, 0.25), weight_words(None, 1)
        ('significant', 'not significant, 0.25 of an error', '')
    """
    matters = {True: "significant", False: "not significant", None: ""}[significant]
    return ", ".join(filter(None, (matters, f"{part:g} of an error" if part < 1 else "")))


def left_out_words(errors: Sequence[tuple[float, bool]]) -> str:
    """How many attributes are left out and what they count, behind the number of errors; "" if there are none.

    Args:
        errors: The part and the significance of each error.

    Example:
        >>> left_out_words([(1, True), (0.5, True), (0.25, False)])
        '; 2 attributes left out, which count as 0.75 errors (0.5 significant)'
    """
    parts = [(part, significant) for part, significant in errors if part < 1]
    if not parts:
        return ""
    weight, matters = (round(sum(part for part, counts in parts if counts or not only), 2) for only in (False, True))
    verb, noun = by_number(len(parts), "counts", "count"), "error" if weight == 1 else "errors"
    return f"; {counted(len(parts), 'attribute')} left out, which {verb} as {weight:g} {noun} ({matters:g} significant)"
