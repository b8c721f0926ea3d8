"""Where a statement ends without a full stop: what follows decides.

"No pneumothorax THE HEART IS enlarged", "cardiomegaly NO edema", "no effusion SMALL LEFT pneumothorax", "cardiomegaly,
no edema, BILATERAL EFFUSIONS". A statement begins

- at "no", at "there is", and at a capital letter, where the words before it may end a statement;
- at a determiner or a noun that has a verb of its own, or something said of it ("lungs clear");
- at a described finding behind a finished one ("small left ...", "old ..."), if the report has no full stops and the
  sentence no comma;
- behind a comma or a semicolon, where `boundaries` finds that it parts two statements.

What a denied list names without any of these is denied with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from rrgmetrics.reading.boundaries import MARKS, BoundarySearch, grammar_words
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.sentence import JUDGEMENTS
from rrgmetrics.reading.tokens import Token

_OPEN = frozenset(  # senses of words that something has to follow
    {
        "negation_before",
        "negation_verb",
        "not_negation",
        "possible_before",
        "possible_list",
        "probable_before",
        "not_excluded_before",
        "resolved_before",
        "hypothetical",
        "evidenced_by",
        "location_preposition",
        "clause_end",
        "versus",
    }
)
_DEGREE = frozenset({"severity", "count", "acuity", "change", "quality", "morphology", "several"})
_PLACE = frozenset({"side", "zone", "several", "morphology", "structure"})
_SAID = frozenset({"quality", "change", "severity", "position", "acuity", "morphology"})  # behind a verb
_WHERE = frozenset({"side", "zone", "structure", "level", "several", "measure"})
_PUT = frozenset({"tip", "position"})  # of a device
_NOUN = frozenset({"concept", "structure", "normal"})
_SUBJECT = 8  # items from the first of a subject to its verb
_LED = 4  # items from a preposition or a verb to the end of what it leads to


class Marks(NamedTuple):
    """What the writing tells of where statements begin: tokens at which it is likely.

    Attributes:
        initials: Those written like the first word of a sentence.
        capitals: Those of them behind small letters.
        lines: Those that begin a line.
        full_stops: Whether the report has full stops: then what could be one noun phrase is one.
        several: Whether a section has several sentences: then a comma seldom ends a statement.
    """

    initials: frozenset[int]
    capitals: frozenset[int]
    lines: frozenset[int]
    full_stops: bool
    several: bool


def statements(
    tokens: Sequence[Token],
    items: list[Item],
    mentions: list[Mention],
    lexicon: Lexicon,
    marks: Marks,
    search: type[StatementSearch],
) -> list[tuple[int, int]]:
    """Returns the tokens `[first, last)` of each statement; commas between them belong to none.

    Args:
        tokens: The words of a sentence.
        items: Its items.
        mentions: Its findings.
        lexicon: What it is read with.
        marks: The tokens at which something that is no punctuation speaks for a beginning.
        search: How to look: by rules and by the marks, or by a model.
    """
    turns = search(tokens, items, mentions, lexicon, marks).turns() if mentions and len(items) > 2 else []
    firsts = [0, *(items[first].first for _, first in turns)]
    lasts = [*(items[last - 1].last for last, _ in turns), len(tokens)]
    return list(zip(firsts, lasts, strict=True))


class StatementSearch(BoundarySearch):
    """The search for statements in one sentence."""

    def __init__(
        self,
        tokens: Sequence[Token],
        items: list[Item],
        mentions: list[Mention],
        lexicon: Lexicon,
        marks: Marks,
    ) -> None:
        super().__init__(tokens, items, mentions, lexicon)
        self.marks = marks
        self.named = sorted(mention.at for mention in mentions)
        self.openings = _determiners(lexicon) | self.small.existing
        self.marked = marks.full_stops or any(item.word in (",", ";", ":", "(") for item in items)

    def turns(self) -> list[tuple[int, int]]:
        """Returns before which items statements end, and at which the next ones begin."""
        found: list[tuple[int, int]] = []
        first = 0
        said = self._first_said(first)
        for k in range(1, len(self.items)):
            if self.items[k].word in MARKS:
                if self._ends(first, k):
                    found.append((k, k + 1))
                    first = k + 1
                    said = self._first_said(first)
            elif k <= said or not self._may_begin(k):
                continue
            elif self.items[k - 1].last <= self.items[k].first and self._may_end(k - 1) and self._begins(first, k):
                found.append((k, k))
                first = k
                said = self._first_said(first)
        return found

    def _ends(self, first: int, mark: int) -> bool:
        """Whether a statement ends at a comma or a semicolon; a name may go on, or a colon answer, behind it."""
        if not first < mark < len(self.items) - 1 or self._is_elided(mark) or self.denied_together(first, mark):
            return False
        end = self._end(mark + 1)
        if any(item.word == ":" for item in self.items[end : end + 1]):
            return False
        return self.is_boundary(first, mark, several=self.marks.several, spanned=self._is_spanned(mark))

    def _first_said(self, first: int) -> int:
        """Returns the first item from `first` on that names a finding or something normal; else their number."""
        k = bisect_left(self.named, first)
        return self.named[k] if k < len(self.named) else len(self.items)

    def _is_denied(self, first: int, last: int) -> bool:
        return any("negation_before" in item.senses for item in self.items[first:last])

    def _is_held(self, mark: int) -> bool:
        """Whether a statement cannot end at an item: a finding is named, or has words, on both sides of it."""
        return self._is_elided(mark) or self._is_spanned(mark)

    def _is_elided(self, mark: int) -> bool:
        """Whether a finding on one side of an item is named on the other side: "except for a TRACE, no EFFUSION"."""
        before = [mention for mention in self.mentions if mention.first < mark]
        after = [mention for mention in self.mentions if mention.first > mark]
        behind = any(mention.elided in before or mention.whole_of in before for mention in after)
        return behind or any(mention.elided in after for mention in before)

    def _is_spanned(self, mark: int) -> bool:
        """Whether a finding that begins before an item includes words after it."""
        before = [mention for mention in self.mentions if mention.first < mark]
        named = {mention.at for mention in self.mentions if mention.first > mark or mention.last <= mark}
        for mention in before:
            alone = mention.at in named or (mention.at > mark and "concept" in self.items[mention.at].senses)
            if mention.last > mark and not alone:
                return True  # but "a granuloma in the left UPPER LOBE, HEART and mediastinum normal"
        return False

    def _is_denial(self, k: int) -> bool:
        """Whether a statement that begins at an item denies."""
        return self.items[k].word == "no" and not self.items[k].senses.keys().isdisjoint(("negation_before", "normal"))

    def _says(self, first: int, last: int) -> bool:
        """Whether the items between name a finding or something normal."""
        return self._first_said(first) < last

    def _may_end(self, k: int) -> bool:
        """Whether a statement may end with an item."""
        item = self.items[k]
        if item.word in self.small.separators or item.word in (":", "(", "→"):
            return False
        if item.last - item.first > 1 and self.tokens[item.last - 1].word in self.small.after_nouns:
            return False  # "suspected FROM", "unchanged SINCE"
        if not item.senses:
            return item.word not in _function_words(self.lexicon) | self.small.showing
        judges = not JUDGEMENTS.isdisjoint(item.senses)
        if judges and (_OPEN.isdisjoint(item.senses) or self.is_finite(self.items[k - 1])):
            return True  # but "with SUSPECTED adenopathy"
        if "item_break" in item.senses:
            return item.word in self.small.seen and item.word != "with"
        return _OPEN.isdisjoint(item.senses)

    def _begins(self, first: int, k: int) -> bool:
        """Whether a statement begins at an item, behind one that began at `first`."""
        item = self.items[k]
        word = self.tokens[item.first].word
        if self._is_denial(k):
            return self._says(k, len(self.items))  # "right effusion - NO" answers
        if word in self.small.existing and "clause_end" in item.senses:
            return not self._is_setting(first, k) and not self._is_held(k)
        if item.first in self.marks.capitals:
            return self._is_finished(first, k - 1) and self._says(k, self._end(k))
        determined = word in _determiners(self.lexicon)
        if not determined and (self.is_finite(item) or (self.marked and item.first not in self.marks.lines)):
            return False
        if not self._is_finished(first, k - 1) or self._is_setting(first, k):
            return False
        if determined:
            return self._has_verb(k) and self.items[k + 1].word not in self.small.dimensions
        noun, before = self._noun_from(k), self.items[k - 1].senses.keys()
        if before <= {"side"} and not (item.senses and item.senses.keys() <= _DEGREE):
            return False  # "in the right LOWER ZONE"
        if noun == k and before <= _WHERE and ("side" in before or "level" in before or not self._has_verb(k)):
            return False  # "in a right lower zone CYST", "of the right HEMIDIAPHRAGM is new", "of the fourth RIB is"
        if noun == k and self._is_compound(first, k):
            return False
        return noun >= 0 and self._is_statement(first, k, noun)

    def _may_begin(self, k: int) -> bool:
        """Whether anything speaks for the beginning of a statement at an item; for most in a report nothing."""
        first = self.items[k].first
        if first in self.marks.capitals or first in self.marks.lines:
            return True
        return self.items[k].word == "no" or self.tokens[first].word in self.openings

    def _is_setting(self, first: int, k: int) -> bool:
        """Whether the words between only lead to it: "IN THE LEFT PLEURAL SPACE a drain is seen"."""
        opening = next((j + 1 for j in range(k - 1, first, -1) if self.items[j].word in self.small.list_joints), first)
        asks = any("hypothetical" in item.senses for item in self.items[first:k])
        led = self.items[opening].word in self.small.places | self.small.premises | self.small.settings | {"the"}
        return asks or (led and not any(map(self.is_finite, self.items[opening:k])))

    def _is_compound(self, first: int, k: int) -> bool:
        """Whether two names make one: "the port LINE", "nephrectomy CLIPS", "lytic RIB LESIONS"."""
        before, name = (self.items[j].senses.get("concept") for j in (k - 1, k))
        if before is None or name is None:
            return False
        if before == name or self.lexicon.concepts[before].why == "operation":
            return True
        if self._is_device(k):
            return self._is_device(k - 1)
        return self.items[k].first not in self.marks.lines and not self._is_denied(first, k)  # "a fracture DEFORMITY"

    def _is_device(self, k: int) -> bool:
        concept = self.items[k].senses.get("concept")
        return concept is not None and self.lexicon.concepts[concept].is_device

    def _has_verb(self, k: int) -> bool:
        """Whether a finite verb follows whose subject begins at an item."""
        named = False
        for j in range(k, min(len(self.items), k + _SUBJECT)):
            item = self.items[j]
            if j > k and self.is_finite(item):
                return named
            if "clause_end" in item.senses or "negation_before" in item.senses or item.word in self.small.list_joints:
                return False
            named = named or not item.senses.keys().isdisjoint(_NOUN)
        return False

    def _is_led(self, k: int) -> bool:
        """Whether a preposition leads to an item."""
        for j in range(k - 1, max(-1, k - _LED), -1):
            if "location_preposition" in self.items[j].senses and self.items[j].word != "the":
                return True
            if self.items[j].word in self.small.separators:
                return False
        return False

    def _is_predicate(self, k: int) -> bool:
        """Whether an item is what a verb says of its subject: "is MILDLY ENLARGED", not "there are LINEAR"."""
        if self.is_finite(self.items[k]):
            return bool(self.items[k].senses.keys() & _SAID) and not self._exists(k)
        for j in range(k - 1, max(-1, k - _LED), -1):
            if self.is_finite(self.items[j]):
                return not self._exists(j)
            if self.items[j].senses.keys() - _SAID or self.items[j].word in self.small.indefinite:
                return False
        return False

    def _exists(self, k: int) -> bool:
        """Whether a verb only says that what follows is there: "THERE IS now"."""
        return self.tokens[self.items[k].first].word in self.small.existing

    def _is_finished(self, first: int, k: int) -> bool:
        """Whether nothing more is expected behind an item: it ends a noun or a predicate."""
        senses = self.items[k].senses
        if not senses:
            word = self.items[k].word
            return self._is_led(k) and word[0].isalpha() and word not in self.small.historic and word[-3:] != "ing"
        if "concept" in senses or "normal" in senses or not JUDGEMENTS.isdisjoint(senses):
            return True
        if "item_break" in senses:
            return self.items[k].word in self.small.seen and self.items[k].word != "with"
        if not senses.keys().isdisjoint(_PUT):
            return True
        if "structure" in senses and self._is_judged(first, k):
            return True
        if senses.keys() <= _WHERE:
            return self._is_led(k)
        return self._is_predicate(k) or (
            senses.get("change") == "stable" and k > first and self._is_finished(first, k - 1)
        )

    def _is_judged(self, first: int, k: int) -> bool:
        """Whether an adjective judges the structures up to an item: "NORMAL heart size and mediastinum"."""
        for j in range(k - 1, first - 1, -1):
            senses = self.items[j].senses
            if "quality" in senses and "normal" in senses["quality"]:
                return True
            if not senses.keys() <= _WHERE or not (senses or self.items[j].word == "and"):
                return False
        return False

    def _noun_from(self, k: int) -> int:
        """Returns the noun whose adjectives begin at an item, those of degree before those of place; else -1."""
        placed = False
        for j in range(k, min(len(self.items), k + _SUBJECT)):
            senses = self.items[j].senses
            if not senses.keys().isdisjoint(("concept", "normal")):
                return j
            if "structure" in senses and "zone" not in senses:
                return j
            if senses and senses.keys() <= _DEGREE and not placed:
                continue
            if senses and senses.keys() <= _PLACE:
                placed = True
                continue
            return -1
        return -1

    def _is_statement(self, first: int, k: int, noun: int) -> bool:
        """Whether what begins with a noun and its adjectives is stated by itself."""
        if self._is_denied(first, k) and self._or_ahead(noun):
            return False
        senses = self.items[noun].senses
        if "normal" in senses or self._has_verb(k):
            return True
        after = self.items[noun + 1].senses if noun + 1 < len(self.items) else {}
        if "concept" not in senses:
            return "quality" in after
        if self.lexicon.concepts[senses["concept"]].is_device:
            return True
        return noun > k or self.items[k].first in self.marks.lines

    def _or_ahead(self, noun: int) -> bool:
        """Whether "or" follows before a verb."""
        for j in range(noun, len(self.items)):
            item = self.items[j]
            if item.word in self.small.alternatives:
                return True
            if self.is_finite(item) or not item.senses.keys().isdisjoint(("clause_end", "negation_before")):
                return False
        return False


@per_lexicon
def _determiners(lexicon: Lexicon) -> frozenset[str]:
    """The words that begin a subject."""
    small = lexicon.small
    return (small.definite - small.embedding) | small.indefinite | small.pairing


@per_lexicon
def _function_words(lexicon: Lexicon) -> frozenset[str]:
    """The words that no statement ends with: those of grammar, without "today" and the like."""
    return grammar_words(lexicon) - lexicon.small.final
