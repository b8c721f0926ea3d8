"""Errors put into a report by its RadGraph, as GREEN's fifth way has them: presence, severity, size, place permuted.

The graph says what words are: an observation, present or absent; what modifies one; an anatomy. Nobody judges the
result, unlike that of `perturb`: what was put in is what the change of the entity says.

| what | entity | change |
|---|---|---|
| presence | an observation that modifies nothing | "no" before its phrase, or the "no" of its sentence taken out |
| severity, size | an observation that modifies another and stands on a scale | a far word of the scale |
| place | an anatomy with a side or zone | the other side, another zone |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from rrgmetrics.labels.graph import Entity, Graph
from rrgmetrics.reading.model import Span
from rrgmetrics.synthesis.edits.attributes import STEPS_APART
from rrgmetrics.synthesis.edits.perturb import NUMBER_WEIGHTS, A, B, C, D
from rrgmetrics.synthesis.edits.sentences import replace_words
from rrgmetrics.synthesis.edits.words import edit_words
from rrgmetrics.synthesis.pairs import N_CATEGORIES, Counts

MODIFIES = "modify"
DENIED = re.compile(r"\b(?:no evidence of|no|without|negative for)[ \n]+(?:an?[ \n]+|any[ \n]+)?(?=[^.;:]*\Z)", re.I)
SAID_OF = re.compile(r"\b(?:is|are|was|were|remains?|appears?)[ \n]+(?:\w+ly[ \n]+)?\Z", re.I)  # "the lungs are clear"
ARTICLE = re.compile(r"\b(?:an?|the)[ \n]+\Z", re.I)


class Change(NamedTuple):
    """Words in the place of others, and how many errors of which kind this is."""

    span: Span
    words: str
    category: int
    errors: int = 1


def permute(text: str, graph: Graph, rng: Random) -> tuple[str, Counts] | None:
    """Returns a report with one to six entities permuted, and the errors by kind; None where none can be."""
    text = replace_words(text, 0, 0, "")  # the spaces that it would squeeze later, so that places stay
    changes = _counted(_changes(text, graph, rng))
    wanted = rng.choices(range(1, len(NUMBER_WEIGHTS) + 1), NUMBER_WEIGHTS)[0]
    chosen: list[Change] = []
    for change in rng.sample(changes, len(changes)):
        if len(chosen) < wanted and all(_is_apart(change.span, other.span) for other in chosen):
            chosen.append(change)
    counts = [0] * N_CATEGORIES
    for change in sorted(chosen, key=lambda each: each.span, reverse=True):
        text = replace_words(text, *change.span, change.words)
        counts[change.category] += change.errors
    return (text, tuple(counts)) if chosen else None


def _counted(changes: Iterable[Change]) -> list[Change]:
    """The different changes: a "no" that denies several observations affirms them all when it is gone."""
    return [change._replace(errors=errors) for change, errors in Counter(changes).items()]


def _is_apart(one: Span, other: Span) -> bool:
    return one.end < other.start or other.end < one.start


def _changes(text: str, graph: Graph, rng: Random) -> Iterator[Change]:
    """One change of each entity that allows any."""
    places = _places(text, graph.text.split())
    ends = {entity.end: entity.start for entity in graph.entities}
    for entity in graph.entities:
        span = _span(places, entity)
        if span is None:
            continue
        word = text[span.start : span.end].lower()
        if not entity.label.upper().startswith("OBS"):
            yield from (Change(span, other, C) for other in _sample(_elsewhere(word), rng))
        elif any(relation.kind == MODIFIES for relation in entity.relations):
            yield from (Change(span, other, D) for other in _sample(_far(word), rng))
        else:
            first = entity.start
            while first - 1 in ends:  # "small left pleural" before "effusion"
                first = ends[first - 1]
            phrase = _span(places, entity._replace(start=first)) or span
            yield from _other_presence(text, phrase, entity)


def _places(text: str, words: Sequence[str]) -> list[Span | None]:
    """Where each word of a graph stands in the report; None of one that the graph writes in another way."""
    places: list[Span | None] = []
    end = 0
    for word in words:
        start = text.find(word, end)
        places.append(Span(start, start + len(word)) if start >= 0 else None)
        end = start + len(word) if start >= 0 else end
    return places


def _span(places: Sequence[Span | None], entity: Entity) -> Span | None:
    first, last = places[entity.start], places[entity.end]
    return Span(first.start, last.end) if first and last else None


def _elsewhere(word: str) -> list[str]:
    """The other side of a word, and other zones."""
    found: list[str] = []
    for table in ("sides", "zones"):
        other = edit_words()[table].get(word, [])
        found += [other] if isinstance(other, str) else other
    return found


def _far(word: str) -> list[str]:
    """The words of a scale that are far from a word of it."""
    scales = [scale for scale in edit_words()["severity"] if word in scale]
    return [other for scale in scales[:1] for other, step in scale.items() if abs(step - scale[word]) >= STEPS_APART]


def _sample(words: Sequence[str], rng: Random) -> list[str]:
    return [rng.choice(words)] if words else []


def _other_presence(text: str, phrase: Span, entity: Entity) -> Iterator[Change]:
    """Denies an observation that is present, one of normality too, or takes away what denies it."""
    is_present = entity.label.upper().endswith(("DP", "PRESENT"))
    if is_present and not SAID_OF.search(text, 0, phrase.start):
        article = ARTICLE.search(text, 0, phrase.start)
        yield Change(Span(article.start() if article else phrase.start, phrase.start), "no ", B)
    elif entity.label.upper().endswith(("DA", "ABSENT")) and (denied := DENIED.search(text, 0, phrase.start)):
        yield Change(Span(*denied.span()), "", A)
