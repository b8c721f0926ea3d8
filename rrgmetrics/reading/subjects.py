"""Which finding the grammar of a sentence makes the subject of a change: a pronoun, or a side that has no name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rrgmetrics.reading.comparatives import NEAR
from rrgmetrics.reading.dates import leads_to_then
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, SmallWords

Head = tuple[int, int, "Mention | None"]  # the items of something that can change, and its mention if it is a finding
_PRONOUN = "it"
_JOINTS = frozenset({";", ","})
LIKEWISE = frozenset({"as", "so"})
_PLACE = frozenset({"side", "zone", "structure", "level", "location_preposition", "tip", "holds", "several"})
_PLACED_BY = frozenset({"in", "within", "located", "situated"})
_RELATIVE = frozenset({"that", "whose"})
_ENDS = frozenset({";", ":"})
_CLOSING = frozenset({",", ")"})
_NAMES = frozenset({"concept", "structure", "listed"})
_HAVE = frozenset({"has", "have"})
_WHERE = frozenset({"position", "tip"})  # of a device
_NOUN = frozenset({"concept", "structure", "zone"})
_NEITHER = frozenset({"negation_before"})
_TWO = 2
_MORE = frozenset({"further", "more"})  # "has collapsed FURTHER since": it had before
_PLACED = 6  # items from a quality to the end of its place


def side_behind(items: Sequence[Item], i: int, heads: Sequence[Head]) -> Mention | None:
    """Returns the side without a name that a change is told of: "HAS GROWN on the right and IS STABLE on the left"."""
    at = next((k for k in range(i + 1, len(items)) if "location_preposition" not in items[k].senses), None)
    unnamed = (mention for first, _, mention in heads if mention and mention.elided and first == at and at > i + 1)
    return next(unnamed, None)


def subject(items: Sequence[Item], i: int, heads: Sequence[Head], left: int, lexicon: Lexicon) -> int:
    """Returns the head that "it" before a change stands for: "the EFFUSION compresses the lung; IT is smaller".

    It is the subject of the clause before, if the head `left` next to the change is only what that subject does or has.
    """
    at = next((k for k in range(heads[left][1], i) if items[k].word == _PRONOUN), None)
    if at is None or not any(item.word in _JOINTS for item in items[max(0, at - 2) : at]):
        return left
    first = left
    while first and _is_of_one_clause(items, heads[first - 1], heads[first], lexicon):
        first -= 1
    named = (k for k in range(first, left + 1) if (mention := heads[k][2]) and not mention.denies)
    return next(named, left)


def all_named(items: Sequence[Item], i: int, heads: Sequence[Head], left: int, small: SmallWords) -> list[Mention]:
    """Returns the findings that "both" or "all" before a change means: "a cavity and a node; BOTH have grown"."""
    words = collecting(items[heads[left][1] : i + 1])
    if small.all_before.isdisjoint(words):
        return []
    named = {mention.at: mention for _, _, mention in heads[: left + 1] if mention and mention.assertion != "absent"}
    others = [mention for mention in named.values() if not mention.denies]
    return others if small.of_two.isdisjoint(words) else others[-_TWO:]


def collecting(items: Sequence[Item]) -> set[str]:
    """Returns the words before others that stand for findings, as "both" can: not "in BOTH LOBES"."""
    return {a.word for a, b in pairwise(items) if a.senses.keys() <= _NEITHER and _NOUN.isdisjoint(b.senses)}


def _is_of_one_clause(items: Sequence[Item], one: Head, other: Head, lexicon: Lexicon) -> bool:
    """Whether a head is what the one before it has or does: "and PUSHES THE MEDIASTINUM"."""
    between = items[one[1] : other[0]]
    if any("clause_end" in item.senses or item.word == ";" for item in between):
        return False
    verb = [item for item in between if item.word not in lexicon.small.definite][-1:]
    joined = any(item.word in lexicon.small.list_joints and item.word != "with" for item in between)
    return any("quality" in item.senses for item in verb) or not joined


def aside_before(items: Sequence[Item], i: int, small: SmallWords) -> range:
    """Returns the clause between a subject and its predicate at `i`: "the mass, WHICH ABUTS THE AORTA, has shrunk"."""
    end = next((k for k in range(i - 1, max(0, i - NEAR), -1) if items[k].word in _CLOSING), 0)
    predicate = items[end + 1 : i + 1]
    named = any(item.senses.keys() & _NAMES for item in predicate[:-1])
    if not end or named or predicate[0].word not in small.verbs:
        return range(0)
    for k in range(end - 1, 0, -1):
        if items[k].word in _ENDS:
            break
        if items[end].word == ")":
            if items[k].word == "(":
                return range(k, end)
        elif items[k - 1].word == "," and _opens_clause(items[k], small):
            return range(k - 1, end)
    return range(0)


def _opens_clause(item: Item, small: SmallWords) -> bool:
    """Whether an aside begins behind a comma: "WHICH abuts the aorta", "ENCASING the lung", "IN the upper lobe"."""
    participle = item.word.endswith("ing") and "change" not in item.senses
    return participle or item.word in small.relative | _RELATIVE | _PLACED_BY


def likewise_from(items: Sequence[Item], i: int, small: SmallWords) -> int:
    """Returns where what shares the word at `i` begins: "fractured, AS IS the clavicle", "AS WELL AS the ribs"; 0."""
    at = i + 1
    while at < min(len(items), i + _PLACED) and _is_placing(items[at]):
        at += 1
    if at < len(items) and items[at].word == "as" and items[at].last - items[at].first == len(("as", "well", "as")):
        return at + 1
    words = [item.word for item in items[at : at + 4]]
    link = next((k for k, word in enumerate(words) if word not in (",", "and")), len(words))
    if not link or link + 1 >= len(words) or words[link] not in LIKEWISE or words[link + 1] not in small.verbs:
        return 0
    return at + link + 2


def _is_placing(item: Item) -> bool:
    """Whether a word continues the place of a quality: "fractured ON THE LEFT", "broken POSTERIORLY"."""
    return item.senses.keys() <= _PLACE if item.senses else item.word.endswith("ly")


def likewise(items: Sequence[Item], i: int, heads: Sequence[Head], small: SmallWords) -> list[Mention]:
    """Returns the finding that shares the change at `i`: "the pneumothorax has grown, AS HAS THE EFFUSION"."""
    start = likewise_from(items, i, small)
    behind = next((mention for first, _, mention in heads if start and first >= start), None)
    if behind is None or behind.denies:
        return []
    return [] if any("change" in item.senses for item in items[start : behind.first]) else [behind]


def is_setting(items: list[Item], lo: int, hi: int, lexicon: Lexicon) -> bool:
    """Whether what begins at `hi` only states when or where: "the air AFTER STERNOTOMY, decreasing"."""
    between, small = items[max(lo, hi - NEAR) : hi], lexicon.small
    led = any(item.word in small.settings for item in between)
    caused = any(item.word in small.causing for item in between)  # "the mass DUE TO LYMPHOMA has grown"
    others = [item for item in between if item.word not in small.settings]
    ends = any(item.word in small.separators or "clause_end" in item.senses for item in others)
    return not ends and (led or (caused and not any(item.word in small.verbs for item in between)))


def of_one_picture(cause: Mention, shown: Mention | None, lexicon: Lexicon) -> bool:
    """Whether a finding and what it is due to are one picture: "CONSOLIDATION due to CONTUSION"."""
    if cause.denies or (shown is not None and shown.denies):
        return False
    groups = {lexicon.concepts[mention.concept].group for mention in (cause, shown) if mention}
    return len(groups) == 1 and groups <= lexicon.groups["one_picture"]


def is_hardware(mention: Mention | None, lexicon: Lexicon) -> bool:
    """Whether a mention is a thing put into the patient, which neither grows nor shrinks."""
    return (
        mention is not None and not mention.denies and "support_device" in lexicon.concepts[mention.concept].ancestors
    )


def beside_device(items: list[Item], heads: list[Head], left: int, lexicon: Lexicon) -> int:
    """Returns the finding before a device that is beside it: "effusion, drained by a tube, has DECREASED"."""
    if not is_hardware(heads[left][2], lexicon):
        return left
    for k in range(left - 1, -1, -1):
        between = items[heads[k][1] : heads[left][0]]
        if any("clause_end" in item.senses or item.word in ("and", ";", "but") for item in between):
            break
        if heads[k][2] is not None and not is_hardware(heads[k][2], lexicon):
            return k
    return left


def give_since(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Takes what has come since an earlier film for new, in place.

    "SINCE THE 6 AM FILM the lung has collapsed", "the mass HAS CAVITATED SINCE MARCH".
    """
    if any("change" in item.senses or item.word in _MORE for item in items):
        return
    since = next((i for i, item in enumerate(items) if item.word == "since" and _is_dated(items, i, lexicon)), None)
    for mention in mentions if since is not None else ():
        if since and not (mention.at < since and _is_behind_have(items, mention)):
            continue
        if mention.assertion != "absent" and not mention.denies and not lexicon.concepts[mention.concept].is_device:
            mention.course = mention.course or "new"


def _is_dated(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a film or a date is behind the "since" at `i`."""
    films, ahead = lexicon.small.films, items[i : i + NEAR + 2]
    filmed = any(item.word in films or "earlier_study" in item.senses for item in ahead)
    return filmed or (i > 0 and leads_to_then(items, i, lexicon.small))


def _is_behind_have(items: Sequence[Item], mention: Mention) -> bool:
    """Whether a structure has become so: "the lung HAS collapsed"."""
    return any(item.word in _HAVE for item in items[mention.first : mention.at])


def told_apart(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> int:
    """Returns how many findings a predicate of their own parts from the last.

    "The edema HAS WORSENED and pneumonia is possible", "the drain lies at the APEX and no pneumothorax is seen".
    """
    concepts = lexicon.concepts
    for k in range(len(mentions) - 1, 0, -1):
        one, other = mentions[k - 1], mentions[k]
        between = items[one.first : other.first]
        if any("change" in item.senses and item.word in _HAVE for item in between):
            return k
        devices = [not m.denies and concepts[m.concept].is_device for m in (one, other)]
        if devices == [True, False] and any(not item.senses.keys().isdisjoint(_WHERE) for item in between):
            return k
    return 0
