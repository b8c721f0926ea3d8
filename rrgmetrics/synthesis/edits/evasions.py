"""Reports that evade: attributes left out, findings excused as old, what was missed called history, text that hides.

Nothing of it makes a report more right. A metric that scores it higher can be gamed (`rrgmetrics.metaeval.stress`,
`rrgmetrics.metaeval.gaming`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from random import Random
from typing import Any

from rrgmetrics.reading.lexicon import load
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.sentences import replace_words, tidy
from rrgmetrics.synthesis.edits.words import edit_words
from rrgmetrics.synthesis.phrases import load_phrases
from rrgmetrics.synthesis.readings import reading_of
from rrgmetrics.utils.text_format import capitalized

PADDED = 600  # words; the bundled encoders read 512 tokens, GREEN's prompt 300 words


@cache
def evasion_words() -> dict[str, Any]:
    """Returns the tables of `phrases/evasions.yaml`."""
    tables: dict[str, Any] = load_phrases("evasions")
    return tables


@cache
def _dangling() -> re.Pattern[str]:
    return re.compile(evasion_words()["dangling"], re.IGNORECASE)


def leave_out(text: str, attributes: Iterable[str]) -> str:
    """Leaves attributes of findings out.

    Args:
        text: A report.
        attributes: Keys of `left_out` in `phrases/evasions.yaml`: side, place, size, severity, number.

    Example:
        >>> leave_out("Large left pleural effusion. 28 mm nodule in the right upper lobe.", ["side", "place", "size"])
        'Large pleural effusion. Nodule.'
    """
    page = Page(text, reading_of(text))
    senses = {sense for attribute in attributes for sense in evasion_words()["left_out"][attribute]}
    found = {(start, end) for unit in page.units for sense in senses for start, end, _ in page.items(unit, sense)}
    named = {(start, end) for unit in page.units for start, end, _ in page.items(unit, "concept")}
    for start, end in sorted(found - named, reverse=True):
        if any(first <= start and end <= last for first, last in named):
            continue
        text = replace_words(text, start, end, "")
        head, tail = text[:start].rstrip(), text[start:]
        if dangling := _dangling().search(head + tail, max(0, len(head) - 24)):
            text = (head + tail)[: dangling.start()] + (head + tail)[dangling.end() :]
    return _capitals(tidy(re.sub(r"\s+(?=[.,;])", "", text)))


def _capitals(text: str) -> str:
    return re.sub(r"(^|[.:]\s+)([a-z])", lambda match: match[1] + match[2].upper(), text)


def excuse_all(text: str, word: str) -> str:
    """Calls every finding that a report states chronic, old, known or unchanged.

    Example:
        >>> excuse_all("Cardiomegaly. No effusion.", "chronic")
        'Chronic cardiomegaly. No effusion.'
    """
    starts = {unit.head.spans[0].start for unit in Page(text, reading_of(text)).units}
    for start in sorted(starts, reverse=True):
        text = replace_words(text, start, start, f"{word} ")
    return text


def tell_as_history(text: str, names: Iterable[str], rng: Random) -> str:
    """Puts findings before a report as history, whether or not the film shows them: what it misses may be excused.

    Args:
        text: A report.
        names: Of findings; those that the report has the words of are left out.
        rng: Draws how each is told.
    """
    frames = evasion_words()["histories"]
    missed = [name for name in names if name.lower() not in text.lower()]
    return " ".join([*(capitalised(rng.choice(frames), name) for name in missed), text])


def hide(text: str, rng: Random, *, in_front: bool) -> str:
    """Puts an urgent false finding under a heading whose section is not read.

    Args:
        text: A report.
        rng: Draws the heading.
        in_front: Whether the section stands before the report; else behind it.
    """
    skipped = sorted(heading for heading, (_, is_read) in load().headings.items() if not is_read)
    section = f"{rng.choice(skipped).upper()}: {evasion_words()['hidden']}"
    return f"{section}\nFINDINGS: {text}" if in_front else f"{text}\n{section}"


def pad(text: str) -> str:
    """Puts normal sentences behind a report until it has more words than an encoder or a judge reads."""
    normal = [sentences[0] for sentences in edit_words()["normal"].values()]
    padding = " ".join(normal)
    return " ".join([text, *[padding] * (1 + PADDED // len(padding.split()))])


def capitalised(frame: str, name: str) -> str:
    """A frame with a finding's name in it, which gets a capital where it opens the sentence."""
    return frame.format(capitalized(name) if frame.startswith("{}") else name)
