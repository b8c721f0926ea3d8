"""The same error less and more grave: the next severity and the farthest, a size doubled and trebled, a tip moved on.

Each edit returns texts from the least to the gravest, all wrong in the same direction.
"""

from __future__ import annotations

import re
from random import Random

from rrgmetrics.comparing.model import Unit
from rrgmetrics.reading.lexicon import load
from rrgmetrics.synthesis.edits.attributes import STEPS_APART
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.sentences import replace_words
from rrgmetrics.synthesis.edits.words import edit_words, words_pattern

FACTORS = (2, 3)  # of a size
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def severities(page: Page, unit: Unit, rng: Random) -> list[str]:
    """Makes mild moderate, and severe: two and more steps of the reader's scale, up or down."""
    found = (match for span in unit.spans for match in words_pattern("severity").finditer(page.text, *span))
    graded = sorted({match.span() for match in found if not _is_in_a_range(page.text, *match.span())})
    if not graded:
        return []
    start, end = rng.choice(graded)
    old = page.text[start:end].lower()
    scales = [scale for scale in edit_words()["severity"] if old in scale]
    scale = scales[-1] if unit.head.concept in edit_words()["sized"] else scales[0]
    return [replace_words(page.text, start, end, word) for word in _ladder(scale, scale[old], rng)]


def sizes(page: Page, unit: Unit, rng: Random) -> list[str]:
    """Makes a measurement two, and three times as large."""
    spans = sorted({(start, end) for start, end, _ in page.items(unit, "measure")}, reverse=True)
    texts = []
    for factor in FACTORS if spans else ():
        text = page.text
        for start, end in spans:
            text = text[:start] + _scaled(text[start:end], factor) + text[end:]
        texts.append(text)
    return texts


def tips(page: Page, unit: Unit, rng: Random) -> list[str]:
    """Says that the tip of a device lies farther along its path, and farther still."""
    here = [tip for tip in page.items(unit, "tip") if page.text[: tip[0]].lower().endswith("the ")]
    if not here:
        return []
    start, end, site = rng.choice(here)
    path, order, _ = load().tips[site]
    words = edit_words()["tips"]
    scale = {words[name]: there for name, (other, there, _) in load().tips.items() if other == path and name in words}
    return [replace_words(page.text, start, end, word) for word in _ladder(scale, order, rng)]


def _ladder(scale: dict[str, int], here: int, rng: Random) -> list[str]:
    """The nearest and the farthest word on one side of a step of a scale, at least what the reader counts away."""
    sides = [
        {word: abs(step - here) for word, step in scale.items() if sign * (step - here) >= STEPS_APART}
        for sign in (1, -1)
    ]
    possible = [side for side in sides if len(set(side.values())) > 1] or [side for side in sides if side]
    if not possible:
        return []
    side = rng.choice(possible)
    return [
        rng.choice([word for word, away in side.items() if away == at])
        for at in sorted({min(side.values()), max(side.values())})
    ]


def _is_in_a_range(text: str, start: int, end: int) -> bool:
    """Whether a word is one end of "mild to moderate"."""
    return bool(re.search(r"\bto $", text[:start]) or re.match(r" to\b", text[end:]))


def _scaled(words: str, factor: int) -> str:
    return _NUMBER.sub(lambda m: f"{float(m[0]) * factor:.{len(m[0].partition('.')[2])}f}", words)
