"""The rules of context_rules.yaml, ready for use: which of them an item may call for, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.lexicon.rules import ContextRow, Direction, Effect, Opened, Predicate, Reach, Stage
from rrgmetrics.reading.tokens import Item

_SILENCES_CUES = frozenset({"judgements", "outlook"})  # a cue used in one of these stages is not used in `cues`
Words = frozenset[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A row of context_rules.yaml; the file explains the fields.

    Attributes:
        uses: The stages in which no other rule is tried once this one was used.
    """

    id: str
    effect: Effect
    cue: tuple[tuple[str, str], ...]
    words: Words
    next: Words
    previous: Words
    first: Words
    holds: Words
    when: tuple[Predicate, ...]
    unless: tuple[Predicate, ...]
    direction: Direction
    reach: Reach
    change: str | None
    closes: tuple[Opened, ...]
    link: bool | None
    stage: Stage
    uses: frozenset[str]

    def is_for(self, item: Item) -> bool:
        """Tells whether an item is a cue of the rule."""
        if self.words is not None and item.word not in self.words:
            return False
        return not self.cue or any(
            kind in item.senses and (not value or item.senses.get(kind) == value) for kind, value in self.cue
        )


def rules_for(item: Item, lexicon: Lexicon) -> tuple[Rule, ...]:
    """The rules that an item may call for."""
    words, found = _index(lexicon)
    word = item.word if item.word in words else ""
    if not word and not item.senses:
        return ()
    key = (word, item.senses.get("change"), *item.senses)
    rules = found.get(key)
    if rules is None:
        rules = found[key] = tuple(rule for rule in all_rules(lexicon) if rule.is_for(item))
    return rules


@per_lexicon
def _index(lexicon: Lexicon) -> tuple[frozenset[str], dict[tuple[str | None, ...], tuple[Rule, ...]]]:
    """The words that rules ask for, and what `rules_for` has found by word and senses."""
    return frozenset().union(*(rule.words for rule in all_rules(lexicon) if rule.words)), {}


@per_lexicon
def all_rules(lexicon: Lexicon) -> tuple[Rule, ...]:
    """The rules in the order in which they are tried; of two with one id, the first."""
    rules: dict[str, Rule] = {}
    for stage, rows in lexicon.context_rules.items():
        for row in rows:
            rules.setdefault(row["id"], _rule(row, stage, lexicon))
    return tuple(rules.values())


def _rule(row: ContextRow, stage: Stage, lexicon: Lexicon) -> Rule:
    reach: Reach = row.get("reach", "list" if row.get("direction") == "after" else "clause")
    change = row.get("change", "resolved")
    uses = [stage]
    if row["effect"] == "skip":
        uses = list(lexicon.context_rules)
    elif stage in _SILENCES_CUES and row["effect"] != "none":
        uses.append("cues")
    return Rule(
        id=row["id"],
        effect=row["effect"],
        cue=tuple((kind, value) for kind, _, value in (cue.partition("=") for cue in row.get("cue", ()))),
        words=_words(row.get("words"), row, lexicon),
        next=_words(row.get("next"), row, lexicon),
        previous=_words(row.get("previous"), row, lexicon),
        first=_words(row.get("first"), row, lexicon),
        holds=frozenset(row["while"]) if "while" in row else None,
        when=tuple(row.get("when", ())),
        unless=tuple(row.get("unless", ())),
        direction=row.get("direction", "before"),
        reach=reach,
        change=None if change == "none" else change,
        closes=tuple(row.get("closes", ())),
        link=row.get("link"),
        stage=stage,
        uses=frozenset(uses),
    )


def _words(words: Iterable[str] | None, row: ContextRow, lexicon: Lexicon) -> Words:
    return None if words is None else frozenset(_spelled_out(words, row, lexicon))


def _spelled_out(words: Iterable[str], row: ContextRow, lexicon: Lexicon) -> Iterator[str]:
    """Yields words, and those of the lists of small words that are named in capitals."""
    for word in words:
        if not word.isupper():
            yield word
        elif hasattr(lexicon.small, word.lower()):
            yield from getattr(lexicon.small, word.lower())
        else:
            raise InputError(f"context_rules.yaml: {row['id']} names {word}, which is no list of small_words.yaml.")
