"""The rules of context_rules.yaml, ready for use: which of them an item may call for, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import Lexicon, SmallWords, per_lexicon
from rrgmetrics.reading.sentence import LOOK_AHEAD
from rrgmetrics.reading.tokens import Item

_SILENCES_CUES = frozenset({"judgements", "outlook"})  # a cue used in one of these stages is not used in `cues`
Words = frozenset[str]
Phrase = tuple[Words, ...]
Kinds = tuple[tuple[str, str], ...]  # senses, each with the value asked for, or ""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for among the items before or behind an item, and what ends the search."""

    cue: Kinds = ()
    words: Words = frozenset()
    stop_cue: Kinds = ()
    stop_words: Words = frozenset()
    within: int = LOOK_AHEAD

    def finds(self, items: Iterable[Item]) -> bool:
        """Whether it is found."""
        for item in items:
            if item.word in self.words or _means(item, self.cue):
                return True
            if item.word in self.stop_words or _means(item, self.stop_cue):
                return False
        return False


@dataclass(frozen=True, eq=False)
class Rule:
    """A row of context_rules.yaml, which explains the fields."""

    id: str
    stage: str
    effect: Any
    cue: Kinds = ()
    words: Words = frozenset()
    next: tuple[Phrase, ...] = ()
    previous: tuple[Phrase, ...] = ()
    first: Words = frozenset()
    open: Words = frozenset()
    ahead: Search | None = None
    behind: Search | None = None
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    direction: str = "before"
    reach: str = ""
    change: str | None = "resolved"
    closes: tuple[str, ...] = ()
    link: bool | None = None

    def is_for(self, item: Item) -> bool:
        """Whether an item is a cue of the rule."""
        return (not self.words or item.word in self.words) and (not self.cue or _means(item, self.cue))

    def fits(self, items: Sequence[Item], i: int) -> bool:
        """Whether the words around the item at `i` are those that the rule asks for."""
        if self.first and items[0].word not in self.first:
            return False
        if self.next and not any(_is_at(phrase, items, i + 1) for phrase in self.next):
            return False
        if self.previous and not any(_is_at(phrase, items, i - len(phrase)) for phrase in self.previous):
            return False
        if self.behind and not self.behind.finds(items[max(0, i - self.behind.within) : i][::-1]):
            return False
        return self.ahead is None or self.ahead.finds(items[i + 1 : i + 1 + self.ahead.within])

    @cached_property
    def uses(self) -> frozenset[str]:
        """The stages in which no other rule is tried for an item once this one was used."""
        silences = self.stage in _SILENCES_CUES and self.effect != "none"
        return frozenset({self.stage, "cues"} if silences else {self.stage})


def _means(item: Item, kinds: Kinds) -> bool:
    return any(kind in item.senses and (not value or _has(item.senses.get(kind), value)) for kind, value in kinds)


def _has(found: object, value: str) -> bool:
    """Whether a sense has a value, or it is among its values, as qualities are."""
    return value in found if isinstance(found, tuple) else value == found


def _is_at(phrase: Phrase, items: Sequence[Item], at: int) -> bool:
    """Whether a phrase begins at an item; "" is before the first item and behind the last."""
    return all((items[k].word if 0 <= k < len(items) else "") in words for k, words in enumerate(phrase, at))


def rules_for(item: Item, lexicon: Lexicon) -> tuple[Rule, ...]:
    """The rules that an item may call for."""
    words, found = _index(lexicon)
    word = item.word if item.word in words else ""
    if not word and not item.senses:
        return ()
    key = (word, item.senses.get("change"), item.senses.get("quality"), *item.senses)
    rules = found.get(key)
    if rules is None:
        rules = found[key] = tuple(rule for rule in all_rules(lexicon) if rule.is_for(item))
    return rules


@per_lexicon
def _index(lexicon: Lexicon) -> tuple[Words, dict[tuple[object, ...], tuple[Rule, ...]]]:
    """The words that rules ask for, and what `rules_for` has found by word and senses."""
    return frozenset().union(*(rule.words for rule in all_rules(lexicon))), {}


@per_lexicon
def all_rules(lexicon: Lexicon) -> tuple[Rule, ...]:
    """The rules in the order in which they are tried; of two with one id, the first."""
    rules: dict[str, Rule] = {}
    for stage, rows in lexicon.context_rules.items():
        for row in rows:
            try:
                rules.setdefault(row["id"], Rule(stage=stage, **_fields(row, lexicon.small)))
            except AttributeError as error:
                raise InputError(
                    f"context_rules.yaml: {row['id']} names no list of small_words.yaml: {error}"
                ) from None
    return tuple(rules.values())


def _fields(row: Mapping[str, Any], small: SmallWords) -> dict[str, Any]:
    """The fields of a row as a rule, or a search, has them."""
    return {name: _field(name, value, small) for name, value in row.items() if name != "examples"}


def _field(name: str, value: Any, small: SmallWords) -> Any:
    if name in ("cue", "stop_cue"):
        return tuple((kind, wanted) for kind, _, wanted in (each.partition("=") for each in value))
    if name in ("words", "stop_words", "first", "open"):
        return frozenset().union(*(_words(each, small) for each in value))
    if name in ("next", "previous"):
        return tuple(tuple(_words(each, small) for each in phrase.split() or [""]) for phrase in value)
    if name in ("ahead", "behind"):
        return Search(**_fields(value, small))
    if name == "change" and value == "none":
        return None
    return tuple(value) if isinstance(value, list) else value


def _words(word: str, small: SmallWords) -> Words:
    """A word, or the words of a list of small words, which is named in capitals."""
    found: Words = getattr(small, word.lower()) if word.isupper() else frozenset({word})
    return found
