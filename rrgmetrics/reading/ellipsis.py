"""Findings whose name is said once for both sides: "the right effusion is large, THE LEFT SMALL", "none on the left".

The other side has a statement of its own: how much, since when, whether at all. Its mention is on the word for the
side, so that assertion, change and attributes are read as for any other mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rrgmetrics.reading.attributes import Stated
from rrgmetrics.reading.itemized_lesions import told_one_by_one
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, SmallWords

_OTHER = {"left": "right", "right": "left"}
_DENYING = frozenset({"negation_before", "negation_after", "negation_verb"})
_HEDGING = frozenset({"possible_before", "possible_after", "probable_before", "probable_after"})
_TOLD = (
    frozenset({"severity", "change", "measure", "acuity", "count", "tip", "position", "resolved_before"})
    | _DENYING
    | _HEDGING
)
_PLAIN = frozenset(
    {"side", "zone", "location_preposition", "item_break", "morphology", "earlier_study", "clause_end", "several"}
)
_NAMELESS = frozenset({"concept", "normal", "holds", "recommendation", "hypothetical", "asymmetry"})
_OF_BOTH = frozenset({"zone", "morphology", "acuity"})
_EXCEPTED = frozenset({"side", "zone", "level"})
_CLEAR = frozenset({"clear", "normal"})
_MORE = frozenset({"being", "having"})  # behind "the right": more of one side follows
_LONGEST = 14  # items of a statement without a name


def resolve_ellipsis(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions with those whose name is left out, in the order of the text."""
    two = {"left", "right"} <= _sides(items)
    if not two and sum("measure" in item.senses for item in items) < 2:
        return mentions
    spans = sorted((mention.first, mention.last) for mention in mentions)
    more: list[Mention] = []
    listed: list[Mention] = []  # names with a list of places and sizes
    for mention in sorted(mentions, key=lambda m: m.last - m.first):
        denied = any(m.denies and m.first <= mention.first and m.at >= mention.last for m in mentions)
        if any(_is_around(mention, each) for each in listed):
            mentions = [each for each in mentions if each is not mention]
        elif not mention.denies and mention.whole_of is None and not denied:
            start = max((last for _, last in spans if last <= mention.first), default=0)
            end = min((first for first, _ in spans if first >= mention.last), default=len(items))
            found = told_one_by_one(items, mention, (start, end), lexicon)
            listed += [mention] * bool(found)
            if not found and two:
                found = _behind(items, mention, (start, end), lexicon) or _ahead(items, mention, start, lexicon)
            more += found
    more += _said_again(items, sorted([*mentions, *more], key=lambda m: m.at))
    return sorted([*mentions, *more], key=lambda m: (m.at, m.first)) if more else mentions


def _is_around(mention: Mention, named: Mention) -> bool:
    """Whether one name encloses the list of another: "ENLARGED subcarinal (18 mm) and hilar (14 mm) NODES"."""
    around = mention.first < named.first and named.last <= mention.last
    return around and mention.concept == named.concept and not mention.denies


def _said_again(items: list[Item], mentions: Sequence[Mention]) -> list[Mention]:
    """Returns the mention that takes up one of two sides: "right and left effusion, THE RIGHT being new"."""
    for i in range(1, len(items) - 1):
        side = items[i].senses.get("side")
        if side not in _OTHER or items[i - 1].word != "the" or items[i + 1].word not in _MORE:
            continue
        two = [mention for mention in mentions if mention.last <= i][-2:]
        first = two[0].elided if two else None
        if first is not None and first is two[-1]:
            named = two[0] if items[two[0].at].senses.get("side") == side else first
            items[i] = items[i].saying({})
            return [Mention(named.concept, i, i + 1, i, (items[i].first, items[i].last), elided=named, again=True)]
    return []


def add_excepted(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions with what a denial excepts: "no effusion EXCEPT a trace on the left"."""
    for i, item in enumerate(items):
        if item.word not in lexicon.small.excepting or (item.word == "but" and not _is_for(items, i + 1)):
            continue
        end = next((j for j in range(i + 1, len(items)) if is_joint(items[j], lexicon.small)), len(items))
        named = _denied_beside(items, mentions, i, end)
        if named is None:
            continue
        if any(m.concept == named.concept for m in mentions if i < m.at < end):
            named.excepts = True  # "no nodule EXCEPT a nodule on the left"
            continue
        at = next((j for j in range(i + 1, end) if not items[j].senses.keys().isdisjoint(_EXCEPTED)), None)
        if at is None or any(not item.senses.keys().isdisjoint(_NAMELESS) for item in items[i + 1 : end]):
            continue
        named.excepts = True
        items[i] = item.saying({"clause_end": "clause_end"})
        one = Mention(named.concept, at, at + 1, at, (items[at].first, items[at].last), elided=named)
        return sorted([*mentions, one], key=lambda m: (m.at, m.first))
    return mentions


def _denied_beside(items: Sequence[Item], mentions: Sequence[Mention], i: int, end: int) -> Mention | None:
    """Returns the denied finding that an exception at `[i, end)` is of: the one before it, or behind an opening.

    "No EFFUSION except a trace on the left", "Except for a trace on the left, no EFFUSION".
    """
    named = next((m for m in reversed(mentions) if m.last <= i and not m.denies), None)
    first = 0
    if named is None and not any(m.first < end for m in mentions):
        named, first = next((m for m in mentions if m.first >= end and not m.denies), None), end
    is_denied = named is not None and any("negation_before" in item.senses for item in items[first : named.first])
    return named if is_denied else None


def _is_for(items: Sequence[Item], i: int) -> bool:
    return i < len(items) and items[i].word == "for"


def _behind(items: list[Item], named: Mention, between: tuple[int, int], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions without a name that follow the one at `named`, up to the next name."""
    opening, *pieces = _pieces(items, named.last, between[1], lexicon)
    own = _sides(items[between[0] : opening[1]])
    if between[1] < len(items):  # the words next to the next name are its own: "suspected right hilar and ..."
        pieces = [piece for piece in pieces[:-1] if _is_placed(items[slice(*piece)])]
    whole = "bilateral" in own or not own
    stated = [opening, *pieces] if whole else pieces
    told = [(piece, side) for piece in stated if (side := _told_of(items, piece, lexicon))]
    if not told or (whole and {side for _, side in told} != _OTHER.keys()):
        return []
    if not whole and own & _OTHER.keys() != {_OTHER[told[0][1]]}:
        return []
    named.dropped = whole
    return [_unnamed(items, named, piece, side, whole=whole) for piece, side in (told if whole else told[:1])]


def _ahead(items: list[Item], named: Mention, start: int, lexicon: Lexicon) -> list[Mention]:
    """Returns the mention without a name before the one at `named`: "NEW RIGHT and old left rib fractures"."""
    pieces = list(_pieces(items, start, named.first, lexicon))
    if len(pieces) < 2 or start:
        return []
    sides = [_told_of(items, piece, lexicon) for piece in pieces[-2:]]
    if set(sides) != _OTHER.keys() or named.last - named.first > 1:
        return []
    return [_unnamed(items, named, pieces[-2], sides[0], whole=False)]


def _unnamed(items: list[Item], named: Mention, piece: tuple[int, int], side: str, *, whole: bool) -> Mention:
    """Returns the mention that is on the word for its side."""
    at = next(i for i in range(*piece) if items[i].senses.get("side") == side)
    for i in range(piece[0], at):
        if items[i].senses.keys() & _DENYING:
            items[i] = items[i].saying({"negation_before": "negation_before"})
    for i in range(at + 1, piece[1]):
        if not _CLEAR.isdisjoint(items[i].senses.get("quality", ())):
            items[i] = items[i].saying({"negation_after": "negation_after"})  # "right base hazy, left CLEAR"
    return Mention(named.concept, at, at + 1, at, (items[at].first, items[at].last), elided=named, whole=whole)


def _pieces(items: Sequence[Item], lo: int, hi: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Yields the parts of a sentence between its joints; a word of contrast opens a part."""
    first = lo
    for i in range(lo, hi):
        if is_joint(items[i], lexicon.small) or (items[i].word == ":" and "bilateral" in _sides(items[lo:i])):
            yield first, i  # "effusions on both sides: large right, small left"
            first = i + 1
    yield first, hi


def _is_placed(said: Sequence[Item]) -> bool:
    return any("location_preposition" in item.senses or "item_break" in item.senses for item in said)


def inherit_words(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Lets what is stated of both sides together hold of each: "NEW bilateral effusions, large on the right ..."."""
    for mention in mentions:
        if mention.elided and not _has_side(mention.modifiers, lexicon):
            mention.modifiers.extend(
                item
                for item in mention.elided.modifiers
                if item.senses.get("side") in _OTHER and item.first < mention.tokens[0]
            )  # "in the LEFT lung nodules of 14 mm in the mid zone and of 8 mm at the base"
        if mention.elided and not any("zone" in item.senses for item in mention.modifiers):
            mention.modifiers.extend(_zones_of_name(mention.elided, items))
        if mention.whole and mention.elided:
            mention.course = mention.course or mention.elided.course
            mention.modifiers.extend(
                item
                for item in mention.elided.modifiers
                if item.senses.keys() & _OF_BOTH and item not in mention.modifiers
            )


def _zones_of_name(named: Mention, items: Sequence[Item]) -> Iterator[Item]:
    """Yields the zones in a name or before it: "HILAR nodes of 14 mm on the right and of 12 mm on the left"."""
    yield from (item for item in named.modifiers if "zone" in item.senses and item.first < named.tokens[0])
    for item in items[named.first : named.last]:
        inside = (part["zone"] for part in (item.senses, *item.senses.get("inside", ())) if "zone" in part)
        yield from (item.saying({"zone": zone}) for zone in inside)


def _has_side(items: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether words name a side, or a place that is on one: the lingula."""
    return bool(_sides(items)) or any("zone" in i.senses and lexicon.zones[i.senses["zone"]].side for i in items)


def share_sides_beside(items: Sequence[Item], stated: Sequence[Stated], small: SmallWords) -> None:
    """Gives a finding without a side that of the one before, in place: "a left mass with SURROUNDING edema"."""
    for k, (mention, fields, _) in enumerate(stated):
        around = items[max(0, mention.first - 2) : mention.last]
        if fields and not fields["sides"] and any(item.word in small.companions for item in around):
            sides = (each.fields["sides"] for each in reversed(stated[:k]) if each.fields.get("sides"))
            fields["sides"] = set(next(sides, ()))


def is_joint(item: Item, small: SmallWords) -> bool:
    """Whether a statement may begin behind an item."""
    return item.word in small.separators or ("clause_end" in item.senses and item.word not in small.then)


def _told_of(items: Sequence[Item], piece: tuple[int, int], lexicon: Lexicon) -> str:
    """Returns the side of which a part without a name states something; "" if it does not."""
    said = items[slice(*piece)]
    sides = [item.senses["side"] for item in said if "side" in item.senses]
    if len(sides) != 1 or sides[0] not in _OTHER or len(said) > _LONGEST:
        return ""
    small, tells = lexicon.small, False
    for item in said:
        kinds = item.senses.keys()
        if kinds & _NAMELESS:
            return ""
        dated = item.word[0].isdigit() or item.word in small.past
        if not (kinds or dated) and item.word not in small.unnamed:
            return ""
        clear = not _CLEAR.isdisjoint(item.senses.get("quality", ()))
        only_words = kinds - _PLAIN - _TOLD - {"structure" if "zone" in kinds else ""}
        if only_words - ({"quality"} if clear or kinds & _TOLD else set()):
            return ""
        tells = tells or clear or bool(kinds & _TOLD)
    return sides[0] if tells else ""


def _sides(items: Sequence[Item]) -> set[str]:
    inside = [part for item in items for part in (item.senses, *item.senses.get("inside", ()))]
    return {part["side"] for part in inside if "side" in part}
