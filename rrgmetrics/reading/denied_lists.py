"""Lists behind a denial: "NOT SEEN: effusion, edema", "none of the following: effusion; edema", "no A; B; or C".

A heading that judges and names no finding is about what is behind its colon, up to the next heading of the
sentence. A semicolon parts the items of such a list as a comma does; so it does in a list without a colon if "or" or
"nor" leads to its last item, or if three items or more only name findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.tokens import Item

_FORWARD = {  # a cue behind a finding → the same in front of it
    "negation_after": "negation_before",
    "not_excluded_after": "not_excluded_before",
    "possible_after": "possible_before",
    "probable_after": "probable_before",
}
_CUES = frozenset(_FORWARD)
_PICTURE = ("opacity_head",)  # "the following ABNORMALITIES"
_JOINTS = frozenset({",", ";"})
_LONG = 3  # items of a list that needs no "or"
_SAID = frozenset({"severity", "change", "acuity", "count", "measure", "level", "tip", "position", "normal"})


def deny_lists(items: list[Item], lexicon: Lexicon) -> None:
    """Makes the colon behind a heading that judges a cue for its list, and the semicolons of lists commas, in place."""
    colons = [i for i, item in enumerate(items) if item.word == ":"]
    if colons:
        for colon, following in pairwise([*colons, len(items)]):
            first = _joint_before(items, colon) + 1
            end = max(_joint_before(items, following), colon) if following < len(items) else following
            cue = _judgement(items[first:colon])
            if cue:
                items[colon] = items[colon].saying(cast(Senses, {cue: cue}))
                _rewrite(items, colon + 1, end, ";", ",")
                _rewrite(items, end, end + 1, ",", ";")
    elif any(item.word == ";" for item in items):
        _join_row(items, lexicon)


def _joint_before(items: Sequence[Item], colon: int) -> int:
    """Returns the last comma or the like before a colon and behind the one before; -1 if there is none."""
    for i in range(colon - 1, -1, -1):
        if items[i].word in _JOINTS or items[i].word == ":":
            return i
    return -1


def _judgement(heading: Sequence[Item]) -> str:
    """Returns the cue for what a heading judges behind its colon; "" if it judges nothing or names what it judges."""
    if any("concept" in item.senses for item in heading):
        return ""
    if any("negation_before" in item.senses for item in heading):
        return "negation_before"
    if any(item.senses.get("structure", _PICTURE) != _PICTURE for item in heading):
        return ""  # "Lungs negative: ..." says all of the lungs
    return next((_FORWARD[kind] for item in heading for kind in _CUES & item.senses.keys()), "")


def _rewrite(items: list[Item], first: int, last: int, mark: str, new: str) -> None:
    for i in range(first, min(last, len(items))):
        if items[i].word == mark:
            items[i] = Item(items[i].first, items[i].last, items[i].senses, new)


def _join_row(items: list[Item], lexicon: Lexicon) -> None:
    """Makes the semicolons of a denied list commas, in place: "no evidence of edema; effusion; or pneumonia"."""
    ends = [i for i, item in enumerate(items) if item.word == ";"]
    parts = list(pairwise([-1, *ends, len(items)]))
    denial = next((i for i in range(ends[0]) if "negation_before" in items[i].senses), -1)
    if denial < 0 or any("concept" in item.senses for item in items[:denial]):
        return
    if any("item_break" in item.senses or "clause_end" in item.senses for item in items[denial:]):
        return
    rest = [items[a + 1 : b] for a, b in parts[1:]]
    if not all(any("concept" in item.senses for item in part) for part in rest) or any(
        "negation_before" in item.senses for part in rest for item in part
    ):
        return
    led = rest[-1][0].word in lexicon.small.alternatives or (len(rest) > 1 and rest[-1][0].word == "and")
    spelt = items[denial].word != "no" or (denial + 1 < len(items) and not items[denial + 1].senses)
    bare = all(item.senses and _SAID.isdisjoint(item.senses) for part in rest for item in part)
    named = spelt and bare and len(parts) >= _LONG
    if led or named:
        _rewrite(items, ends[0], len(items), ";", ",")
