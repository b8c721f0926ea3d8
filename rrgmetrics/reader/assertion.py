"""Is a mentioned finding present, absent or uncertain?

One walk over the sentence with a small state: a cue switches the state, the end of its clause switches it off. Lists
under one negation stay under it ("no effusion, pneumothorax or edema"); a new statement ends it ("no effusion, heart
is enlarged").
"""

from __future__ import annotations

from rrgmetrics.reader.items import Item, Mention
from rrgmetrics.reader.lexicon import Lexicon, Senses
from rrgmetrics.reader.model import Certainty
from rrgmetrics.reader.parsed import Parsed
from rrgmetrics.reader.sentence import ATTRIBUTIVE, JUDGEMENTS, Sentence
from rrgmetrics.reader.settled import explain_away, settle_device
from rrgmetrics.reader.similarity import related

_BEFORE = frozenset(
    {"negation_before", "negation_verb", "not_excluded_before", "possible_before", "possible_list", "probable_before"}
)
_ACTING = frozenset(  # senses of words that change the state
    {
        *_BEFORE,
        *JUDGEMENTS,
        "change",
        "clause_end",
        "evidenced_by",
        "hypothetical",
        "hypothetical_after",
        "item_break",
        "quality",
        "recommendation",
        "resolved_before",
        "versus",
    }
)
_LARGE = 6  # severity steps that lists of denied findings are full of ("no consolidation, large effusion")


def asserted(parsed: Parsed) -> list[Mention]:
    """The mentions of a sentence, asserted."""
    assert_mentions(parsed.items, parsed.mentions, parsed.lexicon)
    return parsed.mentions


def assert_mentions(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Sets assertion, certainty and links of every mention in place; drops those that are only asked or advised."""
    walk = _Walk(items, mentions, lexicon)
    small = lexicon.small
    acting = small.list_joints | small.apposing | small.questions | small.preferring | small.inverted
    acting = acting | small.altered | small.historic | small.causing | small.explanations | small.relative
    acting = acting | small.made
    by_item: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_item.setdefault(mention.at, []).append(mention)
    for i, item in enumerate(items):
        met = by_item.get(i, ())
        for mention in met:
            walk.meet(mention)
        if met:
            walk.once = False  # "the heart and mediastinum are not shifted" denies one quality, of both
        if (not met or "change" in item.senses) and (not _ACTING.isdisjoint(item.senses) or item.word in acting):
            walk.step(i, item)
    for mention in mentions:
        settle_device(mention, items, lexicon)
        if mention.concept in lexicon.roles["feigns"] and mention.assertion == "present":
            explain_away(mention.first, items, mentions, lexicon)
    for i, item in enumerate(items):
        if "feigning" in item.senses:
            explain_away(i, items, mentions, lexicon)


def _starts_statement(senses: Senses, lexicon: Lexicon) -> bool:
    """Tells whether a word after a comma begins a statement ("no effusion, stable cardiomegaly")."""
    if "concept" in senses or senses.get("change") == "new":
        return False
    if "severity" in senses:
        return bool(senses["severity"] < _LARGE)
    return bool(senses.keys() & {"change", "position"}) or senses.get("acuity") in lexicon.old


class _Walk(Sentence):
    """The state of the walk through one sentence."""

    def __init__(self, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
        super().__init__(items, mentions, lexicon)
        self.absent = False
        self.once = False  # "is not" denies one quality only
        self.resolved = ""  # "nothing": no word of when it was there ("no residual effusion")
        self.certainty: Certainty = "definite"
        self.hypothetical = False
        self.premise = False  # what is supposed ends at the verb: "given the history of fever is most likely pneumonia"
        self.linking = False  # a cue such as "consistent with" has just been read
        self.joined = False  # "versus", "or" has just been read
        self.comma = False  # since the last mention
        self.conjoined = False  # "and" since the last mention
        self.accompanied = False  # "with" since the last mention
        self.lacking = False  # what is denied is the subject: "the absence of effusion suggests ..."
        self.fresh = False  # a hedge has been read since the last mention
        self.listing = False  # the hedge opened a list ("differential includes ...")
        self.relative = False  # inside ", which ..."
        self.verb_at = self.met_at = -1
        self.clause: list[Mention] = []  # mentions of the clause
        self.aside: list[Mention] = []  # those before "after surgery, ..."
        self.segment = 0  # index in `clause` where the current statement starts

    def meet(self, mention: Mention) -> None:
        """Gives a mention the assertion of the moment."""
        before = self.clause[-1] if self.clause else None
        if before is None and self.aside and self.linking and self.comma:
            before = self.aside[-1]
        if mention.denies:
            mention.assertion = "present" if self.once or self.absent or self.resolved else "absent"
            if mention.assertion == "present":
                mention.dropped = True  # "not normal" says nothing exact
        elif self.hypothetical:
            mention.dropped = True
        elif self.absent or self.once:
            mention.assertion = "absent"
        elif self.resolved:
            mention.assertion, mention.change = "absent", "stable" if self.resolved == "nothing" else "resolved"
        else:
            self._commit(mention, before)
        self.clause.append(mention)
        self.met_at = mention.last
        self.linking = self.joined = self.comma = self.conjoined = self.accompanied = self.fresh = False

    def _commit(self, mention: Mention, before: Mention | None) -> None:
        mention.certainty = self.certainty
        mention.assertion = "uncertain" if self.certainty in ("possible", "not_excluded") else "present"
        if before is None or before.assertion == "absent" or before.dropped or before.denies or mention.elided:
            return
        if self.linking or self.listing:
            mention.link = self._interpreted(mention)
        elif self.joined and self.same_picture(before, mention):
            mention.link = before
            if before.certainty == "definite" and mention.certainty == "definite":
                mention.certainty = before.certainty = "probable"

    def _interpreted(self, mention: Mention) -> Mention | None:
        """Returns the mention that a hedged mention explains: the last before it that can be the same picture."""
        stated = [
            m for m in (self.clause or self.aside)[-3:] if m.assertion != "absent" and not m.dropped and not m.denies
        ]
        fitting = [m for m in reversed(stated) if self.same_picture(m, mention)]
        concepts = self.lexicon.concepts

        def unlike(m: Mention) -> tuple[bool, bool, bool]:
            return (
                not related(m.concept, mention.concept, self.lexicon),
                concepts[m.concept].group != concepts[mention.concept].group,
                bool(concepts[m.concept].sign_of),
            )

        fitting.sort(key=unlike)
        return fitting[0] if fitting else None

    def step(self, i: int, item: Item) -> None:
        """Lets an item that is no mention change the state."""
        senses = item.senses
        if i == 0 and item.word in self.small.inverted:
            self.hypothetical = True  # "SHOULD pneumonia be suspected, ..."
        if "clause_end" in senses and not self._held(i, item):
            aside = self.clause if item.word in self.small.then else []
            self._end_clause()
            self.aside = aside
            if item.word in self.small.existing:
                self.verb_at = i
        if self.items[0].word in self.small.neither and ("change" in senses or item.word in self.small.altered):
            self._leave_unchanged()
        judged = self._judge(i, item)
        shown = not i and "hypothetical" in senses and self.shows(i)
        told = shown or ("negation_before" in senses and self._told(i))
        if senses.keys() & {"hypothetical", "recommendation"} and not told:
            self.hypothetical = True
            self.premise = any(each.word in self.small.premises for each in self.items[max(0, i - 3) : i])
            self._asked_for(i)
        elif "hypothetical_after" in senses:
            self._only_spoken_of()
        elif not judged or "preferred_to" in senses:
            self._cue(i, item)
        if "resolved_before" in senses and not (senses.get("change") == "resolved" and self._ends_statement(i)):
            self.resolved = "nothing" if item.word in self.small.nothing_left else "resolved"
        elif item.word in self.small.excising and i + 1 < len(self.items) and self.items[i + 1].word == "of":
            self.resolved = "resolved"  # "resection of a mass", but "of the upper lobe" is an operation
        elif senses.get("change") == "resolved" and not self._is_advised(i):
            self._resolve(i)
        if item.word in self.small.explanations and self._explains(i):
            self._hedge(i, item, "possible" if self.certainty == "definite" else self.certainty)
        if item.word in self.small.apposing and self._is_named(i):
            self.linking = True
        elif item.word == ":" and self._apposition(i):
            self._hedge(i, item, "probable")
        if "versus" in senses:
            self.joined = True
        elif (item.word in self.small.historic and not senses) or self._is_due(i, item) or self._is_made(i, item):
            self.linking = True
        elif item.word in self.small.list_joints:
            self._joint(i, item)
        elif "item_break" in senses:
            self._verb(i)

    def _held(self, i: int, item: Item) -> bool:
        """Tells whether a clause goes on: "follow-up AFTER treatment of pneumonia", "perhaps THERE IS edema"."""
        if item.word in self.small.existing:
            return self.fresh or (i > 0 and "hypothetical" in self.items[i - 1].senses)
        return self.hypothetical and item.word in self.small.then

    def _cue(self, i: int, item: Item) -> None:
        """Lets a cue change the state for what follows it."""
        senses = item.senses
        if item.word in self.small.none and self._denies_ahead(i):
            self.once = True
        elif senses.keys() & {"negation_before", "preferred_to"} or self._preferring(i, item):
            self.absent, self.comma = True, False
            self.lacking = item.word in self.small.lacking
        elif "negation_verb" in senses:
            self.once = True
        elif "not_excluded_before" in senses:
            self.certainty, self.absent, self.linking = "not_excluded", False, False
        elif senses.keys() & {"possible_before", "possible_list"}:
            self._hedge(i, item, "possible")
            self.listing = "possible_list" in senses
        elif "probable_before" in senses:
            self._hedge(i, item, "possible" if self.fresh and self.certainty == "possible" else "probable")
        elif "quality" in senses and "normal" in senses["quality"] and self.verb_at >= self.met_at:
            for mention in self._statement():
                if not mention.denies and not self.lexicon.concepts[mention.concept].is_device:
                    mention.assertion = "absent"  # but an unremarkable pacemaker is there
        elif "possible_after" in senses and not self.clause and item.word in self.small.supposing:
            self._hedge(i, item, "possible")  # "IF REAL, the nodule is small"
        elif "evidenced_by" in senses:
            self.certainty, self.linking, self.joined = "definite", False, False

    def _hedge(self, i: int, item: Item, certainty: Certainty) -> None:
        if self.lacking and self.absent and self.clause and not self.hypothetical:
            self._end_clause()  # "the absence of effusion suggests pneumonia"
        self.certainty, self.fresh, self.listing = certainty, True, False
        after = self.items[i + 1].senses.keys() if i + 1 < len(self.items) else frozenset()
        beside = self.accompanied and item.last - item.first == 1 and not after & _BEFORE  # "with probable effusion"
        self.linking = (not self.conjoined or item.word in self.small.meaning) and not beside

    def _is_advised(self, i: int) -> bool:
        """Tells whether what the word at `i` says may happen, and has not: "the drain MAY BE removed"."""
        before = [item.word for item in self.items[max(0, i - 2) : i]]
        return len(before) == 2 and before[0] in self.small.modal and before[1] == "be"

    def _told(self, i: int) -> bool:
        """Tells whether somebody or something is said to do what the verb at `i` says, which else is asked for."""
        return i > 0 and self.items[i - 1].word not in self.small.separators | {":", "¶"}

    def _preferring(self, i: int, item: Item) -> bool:
        """Tells whether the word at `i` names the less likely reading: "favour atelectasis OVER pneumonia"."""
        if item.word not in self.small.preferring or self.certainty == "definite" or i != self.met_at:
            return False
        ahead = (
            each for each in self.items[i + 1 : i + 4] if each.word not in self.small.leading | self.small.indefinite
        )
        return "concept" in next((each.senses for each in ahead), {})

    def _end_clause(self) -> None:
        self.absent = self.once = self.hypothetical = self.premise = self.relative = False
        self.resolved = ""
        self.linking = self.joined = self.comma = False
        self.certainty = "definite"
        self.fresh = self.listing = self.conjoined = self.accompanied = self.lacking = False
        self.clause, self.aside, self.segment = [], [], 0

    def _statement(self) -> list[Mention]:
        return self.clause[self.segment :]

    def _judge(self, i: int, item: Item) -> bool:
        """Lets a cue judge the findings before it; tells whether it does."""
        if self.segment == len(self.clause) or self._is_said(i, item):
            return False
        if item.word in self.small.none and self._denies_ahead(i):
            return False
        kind = None
        if not JUDGEMENTS.keys().isdisjoint(item.senses):
            kind = next(kind for kind in JUDGEMENTS if kind in item.senses)
        if kind is None or (item.senses.keys() & _BEFORE and not self._closes(i)):
            kind = self._judging(i, item)
        if kind is None:
            return False
        certainty = JUDGEMENTS[kind]
        subject = self._subject(i, denied=certainty is None)
        cut = len(subject) < len(self._statement())
        for mention in subject:
            if mention.denies:
                continue
            if certainty is None or (self.once and certainty != "not_excluded"):
                mention.assertion = "absent"
            elif mention.assertion != "absent" or cut or certainty == "not_excluded":
                mention.certainty = certainty
                mention.assertion = "present" if certainty == "probable" else "uncertain"
        if cut and certainty and len(subject) == 1 and not subject[0].link:
            subject[0].link = self._described(subject[0])
        return True

    def _denies_ahead(self, i: int) -> bool:
        """Tells whether "none" denies a quality behind it: "nodes, NONE of pathological size"."""
        for item in self.ahead(i)[:5]:
            if "quality" in item.senses or item.word in self.small.list_joints:
                return "quality" in item.senses
        return False

    def _is_said(self, i: int, item: Item) -> bool:
        """Tells whether a word is part of a finding rather than a judgement of it: "the left hilum IS RAISED"."""
        return "quality" in item.senses and any(mention.first <= i < mention.last for mention in self._statement())

    def _judging(self, i: int, item: Item) -> str | None:
        """Returns as which judgement other words count: "is thought to be PRESENT", "consolidation?"."""
        if item.word in self.small.questions:
            return "possible_after"
        ends = i + 1 == len(self.items) or self.items[i + 1].word in self.small.closing
        if item.word in self.small.neither and i + 1 < len(self.items) and self.items[i + 1].word in self.small.grounds:
            return "negation_after"  # "effusion NEITHER on the left nor on the right"
        nothing = item.word in self.small.nothing_left and "change" not in item.senses
        if ends and nothing and self.items[i - 1].word == ":":
            return "negation_after"  # "Pneumothorax: NO."
        if ends and i and self.items[i - 1].word in self.small.verbs:
            return next((f"{kind}_after" for kind in ("probable", "possible") if f"{kind}_before" in item.senses), None)
        after = [each.word for each in self.items[i + 1 : i + 3]]
        if after and after[after[0] == "be" and len(after) > 1] in self.small.existent:
            return next((f"{kind}_after" for kind in ("probable", "possible") if f"{kind}_before" in item.senses), None)
        return None

    def _closes(self, i: int) -> bool:
        """Tells whether the hedge at `i` can only be about what stands before it: "pneumonia is LIKELY, given ..."."""
        if i + 1 == len(self.items):
            return True
        after = self.items[i + 1]
        if after.word == "," and self.items[i - 1].word in self.small.joints:
            return False  # "aspiration and, LESS LIKELY, hemorrhage"
        if after.word in self.small.explanations:
            return True
        stated = (i > 0 and self.verb_at == i - 1) or self.items[i].word in self.small.judged
        if after.last - after.first > 1:
            return stated and "zone" in after.senses
        return after.word in self.small.closing or (stated and after.word in self.small.grounds)

    def _subject(self, i: int, *, denied: bool) -> list[Mention]:
        """Returns the findings that the cue at `i` judges: the list before it, not what a mere comma parts from it.

        "Effusion and pneumothorax cannot be excluded", but "small effusion, pneumothorax cannot be excluded".
        """
        stated = self._statement()
        if stated[-1].elided:
            return stated[-1:]
        one = [self.items[i].word, self.items[self.verb_at].word if self.verb_at >= self.met_at else ""]
        if not self.small.plural.isdisjoint((*one, self.items[i - 1].word)):
            return stated
        asserted = not denied or not self.small.single.isdisjoint(one)
        for k in range(len(stated) - 1, 0, -1):
            between = self.items[stated[k - 1].last : stated[k].first]
            words = {item.word for item in between}
            if "(" in words and ")" not in words:
                return stated[k:]  # "mosaic attenuation (small airway disease?)"
            if not words.isdisjoint(self.small.conjunctions):
                two = len(stated) == 2 and not any("quality" in item.senses for item in between)
                return stated[k:] if "," in words and two else stated  # a list of two has no comma
            bare = k == 1 and not stated[0].first and words == {","} and one[1] == "was"
            if "," in words and (asserted or self.firm(stated[k - 1])) and not (denied and bare):
                return stated[k:]  # but "mass, infiltration WAS not detected", as translations have it
        return stated

    def _described(self, mention: Mention) -> Mention | None:
        """Returns the picture before a comma that a hedged finding explains: "bandlike opacity, scarring is likely"."""
        before = self.clause[self.clause.index(mention) - 1]
        describing = before.concept in self.lexicon.roles["describing"] and before.assertion == "present"
        return before if describing and self.same_picture(before, mention) else None

    def _leave_unchanged(self) -> None:
        """Takes what is denied a change for there: "NEITHER the effusion NOR the collapse HAS CHANGED"."""
        for mention in self._statement():
            if mention.assertion == "absent" and not mention.denies and not mention.change:
                mention.assertion, mention.change = "present", "stable"

    def _only_spoken_of(self) -> None:
        for mention in self._statement():
            mention.dropped = True

    def _asked_for(self, i: int) -> None:
        """Drops a device that is only advised: "an intercostal drain IS ADVISED"."""
        last = self._statement()[-1:]
        if last and not last[0].denies and self.lexicon.concepts[last[0].concept].is_device:
            between = self.items[last[0].last : i]
            if all("item_break" in item.senses or item.word in self.small.inserting for item in between):
                last[0].dropped = True

    def _ends_statement(self, i: int) -> bool:
        """Tells whether nothing follows the word at `i` that it could be said of: "the edema RESOLVED"."""
        if not self._statement():
            return False
        ahead = self.items[i + 1 : i + 2]
        return not ahead or ahead[0].word in self.small.closing

    def _resolve(self, i: int) -> None:
        if not self._statement():
            self.resolved = "resolved"
            return
        devices = all(m.denies or self.lexicon.concepts[m.concept].is_device for m in self._statement())
        denied_ahead = i + 1 < len(self.items) and "negation_before" in self.items[i + 1].senses
        if denied_ahead:
            self.resolved = ""  # "both drains removed WITHOUT pneumothorax"
        for mention in self._subject(i, denied=devices):  # "ETT, NGT removed", but "port in place, effusion gone"
            if not mention.denies and mention.at != i:  # "the mass HAS BEEN RESECTED" is a resection
                mention.assertion, mention.change = "absent", "resolved"

    def _joint(self, i: int, item: Item) -> None:
        """A comma, "and", "with": the end of a statement if a new one begins."""
        self.once = False
        if item.word == ";":
            self._end_clause()
            return
        if item.word == "with":
            self.linking, self.accompanied = False, True
            if self.resolved or (
                self.absent and self.clause and (self.comma or self.normal_ahead(i) or self._device_ahead(i))
            ):
                self._end_clause()
            elif not self.fresh and not self.listing:
                self.certainty = "definite"
            return
        if self.hypothetical and item.word == "," and self.items[0].word in self.small.premises:
            self._end_clause()  # "given the history of fever, ..."
        if self.lacking and not self.clause and item.word == ",":
            self.absent = self.lacking = False  # "in the absence of fever, ..."
        if self.absent and item.word == "," and self._is_premise(i):
            self._end_clause()  # "rather than a mass, the fullness is ..."
        self.comma = True
        self.conjoined = item.word == "and"
        if (self.absent or self.resolved) and self.clause and self._new_statement(i):
            self._end_clause()
        elif self._beside_relative(i, item):
            self.relative = not self.relative
        elif self.verb_at >= 0 and self.clause and self.verb_ahead(i):
            self.segment = len(self.clause)
            self.verb_at = -1
        if item.word == "," and self._apposition(i):
            self._hedge(i, item, "probable")
        if self.certainty != "definite" and not self.fresh and not self.listing:
            if self.list_goes_on(i):
                self.joined = True
            elif not self._coordinated(i):
                self.certainty, self.linking = "definite", False

    def _explains(self, i: int) -> bool:
        """Tells whether what a picture is follows: "for which the main CONSIDERATION is malignancy"."""
        after = self.items[i + 1 : i + 4]
        named = any("concept" in item.senses for item in after)
        return bool(after) and after[0].word in self.small.identifying and named and bool(self._statement())

    def _is_named(self, i: int) -> bool:
        """Tells whether the name of what was described ends the sentence: "diffuse airspace disease, ARDS"."""
        concept = self.items[-1].senses.get("concept") if i + 2 == len(self.items) else None
        if concept is None or not self._statement() or self.absent or self.certainty != "definite":
            return False
        names = {concept, *self.lexicon.concepts[concept].ancestors}
        roles = self.lexicon.roles
        concepts = self.lexicon.concepts
        last = next((m for m in reversed(self._statement()) if m.denies or not concepts[m.concept].sign_of), None)
        described = last is not None and last.concept in roles["picture"] | roles["describing"]
        return described and not names.isdisjoint(self.lexicon.rubric["diagnoses"])

    def _is_due(self, i: int, item: Item) -> bool:
        """Tells whether item `i` leads to what a picture is: "a hazy opacity DUE to an effusion"."""
        last = self._statement()[-1:] if item.word in self.small.causing else []
        described = bool(last) and last[0].concept in self.lexicon.roles["replaceable"]
        return described and not any("measure" in item.senses for item in self.items[last[0].last : i])

    def _is_made(self, i: int, item: Item) -> bool:
        """Tells whether what a picture consists of follows: "a linear band OF scarring"."""
        last = self._statement()[-1:] if item.word in self.small.made and i == self.met_at else []
        describing = bool(last) and last[0].concept in self.lexicon.roles["describing"]
        return describing and i + 1 < len(self.items) and "concept" in self.items[i + 1].senses

    def _apposition(self, i: int) -> bool:
        """Tells whether readings of the last finding follow: "streaky opacity, atelectasis versus scarring"."""
        describing = self.lexicon.roles["describing"]
        if not self._statement() or self._statement()[-1].concept not in describing or self.absent:
            return False
        seen = 0
        for item in self.ahead(i):
            if "concept" in item.senses:
                seen += 1
            elif "versus" in item.senses:
                return seen == 1
            elif not item.senses.keys() <= {"morphology", "severity", "acuity"}:
                return False
        return False

    def _coordinated(self, i: int) -> bool:
        """Tells whether a hedge holds for both findings of a pair: "possible small effusion and atelectasis"."""
        if not self.conjoined or i != self.met_at:
            return False
        for item in self.ahead(i):
            if "concept" in item.senses:
                return self.lexicon.concepts[item.senses["concept"]].group in self.lexicon.groups["one_place"]
            if not item.senses or not item.senses.keys() <= ATTRIBUTIVE:
                return False
        return False

    def _beside_relative(self, i: int, item: Item) -> bool:
        """Tells whether a comma opens or ends a relative clause: "oedema, WHICH was present, has cleared"."""
        if item.word != ",":
            return False
        return self.relative or (i + 1 < len(self.items) and self.items[i + 1].word in self.small.relative)

    def _is_premise(self, i: int) -> bool:
        """Tells whether the words before the comma at `i` only lead to the statement behind it."""
        opens = self.items[0].word in self.small.opening and len(self.clause) == 1
        return opens and i + 1 < len(self.items) and self.items[i + 1].word in self.small.definite | self.small.existing

    def _verb(self, i: int) -> None:
        self.verb_at = i
        if self.premise and self.clause:
            self.hypothetical = self.premise = False
        if self._is_called(i):
            self.linking = True

    def _is_called(self, i: int) -> bool:
        """Tells whether the verb at `i` leads to what a picture is: "the retrocardiac density IS a hiatal hernia"."""
        if self.items[i].word not in self.small.identifying or not self._statement():
            return False
        last = self._statement()[-1]
        between = self.items[last.last : i]
        if last.concept not in self.lexicon.roles["describing"] or any(
            item.word in self.small.joints or "item_break" in item.senses for item in between
        ):
            return False
        after = self.items[i + 1 : i + 3]
        named = after[1:] if after and after[0].word in self.small.indefinite else []
        return bool(named) and "concept" in named[0].senses

    def _new_statement(self, i: int) -> bool:
        """Tells whether what follows the joint at `i` is stated, though the words before it were denied."""
        first = True
        if self._device_ahead(i):
            return True
        for k, item in enumerate(self.ahead(i)):
            senses = item.senses
            if "clause_end" in senses or "negation_before" in senses:
                return False
            if item.word in self.small.alternatives:
                return False
            if first and senses and item.word != "and":
                arrived = self.resolved and senses.get("change") == "new"  # "removal of the tube and new pneumothorax"
                if arrived or (_starts_statement(senses, self.lexicon) and not self.or_ahead(i)):
                    return True
                first = False
            if "item_break" in senses and item.word not in self.small.seen:
                return self.quality_ahead(i + 1 + k) or self._there_ahead(i, i + 1 + k)
            if item.word == ",":
                return False
        return False

    def _device_ahead(self, i: int) -> bool:
        """Tells whether a device follows denied findings without "or": "no pneumothorax, chest tube unchanged"."""
        concepts = self.lexicon.concepts
        after = next((m for m in self.mentions if m.first > i), None)
        if after is None or after.denies or not concepts[after.concept].is_device or self.or_ahead(i):
            return False
        return not any(m.denies or concepts[m.concept].is_device for m in self.clause)

    def _there_ahead(self, i: int, verb: int) -> bool:
        """Tells whether what stands behind the comma at `i` is said to be there: "no edema, a nodule IS present"."""
        after = self.items[verb + 1].word if verb + 1 < len(self.items) else ""
        alone = self.items[i].word == "," and len(self._statement()) == 1
        return alone and self.items[verb].word in self.small.single and after in self.small.seen
