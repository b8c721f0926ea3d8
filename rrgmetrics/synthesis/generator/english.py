"""English: articles, plurals, and how the terms of the lexicon are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from rrgmetrics.synthesis.phrases import load_phrases

_VOWELS = frozenset("aeiou")
_OPENING = 6  # letters of a phrase that its article may depend on


@dataclass(frozen=True)
class Words:
    """How places, degrees and names are written (`phrases/places.yaml`), and English (`phrases/english.yaml`)."""

    zones: dict[str, dict[str, Any]]
    side_adjective: dict[str, list[str]]
    side_place: dict[str, dict[str, list[str]]]
    severity: dict[str, dict[int, list[str]]]
    acuity: dict[str, list[str]]
    tips: dict[str, list[str]]
    wrong_tips: list[str]
    routes: dict[str, list[str]]
    upper: frozenset[str]
    hyphens: dict[str, str]
    counted: frozenset[str]
    plurals: frozenset[str]
    adjectives: dict[str, str]
    english: dict[str, Any]


@cache
def words() -> Words:
    """Returns the tables of words; they are read once per process."""
    places = load_phrases("places")
    return Words(
        places["zones"],
        places["sides"]["adjective"],
        places["sides"]["place"],
        {scale: {int(step): terms for step, terms in steps.items()} for scale, steps in places["severity"].items()},
        places["acuity"],
        places["tips"],
        places["wrong_tips"],
        places["routes"],
        frozenset(places["upper"]),
        places["hyphens"],
        frozenset(places["counted"]),
        frozenset(places["plurals"]),
        {adjective: noun for noun, adjectives in places["adjectives"].items() for adjective in adjectives},
        {key: tuple(value) if isinstance(value, list) else value for key, value in load_phrases("english").items()},
    )


def article(text: str) -> str:
    """Returns a noun phrase with its indefinite article.

    >>> article("opacity"), article("small effusion"), article("ET tube")
    ('an opacity', 'a small effusion', 'an ET tube')
    """
    english, opening = words().english, text[:_OPENING].lower()
    vowel = opening[:1] in _VOWELS and not opening.startswith(english["a"])
    return f"{'an' if vowel or opening.startswith(english['an']) else 'a'} {text}"


def plural_of(text: str) -> str:
    """Returns the plural of a noun phrase.

    >>> plural_of("pleural effusion"), plural_of("opacity"), plural_of("mass"), plural_of("chest tube in situ")
    ('pleural effusions', 'opacities', 'masses', 'chest tubes in situ')
    """
    for joint in (" of ", " in "):
        head, joint, rest = text.partition(joint)
        if joint:
            return plural_of(head) + joint + rest
    if text.endswith("y") and text[-2:-1] not in _VOWELS:
        return text[:-1] + "ies"
    for singular, plural in words().english["plural_endings"].items():
        if text.endswith(singular):
            return text.removesuffix(singular) + str(plural)
    return text if text.endswith("s") else text + "s"


def head_of(text: str) -> str:
    """Returns the word that a noun phrase is about, in lower case.

    >>> head_of("loss of volume"), head_of("small pleural effusions")
    ('loss', 'effusions')
    """
    for joint in words().english["joints"]:
        text = text.partition(joint)[0]
    return text.rpartition(" ")[2].lower()


def is_plural(head: str) -> bool:
    """Whether a noun is in the plural."""
    english = words().english
    return (head.endswith("s") and not head.endswith(english["singulars_with_s"])) or head in english[
        "plurals_without_s"
    ]


@cache
def surface(term: str) -> tuple[str, ...]:
    """Returns how a term of the lexicon is written: abbreviations in capitals, hyphens, singular and plural."""
    known = words()
    text = f" {term} "
    for plain, hyphenated in known.hyphens.items():
        text = text.replace(f" {plain} ", f" {hyphenated} ")
    written = " ".join(word.upper() if word in known.upper else word for word in text.split())
    if term in known.adjectives:
        return (f"{written} {known.adjectives[term]}",)
    head = head_of(term)
    if head in known.plurals and not is_plural(head):
        return (written, plural_of(written), plural_of(written))
    return (written,)
