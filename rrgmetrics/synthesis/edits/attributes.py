"""Errors of categories C to F put into a report: a finding's place, severity, size, certainty or change is another."""

from __future__ import annotations

import re
from random import Random

from rrgmetrics.comparing.model import Unit
from rrgmetrics.reading.lexicon import load
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.sentences import replace_words
from rrgmetrics.synthesis.edits.words import edit_words, english_pattern, words_pattern

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
STEPS_APART = 2  # of severity, or along a device's path: what the reader counts


def _swapped(page: Page, unit: Unit, table: str, rng: Random) -> str:
    """Returns the text with other words of a table in the words of an observation."""
    words = edit_words()[table]
    matches = {m.span() for span in unit.spans for m in words_pattern(table).finditer(page.text, *span)}
    text, chosen = page.text, dict[str, str]()
    for start, end in sorted(matches, reverse=True):
        old = text[start:end].lower()
        choice = words[old]
        new = chosen.setdefault(old, rng.choice(choice) if isinstance(choice, list) else choice)
        text = replace_words(text, start, end, new)
    return text


def other_side(page: Page, unit: Unit, rng: Random) -> str | None:
    """Makes left right, and bilateral one of both."""
    if unit.side is None:
        return None
    text = _swapped(page, unit, "sides", rng)
    for wrong, right in edit_words()["side_repairs"].items():
        text = re.sub(wrong, right, text, flags=re.IGNORECASE)
    return text


def other_zone(page: Page, unit: Unit, rng: Random) -> str | None:
    """Makes upper lower, and apical basilar."""
    if not unit.zones or load().concepts[unit.head.concept].group == "devices":
        return None
    return _swapped(page, unit, "zones", rng)


def other_level(page: Page, unit: Unit, rng: Random) -> str | None:
    """Says that a rib or a vertebra is another one."""
    return _swapped(page, unit, "levels", rng) if any(finding.levels for finding in unit.readings) else None


def other_tip(page: Page, unit: Unit, rng: Random) -> str | None:
    """Says that the tip of a device lies elsewhere on its path."""
    tips = [tip for tip in page.items(unit, "tip") if page.text[: tip[0]].lower().endswith("the ")]
    if not tips:
        return None
    start, end, site = rng.choice(tips)
    path, order, _ = load().tips[site]
    far = [
        name
        for name, (other, there, _) in load().tips.items()
        if other == path and abs(there - order) >= STEPS_APART and name in edit_words()["tips"]
    ]
    return replace_words(page.text, start, end, edit_words()["tips"][rng.choice(far)]) if far else None


def bad_position(page: Page, unit: Unit, rng: Random) -> str | None:
    """Says of a well placed device that it is badly placed."""
    for start, end, value in page.items(unit, "position"):
        words = page.text[start:end].lower()
        if value == "good" and words.endswith("position"):
            held = "in " if words.startswith("in ") else ""
            return replace_words(page.text, start, end, f"{held}{rng.choice(edit_words()['bad_positions'])}")
        if value == "good" and words.endswith("positioned"):
            return replace_words(page.text, start, end, edit_words()["badly_positioned"])
    return None


def other_severity(page: Page, unit: Unit, rng: Random) -> str | None:
    """Makes mild severe, and large small: two steps of the reader's scale at least."""
    graded = {match.span() for span in unit.spans for match in words_pattern("severity").finditer(page.text, *span)}
    if not graded:
        return None
    start, end = rng.choice(sorted(graded))
    old = page.text[start:end].lower()
    scales = [scale for scale in edit_words()["severity"] if old in scale]
    scale = scales[-1] if unit.head.concept in edit_words()["sized"] else scales[0]
    far = [word for word, step in scale.items() if abs(step - scale[old]) >= STEPS_APART]
    return replace_words(page.text, start, end, rng.choice(far)) if far else None


def other_size(page: Page, unit: Unit, rng: Random) -> str | None:
    """Makes a measurement two or three times as large, or as small."""
    factor = rng.choice([1 / 3, 0.4, 0.5, 2.0, 2.5, 3.0])
    text = page.text
    for start, end, _ in sorted(set(page.items(unit, "measure")), reverse=True):
        sizes = _NUMBER.sub(lambda m: f"{float(m[0]) * factor:.{len(m[0].partition('.')[2])}f}", text[start:end])
        text = text[:start] + sizes + text[end:]
    return text


def hedge(page: Page, unit: Unit, rng: Random) -> str | None:
    """Says of a finding that was certain that it is only possible."""
    start, end = unit.head.spans[0]
    if unit.head.certainty != "definite" or len(unit.spans) > 1 or _is_statement(page, start, end):
        return None
    return replace_words(page.text, start, start, f"{rng.choice(edit_words()['hedges'])} ")


def compared(page: Page, unit: Unit, rng: Random) -> str | None:
    """Says that a finding has changed since a study that the report does not speak of."""
    if any(finding.change for finding in unit.readings):
        return None
    start, end = unit.spans[0]
    n = 1 if load().concepts[unit.head.concept].group == "devices" else None  # a device is new, it does not increase
    if page.text[end : end + 1] in (".", "") and rng.random() < 0.6:
        return page.text[:end] + str(rng.choice(edit_words()["comparisons_after"][:n])) + page.text[end:]
    if _is_statement(page, start, end) or english_pattern("held").search(page.text[:start].rstrip()):
        return None
    return replace_words(page.text, start, start, f"{rng.choice(edit_words()['comparisons_before'][:n])} ")


def _is_statement(page: Page, start: int, end: int) -> bool:
    """Whether words hold a verb, so that no word fits before them."""
    return english_pattern("predicate").search(page.text, start, end) is not None


def other_change(page: Page, unit: Unit, rng: Random) -> str | None:
    """Says that what increased has decreased."""
    return _swapped(page, unit, "changes", rng) if any(f.change for f in unit.readings) else None


def forget_change(page: Page, unit: Unit, rng: Random) -> str | None:
    """Leaves out that a finding has changed."""
    text = page.text
    for start, end, value in sorted(set(page.items(unit, "change")), reverse=True):
        if value == "stable":
            continue
        since = english_pattern("since").match(text, end)
        end = since.end() if since else end
        start -= len(text[:start]) - len(text[:start].rstrip(" ,")) if text[end : end + 1] in (".", ",", ";", "") else 0
        if english_pattern("held").search(text[:start]) or english_pattern("holds").match(text, end):
            return None
        text = replace_words(text, start, end, "")
    return text
