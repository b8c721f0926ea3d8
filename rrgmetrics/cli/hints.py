"""Which of the metrics that were asked for take most of the time, by what was measured of each."""

from __future__ import annotations

from collections.abc import Mapping

from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.progress import duration
from rrgmetrics.utils.text_format import by_number, counted, listed

SLOW = 4.0  # seconds of one core for 1,000 pairs: four times what reading reports costs
WORTH_SAYING = 30.0  # seconds that leaving them out may save


def slow_metrics(n_pairs: Mapping[str, int]) -> str:
    """Says what slow metrics cost beside fast ones; "" where nothing is to be gained.

    Costs are those of `metaeval/measured.yaml`: bundled configurations on one core, each metric alone. Some share
    what they read, so that the fast ones together take at most the sum.

    Args:
        n_pairs: The pairs that each metric is to score; one whose cost was not measured counts for nothing.

    Example:
        >>> slow_metrics({"bleu": 100_000, "rouge": 100_000, "bertscore": 100_000})  # doctest: +ELLIPSIS
        'Slow: bertscore (about ...); the other 2 metrics take at most ... together. --metrics selects metrics.'
    """
    from rrgmetrics.metaeval.advice import seconds

    costs: dict[str, float] = {}
    slow = []
    for text, n in n_pairs.items():
        name = parse_name(text)
        measured = None if name.published else seconds(name.spec.name)
        if measured is not None:
            per_thousand = measured.values["seconds"].value
            costs[text] = per_thousand * n / 1_000
            slow += [text] if per_thousand >= SLOW else []
    slow.sort(key=lambda text: -costs[text])
    fast = [text for text in costs if text not in slow]
    if not slow or not fast or costs[slow[0]] < WORTH_SAYING:
        return ""
    shown = listed([f"{text} (about {duration(costs[text])})" for text in slow])
    verb = by_number(len(fast), "takes", "take")
    others = f"the other {counted(len(fast), 'metric')} {verb} at most {duration(sum(costs[text] for text in fast))}"
    return f"Slow: {shown}; {others} together. --metrics selects metrics."
