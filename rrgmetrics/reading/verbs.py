"""What has become of a finding, as verbs say it: "has markedly enlarged", "have not significantly increased".

The lexicon has the verb by itself or with "has" before it. Between the two stand adverbs, and "not": what has not
grown, shrunk or gone is as it was.
"""

from __future__ import annotations

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.tokens import Item, Token

HAS, DOES = frozenset({"has", "have", "had"}), frozenset({"did", "doe", "do"})  # "does", as a token is written
_NOT = frozenset({"not", "never"})
_NONE = frozenset({"neither", "none"})
_OF_THEM = frozenset({"of", "which", "these", "them", "those", "the", "two"})  # between "none" and its verb
_CHANGED = frozenset({"changed", "altered"})
_STABLE: Senses = {"change": "stable"}
_DENIED: dict[str, Senses] = {  # what "has not" makes of a change: what has not come is not there
    **dict.fromkeys(("better", "worse", "resolved"), _STABLE),
    "new": {"negation_after": "negation_after"},
}
_PERFECT = {  # what verbs are behind "did"
    "grow": "grown",
    "shrink": "shrunk",
    "rise": "risen",
    "increase": "increased",
    "enlarge": "enlarged",
    "decrease": "decreased",
    "diminish": "diminished",
    "improve": "improved",
    "worsen": "worsened",
    "progress": "progressed",
    "regress": "regressed",
    "resolve": "resolved",
    "recur": "recurred",
}
APPEARANCE = frozenset({"appearance", "apparition"})  # of a finding, at the start of a sentence: it is new
_FAR = 5  # words from "has" to its verb


def read_verbs_of_change(items: list[Item], tokens: list[Token], lexicon: Lexicon) -> None:
    """Takes a verb behind "has" or "did", its adverbs and its "not" for the change that they tell, in place.

    Args:
        items: A sentence's; changed.
        tokens: Of the report.
        lexicon: What it is read with.
    """
    ahead = [item.word for item in items[:3]]
    is_one = ahead[:1] != [] and not tokens[items[0].first].is_plural  # "APPEARANCES of heart failure" are what is seen
    if is_one and ahead[0] in APPEARANCE and ahead[1:2] == ["of"] and ahead[2:] != ["the"]:
        items[0] = items[0].saying({"change": "new"})
    for i in [i for i, item in enumerate(items) if item.word in HAS or item.word in DOES]:
        if items[i].senses.get("change") in _DENIED and _is_of_none(items, i):
            items[i] = items[i].saying(_DENIED[items[i].senses["change"]])
        found = _verb(items, i, tokens, lexicon)
        if found is not None:
            k, senses = found
            spent = {"negation_verb", "change"} | ({"severity"} if "quality" in senses else set())
            for between in range(i + 1, k):
                if items[between].senses.keys() & spent:
                    items[between] = items[between].saying({})
            verb = items[i].word if k > i + 1 and "quality" in senses else items[k].word
            items[k] = Item(items[k].first, items[k].last, senses, verb)  # its subject is before "has"


def _verb(items: list[Item], i: int, tokens: list[Token], lexicon: Lexicon) -> tuple[int, Senses] | None:
    """Returns which item is the verb of the one at `i`, and what it says; None if it says nothing else than it did."""
    denied = _is_of_none(items, i)
    for k in range(i + 1, min(len(items), i + 1 + _FAR)):
        word, senses = items[k].word, items[k].senses
        if word in _NOT and senses.keys().isdisjoint(("change", "quality")):
            denied = True
        elif word in _NOT and _moves(tokens[items[k].last - 1].word, lexicon):
            return k, _STABLE  # "has NOT SIGNIFICANTLY ENLARGED", which of the heart alone is normal
        elif denied and word in _CHANGED:
            return k, _STABLE
        elif not _is_adverb(items[k], lexicon):
            told = _told(items[k], items[i].word, lexicon)
            if told is None or (items[i].word in DOES and not denied):
                return None
            if denied and told["change"] in _DENIED:
                return k, _DENIED[told["change"]]
            return (k, told) if "change" not in senses or "quality" in senses else None
    return None


def _is_of_none(items: list[Item], i: int) -> bool:
    """Whether the subject of the verb at `i` is none of several findings: "NEITHER OF WHICH HAS grown"."""
    before = next((item.word for item in reversed(items[:i]) if item.word not in _OF_THEM), "")
    return before in _NONE


def _moves(word: str, lexicon: Lexicon) -> bool:
    """Whether "has" makes a word a change for better or worse."""
    return lexicon.trie.get("has", {}).get(word, {}).get("", {}).get("change") in _DENIED


def _is_adverb(item: Item, lexicon: Lexicon) -> bool:
    degree = "severity" in item.senses and item.word.endswith("ly")
    return degree or item.word in lexicon.small.adverbs or item.word in lexicon.small.manners


def _told(verb: Item, auxiliary: str, lexicon: Lexicon) -> Senses | None:
    """Returns what a verb says behind "has" or "did"; None if that is no change."""
    if "change" in verb.senses:
        return verb.senses
    form = verb.word if auxiliary in HAS else _PERFECT.get(verb.word, "")
    tries = lexicon.trie.get("has", {}), lexicon.trie
    told: list[Senses] = [trie[form].get("", {}) for trie in tries if form in trie]
    senses = next(filter(None, told), None)
    if senses is None or "change" not in senses:
        return None
    return {**senses, "quality": verb.senses["quality"]} if "quality" in verb.senses else senses
