"""Lesions named once and described one by one: "nodules: RLL 12 mm, RUL 8 mm", "hilar (9 mm) and axillary (7 mm)".

Each part of such a list has a place and a size of its own, and so is a finding of its own. Its mention is on the
word for the place, as that of a side does (`elided`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon

_PLACE = frozenset({"side", "zone"})
_WHERE = _PLACE | {"structure", "several", "location_preposition"}
_SAID = _PLACE | {"measure"}
_PLAIN = frozenset(
    {
        "side",
        "zone",
        "structure",
        "location_preposition",
        "measure",
        "before",
        "count",
        "severity",
        "change",
        "several",
        "versus",
        "earlier_study",
        "item_break",
        "quality",
        "measured",
        "listed",
        "inside",
        "ordinal",
        "nothing",
    }
)  # all that a part of such a list may say
_NEVER = frozenset({"concept", "normal", "negation_before", "negation_after", "level", "tip", "route", "clause_end"})
_NUMBERED = frozenset(
    {"another", "other", "further", "image", "series", "slice", "im", "se", "img", "segment"}
)  # where it is to be found
_UP_TO = frozenset({"up", "to", "max", "maximum", "maximal", "most", "about"})
_LONGEST = 20  # items of a part


def told_one_by_one(items: list[Item], named: Mention, between: tuple[int, int], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions of the other parts, or of all if the one at `named` has no place and size itself."""
    if named.denies or named.concept not in lexicon.roles["one_by_one"]:
        return []
    parts = list(_parts(items, between[0], between[1], lexicon))
    name = named.first if "measured" in items[named.at].senses else named.at  # "NODES, 14 mm on the right, ..."
    own = next((k for k, (first, last) in enumerate(parts) if first <= name < last), None)
    if own is None or any("negation_before" in item.senses for item in items[slice(*parts[own])]):
        return []
    if listed := _bracketed(items, named, between[1], lexicon):
        named.dropped = True
        return [_unnamed(items, named, part, whole=True) for part in listed]
    opening, *behind = parts[own:]
    told = [part for part in behind if _tells(items, part, lexicon)]
    if between[1] < len(items) and told and told[-1] == behind[-1]:
        return []  # the words next to the next name may be its own
    sized, placed = _sized(items, opening), _placed(items, opening)
    ahead = _ahead(items, parts[:own], lexicon) if sized and placed else []
    if ahead:
        return [_unnamed(items, named, part, whole=False) for part in ahead]
    heads = opening[1] < len(items) and items[opening[1]].word == ":" and not placed
    if not told or len(told) + ((sized and placed) or heads) < 2:
        return []
    whole = not (sized and placed)
    named.dropped = whole
    if whole and name < named.at:
        named.at, named.last = name, name + 1  # its first size is that of the first part
    return [_unnamed(items, named, part, whole=whole) for part in told]


def _bracketed(items: Sequence[Item], named: Mention, end: int, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Returns the parts of a list in brackets behind a name and its place: "nodules (RLL 8 MM, LINGULA 6 MM)"."""
    behind = range(named.last, end)
    opened = next((i for i in behind if not items[i].senses or not items[i].senses.keys() <= _WHERE), end)
    if opened == end or items[opened].word != "(":
        return []
    close = next((i for i in range(opened, end) if items[i].word == ")"), end)
    listed = list(_parts(items, opened + 1, close, lexicon))
    return listed if len(listed) > 1 and all(_tells(items, part, lexicon) for part in listed) else []


def _ahead(items: Sequence[Item], parts: Sequence[tuple[int, int]], lexicon: Lexicon) -> list[tuple[int, int]]:
    """Returns the parts before the named one, if each has its place and size: "HILAR (9 MM) and axillary nodes"."""
    if not parts or (parts[0][0] and items[parts[0][0] - 1].word not in lexicon.small.separators):
        return []  # "a mass IN THE RIGHT LUNG (40 MM) and hilar (14 mm) nodes"
    (first, last), *others = parts
    first = next((i for i in range(first, last) if not _SAID.isdisjoint(items[i].senses)), first)
    listed = [(first, last), *others]
    return listed if all(_tells(items, part, lexicon) for part in listed) else []


def _parts(items: Sequence[Item], lo: int, hi: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Yields the parts of a list between its joints, of which those in brackets are none."""
    first, depth = lo, 0
    for i in range(lo, hi):
        word = items[i].word
        depth = max(0, depth + (word == "(") - (word == ")"))
        if not depth and (word == ":" or word in lexicon.small.separators) and word not in ("(", ")", "/"):
            yield first, i
            first = i + 1
    yield first, hi


def _sized(items: Sequence[Item], part: tuple[int, int]) -> bool:
    return any("measure" in item.senses for item in items[slice(*part)])


def _placed(items: Sequence[Item], part: tuple[int, int]) -> bool:
    return any(not _PLACE.isdisjoint(item.senses) for item in items[slice(*part)])


def _tells(items: Sequence[Item], part: tuple[int, int], lexicon: Lexicon) -> bool:
    """Whether a part says a place and a size and nothing else."""
    said = items[slice(*part)]
    if len(said) > _LONGEST or not (_sized(items, part) and _placed(items, part)):
        return False
    depth = 0
    for item in said:
        depth = max(0, depth + (item.word == "(") - (item.word == ")"))
        if not _NEVER.isdisjoint(item.senses) or not item.senses.keys() <= _PLAIN:
            return False
        known = item.senses or depth or item.word in lexicon.small.unnamed | _NUMBERED | _UP_TO
        if not known and not item.word[0].isdigit() and item.word not in lexicon.small.earlier:
            return False
    return True


def _unnamed(items: list[Item], named: Mention, part: tuple[int, int], *, whole: bool) -> Mention:
    """Returns the mention that is on the word for the place."""
    at = next(i for i in range(*part) if not _PLACE.isdisjoint(items[i].senses))
    return Mention(named.concept, at, at + 1, at, (items[at].first, items[at].last), elided=named, whole=whole)
