"""What is around an item of a sentence, ahead of it or before it; looking changes nothing."""

from __future__ import annotations

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon

LOOK_AHEAD = 40  # items; keeps the walk linear in texts without full stops
JUDGEMENTS = frozenset({"negation_after", "not_excluded_after", "possible_after", "probable_after", "preferred_to"})
_DESCRIBED = 4  # items from a doubt to the finding
_FIRM = frozenset({"severity", "measure", "change", "acuity", "count"})  # what is described so is not only listed
_OF_ONE = (_FIRM - {"acuity"}) | {"side"}  # the same in a list that is denied: "ACTIVE infiltration, mass was not seen"
_FIRM_BEHIND = _FIRM | {"side", "zone"}
ATTRIBUTIVE = frozenset({"side", "zone", "severity", "morphology", "acuity", "quality", "change", "count"})


def _describes(item: Item) -> bool:
    """Whether an item says how a finding is, or where."""
    return bool(item.senses) and ("zone" in item.senses or item.senses.keys() <= ATTRIBUTIVE)


class SentenceView:
    """The items of a sentence and the findings that they mention, with questions about what is around one of them.

    Attributes:
        items: Words and terms, in order.
        mentions: Findings, in order.
        lexicon: What the reader knows.
        small: Its small words.
    """

    def __init__(self, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
        self.items, self.mentions, self.lexicon, self.small = items, mentions, lexicon, lexicon.small

    def firm(self, mention: Mention) -> bool:
        """Whether a finding is described as one that is there ("small effusion"), not only listed."""
        for item in reversed(self.items[max(0, mention.first - 4) : mention.first]):
            if item.senses.keys() & _FIRM:
                return True
            if not item.senses or not item.senses.keys() <= ATTRIBUTIVE:
                break
        for item in self.items[mention.last : mention.last + 4]:
            if not item.senses or not item.senses.keys() <= ATTRIBUTIVE | _FIRM:
                return False
            if item.senses.keys() & _FIRM_BEHIND:
                return True  # "effusion SMALL", "consolidation RLL"
        return False

    def same_picture(self, a: Mention, b: Mention) -> bool:
        """Whether the second mention can be a reading of the first."""
        if a.denies or b.denies:
            return False
        anywhere = self.lexicon.roles["anywhere"]
        if a.concept in self.lexicon.roles["anything"] | anywhere or b.concept in anywhere:
            return True
        groups = {self.lexicon.concepts[a.concept].group, self.lexicon.concepts[b.concept].group}
        return len(groups) == 1 or groups <= self.lexicon.groups["one_picture"]

    def normal_ahead(self, i: int) -> bool:
        """Whether the finding after the joint at `i` is a normal statement: "no effusion with clear lungs"."""
        return any(mention.denies for mention in self.mentions if i < mention.first <= i + 2)

    def ahead(self, i: int) -> list[Item]:
        """Returns what follows the item at `i`."""
        return self.items[i + 1 : i + 1 + LOOK_AHEAD]

    def or_ahead(self, i: int) -> bool:
        """Whether the clause after the item at `i` holds an "or"."""
        for item in self.ahead(i):
            if item.word in self.small.alternatives:
                return True
            if "clause_end" in item.senses:
                return False
        return False

    def quality_ahead(self, verb: int) -> bool:
        """Whether the verb at `verb` is followed by a quality, not by "seen" or "identified"."""
        for item in self.items[verb + 1 : verb + 6]:
            if "quality" in item.senses or ("concept" in item.senses):
                return True
            if item.word == ",":
                return False
        return False

    def verb_ahead(self, i: int) -> bool:
        """Whether the words up to the next joint hold a verb: a statement of their own."""
        for item in self.ahead(i):
            changed = "change" in item.senses and item.word in self.small.verbs  # "has resolved"
            judged = item.word in self.small.judged and not JUDGEMENTS.isdisjoint(item.senses)
            if changed or judged or "item_break" in item.senses:
                return True
            if "clause_end" in item.senses:
                return False
        return False

    def denied_together(self, first: int, behind: int) -> bool:
        """Whether names in a list are denied behind a comma, as translations have it: "mass, NODULE WAS NOT SEEN"."""
        denial = next((k for k in range(behind, len(self.items)) if "negation_after" in self.items[k].senses), first)
        verb = denial - (self.items[denial - 1].word == "was")
        listed = [item.senses for item in self.items[first:verb] if item.word != ","]
        own = (senses.keys() | {key for part in senses.get("inside", ()) for key in part} for senses in listed)
        return self.items[verb].word == "was" and all(listed) and all(map(_OF_ONE.isdisjoint, own))

    def names_next(self, i: int) -> bool:
        """Whether a finding follows, with nothing between but its description: "unlikely SMALL PNEUMONIA"."""
        behind = self.items[i + 1 : i + 1 + _DESCRIBED]
        named = next((k for k, each in enumerate(behind) if "concept" in each.senses), None)
        return named is not None and all(each.senses or each.word in self.small.indefinite for each in behind[:named])

    def is_host(self, mention: Mention) -> bool:
        """Whether a finding is that in which another is denied, so that it is there: "no fluid level IN THE CAVITY"."""
        k = mention.first - 1
        while k > 0 and _describes(self.items[k]):
            k -= 1
        if k < 1 or mention.denies or mention.elided or self.items[k].word not in self.small.definite:
            return False
        if mention.at > mention.first:
            return False  # "8 mm nodule in the upper lobe, not CALCIFIED"
        feature = self.items[k - 1].word == "of" and any(each.last == k - 1 for each in self.mentions)
        return feature or self.items[k - 1].word in self.small.inside

    def device_next(self, i: int) -> bool:
        """Whether a device follows: "large effusion, suggest A CHEST DRAIN"."""
        after = self.next_mention(i)
        return after is not None and self.is_device(after) and after.first <= i + 2

    def operation_ahead(self, i: int) -> bool:
        """Whether the next mention is an operation: "follow-up CT AFTER LOBECTOMY"."""
        after = self.next_mention(i)
        return after is not None and self.is_device(after) and after.concept in self.lexicon.roles["background"]

    def is_device(self, mention: Mention) -> bool:
        """Whether a mention names a device."""
        return not mention.denies and self.lexicon.concepts[mention.concept].is_device

    def next_mention(self, i: int) -> Mention | None:
        """Returns the first mention behind an item."""
        return next((mention for mention in self.mentions if mention.first > i), None)

    def next_word(self, i: int) -> str:
        """Returns the word behind an item; "" behind the last."""
        return self.items[i + 1].word if i + 1 < len(self.items) else ""

    def finding_ahead(self, i: int) -> bool:
        """Whether the next mention is no device: "after removal of the drain, THE LUNG is collapsed"."""
        after = self.next_mention(i)
        return after is not None and not self.is_device(after)
