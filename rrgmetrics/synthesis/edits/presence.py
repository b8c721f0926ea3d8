"""Errors of categories A and B put into a report: findings made up, and findings left out or denied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from rrgmetrics.comparing.model import Unit
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import load
from rrgmetrics.synthesis.edits.page import Donors, Page
from rrgmetrics.synthesis.edits.sentences import Slot, insert, replace_words, rewrite
from rrgmetrics.synthesis.edits.words import edit_words, english_pattern

DONORS = 4  # reports looked through for a finding to add


def add(page: Page, rng: Random, donors: Donors) -> str | None:
    """Adds a sentence with a finding: one of another report, or one made from `phrases/edits.yaml`."""
    offers = (_donated(donors(rng), rng) for _ in range(DONORS))
    donated = next(filter(None, offers), None)
    if donated is None or rng.random() < 0.25:
        return state(page, rng.choice(edit_words()["additions"]), rng)
    concept, sentence = donated
    return _put(page, concept, sentence, rng)


def affirm(page: Page, rng: Random, donors: Donors) -> str | None:
    """States a finding that the report denies in a list ("no consolidation, effusion or pneumothorax")."""
    denied = [f for f in page.reading.findings if f.assertion == "absent" and not f.normal]
    if not denied:
        return None
    finding = rng.choice(denied)
    statement = next((a for a in edit_words()["additions"] if a["concept"] == finding.concept), None)
    new: dict[Slot, str] = {}
    for span in finding.spans:
        slot = page.slot_of(span)
        others = [f for f in page.findings_in(slot) if f is not finding] if slot else []
        if slot is None or any(f.assertion != "absent" or f.normal for f in others):
            return None
        names = list(
            dict.fromkeys(page.text[s.start : s.end] for f in others for s in f.spans if page.slot_of(s) == slot)
        )
        new[slot] = f"No {listed(names)}." if names else ""
    if statement is None or not new:
        return None
    first = min(new)
    new[first] = f"{new[first]} {_phrase(statement, rng)}".strip()
    return rewrite(page.text, new)


def remove(page: Page, unit: Unit, rng: Random) -> str | None:
    """Takes a finding out of every sentence that holds it."""
    new: dict[Slot, str] = {}
    for slot in page.slots_of(unit):
        if page.is_alone(unit, slot):
            new[slot] = ""
            continue
        inside = [span for span in unit.spans if page.slot_of(span) == slot]
        sentence = _cut(page.text[slot.start : slot.end], [(s.start - slot.start, s.end - slot.start) for s in inside])
        if sentence is None:
            return None
        new[slot] = sentence
    return rewrite(page.text, new) if new else None


def deny(page: Page, unit: Unit, rng: Random) -> str | None:
    """Puts a denial in the place of a finding."""
    concept = load().concepts[unit.head.concept]
    here = page.slots_of(unit)
    if concept.group == "devices" or not here or not all(page.is_alone(unit, slot) for slot in here):
        return None
    names = (concept.key, *concept.ancestors)
    sentences = next((edit_words()["normal"][name] for name in names if name in edit_words()["normal"]), None)
    denial = rng.choice(sentences or [frame.format(concept.name) for frame in edit_words()["plain_denials"]])
    return rewrite(page.text, {**dict.fromkeys(here, ""), min(here): denial})


def _donated(reading: Reading | None, rng: Random) -> tuple[str, str] | None:
    """Returns a sentence of another report that states one finding and nothing else, and its concept."""
    if reading is None:
        return None
    page = Page(reading.text, reading)
    fitting = [
        (unit.head.concept, slot)
        for unit in page.units
        for slot in page.slots_of(unit)
        if page.is_alone(unit, slot) and "\n" not in reading.text[slot.start : slot.end]
    ]
    if not fitting:
        return None
    concept, slot = rng.choice(fitting)
    return concept, reading.text[slot.start : slot.end]


def state(page: Page, addition: Mapping[str, Any], rng: Random) -> str:
    """Adds a sentence made from a row of `additions`; one that says the opposite leaves."""
    return _put(page, addition["concept"], _phrase(addition, rng), rng)


def _put(page: Page, concept: str, sentence: str, rng: Random) -> str:
    """Inserts a sentence; one that says the opposite leaves."""
    names = {concept, *load().concepts[concept].ancestors}
    for finding in page.reading.findings:
        slot = page.slot_of(finding.spans[0])
        if finding.assertion != "absent" or finding.concept not in names or slot is None:
            continue
        here = page.findings_in(slot)
        alone = finding.normal or {other.concept for other in here} == {finding.concept}
        if alone and all(other.assertion == "absent" for other in here):
            return rewrite(page.text, {slot: sentence})
    return insert(page.text, sentence, rng)


def _phrase(addition: Mapping[str, Any], rng: Random) -> str:
    """Returns a sentence that states a finding, from its row in `additions`."""
    parts = [rng.choice(addition.get("severity", [""]))]
    if addition.get("side"):
        parts.append(rng.choice(["left", "right"]))
    parts.append(rng.choice(addition.get("zone", [""])))
    words = " ".join(filter(None, parts)) + " " + addition["words"].format(n=rng.randint(3, 9))
    words = words.strip()
    article = "an" if words[0] in "aeiou" else "a"
    plain = addition["concept"] in edit_words()["uncounted"]
    sentence = str(rng.choice(edit_words()["addition_frames"]))
    sentence = sentence.replace("{a} ", "" if plain else f"{article} ").replace("{words}", words)
    return sentence[0].upper() + sentence[1:]


def _cut(sentence: str, spans: Iterable[tuple[int, int]]) -> str | None:
    """Returns a sentence without some of its words and the joint that held them; None if there is no joint."""
    joint_before, joint_after = english_pattern("joint_before"), english_pattern("joint_after")
    for start, end in sorted(spans, reverse=True):
        before, after = joint_before.search(sentence[:start]), joint_after.match(sentence, end)
        if before:
            sentence = sentence[: before.start()] + sentence[end:]
        elif after:
            sentence = replace_words(sentence, start, after.end(), "")
        else:
            return None
    return sentence


def listed(names: list[str]) -> str:
    """Returns `a`, `a or b`, `a, b, or c`, in lower case."""
    names = [name if name[1:2].isupper() else name[:1].lower() + name[1:] for name in names]
    if len(names) < 3:
        return " or ".join(names)
    return ", ".join(names[:-1]) + f", or {names[-1]}"
