"""Which finding the grammar of a sentence makes the subject of a change: a pronoun, or a side that has no name."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reader.items import Item, Mention
from rrgmetrics.reader.lexicon import Lexicon

Head = tuple[int, int, "Mention | None"]  # the items of something that can change, and its mention if it is a finding
_PRONOUN = "it"
_JOINTS = frozenset({";", ","})


def side_behind(items: Sequence[Item], i: int, heads: Sequence[Head]) -> Mention | None:
    """Returns the side without a name that a change is told of: "HAS GROWN on the right and IS STABLE on the left"."""
    at = next((k for k in range(i + 1, len(items)) if "location_preposition" not in items[k].senses), None)
    unnamed = (mention for first, _, mention in heads if mention and mention.elided and first == at and at > i + 1)
    return next(unnamed, None)


def subject(items: Sequence[Item], i: int, heads: Sequence[Head], left: int, lexicon: Lexicon) -> int:
    """Returns the head that "it" before a change stands for: "the EFFUSION compresses the lung; IT is smaller".

    It is the subject of the clause before, if the head `left` next to the change is only what that subject does or has.
    """
    at = next((k for k in range(heads[left][1], i) if items[k].word == _PRONOUN), None)
    if at is None or not any(item.word in _JOINTS for item in items[max(0, at - 2) : at]):
        return left
    first = left
    while first and _is_of_one_clause(items, heads[first - 1], heads[first], lexicon):
        first -= 1
    named = (k for k in range(first, left + 1) if (mention := heads[k][2]) and not mention.denies)
    return next(named, left)


def _is_of_one_clause(items: Sequence[Item], one: Head, other: Head, lexicon: Lexicon) -> bool:
    """Tells whether a head is what the one before it has or does: "and PUSHES THE MEDIASTINUM"."""
    between = items[one[1] : other[0]]
    if any("clause_end" in item.senses or item.word == ";" for item in between):
        return False
    verb = [item for item in between if item.word not in lexicon.small.definite][-1:]
    joined = any(item.word in lexicon.small.list_joints and item.word != "with" for item in between)
    return any("quality" in item.senses for item in verb) or not joined
