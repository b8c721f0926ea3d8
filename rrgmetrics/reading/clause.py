"""The state while context rules are applied to one sentence, and the predicates that rules can ask of it.

A predicate takes the index of an item and changes nothing. context_rules.yaml names them under `when` and `unless`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from rrgmetrics.reading.context_rules import Rule
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Certainty
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.sentence import ATTRIBUTIVE, SentenceView
from rrgmetrics.reading.similarity import related
from rrgmetrics.reading.subjects import likewise_from, told_apart

BEFORE = frozenset(
    {"negation_before", "negation_verb", "not_excluded_before", "possible_before", "possible_list", "probable_before"}
)
_PLACE = 5  # items from a picture to the end of its place
_START = 3  # items of a sentence before what a patient has
_NAMING = frozenset({"acuity", "morphology", "quality"})
_HEDGED = frozenset({"possible", "probable"})
_BEING = "being"  # between a finding and what describes it alone
_UNLIKELY = frozenset({"unlikely", "less", "improbable"})  # first words of "unlikely", "less likely"
_LARGE = 6  # severity steps that lists of denied findings are full of ("no consolidation, large effusion")


class Joint(Enum):
    """What was read since the last finding that joins the next one to it."""

    NONE = ""
    COMMA = "comma"
    AND = "and"
    VERSUS = "versus"  # or
    WITH = "with"
    LINK = "link"  # "consistent with": the next one explains it


_LISTING = (Joint.NONE, Joint.COMMA, Joint.AND)


class Scope(NamedTuple):
    """What a cue says of the findings behind it, until something ends it.

    Attributes:
        rule: The rule that opened it.
        at: The item from which on it holds.
        met: How many findings of the clause were met before.
    """

    rule: Rule
    at: int
    met: int


def _starts_statement(senses: Senses, lexicon: Lexicon) -> bool:
    """Whether a word after a comma begins a statement ("no effusion, stable cardiomegaly")."""
    if "concept" in senses or senses.get("change") == "new":
        return False
    if "severity" in senses:
        return bool(senses["severity"] < _LARGE)
    return bool(senses.keys() & {"change", "position"}) or senses.get("acuity") in lexicon.old


class Clause(SentenceView):
    """What holds for the next finding of a sentence, and the findings of the clause so far.

    Attributes:
        open: What cues have opened, by its effect; any certainty is "hedge".
        joint: What was read since the last finding.
        clause: The mentions of the clause.
        start: The index in `clause` where the current statement begins.
        verb_at: The item of the last verb; -1: none.
        met_at: The item behind the last mention; -1: none.
    """

    def __init__(self, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
        super().__init__(items, mentions, lexicon)
        self.open: dict[str, Scope] = {}
        self.joint = Joint.NONE
        self.clause: list[Mention] = []
        self.start = 0
        self.verb_at = self.met_at = -1

    def end_clause(self) -> None:
        """Forgets all that held in the clause."""
        self.open, self.joint = {}, Joint.NONE
        self.clause, self.start = [], 0

    def close(self, reach: str) -> None:
        """Closes what reaches no further than to what is read now."""
        self.open = {name: scope for name, scope in self.open.items() if scope.rule.reach != reach}

    def join(self, joint: Joint) -> None:
        """Takes note of a joint; a comma or "and" behind a stronger one changes nothing, but a list continues in it."""
        if self.joint in _LISTING or joint is Joint.WITH or joint is Joint.LINK:
            self.joint = joint
        if joint in (Joint.COMMA, Joint.AND, Joint.WITH):
            self.close("joint")

    def holds(self, names: frozenset[str]) -> bool:
        """Whether one of these effects is open."""
        return not names.isdisjoint(self.open) or self.certainty in names

    @property
    def certainty(self) -> Certainty:
        """How certain a finding is now."""
        hedge = self.open.get("hedge")
        return hedge.rule.effect if hedge else "definite"

    @property
    def listing(self) -> bool:
        """Whether a cue opened a list: "differential includes ...", "not seen: ..."."""
        return any(
            scope.rule.reach == "list" or (self.items[scope.at].word == ":" and self.items[scope.at].senses)
            for scope in (self.open.get("absent"), self.open.get("hedge"))
            if scope
        )

    def statement(self) -> list[Mention]:
        """Returns the mentions of the current statement."""
        return self.clause[self.start :]

    def deciding(self, mention: Mention) -> Scope | None:
        """Returns what decides whether a mention is there; None if nothing is open that does."""
        if not mention.denies:
            if scope := self.open.get("hypothetical"):
                return scope
            scope = self.open.get("assessed")  # it concerns what is before it, and faults of the film
            if scope and (mention.first < scope.at or not self.lexicon.concepts[mention.concept].counts):
                return scope
        return self.open.get("absent") or self.open.get("absent_once") or self.open.get("resolved")

    def is_unseen(self, mention: Mention) -> bool:
        """Whether a structure is not seen to have a quality: "the node WAS NOT SEEN in pathological size"."""
        return mention.first < mention.at and "negation_after" in self.items[mention.at - 1].senses

    def or_other_quality(self, i: int) -> bool:
        """Whether a denied quality is followed by another: "is not widened OR DISPLACED"."""
        ahead = self.items[i + 1 : i + 3]
        return len(ahead) == 2 and ahead[0].word in self.small.alternatives and "quality" in ahead[1].senses

    def is_subject_of_hedge(self) -> bool:
        """Whether what is denied or removed is the subject of a hedge: "ABSENCE OF EFFUSION suggests ..."."""
        if not self.clause:
            return False
        lacks = (
            "absent" in self.open and self.open["absent"].rule.reach == "subject" and "hypothetical" not in self.open
        )
        return lacks or ("resolved" in self.open and self.is_device(self.clause[-1]))

    def is_explaining(self, i: int) -> bool:
        """Whether what follows a hedge explains what is before it: not in "effusion AND POSSIBLE edema"."""
        item, after = self.items[i], self.items[i + 1 : i + 2]
        if self.joint is Joint.WITH and item.last - item.first == 1 and not (after and after[0].senses.keys() & BEFORE):
            before = next((each for each in self.items[i - 1 :: -1] if each.word not in self.small.indefinite), None)
            return before is None or not (before.word == "with" or before.senses)  # not in "with PROBABLE effusion"
        return self.joint is not Joint.AND or item.word in self.small.meaning

    def interpreted(self, mention: Mention) -> Mention | None:
        """Returns the mention that a hedged mention explains: the last before it that can be the same picture."""
        stated = [m for m in self.clause[-3:] if m.assertion != "absent" and not m.dropped and not m.denies]
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

    def subject(self, i: int, *, denied: bool) -> list[Mention]:
        """Returns the findings that the cue at `i` judges: the list before it, not what a mere comma parts from it.

        "Effusion and pneumothorax cannot be excluded", but "small effusion, pneumothorax cannot be excluded".
        """
        stated = self.statement()
        stated = stated[told_apart(self.items, stated, self.lexicon) :]
        stated = stated[self._behind_colon(stated) :]
        behind = [item.word for item in self.items[stated[-1].last : i]]
        if stated[-1].elided or ("(" in behind and ")" not in behind):
            return stated[-1:]  # "a port, a pacemaker (leads NOT WELL SEEN)"
        one = [self.items[i].word, self.items[self.verb_at].word if self.verb_at >= self.met_at else ""]
        if not self.small.plural.isdisjoint((*one, self.items[i - 1].word)):
            return stated
        if denied and self.denied_together(0, stated[-1].last):
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
            alone = _BEING in behind or self.items[i].word in _UNLIKELY
            if alone and "with" in words:
                return stated[k:]  # "small effusions with pneumothorax BEING absent", "opacity with edema LESS likely"
            if denied and "," in words and (_BEING in behind or stated[k - 1].certainty in _HEDGED):
                return stated[k:]  # "LIKELY atelectasis, infection less likely"
            if not words.isdisjoint(self.small.conjunctions):
                two = len(stated) == 2 and not any("quality" in item.senses for item in between)
                return stated[k:] if "," in words and two else stated  # a list of two has no comma
            devices = [m.denies or self.lexicon.concepts[m.concept].is_device for m in stated[k - 1 : k + 1]]
            cause = denied and self.items[i].word in _UNLIKELY and self.same_picture(stated[k - 1], stated[k])
            if words == {","} and (cause or devices == [False, True]):
                return stated[k:]  # "pneumothorax, drain yet to be inserted", "opacity, pneumonia unlikely"
            if "," in words and (asserted or self.firm(stated[k - 1])):
                return stated[k:]
        return stated

    def _behind_colon(self, stated: list[Mention]) -> int:
        """Returns how many findings are a picture before a colon: "A BASAL OPACITY: pneumonia is possible"."""
        for k in range(len(stated) - 1, 0, -1):
            between = self.items[stated[k - 1].last : stated[k].first]
            picture = stated[k - 1].concept in self.lexicon.roles["picture"]
            parted = any(item.word == ":" for item in between)
            if picture and parted and self.same_picture(stated[k - 1], stated[k]):
                return k
        return 0

    def described(self, mention: Mention) -> Mention | None:
        """Returns the picture before a comma that a hedged finding explains: "bandlike opacity, scarring is likely".

        Behind "and" it explains only a picture of its organ: "consolidation has grown AND an effusion is suspected".
        """
        before = self.clause[self.clause.index(mention) - 1]
        concepts, between = self.lexicon.concepts, self.items[before.last : mention.first]
        added = any(item.word in self.small.list_joints - {","} for item in between)
        if added and concepts[before.concept].group != concepts[mention.concept].group:
            return None
        describing = before.concept in self.lexicon.roles["describing"] and before.assertion == "present"
        return before if describing and self.same_picture(before, mention) else None

    # What is asked or advised

    def asks_for_device(self, i: int) -> bool:
        """Whether a device is only advised, or is not placed: "an intercostal drain IS ADVISED"."""
        last = self.statement()[-1]
        between = self.items[last.last : i]
        return self.is_device(last) and all(
            "item_break" in item.senses or item.word in self.small.inserting for item in between
        )

    def is_patient(self, i: int) -> bool:
        """Whether a sentence begins with the patient: "INFANT WITH a cavity on the left"."""
        return i < _START and not any(each.senses.get("concept") for each in self.items[:i])

    # What a cue judges

    def looks_back(self, i: int) -> bool:
        """Whether a cue judges what is before it though it could judge what follows: "edema is LIKELY, given"."""
        return BEFORE.isdisjoint(self.items[i].senses) or self.closes(i)

    def closes(self, i: int) -> bool:
        """Whether the hedge at `i` can only be about what is before it: "pneumonia is LIKELY, given ..."."""
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

    # What a cue says of what follows

    def is_fresh(self, i: int) -> bool:
        """Whether a hedge has been read since the last finding: "POSSIBLY REPRESENTING edema"."""
        hedge = self.open.get("hedge")
        return hedge is not None and hedge.met == len(self.clause)

    def is_beside_finding(self, i: int) -> bool:
        """Whether a finding is right before the item."""
        return i == self.met_at

    def changes_verb(self, i: int) -> bool:
        """Whether what follows has a verb, after that of the statement before it: "HAS SHRUNK and it IS"."""
        behind = self.items[self.met_at : i] if self.met_at >= 0 else []
        changed = any("change" in item.senses and item.word in self.small.verbs for item in behind)
        return (changed or self.verb_at >= 0) and self.verb_ahead(i)

    def has_findings(self, i: int) -> bool:
        """Whether the clause has named a finding."""
        return bool(self.clause)

    # What is gone

    def shares_change(self, i: int) -> bool:
        """Whether what follows has the same change: "the effusion has cleared, AS HAS THE EDEMA"."""
        return likewise_from(self.items, i, self.small) > 0

    # What joints do

    def is_history(self, i: int) -> bool:
        """Returns whether a history names what was described: "a mass, KNOWN carcinoma", not "with known edema"."""
        if self.items[i].senses or not self.clause:
            return False
        roles, last = self.lexicon.roles, self.clause[-1]
        described = last.concept in roles["picture"] | roles["describing"] | roles["replaceable"]
        return described and self.items[i - 1].word not in self.small.list_joints - {","}

    def is_named(self, i: int) -> bool:
        """Whether the name of what was described ends the sentence: "airspace disease, ARDS", "..., A BULLA"."""
        between = self.items[i + 1 : -1]
        plain = all(item.senses.keys() <= _NAMING and item.word not in self.small.joints for item in between[1:])
        article = len(between) in (1, 2) and between[0].word in self.small.indefinite
        concept = self.items[-1].senses.get("concept") if not between or (article and plain) else None
        if concept is None or not self.statement() or "absent" in self.open or self.certainty != "definite":
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

    def is_due(self, i: int) -> bool:
        """Whether item `i` leads to what a picture is: "a hazy opacity DUE to an effusion"."""
        last = self.statement()[-1:]
        described = bool(last) and (last[0].concept in self.lexicon.roles["replaceable"] or self._is_its_kind(last[0]))
        return described and not any("measure" in item.senses for item in self.items[last[0].last : i])

    def _is_its_kind(self, picture: Mention) -> bool:
        """Whether the next finding is what a picture can be: "a consolidation FROM aspiration"."""
        then = next((mention for mention in self.mentions if mention.first >= picture.last), None)
        describing = picture.concept in self.lexicon.roles["describing"]
        if not describing or then is None or then.denies:
            return False
        return picture.concept in self.lexicon.concepts[then.concept].ancestors

    def is_shown(self, disease: Mention, picture: Mention) -> bool:
        """Whether "with" leads from a disease to its picture: "pneumonia WITH patchy opacities"."""
        describing = picture.concept in self.lexicon.roles["describing"]
        if not describing or disease.concept in self.lexicon.roles["sized"]:
            return False
        behind = self.items[disease.last : picture.last + _PLACE]
        apart = any(item.word in self.small.others or item.senses.keys() & {"side", "zone"} for item in behind)
        return picture.concept in self.lexicon.concepts[disease.concept].ancestors and not apart

    def is_made(self, i: int) -> bool:
        """Whether what a picture consists of follows: "a linear band OF scarring"."""
        last = self.statement()[-1:]
        describing = bool(last) and last[0].concept in self.lexicon.roles["describing"]
        return describing and i + 1 < len(self.items) and "concept" in self.items[i + 1].senses

    def opens_readings(self, i: int) -> bool:
        """Whether readings of the last finding follow: "streaky opacity, atelectasis versus scarring"."""
        describing = self.lexicon.roles["describing"]
        if not self.statement() or self.statement()[-1].concept not in describing or "absent" in self.open:
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

    def proves(self, i: int) -> bool:
        """Whether a colon leads to the evidence for what is suspected: "Suspected edema: THE BASE IS HAZY"."""
        if not self.clause or self.listing:
            return False
        ahead = self.ahead(i)
        if any("negation_after" in item.senses for item in ahead[:1]):
            return False  # "consolidation suggestive of pneumonia: NONE SEEN"
        named = [item.senses["concept"] for item in ahead if "concept" in item.senses]
        shown = bool(named) and set(named).isdisjoint(self.lexicon.rubric["diagnoses"])
        return shown or any("item_break" in item.senses for item in ahead)

    def is_before_scope(self, i: int) -> bool:
        """Whether what is open holds from a later item on: "has cleared, AS HAS the edema"."""
        return "resolved" in self.open and i < self.open["resolved"].at

    def ends_denied_list(self, i: int) -> bool:
        """Whether "with" leads to what is not denied: "no effusion WITH CLEAR LUNGS"."""
        listed = self.joint in (Joint.COMMA, Joint.AND)
        return bool(self.clause) and (listed or self.normal_ahead(i) or self.device_ahead(i))

    def denies_subject(self, i: int) -> bool:
        """Whether what is denied is the subject: "in THE ABSENCE OF fever"."""
        return self.open["absent"].rule.reach == "subject"

    def is_hedge_used(self, i: int) -> bool:
        """Whether a finding was met behind the hedge, which opened no list."""
        return self.certainty != "definite" and not self.is_fresh(i) and not self.listing

    def is_pair(self, i: int) -> bool:
        """Whether a hedge holds for both findings of a pair: "possible small effusion and atelectasis"."""
        for item in self.ahead(i):
            if "concept" in item.senses:
                return self.lexicon.concepts[item.senses["concept"]].group in self.lexicon.groups["one_place"]
            if not item.senses or not item.senses.keys() <= ATTRIBUTIVE:
                return False
        return False

    def new_statement(self, i: int) -> bool:
        """Whether what follows the joint at `i` is stated, though the words before it were denied."""
        first = True
        if self.listing:
            return False  # "NOT SEEN: effusion, old fracture"
        if self.device_ahead(i):
            return True
        for k, item in enumerate(self.ahead(i)):
            senses = item.senses
            if "clause_end" in senses or "negation_before" in senses:
                return False
            if item.word in self.small.alternatives:
                return False
            if first and senses and item.word != "and":
                # "removal of the tube and new pneumothorax"
                arrived = "resolved" in self.open and senses.get("change") == "new"
                if arrived or (_starts_statement(senses, self.lexicon) and not self.or_ahead(i)):
                    return True
                first = False
            if "resolved" in self.open and not first and senses.get("change", "resolved") != "resolved":
                return True  # "removal of the right line, left PICC UNCHANGED"
            if "item_break" in senses and item.word not in self.small.seen:
                return self.quality_ahead(i + 1 + k) or self.there_ahead(i, i + 1 + k)
            if item.word == ",":
                return False
        return False

    def device_ahead(self, i: int) -> bool:
        """Whether a device follows denied findings without "or": "no pneumothorax, chest tube unchanged"."""
        concepts = self.lexicon.concepts
        after = self.next_mention(i)
        if after is None or not self.is_device(after) or self.or_ahead(i):
            return False
        return not any(m.denies or concepts[m.concept].is_device for m in self.clause)

    def there_ahead(self, i: int, verb: int) -> bool:
        """Whether what is behind the comma at `i` is said to be there: "no edema, a nodule IS present"."""
        after = self.items[verb + 1].word if verb + 1 < len(self.items) else ""
        alone = self.items[i].word == "," and len(self.statement()) == 1
        return alone and self.items[verb].word in self.small.single and after in self.small.seen
