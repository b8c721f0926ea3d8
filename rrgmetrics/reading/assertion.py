"""Is a mentioned finding present, absent or uncertain?

One walk over the sentence with a small state: a cue switches the state, the end of its clause switches it off. Lists
under one negation stay under it ("no effusion, pneumothorax or edema"); a new statement ends it ("no effusion, heart
is enlarged").
"""

from __future__ import annotations

from rrgmetrics.reading.clause import BEFORE, AssertionState
from rrgmetrics.reading.dates import leads_to_then
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.model import Certainty
from rrgmetrics.reading.recording import watch
from rrgmetrics.reading.sentence import JUDGEMENTS
from rrgmetrics.reading.subjects import likewise_from

_ACTING = frozenset(  # senses of words that change the state
    {
        *BEFORE,
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

_CHANGES = {"nothing": "stable", "operated": None}  # "AFTER excision of a nodule" tells of the patient, of no change


def apply_cues(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Sets assertion, certainty and links of every mention by the cues around it, in place."""
    (walk,) = watch([_Walk(items, mentions, lexicon)])
    acting = _acting_words(lexicon)
    by_item: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_item.setdefault(mention.at, []).append(mention)
    for i, item in enumerate(items):
        met = by_item.get(i, ())
        for mention in met:
            walk.meet(mention)
        if met:
            walk.once = walk.or_other_quality(i)  # "heart and mediastinum are not shifted" denies one quality, of both
        if (not met or "change" in item.senses) and (not _ACTING.isdisjoint(item.senses) or item.word in acting):
            walk.step(i, item)


@per_lexicon
def _acting_words(lexicon: Lexicon) -> frozenset[str]:
    """The words that change the state."""
    small = lexicon.small
    acting = small.list_joints | small.apposing | small.questions | small.preferring | small.inverted
    acting = acting | small.altered | small.historic | small.causing | small.explanations | small.relative
    return acting | small.made | small.proving | small.certain | small.purposes


class _Walk(AssertionState):
    """The walk through one sentence: every item may change the state, every mention takes it."""

    def meet(self, mention: Mention) -> None:
        """Gives a mention the assertion of the moment."""
        before = self.clause[-1] if self.clause else None
        if before is not None and before.tokens == mention.tokens and mention.tokens[1] - mention.tokens[0] == 1:
            mention.link = before  # "KYPHOSCOLIOSIS" is one observation
        if before is None and self.aside and self.linking and self.comma:
            before = self.aside[-1]
        if mention.denies:
            mention.assertion = "present" if self.once or self.absent or self.resolved else "absent"
            if mention.assertion == "present":
                mention.dropped = True  # "not normal" says nothing exact
        elif self.hypothetical or (self.asked and self._is_assessed(mention)):
            mention.dropped = True
        elif self.absent or self.once or self._is_unseen(mention):
            mention.assertion = "absent"
        elif self.resolved:
            mention.assertion, mention.change = "absent", _CHANGES.get(self.resolved, "resolved")
        else:
            self._commit(mention, before)
        self.clause.append(mention)
        self.met_at = mention.last
        self.linking = self.joined = self.comma = self.conjoined = self.accompanied = self.fresh = False

    def _is_unseen(self, mention: Mention) -> bool:
        """Tells whether a structure is not seen to have a quality: "the node WAS NOT SEEN in pathological size"."""
        return mention.first < mention.at and "negation_after" in self.items[mention.at - 1].senses

    def _is_assessed(self, mention: Mention) -> bool:
        """Tells whether a finding is what is hard to assess, or a fault of the film that makes it so."""
        return mention.first < self.asked or (not mention.denies and not self.lexicon.concepts[mention.concept].counts)

    def or_other_quality(self, i: int) -> bool:
        """Tells whether a denied quality is followed by another: "is not widened OR DISPLACED"."""
        ahead = self.items[i + 1 : i + 3]
        other = len(ahead) == 2 and ahead[0].word in self.small.alternatives and "quality" in ahead[1].senses
        return other and (self.once or self.items[i].word == "not")

    def _commit(self, mention: Mention, before: Mention | None) -> None:
        mention.certainty = self.certainty
        mention.assertion = "uncertain" if self.certainty in ("possible", "not_excluded") else "present"
        if before is None or before.assertion == "absent" or before.dropped or before.denies or mention.elided:
            return
        if self.linking or self.listing:
            mention.link = self.interpreted(mention)
        elif self.accompanied and self.is_shown(before, mention):
            mention.link = before
        elif self.joined and self.same_picture(before, mention):
            mention.link = before
            if before.certainty == mention.certainty in ("definite", "probable"):
                mention.certainty = before.certainty = "suspected"

    def step(self, i: int, item: Item) -> None:
        """Lets an item that is no mention change the state."""
        senses = item.senses
        if (i == 0 and item.word in self.small.inverted) or self.suggests_device(i, item):
            self.hypothetical = True  # "SHOULD pneumonia be suspected, ...", "SUGGEST a chest drain"
        if "clause_end" in senses and not self.held(i, item):
            aside = self.clause if item.word in self.small.then else []
            self._end_clause()
            self.aside = aside
            if item.word in self.small.existing:
                self.verb_at = i
        self.hypothetical = self.hypothetical or self.requests(i, item)
        moved = senses.get("change", "new") != "new" or item.word in self.small.altered
        neither = self.items[0].word in self.small.neither
        if moved and neither:
            self._leave_unchanged()
        judged = self._judge(i, item)
        shown = not i and "hypothetical" in senses and self.shows(i)
        told = shown or ("negation_before" in senses and self.told(i)) or self.is_placed(i, item)
        told = told or self.considers(i, item)
        if senses.keys() & {"hypothetical", "recommendation"} and not told:
            self.hypothetical = True
            self.premise = any(each.word in self.small.premises for each in self.items[max(0, i - 3) : i])
            self._asked_for(i)
        elif "hypothetical_after" in senses:
            self._only_spoken_of()
            if "evidenced_by" in senses:
                self.hypothetical, self.asked = False, i  # "assessment LIMITED BY edema"
        elif not judged or "preferred_to" in senses:
            self._cue(i, item)
        if "resolved_before" in senses and not (senses.get("change") == "resolved" and self.ends_statement(i)):
            self.resolved = "nothing" if item.word in self.small.nothing_left else "resolved"
        elif item.word in self.small.excising and i + 1 < len(self.items) and self.items[i + 1].word == "of":
            set_before = i > 0 and self.items[i - 1].word in self.small.settings
            self.resolved = "operated" if set_before else "resolved"  # but "of the upper lobe" is an operation
        elif senses.get("change") == "resolved" and not self.is_advised(i) and not neither:
            self._resolve(i)
        if item.word in self.small.apposing and self.is_named(i):
            self.linking = True
        elif item.word == ":" and self.apposition(i):
            self._hedge(i, item, "probable")
        elif item.word == ":" and self.clause and not self.listing and self._proves(i):
            self._end_clause()  # "suspected pneumonia: THE RIGHT BASE IS HAZY"
        if "versus" in senses:
            self.joined = True
        elif self.is_history(i, item) or self.is_due(i, item) or self.is_made(i, item):
            self.linking = True
        elif item.word in self.small.proving:
            self.linking, self.certainty = True, "definite"
        elif item.word in self.small.list_joints:
            self._joint(i, item)
        elif "item_break" in senses:
            self._verb(i)

    def _cue(self, i: int, item: Item) -> None:
        """Lets a cue change the state for what follows it."""
        senses = item.senses
        if item.word in self.small.none and self.denies_ahead(i):
            self.once = True
        elif senses.keys() & {"negation_before", "preferred_to"} or self.preferring(i, item) or self.doubts(i, item):
            self.absent, self.comma = True, False
            self.lacking = item.word in self.small.lacking
        elif "negation_verb" in senses:
            self.once = True
        elif "not_excluded_before" in senses:
            self.certainty, self.absent, self.linking = "not_excluded", False, False
        elif senses.keys() & {"possible_before", "possible_list"} or self.considers(i, item):
            self._hedge(i, item, "possible")
            self.listing = "possible_list" in senses
        elif "probable_before" in senses:
            sure = i > 0 and self.items[i - 1].word in self.small.certain
            doubted = self.fresh and self.certainty == "possible"
            self._hedge(i, item, "definite" if sure else "possible" if doubted else self._probable(item))
        elif "quality" in senses and "normal" in senses["quality"] and self.verb_at >= self.met_at:
            for mention in self.statement() if item.word not in self.small.harmless else ():
                if not mention.denies and not self.lexicon.concepts[mention.concept].is_device:
                    mention.assertion = "absent"  # but an unremarkable pacemaker is there
        elif "possible_after" in senses and not self.clause and item.word in self.small.supposing:
            self._hedge(i, item, "possible")  # "IF REAL, the nodule is small"
        elif "evidenced_by" in senses:
            self.certainty, self.linking, self.joined = "definite", False, False
        if item.word == ":" and senses:
            self.listing = True  # of what a heading judges

    def _probable(self, item: Item) -> Certainty:
        """Returns how certain a finding is that the radiologist commits to with a word."""
        return "suspected" if item.word in self.small.suspecting else "probable"

    def _hedge(self, i: int, item: Item, certainty: Certainty) -> None:
        removed = self.resolved and self.clause and self.is_device(self.clause[-1])
        if (self.lacking and self.absent and self.clause and not self.hypothetical) or removed:
            self._end_clause()  # "absence of effusion suggests pneumonia", "since removal of the drain, likely edema"
        self.certainty, self.fresh, self.listing = certainty, True, False
        after = self.items[i + 1].senses.keys() if i + 1 < len(self.items) else frozenset()
        beside = self.directly_with(i) and item.last - item.first == 1 and not after & BEFORE
        self.linking = (not self.conjoined or item.word in self.small.meaning) and not beside

    def _end_clause(self) -> None:
        self.absent = self.once = self.hypothetical = self.premise = self.relative = False
        self.resolved = ""
        self.linking = self.joined = self.comma = False
        self.certainty = "definite"
        self.fresh = self.listing = self.conjoined = self.accompanied = self.lacking = False
        self.clause, self.aside, self.segment = [], [], 0

    def _judge(self, i: int, item: Item) -> bool:
        """Lets a cue judge the findings before it; tells whether it does."""
        if self.segment == len(self.clause) or self.is_said(i, item) or self.doubts(i, item):
            return False
        if item.word in self.small.none and self.denies_ahead(i):
            return False
        kind = None
        if not JUDGEMENTS.keys().isdisjoint(item.senses):
            kind = next(kind for kind in JUDGEMENTS if kind in item.senses)
        if kind is None or (item.senses.keys() & BEFORE and not self.closes(i)):
            kind = self.judging(i, item)
        if kind is None:
            return False
        certainty = JUDGEMENTS[kind]
        subject = self.subject(i, denied=certainty is None)
        cut = len(subject) < len(self.statement())
        since_then = certainty is None and leads_to_then(self.items, i, self.small)
        for mention in subject:
            if mention.denies:
                continue
            if since_then and mention.assertion != "absent":
                mention.change = "new"
            elif certainty is None or (self.once and certainty != "not_excluded"):
                mention.assertion = "absent"
            elif mention.assertion != "absent" or cut or certainty == "not_excluded":
                mention.certainty = self._probable(item) if certainty == "probable" else certainty
                mention.assertion = "present" if certainty == "probable" else "uncertain"
        picture = self.described(subject[0]) if cut and certainty and not subject[0].link else None
        if len(subject) == 1:
            for mention in subject:
                mention.link = mention.link or picture
        return True

    def _leave_unchanged(self) -> None:
        """Takes what is denied a change for there: "NEITHER the effusion NOR the collapse HAS CHANGED"."""
        for mention in self.statement():
            if mention.assertion == "absent" and not mention.denies and not mention.change:
                mention.assertion, mention.change = "present", "stable"

    def _proves(self, i: int) -> bool:
        """Tells whether a statement or a picture follows a colon: the evidence for what is suspected before it."""
        if self.certainty not in ("possible", "suspected", "probable"):
            return False
        ahead = self.ahead(i)
        named = [item.senses["concept"] for item in ahead if "concept" in item.senses]
        shown = bool(named) and set(named).isdisjoint(self.lexicon.rubric["diagnoses"])
        return shown or any("item_break" in item.senses for item in ahead)

    def _only_spoken_of(self) -> None:
        for mention in self.statement():
            mention.dropped = True

    def _asked_for(self, i: int) -> None:
        """Drops a device that is only advised: "an intercostal drain IS ADVISED"."""
        last = self.statement()[-1:]
        if last and self.is_device(last[0]):
            between = self.items[last[0].last : i]
            if all("item_break" in item.senses or item.word in self.small.inserting for item in between):
                last[0].dropped = True

    def _resolve(self, i: int) -> None:
        if self.once and i > 1 and "negation_verb" in self.items[i - 2].senses:
            self.once = False
            self._stay()
            return
        if not self.statement():
            word, before = self.items[i].word, self.items[i - 1].senses if i else {}
            said = word in self.small.verbs or ("item_break" in before and word not in self.small.nothing_left)
            self.resolved = "" if said else "resolved"  # "the upper lobe IS REPLACED BY a bulla"
            return
        devices = all(m.denies or self.lexicon.concepts[m.concept].is_device for m in self.statement())
        denied_ahead = i + 1 < len(self.items) and "negation_before" in self.items[i + 1].senses
        if denied_ahead:
            self.resolved = ""  # "both drains removed WITHOUT pneumothorax"
        subject = self.subject(i, denied=devices)
        subject += [mention.link for mention in subject if mention.link and mention.link not in subject]
        self.shared = likewise_from(self.items, i, self.small)
        if self.shared:
            self.resolved = "resolved"  # "the effusion has cleared, AS HAS THE EDEMA"
        for mention in subject:  # "ETT, NGT removed", but "port in place, effusion gone"
            if not mention.denies and mention.at != i:  # "the mass HAS BEEN RESECTED" is a resection
                mention.assertion, mention.change = "absent", "resolved"

    def _stay(self) -> None:
        """Takes what is not removed for there, as before: "the wires HAVE NOT BEEN REMOVED"."""
        for mention in self.statement():
            if not mention.denies:
                mention.assertion, mention.change = "present", "stable"

    def _joint(self, i: int, item: Item) -> None:
        """A comma, "and", "with": the end of a statement if a new one begins."""
        self.once = False
        if i < self.shared:
            return
        if item.word != "," and [each.word for each in self.items[i + 1 : i + 2]] == ["which"]:
            return  # "the opacity, which was seen AND WHICH has cleared"
        if item.word == ";":
            if self.next_word(i) not in self.small.subjects:
                self._end_clause()  # but "a drain is seen; IT has been removed"
            return
        if item.word == "with":
            self.linking, self.accompanied = False, True
            if self.resolved or (
                self.absent and self.clause and (self.comma or self.normal_ahead(i) or self.device_ahead(i))
            ):
                self._end_clause()
            elif not self.fresh and not self.listing:
                self.certainty = "definite"
            return
        said = self.hypothetical or (self.resolved and self.finding_ahead(i))
        if said and item.word == "," and self.items[0].word in self.small.premises | {"since"}:
            self._end_clause()  # "given the history of fever, ...", "after removal of the drain, ..."
        if self.lacking and not self.clause and item.word == ",":
            self.absent = self.lacking = False  # "in the absence of fever, ..."
        self.comma = True
        self.conjoined = item.word == "and"
        merely = self.absent and item.word == "," and self.next_word(i) in self.small.merely
        if merely or ((self.absent or self.resolved) and self.clause and self.new_statement(i)):
            self._end_clause()
        elif self.beside_relative(i, item):
            self.relative = not self.relative
        elif self.verb_at >= 0 and self.clause and self.verb_ahead(i) and not self._verb_follows(i):
            self.segment = len(self.clause)
            self.verb_at = -1
        if item.word == "," and self.apposition(i):
            self._hedge(i, item, "probable")
        if self.certainty != "definite" and not self.fresh and not self.listing:
            if self.list_goes_on(i):
                self.joined = True
            elif not self.coordinated(i):
                self.certainty, self.linking = "definite", False

    def _verb_follows(self, i: int) -> bool:
        """Tells whether what follows has the same subject: "was seen yesterday and HAS GONE", "..., IT has gone"."""
        follows = self.next_word(i)
        return follows in self.small.verbs or follows in self.small.subjects

    def _verb(self, i: int) -> None:
        self.verb_at = i
        if self.premise and self.clause:
            self.hypothetical = self.premise = False
