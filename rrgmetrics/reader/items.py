"""A sentence as a row of items (the lexicon's phrases found in it) and the mentions of findings built from them.

A finding is named in one of two ways: by a term of its own ("cardiomegaly"), or by a quality of a structure ("the
heart is enlarged", "enlargement of the cardiac silhouette"). The second kind is composed here, from the table of
`seen_as` pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rrgmetrics.reader.levels import number_bones
from rrgmetrics.reader.lexicon import Lexicon, Senses, Trie
from rrgmetrics.reader.model import Assertion, Certainty
from rrgmetrics.reader.place_words import resolve_places
from rrgmetrics.reader.shared_words import share_nouns
from rrgmetrics.reader.sizes import earlier, judge, measure, ratio, weigh
from rrgmetrics.reader.tables import part_rows
from rrgmetrics.reader.tokens import Item as Item
from rrgmetrics.reader.tokens import Token

_LONGEST_PHRASE = 16  # tokens
_VERBS = 5  # tokens of the verbs that may stand inside a name
_PREPOSITIONS = frozenset({"in", "into", "within", "under", "beneath", "below", "at", "around", "behind"})
_INTO = {"into": "in", "within": "in"}

# Between a structure and its quality only these may stand, besides words the lexicon does not know.
_TRANSPARENT = frozenset(
    {
        "side",
        "zone",
        "severity",
        "change",
        "acuity",
        "morphology",
        "item_break",
        "negation_verb",
        "location_preposition",
        "count",
        "level",
        "ordinal",
    }
)
_PLACES = frozenset({"side", "zone", "level", "structure", "count", "ordinal"})
_BARE = ("bare_tube",)  # the structure of a word that alone names no device
_LEADING = frozenset({"location_preposition", "side"})
_BEFORE_SHORTHAND = frozenset(
    {"side", "severity", "change", "quality", "count", "acuity", "negation_before", "item_break", "resolved_before"}
)
_GOING_ON = frozenset({"clause_end", "item_break", "negation_before"})  # another statement begins
_ATTRIBUTES = frozenset({"side", "zone", "severity", "change", "acuity", "morphology", "structure"})


@dataclass(slots=True, eq=False)
class Mention:
    """A finding named in a sentence, before its attributes and its assertion are known.

    `first` and `last` bound its items, `at` is the item that carries the assertion ("the heart is ENLARGED"). A
    normal statement has no concept; `denies` holds what it denies.
    """

    concept: str
    first: int
    last: int
    at: int
    tokens: tuple[int, int]
    denies: tuple[str, ...] = ()
    nearly: bool = False  # "upper normal"
    assertion: Assertion = "present"
    certainty: Certainty = "definite"
    change: str | None = None
    course: str | None = None  # the change that is said of it
    dropped: bool = False  # only asked, advised or historic
    link: Mention | None = None  # the mention it explains or is an alternative of
    whole_of: Mention | None = None  # the mention of its fault: "the LEADS are not broken"
    elided: Mention | None = None  # the mention that it has its name from: "effusion on the right, none on the LEFT"
    whole: bool = False  # what is told of both sides together holds of it too
    modifiers: list[Item] = field(default_factory=list)
    extent: tuple[int, int] = (0, 0)  # tokens of the mention with the words that describe it: the evidence
    pre_place: bool = False  # a place stands before it
    post_place: bool = False  # a place stands after it
    definite_article: bool = False  # "the opacity"


def find_items(tokens: list[Token], first: int, last: int, lexicon: Lexicon) -> list[Item]:
    """Cuts tokens `[first, last)` into items, the longest known phrase first."""
    items: list[Item] = []
    trie = lexicon.trie
    i = first
    while i < last:
        word = tokens[i].word
        end, senses = _longest(tokens, i, last, lexicon) if word in trie else (i + 1, None)
        if senses is None:
            if word[0].isdigit():
                length = measure(tokens, i, last, lexicon) or earlier(tokens, i, items, lexicon)
                end, senses = (length[0], {"measure": length[1]}) if length else ratio(tokens, i, last, items, lexicon)
            elif word in lexicon.small.bare:
                senses = {"structure": _BARE}
            items.append(Item(i, end, senses or {}, word))
        elif "parts" in senses:
            items.extend(_part(i, end, word, part, lexicon) for part in senses["parts"])
            end = _goes_on(tokens, end, last, items[-1], senses["parts"][-1], lexicon)
        else:
            if ("zone" in senses or "listed" in senses) and _is_plural(tokens[end - 1]):
                senses = {**senses, "several": True}  # "the lung bases" are both
            if "change" in senses and end - i > 1 and "quality" not in senses:
                senses = _with_quality(senses, tokens[end - 1], lexicon)
            items.append(Item(i, end, senses, word))
        i = end
    share_nouns(items, tokens, lexicon)
    part_rows(items)
    items = resolve_places(number_bones(weigh(items, lexicon), tokens, lexicon), tokens, lexicon)
    return judge(items, lexicon) if lexicon.diameters else items


def _with_quality(senses: Senses, last: Token, lexicon: Lexicon) -> Senses:
    """Returns a change with the quality that its last word has by itself: the heart "has become LARGER"."""
    own = lexicon.trie.get(last.word, {}).get("", {})
    return (
        {**senses, "quality": own["quality"]} if own.get("change") == senses["change"] and "quality" in own else senses
    )


def _is_plural(token: Token) -> bool:
    return token.end - token.start > len(token.word)


def _longest(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> tuple[int, Senses | None]:
    """Returns where the longest phrase that starts at `i` ends, and its senses; None if none does.

    Inside a phrase an adverb may be passed over: "cannot be RELIABLY excluded".
    """
    node, adverbs, carrying = lexicon.trie[tokens[i].word], lexicon.small.adverbs, lexicon.small.carrying
    end, senses, j = i + 1, node.get(""), i + 1
    if senses is not None and len(node) == 1:
        return end, senses
    last = min(last, i + _LONGEST_PHRASE)
    skipped: list[tuple[Trie, int]] = []
    while True:
        while j < last:
            word = tokens[j].word
            j += 1
            if word in adverbs:
                skipped.append((node, j))
            if word not in node:
                if word not in carrying:
                    break
                j = _carried(tokens, j, last, node, lexicon)
                word = _INTO.get(tokens[j - 1].word, tokens[j - 1].word)
                if word not in node:
                    break
            node = node[word]
            if "" in node and j > end:
                end, senses = j, node[""]
        if not skipped:
            return end, senses
        node, j = skipped.pop()


def _carried(tokens: list[Token], j: int, last: int, node: Trie, lexicon: Lexicon) -> int:
    """Returns the index behind the preposition that verbs lead to inside a name: "gas IS SEEN UNDER the diaphragm"."""
    for k in range(j, min(last, j + _VERBS)):
        word = tokens[k].word
        if word not in lexicon.small.carrying:
            return k + 1 if word in _PREPOSITIONS else j
    return j


def _part(i: int, end: int, word: str, part: str, lexicon: Lexicon) -> Item:
    """Returns the item for one part of a compound such as RLL or "upper and lower lobe"."""
    node = lexicon.trie
    for piece in part.split():
        node = node[piece]
    return Item(i, end, node[""], word)


def _goes_on(tokens: list[Token], end: int, last: int, item: Item, part: str, lexicon: Lexicon) -> int:
    """Lets a compound's last part begin a longer phrase, "RIJ LINE"; returns where that phrase ends."""
    node = lexicon.trie
    for piece in part.split():
        node = node[piece]
    for j in range(end, min(last, end + _LONGEST_PHRASE)):
        if tokens[j].word not in node:
            break
        node = node[tokens[j].word]
        if "" in node:
            item.last, item.senses = j + 1, node[""]
    return item.last


def find_mentions(items: list[Item], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions of a sentence in the order in which their assertion is read."""
    used: set[int] = set()
    mentions: list[Mention] = []
    previous = -1
    for q, item in enumerate(items):
        senses = item.senses
        if not senses:
            continue
        if "quality" in senses:
            composed = _compose(items, q, previous, lexicon, used)
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
        if "concept" in item.senses and i not in used:
            mentions.append(Mention(item.senses["concept"], i, i + 1, i, (item.first, item.last)))
        elif "lone" in item.senses and _stands_alone(items, i, lexicon):
            mentions.append(Mention(item.senses["lone"], i, i + 1, i, (item.first, item.last)))
        elif "listed" in item.senses and _is_seen(items, i) and not _is_said_of(items, i, mentions):
            mentions.append(Mention(item.senses["listed"], i, i + 1, i, (item.first, item.last)))
    for fault in tuple(mentions):
        mentions.extend(_whole(fault, items, lexicon))
    if len(mentions) > 1:
        mentions.sort(key=lambda m: (m.at, m.first))
    return mentions[1:] if _is_topic(items, mentions, lexicon) else mentions


def _stands_alone(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether the shorthand at `i` is all that is named: "RIJ in the SVC", but "tip in the RIJ", "RIJ PICC"."""
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
    """Tells whether a structure that is only seen where it is abnormal is: "nodes", "a node of 2 cm", "a new node"."""
    around = items[max(0, i - 3) : i + 4]
    return "several" in items[i].senses or any(
        "measure" in item.senses or item.senses.get("change") == "new" for item in around
    )


def _is_said_of(items: list[Item], i: int, mentions: list[Mention]) -> bool:
    """Tells whether a mention holds the structure at `i`, or is said of it: "eggshell calcification OF the nodes"."""
    before = i
    while before and items[before - 1].senses and items[before - 1].senses.keys() <= _LEADING:
        before -= 1
    return any(m.first <= i < m.last or m.first < before == m.last for m in mentions)


def _whole(fault: Mention, items: list[Item], lexicon: Lexicon) -> list[Mention]:
    """Returns the device that a composed mention says a fault of: there even where the fault is denied."""
    if fault.denies or fault.last - fault.first < 2 or not lexicon.concepts[fault.concept].is_device:
        return []
    return [
        Mention(item.senses["concept"], i, i + 1, i, (item.first, item.last), whole_of=fault)
        for i, item in ((i, items[i]) for i in (fault.first, fault.last - 1))
        if i != fault.at and item.senses.get("concept") in lexicon.concepts[fault.concept].ancestors
    ]


def _is_topic(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> bool:
    """Tells whether the first mention only announces the others: "Lines and tubes: right PICC in the SVC."."""
    if len(mentions) < 2 or mentions[0].denies or mentions[0].first:
        return False
    after = mentions[0].last
    if after >= len(items) or items[after].word != ":":
        return False
    topic = mentions[0].concept
    return any(not m.denies and topic in (m.concept, *lexicon.concepts[m.concept].ancestors) for m in mentions[1:])


def _compose(items: list[Item], q: int, floor: int, lexicon: Lexicon, used: set[int]) -> list[Mention]:
    """Pairs the quality at `q` with the structures it is said of; `floor` is the item the search may not pass."""
    qualities = items[q].senses["quality"]
    if "measured" in items[q].senses:
        partners = [items[q].senses["measured"]]
    elif items[q].word in lexicon.small.leading:  # "nodes OF NORMAL SIZE in the mediastinum"
        partners = _backward(items, q, qualities, floor, lexicon) or _forward(items, q, qualities, lexicon)
    elif items[q].word in lexicon.small.verbs:  # "has increased" has its subject before it
        partners = _backward(items, q, qualities, floor, lexicon)
    elif _is_predicate(items, q, lexicon):
        partners = _backward(items, q, qualities, floor, lexicon) or _forward(items, q, qualities, lexicon)
    else:
        partners = _forward(items, q, qualities, lexicon)
        if not partners and ("normal" in qualities or not _attributive(items, q)):
            partners = _backward(items, q, qualities, floor, lexicon)
    mentions: list[Mention] = []
    partners = [
        s
        for s in partners
        if items[s].senses.get("structure") != _BARE or not _is_named_before(items, s, qualities, lexicon)
    ]
    nearly = "upper_normal" in qualities
    for s in partners:
        concept, denies = _meaning(items[s], qualities, lexicon)
        own = items[q].senses.get("concept")
        if own and concept in lexicon.concepts[own].ancestors:
            concept = own  # "disc disease" says more than that a bone is degenerative
        device = concept is not None and lexicon.concepts[concept].is_device
        lo, hi = min(s, q), max(s, q) + 1
        if concept and mentions and concept == mentions[-1].concept and "zone" in items[s].senses:
            lo, hi = min(lo, mentions[-1].first), max(hi, mentions.pop().last)  # "the left lower and right upper lobes"
        mentions.append(Mention(concept or "", lo, hi, q, (items[lo].first, items[hi - 1].last), denies, nearly))
        more = concept and items[s].senses.get("concept") in lexicon.concepts[concept].ancestors
        if concept and (device or more or "holds" not in items[s].senses):
            used.add(s)  # "cavitating pulmonary mass" says more than "pulmonary mass"
    return mentions


def _is_named_before(items: list[Item], s: int, qualities: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Tells whether the bare tube at `s` is a device named before it: "a tracheostomy, THE TUBE above the carina"."""
    meant, _ = _meaning(items[s], qualities, lexicon)
    named = [lexicon.concepts[item.senses["concept"]] for item in items[:s] if "concept" in item.senses]
    return meant is not None and any(each.expected_tip & lexicon.concepts[meant].expected_tip for each in named)


def _is_predicate(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Tells whether a verb stands before the quality: "the heart is mildly ENLARGED"."""
    for item in reversed(items[max(0, q - 4) : q]):
        if item.word == "with":
            return False  # "the heart is stable WITH ectasia of the aorta"
        if "item_break" in item.senses:
            return True
        if item.word in lexicon.small.joints or item.senses.keys() & {"structure", "concept"}:
            return False
        if "quality" in item.senses and "severity" not in item.senses:
            return False
    return False


def _attributive(items: list[Item], q: int) -> bool:
    """Tells whether the quality only describes the finding right after it ("Heart: LARGE pericardial effusion")."""
    for item in items[q + 1 : q + 4]:
        if "concept" in item.senses:
            return "quality" not in item.senses
        if not item.senses or not item.senses.keys() <= _ATTRIBUTES:
            return False
    return False


def _meaning(item: Item, qualities: tuple[str, ...], lexicon: Lexicon) -> tuple[str | None, tuple[str, ...]]:
    """Returns the finding a structure with a quality makes, or what it denies if it is normal."""
    for structure in (*item.senses.get("structure", ()), *item.senses.get("holds", ())):
        for quality in qualities:
            concept = lexicon.findings_of.get((structure, quality))
            if concept:
                return concept, ()
            denies = lexicon.denials.get((structure, quality))
            if denies:
                return None, denies
    return None, ()


def _fits(item: Item, qualities: tuple[str, ...], lexicon: Lexicon) -> bool:
    if "structure" not in item.senses and "holds" not in item.senses:
        return False
    concept, denies = _meaning(item, qualities, lexicon)
    return bool(concept or denies)


def _is_fault(item: Item, qualities: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Tells whether a device is said to be at fault: "fractured ribs, port unchanged" breaks no port."""
    concept, _ = _meaning(item, qualities, lexicon)
    return item.senses.get("concept") is not None and concept is not None and lexicon.concepts[concept].is_device


def _forward(items: list[Item], q: int, qualities: tuple[str, ...], lexicon: Lexicon) -> list[int]:
    """Structures after a quality: "enlarged heart", "normal heart and hila", "elevation of the diaphragm"."""
    structures: list[int] = []
    joint = True
    of = parted = False
    for s in range(q + 1, min(len(items), q + 14)):
        item = items[s]
        parted = parted or item.word in lexicon.small.joints
        fits = _fits(item, qualities, lexicon) and not (parted and _is_fault(item, qualities, lexicon))
        if fits and joint and not _adjunct(items, s):
            structures.append(s)
            joint = False
        elif structures and "change" in item.senses and (joint or _is_subject(items, structures[-1], s, lexicon)):
            structures = structures if joint else _drop_last_group(items, structures)
            break  # "enlargement of the heart, STABLE mediastinal contours", "..., mediastinal contours APPEAR SIMILAR"
        elif item.word in lexicon.small.joints:
            beside = s == q + 1 or (item.word == "," and not of)
            goes_on = "normal" not in qualities and (_next_is_quality(items, s) or _only_places(items, s))
            if not structures and beside and not goes_on:
                break
            joint = True
        elif (
            "item_break" in item.senses and item.word != "with" and not structures and _place_follows(items, s, lexicon)
        ):
            of = joint = True
        elif item.word == ";" or not _GOING_ON.isdisjoint(item.senses):
            if structures and "item_break" in item.senses and _predicate_follows(items, s):
                structures = _drop_last_group(items, structures)
            break
        elif "concept" in item.senses and "structure" not in item.senses and "quality" not in item.senses:
            break
        elif "concept" in item.senses and "severity" in items[q].senses and not structures:
            break  # "a LARGE cyst in the liver"
        elif item.word in lexicon.small.places:
            of = True
            joint = joint or not structures
        elif "quality" in item.senses and structures and not (item.senses.keys() & {"severity", "zone"}):
            structures = _drop_last_group(items, structures) if not of else structures
            break
    return structures


def _adjunct(items: list[Item], s: int) -> bool:
    """Tells whether a structure only describes the finding after it ("lung nodule", "lower lobe 5 mm granuloma")."""
    if "concept" in items[s].senses:
        return False
    for item in items[s + 1 : s + 4]:
        if "concept" in item.senses:
            return True
        if not (item.senses.keys() & {"measure", "severity", "morphology", "side", "zone"}):
            return False
    return False


def _place_follows(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether the verb at `i` leads to a place ("changes are present in the spine")."""
    return any(item.word in lexicon.small.places for item in items[i + 1 : i + 5])


def _next_is_quality(items: list[Item], i: int) -> bool:
    """Tells whether a joint links two qualities of one structure ("tortuous and calcified aorta")."""
    for item in items[i + 1 : i + 4]:
        if "quality" in item.senses or "holds" in item.senses:
            return True
        if item.senses and not (item.senses.keys() & _TRANSPARENT):
            return False
    return False


def _only_places(items: list[Item], i: int) -> bool:
    """Tells whether nothing but a place stands behind the comma at `i`: "Old fracture, left clavicle."."""
    behind = items[i + 1 : i + 10]
    plain = len(items) < i + 10 and all(
        item.senses.keys() <= _PLACES or item.senses.keys() & {"structure"} for item in behind
    )
    return items[i].word == "," and plain and not any("concept" in item.senses for item in behind)


def _predicate_follows(items: list[Item], i: int) -> bool:
    """Tells whether a verb at `i` is followed by a quality: then the structure before it is its subject."""
    return any(item.senses.keys() & {"quality", "change"} for item in items[i + 1 : i + 5])


def _is_subject(items: list[Item], s: int, i: int, lexicon: Lexicon) -> bool:
    """Tells whether the verb of change at `i` is said of the structure at `s` alone, which follows a comma."""
    return items[i].word in lexicon.small.verbs and items[s - 1].word == ","


def _drop_last_group(items: list[Item], structures: list[int]) -> list[int]:
    """Drops the last structure, which turned out to be the subject of the next statement, if it is not the only one."""
    return structures[:-1] if len(structures) > 1 else structures


def _backward(items: list[Item], q: int, qualities: tuple[str, ...], floor: int, lexicon: Lexicon) -> list[int]:
    """Structures before a quality: "the heart is enlarged", "heart size, mediastinum and hila are normal"."""
    structures: list[int] = []
    gap_has_joint = False
    for s in range(q - 1, max(-1, q - 40), -1):
        item = items[s]
        if s == floor:
            both = "holds" in item.senses or (
                "concept" in item.senses and lexicon.concepts[item.senses["concept"]].is_device
            )
            if both and not structures and _fits(item, qualities, lexicon):
                structures.append(s)  # "tortuous aorta with calcification", "the shunt tubing is interrupted"
            if structures or "quality" not in item.senses:
                break
            floor = -2  # a second quality of the same structure: "the aorta is tortuous and calcified"
            continue
        if _fits(item, qualities, lexicon):
            if not structures or gap_has_joint:
                structures.append(s)
            gap_has_joint = False
        elif item.word in lexicon.small.joints:
            gap_has_joint = True
        elif item.word in lexicon.small.contrasts and not structures and not gap_has_joint:
            continue  # "the heart is obscured but appears enlarged"
        elif (
            "clause_end" in item.senses
            or (structures and ("item_break" in item.senses or item.word == ":"))
            or ("concept" in item.senses and "structure" not in item.senses and not structures)
        ):
            break
    return structures
