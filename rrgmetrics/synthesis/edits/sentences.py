"""The sentences of a report as slots of its text, and edits that keep everything around them as it was.

Slots are the sentences that the reader reads: headings, and sections that hold no observations (indication, technique,
recommendation), belong to no slot and stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from rrgmetrics.reading.lexicon import DEFAULT_PACK, load
from rrgmetrics.reading.tokens import sentences as reader_sentences
from rrgmetrics.synthesis.readings import tokens_of
from rrgmetrics.utils.text_format import capitalized

_NUMBERED = re.compile(r"(?:(?<=\n)|(?<=^)|(?<=:\s))\s*\d{1,2}[.)][ \t]*(?=\n|$)")  # an enumerator left alone
_SPACES = re.compile(r"[ \t]{2,}")
_LINE_ENDS = re.compile(r"[ \t]+\n")
_BLANK_LINES = re.compile(r"\n{3,}")
_ARTICLE = re.compile(r"\b([Aa])(n?)( +)$")
_VOWELS = frozenset("aeiou")
ABBREVIATION = 4  # letters at most, all capitals ("LLL"); longer words in capitals stand in a report in capitals


class Slot(NamedTuple):
    """Characters `[start, end)` of one sentence, its full stop included, and its section."""

    start: int
    end: int
    section: str


def slots(text: str, pack: str = DEFAULT_PACK) -> list[Slot]:
    """Returns the sentences of a report that the reader reads, in order; a lone enumerator ("2.") is none."""
    lexicon = load(pack)
    tokens = tokens_of(text, pack)
    sentences = []
    for first, last, section in reader_sentences(text, tokens, lexicon.headings, lexicon.small.abbreviations):
        start, end = tokens[first].start, tokens[last - 1].end
        if any(token.word[0].isalpha() for token in tokens[first:last]):
            sentences.append(Slot(start, end + (text[end : end + 1] in (".", "!", "?")), section))
    return sentences


def tidy(text: str) -> str:
    """Returns a text without the traces of a cut: double spaces, empty lines, enumerators of nothing.

    >>> tidy("Clear lungs.  No effusion. ")
    'Clear lungs. No effusion.'
    """
    text = _NUMBERED.sub("", text)
    return _BLANK_LINES.sub("\n\n", _LINE_ENDS.sub("\n", _SPACES.sub(" ", text))).strip()


def rewrite(text: str, new: Mapping[Slot, str]) -> str:
    """Returns a text with other sentences in some of its slots; "" takes a sentence away."""
    for slot in sorted(new, reverse=True):
        text = text[: slot.start] + new[slot] + text[slot.end :]
    return tidy(text)


def without(text: str, cut: Iterable[Slot]) -> str:
    """Returns a text without some of its sentences."""
    return rewrite(text, dict.fromkeys(cut, ""))


def reorder(text: str, rng: Random, pack: str = DEFAULT_PACK) -> str:
    """Returns a text with the sentences of each section in another order; the same text if there is no other."""
    here = slots(text, pack)
    new: dict[Slot, str] = {}
    for group in _sections(here):
        order = list(group)
        rng.shuffle(order)
        new |= {slot: ended(text[old.start : old.end]) for slot, old in zip(group, order, strict=True) if slot != old}
    return rewrite(text, new)


def ended(sentence: str) -> str:
    """Returns a sentence with a full stop if it has no end."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _sections(here: Sequence[Slot]) -> list[list[Slot]]:
    """Returns runs of sentences of one section."""
    runs = [[slot] for slot in here[:1]]
    for before, slot in pairwise(here):
        if slot.section == before.section:
            runs[-1].append(slot)
        else:
            runs.append([slot])
    return runs


def insert(text: str, sentence: str, rng: Random) -> str:
    """Returns a text with one sentence more, before or after a sentence of the findings drawn at random."""
    here = slots(text)
    places = [slot for slot in here if slot.section == "findings"] or here
    if not places:
        return tidy(f"{text}\n{sentence}")
    slot = rng.choice(places)
    if rng.random() < 0.5:
        return text[: slot.start] + f"{sentence} " + text[slot.start :]
    return text[: slot.start] + f"{ended(text[slot.start : slot.end])} {sentence}" + text[slot.end :]


def replace_words(text: str, start: int, end: int, words: str) -> str:
    """Returns a text with other words in `[start, end)`: capital, article and spaces fitted to them.

    >>> replace_words("There is an extensive opacity.", 12, 21, "mild")
    'There is a mild opacity.'
    >>> replace_words("Small effusion.", 0, 0, "new ")
    'New small effusion.'
    """
    before, old, after = text[:start], text[start:end], text[end:]
    if _opens_sentence(before) and (old or after.lstrip())[:1].isupper():
        if not words:
            after = capitalized(after.lstrip())
        elif not old:
            after = _lower_first(after)
        words = capitalized(words)
    if len(old) > 1 and old.isupper() and (len(words) <= ABBREVIATION or len(old) > ABBREVIATION):
        words = words.upper()
    following = (words + after).lstrip()[:1].lower()
    before = _ARTICLE.sub(lambda m: m[1] + ("n" if following in _VOWELS else "") + m[3], before)
    return _SPACES.sub(" ", before + words + after)


def _opens_sentence(before: str) -> bool:
    return not before.strip() or before.rstrip()[-1] in ".!?:*-•)" or before.endswith("\n")


def _lower_first(text: str) -> str:
    """Lowers the first letter of a text unless its first word is an abbreviation ("ET tube", "PICC")."""
    lead = len(text) - len(text.lstrip())
    word = text[lead:].split(maxsplit=1)[0] if text.strip() else ""
    return text if word[1:] != word[1:].lower() else text[:lead] + text[lead : lead + 1].lower() + text[lead + 1 :]
