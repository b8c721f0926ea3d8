"""Where a statement ends without a full stop: what follows decides.

"No pneumothorax THE HEART IS enlarged", "cardiomegaly NO edema", "no effusion SMALL LEFT pneumothorax", "cardiomegaly,
no edema, BILATERAL EFFUSIONS". A statement begins

- at "no", at "there is", and at a capital letter, where the words before it may end a statement;
- at a determiner or a noun that has a verb of its own, or something said of it ("lungs clear");
- at a described finding behind a finished one ("small left ...", "old ..."), if the report has no full stops and the
  sentence no comma;
- behind a comma, where a full stop could stand: what is before it is said in full, and what follows has a subject with
  a verb of its own, is a denial or something normal, or is a finding that is no item of the list before. A list that
  is denied ends with "or", with a verb ("no effusion is seen"), or where more is said of a finding than that it is not
  there ("no effusion, chronic scarring"). "With the exception of the base, ..." leads to what follows;
- behind a semicolon, where it could behind a comma, at "no", and at each one of a row of four or more statements that
  each name what they are about.

What a denied list names without any of these is denied with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, load_file, per_lexicon
from rrgmetrics.reading.sentence import JUDGEMENTS, SentenceView
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
_LEADING = frozenset(  # before a noun
    {
        "side",
        "zone",
        "severity",
        "count",
        "acuity",
        "change",
        "quality",
        "morphology",
        "several",
        "structure",
        "measure",
    }
    | {"resolved_before", "location_preposition"}
)
_ACUTE = frozenset({"acute", "active"})
_OLD = frozenset({"benign_expected", "not_actionable_not_urgent"})
_REASONS = frozenset({"as", "because", "since", "of", "to"})
_ASKED = frozenset({"question"})
_SUPPOSED = frozenset({"hypothetical", "communication", "retracted"})
_SUBJECT = 8  # items from the first of a subject to its verb
_LED = 4  # items from a preposition or a verb to the end of what it leads to


class Marks(NamedTuple):
    """What the writing tells of where statements begin: tokens at which it is likely.

    Attributes:
        capitals: Those with a capital, behind small letters.
        lines: Those that begin a line.
        full_stops: Whether the report has full stops: then what could be one noun phrase is one.
    """

    capitals: frozenset[int]
    lines: frozenset[int]
    full_stops: bool


def statements(
    tokens: Sequence[Token], items: list[Item], mentions: list[Mention], lexicon: Lexicon, marks: Marks
) -> list[tuple[int, int]]:
    """Returns the tokens `[first, last)` of each statement; commas between them belong to none.

    Args:
        tokens: The words of a sentence.
        items: Its items.
        mentions: Its findings.
        lexicon: What it is read with.
        marks: The tokens at which something that is no punctuation speaks for a beginning.
    """
    turns = _StatementSearch(tokens, items, mentions, lexicon, marks).turns() if mentions and len(items) > 2 else []
    firsts = [0, *(items[first].first for _, first in turns)]
    lasts = [*(items[last - 1].last for last, _ in turns), len(tokens)]
    return list(zip(firsts, lasts, strict=True))


class _StatementSearch(SentenceView):
    """The search for statements in one sentence."""

    def __init__(
        self,
        tokens: Sequence[Token],
        items: list[Item],
        mentions: list[Mention],
        lexicon: Lexicon,
        marks: Marks,
    ) -> None:
        super().__init__(items, mentions, lexicon)
        self.tokens, self.marks = tokens, marks
        self.named = sorted(mention.at for mention in mentions)
        self.listed = bool(items) and not any("negation_before" in i.senses for i in items[: self._end(0)])
        self.openings = _determiners(lexicon) | self.small.existing
        self.marked = marks.full_stops or any(item.word in (",", ";", ":", "(") for item in items)

    def turns(self) -> list[tuple[int, int]]:
        """Returns before which items statements end, and at which the next ones begin."""
        found: list[tuple[int, int]] = []
        first = 0
        said = self._first_said(first)
        for k in range(1, len(self.items)):
            if self.items[k].word in (",", ";"):
                if self._parts(first, k):
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

    def _first_said(self, first: int) -> int:
        """Returns the first item from `first` on that names a finding or something normal; else their number."""
        k = bisect_left(self.named, first)
        return self.named[k] if k < len(self.named) else len(self.items)

    def _is_denied(self, first: int, last: int) -> bool:
        return any("negation_before" in item.senses for item in self.items[first:last])

    def _parts(self, first: int, comma: int) -> bool:
        """Tells whether a full stop could stand for a comma: what is on either side is whole without the other."""
        behind = comma + 1
        if behind == len(self.items) or self._leans(behind) or self._is_held(comma):
            return False
        end = self._end(behind)
        if self.items[comma].word == ";":
            pointing = self.items[behind].word in self.small.subjects | self.small.pointers
            if pointing or not self._says(first, comma):
                return False  # "a pneumothorax is not visible; IT cannot be excluded"
            if self._is_denial(behind) and self._says(behind, end):
                return True
        if not self._is_whole(first, comma) or (end < len(self.items) and self.items[end].word == ":"):
            return False
        if self._is_clause(first, comma) or (self.items[behind].word == "no" and self._says(behind, end)):
            return True
        if self._is_remark(behind, end) or self._is_summary(behind, end):
            return True
        named = next((m for m in self.mentions if behind <= m.first < end), None)
        denial = self._denial(first, comma)
        doubted = denial >= 0 and self._is_doubt(behind)
        if named is None or not self._leads(behind + doubted, named.first):
            return False
        if named.denies:
            return True
        if self._or_ahead(behind) or self._is_headed(first, comma):
            return doubted
        if denial < 0 and not self._is_denied(first, comma):
            more = self._is_described(behind, named, end) or self._is_predicated(first, comma)
            return more and not self._is_reading(named, comma)
        return doubted or self._is_closed(denial, comma, named, end) or self._is_no_item(behind, named, denial, end)

    def _leans(self, k: int) -> bool:
        """Tells whether no statement begins with a word, only what is said of one: "WHICH is new", "OBSCURING the"."""
        word = self.items[k].word
        if word in self.small.separators | self.small.relative | self.small.contrasts | _REASONS:
            return True
        senses = self.items[k].senses
        verbal = word.endswith("ing") and "concept" not in senses
        return "quality" in senses and (verbal or self.next_word(k) in self.small.definite)

    def _is_doubt(self, k: int) -> bool:
        """Tells whether a finding is doubted by an adjective: "POSSIBLE small effusion", "QUESTION left effusion"."""
        item = self.items[k]
        after = "possible_after" in item.senses or "probable_after" in item.senses
        return (after and item.last - item.first == 1) or item.word in _ASKED

    def _is_headed(self, first: int, comma: int) -> bool:
        """Tells whether a heading or a list of readings goes on: "RIGHT: small effusion, basal atelectasis"."""
        return any(item.word == ":" or "possible_list" in item.senses for item in self.items[first:comma])

    def _is_held(self, comma: int) -> bool:
        """Tells whether a finding behind a comma has its words, or its name, from before it."""
        before = [mention for mention in self.mentions if mention.first < comma]
        after = [mention for mention in self.mentions if mention.first > comma]
        if any(mention.elided in before or mention.whole_of in before for mention in after):
            return True
        if any(mention.elided in after for mention in before):
            return True  # "except for a TRACE on the left, no EFFUSION"
        named = {mention.at for mention in self.mentions if mention.first > comma or mention.last <= comma}
        for mention in before:
            alone = mention.at in named or (mention.at > comma and "concept" in self.items[mention.at].senses)
            if mention.last > comma and not alone:
                return True  # but "a granuloma in the left UPPER LOBE, HEART and mediastinum normal"
        return False

    def _is_whole(self, first: int, comma: int) -> bool:
        """Tells whether what stands before a comma is said in full, and leads to nothing behind it."""
        ahead = self._part(first, comma)
        if not (self._may_end(comma - 1) or "item_break" in self.items[comma - 1].senses) or any(
            not item.senses.keys().isdisjoint(_SUPPOSED) for item in self.items[first:comma]
        ):
            return False
        opening = self.items[ahead].word
        if self._is_denial(ahead):
            return True
        if self.items[first].word in self.small.historic:
            return False
        if any(self._is_finite(j) for j in range(ahead + 1, comma)):
            about = any(not item.senses.keys().isdisjoint(_NOUN) for item in self.items[ahead:comma])
            verb = max(j for j in range(ahead + 1, comma) if self._is_finite(j))
            tells = any(token.word in self.small.embedding for token in self._tokens(verb, comma))
            shown = self.items[verb].word in self.small.showing  # "shows multiple SMALL, round nodules"
            tells = tells or (shown and all(_NOUN.isdisjoint(i.senses) for i in self.items[verb + 1 : comma]))
            return about and not tells and opening not in self.small.contrasts
        if self.items[first].word in _openings(self.lexicon) or self._is_setting(first, comma):
            return False
        if not self._says(first, comma):
            return self._is_remark(first, comma)
        last = self.items[comma - 1].senses.keys()
        placed = bool(last) and last <= {"side"} and "item_break" in self.items[comma - 2].senses  # "seen BILATERALLY"
        return placed or "item_break" in last or self._is_finished(first, comma - 1)

    def _is_clause(self, first: int, comma: int) -> bool:
        """Tells whether a clause with a verb of its own begins behind a comma, and its subject is no list before it."""
        behind = comma + 1
        opening = self.items[behind].word
        if opening in self.small.existing:
            return True
        if opening in self.small.pointers:
            return self._is_finite(behind + 1) if behind + 1 < len(self.items) else False
        if opening in self.small.places:  # "IN THE LEFT BASE, THERE IS a nodule"
            then = self._end(behind) + 1
            return then < len(self.items) and (self.items[then].word in self.small.existing or self._has_verb(then))
        if not self._has_verb(behind):
            return False
        verb = next(j for j in range(behind, len(self.items)) if self._is_finite(j))
        if any(token.word in self.small.relative for token in self._tokens(behind, verb)):
            return False  # "the leads OF WHICH end in the right atrium"
        if opening in self.small.definite | self.small.indefinite | self.small.pairing:
            return True
        if self._denial(first, comma) < 0 and any(self._is_finite(j) for j in range(first, comma)):
            return True
        return not self._or_ahead(behind) and "concept" not in self.items[self._noun_from(behind)].senses

    def _is_remark(self, first: int, last: int) -> bool:
        """Tells whether words speak of a structure and name no finding: "stable appearance of the mediastinum"."""
        if self._says(first, last):
            return False
        about = next((j for j in range(first, last) if "structure" in self.items[j].senses), -1)
        if about < 0 or not any("change" in item.senses for item in self.items[first:last]):
            return False
        led = (token.word for token in self._tokens(first, about))
        return self.small.after_nouns.isdisjoint(word for word in led if word != "of")  # but "unchanged SINCE the film"

    def _is_summary(self, first: int, last: int) -> bool:
        """Tells whether words compare the whole study with another: "OVERALL no interval change"."""
        if self.items[first].word not in self.small.summing or self._says(first, last):
            return False
        return any("change" in item.senses for item in self.items[first:last])

    def _part(self, first: int, comma: int) -> int:
        """Returns where the words that a comma ends begin: behind the comma before it, or at `first`."""
        return max((j + 1 for j in range(first, comma) if self.items[j].word == ","), default=first)

    def _tokens(self, first: int, last: int) -> Sequence[Token]:
        """Returns the words of the items between."""
        return self.tokens[self.items[first].first : self.items[last].first]

    def _leads(self, first: int, noun: int) -> bool:
        """Tells whether the words between only describe what they lead to."""
        led = self.items[first:noun]
        return all(i.senses.keys() <= _LEADING if i.senses else i.word == "and" or i.word.endswith("ed") for i in led)

    def _denial(self, first: int, comma: int) -> int:
        """Returns the last denial before a comma that no verb has ended; -1 if there is none."""
        for j in range(comma - 1, first - 1, -1):
            if not self.items[j].senses.keys().isdisjoint(("negation_before", "resolved_before")):
                return j
            if self._is_finite(j):
                return -1
        return -1

    def _goes_with(self, k: int) -> bool:
        """Tells whether an item describes the noun before it."""
        return bool(self.items[k].senses) or self.items[k].word in self.small.places

    def _is_closed(self, denial: int, comma: int, named: Mention, end: int) -> bool:
        """Tells whether the last item of a denied list stands before a comma: "no effusion OR PNEUMOTHORAX,"."""
        if named.last < end and not (self._is_finite(named.last) or self._goes_with(named.last)):
            return False  # "no edema or pneumonia, tuberculosis INCLUDED"
        if denial < 0:
            return True  # "no effusion IS SEEN,"
        last = max((j for j in range(denial, comma) if self.items[j].word in ("or", "nor")), default=-1)
        return any(denial < m.first < last for m in self.mentions) and self._says(last, comma)

    def _is_no_item(self, behind: int, named: Mention, denial: int, end: int) -> bool:
        """Tells whether a finding is no item of the denied list before it."""
        if "resolved_before" in self.items[denial].senses and self.items[denial].word != "no":
            return False  # "removal of the tube, drain and line"
        denied = self.items[denial + 1 : behind - 1]
        leads = (bool(item.senses) and item.senses.keys() <= _DEGREE - {"quality"} for item in denied)
        whole = not denied or not all(leads)  # "no SHIFT, ...", but "no ACUTE, displaced fracture"
        if (self.listed and whole) or self._is_seen(behind):
            return True
        if self._has_verb(behind) and (named.first > behind or self._is_placed(behind, end)):
            return True
        acute = any(token.word in _ACUTE for token in self._tokens(denial, behind))
        return acute and (named.first > behind or self.lexicon.concepts[named.concept].significance in _OLD)

    def _is_described(self, behind: int, named: Mention, end: int) -> bool:
        """Tells whether a finding is described, so that it is more than an item of a list."""
        before = self._last_before(behind)
        listed = before is not None and self.is_device(before) and self.is_device(named)
        more = named.first > behind or named.last - named.first > 1
        tail = self.items[end + 1 : self._end(end + 1)]  # "left effusion, left lower lobe collapse, INCREASED"
        shared = any("change" in i.senses for i in tail) and all(_NOUN.isdisjoint(i.senses) for i in tail)
        return more and not listed and not shared and self._is_placed(behind, end)

    def _is_predicated(self, first: int, comma: int) -> bool:
        """Tells whether a predicate that is no noun ends before a comma: "the aorta IS TORTUOUS, ...", no list."""
        ahead = self._part(first, comma)
        verb = max((j for j in range(ahead + 1, comma) if self._is_finite(j)), default=-1)
        if verb < 0 or self._exists(verb) or self.items[verb].word in self.small.showing:
            return False
        return all(_NOUN.isdisjoint(item.senses) for item in self.items[verb:comma])

    def _is_placed(self, first: int, last: int) -> bool:
        """Tells whether words between name a place: "left", "at the bases", "of T9"."""
        return any(not item.senses.keys().isdisjoint(("side", "zone", "level")) for item in self.items[first:last])

    def _is_reading(self, named: Mention, comma: int) -> bool:
        """Tells whether a finding can be what the picture before it shows: "a patchy opacity, EARLY PNEUMONIA"."""
        before = self._last_before(comma)
        if before is None or before.denies:
            return False
        kinds = self._ancestors(before) | self._ancestors(named)
        kind = not kinds.isdisjoint((before.concept, named.concept))  # "SEPTATED, loculated effusion"
        described = before.concept in self.lexicon.roles["describing"] | self.lexicon.roles["replaceable"]
        return kind or (described and self.same_picture(before, named))

    def _ancestors(self, mention: Mention) -> frozenset[str]:
        return frozenset(self.lexicon.concepts[mention.concept].ancestors)

    def _last_before(self, k: int) -> Mention | None:
        """Returns the last mention before an item."""
        return max((m for m in self.mentions if m.first < k), key=lambda m: m.last, default=None)

    def _is_denial(self, k: int) -> bool:
        """Tells whether a statement that begins at an item denies."""
        return self.items[k].word == "no" and not self.items[k].senses.keys().isdisjoint(("negation_before", "normal"))

    def _end(self, k: int) -> int:
        """Returns the next comma or the like behind an item."""
        return next((j for j in range(k, len(self.items)) if self.items[j].word in (",", ";", ":")), len(self.items))

    def _is_seen(self, k: int) -> bool:
        """Tells whether a described finding is said to be seen: "LEFT rib fractures NOTED"."""
        noun = self._noun_from(k)
        behind = self.items[noun + 1 : self._end(k)]
        return noun > k and any(item.word in self.small.seen and item.word != "with" for item in behind)

    def _says(self, first: int, last: int) -> bool:
        """Tells whether the items between name a finding or something normal."""
        return self._first_said(first) < last

    def _is_finite(self, k: int) -> bool:
        item = self.items[k]
        return any(token.word in self.small.finite for token in self.tokens[item.first : item.last])

    def _may_end(self, k: int) -> bool:
        """Tells whether a statement may end with an item."""
        item = self.items[k]
        if item.word in self.small.separators or item.word in (":", "(", "→"):
            return False
        if item.last - item.first > 1 and self.tokens[item.last - 1].word in self.small.after_nouns:
            return False  # "suspected FROM", "unchanged SINCE"
        if not item.senses:
            return item.word not in _function_words(self.lexicon)
        if not JUDGEMENTS.isdisjoint(item.senses) and (_OPEN.isdisjoint(item.senses) or self._is_finite(k - 1)):
            return True  # but "with SUSPECTED adenopathy"
        if "item_break" in item.senses:
            return item.word in self.small.seen and item.word != "with"
        return _OPEN.isdisjoint(item.senses)

    def _begins(self, first: int, k: int) -> bool:
        """Tells whether a statement begins at an item, behind one that began at `first`."""
        item = self.items[k]
        word = self.tokens[item.first].word
        if self._is_denial(k):
            return self._says(k, len(self.items))  # "right effusion - NO" answers
        if word in self.small.existing and "clause_end" in item.senses:
            return not self._is_setting(first, k) and not self._is_held(k)
        if item.first in self.marks.capitals:
            return self._is_finished(first, k - 1) and self._says(k, self._end(k))
        determined = word in _determiners(self.lexicon)
        if not determined and (self._is_finite(k) or (self.marked and item.first not in self.marks.lines)):
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
        """Tells whether anything speaks for the beginning of a statement at an item; for most in a report nothing."""
        first = self.items[k].first
        if not self.marked or first in self.marks.capitals or first in self.marks.lines:
            return True
        return self.items[k].word == "no" or self.tokens[first].word in self.openings

    def _is_setting(self, first: int, k: int) -> bool:
        """Tells whether the words between only lead to it: "IN THE LEFT PLEURAL SPACE a drain is seen"."""
        opening = next((j + 1 for j in range(k - 1, first, -1) if self.items[j].word in self.small.list_joints), first)
        asks = any("hypothetical" in item.senses for item in self.items[first:k])
        led = self.items[opening].word in self.small.places | self.small.premises | self.small.settings | {"the"}
        return asks or (led and not any(self._is_finite(j) for j in range(opening, k)))

    def _is_compound(self, first: int, k: int) -> bool:
        """Tells whether two names make one: "the port LINE", "nephrectomy CLIPS", "lytic RIB LESIONS"."""
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
        """Tells whether a finite verb follows whose subject begins at an item."""
        named = False
        for j in range(k, min(len(self.items), k + _SUBJECT)):
            item = self.items[j]
            if j > k and self._is_finite(j):
                return named
            if "clause_end" in item.senses or "negation_before" in item.senses or item.word in self.small.list_joints:
                return False
            named = named or not item.senses.keys().isdisjoint(_NOUN)
        return False

    def _is_led(self, k: int) -> bool:
        """Tells whether a preposition leads to an item."""
        for j in range(k - 1, max(-1, k - _LED), -1):
            if "location_preposition" in self.items[j].senses and self.items[j].word != "the":
                return True
            if self.items[j].word in self.small.separators:
                return False
        return False

    def _is_predicate(self, k: int) -> bool:
        """Tells whether an item is what a verb says of its subject: "is MILDLY ENLARGED", not "there are LINEAR"."""
        if self._is_finite(k):
            return bool(self.items[k].senses.keys() & _SAID) and not self._exists(k)
        for j in range(k - 1, max(-1, k - _LED), -1):
            if self._is_finite(j):
                return not self._exists(j)
            if self.items[j].senses.keys() - _SAID or self.items[j].word in self.small.indefinite:
                return False
        return False

    def _exists(self, k: int) -> bool:
        """Tells whether a verb only says that what follows is there: "THERE IS now"."""
        return self.tokens[self.items[k].first].word in self.small.existing

    def _is_finished(self, first: int, k: int) -> bool:
        """Tells whether nothing more is expected behind an item: it ends a noun or a predicate."""
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
        """Tells whether an adjective judges the structures up to an item: "NORMAL heart size and mediastinum"."""
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
        """Tells whether what begins with a noun and its adjectives is stated by itself."""
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
        """Tells whether "or" follows before a verb."""
        for j in range(noun, len(self.items)):
            item = self.items[j]
            if item.word in self.small.alternatives:
                return True
            if self._is_finite(j) or not item.senses.keys().isdisjoint(("clause_end", "negation_before")):
                return False
        return False


@per_lexicon
def _determiners(lexicon: Lexicon) -> frozenset[str]:
    """The words that begin a subject."""
    small = lexicon.small
    return (small.definite - small.embedding) | small.indefinite | small.pairing


@per_lexicon
def _openings(lexicon: Lexicon) -> frozenset[str]:
    """The words that lead to a statement behind a comma: "WITH the exception of the left base, the lungs are clear"."""
    small = lexicon.small
    return small.places | small.premises | small.settings | small.opening | small.contrasts


@per_lexicon
def _function_words(lexicon: Lexicon) -> frozenset[str]:
    """The words that no statement ends with: those of grammar, without "today" and the like."""
    return frozenset(map(str, load_file("vocabulary", lexicon.key)["grammar"])) - lexicon.small.final
