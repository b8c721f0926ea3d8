"""Distractors: words outside the lexicon, put into reports without touching a finding.

A network that has only met the words of a lexicon takes every other word for news. Real reports are full of others:
remarks on the picture, hedges, the whole of English. So some texts get phrases of `phrases/distractors.yaml` and words
of WordNet, and keep them only if the reader finds what it found before.
"""

from __future__ import annotations

import re
from functools import cache
from random import Random

from rrgmetrics.backends.wordnet import load_wordnet
from rrgmetrics.comparing import compare
from rrgmetrics.synthesis.edits.sentences import slots
from rrgmetrics.synthesis.grammar import Template, expand, parse
from rrgmetrics.synthesis.phrases import load_phrases
from rrgmetrics.synthesis.readings import reading_of

ADDITIONS = (1, 1, 1, 2, 2, 3, 4)  # how many a text gets
KINDS = {"sentences": 3, "endings": 3, "openings": 1, "words": 3}
ATTEMPTS = 2  # for each addition
SENSES = 2
WORD = re.compile(r"[a-z]{3,12}")
GAP = re.compile(r"(?<=[a-z]) (?=[a-z])")


def add_distractors(text: str, rng: Random) -> str:
    """Returns a report with words that say nothing of its findings; as it was where none would do.

    Example:
        >>> from rrgmetrics.comparing import compare
        >>> from rrgmetrics.reading import read
        >>> text = "Small left pleural effusion. Clear lungs."
        >>> other = add_distractors(text, Random(0))
        >>> other != text, compare(read(text), read(other)).total
        (True, 0)
    """
    before = reading_of(text)
    for _ in range(rng.choice(ADDITIONS)):
        for _ in range(ATTEMPTS):
            more = _added(text, rng)
            if not compare(before, reading_of(more)).errors and not compare(reading_of(more), before).errors:
                text = more
                break
    return text


def _added(text: str, rng: Random) -> str:
    """Returns the text with one addition, anywhere."""
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    places = slots(text)
    if kind == "words":
        gaps = [match.start() for match in GAP.finditer(text)]
        if not gaps:
            return text
        at = rng.choice(gaps)
        return f"{text[:at]} {' '.join(_word(rng) for _ in range(rng.choice((1, 1, 2))))}{text[at:]}"
    phrase = _phrase(kind, rng)
    if not places or kind == "sentences":
        at = rng.choice([slot.end for slot in places] or [len(text)])
        return f"{text[:at].rstrip()} {phrase} {text[at:].lstrip()}".strip()
    slot = rng.choice(places)
    if kind == "openings":
        start = text[slot.start : slot.end]
        return text[: slot.start] + phrase + start[:1].lower() + start[1:] + text[slot.end :]
    end = slot.start + len(text[slot.start : slot.end].rstrip(" .\n"))
    return text[:end] + phrase + text[end:]


def _phrase(kind: str, rng: Random) -> str:
    template = rng.choice(_phrases()[kind])
    written = expand(template, {"w": "\0"}, {}, rng)
    while "\0" in written:
        written = written.replace("\0", _word(rng), 1)
    return written


def _word(rng: Random) -> str:
    return rng.choice(_words())


@cache
def _phrases() -> dict[str, list[Template]]:
    return {kind: [parse(text) for text in texts] for kind, texts in load_phrases("distractors").items()}


@cache
def _words() -> list[str]:
    """Returns the commoner words of WordNet."""
    return sorted(word for word in load_wordnet().words(senses=SENSES) if WORD.fullmatch(word))
