"""The state while cues are applied to one sentence, and what can be asked of it; asking changes nothing."""

from __future__ import annotations

from collections.abc import Collection

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Certainty
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.sentence import ATTRIBUTIVE, SentenceView
from rrgmetrics.reading.similarity import related
from rrgmetrics.reading.subjects import told_apart

BEFORE = frozenset(
    {"negation_before", "negation_verb", "not_excluded_before", "possible_before", "possible_list", "probable_before"}
)
_PLACE = 5  # items from a picture to the end of its place
_NAMING = frozenset({"acuity", "morphology", "quality"})
_LARGE = 6  # severity steps that lists of denied findings are full of ("no consolidation, large effusion")


def _starts_statement(senses: Senses, lexicon: Lexicon) -> bool:
    """Tells whether a word after a comma begins a statement ("no effusion, stable cardiomegaly")."""
    if "concept" in senses or senses.get("change") == "new":
        return False
    if "severity" in senses:
        return bool(senses["severity"] < _LARGE)
    return bool(senses.keys() & {"change", "position"}) or senses.get("acuity") in lexicon.old


class AssertionState(SentenceView):
    """The state while cues are applied: what holds for the next finding, and the findings of the clause so far."""

    def __init__(self, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
        super().__init__(items, mentions, lexicon)
        self.absent = False
        self.once = False  # "is not" denies one quality only
        self.shared = 0  # up to here a change is shared: "has cleared, AS HAS the edema"
        self.resolved = ""  # "nothing": no word of when it was there ("no residual effusion")
        self.certainty: Certainty = "definite"
        self.hypothetical = False
        self.asked = 0  # what begins before this item is only assessed: "assessment of the hilum LIMITED BY edema"
        self.premise = False  # what is supposed ends at the verb: "given the history of fever is most likely pneumonia"
        self.linking = False  # a cue such as "consistent with" has just been read
        self.joined = False  # "versus", "or" has just been read
        self.comma = False  # since the last mention
        self.conjoined = False  # "and" since the last mention
        self.accompanied = False  # "with" since the last mention
        self.lacking = False  # what is denied is the subject: "the absence of effusion suggests ..."
        self.fresh = False  # a hedge has been read since the last mention
        self.listing = False  # a cue opened a list ("differential includes ...", "not seen: ...")
        self.relative = False  # inside ", which ..."
        self.verb_at = self.met_at = -1
        self.clause: list[Mention] = []  # mentions of the clause
        self.aside: list[Mention] = []  # those before "after surgery, ..."
        self.segment = 0  # index in `clause` where the current statement starts

    def interpreted(self, mention: Mention) -> Mention | None:
        """Returns the mention that a hedged mention explains: the last before it that can be the same picture."""
        stated = [
            m for m in (self.clause or self.aside)[-3:] if m.assertion != "absent" and not m.dropped and not m.denies
        ]
        fitting = [m for m in reversed(stated) if self.same_picture(m, mention)]
        concepts, pictures = self.lexicon.concepts, self.lexicon.roles["picture"]

        def unlike(m: Mention) -> tuple[bool, ...]:
            return (
                not concepts[m.concept].counts,
                not related(m.concept, mention.concept, self.lexicon),
                m.concept not in pictures and mention.concept not in concepts[m.concept].sign_of,
                concepts[m.concept].group != concepts[mention.concept].group,
                bool(concepts[m.concept].sign_of),
            )

        fitting.sort(key=unlike)
        return fitting[0] if fitting else None

    def held(self, i: int, item: Item) -> bool:
        """Tells whether a clause goes on: "follow-up AFTER surgery", "perhaps THERE IS edema", "seen BUT GONE now"."""
        if item.word in self.small.contrasts and self.takes_back(i):
            return True
        if item.word == "but":
            behind = [each.senses for each in self.items[i + 1 : i + 4]]
            gone = any("negation_after" in senses or senses.get("change") == "resolved" for senses in behind)
            return gone and all(senses.keys().isdisjoint(("concept", "structure", "quality")) for senses in behind)
        if item.word in self.small.existing:
            ahead = self.items[i - 1] if i else None
            if ahead is None or self.fresh:
                return self.fresh
            embedded = ahead.word in self.small.embedding and self.absent  # "no evidence THAT THERE is edema"
            return "hypothetical" in ahead.senses or embedded
        return self.hypothetical and item.word in self.small.then

    def takes_back(self, i: int) -> bool:
        """Tells whether a contrast doubts what was denied, naming it no more: "BUT ONE cannot be excluded"."""
        for item in self.ahead(i):
            if "not_excluded_after" in item.senses or "not_excluded_before" in item.senses:
                return bool(self.clause)
            if not item.senses.keys().isdisjoint(("concept", "structure", "normal", "negation_before")):
                return False
        return False

    def directly_with(self, i: int) -> bool:
        """Tells whether "with" leads to the hedge at `i`: "with probable effusion", but "with a contour suggesting"."""
        if not self.accompanied:
            return False
        ahead = next((item for item in reversed(self.items[:i]) if item.word not in self.small.indefinite), None)
        return ahead is not None and (ahead.word == "with" or bool(ahead.senses))

    def is_advised(self, i: int) -> bool:
        """Tells whether what the word at `i` says may happen, and has not: "the drain MAY BE removed"."""
        before = [item.word for item in self.items[max(0, i - 2) : i]]
        return len(before) == 2 and before[0] in self.small.modal and before[1] == "be"

    def considers(self, i: int, item: Item) -> bool:
        """Tells whether a finding is thought of, not a treatment or a study: "CONSIDER early pneumonia"."""
        if item.word not in self.small.considering or "recommendation" not in item.senses:
            return False
        named = self.next_mention(i)
        if named is None or named.denies or self.is_device(named):
            return False
        between = self.items[i + 1 : named.first]
        return all(
            each.senses.keys() <= ATTRIBUTIVE | {"structure"} and (each.senses or each.word in self.small.indefinite)
            for each in between
        )

    def told(self, i: int) -> bool:
        """Tells whether somebody or something is said to do what the verb at `i` says, which else is asked for."""
        return i > 0 and self.items[i - 1].word not in self.small.separators | {":", "¶"}

    def is_placed(self, i: int, item: Item) -> bool:
        """Tells whether what a patient has is seen on the film: "infant WITH a cavity on the left", at the start."""
        patient = not i or (i < 3 and not any(each.senses.get("concept") for each in self.items[:i]))
        if not patient or item.word not in self.small.patients:
            return False
        return any(each.senses.keys() & {"side", "zone"} for each in self.items[i + 1 :])

    def preferring(self, i: int, item: Item) -> bool:
        """Tells whether the word at `i` names the less likely reading: "favour atelectasis OVER pneumonia"."""
        if item.word not in self.small.preferring or self.certainty == "definite" or i != self.met_at:
            return False
        ahead = (
            each for each in self.items[i + 1 : i + 4] if each.word not in self.small.leading | self.small.indefinite
        )
        return "concept" in next((each.senses for each in ahead), {})

    def statement(self) -> list[Mention]:
        """Returns the mentions of the current statement."""
        return self.clause[self.segment :]

    def denies_ahead(self, i: int) -> bool:
        """Tells whether "none" denies a quality behind it: "nodes, NONE of pathological size"."""
        for item in self.ahead(i)[:5]:
            if "quality" in item.senses or item.word in self.small.list_joints:
                return "quality" in item.senses
        return False

    def is_said(self, i: int, item: Item) -> bool:
        """Tells whether a word is part of a finding rather than a judgement of it: "the left hilum IS RAISED"."""
        return "quality" in item.senses and any(mention.first <= i < mention.last for mention in self.statement())

    def judging(self, i: int, item: Item) -> str | None:
        """Returns as which judgement other words count: "is thought to be PRESENT", "consolidation?"."""
        if item.word in self.small.questions:
            return "possible_after"
        ends = i + 1 == len(self.items) or self.items[i + 1].word in self.small.closing
        neither = item.word in self.small.neither and "change" not in item.senses
        if neither and i + 1 < len(self.items) and self.items[i + 1].word in self.small.grounds:
            return "negation_after"  # "effusion NEITHER on the left nor on the right"
        nothing = item.word in self.small.nothing_left and "change" not in item.senses
        if ends and nothing and (self.items[i - 1].word == ":" or self.statement()[-1].last == i):
            return "negation_after"  # "Pneumothorax: NO.", "effusion - NO"
        seen = "negation_verb" in item.senses and any(each.word in self.small.existent for each in self.items[:i])
        if ends and seen and self.verb_at == i - 1:
            return "negation_after"  # "the effusion is seen, the edema IS NOT"
        after = [each.word for each in self.items[i + 1 : i + 3]]
        there = bool(after) and after[after[0] == "be" and len(after) > 1] in self.small.existent
        if there or (ends and i and self.items[i - 1].word in self.small.verbs):
            return next((f"{kind}_after" for kind in ("probable", "possible") if f"{kind}_before" in item.senses), None)
        return None

    def closes(self, i: int) -> bool:
        """Tells whether the hedge at `i` can only be about what stands before it: "pneumonia is LIKELY, given ..."."""
        if i + 1 == len(self.items):
            return True
        after = self.items[i + 1]
        if after.word == "," and self.items[i - 1].word in self.small.joints:
            return False  # "aspiration and, LESS LIKELY, hemorrhage"
        if after.word in self.small.explanations:
            return True
        if "not_excluded_before" in self.items[i].senses and after.word in self.small.reasons:
            return True  # "pneumothorax is HARD TO EXCLUDE, because of the overlying air"
        stated = (i > 0 and self.verb_at == i - 1) or self.items[i].word in self.small.judged
        if i == self.met_at and "negation_after" in self.items[i].senses and after.word in self.small.grounds:
            return True  # "pneumonia LESS LIKELY, given the lack of fever"
        if after.last - after.first > 1:
            return stated and "zone" in after.senses
        return after.word in self.small.closing or (stated and after.word in self.small.grounds)

    def subject(self, i: int, *, denied: bool) -> list[Mention]:
        """Returns the findings that the cue at `i` judges: the list before it, not what a mere comma parts from it.

        "Effusion and pneumothorax cannot be excluded", but "small effusion, pneumothorax cannot be excluded".
        """
        stated = self.statement()
        stated = stated[told_apart(self.items, stated, self.lexicon) :]
        if stated[-1].elided:
            return stated[-1:]
        one = [self.items[i].word, self.items[self.verb_at].word if self.verb_at >= self.met_at else ""]
        if not self.small.plural.isdisjoint((*one, self.items[i - 1].word)):
            return stated
        asserted = not denied or not self.small.single.isdisjoint(one)
        for k in range(len(stated) - 1, 0, -1):
            between = self.items[stated[k - 1].last : stated[k].first]
            words = {item.word for item in between}
            asked = ":" in words and self.items[i].word in self.small.questions
            if asked or ("(" in words and ")" not in words):
                return stated[k:]  # "mosaic attenuation (small airway disease?)"
            if denied and any("item_break" in item.senses for item in between) and "with" not in words:
                return stated[k:]  # "pneumothorax appears small and effusion is unlikely"
            if not words.isdisjoint(self.small.conjunctions):
                two = len(stated) == 2 and not any("quality" in item.senses for item in between)
                return stated[k:] if "," in words and two else stated  # a list of two has no comma
            devices = [m.denies or self.lexicon.concepts[m.concept].is_device for m in stated[k - 1 : k + 1]]
            cause = denied and self.items[i].word == "unlikely" and self.same_picture(stated[k - 1], stated[k])
            if words == {","} and (cause or devices == [False, True]):
                return stated[k:]  # "pneumothorax, drain yet to be inserted", "opacity, pneumonia unlikely"
            bare = k == 1 and not stated[0].first and words == {","} and one[1] == "was"
            if "," in words and (asserted or self.firm(stated[k - 1])) and not (denied and bare):
                return stated[k:]  # but "mass, infiltration WAS not detected", as translations have it
        return stated

    def described(self, mention: Mention) -> Mention | None:
        """Returns the picture before a comma that a hedged finding explains: "bandlike opacity, scarring is likely"."""
        before = self.clause[self.clause.index(mention) - 1]
        describing = before.concept in self.lexicon.roles["describing"] and before.assertion == "present"
        return before if describing and self.same_picture(before, mention) else None

    def ends_statement(self, i: int) -> bool:
        """Tells whether nothing follows the word at `i` that it could be said of: "the edema RESOLVED"."""
        if not self.statement():
            return False
        ahead = self.items[i + 1 : i + 2]
        return not ahead or ahead[0].word in self.small.closing

    def is_history(self, i: int, item: Item) -> bool:
        """Returns whether a history names what was described: "a mass, KNOWN carcinoma", not "with known edema"."""
        if item.word not in self.small.historic or item.senses or not self.clause:
            return False
        roles, last = self.lexicon.roles, self.clause[-1]
        described = last.concept in roles["picture"] | roles["describing"] | roles["replaceable"]
        return described and self.items[i - 1].word not in self.small.list_joints - {","}

    def is_named(self, i: int) -> bool:
        """Tells whether the name of what was described ends the sentence: "airspace disease, ARDS", "..., A BULLA"."""
        between = self.items[i + 1 : -1]
        plain = all(item.senses.keys() <= _NAMING and item.word not in self.small.joints for item in between[1:])
        article = len(between) in (1, 2) and between[0].word in self.small.indefinite
        concept = self.items[-1].senses.get("concept") if not between or (article and plain) else None
        if concept is None or not self.statement() or self.absent or self.certainty != "definite":
            return False
        names = {concept, *self.lexicon.concepts[concept].ancestors}
        roles = self.lexicon.roles
        concepts = self.lexicon.concepts
        last = next((m for m in reversed(self.statement()) if m.denies or not concepts[m.concept].sign_of), None)
        described = last is not None and last.concept in roles["picture"] | roles["describing"]
        if between:  # "lucency at the apex, A BULLA": also of a sign of what it is
            last = self.statement()[-1]
            described = last.concept in roles["picture"] | roles["describing"] | roles["replaceable"]
        if last is None or not described:
            return False
        rows = (row for row in self.lexicon.rubric["explains"] if concept in row["diagnosis"])
        shown = {last.concept, *concepts[last.concept].ancestors}
        explained = bool(between) and any(not shown.isdisjoint(row["shown_by"]) for row in rows)
        return explained or not names.isdisjoint(self.lexicon.rubric["diagnoses"])

    def is_due(self, i: int, item: Item) -> bool:
        """Tells whether item `i` leads to what a picture is: "a hazy opacity DUE to an effusion"."""
        last = self.statement()[-1:] if item.word in self.small.causing else []
        described = bool(last) and (last[0].concept in self.lexicon.roles["replaceable"] or self._is_its_kind(last[0]))
        return described and not any("measure" in item.senses for item in self.items[last[0].last : i])

    def _is_its_kind(self, picture: Mention) -> bool:
        """Tells whether the next finding is what a picture can be: "a consolidation FROM aspiration"."""
        then = next((mention for mention in self.mentions if mention.first >= picture.last), None)
        describing = picture.concept in self.lexicon.roles["describing"]
        return describing and then is not None and picture.concept in self._ancestors(then)

    def _ancestors(self, mention: Mention) -> Collection[str]:
        return self.lexicon.concepts[mention.concept].ancestors if mention.concept else ()

    def is_shown(self, disease: Mention, picture: Mention) -> bool:
        """Tells whether "with" leads from a disease to its picture: "pneumonia WITH patchy opacities"."""
        describing = picture.concept in self.lexicon.roles["describing"]
        if not describing or disease.concept in self.lexicon.roles["sized"]:
            return False
        behind = self.items[disease.last : picture.last + _PLACE]
        apart = any(item.word in self.small.others or item.senses.keys() & {"side", "zone"} for item in behind)
        return picture.concept in self._ancestors(disease) and not apart

    def is_made(self, i: int, item: Item) -> bool:
        """Tells whether what a picture consists of follows: "a linear band OF scarring"."""
        last = self.statement()[-1:] if item.word in self.small.made and i == self.met_at else []
        describing = bool(last) and last[0].concept in self.lexicon.roles["describing"]
        return describing and i + 1 < len(self.items) and "concept" in self.items[i + 1].senses

    def apposition(self, i: int) -> bool:
        """Tells whether readings of the last finding follow: "streaky opacity, atelectasis versus scarring"."""
        describing = self.lexicon.roles["describing"]
        if not self.statement() or self.statement()[-1].concept not in describing or self.absent:
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

    def coordinated(self, i: int) -> bool:
        """Tells whether a hedge holds for both findings of a pair: "possible small effusion and atelectasis"."""
        if not self.conjoined or i != self.met_at:
            return False
        for item in self.ahead(i):
            if "concept" in item.senses:
                return self.lexicon.concepts[item.senses["concept"]].group in self.lexicon.groups["one_place"]
            if not item.senses or not item.senses.keys() <= ATTRIBUTIVE:
                return False
        return False

    def beside_relative(self, i: int, item: Item) -> bool:
        """Tells whether a comma opens or ends a relative clause: "oedema, WHICH was present, has cleared"."""
        if item.word != ",":
            return False
        after = [each.word for each in self.items[i + 1 : i + 3]]
        after = after[1:] if after[:1] == ["and"] else after[:1]  # "oedema, AND WHICH was present, has cleared"
        return self.relative or not self.small.relative.isdisjoint(after)

    def new_statement(self, i: int) -> bool:
        """Tells whether what follows the joint at `i` is stated, though the words before it were denied."""
        first = True
        if self.listing:
            return False  # "NOT SEEN: effusion, old fracture"
        if self.device_ahead(i) or self.predicate_ahead(i):
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
            if self.resolved and not first and senses.get("change", "resolved") != "resolved":
                return True  # "removal of the right line, left PICC UNCHANGED"
            if "item_break" in senses and item.word not in self.small.seen:
                return self.quality_ahead(i + 1 + k) or self.there_ahead(i, i + 1 + k)
            if item.word == ",":
                return False
        return False

    def device_ahead(self, i: int) -> bool:
        """Tells whether a device follows denied findings without "or": "no pneumothorax, chest tube unchanged"."""
        concepts = self.lexicon.concepts
        after = self.next_mention(i)
        if after is None or not self.is_device(after) or self.or_ahead(i):
            return False
        return not any(m.denies or concepts[m.concept].is_device for m in self.clause)

    def predicate_ahead(self, i: int) -> bool:
        """Tells whether a quality is said of a structure without a verb after the comma: "no edema, HEART ENLARGED"."""
        after = self.next_mention(i)
        if self.items[i].word != "," or after is None or after.first > i + 3 or self.or_ahead(i):
            return False
        said, quality = self.items[after.first : after.at + 1], self.items[after.at]
        behind = len(said) > 1 and "structure" in said[0].senses and "quality" in quality.senses
        if not behind or any(item.word in self.small.joints for item in said):
            return False
        return quality.word.endswith("ed") or quality.word in self.small.predicates

    def there_ahead(self, i: int, verb: int) -> bool:
        """Tells whether what stands behind the comma at `i` is said to be there: "no edema, a nodule IS present"."""
        after = self.items[verb + 1].word if verb + 1 < len(self.items) else ""
        alone = self.items[i].word == "," and len(self.statement()) == 1
        return alone and self.items[verb].word in self.small.single and after in self.small.seen
