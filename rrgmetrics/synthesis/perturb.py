"""Errors put into a report on purpose: one finding at a time, in the six categories A to F.

The reader says where a finding stands; an edit changes the words there; the reader says whether the new text has
exactly one error more, of the category that was meant. What fails that test is not used, so the words may be tried
freely (``edits.yaml``). The fifth way of the GREEN paper (arXiv 2405.03595) permutes RadGraph's entities instead.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

from rrgmetrics.reader import Comparison, ErrorCategory, Finding, Reading, Span, compare
from rrgmetrics.reader.compare import units
from rrgmetrics.reader.items import find_items
from rrgmetrics.reader.lexicon import load
from rrgmetrics.reader.model import Unit
from rrgmetrics.reader.tokens import Token
from rrgmetrics.synthesis.edits import pattern, wording
from rrgmetrics.synthesis.readings import reading_of, tokens_of
from rrgmetrics.synthesis.sentences import Slot, insert, replace_words, rewrite, slots

N_CATEGORIES = len(ErrorCategory)
A, B, C, D, E, F = range(N_CATEGORIES)
NUMBER_WEIGHTS = (34, 26, 18, 12, 6, 4)  # how often a report gets 1, 2, ... edits
ATTEMPTS = 10  # edits tried for each one wanted
SEVERITY_STEPS = 2  # what the reader counts
DONORS = 4  # reports looked through for a finding to add
Injected = tuple[int, ...]


@dataclass
class Page:
    """A text in the making, with everything edits ask of it."""

    text: str
    reading: Reading

    @cached_property
    def units(self) -> list[Unit]:
        """The observations that count."""
        return units(self.reading, load())

    @cached_property
    def slots(self) -> list[Slot]:
        """Its sentences."""
        return slots(self.text)

    @cached_property
    def tokens(self) -> list[Token]:
        """Its words."""
        return tokens_of(self.text)

    def slot_of(self, span: Span) -> Slot | None:
        """The sentence a span stands in."""
        return next((slot for slot in self.slots if slot.start <= span.start and span.end <= slot.end), None)

    def slots_of(self, unit: Unit) -> list[Slot]:
        """The sentences an observation stands in, in order."""
        return sorted({slot for span in unit.spans if (slot := self.slot_of(span))})

    def findings_in(self, slot: Slot) -> list[Finding]:
        """The findings read in a sentence, present or absent."""
        return [
            finding
            for finding in self.reading.findings
            if any(slot.start <= span.start and span.end <= slot.end for span in finding.spans)
        ]

    def items(self, unit: Unit, sense: str) -> Iterator[tuple[int, int, Any]]:
        """Where, within the words of an observation, the lexicon sees a sense; and its value."""
        starts = [token.start for token in self.tokens]
        for span in set(unit.spans):
            first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
            for item in find_items(self.tokens, first, last, load()):
                if sense in item.senses:
                    yield self.tokens[item.first].start, self.tokens[item.last - 1].end, item.senses[sense]


Donors = Callable[[Random], Reading | None]
Edit = Callable[[Page, Random, Donors], str | None]


class Kind(NamedTuple):
    """One way of doing wrong: the category it adds to, how often it is tried, and the edit."""

    category: int
    weight: int
    edit: Edit
    unseen: bool = False  # the reader does not count it: nothing else may change then
    of_a_finding: bool = True  # it needs a finding that the report states


def inject(reading: Reading, donors: Donors, rng: Random, n_edits: int | None = None) -> tuple[str, Injected] | None:
    """Put errors into a report.

    Args:
        reading: of the report.
        donors: gives the reading of another report, a finding of which may be added; None if there is none.
        rng: decides what is edited, and how.
        n_edits: edits wanted; None draws 1 to 6. A report may offer fewer.

    Returns:
        The new text and the number of errors put in for each category A to F; None if no edit succeeded.

    Example:
        >>> from rrgmetrics.reader import read
        >>> text, injected = inject(read("Small left pleural effusion. Clear lungs."), lambda rng: None, Random(0), 1)
        >>> sum(injected)
        1
    """
    page, counts, unseen = Page(reading.text, reading), [0] * N_CATEGORIES, 0
    drawn = rng.choices(range(1, len(NUMBER_WEIGHTS) + 1), NUMBER_WEIGHTS)[0]
    wanted = n_edits or min(drawn, 1 + len(page.units))  # findings made up for a normal report would drown the rest
    done = 0
    kinds = [kind for kind in KINDS.values() if page.units or not kind.of_a_finding]
    for kind in rng.choices(kinds, [kind.weight for kind in kinds], k=wanted * ATTEMPTS):
        text = kind.edit(page, rng, donors)
        if not text or text == page.text:
            continue
        candidate = reading_of(text)
        seen = _counts(compare(reading, candidate))
        seen[D] += unseen + kind.unseen
        if _rose(counts, seen, kind.category):
            page, counts, unseen = Page(text, candidate), seen, unseen + kind.unseen
            done += 1
        if done == wanted:
            break
    return (page.text, tuple(counts)) if done else None


def _counts(comparison: Comparison) -> list[int]:
    return [comparison.counts[category] for category in ErrorCategory]


def _rose(before: list[int], after: list[int], category: int) -> bool:
    """Tell whether one category has more errors, and no other has changed."""
    return all(
        (new > old) if c == category else new == old for c, (old, new) in enumerate(zip(before, after, strict=True))
    )


def on_a_finding(edit: Callable[[Page, Unit, Random], str | None]) -> Edit:
    """Make an edit of one observation an edit of a page: the observation is drawn."""

    def edit_page(page: Page, rng: Random, donors: Donors) -> str | None:
        return edit(page, rng.choice(page.units), rng) if page.units else None

    return edit_page


# --- A, B: presence ---------------------------------------------------------------------------------------------------


def add(page: Page, rng: Random, donors: Donors) -> str | None:
    """Add a sentence with a finding: one of another report, or one made from ``edits.yaml``."""
    donated = next((found for _ in range(DONORS) if (found := _donated(donors(rng), rng))), None)
    if donated is None or rng.random() < 0.25:
        return _stated(page, rng.choice(wording()["additions"]), rng)
    concept, sentence = donated
    return _put(page, concept, sentence, rng)


def affirm(page: Page, rng: Random, donors: Donors) -> str | None:
    """State a finding that the report denies in a list ("no consolidation, effusion or pneumothorax")."""
    denied = [f for f in page.reading.findings if f.assertion == "absent" and not f.normal]
    if not denied:
        return None
    finding = rng.choice(denied)
    statement = next((a for a in wording()["additions"] if a["concept"] == finding.concept), None)
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
    """Take a finding out of every sentence that holds it."""
    new: dict[Slot, str] = {}
    for slot in page.slots_of(unit):
        if _alone(page, unit, slot):
            new[slot] = ""
            continue
        inside = [span for span in unit.spans if page.slot_of(span) == slot]
        sentence = _cut(page.text[slot.start : slot.end], [(s.start - slot.start, s.end - slot.start) for s in inside])
        if sentence is None:
            return None
        new[slot] = sentence
    return rewrite(page.text, new) if new else None


def deny(page: Page, unit: Unit, rng: Random) -> str | None:
    """Put a denial in the place of a finding."""
    concept = load().concepts[unit.head.concept]
    here = page.slots_of(unit)
    if concept.group == "devices" or not here or not all(_alone(page, unit, slot) for slot in here):
        return None
    names = (concept.key, *concept.ancestors)
    sentences = next((wording()["normal"][name] for name in names if name in wording()["normal"]), None)
    denial = rng.choice(sentences or [f"No {concept.name}.", f"There is no {concept.name}."])
    return rewrite(page.text, {**dict.fromkeys(here, ""), min(here): denial})


def _donated(reading: Reading | None, rng: Random) -> tuple[str, str] | None:
    """A sentence of another report that states one finding and nothing else, and its concept."""
    if reading is None:
        return None
    page = Page(reading.text, reading)
    fitting = [
        (unit.head.concept, slot)
        for unit in page.units
        for slot in page.slots_of(unit)
        if _alone(page, unit, slot) and "\n" not in reading.text[slot.start : slot.end]
    ]
    if not fitting:
        return None
    concept, slot = rng.choice(fitting)
    return concept, reading.text[slot.start : slot.end]


def _stated(page: Page, addition: Mapping[str, Any], rng: Random) -> str:
    return _put(page, addition["concept"], _phrase(addition, rng), rng)


def _put(page: Page, concept: str, sentence: str, rng: Random) -> str:
    """Insert a sentence; one that says the opposite leaves."""
    names = {concept, *load().concepts[concept].ancestors}
    for finding in page.reading.findings:
        if finding.assertion == "absent" and finding.concept in names:
            slot = page.slot_of(finding.spans[0])
            if slot and all(f.assertion == "absent" for f in page.findings_in(slot)):
                alone = {f.concept for f in page.findings_in(slot)} == {finding.concept} or finding.normal
                if alone:
                    return rewrite(page.text, {slot: sentence})
    return insert(page.text, sentence, rng)


def _phrase(addition: Mapping[str, Any], rng: Random) -> str:
    """A sentence that states a finding, from its row in ``additions``."""
    parts = [rng.choice(addition.get("severity", [""]))]
    if addition.get("side"):
        parts.append(rng.choice(["left", "right"]))
    parts.append(rng.choice(addition.get("zone", [""])))
    words = " ".join(filter(None, parts)) + " " + addition["words"].format(n=rng.randint(3, 9))
    words = words.strip()
    article = "an" if words[0] in "aeiou" else "a"
    plain = addition["concept"] in wording()["uncounted"]
    sentence = str(rng.choice(wording()["addition_frames"]))
    sentence = sentence.replace("{a} ", "" if plain else f"{article} ").replace("{words}", words)
    return sentence[0].upper() + sentence[1:]


def _alone(page: Page, unit: Unit, slot: Slot) -> bool:
    """Tell whether a sentence speaks of nothing but one observation."""
    return all(f.assertion != "absent" and f.observation == unit.head.observation for f in page.findings_in(slot))


_BEFORE = re.compile(r"(?:,\s*(?:and\s+|with\s+)?|\s+and\s+|\s+with\s+|\s+or\s+)(?:an?\s+|the\s+)?$", re.IGNORECASE)
_AFTER = re.compile(r"(?:,\s*(?:and\s+|with\s+)?|\s+and\s+|\s+with\s+)", re.IGNORECASE)


def _cut(sentence: str, spans: Iterable[tuple[int, int]]) -> str | None:
    """A sentence without some of its words and the joint that held them; None if there is no joint."""
    for start, end in sorted(spans, reverse=True):
        before, after = _BEFORE.search(sentence[:start]), _AFTER.match(sentence, end)
        if before:
            sentence = sentence[: before.start()] + sentence[end:]
        elif after:
            sentence = replace_words(sentence, start, after.end(), "")
        else:
            return None
    return sentence


def listed(names: list[str]) -> str:
    """`a`, `a or b`, `a, b, or c`, in lower case."""
    names = [name if name[1:2].isupper() else name[:1].lower() + name[1:] for name in names]
    if len(names) < 3:
        return " or ".join(names)
    return ", ".join(names[:-1]) + f", or {names[-1]}"


# --- C: place ---------------------------------------------------------------------------------------------------------


def _swapped(page: Page, unit: Unit, table: str, rng: Random) -> str:
    """The text with other words of a table of ``edits.yaml`` in the words of an observation."""
    words = wording()[table]
    matches = {m.span() for span in unit.spans for m in pattern(table).finditer(page.text, *span)}
    text, chosen = page.text, dict[str, str]()
    for start, end in sorted(matches, reverse=True):
        old = text[start:end].lower()
        choice = words[old]
        new = chosen.setdefault(old, rng.choice(choice) if isinstance(choice, list) else choice)
        text = replace_words(text, start, end, new)
    return text


def other_side(page: Page, unit: Unit, rng: Random) -> str | None:
    """Left becomes right, bilateral one of both."""
    if unit.side is None:
        return None
    text = _swapped(page, unit, "sides", rng)
    for wrong, right in wording()["side_repairs"].items():
        text = re.sub(wrong, right, text, flags=re.IGNORECASE)
    return text


def other_zone(page: Page, unit: Unit, rng: Random) -> str | None:
    """Upper becomes lower, apical basilar."""
    if not unit.zones or load().concepts[unit.head.concept].group == "devices":
        return None
    return _swapped(page, unit, "zones", rng)


def other_tip(page: Page, unit: Unit, rng: Random) -> str | None:
    """The tip of a device lies elsewhere on its path."""
    tips = [
        tip for tip in page.items(unit, "tip") if page.text[: tip[0]].lower().endswith(("in the ", "at the ", "the "))
    ]
    if not tips:
        return None
    start, end, site = rng.choice(tips)
    path, order, _ = load().tips[site]
    far = [
        name
        for name, (other, there, _) in load().tips.items()
        if other == path and abs(there - order) >= SEVERITY_STEPS and name in wording()["tips"]
    ]
    return replace_words(page.text, start, end, wording()["tips"][rng.choice(far)]) if far else None


def bad_position(page: Page, unit: Unit, rng: Random) -> str | None:
    """A well placed device is no longer."""
    for start, end, value in page.items(unit, "position"):
        words = page.text[start:end].lower()
        if value == "good" and words.endswith("position"):
            held = "in " if words.startswith("in ") else ""
            return replace_words(page.text, start, end, f"{held}{rng.choice(['low', 'high'])} position")
        if value == "good" and words.endswith("positioned"):
            return replace_words(page.text, start, end, "malpositioned")
    return None


# --- D: severity, size, certainty -------------------------------------------------------------------------------------


def other_severity(page: Page, unit: Unit, rng: Random) -> str | None:
    """Mild becomes severe, large small: two steps of the reader's scale at least."""
    found = {m.span() for span in unit.spans for m in pattern("severity").finditer(page.text, *span)}
    if not found:
        return None
    start, end = rng.choice(sorted(found))
    old = page.text[start:end].lower()
    scales = [scale for scale in wording()["severity"] if old in scale]
    scale = scales[-1] if unit.head.concept in wording()["sized"] else scales[0]
    far = [word for word, step in scale.items() if abs(step - scale[old]) >= SEVERITY_STEPS]
    return replace_words(page.text, start, end, rng.choice(far)) if far else None


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def other_size(page: Page, unit: Unit, rng: Random) -> str | None:
    """A measurement is two or three times as large, or as small."""
    factor = rng.choice([1 / 3, 0.4, 0.5, 2.0, 2.5, 3.0])
    text = page.text
    for start, end, _ in sorted(set(page.items(unit, "measure")), reverse=True):
        sizes = _NUMBER.sub(lambda m: f"{float(m[0]) * factor:.{len(m[0].partition('.')[2])}f}", text[start:end])
        text = text[:start] + sizes + text[end:]
    return text


_PREDICATE = re.compile(r"\b(?:is|are|was|were|has|have|remains?|appears?)\b", re.IGNORECASE)


def hedge(page: Page, unit: Unit, rng: Random) -> str | None:
    """A finding that was certain is only possible."""
    start, end = unit.head.spans[0]
    if unit.head.certainty != "definite" or len(unit.spans) > 1 or _PREDICATE.search(page.text, start, end):
        return None
    return replace_words(page.text, start, start, f"{rng.choice(wording()['hedges'])} ")


# --- E, F: comparisons ------------------------------------------------------------------------------------------------


def compared(page: Page, unit: Unit, rng: Random) -> str | None:
    """A finding has changed since a study that the report does not speak of."""
    if any(finding.change for finding in unit.readings):
        return None
    start, end = unit.spans[0]
    n = 1 if load().concepts[unit.head.concept].group == "devices" else None  # a device is new, it does not increase
    if page.text[end : end + 1] in (".", "") and rng.random() < 0.6:
        return page.text[:end] + str(rng.choice(wording()["comparisons_after"][:n])) + page.text[end:]
    if _PREDICATE.search(page.text, start, end) or _HELD.search(page.text[:start].rstrip()):
        return None
    return replace_words(page.text, start, start, f"{rng.choice(wording()['comparisons_before'][:n])} ")


def other_change(page: Page, unit: Unit, rng: Random) -> str | None:
    """What increased has decreased."""
    return _swapped(page, unit, "changes", rng) if any(f.change for f in unit.readings) else None


_SINCE = re.compile(
    r",?\s*(?:in the interval|(?:since|from|compared (?:with|to)|than|relative to)?(?: on)?\s*(?:the|a)? "
    r"(?:prior|previous|last|earlier)\b[^.,;]*)",
    re.IGNORECASE,
)


_HELD = re.compile(r"\b(?:is|are|been|has|have|appears?|apparent|interval)$", re.IGNORECASE)  # "has increased"
_HOLDS = re.compile(r"\s*(?:of|in|as|than|demonstrated|seen|evaluated|visualized)\b", re.IGNORECASE)  # "increase in"


def forget_change(page: Page, unit: Unit, rng: Random) -> str | None:
    """Leave out that a finding has changed."""
    text = page.text
    for start, end, value in sorted(set(page.items(unit, "change")), reverse=True):
        if value == "stable":
            continue
        since = _SINCE.match(text, end)
        end = since.end() if since else end
        start -= len(text[:start]) - len(text[:start].rstrip(" ,")) if text[end : end + 1] in (".", ",", ";", "") else 0
        if _HELD.search(text[:start]) or _HOLDS.match(text, end):
            return None
        text = replace_words(text, start, end, "")
    return text


KINDS = {
    "add": Kind(A, 14, add, of_a_finding=False),
    "affirm": Kind(A, 6, affirm, of_a_finding=False),
    "remove": Kind(B, 18, on_a_finding(remove)),
    "deny": Kind(B, 12, on_a_finding(deny)),
    "side": Kind(C, 18, on_a_finding(other_side)),
    "zone": Kind(C, 14, on_a_finding(other_zone)),
    "tip": Kind(C, 14, on_a_finding(other_tip)),
    "position": Kind(C, 8, on_a_finding(bad_position)),
    "severity": Kind(D, 26, on_a_finding(other_severity)),
    "size": Kind(D, 18, on_a_finding(other_size)),
    "certainty": Kind(D, 2, on_a_finding(hedge), unseen=True),
    "compared": Kind(E, 8, on_a_finding(compared)),
    "change": Kind(E, 10, on_a_finding(other_change)),
    "forget": Kind(F, 30, on_a_finding(forget_change)),
}
