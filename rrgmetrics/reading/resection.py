"""What was done: the removal of a lobe is an operation; "since the drain was placed" states a time, no new drain."""

from __future__ import annotations

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.tokens import Item

_WHOSE = frozenset({"side", "location_preposition"})
SINCE = frozenset({"since", "after", "following"})
_OF_DEVICE = frozenset({"side", "location_preposition", "route", "count"})
ON = frozenset({"on", "from", "than", "with", "to", "in", "against", "at", "by"})  # before the name of a study
_NO_NAME = frozenset({"side", "zone", "clause_end", "item_break", "measure"})
IF = "if"
_ENDS_CONDITION = frozenset({",", ";", "but"})
_STUDY = 6  # items from a preposition to the study that it leads to


def read_resections(items: list[Item], lexicon: Lexicon) -> None:
    """Takes the removal of an organ for its resection, in place: "after REMOVAL OF the right upper lobe"."""
    for i, item in enumerate(items):
        if "resolved_before" in item.senses and item.word in lexicon.small.withdrawn:
            k = next((k for k in range(i + 1, len(items)) if items[k].senses.keys() - _WHOSE), i)
            if "concept" in items[k].senses or (k + 1 < len(items) and "concept" in items[k + 1].senses):
                continue  # "removal of a drain", "removal of a right upper lobe nodule"
            if qualities := _operations(items[k].senses.get("structure", ()), lexicon):
                items[i] = item.saying({"quality": qualities})


def read_nothing_left(items: list[Item]) -> None:
    """Takes "no residual" at the end for the resolution of what is before it, in place: "drained, NO RESIDUAL"."""
    if items[-1].word == "no" and "resolved_before" in items[-1].senses:
        items[-1] = items[-1].saying({"change": "resolved"})


def _operations(structures: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Returns the qualities of what was resected that make a finding with one of these structures."""
    words = sorted(lexicon.small.excising)
    named = [name for word in words for name in lexicon.trie.get(word, {}).get("", {}).get("quality", ())]
    return tuple(name for name in dict.fromkeys(named) if any((s, name) in lexicon.findings_of for s in structures))


def drop_conditions(items: list[Item]) -> None:
    """Drops the degree or change that is only a condition, in place: "CT is advised IF SYMPTOMS ARE SEVERE"."""
    named = condition = False
    for i, item in enumerate(items):
        named = named or not item.senses.keys().isdisjoint(("concept", "quality"))
        condition = (condition or (named and item.word == IF)) and item.word not in _ENDS_CONDITION
        if condition and "concept" not in item.senses and not item.senses.keys().isdisjoint(("severity", "change")):
            items[i] = item.without("severity").without("change")


def drop_dating_changes(items: list[Item], lexicon: Lexicon) -> None:
    """Takes the change from what only states a time, in place: "wider SINCE the line WAS PLACED"."""
    articles = lexicon.small.definite | lexicon.small.indefinite
    for i, item in enumerate(items):
        if item.word in SINCE and "earlier_study" not in item.senses:
            behind = (k for k in range(i + 1, len(items)) if items[k].word not in articles)
            at = next((k for k in behind if not items[k].senses or items[k].senses.keys() - _OF_DEVICE), i)
            concept = items[at].senses.get("concept")
            is_device = concept is not None and lexicon.concepts[concept].is_device
            if is_device and at + 1 < len(items) and items[at + 1].senses.get("change") == "new":
                items[at + 1] = items[at + 1].saying({})


def drop_names_of_studies(items: list[Item], lexicon: Lexicon) -> None:
    """Takes a finding in the name of a study for none, in place: "seen on the PULMONARY EMBOLISM CT"."""
    small = lexicon.small
    for i in range(2, len(items)):
        if items[i].word not in small.studies:
            continue
        k = i - 1
        while k > max(0, i - _STUDY) and items[k].word not in ON and not _ends_name(items[k], lexicon):
            k -= 1
        if items[k].word in ON and any("concept" in item.senses or item.word == "protocol" for item in items[k:i]):
            items[k + 1 : i + 1] = [item.saying({}) for item in items[k + 1 : i + 1]]


def _ends_name(item: Item, lexicon: Lexicon) -> bool:
    return item.word in lexicon.small.separators or not item.senses.keys().isdisjoint(_NO_NAME)
