"""Headings of organs, changes and sides: what the sentences behind the first one on their line are about.

"Thyroid: Enlarged. 15 mm NODULE on the left." and "Nodes: Subcarinal, 14 mm. RIGHT HILAR, 16 mm.": such a sentence is
read with its heading in front of it, where the heading gives its finding another name, or its only one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rrgmetrics.reading.device_moves import is_support_device
from rrgmetrics.reading.items import Item
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding
from rrgmetrics.reading.parsed import Parsed, parse_words
from rrgmetrics.reading.tokens import Sentence, Token

_LONGEST = 4  # items of a heading
_PLACES = frozenset({"structure", "zone"})
_NAMES = _PLACES | {"concept", "listed"}
_JOINING = frozenset({"/", "and", "the"})
_NOUNS = frozenset(
    {"opacity_head", "effusion_head", "nodule_head", "mass_head", "granuloma_head", "shadow"}
)  # no organs
_LONGEST_COURSE = 7  # items of a heading that states a change
_NO_COURSE = _NAMES | {"side", "normal", "measure", "negation_before", "hypothetical", "recommendation"}
_HALVES = frozenset({"hemithorax", "lung", "pleura", "pleural_space", "chest"})  # structures that have a side
_ITEM = re.compile(r"[ \t]{0,8}(?:-|\d{1,2}[.)])[ \t]{0,8}")  # before an item of a list
_JOINTS = frozenset({",", ";", "and"})  # between the statements of a list


class Headings:
    """The heading that holds for each sentence of a report; the sentences come in order."""

    def __init__(self, report: str, tokens: list[Token], lexicon: Lexicon) -> None:
        self._report, self._tokens, self._lexicon = report, tokens, lexicon
        self._heading: list[Token] = []
        self._names_finding = False
        self._end = 0  # of the sentence before

    def read_under(self, sentence: Sentence, parsed: Parsed) -> tuple[Parsed, int]:
        """Returns a sentence as it is read under its heading, and how many words of the heading are in front of it."""
        follows = _is_on_line(self._report, self._tokens, self._end, sentence)
        self._end = sentence.last
        colon = _colon(parsed.items, _LONGEST)
        if colon or not follows:
            items = parsed.items[:colon]
            named = all(item.senses.keys() & _NAMES or "side" in item.senses or item.word in _JOINING for item in items)
            words = parsed.items[colon].last if colon and named else 0
            self._heading = self._tokens[sentence.first : sentence.first + words]
            self._names_finding = any("concept" in item.senses for item in items)
        elif self._heading and self._is_open(parsed):
            own = self._tokens[sentence.first : sentence.last]
            headed = parse_words(self._report, [*self._heading, *own], self._lexicon)
            if _gives_name(parsed, headed):
                return headed, len(self._heading)
        return parsed, 0

    def _is_open(self, parsed: Parsed) -> bool:
        """Whether a sentence leaves open which organ it is about, or which finding of the heading it measures."""
        if _measures(parsed.items):
            return not parsed.mentions  # "Valve calcification: mild. ASCENDING AORTA 41 MM."
        places = (item for item in parsed.items if item.senses.keys() & _PLACES)
        return not self._names_finding and all(_NOUNS.issuperset(item.senses.get("structure", "?")) for item in places)


class Courses:
    """The change that a heading states of the list behind or below it: "NEW SINCE MARCH: nodules; effusion"."""

    def __init__(self, report: str, tokens: list[Token]) -> None:
        self._report, self._tokens = report, tokens
        self._course: str | None = None
        self._in_list = False  # whether the heading is an item of a list, and has none below
        self._end = 0  # of the statement before

    def give(self, sentence: Sentence, parsed: Parsed, findings: list[Finding], first: int, lexicon: Lexicon) -> None:
        """Gives the findings of a statement, those from `first` on, the change of their list, in place."""
        is_item = self._begins_item(sentence)
        goes_on = all(token.word in _JOINTS for token in self._tokens[self._end : sentence.first])
        goes_on = (self._is_below(sentence) and not self._in_list) if is_item else goes_on
        self._end = sentence.last
        colon = _colon(parsed.items, _LONGEST_COURSE)
        if colon or not goes_on:
            self._course, self._in_list = _course(parsed.items[:colon]), is_item
        for k in range(first, len(findings)) if self._course else ():
            grows = self._course in ("better", "worse") and is_support_device(findings[k].concept, lexicon)
            if findings[k].change is None and findings[k].assertion != "absent" and not grows:
                findings[k] = replace(findings[k], change=self._course)

    def _begins_item(self, sentence: Sentence) -> bool:
        """Whether a statement begins an item of a list."""
        start = self._tokens[sentence.first].start
        return _ITEM.fullmatch(self._report, self._report.rfind("\n", 0, start) + 1, start) is not None

    def _is_below(self, sentence: Sentence) -> bool:
        """Whether nothing is between the statement before and the line of this one: no heading, no blank line."""
        gap = self._report[self._tokens[self._end - 1].end : self._tokens[sentence.first].start] if self._end else ""
        return gap.count("\n") == 1 and not any(character.isalpha() for character in gap)


class Sides:
    """The side that a heading states of what is behind it on its line: "ON THE LEFT: drain out. Basal effusion."."""

    def __init__(self, report: str, tokens: list[Token], lexicon: Lexicon) -> None:
        self._report, self._tokens, self._lexicon = report, tokens, lexicon
        self._side: str | None = None
        self._end = 0  # of the sentence before

    def give(self, sentence: Sentence, parsed: Parsed, findings: list[Finding], first: int) -> None:
        """Gives the findings of a sentence, those from `first` on, the side of their heading, in place."""
        follows = _is_on_line(self._report, self._tokens, self._end, sentence)
        self._end = sentence.last
        colon = _colon(parsed.items, _LONGEST)
        if colon or not follows:
            self._side = _side(parsed.items[:colon])
        for k in range(first, len(findings)) if self._side else ():
            if findings[k].side is None and self._has_side(findings[k].concept):
                findings[k] = replace(findings[k], side=self._side)

    def _has_side(self, concept: str) -> bool:
        central = self._lexicon.groups["one_picture"] - self._lexicon.groups["one_place"]  # heart, mediastinum
        without = self._lexicon.roles["unpaired"] | self._lexicon.roles["midline"]
        return self._lexicon.concepts[concept].group not in central and concept not in without


def _is_on_line(report: str, tokens: list[Token], end: int, sentence: Sentence) -> bool:
    """Whether a sentence is on the line of the one before, which ends at `end`."""
    if not end or sentence.first - end > 1:
        return False
    return "\n" not in report[tokens[end - 1].end : tokens[sentence.first].start]


def _side(heading: Sequence[Item]) -> str | None:
    """Returns the side that a heading states, and nothing else but a lung or half of the chest; None if it does not."""
    sides = {item.senses["side"] for item in heading if "side" in item.senses}
    plain = all(
        item.senses.keys() <= {"side", "location_preposition"} or _HALVES.issuperset(item.senses.get("structure", "?"))
        for item in heading
    )
    return sides.pop() if len(sides) == 1 and plain else None


def _colon(items: Sequence[Item], longest: int) -> int:
    """Returns where a heading of at most so many items ends; 0 if there is none."""
    return next((i for i, item in enumerate(items[: longest + 1]) if item.word == ":"), 0)


def _course(heading: Sequence[Item]) -> str | None:
    """Returns the change that a heading states, and nothing else; None if it names something or states none."""
    changes = {item.senses["change"] for item in heading if "change" in item.senses}
    if len(changes) != 1 or "resolved" in changes or any(item.senses.keys() & _NO_COURSE for item in heading):
        return None
    return changes.pop()


def _gives_name(parsed: Parsed, headed: Parsed) -> bool:
    """Whether the findings of a sentence have other names under its heading; "Unchanged." is of those before."""
    alone, under = ([mention.concept for mention in each.mentions] for each in (parsed, headed))
    of_others = not alone and any("change" in item.senses for item in parsed.items)
    return len(alone) <= len(under) and alone != under and (not of_others or _measures(parsed.items))


def _measures(items: list[Item]) -> bool:
    """Whether a sentence has a place and a size, and names no finding: "Right hilar, 16 mm"."""
    senses = {sense for item in items for sense in item.senses}
    return "measure" in senses and "zone" in senses and "concept" not in senses
