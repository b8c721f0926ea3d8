"""Gives every mention the words that describe it.

The words between two mentions belong to the later one if they stand directly before it ("small right effusion"),
otherwise to the earlier one ("opacity in the right base"). A place said once for a list holds for the whole list.
"""

from __future__ import annotations

from itertools import pairwise

from rrgmetrics.reading.boundaries import INCLUDING
from rrgmetrics.reading.ellipsis import is_joint
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.nesting import is_known, own_items

_CUES = frozenset(
    {
        "clause_end",
        "versus",
        "item_break",
        "probable_before",
        "possible_before",
        "negation_before",
        "resolved_before",
        "evidenced_by",
        "negation_after",
        "probable_after",
        "preferred_to",
    }
)
_DESCRIBING = frozenset(
    {
        "side",
        "zone",
        "severity",
        "measure",
        "count",
        "acuity",
        "change",
        "morphology",
        "tip",
        "route",
        "position",
        "asymmetry",
        "level",
    }
)
_PLACE = frozenset({"side", "zone", "structure", "location_preposition"})
_WHERE = _PLACE - {"location_preposition"}
_WITH = frozenset({"without", "with"})
_ENDS = frozenset({";", "and", "but", "while"})  # of what is denied with a normal structure
_OPENING = frozenset({":", "("})  # marks before a part without a name
_LARGEST = frozenset({"largest", "biggest", "dominant"})
_OWNING = frozenset({"its", "their"})
_REACH = 16  # tokens
_DATED = 2  # items from "previously" to a size: "previously measured 5 cm"
_DEPTH = 4  # items from a device to the word that judges its depth
_SIZE = frozenset({"measure", "before"})
_SIZING = frozenset({"measure"})  # the finite verb: "measures"; a participle is of the noun beside it
_SEEN = frozenset({"noted", "seen", "present", "is", "are"})  # between a finding and "with"


def attach_words(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Gives each mention the items that describe it (`mention.modifiers`), in place."""
    small = lexicon.small
    groups = _by_position(mentions)
    for k, group in enumerate(groups):
        before = groups[k - 1] if k else None
        lo = before[0].last if before else 0
        split = _split(items, lo, group[0], small) if before else _after_with(items, group[0].first, small)
        post = _without_largest(items[lo:split], before, mentions, lexicon) if before else []
        pre = items[split : group[0].first]
        for mention in before or ():
            mention.modifiers.extend(post)
            mention.post_place = _has_place(post)
            if _lies_in(items[lo : group[0].first], group[0], items, small):
                mention.modifiers.append(items[group[0].first])
        for mention in group:
            mention.modifiers.extend(own_items(items, mention, group, pre, small))
            own = items[mention.first : mention.last] if mention.first + 1 < mention.last else []
            mention.pre_place = mention.elided is not None or _has_place([*pre, *own])
            mention.post_place = False
            says_where = _starts_with_place(items, mention)
            articles = [item.word for item in pre[-3:]]
            of_device = not mention.denies and lexicon.concepts[mention.concept].is_device
            known_by = small.definite | _OWNING if of_device else small.definite  # "a pacemaker; ITS generator"
            mention.definite_article = not says_where and not known_by.isdisjoint(articles)
            known = is_known(pre)
            if known and mention.assertion == "absent" and not (mention.denies or mention.change):
                mention.change = "resolved"  # "I cannot see the PREVIOUSLY reported nodule"
        if k == len(groups) - 1:
            tail = _without_largest(items[group[0].last :], group, mentions, lexicon)
            if before:
                between = items[before[0].last : group[0].first]
                tail = _without_last_degree(tail, before, between)
                tail = _without_size_of_subject(tail, before, between, small)
            for mention in group:
                sized = any("measure" in item.senses for item in items[mention.last : group[0].last])
                # "pericardium thickened TO 5 MM with an effusion of 16 mm"
                mention.modifiers.extend(item for item in tail if not (sized and "measure" in item.senses))
                mention.post_place = _has_place(tail)
                mention.definite_article = mention.definite_article or _at_that_place(tail, small)


def _without_largest(tail: list[Item], group: list[Mention], mentions: list[Mention], lexicon: Lexicon) -> list[Item]:
    """Gives lesions the words of their largest, and returns the others: "NODULES with edema, THE LARGEST 9 mm"."""
    at = next((i for i in range(1, len(tail)) if tail[i].word in _LARGEST and tail[i - 1].word == "the"), None)
    lesions = [mention for mention in mentions if mention.concept in lexicon.roles["one_by_one"] and not mention.denies]
    if at is None or not lesions or any(mention in lesions for mention in group):
        return tail
    lesions[0].modifiers.extend(tail[at:])
    return tail[: at - 1]


def _without_last_degree(tail: list[Item], before: list[Mention], between: list[Item]) -> list[Item]:
    """Gives a degree at the end to the finding before "with", and returns the others: "EMPHYSEMA with bullae, MILD"."""
    ends = len(tail) > 1 and tail[-2].word == "," and "severity" in tail[-1].senses
    graded = any("severity" in item.senses for mention in before for item in mention.modifiers)
    if not ends or graded or not any(item.word == "with" for item in between):
        return tail
    for mention in before:
        mention.modifiers.append(tail[-1])
    return tail[:-1]


def _without_size_of_subject(
    tail: list[Item], before: list[Mention], between: list[Item], small: SmallWords
) -> list[Item]:
    """Gives a size to the subject of its verb, returns the other words: "the MASS with atelectasis MEASURES 4 cm"."""
    verb = next((i for i, item in enumerate(tail) if item.word in small.verbs | _SIZING), len(tail))
    sized = any("measure" in item.senses for mention in before for item in mention.modifiers)
    apart = any(item.word in small.separators or "clause_end" in item.senses for item in tail[: verb + 1])
    if sized or apart or not any(item.word == "with" for item in between):
        return tail
    if any("clause_end" in item.senses or "item_break" in item.senses for item in between if item.word != "with"):
        return tail
    if all(_SIZE.isdisjoint(item.senses) for item in tail[verb:]):
        return tail
    for mention in before:
        mention.modifiers.extend(tail[verb:])
    return tail[:verb]


def return_earlier_sizes(mentions: list[Mention], small: SmallWords) -> None:
    """Gives an earlier size back to the finding that has a size, in place: "8 CM with thrombus, PREVIOUSLY 6 CM"."""
    dating = small.earlier - small.verbs
    for one, other in pairwise(mentions):
        words = other.modifiers
        sized = [i for i, item in enumerate(words) if "measure" in item.senses]
        dated = next((i for i, item in enumerate(words) if item.word in dating), len(words))
        if one.concept != other.concept and len(sized) == 1 and 0 < sized[0] - dated <= _DATED:
            one.modifiers.extend(words[dated : sized[0] + 1])
            del words[dated : sized[0] + 1]


def add_topic(mentions: list[Mention], topic: Item | None) -> None:
    """Gives each mention without a side that of the statement, and the extent of its words, in place."""
    for mention in mentions:
        if topic is not None and not _has_place_of(mention, "side"):
            mention.modifiers.append(topic)
        mention.extent = _extent(mention)


def _at_that_place(items: list[Item], small: SmallWords) -> bool:
    """Whether a finding lies where another does: "some haziness remains AT THAT SITE"."""
    return any(b.word in small.sites and (a.word in small.definite or a.word == "same") for a, b in pairwise(items))


def deny_positions(items: list[Item]) -> None:
    """Marks what is denied of a device's position: "without kinking or migration", in place."""
    denied = 0  # items that a negation still reaches over
    for i, item in enumerate(items):
        if "negation_before" in item.senses or item.word == "not":
            denied = 4
        elif denied and "position" in item.senses:
            items[i] = item.saying({**item.senses, "denied": True})
            denied = 4
        elif item.word in (",", ";") or _says_more(items, i):
            denied = 0
        else:
            denied = max(0, denied - 1)


def _says_more(items: list[Item], i: int) -> bool:
    """Whether an item ends what is denied: none of "EVIDENCE OF coiling", "no PNEUMOTHORAX OR malposition"."""
    listed = "concept" in items[i].senses and any(item.word in ("or", "nor") for item in items[i + 1 : i + 2])
    return not listed and items[i].word not in ("or", "nor") and bool(items[i].senses.keys() - {"location_preposition"})


def find_topic(items: list[Item], mentions: list[Mention]) -> Item | None:
    """Returns the side that a sentence is about: "RIGHT: small effusion, atelectasis", "Left lung: ..."."""
    first = min((mention.at for mention in mentions), default=0)
    colon = next((i for i in range(min(first, _DEPTH)) if items[i].word == ":"), 0)
    sides = [item for item in items[:colon] if item.senses.get("side") in ("left", "right")]
    return sides[0] if len(sides) == 1 else None


def _has_place_of(mention: Mention, kind: str) -> bool:
    return any(kind in part for item in mention.modifiers for part in (item.senses, *item.senses.get("inside", ())))


def judge_depths(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Marks a device whose depth is called wrong, in place: "the ETT is LOW", "NG tube too high"."""
    for mention in mentions:
        if mention.concept in lexicon.roles["tipped"]:
            for i in range(mention.last, min(len(items), mention.last + _DEPTH)):
                known = items[i].senses.keys() <= {"quality", "item_break", "severity", "location_preposition"}
                if items[i].word in lexicon.small.astray and known and _ends(items, i, lexicon):
                    items[i] = items[i].saying({"position": "bad"})
                if not known or items[i].word in lexicon.small.separators:
                    break


def _ends(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    return i + 1 == len(items) or items[i + 1].word in lexicon.small.closing


def _extent(mention: Mention) -> tuple[int, int]:
    """Returns the tokens from the first to the last word that describes a mention, none far from it."""
    first, last = mention.tokens
    for item in mention.modifiers:
        if _DESCRIBING.isdisjoint(item.senses):
            continue
        if mention.tokens[0] - _REACH < item.first < mention.tokens[1] + _REACH:
            first, last = min(first, item.first), max(last, item.last)
    return first, last


def _in_order(mentions: list[Mention]) -> list[Mention]:
    return sorted(mentions, key=lambda m: (m.first, m.last)) if len(mentions) > 1 else mentions


def _by_position(mentions: list[Mention]) -> list[list[Mention]]:
    """Groups mentions that overlap (one quality said of two structures)."""
    groups: list[list[Mention]] = []
    for mention in _in_order(mentions):
        if groups and mention.first < max(m.last for m in groups[-1]):
            groups[-1].append(mention)
        else:
            groups.append([mention])
    for group in groups:
        group.sort(key=lambda m: -m.last)
    return groups


def _split(items: list[Item], lo: int, later: Mention, small: SmallWords) -> int:
    """Returns where the words of the later mention begin, from item `lo` on."""
    hi = later.first
    if later.elided:
        joints = (i for i in range(hi - 1, lo - 1, -1) if items[i].word in _OPENING or is_joint(items[i], small))
        return next(joints, lo - 1) + 1
    stop = next((i for i in range(hi - 1, lo - 1, -1) if items[i].word == ";"), None)
    if stop is not None:
        return stop + 1
    predicate = any("item_break" in item.senses for item in items[lo : hi - 2])
    if predicate and items[hi - 1].word == "and" and "severity" in items[hi - 2].senses:
        return hi  # "the effusion is LARGE and displaces the heart"
    colon = next((i for i in range(lo, hi) if items[i].word == ":"), lo)
    comma = next((i for i in range(lo, colon) if items[i].word in small.separators), colon)
    if colon > lo and all(_WHERE.isdisjoint(item.senses) for item in items[comma:colon]):
        return colon + 1  # "the mediastinum is shifted to the left: mucus plug", "nodule, 8 MM: granuloma"
    strong = next(
        (
            i
            for i in range(hi - 1, lo - 1, -1)
            if items[i].word in small.strong_separators or _is_cue(items[i], small) or _is_cause(items, i, hi, small)
        ),
        None,
    )
    if strong is not None and not any(item.word in small.placing for item in items[strong + 1 : hi]):
        return strong + 1
    for i in range(hi - 1, lo - 1, -1):
        item = items[i]
        if item.word in small.separators or _is_cue(item, small):
            return i + 1
    return hi if any(item.word in small.placing for item in items[lo:hi]) else lo


def _is_cue(item: Item, small: SmallWords) -> bool:
    return not _CUES.isdisjoint(item.senses) and item.word not in small.showing


def _is_cause(items: list[Item], i: int, hi: int, small: SmallWords) -> bool:
    """Whether a cause with a side of its own follows: "shift to the right FROM a left effusion"."""
    return items[i].word in small.causing and any("side" in item.senses for item in items[i + 1 : hi])


def _after_with(items: list[Item], hi: int, small: SmallWords) -> int:
    """Returns where the words of the first mention begin: after "with", if what it joins has no place of its own.

    After a comma, if each side of it names a side: "sutures on the right, small left effusion". "The left hemithorax
    is FILLED with fluid" tells where the fluid is.
    """
    sided = False
    for i in range(hi - 1, -1, -1):
        if items[i].word == ";":
            return i + 1
        sided = sided or "side" in items[i].senses
        if items[i].word in small.placing:
            return 0
        if items[i].word == "with" and not (i and items[i - 1].word in small.filling) and not _is_bare_place(items[:i]):
            return i + 1
    return 0


def _is_bare_place(items: list[Item]) -> bool:
    """Whether a sentence opens with nothing but a place: "LEFT BASE with atelectasis"."""
    places = all(item.senses and item.senses.keys() <= _PLACE for item in items)
    return places and any(item.senses.keys() & {"zone", "structure"} for item in items)


def _starts_with_place(items: list[Item], mention: Mention) -> bool:
    """Whether a statement begins with a place: in "the left base is dense" the article is that of the base."""
    senses = items[mention.first].senses
    if mention.at > mention.first:
        return "structure" in senses
    return any("zone" in part for part in senses.get("inside", ()))


def _lies_in(between: list[Item], later: Mention, items: list[Item], small: SmallWords) -> bool:
    """Whether a finding is in what the next one describes: "a wedge fracture OF T9 with loss of height"."""
    leads = bool(between) and all(item.word in small.places | small.definite for item in between)
    return leads and _starts_with_place(items, later)


def _has_place(items: list[Item]) -> bool:
    return True in ["side" in item.senses or "zone" in item.senses for item in items]


def _gives_place_on(items: list[Item], earlier: Mention, later: Mention) -> bool:
    """Whether what follows "with" has the place before it: "consolidation AT THE BASE with cavities"."""
    joined = earlier.post_place and any(item.word == "with" for item in items[earlier.last : later.first])
    return joined and not any("zone" in part for part in items[later.first].senses.get("inside", ()))


def share_places(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Lets a place said once hold for all findings of a list, a place after the list first."""
    groups = _by_position(mentions)
    pairs = [(a[0], b[0]) for a, b in pairwise(groups) if _listed(items, a[0], b[0], lexicon)]
    for earlier, later in reversed(pairs):
        sided = any("side" in item.senses and item.first >= later.tokens[0] for item in later.modifiers)
        placed = earlier.pre_place and (sided or not _has_heading_alone(items, earlier))
        placed = placed or items[later.first].word in lexicon.small.associated  # "COMPRESSIVE atelectasis at the base"
        if later.post_place and not (placed or earlier.post_place):
            _lend_place(later, earlier, lexicon)
            earlier.post_place = True
    # the second of "large right and SMALL LEFT effusions" has no side to give away
    second = {id(b[0]) for a, b in pairwise(groups) if a[0].concept == b[0].concept}
    for earlier, later in pairs:
        gives = earlier.pre_place or _gives_place_on(items, earlier, later)
        if gives and id(earlier) not in second and not (later.pre_place or later.post_place):
            _lend_place(earlier, later, lexicon)
            later.pre_place = True


def _has_heading_alone(items: list[Item], mention: Mention) -> bool:
    """Whether the one place before a finding is a heading without a zone: "RIGHT LUNG: fibrosis and ..."."""
    colon = next((i for i in range(min(mention.first, _DEPTH)) if items[i].word == ":"), None)
    if colon is None or mention.elided is not None or any("zone" in item.senses for item in items[:colon]):
        return False
    return not _has_place(items[colon : mention.last])


def give_side_of_normal(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Gives the side of a normal structure to what is denied with it, and to what it excepts.

    "The RIGHT lung is clear WITHOUT effusion", "... APART FROM atelectasis at the base".
    """
    side: list[Item] = []
    end = 0
    for mention in _in_order(mentions):
        own = [item for item in mention.modifiers if item.senses.get("side") in ("left", "right")]
        words = {item.word for item in items[end : mention.first]}
        excepted = not lexicon.small.excepting.isdisjoint(words)
        if mention.denies or (own and items[mention.first].word == "lung"):  # "THE RIGHT LUNG is large without opacity"
            side, end = own, mention.last
        elif not side or not (excepted or mention.assertion == "absent") or not _ENDS.isdisjoint(words):
            side = []
        elif not own if excepted else not (_WITH.isdisjoint(words) or _has_place(mention.modifiers)):
            mention.modifiers.extend(side)


def give_place_of_change(items: list[Item], mentions: list[Mention]) -> None:
    """Gives the first finding the place that has changed: "better aeration OF THE LEFT BASE with residual opacity"."""
    first = _in_order(mentions)[0]
    joint = next((i for i in range(first.first - 1, -1, -1) if items[i].word == "with"), 0)
    ahead = items[:joint]
    if not all(any(kind in item.senses for item in ahead) for kind in ("change", "side")):
        return
    if first.denies or first.assertion == "absent" or _has_place_of(first, "side"):
        return
    kinds = {"side"} if _has_place_of(first, "zone") else {"side", "zone"}
    places = [item for item in ahead if not kinds.isdisjoint(item.senses)]
    first.modifiers.extend(places)
    first.pre_place = True


def _lend_place(giver: Mention, taker: Mention, lexicon: Lexicon) -> None:
    """Gives a place to a finding that has none; what lies in the lingula has its side."""
    if not any("zone" in item.senses and lexicon.zones[item.senses["zone"]].side for item in taker.modifiers):
        taker.modifiers.extend(i for i in giver.modifiers if "side" in i.senses or "zone" in i.senses)


def _listed(items: list[Item], earlier: Mention, later: Mention, lexicon: Lexicon) -> bool:
    """Whether two mentions are in one list, or the later explains the earlier."""
    between = items[earlier.last : later.first]
    if {earlier.concept, later.concept} <= lexicon.roles["directed"]:
        return all(item.word in lexicon.small.joints for item in between)  # "shift of the heart AND trachea"
    sign = not later.denies and earlier.concept in lexicon.concepts[later.concept].sign_of
    described = items[earlier.last : later.first + 1]  # "with ADJACENT atelectasis", "with COMPRESSIVE atelectasis"
    beside = any(item.word in lexicon.small.associated for item in described)
    loose = not all(_lung_like(mention, lexicon, pleura=beside) for mention in (earlier, later))
    if not lexicon.roles["directed"].isdisjoint((earlier.concept, later.concept)) or (loose and not sign):
        return False  # "fluid in the left pleural cavity, pushing the trachea TO THE RIGHT"
    if later.link is earlier or items[later.first].first == items[earlier.first].first:
        return True  # "FIBROCAVITARY": one word names both
    if any(i.word == ";" or "negation_after" in i.senses for i in between):
        return False  # "consolidation: none; atelectasis: left base"
    one = {earlier.concept, later.concept} <= lexicon.roles["picture"] - lexicon.roles["diffuse"]
    one = one and not any(item.word in (",", ":") for item in between)
    if (sign or beside or one) and sum(i.word == "with" for i in between) == 1:
        # "consolidation is seen with air bronchograms in the lower lobe"
        between = [i for i in between if i.word != "with" and i.word not in _SEEN]
        sign = sign or one
    if any(i.word == "with" or i.senses.keys() & {"clause_end", "negation_before", "item_break"} for i in between):
        return False
    return sign or beside or any(i.word in lexicon.small.separators or "versus" in i.senses for i in between)


def _lung_like(mention: Mention, lexicon: Lexicon, *, pleura: bool) -> bool:
    groups = lexicon.groups["one_place"] | (lexicon.groups["one_each"] if pleura else frozenset())
    return not mention.denies and lexicon.concepts[mention.concept].group in groups


def share_device_words(mentions: list[Mention], lexicon: Lexicon) -> None:
    """Hands tip, route and position words found beside another finding to the device before them."""
    device: Mention | None = None
    for mention in _in_order(mentions):
        if not mention.denies and lexicon.concepts[mention.concept].is_device:
            device = mention
        elif device is not None:
            device.modifiers.extend(
                i for i in mention.modifiers if i.senses.keys() & {"tip", "position"} and i.first > device.tokens[0]
            )


def give_to_whole(mentions: list[Mention]) -> None:
    """Gives a device what is said before its fault is denied: "the LEADS are unchanged, and neither is fractured"."""
    for whole in mentions:
        fault = whole.whole_of
        if fault is None or whole.dropped or fault.assertion != "absent":
            continue
        said = [i for i in fault.modifiers if i.senses.keys() & {"tip", "position"}]
        fault.modifiers = [i for i in fault.modifiers if i not in said]
        whole.modifiers.extend(i for i in said if i not in whole.modifiers)
        if fault.course == "stable":
            whole.course, fault.course = whole.course or fault.course, None


def share_verdict(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Lets what is said behind a list of devices hold for all of them: "UAC and UVC are in good position"."""
    for earlier, later in reversed(list(pairwise(_in_order(mentions)))):
        between = items[earlier.last : later.first]
        devices = not any(m.denies or not lexicon.concepts[m.concept].is_device for m in (earlier, later))
        if devices and between and all(item.word in lexicon.small.joints for item in between):
            last = later.tokens[1]
            said = (i for i in later.modifiers if i.senses.keys() & {"position", "change"} and i.first >= last)
            earlier.modifiers.extend(said)


def share_with_included(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Gives devices behind "including" the verdict on all of them: "devices are UNCHANGED, INCLUDING the PICC"."""
    devices = [m for m in _in_order(mentions) if not m.denies and lexicon.concepts[m.concept].is_device]
    for whole in (mention for mention in devices if mention.concept in lexicon.roles["device_sum"]):
        at = next((i for i in range(whole.last, len(items)) if items[i].word in INCLUDING), len(items))
        included = [mention for mention in devices if mention.first > at]
        for each in included:
            _copy_verdict(whole, each)
        if included:
            _copy_verdict(included[-1], whole)


def _copy_verdict(one: Mention, other: Mention) -> None:
    """Gives a device the position and the change of another one where it has none of its own."""
    if not any("position" in item.senses for item in other.modifiers):
        other.modifiers.extend(item for item in one.modifiers if "position" in item.senses)
    other.course = other.course or one.course
