"""Whole chest X-ray reports, and pairs of them, made from the reader's lexicon.

A study (``studies.py``) is a list of facts; a style (``phrases/styles.yaml``) says how a report looks; rendering one
study in two styles gives a paraphrase, rendering a study with errors a wrong candidate. Nothing here comes from
anyone's reports: the words are the lexicon's, the sentences the templates of ``phrases/``. Number ``i`` of a seed is
always the same, whichever process makes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from rrgmetrics.errors import InputError
from rrgmetrics.reader.lexicon import load_file
from rrgmetrics.synthesis.grammar import Rules, Template, expand, parse_rules, sentence
from rrgmetrics.synthesis.studies import (
    DEVICES,
    Fact,
    Study,
    add_fact,
    blur,
    corrupt,
    draw_study,
    knowledge,
    load_phrases,
    pick,
    weighted,
)
from rrgmetrics.synthesis.wording import Phrase, article, length, noun_phrase, slots_of, words

WAYS = {"paraphrase": 0.1, "corrupted": 0.45, "related": 0.25, "normal": 0.1, "random": 0.1}
_ORGANS = (
    "devices",
    "lung",
    "pleura",
    "heart_and_vessels",
    "mediastinum",
    "bones",
    "chest_wall_and_abdomen",
    "technique",
)
_HEADS = {
    "devices": ("Lines/tubes", "Devices", "Support devices", "Lines and tubes", "Tubes and lines"),
    "lung": ("Lungs", "Lungs", "Lungs and airways", "Lung parenchyma"),
    "pleura": ("Pleura", "Pleural spaces", "Pleura"),
    "heart_and_vessels": ("Heart", "Cardiac silhouette", "Heart and vessels", "Cardiovascular"),
    "mediastinum": ("Mediastinum", "Mediastinum and hila", "Mediastinum"),
    "bones": ("Bones", "Osseous structures", "Musculoskeletal", "Bony structures"),
    "chest_wall_and_abdomen": ("Soft tissues", "Other", "Upper abdomen"),
    "technique": ("Other",),
}
_LISTED = {
    "consolidation": ("focal consolidation", "consolidation", "focal airspace consolidation", "pneumonia", "infiltrate",
                      "focal infiltrate", "focal airspace disease", "focal opacity", "focal airspace opacity"),
    "effusion": ("pleural effusion", "effusion", "pleural effusions", "effusions", "large pleural effusion"),
    "pneumothorax": ("pneumothorax", "pneumothorax", "pneumothoraces", "definite pneumothorax"),
    "edema": ("pulmonary edema", "edema", "overt edema"),
    "hila": ("lymphadenopathy", "adenopathy", "nodules or masses", "mass"),
}  # fmt: skip
_HEADED = re.compile(r"[*# ]*findings:", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{4,}")
_WORSE_SIDE = (
    ", right greater than left",
    ", left greater than right",
    ", right worse than left",
    ", greater on the left",
    ", greater on the right than left",
    ", more prominent on the right",
    " (right greater than left)",
)
_OPENINGS = (
    "The chest X-ray shows the following findings.",
    "The chest X-ray demonstrates the following.",
    "The following findings are noted.",
    "This is a chest X-ray of the patient.",
)


@dataclass(frozen=True, slots=True)
class GeneratedReport:
    """A report with the name of its style and the study it tells of."""

    text: str
    style: str
    study: Study


@dataclass(frozen=True, slots=True)
class GeneratedPair:
    """A reference and a candidate.

    ``styles`` are those of reference and candidate; ``way`` is how the candidate came about (``WAYS``); ``injected``
    counts the errors that were made on purpose, by category A to F; for the ways "related", "normal" and "random" it
    is what the facts tell by themselves: facts only the candidate has (A), facts it lacks (B).
    """

    reference: str
    candidate: str
    styles: tuple[str, str]
    way: str
    injected: tuple[int, ...]


@dataclass(frozen=True)
class Style:
    """How a report looks; the fields are explained in ``phrases/styles.yaml``."""

    name: str
    terse: float
    own: float
    normals: float
    list_normals: float
    join: float
    frame: str
    order: str
    rare: float
    technique: float = 0.0
    comparison: float = 0.0
    advice: float = 0.0
    summary: float = 0.0
    patient: float = 0.0
    opening: float = 0.0
    closing: float = 0.0
    capitals: float = 0.03


@dataclass(frozen=True)
class Normal:
    """A topic of normal statements."""

    name: str
    organ: str
    often: float
    blocked_by: frozenset[str]
    needs: str | None
    says: tuple[Template, ...]


@dataclass(frozen=True)
class Phrasebook:
    """All templates, parsed."""

    rules: Rules
    boilerplate: Rules
    normals: tuple[Normal, ...]
    styles: dict[str, Style]
    weights: tuple[dict[str, float], dict[str, float]]


@cache
def phrasebook() -> Phrasebook:
    """Return all templates; parsed once per process."""
    styles = load_phrases("styles")
    weights = tuple({name: entry["weight"][i] for name, entry in styles.items()} for i in (0, 1))
    normals = tuple(
        Normal(name, entry["organ"], entry["often"], frozenset(entry["blocked_by"]), entry.get("needs"), says)
        for name, entry in load_phrases("normals").items()
        for says in [parse_rules({name: entry["says"]})[name]]
    )
    return Phrasebook(
        parse_rules(load_phrases("sentences")),
        parse_rules(load_phrases("boilerplate")),
        normals,
        {
            name: Style(name, **{key: value for key, value in entry.items() if key != "weight"})
            for name, entry in styles.items()
        },
        (weights[0], weights[1]),
    )


def generate_reports(n: int, *, seed: int, start: int = 0) -> Iterator[GeneratedReport]:
    """Yield reports number ``start`` to ``start + n`` of a seed.

    Args:
        n: how many.
        seed: which series; a report depends on the seed and its number alone.
        start: number of the first.

    Raises:
        InputError: ``n`` or ``start`` is negative.

    Example:
        >>> first, second = generate_reports(2, seed=0)
        >>> second == next(generate_reports(1, seed=0, start=1))
        True
    """
    _check(n, start)
    for i in range(start, start + n):
        rng = Random(f"report {seed} {i}")
        study = draw_study(rng)
        style = weighted(phrasebook().weights[i % 2], rng)
        yield GeneratedReport(render(study, style, rng), style, study)


def generate_pairs(n: int, *, seed: int, start: int = 0) -> Iterator[GeneratedPair]:
    """Yield pairs number ``start`` to ``start + n`` of a seed, mixed as ``WAYS`` says.

    Args:
        n: how many.
        seed: which series; a pair depends on the seed and its number alone.
        start: number of the first.

    Raises:
        InputError: ``n`` or ``start`` is negative.

    Example:
        >>> pair = next(generate_pairs(1, seed=0))
        >>> len(pair.injected), pair.way in WAYS
        (6, True)
    """
    _check(n, start)
    for i in range(start, start + n):
        yield _pair(Random(f"pair {seed} {i}"))


def _check(n: int, start: int) -> None:
    if n < 0 or start < 0:
        raise InputError(f"n is {n} and start is {start}; pass numbers that are not negative.")


def _pair(rng: Random) -> GeneratedPair:
    way = weighted(WAYS, rng)
    abnormal = (way == "normal" and rng.random() < 0.7) or (way == "corrupted" and rng.random() < 0.85)
    prior = True if way == "corrupted" and rng.random() < 0.4 else None
    study = draw_study(rng, normal=False if abnormal else None, prior=prior)
    other, injected = _other_study(study, way, rng)
    weights = phrasebook().weights
    styles = weighted(weights[0], rng), weighted(weights[1], rng)
    return GeneratedPair(render(study, styles[0], rng), render(other, styles[1], rng), styles, way, injected)


def _other_study(study: Study, way: str, rng: Random) -> tuple[Study, tuple[int, ...]]:
    """Return the candidate's study, and the errors it makes by category."""
    if way == "paraphrase":
        return study, (0,) * 6
    if way == "corrupted":
        return corrupt(study, 1 + int(rng.random() ** 2 * 8), rng)
    if way == "normal":
        other = replace(study, facts=())
    elif way == "random":
        other = draw_study(rng)
    else:
        other = draw_study(rng, normal=rng.random() < 0.1)
        shared = [blur(f, rng) if rng.random() < 0.3 else f for f in study.facts if rng.random() < 0.45]
        other = replace(study, facts=tuple(_joined(shared, other.facts)))
    mine, theirs = ({f.concept for f in s.facts if _stated(f)} for s in (study, other))
    return other, (len(theirs - mine), len(mine - theirs), 0, 0, 0, 0)


def _joined(shared: list[Fact], more: tuple[Fact, ...]) -> list[Fact]:
    facts: list[Fact] = []
    for fact in (*shared, *more):
        add_fact(facts, fact)
    return facts


def _stated(fact: Fact) -> bool:
    return fact.assertion != "absent" and fact.change != "resolved"


def render(study: Study, style: str, rng: Random) -> str:
    """Return the report of a study in a style.

    Raises:
        InputError: there is no such style.
    """
    styles = phrasebook().styles
    if style not in styles:
        raise InputError(f"There is no style {style!r}; choose one of {', '.join(styles)}.")
    return _Writer(study, styles[style], rng).report()


class _Writer:
    """Writes one report."""

    def __init__(self, study: Study, style: Style, rng: Random) -> None:
        self.study, self.style, self.rng = study, style, rng
        self.book = phrasebook()
        self.known = knowledge()
        self.date = {
            "date": study.date,
            "age": str(study.age),
            "sex": study.sex,
            "a_age": article(f"{study.age}-year-old"),
            "age_word": str(study.age),
            "time": f"{int(rng.random() * 24)}:{int(rng.random() * 60):02d}",
        }
        self.date["complaint"] = self._expand("complaint", self.date)

    def report(self) -> str:
        """Return the whole text."""
        frame = self.style.frame
        body = self._body()
        if frame == "organs" or (frame == "bullets" and self._by_chance(0.5)):
            text = self._by_organ(body, bullets=frame == "bullets")
        elif frame == "bullets":
            text = self._bulleted(body)
        elif frame == "numbered":
            text = "\n".join(f"{i}. {s}" for i, s in enumerate(self._sentences(body), 1))
            if self._by_chance(0.4):
                text = text.replace("\n", " ")
            if self._by_chance(0.4):
                text = f"{pick(('IMPRESSION', 'Impression'), self.rng)}: {text}"
        elif frame == "impression":
            text = f"{pick(('IMPRESSION: ', 'Impression: ', '', ''), self.rng)}{' '.join(self._sentences(body))}"
        elif frame == "both":
            text = self._both(body)
        else:
            text = " ".join(self._sentences(body))
            if self._by_chance(self.style.summary):
                text = f"{text} {self._summary()}"
        before = self._before()
        if before.endswith(":") and _HEADED.match(text):
            before = before[: before.rindex(".") + 1]  # one such heading is enough
        text = f"{before}{chr(10) if frame == 'bullets' else ' '}{text}".strip()
        text = f"{text} {self._after()}".strip()
        return text.upper() if self._by_chance(self.style.capitals) else respell(text, self.rng)

    def _by_chance(self, chance: float) -> bool:
        return self.rng.random() < chance

    def _expand(self, rule: str, slots: dict[str, str]) -> str:
        template = pick(self.book.boilerplate[rule], self.rng)
        return expand(template, slots, self.book.boilerplate, self.rng)

    def _say(self, rule: str) -> str:
        return sentence(self._expand(rule, self.date))

    def _before(self) -> str:
        style, said = self.style, []
        for rule in ("technique", "patient", "comparison"):
            if self._by_chance(getattr(style, rule)):
                said.append(self._say(rule))
        if self._by_chance(style.opening * 0.3):
            said.append(pick(_OPENINGS, self.rng))
        text = " ".join(said)
        if ":" in text and not text.rstrip().endswith(":"):  # the section of the comparison has to end
            text += pick(("\n", " ", "\n\n"), self.rng) + pick(("FINDINGS:", "Findings:", "Findings:"), self.rng)
        return text

    def _after(self) -> str:
        said = []
        if self.study.facts and self._by_chance(self.style.advice):
            said.append(self._say("advice"))
        if self._by_chance(self.style.closing):
            said.append(self._say("closing"))
        return " ".join(said)

    def _body(self) -> list[tuple[str, str]]:
        """Return the sentences of the report with their organs, in order."""
        facts = list(self.study.facts)
        said = self._facts(facts)
        normals = self._normals()
        if self.style.order == "important":
            return said + normals
        if self.style.order == "random":
            both = said + normals
            if self._by_chance(0.6):
                self.rng.shuffle(both)
            return both
        order = {organ: i for i, organ in enumerate(_ORGANS)}
        if self._by_chance(0.4):
            order = {**order, "heart_and_vessels": -1, "mediastinum": -0.5}  # type: ignore[dict-item]
        if self._by_chance(0.3):
            order["devices"] = 20
        return sorted(said + normals, key=lambda item: order[item[0]])

    def _sentences(self, body: list[tuple[str, str]]) -> list[str]:
        if body:
            return [text for _, text in body]
        return [self._summary()]

    def _summary(self) -> str:
        """Return what closes a report: a verdict."""
        stated = [f for f in self.study.facts if f.assertion != "absent"]
        if not stated:
            return self._say("normal")
        if self.study.prior and self._by_chance(0.25) and all(f.change in (None, "stable") for f in stated):
            return self._say("no_change")
        return self._say("normal_despite") if self._mild(stated) else ""

    def _mild(self, facts: list[Fact]) -> bool:
        concepts = self.known.lexicon.concepts
        return all(concepts[f.concept].significance in ("benign_expected", "not_actionable_not_urgent") for f in facts)

    def _both(self, body: list[tuple[str, str]]) -> str:
        heading, second = pick((("FINDINGS", "IMPRESSION"), ("Findings", "Impression")), self.rng)
        gap = pick(("\n\n", "\n", " "), self.rng)
        chosen = [f for f in self.study.facts if f.assertion != "absent"]
        self.rng.shuffle(chosen)
        short = replace(self.style, terse=0.85, own=0.2)
        writer = _Writer(self.study, short, self.rng)
        lines = [text for _, text in writer._facts(chosen[:3])]
        summary = self._summary()
        if summary and (not lines or self._by_chance(0.5)):
            lines.append(summary)
        if len(lines) > 1 and self._by_chance(0.4):
            lines = [f"{i}. {line}" for i, line in enumerate(lines, 1)]
        ending = pick((" ", "\n"), self.rng).join(lines)
        if not lines:
            return " ".join(self._sentences(body))
        return f"{heading}: {' '.join(self._sentences(body))}{gap}{second}: {ending}"

    def _by_organ(self, body: list[tuple[str, str]], *, bullets: bool) -> str:
        groups: dict[str, list[str]] = {}
        for organ, text in body:
            groups.setdefault(organ, []).append(text)
        start = pick(("- ", "* ", "**"), self.rng) if bullets else ""
        lines = []
        for organ, texts in groups.items():
            head = pick(_HEADS[organ], self.rng)
            if start == "**" or (bullets and self._by_chance(0.5)):
                lines.append(f"{'' if start == '**' else start}**{head}:** {' '.join(texts)}")
            else:
                lines.append(f"{start}{head}: {' '.join(texts)}")
        if not lines:
            return self._summary()
        return ("\n" if bullets or self._by_chance(0.6) else " ").join(lines)

    def _bulleted(self, body: list[tuple[str, str]]) -> str:
        start = pick(("- ", "* ", "- "), self.rng)
        lines = [f"{start}{text}" for text in self._sentences(body)]
        heading = pick(("**Findings:**", "Findings:", "FINDINGS:", "## Findings"), self.rng)
        text = "\n".join([heading, *lines])
        if self._by_chance(self.style.summary):
            summary = self._summary()
            if summary:
                text = f"{text}\n\n{pick(('**Impression:**', 'Impression:'), self.rng)} {summary}"
        return text

    # Normal statements

    def _present(self) -> set[str]:
        """Return the concepts of the study with all they are a kind of, and the organs spoken of."""
        present: set[str] = set()
        for fact in self.study.facts:
            if fact.assertion == "absent":
                continue
            for name in (fact.concept, fact.sign, fact.other):
                if name:
                    concept = self.known.lexicon.concepts[name]
                    present.update((name, *concept.ancestors, *concept.same_as, *concept.sign_of))
                    present.add({"lung": "lung_findings", "bones": "bone_findings"}.get(concept.group, ""))
        return present

    def _normals(self) -> list[tuple[str, str]]:
        present = self._present()
        factor = self.style.normals * (1.15 if not self.study.facts else 0.9)
        chosen = [
            n
            for n in self.book.normals
            if not (n.blocked_by & present)
            and (n.needs is None or n.needs in present)
            and self.rng.random() < n.often * factor
        ]
        said: list[tuple[str, str]] = []
        listed = [n.name for n in chosen if n.name in _LISTED]
        if len(listed) > 1 and self._by_chance(self.style.list_normals):
            said.append(("pleura", self._denied(listed)))
            chosen = [n for n in chosen if n.name not in _LISTED]
        seen: set[str] = set()
        for normal in chosen:
            if normal.name == "heart" and self._by_chance(0.5) and "cardiomediastinum" in {n.name for n in chosen}:
                continue
            text = sentence(expand(pick(normal.says, self.rng), self.date, self.book.rules, self.rng))
            if text not in seen:
                seen.add(text)
                said.append((normal.organ, text))
        return said

    def _denied(self, listed: list[str]) -> str:
        """Return several denials in one sentence."""
        names = [pick(_LISTED[name], self.rng) for name in listed]
        if self._by_chance(0.4):
            self.rng.shuffle(names)
        last = pick((" or ", ", or ", " or "), self.rng)
        text = (", ".join(names[:-1]) + last + names[-1]) if len(names) > 2 else " or ".join(names)
        starts = (
            "No {}",
            "No {}",
            "There is no {}",
            "There is no evidence of {}",
            "No evidence of {}",
            "No evidence for {}",
            "Specifically, no {}",
            "No visible {}",
            "No definite {}",
            "There are no {}",
            "No typical findings of {}",
            "Without {}",
            "No visualized {}",
            "No {} is seen",
            "No {} is identified",
            "No {} identified",
            "Negative for {}",
            "There is no {} identified",
            "There are no findings of {}",
            "No radiographic evidence of {}",
            "There is no visible {}",
        )
        return sentence(pick(starts, self.rng).format(text) + ".")

    # Findings

    def _facts(self, facts: list[Fact]) -> list[tuple[str, str]]:
        said: list[tuple[str, str]] = []
        waiting = list(facts)
        while waiting:
            fact = waiting.pop(0)
            organ = self._organ(fact)
            if self._joinable(fact) and self._by_chance(self.style.join):
                partner = next((f for f in waiting if self._joinable(f)), None)
                if partner is not None:
                    waiting.remove(partner)
                    said.append((organ, self._together(fact, partner)))
                    continue
            said.append((organ, self._statement(fact)))
        return said

    def _organ(self, fact: Fact) -> str:
        """Return what part of a report a fact belongs to; what surgery left is no device."""
        group = self.known.lexicon.concepts[fact.concept].group
        return "chest_wall_and_abdomen" if group == DEVICES and not self._is_device(fact) else group

    def _is_device(self, fact: Fact) -> bool:
        concept = self.known.lexicon.concepts[fact.concept]
        return concept.key == "support_device" or "support_device" in concept.ancestors

    def _joinable(self, fact: Fact) -> bool:
        plain = fact.assertion == "present" and fact.certainty == "definite" and fact.change is None
        return plain and not (fact.tip or fact.position or fact.size_mm or fact.sign or fact.other or fact.term)

    def _together(self, first: Fact, second: Fact) -> str:
        a, b = self._phrase(first), self._phrase(second)
        texts = a.indefinite(), b.indefinite()
        joint = pick((" and ", " and ", " with ", " as well as "), self.rng)
        slots = {
            "list": joint.join(texts),
            "plain_list": f"{a.words} and {b.words}",
            "is": "are" if a.plural else "is",
            "are": "are" if joint == " and " or a.plural else "is",
        }
        return self._fill("together", slots)

    def _phrase(self, fact: Fact, **options: bool) -> Phrase:
        return noun_phrase(fact, self.rng, self.style.rare, **options)

    def _fill(self, rule: str, slots: dict[str, str]) -> str:
        template = pick(self.book.rules[rule], self.rng)
        return sentence(expand(template, {**self.date, **slots}, self.book.rules, self.rng))

    def _statement(self, fact: Fact) -> str:
        """Return one sentence for one fact."""
        if self._is_device(fact) and fact.assertion == "present":
            return self._device(fact)
        phrase = self._phrase(fact)
        slots = self._slots(phrase)
        if fact.assertion == "absent":
            return self._fill("absent", slots)
        if fact.change == "resolved":
            return self._fill("resolved", slots)
        if fact.sign or fact.other:
            return self._interpreted(fact, slots)
        if fact.certainty != "definite":
            return self._fill(fact.certainty, slots)
        if fact.change:
            return self._fill(fact.change, {**slots, **self._prefixed(fact, phrase)})
        return self._sided(fact, self._plain(fact, slots))

    def _sided(self, fact: Fact, text: str) -> str:
        """Add which of two sides is worse, now and then."""
        if fact.side != "bilateral" or not text.endswith(".") or not self._by_chance(0.15):
            return text
        return f"{text[:-1]}{pick(_WORSE_SIDE, self.rng)}."

    def _plain(self, fact: Fact, slots: dict[str, str]) -> str:
        profile = self.known.profiles[fact.concept]
        own = profile.says and self._by_chance(self.style.own) and not (fact.size_mm or fact.count or fact.term)
        if own and self._sayable(fact):
            template = pick(profile.says, self.rng)
            return sentence(
                expand(template, {**self.date, **slots_of(fact, self.rng, self.style.rare)}, self.book.rules, self.rng)
            )
        return self._fill("terse" if self._by_chance(self.style.terse) else "full", slots)

    def _sayable(self, fact: Fact) -> bool:
        """Tell whether a concept's own statements have all they need."""
        profile = self.known.profiles[fact.concept]
        if fact.concept == "opacity":
            return fact.zone is not None and fact.zone != "diffuse" and fact.side is not None
        if fact.severity == 0 or (profile.needs_side and fact.side not in ("left", "right")):
            return False
        if fact.concept == "pleural_effusion" and fact.severity is None:
            return False
        return not profile.sides or fact.side is not None

    def _slots(self, phrase: Phrase) -> dict[str, str]:
        return {
            "np": phrase.words,
            "a_np": phrase.indefinite(),
            "the_np": f"the {phrase.words}",
            "is": "are" if phrase.plural else "is",
            "has": "have" if phrase.plural else "has",
            "was": "were" if phrase.plural else "was",
            "s": "" if phrase.plural else "s",
        }

    def _prefixed(self, fact: Fact, phrase: Phrase) -> dict[str, str]:
        change = fact.change or "stable"
        prefix = expand(pick(self.book.rules[f"{change}_prefix"], self.rng), {}, self.book.rules, self.rng)
        if prefix.endswith(" of"):
            text = f"{prefix} {phrase.indefinite()}"
            return {f"{change}_np": text, f"a_{change}_np": text}
        text = f"{prefix} {phrase.words}"
        with_article = article(text) if phrase.counted and not phrase.plural else text
        return {f"{change}_np": text, f"a_{change}_np": with_article}

    def _interpreted(self, fact: Fact, slots: dict[str, str]) -> str:
        """Return a describing finding with its reading, or two readings."""
        bare = self._phrase(replace(fact, morphology=None), placed=False, graded=False)
        sign = replace(
            fact,
            concept=fact.sign or fact.concept,
            sign=None,
            other=None,
            acuity=None,
            term=None,
            count=None,
            size_mm=(),
        )
        if fact.other:
            other = self._phrase(Fact(fact.other))
            return self._fill("versus", {**slots, "other": other.words})
        described = self._phrase(sign)
        values = {
            "sign": described.words,
            "a_sign": described.indefinite(),
            "sign_is": "are" if described.plural else "is",
            "reading": bare.words if self._by_chance(0.7) else bare.indefinite(),
        }
        return self._fill("read_as_possible" if fact.certainty == "possible" else "read_as", values)

    def _at_tip(self, tip: str) -> str:
        """Return where a tip lies, with its preposition."""
        place = pick(words().tips[tip], self.rng)
        if tip in ("carina", "above_clavicles", "gastroesophageal_junction"):
            return f"at {pick(('the level of the', 'the'), self.rng) if tip == 'carina' else 'the'} {place}"
        joint = pick(("in", "in", "in", "at", "over", "within", "projecting over", "overlying"), self.rng)
        return f"{joint} the {place}"

    def _device(self, fact: Fact) -> str:
        phrase = self._phrase(fact)
        slots = self._slots(phrase)
        slots.update(
            device=phrase.words,
            a_device=phrase.indefinite(),
            the_device=f"the {phrase.words}",
            the_device_mid=f"the {phrase.words}",
        )
        if fact.change == "resolved":
            return self._fill("device_gone", slots)
        if fact.tip:
            slots["at_tip"] = self._at_tip(fact.tip)
            slots["the_tip"] = f"the {pick(words().tips[fact.tip], self.rng)}"
            rule = {"new": "device_tip_new", "stable": "device_tip_stable"}.get(fact.change or "", "device_tip")
            return self._fill(rule, slots)
        if fact.size_mm:
            slots["cm"] = length(fact.size_mm, self.rng) if fact.size_mm[0] >= 10 else f"{fact.size_mm[0]} mm"
            text = self._fill("device_cm", slots)
            change = fact.change if fact.change in ("new", "stable") else None
            return f"{text} {self._fill(f'device_{change}', slots)}" if change else text
        if fact.position:
            return self._fill(f"device_{fact.position}", slots)
        if fact.change:
            return self._fill(f"device_{fact.change}" if fact.change in ("new", "stable") else "device", slots)
        profile = self.known.profiles[fact.concept]
        if profile.says and not fact.term and self._by_chance(self.style.own):
            return sentence(expand(pick(profile.says, self.rng), {**self.date, **slots}, self.book.rules, self.rng))
        return self._fill("device_terse" if self._by_chance(self.style.terse) else "device", slots)


def respell(text: str, rng: Random) -> str:
    """Return a text with the spellings of another hand, now and then: "air space", "oedema"."""
    if rng.random() < 0.2:
        text = text.replace("airspace", "air space").replace("Airspace", "Air space")
    if rng.random() < 0.04:
        text = _WORD.sub(lambda m: _respellings().get(m.group(), m.group()), text)
    return text


@cache
def _respellings() -> dict[str, str]:
    table = load_file("spellings")["words"]
    same_number = {w: usual for w, usual in table.items() if w.endswith("s") == usual.endswith("s")}
    return {usual: written for written, usual in same_number.items() if abs(len(written) - len(usual)) <= 2}


def styles() -> tuple[str, ...]:
    """Return the names of all styles."""
    return tuple(phrasebook().styles)
