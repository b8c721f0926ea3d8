"""Where a statement ends in text without punctuation: a logistic regression on what is on either side of each gap.

"Heart is enlarged NO EFFUSION Right PICC with tip in the SVC" has no mark that could tell. So each gap between two
items is weighed: by the words on either side, by capitals, by what the statement already holds, and by what the rules
of `statements` find there. The weights, in `unmarked.tsv`, come from invented reports only, whose punctuation was
removed; `make boundaries` finds them again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

from rrgmetrics.reading.boundaries import concept_name, flags, log_odds
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.statements import Marks, StatementSearch
from rrgmetrics.reading.tokens import Token

WEIGHTS = Path(__file__).with_suffix(".tsv")
_NEAR = range(-3, 4)  # items around a gap whose kinds are looked at
_SIDE = 5  # items that count as near on one side
_AHEAD = 12  # items behind a gap in which a verb or a joint is looked for
_BACK = 40  # items of a statement that are looked at
_LONG = (1, 2, 3, 4, 6, 9, 13)  # upper ends of lengths that are told apart


class UnmarkedSearch(StatementSearch):
    """The search for statements in a sentence; the model decides where it has no mark."""

    def __init__(
        self, tokens: Sequence[Token], items: list[Item], mentions: list[Mention], lexicon: Lexicon, marks: Marks
    ) -> None:
        super().__init__(tokens, items, mentions, lexicon, marks)
        self.is_cased = bool(marks.initials - {0})
        self.verbs = [k for k, item in enumerate(items) if self.is_finite(item)]
        self.initials = [k for k, item in enumerate(items) if item.first in marks.initials]

    def turns(self) -> list[tuple[int, int]]:
        """Returns before which items statements end, and at which the next ones begin."""
        if self.marked:
            return super().turns()
        found: list[tuple[int, int]] = []
        first = 0
        for k in range(1, len(self.items)):
            if self.items[k - 1].last <= self.items[k].first and self.is_gap(first, k):
                found.append((k, k))
                first = k
        return found

    def is_gap(self, first: int, k: int) -> bool:
        """Whether a statement that begins at an item ends before item `k`."""
        return log_odds(WEIGHTS, self.gap_features(first, k)) > 0

    def gap_features(self, first: int, k: int) -> Iterator[str]:
        """Yields what speaks for or against the end of a statement before item `k`."""
        first = max(first, k - _BACK)
        kind = {j: self._kind(k + j) for j in _NEAR}
        word = {j: self._word(k + j) for j in range(-2, 3)}
        capital = self._case(k)
        line = str(self.items[k].first in self.marks.lines)
        denial = self._denial(first, k)
        whole, left, right = self._held(first, k), self._held(max(first, k - _SIDE), k), self._held(k, k + _SIDE)
        sides = flags(whole), flags(right)
        joint = self._joint(k, k + _AHEAD)
        before = max(self._mentions(first, k), key=lambda m: m.last, default=None)
        named = next(iter(self._mentions(k, k + _AHEAD)), None)
        groups = self._group(before), self._group(named)
        said = str(self._says(first, k))
        inside = str(any(mention.first < k < mention.last for mention in self._mentions(max(0, k - _AHEAD), k)))
        noun = self._noun_from(k)
        may_end = self._may_end(k - 1)
        rules = "+".join(
            name
            for name, holds in (
                ("may end", may_end),
                ("finished", self._is_finished(first, k - 1)),
                ("predicate", self._is_predicate(k - 1)),
                ("led", self._is_led(k - 1)),
                ("verb", self._has_verb(k)),
                ("setting", self._is_setting(first, k)),
            )
            if holds
        )
        begins = str(may_end and self._begins(first, k))
        verbs = bisect_left(self.verbs, k) - bisect_left(self.verbs, first)
        verb = _length(_next(self.verbs, k) - k)
        stop = _length(_next(self.initials, k + 1) - k)
        noun_at = _length(noun - k) if noun >= 0 else "-"
        starts = str(any(m.first == k for m in self._mentions(k, k + 1))), str(before is not None and before.last == k)
        yield from map(
            ":".join,
            (
                ("capital", capital),
                ("capital, cases", capital, self._case(k - 1), self._case(k + 1)),
                ("capital, rules", capital, rules),
                ("capital, begins", capital, begins, said),
                ("capital, around", capital, kind[-1], kind[0]),
                ("capital, before", capital, kind[-1]),
                ("capital, behind", capital, kind[0]),
                ("capital, denial", capital, denial, sides[1]),
                ("capital, word", capital, word[0]),
                ("capital, words", capital, word[-1], word[0]),
                ("line", line),
                ("begins", begins),
                ("rules", rules),
                ("rules, denial", rules, denial, begins),
                ("rules, behind", rules, kind[0]),
                ("rules, before", rules, kind[-1]),
                ("rules, sides", rules, *sides),
                *((f"kind {j}", kind[j]) for j in _NEAR),
                *((f"kinds {j}", kind[j], kind[j + 1]) for j in _NEAR[:-1]),
                *((f"three {j}", kind[j], kind[j + 1], kind[j + 2]) for j in _NEAR[1:-3]),
                *((f"word {j}", word[j]) for j in word),
                *((f"words {j}", word[j], word[j + 1]) for j in (-2, -1, 0, 1)),
                ("words around", word[-1], kind[0]),
                ("kind, word", kind[-1], word[0]),
                ("inside", inside),
                ("inside, around", inside, kind[-1], kind[0]),
                ("starts", *starts, denial),
                ("starts, sides", *starts, *sides),
                ("sides", *sides),
                ("sides, denial", *sides, denial),
                ("sides, verb", *sides, verb),
                ("verbs", str(min(verbs, 2)), verb, denial),
                ("verbs, noun", str(min(verbs, 2)), verb, noun_at),
                ("denial", denial),
                ("denial, behind", denial, kind[0]),
                ("denial, behind two", denial, kind[0], kind[1]),
                ("denial, joint", denial, joint, sides[1]),
                ("denial, noun", denial, noun_at, kind[0]),
                ("joint", joint, sides[0]),
                ("noun", noun_at, said),
                ("noun, verb", noun_at, verb, said),
                ("concept before", concept_name(before), denial),
                ("concept behind", concept_name(named), denial),
                ("concepts", concept_name(before), concept_name(named), denial),
                ("groups", *groups, denial),
                ("length", _length(k - first), sides[0]),
                ("next capital", stop, capital),
                ("said", said, kind[0]),
            ),
        )
        yield from (f"holds:{each}:{denial}" for each in sorted(whole))
        yield from (f"near before:{each}" for each in sorted(left))
        yield from (f"near behind:{each}:{denial}" for each in sorted(right))

    def _case(self, k: int) -> str:
        """Returns whether an item begins with a capital as a sentence does, or that no item behind the first does."""
        if not self.is_cased:
            return "none"
        return str(0 <= k < len(self.items) and self.items[k].first in self.marks.initials)


def _next(places: Sequence[int], k: int) -> int:
    """Returns the first place from `k` on, else one far away."""
    at = bisect_left(places, k)
    return places[at] if at < len(places) else k + _BACK


def _length(n: int) -> str:
    """Returns a number as the least upper end that holds it."""
    return str(next((end for end in (0, *_LONG) if n <= end), "long"))
