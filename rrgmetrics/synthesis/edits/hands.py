"""A report as another hand writes it: terse, narrative, abbreviated, mistyped, in other spellings, or full of doubt.

Unlike a paraphrase nobody checks that nothing changed: whoever labels the pair reads the text as it now stands.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.style import abbreviate, hedge_all, make_narrative, make_terse, mistype
from rrgmetrics.synthesis.generator.writer import respell_all
from rrgmetrics.synthesis.readings import reading_of

HANDS: dict[str, tuple[float, Callable[[str, Random], str]]] = {
    "terse": (3, lambda text, rng: make_terse(text)),
    "narrative": (2, lambda text, rng: make_narrative(Page(text, reading_of(text)), rng)),
    "abbreviated": (2, lambda text, rng: abbreviate(text)),
    "mistyped": (2, mistype),
    "respelled": (2, lambda text, rng: respell_all(text)),
    "hedged": (0.7, lambda text, rng: hedge_all(text)),
}
SECOND = 0.3  # how often a text is changed twice


def in_another_hand(text: str, rng: Random) -> str:
    """Returns a report in other handwriting, so to say; as it was where nothing can be changed.

    Example:
        >>> in_another_hand("There is a small left pleural effusion.", Random(7))
        'Small left pleural effusion.'
    """
    weights = [weight for weight, _ in HANDS.values()]
    for _ in range(1 + (rng.random() < SECOND)):
        _, edit = rng.choices(list(HANDS.values()), weights)[0]
        text = edit(text, rng)
    return text
