"""Words that two names share: "endotracheal and nasogastric TUBES", "AIR IN the mediastinum and the pericardium".

A name that lacks its last words has those of the next one of the list that make it a name, one that lacks its first
words those of the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.tokens import ARTICLES, Item, Token

TOGETHER = frozenset({"together", "along"})  # before "with"
JOINTS = frozenset({"and", "or", "nor", ",", "/", "&", "the"})
_NODES = "lymph_node"
_VALVE = "heart_valve"  # "aortic and mitral valves" are two that a report counts one by one
_REACH = 6  # items from a name to the one that it shares its noun with
_GENERIC = frozenset({"disease", "process", "abnormality", "change"})  # nouns that make a name of nearly any word
_INSIDE = frozenset({"in", "within"})
_WHERE = frozenset({"side", "zone", "structure", "route", "location_preposition", "severity"})
_PART = frozenset({"structure", "zone", "morphology", "route", "tip"})  # what a word may be that lacks its noun


def join_together(items: list[Item]) -> list[Item]:
    """Takes "together with" for "and": "could be atelectasis TOGETHER WITH effusion"."""
    joined: list[Item] = []
    for item in items:
        if item.word == "with" and joined and joined[-1].word in TOGETHER:
            item = Item(joined.pop().first, item.last, {}, "and")
        joined.append(item)
    return joined


def share_nouns(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Gives names that lack their noun the senses of the whole name, in place."""
    whole: Item | None = None  # the name that the list behind an item comes to
    reach = 0
    for i in range(len(items) - 1, -1, -1):
        item = items[i]
        if "concept" in item.senses:
            whole, reach = (item if item.last - item.first > 1 else whole), _REACH
        elif item.word in JOINTS or "side" in item.senses:
            pass
        elif item.word not in lexicon.trie or not item.senses.keys() <= _PART:
            whole = None
        elif whole and items[i + 1].word in JOINTS:
            senses = _with_noun(item, whole, tokens, lexicon)
            if senses is not None:
                items[i], reach = item.saying(senses), _REACH
        reach -= 1
        whole = whole if reach else None


def _with_noun(part: Item, name: Item, tokens: Sequence[Token], lexicon: Lexicon) -> Senses | None:
    """Returns what a word means with the last words of a name; None if nothing, or what the name itself means."""
    for senses in _with_ends(part, name, tokens, lexicon, name.last - (tokens[name.last - 1].word in _GENERIC)):
        if "concept" in senses:
            return senses if senses["concept"] != name.senses["concept"] else None
    return _as_lesion(part, name, tokens, lexicon)


def _as_lesion(part: Item, name: Item, tokens: Sequence[Token], lexicon: Lexicon) -> Senses | None:
    """Returns a place with the lesion that a name has in another organ: "LOWER LOBE and left adrenal NODULES"."""
    if not {"zone", "structure"} <= part.senses.keys() or not set(part.senses["structure"]).isdisjoint(
        name.senses.get("about", part.senses["structure"])
    ):
        return None
    lesion = lexicon.trie.get(tokens[name.last - 1].word, {}).get("", {}).get("concept")
    if lesion not in lexicon.roles["one_by_one"] or lesion == name.senses["concept"]:
        return None
    return {"concept": lesion, "inside": [{"zone": part.senses["zone"]}]}


def _with_ends(part: Item, name: Item, tokens: Sequence[Token], lexicon: Lexicon, last: int) -> Iterator[Senses]:
    """Yields what a word means with the last words of a name, from behind its first to before `last`."""
    start = lexicon.trie
    for token in tokens[part.first : part.last]:
        start = start.get(token.word, {})
    for first in range(name.first + 1, last if start else 0):
        node = start
        for token in tokens[first : name.last]:
            node = node if token.word in ARTICLES else node.get(token.word, {})
        yield node.get("", {})


def share_beginnings(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Gives places behind "and" the name that begins before it, in place: "AIR IN the mediastinum and THE NECK"."""
    name: Item | None = None  # the last name whose end is a place
    joined = False
    for i, item in enumerate(items):
        if "concept" in item.senses:
            inside = any(token.word in _INSIDE for token in tokens[item.first + 1 : item.last - 1])
            name, joined = (item if inside else None), False
        elif name and joined and "structure" in item.senses and _ends_there(items, i):
            senses = _with_beginning(item, name, tokens, lexicon)
            if senses is not None:
                items[i] = item.saying({**item.senses, **senses})
        elif item.word in JOINTS - {"the", "or"}:
            joined = True
        elif not item.senses.keys() <= _WHERE or item.word in lexicon.small.verbs:
            name = None


def _ends_there(items: Sequence[Item], i: int) -> bool:
    """Whether no statement of its own begins at a place: "and THE HEART is enlarged"."""
    behind = next((item for item in items[i + 1 :] if not item.senses.keys() <= _WHERE or not item.senses), None)
    return behind is None or behind.word in JOINTS | {".", ";", "with", "without"}


def _with_beginning(part: Item, name: Item, tokens: Sequence[Token], lexicon: Lexicon) -> Senses | None:
    """Returns what a place means with the first words of a name; None if nothing, or what the name itself means."""
    last = next(k for k in reversed(range(name.first + 1, name.last - 1)) if tokens[k].word in _INSIDE)
    node = lexicon.trie.get(tokens[name.first].word, {}).get(tokens[last].word, {})
    senses: Senses = {}
    for token in tokens[part.first : part.last]:
        node = node if token.word in ARTICLES else node.get(token.word, {})
        senses = node.get("", senses)
    return senses if senses.get("concept", name.senses["concept"]) != name.senses["concept"] else None


def share_structures(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Gives places that lack their noun the structure of the whole name, in place: "HILAR and subcarinal NODES"."""
    for joint in range(len(items) - 2, 0, -1):
        part = items[joint - 1]
        if items[joint].word not in JOINTS or "structure" not in part.senses or "concept" in part.senses:
            continue
        behind = (item for item in items[joint + 1 :] if item.senses.keys() != {"side"} and item.word not in ARTICLES)
        name = next(behind, items[-1])
        meant = name.senses.get("structure", (_VALVE,))
        if "concept" in name.senses or _VALVE in meant:
            continue
        alike = _with_ends(part, name, tokens, lexicon, name.last)
        senses = next((senses for senses in alike if senses.get("structure") == meant), None)
        if senses is not None:
            items[joint - 1] = part.saying({**senses, "zone": part.senses["zone"]} if "zone" in part.senses else senses)


def place_nodes(items: list[Item]) -> None:
    """Takes organs in brackets for the places of nodes, in place: "lymph nodes (MEDIASTINAL, HILAR): normal"."""
    inside = False
    for i, item in enumerate(items):
        opens = item.word == "(" and i > 0 and _NODES in items[i - 1].senses.get("structure", ())
        inside = (inside or opens) and item.word != ")"
        if inside and "zone" in item.senses:
            items[i] = item.without("structure")
