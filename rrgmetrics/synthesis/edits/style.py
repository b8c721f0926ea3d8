"""The same report as another hand writes it: abbreviated, mistyped, terse, narrative, with a normal finding more.

Nothing of it changes what a radiologist reads. Unlike a paraphrase these edits are right by their making: the reader
is not asked, but for a normal finding that the report must neither hold nor contradict.
"""

from __future__ import annotations

import re
from random import Random

from rrgmetrics.comparing import compare
from rrgmetrics.reading.lexicon import load
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.sentences import Slot, insert, replace_words, rewrite
from rrgmetrics.synthesis.edits.words import edit_words, variant_pattern, variant_words
from rrgmetrics.synthesis.generator.english import head_of, is_plural
from rrgmetrics.synthesis.readings import reading_of
from rrgmetrics.utils.text_format import capitalized

WORDS_PER_ERROR = 10
TRIES = 4
_LONG_WORD = re.compile(r"\b[a-z]{6,}\b")
_LIST_MARK = re.compile(r"^[\s*#\-\d.)]*$")


def abbreviate(text: str) -> str:
    """Writes a report with the abbreviations of `phrases/variants.yaml`.

    Example:
        >>> abbreviate("Left lower lobe opacity without effusion.")
        'LLL opacity w/o effusion.'
    """
    return variant_pattern("abbreviated").sub(lambda match: _abbreviation(match[0]), text)


def _abbreviation(words: str) -> str:
    short = str(variant_words()["abbreviated"][words.lower()])
    return short.upper() if words.isupper() else capitalized(short) if words[:1].isupper() else short


def mistype(text: str, rng: Random) -> str:
    """Swaps two letters inside of a long word, once in every ten words.

    Example:
        >>> mistype("Small left pleural effusion.", Random(2))
        'Small left pelural effusion.'
    """
    words = [match.span() for match in _LONG_WORD.finditer(text)]
    n = min(len(words), max(1, len(text.split()) // WORDS_PER_ERROR))
    for start, end in rng.sample(words, n):
        places = [i for i in range(start + 1, end - 2) if text[i] != text[i + 1]]
        if places:
            at = rng.choice(places)
            text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text


def make_terse(text: str) -> str:
    """Writes a report as a telegram: without articles, forms of "to be" and "there is".

    Example:
        >>> make_terse("There is a small left effusion. The heart is normal in size.")
        'Small left effusion. Heart normal in size.'
    """
    shorter = variant_pattern("telegraphic").sub("", variant_pattern("endings").sub("", text))
    return re.sub(r"(^|[.:]\s+|\n)([a-z])", lambda m: m[1] + m[2].upper(), shorter)


def make_narrative(page: Page, rng: Random) -> str:
    """Gives the sentences that have no verb one.

    Example:
        >>> from rrgmetrics.reading import read
        >>> text = "Small left effusion. The heart is normal in size."
        >>> make_narrative(Page(text, read(text)), Random(3))
        'Small left effusion is noted. The heart is normal in size.'
    """
    new: dict[Slot, str] = {}
    for slot in page.slots:
        sentence = page.text[slot.start : slot.end].rstrip(".")
        line = page.text[: slot.start].rpartition("\n")[2]
        if variant_pattern("verb").search(sentence) or re.search("[,;:]", sentence) or not page.findings_in(slot):
            continue
        if _LIST_MARK.match(line) or page.text[: slot.start].rstrip().endswith((".", ":")):
            subject = variant_pattern("after_the_head").split(sentence, maxsplit=1)[0]
            verb = rng.choice(variant_words()["narrative_many" if is_plural(head_of(subject)) else "narrative_one"])
            new[slot] = f"{sentence} {verb.upper() if sentence.isupper() else verb}."
    return rewrite(page.text, new)


def add_normal(page: Page, rng: Random) -> str | None:
    """Adds a normal finding of which the report says nothing."""
    told = {finding.concept for finding in page.reading.findings}
    silent = [sentences for concept, sentences in edit_words()["normal"].items() if concept not in told]
    for sentences in rng.sample(silent, min(TRIES, len(silent))):
        text = insert(page.text, rng.choice(sentences), rng)
        candidate = reading_of(text)
        if not compare(page.reading, candidate).errors and not compare(candidate, page.reading).errors:
            return text
    return None


def hedge_all(text: str) -> str:
    """Says of every finding that is certain that it is only possible."""
    page = Page(text, reading_of(text))
    starts = {
        unit.head.spans[0].start
        for unit in page.units
        if unit.head.certainty == "definite" and not variant_pattern("verb").search(text, *unit.head.spans[0])
    }
    for start in sorted(starts, reverse=True):
        text = replace_words(text, start, start, "possible ")
    return text


def contradict(page: Page, rng: Random) -> str:
    """Says after a report the opposite of each finding that it states; a large pneumothorax if it states none."""
    frames = edit_words()["plain_denials"]
    names = dict.fromkeys(load().concepts[unit.head.concept].name for unit in page.units)
    denials = [rng.choice(frames).format(name) for name in names] or ["Large right pneumothorax."]
    return " ".join([page.text, *denials])
