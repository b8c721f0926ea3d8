"""The mentions of findings in a row of items.

A finding is named in one of two ways: by a term of its own ("cardiomegaly"), or by a quality of a structure ("the
heart is enlarged"), which `composition` puts together.
"""

from __future__ import annotations

from rrgmetrics.reading.composition import compose
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon

_LEADING = frozenset({"location_preposition", "side"})
_PUSHED = 8  # items from a tube to the side that it is pushed to
_TO, _INTO = frozenset({"towards", "toward"}), frozenset({"into"})
_VERBAL = frozenset({"item_break", "severity"})  # between the tube and how it lies
_BEFORE_SHORTHAND = frozenset(
    {"side", "severity", "change", "quality", "count", "acuity", "negation_before", "item_break", "resolved_before"}
)


_AHEAD, _SAID = 5, 9  # items before and behind a structure that may tell that it is seen
_PARTING = frozenset({";", ":"})
_OTHER = frozenset({"concept", "listed", "clause_end", "negation_before", "normal"})
_JOINING = frozenset({"and", ",", "/"})
_DENIALS = frozenset({"negation_before", "negation_after"})
_COURSES = frozenset({"new", "worse", "better", "resolved"})


def find_named(items: list[Item], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions of a sentence in the order in which their assertion is read."""
    used: set[int] = set()
    mentions: list[Mention] = []
    previous = -1
    for q, item in enumerate(items):
        senses = item.senses
        if not senses:
            continue
        if "quality" in senses:
            composed = compose(items, q, previous, lexicon, used)
            if composed:
                mentions.extend(composed)
                used.add(q)
                previous = q
        if "concept" in senses and q not in used:
            previous = q
        elif "normal" in senses:
            mentions.append(Mention("", q, q + 1, q, (item.first, item.last), senses["normal"]))
            previous = q
    for i, item in enumerate(items):
        if "concept" in item.senses and i not in used and not _is_likeness(items, i):
            pushed = _pushed_aside(items, i, lexicon)
            mentions.append(Mention(pushed or item.senses["concept"], i, i + 1, i, (item.first, item.last)))
        elif "lone" in item.senses and _stands_alone(items, i, lexicon):
            mentions.append(Mention(item.senses["lone"], i, i + 1, i, (item.first, item.last)))
        elif "listed" in item.senses and _is_seen(items, i) and not _is_said_of(items, i, mentions):
            mentions.append(Mention(item.senses["listed"], i, i + 1, i, (item.first, item.last)))
    return mentions


def add_wholes(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions with the devices that a fault is named of: "the LEADS are not broken"."""
    return [*mentions, *(whole for fault in mentions for whole in _whole(fault, items, lexicon))]


def merge_qualities(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions in order, without those that only describe the one beside them: "SCLEROTIC metastasis".

    One that only denies how another looks is not counted (`mention.dropped`), but keeps its words.
    """
    kept = [mention for mention in mentions if not _is_in_another(items, mention, mentions, lexicon)]
    for mention in kept:
        mention.dropped = mention.dropped or any(_is_denied_of(items, mention, other) for other in kept)
    return sorted(kept, key=lambda m: (m.at, m.first))


def drop_topics(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions without those that only announce others: "LINES AND TUBES: right PICC in the SVC."."""
    return mentions[_topics(items, mentions, lexicon) :]


def _is_likeness(items: list[Item], i: int) -> bool:
    """Whether a finding only says what another looks like: "a TUMOUR-like mass"."""
    return i + 2 < len(items) and items[i + 1].word == "like" and "concept" in items[i + 2].senses


def _pushed_aside(items: list[Item], i: int, lexicon: Lexicon) -> str:
    """Returns what a tube in the midline shows that is pushed to a side: "the NG tube is DISPLACED TO THE RIGHT"."""
    if items[i].senses["concept"] not in lexicon.roles["midline"]:
        return ""
    behind = iter(items[i + 1 : i + 1 + _PUSHED])
    shifted = next((each for each in behind if each.senses.keys().isdisjoint(_VERBAL)), None)
    if shifted is None or "shifted" not in shifted.senses.get("quality", ()):
        return ""
    to = next((each for each in behind if "location_preposition" not in each.senses and each.word not in _TO), None)
    goes_on = any("tip" in each.senses or each.word in _INTO for each in items[i + 1 :])  # "into the right lung"
    aside = to is not None and to.senses.get("side") in ("left", "right") and not goes_on
    return lexicon.findings_of.get(("mediastinum", "shifted"), "") if aside else ""


def _stands_alone(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether the shorthand at `i` is all that is named: "RIJ in the SVC", but "tip in the RIJ", "RIJ PICC"."""
    small = lexicon.small
    for item in reversed(items[:i]):
        if item.word in small.separators or item.word == ":" or "clause_end" in item.senses:
            break
        article = item.word in small.definite or item.word in small.indefinite
        if not article and (not item.senses or not item.senses.keys() <= _BEFORE_SHORTHAND):
            return False
    for item in items[i + 1 :]:
        if item.word in small.separators or "clause_end" in item.senses:
            break
        concept = item.senses.get("concept") or item.senses.get("lone")
        if concept is not None and lexicon.concepts[concept].is_device:
            return False
    return True


def _is_seen(items: list[Item], i: int) -> bool:
    """Whether a structure that is only seen where it is abnormal is: "nodes", "a node of 2 cm", "a new node".

    A node that has grown, shrunk or gone was seen. The words for that are in its clause, before another name.
    """
    if "several" in items[i].senses:
        return not _only_heads(items, i)
    for step, reach in ((-1, _AHEAD), (1, _SAID)):
        for k in range(i + step, max(-1, min(len(items), i + step * (reach + 1))), step):
            senses = items[k].senses
            if items[k].word in _PARTING or not _OTHER.isdisjoint(senses) or (step < 0 and items[k].word == ","):
                break
            if "measure" in senses or "resolved_before" in senses or senses.get("change") in _COURSES:
                return True
    return False


def _only_heads(items: list[Item], i: int) -> bool:
    """Whether a structure is a heading of a denial, or of two: "NODES: no enlargement", "PLEURA AND NODES: ..."."""
    colon = next((k for k in range(i, len(items)) if items[k].word == ":"), len(items))
    heading, said = items[:colon], items[colon + 1 :]
    if not said or any("measure" in item.senses for item in said):
        return False
    denied = colon == i + 1 and len(said) > 1 and not _DENIALS.isdisjoint(said[0].senses)
    joined = any(item.word in _JOINING for item in heading)
    return denied or (joined and all(item.word in _JOINING or "structure" in item.senses for item in heading))


def _is_said_of(items: list[Item], i: int, mentions: list[Mention]) -> bool:
    """Whether a mention includes the structure at `i`, or describes it: "eggshell calcification OF the nodes"."""
    before = i
    while before and items[before - 1].senses and items[before - 1].senses.keys() <= _LEADING:
        before -= 1
    return any(m.first <= i < m.last or m.first < before == m.last for m in mentions)


def _is_in_another(items: list[Item], mention: Mention, mentions: list[Mention], lexicon: Lexicon) -> bool:
    """Whether a quality describes a finding that its neighbour names: "SCLEROTIC metastasis in T10"."""
    for other in mentions if _describes(mention, lexicon) else ():
        inside = mention.first < other.first <= other.last == mention.last and _describes(other, lexicon)
        if inside and not any(item.word in lexicon.small.joints for item in items[mention.first : other.first]):
            return True  # "STREAKY hazy airspace opacities", but "linear and nodular opacities"
    return any(
        mention.first < other.first <= other.last == mention.last
        and mention.at + 1 == other.at
        and mention.concept in lexicon.concepts[other.concept].ancestors
        for other in mentions
        if other.concept
    )


def _is_denied_of(items: list[Item], mention: Mention, other: Mention) -> bool:
    """Whether a mention only denies how another of its concept looks: "enlarged nodes WITHOUT NECROSIS"."""
    overlaps = mention.first < other.last <= mention.at
    between = items[other.last : mention.at] if overlaps and mention.concept == other.concept else ()
    return any("negation_before" in item.senses for item in between)


def _describes(mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a mention names only how a picture looks, or a kind of such a name."""
    concept = lexicon.concepts.get(mention.concept)
    return concept is not None and not lexicon.roles["describing"].isdisjoint((concept.key, *concept.ancestors[:1]))


def _whole(fault: Mention, items: list[Item], lexicon: Lexicon) -> list[Mention]:
    """Returns the device that a composed mention says a fault of: there even where the fault is denied."""
    if fault.denies or fault.last - fault.first < 2 or not lexicon.concepts[fault.concept].is_device:
        return []
    return [
        Mention(item.senses["concept"], i, i + 1, i, (item.first, item.last), whole_of=fault)
        for i, item in ((i, items[i]) for i in (fault.first, fault.last - 1))
        if i != fault.at and item.senses.get("concept") in lexicon.concepts[fault.concept].ancestors
    ]


def _topics(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> int:
    """Returns how many mentions at the beginning only announce others: "Lines and tubes: right PICC in the SVC."."""
    colon = next((i for i, item in enumerate(items) if item.word == ":"), 0)
    ahead = sum(mention.last <= colon for mention in mentions)
    if ahead and all(item.word in lexicon.small.announcing_devices | lexicon.small.joints for item in items[:colon]):
        named = any(not each.denies and lexicon.concepts[each.concept].is_device for each in mentions[ahead:])
        return ahead if named or colon == len(items) - 1 else 0
    return int(_is_topic(items, mentions, lexicon))


def _is_topic(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> bool:
    """Whether the first mention announces one of the others."""
    if len(mentions) < 2 or mentions[0].denies or mentions[0].first:
        return False
    after = mentions[0].last
    if after >= len(items) or items[after].word != ":":
        return False
    topic = mentions[0].concept
    return any(
        topic in m.denies if m.denies else topic in (m.concept, *lexicon.concepts[m.concept].ancestors)
        for m in mentions[1:]
    )
