"""What a report says about the patient, and not about the film: illness, therapy, operation, the day of it.

Words of time and therapy say so ("lymphoma, AFTER CYCLE 2", "DAY 6 AFTER left pneumonectomy", "KNOWN asthma"), in what
opens a report and tells nothing that is seen. Which findings can be told so is data (role "background"). An illness is
no finding then; an operation is one that counts only where both reports tell of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import NamedTuple

from rrgmetrics.reading.device_moves import is_only_dated
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, SmallWords

PLACES = frozenset({"side", "zone", "location_preposition"})
SEEN = frozenset({"side", "zone", "measure", "change", "severity", "item_break", "clause_end", "versus"})
TOLD_OF_FILM = frozenset({"measure", "change", "severity", "versus", "possible_before", "probable_before"})
TITLE = 4  # words before the disease in a report's first words: "Non-small cell lung cancer."
FOR = "for"
WITH = "with"
_PLACED = frozenset({"side", "zone", "structure"})
UNDER = frozenset({"under", "on", "after", "post", "following"})
THERAPY = 3  # items from there to a word for a therapy
SAID = 4  # items behind a disease among which it is said to be seen
BACK = 6  # items before an operation among which its day is told


class Background(NamedTuple):
    """The mentions of a sentence that are about the patient.

    Attributes:
        illnesses: They are no findings.
        operations: They are findings that count only where both reports tell of them.
    """

    illnesses: Collection[Mention] = ()
    operations: Collection[Mention] = ()


def told_of_patient(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns what is about the patient: "known lymphoma", "sarcoma under therapy"."""
    small = lexicon.small
    words = [item.word for item in items]
    history = [mention for mention in mentions if _is_reason(items, mention, mentions, lexicon)]
    treated = not small.treated.isdisjoint(words)
    # "Pneumonia follow-up."
    names = lexicon.roles["history"].union(lexicon.rubric["diagnoses"] if treated else ())
    diseases = [mention for mention in mentions if mention.concept in names and mention not in history]
    colon = words.index(":") if ":" in words else 0
    if not small.treated.isdisjoint(words[:colon]):
        diseases = [mention for mention in diseases if mention.first < colon]  # "Sarcoma follow-up: calcified nodules"
    treated = treated and _is_bare(items)
    for mention in diseases:
        before = [item.word for item in items[max(0, mention.first - 2) : mention.first] if not item.senses]
        under_therapy = mention.concept in lexicon.roles["history"] and _is_under_therapy(items, mention, small)
        named = under_therapy or not small.historic.isdisjoint(before)
        known = named and not _is_seen(items, mention, lexicon)
        if known or (treated and mention.certainty == "definite" and mention.assertion == "present"):
            history.append(mention)
    return history


def told_as_title(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the disease that the first sentence of a report only names: "Breast carcinoma."."""
    alone = len(mentions) == 1 and mentions[0].concept in lexicon.roles["history"]
    if not alone or not _is_bare(items) or any(item.word in lexicon.small.treated for item in items):
        return []
    stated = mentions[0].certainty == "definite" and mentions[0].assertion == "present"
    return [*mentions] if stated and _is_title(items, mentions[0]) else []


def _is_bare(items: Sequence[Item]) -> bool:
    """Whether a sentence describes nothing that is seen."""
    return SEEN.isdisjoint(kind for item in items for kind in item.senses)


def told_ahead(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> Background:
    """Returns what a sentence before all findings says about the patient: "Erect film DAY 2 AFTER cholecystectomy."."""
    small, roles = lexicon.small, lexicon.roles
    told = [mention for mention in mentions if not mention.dropped]
    if any(
        mention.denies
        or mention.assertion != "present"
        or mention.concept not in roles["background"] | roles["history"]
        for mention in told
    ):
        return Background()
    words = {item.word for item in items}
    patient = not words.isdisjoint(small.patients)
    timed = not words.isdisjoint(small.courses | small.historic | small.treated | small.settings)
    if not timed or any(_tells_of_film(item, lexicon, patient=patient) for item in items):
        return Background()
    operations = [mention for mention in told if _is_operation(mention, lexicon)]
    placed = any(item.senses.keys() & {"side", "zone"} for item in items)
    illnesses = [mention for mention in told if mention not in operations]
    day = any(
        "nothing" in item.senses and item.word in small.courses | small.settings for item in items
    )  # "post op D3"
    dated = day or not words.isdisjoint(small.periods)
    alone = not operations and not placed  # but "after CABG with heart failure", "pneumonia on the left, day 2"
    return Background(illnesses if alone else (), operations if dated else ())


def told_of_person(items: Sequence[Item], mentions: Sequence[Mention], words: Sequence[str]) -> list[Mention]:
    """Returns what a sentence ahead of all findings says that the patient has: "10-year-old WITH cystic fibrosis"."""
    leads = (i for i, item in enumerate(items) if "hypothetical" in item.senses and words[item.last - 1] == WITH)
    lead = next(leads, len(items))
    return [mention for mention in mentions if mention.dropped and not mention.denies and mention.first > lead]


def find_dated(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the operations whose day a sentence states, and what only states a time.

    "Small effusion TWO DAYS AFTER CABG", "no pneumothorax AFTER REMOVAL OF the drain".
    """
    dated = []
    for mention in (each for each in mentions if _is_operation(each, lexicon)):
        before = [item.word for item in items[max(0, mention.first - BACK) : mention.first]]
        near = [*before, *(item.word for item in items[mention.last : mention.last + BACK // 2])]
        counted = any(word in lexicon.small.periods for word in near)
        is_setting = not lexicon.small.settings.isdisjoint(before) and mention.concept in lexicon.roles["background"]
        if (counted and is_setting) or is_only_dated(mention, items, lexicon):
            dated.append(mention)
    return dated


def only_asked(items: Sequence[Item], mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Returns what a report's first words only ask: "? Chest infection.", but "? consolidation in the left base"."""
    aside = any(item.word == "(" for item in items)  # "pleural effusion (EMPYEMA?)"
    asked = len(items) <= TITLE and not aside and (items[0].word == "query" or items[-1].word == "?")
    return mentions if asked and not any(item.senses.keys() & PLACES for item in items) else ()


def _is_reason(items: Sequence[Item], mention: Mention, mentions: Sequence[Mention], lexicon: Lexicon) -> bool:
    """Whether a mention is why the patient was treated: "lobectomy FOR carcinoma", "irradiated FOR lymphoma"."""
    lead = mention.first - 1
    while lead > 0 and items[lead].senses.keys() <= _PLACED and items[lead].senses:
        lead -= 1  # "radiotherapy for RIGHT UPPER LOBE carcinoma"
    if mention.denies or lead < 0 or items[lead].word != FOR:
        return False
    if mention.concept not in lexicon.roles["background"] | lexicon.roles["history"]:
        return False
    before = [m for m in mentions if m.last <= lead and not m.denies]
    if not before:
        return any(item.word in lexicon.small.treated for item in items[:lead])
    return before[-1].concept in lexicon.roles["background"] and _is_operation(before[-1], lexicon)


def _is_under_therapy(items: Sequence[Item], mention: Mention, small: SmallWords) -> bool:
    """Whether the therapy of a disease follows it: "a new nodule (sarcoma UNDER CHEMOTHERAPY)"."""
    words = [item.word for item in items[mention.last : mention.last + 1 + THERAPY]]
    said = takewhile(lambda word: word not in small.separators, words[1:])
    return not UNDER.isdisjoint(words[:1]) and not small.treated.isdisjoint(said)


def _is_seen(items: Sequence[Item], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a sentence says that a known disease is seen, or how it changed: "treated pneumonia PERSISTS"."""
    small, first, seen = lexicon.small, mention.last, lexicon.small.seen | lexicon.small.existent
    if first < len(items) and items[first].word == ",":
        if any("concept" in item.senses or "structure" in item.senses for item in items[: mention.first]):
            return False  # "widening from known lymphoma, IMPROVED"
        first, seen = first + 1, frozenset()  # "treated pneumonia, STILL VISIBLE", but "known granuloma, seen on CT"
    joint = next((k for k in range(first, len(items)) if items[k].word in small.list_joints), len(items))
    said = items[first : min(joint, first + SAID)]
    if any("concept" in item.senses or "structure" in item.senses for item in said):
        return False  # "known COPD, unchanged CARDIOMEGALY"
    return any("change" in item.senses or item.word in seen for item in said)


def _is_operation(mention: Mention, lexicon: Lexicon) -> bool:
    return not mention.denies and lexicon.concepts[mention.concept].is_device


def _tells_of_film(item: Item, lexicon: Lexicon, *, patient: bool) -> bool:
    """Whether an item says what is seen: how large, since when, that it "is" so, if not of the patient."""
    if not TOLD_OF_FILM.isdisjoint(item.senses) and item.word not in lexicon.small.courses:
        return True
    return "item_break" in item.senses and not patient and item.word != "with"


def _is_title(items: Sequence[Item], mention: Mention) -> bool:
    """Whether a sentence only names a disease: "Breast carcinoma.", but "heart shape of a tetralogy"."""
    before = items[: mention.first]
    return len(before) < TITLE and not any("location_preposition" in item.senses for item in before)
