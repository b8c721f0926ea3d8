"""The same report in other words: synonyms, normal statements, the order of lists and sentences. No error.

The reader is the judge here too: what it finds a difference in is not used.
"""

from __future__ import annotations

from functools import cache
from random import Random

from rrgmetrics.comparing import compare
from rrgmetrics.reading import Reading
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.presence import listed
from rrgmetrics.synthesis.edits.sentences import Slot, reorder, replace_words, rewrite
from rrgmetrics.synthesis.edits.words import edit_words, words_pattern
from rrgmetrics.synthesis.readings import reading_of

TRIES = 4
SHARE = 0.5  # of the synonyms and sentences that are replaced where they could be


def paraphrase(reading: Reading, rng: Random) -> str | None:
    """Says a report in other words.

    Args:
        reading: Of the report.
        rng: Decides what is said in which words.

    Returns:
        Another text in which the reader finds no error; None if a few tries gave none.

    Example:
        >>> from rrgmetrics.reading import read
        >>> reading = read("Heart size is normal. Small left pleural effusion.")
        >>> compare(reading, read(paraphrase(reading, Random(1)))).total
        0
    """
    for _ in range(TRIES):
        text = restate(Page(reading.text, reading), rng)
        text = replace_synonyms(text, rng)
        if rng.random() < SHARE:
            text = reorder(text, rng)
        if text.split() != reading.text.split() and not compare(reading, reading_of(text)).errors:
            return text
    return None


def restate(page: Page, rng: Random) -> str:
    """Returns the text with other normal statements, and its lists of denied findings in another order."""
    new: dict[Slot, str] = {}
    for slot in page.slots:
        sentence = page.text[slot.start : slot.end]
        group = _normal_groups().get(_key(sentence))
        if group and rng.random() < SHARE:
            new[slot] = rng.choice(edit_words()["normal"][group])
        elif rng.random() < SHARE and (names := _denied(page, slot)):
            rng.shuffle(names)
            new[slot] = str(rng.choice(edit_words()["denials"])).format(listed(names))
    return rewrite(page.text, new)


def _denied(page: Page, slot: Slot) -> list[str]:
    """Returns the findings of a sentence that does nothing but deny a list of them."""
    findings = page.findings_in(slot)
    if any(f.assertion != "absent" or f.normal or f.change for f in findings):
        return []
    spans = {span for f in findings for span in f.spans if page.slot_of(span) == slot}
    return list(dict.fromkeys(page.text[start:end] for start, end in sorted(spans)))


def replace_synonyms(text: str, rng: Random) -> str:
    """Returns a text with some of its words replaced by others that mean the same."""
    for match in reversed(list(words_pattern("synonyms").finditer(text))):
        if rng.random() < SHARE:
            words = rng.choice(_synonyms()[match[0].lower()])
            is_abbreviation = words in edit_words()["abbreviations"]
            text = replace_words(text, *match.span(), words.upper() if is_abbreviation else words)
    return text


def _key(sentence: str) -> str:
    return sentence.lower().strip(" .")


@cache
def _normal_groups() -> dict[str, str]:
    return {_key(sentence): group for group, sentences in edit_words()["normal"].items() for sentence in sentences}


@cache
def _synonyms() -> dict[str, list[str]]:
    return {word: [other for other in group if other != word] for group in edit_words()["synonyms"] for word in group}
