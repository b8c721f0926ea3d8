"""Whether a comma or a semicolon parts two statements: a logistic regression on what is on either side of it.

"The heart is enlarged, NO EFFUSION, SMALL NODULE in the lingula" holds three statements, "no effusion, nodule or mass"
one. Both are common, and no single word decides. So each mark is weighed: by the words beside it, by what its two
sides hold (a verb, a finding, something normal, a structure), by the denial that is open before it and by how the list
goes on behind it. The weights, in `boundaries.tsv`, come from invented reports only; `make boundaries` finds them
again. A sentence in a table of the reader's tests is one more example, and `scripts/boundary_examples.txt` says at
which of its marks statements end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from rrgmetrics.reading.comparatives import CHEST
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, load_file, per_lexicon
from rrgmetrics.reading.sentence import LOOK_AHEAD, SentenceView
from rrgmetrics.reading.tokens import Token

MARKS = frozenset({",", ";"})
WEIGHTS = Path(__file__).with_suffix(".tsv")
_ENDS = MARKS | {":"}
_HELD = ("verb", "concept", "normal", "structure")  # what a side may hold
_SAYING = frozenset({"verb", "concept", "normal", "quality", "negation_before"})
_LISTED = frozenset({"or", "nor", "and", "with"})
_ENDINGS = ("ing", "ed", "ly", "al", "ar", "ic", "ous", "s")
INCLUDING = frozenset({"including", "include", "namely"})  # before a part of what is named before
_COURSE = frozenset({"change", "earlier_study", "location_preposition", "severity"})
_DENYING = frozenset({"negation_before", "resolved_before"})
_DOUBTING = frozenset({"possible_before", "possible_list", "probable_before", "not_excluded_before", "evidenced_by"})
_PLACE = frozenset({"side", "zone", "level"})
_SPANNED = 4.0  # log odds that a mark needs on both sides of which a finding has words
_SELDOM = 2.5  # and that a comma needs more where full stops or semicolons end statements
_USUAL = -2.5  # log odds that suffice for one of several semicolons in a sentence: they take the place of full stops
_MOST = 6  # items; what is longer counts as long
_FEW = 3  # marks
_LED = 3  # items before a finding that are looked at


class BoundarySearch(SentenceView):
    """The items of a sentence, with what tells whether a mark between them parts two statements."""

    def __init__(self, tokens: Sequence[Token], items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
        super().__init__(items, mentions, lexicon)
        self.tokens = tokens
        self.semicolons = sum(item.word == ";" for item in items)
        self.firsts = [mention.first for mention in mentions]

    def is_boundary(self, first: int, mark: int, *, several: bool, spanned: bool) -> bool:
        """Whether a statement that begins at an item ends at a mark.

        Args:
            first: The item.
            mark: A comma or a semicolon behind it.
            several: Whether a section of the report has several sentences.
            spanned: Whether the words of a finding lie on both sides of the mark.
        """
        end = self._end(mark + 1)
        if self.items[mark].word == "," and self._is_course(mark + 1, end):
            return False  # "cardiomegaly, NO CHANGE FROM THE PRIOR STUDY"
        if self._word(mark + 1) in INCLUDING:
            return False
        says = not _SAYING.isdisjoint(self._held(mark + 1, end))
        if spanned and not says:
            return False  # "nodes: right paratracheal, 18 mm; SUBCARINAL, 22 mm"
        needed = _SPANNED if spanned else 0.0
        if self.items[mark].word == ",":
            needed += _SELDOM if several else 0.0
        elif says and not spanned and self.semicolons > 1:
            needed = _USUAL
        return log_odds(WEIGHTS, self.features(first, mark)) > needed

    def _is_course(self, first: int, last: int) -> bool:
        """Whether the items between name only a change since an earlier study."""
        items = [item for item in self.items[first:last] if item.senses.get("structure") != CHEST]
        if not items or not items[0].senses:
            return False  # "OVERALL no change"
        return any("change" in item.senses for item in items) and all(item.senses.keys() <= _COURSE for item in items)

    def features(self, first: int, mark: int) -> Iterator[str]:
        """Yields what speaks for or against the end of a statement that begins at an item, at a mark behind it."""
        items, behind, end = self.items, mark + 1, self._end(mark + 1)
        first, last = max(first, mark - LOOK_AHEAD), behind + LOOK_AHEAD  # linear in texts without full stops
        part = max((j + 1 for j in range(first, mark) if items[j].word == ","), default=first)
        denial, ahead = self._denial(first, mark), self._ahead(behind, last)
        left, whole, right, after = (
            self._held(*span) for span in ((part, mark), (first, mark), (behind, end), (end + 1, self._end(end + 1)))
        )
        before = max(self._mentions(first, mark), key=lambda m: m.last, default=None)
        named = next(iter(self._mentions(behind, end)), None)
        lists = [flags(held) for held in (left, whole, right, after)]
        near = (mark - 2, mark - 1, *range(behind, behind + _LED), first, part, end - 1, end + 1)
        kind, word = {k: self._kind(k) for k in near}.__getitem__, self._word
        commas = min(sum(item.word in MARKS for item in items[behind:last]), _FEW)
        passed = min(sum(item.word == "," for item in items[first:mark]), _FEW)
        led = "+".join(kind(j) for j in range(behind, min(named.first, behind + _LED))) if named else "-"
        groups = self._group(before), self._group(named)
        joint = self._joint(behind, last)
        doubt = str(any(not _DOUBTING.isdisjoint(item.senses) for item in items[first:mark]))
        semicolons = str(self.semicolons > 0)
        yield from map(
            ":".join,
            (
                ("mark", items[mark].word),
                ("mark, semicolons", items[mark].word, semicolons),
                ("mark, semicolons, right", items[mark].word, semicolons, denial, lists[2]),
                ("doubt", doubt, str("verb" in right), led),
                ("doubt, right", doubt, lists[2], joint),
                ("doubt, part", doubt, lists[0], lists[2]),
                ("joint", joint, denial),
                ("joint, sides", joint, lists[0], lists[2]),
                ("joint, openings", joint, kind(part), kind(behind)),
                ("joint, group", joint, denial, groups[1]),
                ("kind before", kind(mark - 1)),
                ("kinds before", kind(mark - 2), kind(mark - 1)),
                ("kind behind", kind(behind)),
                ("kinds behind", kind(behind), kind(behind + 1)),
                ("three behind", kind(behind), kind(behind + 1), kind(behind + 2)),
                ("around", kind(mark - 1), kind(behind)),
                ("word before", word(mark - 1)),
                ("word behind", word(behind)),
                ("words behind", word(behind), word(behind + 1)),
                ("words around", word(mark - 1), word(behind)),
                ("opening", kind(first)),
                ("opening word", word(first)),
                ("part opening", kind(part)),
                ("part opening word", word(part)),
                ("openings", kind(part), kind(behind)),
                ("sides", lists[0], lists[2]),
                ("statement", lists[1]),
                ("right", lists[2]),
                ("denial", denial),
                ("denial, behind", denial, kind(behind)),
                ("denial, right, ahead", denial, lists[2], ahead),
                ("denial, group", denial, groups[1]),
                ("denial, concept", denial, concept_name(named)),
                ("denial, concept before", denial, concept_name(before)),
                ("ahead", ahead, denial, str(commas)),
                ("next", word(end), kind(end + 1), denial),
                ("end", kind(end - 1), lists[2]),
                ("after", lists[3], str("or" in after), denial),
                ("length", str(min(end - behind, _MOST)), lists[2], denial),
                ("length before", str(min(mark - part, _MOST)), lists[0]),
                ("marks behind", str(commas)),
                ("marks before", str(passed), denial),
                ("groups", *groups),
                ("same group", str(groups[0] == groups[1]), denial, lists[2]),
                ("concepts", concept_name(before), concept_name(named), denial),
                ("concept behind", concept_name(named)),
                ("concept before", concept_name(before)),
                ("led", led),
                ("denial, led", denial, led),
                ("verbs", str("verb" in whole), str("verb" in left), str("verb" in right), denial),
                ("places", str(bool(left & _PLACE)), str(bool(right & _PLACE)), denial, lists[2]),
            ),
        )
        yield from (f"before holds:{each}" for each in sorted(left))
        yield from (f"behind holds:{each}" for each in sorted(right))
        yield from (f"denial, behind holds:{denial}:{each}" for each in sorted(right))

    def _mentions(self, first: int, last: int) -> list[Mention]:
        """Returns the mentions that begin at the items between."""
        return self.mentions[bisect_left(self.firsts, first) : bisect_left(self.firsts, last)]

    def _end(self, k: int) -> int:
        """Returns the next comma or the like from an item on."""
        return next((j for j in range(k, len(self.items)) if self.items[j].word in _ENDS), len(self.items))

    def _word(self, k: int) -> str:
        return self.items[k].word if 0 <= k < len(self.items) else "-"

    def _kind(self, k: int) -> str:
        """Returns what kind of word an item is: its senses, a word of grammar, or how it ends."""
        if not 0 <= k < len(self.items):
            return "-"
        item = self.items[k]
        grammar = item.word in grammar_words(self.lexicon)
        if item.senses:
            return "+".join([*([item.word] if grammar else []), *sorted(item.senses)])
        if grammar:
            return item.word
        if self.is_finite(item):
            return "verb"
        return (
            "number" if item.word[0].isdigit() else next(("-" + e for e in _ENDINGS if item.word.endswith(e)), "word")
        )

    def is_finite(self, item: Item) -> bool:
        """Whether an item has a finite verb."""
        return any(token.word in self.small.finite for token in self.tokens[item.first : item.last])

    def _held(self, first: int, last: int) -> frozenset[str]:
        """Returns what the items between hold: senses, a verb, the words that join a list."""
        held: set[str] = set()
        for item in self.items[first:last]:
            held.update(item.senses)
            if self.is_finite(item):
                held.add("verb")
            if item.word in _LISTED:
                held.add("or" if item.word == "nor" else item.word)
        return frozenset(held)

    def _denial(self, first: int, mark: int) -> str:
        """Tells of the denial before a mark: "open", closed by "or" or by a "verb", or "none"."""
        seen = "none"
        for item in reversed(self.items[first:mark]):
            if not _DENYING.isdisjoint(item.senses):
                return "open" if seen == "none" else "or"
            if self.is_finite(item):
                return "verb"
            if item.word in ("or", "nor"):
                seen = "listed"
        return seen

    def _ahead(self, behind: int, last: int) -> str:
        """Returns which comes first behind a mark: "or", a "verb", a "denial", or "none"."""
        for item in self.items[behind:last]:
            if item.word in self.small.alternatives:
                return "or"
            if self.is_finite(item):
                return "verb"
            if "negation_before" in item.senses:
                return "denial"
        return "none"

    def _joint(self, behind: int, last: int) -> str:
        """Returns which comes first behind a mark and how many marks later: a joint, a verb, a denial, or "none"."""
        passed = 0
        for item in self.items[behind:last]:
            if item.word in ("and", "or", "nor"):
                return f"{item.word}{min(passed, _FEW)}"
            if self.is_finite(item):
                return f"verb{min(passed, _FEW)}"
            if "negation_before" in item.senses:
                return "denial"
            passed += item.word in MARKS
        return "none"

    def _group(self, mention: Mention | None) -> str:
        if mention is None or not mention.concept:
            return concept_name(mention)
        concept = self.lexicon.concepts[mention.concept]
        return "device" if concept.is_device else str(concept.group)


def concept_name(mention: Mention | None) -> str:
    """Returns the concept of a mention; "normal" for a normal statement, "-" for none."""
    return "-" if mention is None else mention.concept or "normal"


def flags(held: frozenset[str]) -> str:
    """Returns what a side holds of verbs, findings, normal statements and structures."""
    return "+".join(each for each in _HELD if each in held) or "-"


def log_odds(table: Path, features: Iterable[str]) -> float:
    """Returns the log odds of a boundary by the weights of a table."""
    weights = load_weights(table)
    return weights.get("bias", 0.0) + sum(weights.get(each, 0.0) for each in features)


@cache
def load_weights(path: Path) -> dict[str, float]:
    """Returns the weight of each feature in a table, and the bias; positive ones speak for a boundary."""
    rows = (line.rsplit("\t", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {feature: float(weight) for feature, weight in rows}


@per_lexicon
def grammar_words(lexicon: Lexicon) -> frozenset[str]:
    """Returns the words of any English text, as `vocabulary.yaml` lists them."""
    return frozenset(map(str, load_file("vocabulary", lexicon.key)["grammar"]))
