"""The sentences of a report: one or two facts each, or a normal statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import NamedTuple

from rrgmetrics.reading import read
from rrgmetrics.synthesis.generator.draws import pick
from rrgmetrics.synthesis.generator.english import article, words
from rrgmetrics.synthesis.generator.knowledge import DEVICES, DIFFUSE, knowledge
from rrgmetrics.synthesis.generator.noun_phrases import Phrase, length, noun_phrase, slots_of
from rrgmetrics.synthesis.generator.phrasebook import Normal, Style, phrasebook
from rrgmetrics.synthesis.generator.studies import Fact, Study
from rrgmetrics.synthesis.grammar import Rules, Template, expand, sentence


class Statement(NamedTuple):
    """A sentence, and the organ in whose part of a report it belongs."""

    organ: str
    text: str


class Speaker:
    """Says what a study shows in a style; `rng` chooses the words."""

    def __init__(self, study: Study, style: Style, rng: Random) -> None:
        self.study, self.style, self.rng = study, style, rng
        self.book = phrasebook()
        self.known = knowledge()
        self.slots = {
            "date": study.date,
            "age": str(study.age),
            "sex": study.sex,
            "a_age": article(f"{study.age}-year-old"),
            "age_word": str(study.age),
            "time": f"{int(rng.random() * 24)}:{int(rng.random() * 60):02d}",
        }
        self.slots["complaint"] = self._expand("complaint", self.slots, self.book.boilerplate)

    def by_chance(self, chance: float) -> bool:
        """Whether something is done that is done so often."""
        return self.rng.random() < chance

    def boilerplate(self, rule: str) -> str:
        """Returns a sentence of `phrases/boilerplate.yaml`."""
        return sentence(self._expand(rule, self.slots, self.book.boilerplate))

    def _fill(self, rule: str, slots: dict[str, str]) -> str:
        return sentence(self._expand(rule, {**self.slots, **slots}, self.book.rules))

    def _expand(self, rule: str, slots: dict[str, str], rules: Rules) -> str:
        return expand(pick(rules[rule], self.rng), slots, rules, self.rng)

    def _one_of(self, templates: Sequence[Template], slots: dict[str, str]) -> str:
        return sentence(expand(pick(templates, self.rng), {**self.slots, **slots}, self.book.rules, self.rng))

    # Normal statements

    def normals(self) -> list[Statement]:
        """Returns statements of what is normal, as many as the style lists."""
        statements: list[Statement] = []
        topics = self._topics()
        listed = [topic for topic in topics if topic.denied_as]
        if len(listed) > 1 and self.by_chance(self.style.list_normals):
            statements.append(Statement(self.book.layout["list_of_denials"], self._denials(listed)))
            topics = [topic for topic in topics if not topic.denied_as]
        names, texts = {topic.name for topic in topics}, set()
        for topic in topics:
            if topic.instead and self.by_chance(0.5) and topic.instead in names:
                continue
            text = self._one_of(topic.says, {})
            if text not in texts and (self.study.prior or not _compares(text)):
                texts.add(text)
                statements.append(Statement(topic.organ, text))
        return statements

    def _topics(self) -> list[Normal]:
        present = self._present()
        factor = self.style.normals * (1.15 if not self.study.facts else 0.9)
        return [
            topic
            for topic in self.book.normals
            if not (topic.blocked_by & present)
            and (topic.needs is None or topic.needs in present)
            and self.rng.random() < topic.often * factor
        ]

    def _present(self) -> set[str]:
        """Returns the concepts of the study with all they are a kind of, and their groups."""
        present: set[str] = set()
        for fact in self.study.facts:
            for name in (fact.concept, fact.sign, fact.other):
                if name and fact.assertion != "absent":
                    concept = self.known.lexicon.concepts[name]
                    present |= {name, *concept.ancestors, *concept.same_as, *concept.sign_of, concept.group}
        return present

    def _denials(self, topics: Sequence[Normal]) -> str:
        """Returns several denials in one sentence."""
        names = [pick(topic.denied_as, self.rng) for topic in topics]
        if self.by_chance(0.4):
            self.rng.shuffle(names)
        last = pick((" or ", ", or ", " or "), self.rng)
        text = (", ".join(names[:-1]) + last + names[-1]) if len(names) > 2 else " or ".join(names)
        return self._fill("denials", {"list": text})

    # Findings

    def facts(self, facts: Sequence[Fact]) -> list[Statement]:
        """Returns statements of facts, now and then two in one sentence."""
        statements: list[Statement] = []
        waiting = list(facts)
        while waiting:
            fact = waiting.pop(0)
            partner = None
            if self._is_plain(fact) and self.by_chance(self.style.join):
                partner = next((other for other in waiting if self._is_plain(other)), None)
            if partner is None:
                statements.append(Statement(self._organ(fact), self._statement(fact)))
            else:
                waiting.remove(partner)
                statements.append(Statement(self._organ(fact), self._together(fact, partner)))
        return statements

    def _organ(self, fact: Fact) -> str:
        """Returns what part of a report a fact belongs to; what surgery left is no device."""
        group = self.known.lexicon.concepts[fact.concept].group
        return "chest_wall_and_abdomen" if group == DEVICES and not self._is_support_device(fact) else group

    def _is_support_device(self, fact: Fact) -> bool:
        concept = self.known.lexicon.concepts[fact.concept]
        return "support_device" in (concept.key, *concept.ancestors)

    def _is_plain(self, fact: Fact) -> bool:
        is_certain = fact.assertion == "present" and fact.certainty == "definite" and fact.change is None
        more = fact.tip or fact.position or fact.size_mm or fact.sign or fact.other or fact.term
        return is_certain and not more

    def _together(self, first: Fact, second: Fact) -> str:
        a, b = self._phrase(first), self._phrase(second)
        texts = a.indefinite(), b.indefinite()
        joint = pick(words().english["together"], self.rng)
        slots = {
            "list": joint.join(texts),
            "plain_list": f"{a.words} and {b.words}",
            "is": "are" if a.plural else "is",
            "are": "are" if joint == " and " or a.plural else "is",
        }
        return self._fill("together", slots)

    def _phrase(self, fact: Fact, **options: bool) -> Phrase:
        return noun_phrase(fact, self.rng, self.style.rare, **options)

    def _statement(self, fact: Fact) -> str:
        """Returns one sentence for one fact."""
        if self._is_support_device(fact) and fact.assertion == "present":
            return self._device(fact)
        phrase = self._phrase(fact)
        slots = _slots(phrase)
        if fact.assertion == "absent":
            return self._fill("absent", slots)
        if fact.change == "resolved":
            return self._fill("resolved", slots)
        if fact.sign or fact.other:
            return self._interpreted(fact, slots)
        if fact.certainty != "definite":
            return self._fill(fact.certainty, slots)
        if fact.change:
            return self._fill(fact.change, {**slots, **self._changed(fact.change, phrase)})
        return self._sided(fact, self._plain(fact, slots))

    def _sided(self, fact: Fact, text: str) -> str:
        """Adds which of two sides is worse, now and then."""
        if fact.side != "bilateral" or not text.endswith(".") or not self.by_chance(0.15):
            return text
        return self._fill("worse_side", {"statement": text.removesuffix(".")})

    def _plain(self, fact: Fact, slots: dict[str, str]) -> str:
        says = self.known.profiles[fact.concept].says
        own = says and self.by_chance(self.style.own) and not (fact.size_mm or fact.count or fact.term)
        if own and self._is_sayable(fact):
            template = pick(says, self.rng)
            own_slots = {**self.slots, **slots_of(fact, self.rng)}
            return sentence(expand(template, own_slots, self.book.rules, self.rng))
        return self._fill("terse" if self.by_chance(self.style.terse) else "full", slots)

    def _is_sayable(self, fact: Fact) -> bool:
        """Whether a concept's own statements have all they need."""
        profile = self.known.profiles[fact.concept]
        lacking = {
            "severity": fact.severity is None,
            "side1": fact.side not in ("left", "right"),
            "part": fact.zone in (None, DIFFUSE),
        }
        if fact.severity == 0 or any(lacking[need] for need in profile.says_need):
            return False
        return not profile.sides or fact.side is not None

    def _changed(self, change: str, phrase: Phrase) -> dict[str, str]:
        """Returns the slots of a phrase with its change before it: "worsening left effusion"."""
        prefix = self._expand(f"{change}_prefix", {}, self.book.rules)
        if prefix.endswith(" of"):
            text = f"{prefix} {phrase.indefinite()}"
            return {f"{change}_np": text, f"a_{change}_np": text}
        changed = phrase._replace(words=f"{prefix} {phrase.words}")
        return {f"{change}_np": changed.words, f"a_{change}_np": changed.indefinite()}

    def _interpreted(self, fact: Fact, slots: dict[str, str]) -> str:
        """Returns a describing finding with what it is read as, or two alternatives."""
        bare = self._phrase(replace(fact, morphology=None), placed=False, graded=False)
        if fact.other:
            other = self._phrase(Fact(fact.other))
            return self._fill("versus", {**slots, "other": other.words})
        sign = replace(
            fact, concept=fact.sign or fact.concept, sign=None, acuity=None, term=None, count=None, size_mm=()
        )
        described = self._phrase(sign)
        values = {
            "sign": described.words,
            "a_sign": described.indefinite(),
            "sign_is": "are" if described.plural else "is",
            "reading": bare.words if self.by_chance(0.7) else bare.indefinite(),
        }
        return self._fill("read_as_possible" if fact.certainty == "possible" else "read_as", values)

    # Devices

    def _device(self, fact: Fact) -> str:
        phrase = self._phrase(fact)
        the_device = f"the {phrase.words}"
        slots = {
            **_slots(phrase),
            "device": phrase.words,
            "a_device": phrase.indefinite(),
            "the_device": the_device,
            "the_device_mid": the_device,
        }
        change = fact.change if fact.change in ("new", "stable") else None
        if fact.change == "resolved":
            return self._fill("device_gone", slots)
        if fact.tip:
            slots["at_tip"] = self._at_tip(fact.tip)
            slots["the_tip"] = f"the {pick(words().tips[fact.tip], self.rng)}"
            return self._fill(f"device_tip_{change}" if change else "device_tip", slots)
        if fact.size_mm:
            slots["cm"] = length(fact.size_mm, self.rng) if fact.size_mm[0] >= 10 else f"{fact.size_mm[0]} mm"
            text = self._fill("device_cm", slots)
            return f"{text} {self._fill(f'device_{change}', slots)}" if change else text
        if fact.position:
            return self._fill(f"device_{fact.position}", slots)
        if fact.change:
            return self._fill(f"device_{change}" if change else "device", slots)
        says = self.known.profiles[fact.concept].says
        if says and not fact.term and self.by_chance(self.style.own):
            return self._one_of(says, slots)
        return self._fill("device_terse" if self.by_chance(self.style.terse) else "device", slots)

    def _at_tip(self, tip: str) -> str:
        """Returns where a tip lies, with its preposition."""
        place = pick(words().tips[tip], self.rng)
        joints = words().english["at_tip"]
        before = joints.get(tip, joints["elsewhere"])
        return f"{pick(before, self.rng) if len(before) > 1 else before[0]} {place}"


def _slots(phrase: Phrase) -> dict[str, str]:
    return {
        "np": phrase.words,
        "a_np": phrase.indefinite(),
        "the_np": f"the {phrase.words}",
        "is": "are" if phrase.plural else "is",
        "has": "have" if phrase.plural else "has",
        "was": "were" if phrase.plural else "was",
        "s": "" if phrase.plural else "s",
    }


@lru_cache(maxsize=4096)
def _compares(text: str) -> bool:
    """Whether a statement compares with an earlier study: "the heart remains normal in size"."""
    return bool(read(text).compared)
