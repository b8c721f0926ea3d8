"""Reports: the statements of a study laid out as a style has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import load_file
from rrgmetrics.synthesis.generator.draws import pick
from rrgmetrics.synthesis.generator.english import words
from rrgmetrics.synthesis.generator.phrasebook import Style, phrasebook
from rrgmetrics.synthesis.generator.statements import Speaker, Statement
from rrgmetrics.synthesis.generator.studies import Fact, Study

_HEADED = re.compile(r"[*# ]*findings:", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{4,}")
_MILD = ("benign_expected", "not_actionable_not_urgent")


def styles() -> tuple[str, ...]:
    """Returns the names of all styles."""
    return tuple(phrasebook().styles)


def render(study: Study, style: str, rng: Random) -> str:
    """Returns the report of a study in a style.

    Raises:
        InputError: There is no such style.
    """
    known = phrasebook().styles
    if style not in known:
        raise InputError(f"There is no style {style!r}; choose one of {', '.join(known)}.")
    return _Writer(study, known[style], rng).report()


class _Writer:
    """Writes one report."""

    def __init__(self, study: Study, style: Style, rng: Random) -> None:
        self.study, self.style, self.rng = study, style, rng
        self.speaker = Speaker(study, style, rng)
        self.layout = phrasebook().layout

    def report(self) -> str:
        """Returns the whole text."""
        frame = self.style.frame
        body = self._body()
        if frame == "organs" or (frame == "bullets" and self._by_chance(0.5)):
            text = self._by_organ(body, bullets=frame == "bullets")
        elif frame == "bullets":
            text = self._bulleted(body)
        elif frame == "numbered":
            text = self._numbered(body)
        elif frame == "impression":
            text = f"{self._pick('impression')}{' '.join(self._sentences(body))}"
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

    def _pick(self, name: str) -> str:
        """Returns one of the words or marks that the layout has for something."""
        return str(pick(self.layout[name], self.rng))

    def _before(self) -> str:
        sentences = []
        for rule in ("technique", "patient", "comparison"):
            if self._by_chance(getattr(self.style, rule)):
                sentences.append(self.speaker.boilerplate(rule))
        if self._by_chance(self.style.opening * 0.3):
            sentences.append(self.speaker.boilerplate("opening"))
        text = " ".join(sentences)
        if ":" in text and not text.rstrip().endswith(":"):  # the section of the comparison has to end
            text += self._pick("paragraph_ends") + self._pick("findings_heading")
        return text

    def _after(self) -> str:
        sentences = []
        if self.study.facts and self._by_chance(self.style.advice):
            sentences.append(self.speaker.boilerplate("advice"))
        if self._by_chance(self.style.closing):
            sentences.append(self.speaker.boilerplate("closing"))
        return " ".join(sentences)

    def _body(self) -> list[Statement]:
        """Returns the statements of the report in order."""
        statements = self.speaker.facts(self.study.facts) + self.speaker.normals()
        if self.style.order == "important":
            return statements
        if self.style.order == "random":
            if self._by_chance(0.6):
                self.rng.shuffle(statements)
            return statements
        first = self.layout["first"] if self._by_chance(0.4) else []
        last = self.layout["last"] if self._by_chance(0.3) else []
        others = [organ for organ in self.layout["organs"] if organ not in (*first, *last)]
        order = [*first, *others, *last]
        return sorted(statements, key=lambda statement: order.index(statement.organ))

    def _sentences(self, body: Sequence[Statement]) -> list[str]:
        return [statement.text for statement in body] or [self._summary()]

    def _summary(self) -> str:
        """Returns what closes a report: a verdict, or nothing."""
        stated = [fact for fact in self.study.facts if fact.assertion != "absent"]
        if not stated:
            return self.speaker.boilerplate("normal")
        if self.study.prior and self._by_chance(0.25) and all(fact.change in (None, "stable") for fact in stated):
            return self.speaker.boilerplate("no_change")
        return self.speaker.boilerplate("normal_despite") if self._are_mild(stated) else ""

    def _are_mild(self, facts: Sequence[Fact]) -> bool:
        concepts = self.speaker.known.lexicon.concepts
        return all(concepts[fact.concept].significance in _MILD for fact in facts)

    def _both(self, body: Sequence[Statement]) -> str:
        """Returns findings and impression, each under its heading."""
        findings, impression = pick(self.layout["sections"], self.rng)
        gap = self._pick("section_gaps")
        chosen = [fact for fact in self.study.facts if fact.assertion != "absent"]
        self.rng.shuffle(chosen)
        short = Speaker(self.study, replace(self.style, terse=0.85, own=0.2), self.rng)
        lines = [statement.text for statement in short.facts(chosen[:3])]
        summary = self._summary()
        if summary and (not lines or self._by_chance(0.5)):
            lines.append(summary)
        if len(lines) > 1 and self._by_chance(0.4):
            lines = [f"{i}. {line}" for i, line in enumerate(lines, 1)]
        ending = self._pick("line_ends").join(lines)
        if not lines:
            return " ".join(self._sentences(body))
        return f"{findings}: {' '.join(self._sentences(body))}{gap}{impression}: {ending}"

    def _by_organ(self, body: Sequence[Statement], *, bullets: bool) -> str:
        groups: dict[str, list[str]] = {}
        for statement in body:
            groups.setdefault(statement.organ, []).append(statement.text)
        start = self._pick("organ_bullets") if bullets else ""
        lines = []
        for organ, texts in groups.items():
            head = pick(self.layout["organs"][organ], self.rng)
            if start == "**" or (bullets and self._by_chance(0.5)):
                lines.append(f"{'' if start == '**' else start}**{head}:** {' '.join(texts)}")
            else:
                lines.append(f"{start}{head}: {' '.join(texts)}")
        if not lines:
            return self._summary()
        return ("\n" if bullets or self._by_chance(0.6) else " ").join(lines)

    def _bulleted(self, body: Sequence[Statement]) -> str:
        start = self._pick("bullets")
        lines = [f"{start}{text}" for text in self._sentences(body)]
        text = "\n".join([self._pick("bulleted_findings"), *lines])
        if self._by_chance(self.style.summary):
            summary = self._summary()
            if summary:
                text = f"{text}\n\n{self._pick('bulleted_impression')} {summary}"
        return text

    def _numbered(self, body: Sequence[Statement]) -> str:
        text = "\n".join(f"{i}. {line}" for i, line in enumerate(self._sentences(body), 1))
        if self._by_chance(0.4):
            text = text.replace("\n", " ")
        return f"{self._pick('numbered_impression')}: {text}" if self._by_chance(0.4) else text


def respell(text: str, rng: Random) -> str:
    """Returns a text with the spellings of another hand, now and then: "air space", "oedema"."""
    if rng.random() < 0.2:
        for usual, other in words().english["respelled"].items():
            text = text.replace(usual, other)
    return respell_all(text) if rng.random() < 0.04 else text


def respell_all(text: str) -> str:
    """Returns a text in the other spelling wherever a word has two: "oedema", "haemothorax"."""
    return _WORD.sub(lambda match: _respellings().get(match.group(), match.group()), text)


@cache
def _respellings() -> dict[str, str]:
    table = load_file("spellings")["words"]
    same_number = {w: usual for w, usual in table.items() if w.endswith("s") == usual.endswith("s")}
    return {usual: written for written, usual in same_number.items() if abs(len(written) - len(usual)) <= 2}
