"""Where a sentence begins anew: "The heart is enlarged, AND THERE IS a small effusion" says two things.

Nothing said in one main clause, be it denial, doubt, place or change, reaches into the next. So each is read as a
sentence of its own, as it would be behind a full stop. A clause that needs the one before it ("the left IS CLEAR", "an
old ONE of the clavicle", "and pneumonia is likely") stays with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.sentence import SentenceView
from rrgmetrics.reading.tokens import Token

_WHOLE = frozenset({"communication", "retracted"})  # speak of all that the sentence says
_TURNS = frozenset({",", ";"})
_TOLD = frozenset({",", ":", "that"})  # behind them stands what people were told
_ASKING = frozenset({"hypothetical", "recommendation"})
_HEDGES = frozenset(
    {
        "possible_before",
        "possible_after",
        "possible_list",
        "probable_before",
        "probable_after",
        "not_excluded_before",
        "not_excluded_after",
        "versus",
        "evidenced_by",
        "preferred_to",
    }
)
_ONE, _MANY, _UNLIKE = "one", "many", "unlike"  # of how many a verb speaks; unlike: of more than its subject names
_NAMING = frozenset({"concept", "structure", "normal", "listed", "lone", "tip"})


def main_clauses(
    tokens: Sequence[Token], items: list[Item], mentions: list[Mention], lexicon: Lexicon
) -> list[tuple[int, int]]:
    """Returns the tokens `[first, last)` of each main clause; joints between them belong to none."""
    joints = lexicon.small.clause_joints
    kinds = frozenset().union(*(item.senses for item in items))
    remark = opening = 0
    if "communication" in kinds:
        remark, opening = _people_from(items, mentions), _people_until(tokens, items, mentions, lexicon)
    if not remark and not kinds.isdisjoint(_ASKING):
        remark = _advice_from(items, mentions)
    if remark:
        before = main_clauses(tokens, items[:remark], [m for m in mentions if m.last <= remark], lexicon)
        return [*before[:-1], (before[-1][0], items[remark - 1].last), (items[remark].last, len(tokens))]
    if not opening and items[0].word in lexicon.small.contrasts:
        opening = _conceded_until(items, mentions)
    if opening:
        return [(0, items[opening].first), (items[opening].first, len(tokens))]
    if len(mentions) < 2 or not any(item.word in joints for item in items):
        return [(0, len(tokens))]
    if not kinds.isdisjoint(_WHOLE):
        return [(0, len(tokens))]
    found = _ClauseSearch(tokens, items, mentions, lexicon).found()
    return [(items[first].first, items[last - 1].last) for first, last in found]


def _people_from(items: Sequence[Item], mentions: Sequence[Mention]) -> int:
    """Returns the joint behind which a sentence turns to people: "right main bronchus; RN NOTIFIED"; 0 for none."""
    cue = next((i for i, item in enumerate(items) if "communication" in item.senses), 0)
    joint = next((i for i in range(cue - 1, 0, -1) if items[i].word in _TURNS), 0)
    found = any(mention.last <= joint for mention in mentions)
    return joint if found and not any(joint < mention.last <= cue for mention in mentions) else 0


def _people_until(tokens: Sequence[Token], items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> int:
    """Returns where a sentence turns from people to the film: "Dr Smith was told that THERE IS an effusion"."""
    cue = max((i for i, item in enumerate(items) if "communication" in item.senses), default=None)
    if cue is None or not mentions or any(mention.first <= cue for mention in mentions):
        return 0
    for k in range(cue + 1, mentions[0].first + 1):
        verbs = (token for token in tokens[items[k].first :] if token.word in lexicon.small.finite)
        if (items[k - 1].word in _TOLD and any(verbs)) or items[k].word in lexicon.small.existing:
            return k
    return 0


def _conceded_until(items: Sequence[Item], mentions: Sequence[Mention]) -> int:
    """Returns where the main clause begins: "although the bases are excluded, THE HEART is enlarged"."""
    comma = next((i for i, item in enumerate(items) if item.word == ","), 0)
    if not comma or comma + 1 == len(items) or any(mention.first < comma for mention in mentions):
        return 0
    return comma + 1


def _advice_from(items: Sequence[Item], mentions: Sequence[Mention]) -> int:
    """Returns the joint behind which a sentence advises: "effusion, REPEAT FILM to ensure resolution"; 0 for none."""
    for joint in range(1, len(items) - 1):
        supposes = items[joint].word == ";" and "hypothetical" in items[joint + 1].senses
        advises = supposes or (items[joint].word in _TURNS and "recommendation" in items[joint + 1].senses)
        if advises and any(mention.last <= joint for mention in mentions):
            return joint
    return 0


class _ClauseSearch(SentenceView):
    """The search for main clauses in one sentence."""

    def __init__(self, tokens: Sequence[Token], items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
        super().__init__(items, mentions, lexicon)
        self.tokens = tokens
        self.verbs = [self._verb(item) for item in items]
        self.joints = [item.word in self.small.clause_joints for item in items]

    def found(self) -> list[tuple[int, int]]:
        """Returns the items `[first, last)` of each clause."""
        clauses: list[tuple[int, int]] = []
        first = i = 0
        while i < len(self.items):
            if self.joints[i] and i > first:
                behind = i + 1
                while behind < len(self.items) and self.joints[behind]:
                    behind += 1
                if self._parts(first, i, behind) and self._begins(first, i, behind):
                    clauses.append((first, i))
                    first = behind
                i = behind
            else:
                i += 1
        return [*clauses, (first, len(self.items))]

    def _verb(self, item: Item) -> Token | None:
        """Returns the finite verb of an item, which may be a phrase ("HAS increased")."""
        return next((t for t in self.tokens[item.first : item.last] if t.word in self.small.finite), None)

    def _parts(self, first: int, joint: int, behind: int) -> bool:
        """Whether findings are on both sides of a joint, and none needs what is on the other side."""
        before = [m for m in self.mentions if first <= m.first and m.first < joint]
        after = [m for m in self.mentions if m.last > behind]
        if not before or not after or any(m.elided is not None or m.whole_of in before for m in after):
            return False
        if any(m.elided in after for m in before):
            return False  # "apart from a TRACE on the left, there is no EFFUSION"
        if any(m in before for m in after) and not self._is_whole(behind):
            return False
        if self.items[joint].word == ";":
            return True
        clause = self.items[behind : self._end(behind)]
        if not any(item.senses.keys() & _HEDGES or item.word in self.small.questions for item in clause):
            return True
        doubted = [m for m in after if m.first < behind + len(clause) and not m.denies]
        return not any(self.same_picture(a, b) for a in before if not a.denies for b in doubted)

    def _is_whole(self, first: int) -> bool:
        """Whether a clause has subject, verb and predicate: "the aorta is TORTUOUS", not "is as well"."""
        verb = next((k for k in range(first, len(self.items)) if self.verbs[k]), len(self.items))
        said = any(item.senses for item in self.items[verb + 1 : verb + 5]) or bool(
            verb < len(self.items) and self.items[verb].senses.keys() & {"quality", "change"}
        )
        return bool(self._predicate(first, listed=True)) and said

    def _begins(self, first: int, joint: int, behind: int) -> bool:
        """Whether a main clause begins at `behind`: it has a subject and a verb of its own."""
        words = {item.word for item in self.items[joint:behind]}
        if ";" in words:
            return True
        ahead, opening = self.items[first:joint], self.items[behind].word
        if opening in self.small.pointers | self.small.relative or any(item.senses.keys() & _ASKING for item in ahead):
            return False
        if opening in self.small.existing and any(self.verbs[behind : behind + 2]):
            return True
        last = max((k for k in range(first, joint) if self.verbs[k]), default=-1)
        if last < 0:
            shared = words != {",", "and"} or opening not in self.small.definite
            return not (shared or self.denied_together(first, behind)) and self._predicate(behind, listed=False) == _ONE
        if ahead[0].word in self.small.premises | self.small.opening:
            return False
        if any(t.word in self.small.embedding for t in self.tokens[self.items[last].first : self.items[joint].first]):
            return False
        complete = not any(self.joints[last:joint])
        predicate = self._predicate(behind, listed=complete or words != {"and"})
        return predicate in (_ONE, _MANY) or (predicate == _UNLIKE and complete and words == {",", "and"})

    def _end(self, first: int) -> int:
        """Returns where the words from `first` on are joined to others."""
        return next((k for k in range(first + 1, len(self.items)) if self.joints[k]), len(self.items))

    def _predicate(self, first: int, *, listed: bool) -> str:
        """Tells of how many the verb speaks whose subject begins at `first`, and may be a list; "" if there is none."""
        named = joined = closed = False
        for k in range(first, len(self.items)):
            item, verb = self.items[k], self.verbs[k]
            if self.joints[k]:
                joined = True
                if closed or not (listed and named) or item.word == ";":
                    return ""
            closed = closed or item.word in self.small.alternatives  # "edema OR MASS, the heart and aorta are normal"
            named = named or not item.senses.keys().isdisjoint(_NAMING)
            if verb is not None and (k > first or named):
                one = verb.word in self.small.single or verb.is_plural or verb.word in self.small.modal
                if not named or (one and joined):
                    return ""
                if one:
                    return _ONE
                return _MANY if joined or any(map(self._is_many, self.items[first : k + 1])) else _UNLIKE
        return ""

    def _is_many(self, item: Item) -> bool:
        """Whether an item speaks of more than one: "the lungs", "both hila", "two nodules"."""
        if item.word in self.small.pairing or not item.senses.keys().isdisjoint({"count", "several"}):
            return True
        return any(token.is_plural for token in self.tokens[item.first : item.last])
