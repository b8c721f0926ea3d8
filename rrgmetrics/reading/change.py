"""Which finding a word of change is said of, and which words measure a change and no finding.

"Left fluid is increasing and collapse persists" says two things of two findings; "slight increase in the large
effusion" tells of no slight effusion; "opacities, worse on the right" compares two sides and no two dates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from rrgmetrics.reading.comparatives import (
    ADVERBS,
    CHEST,
    NEAR,
    PLAIN,
    TURNED,
    compares_dates,
    compares_no_dates,
    counts_another,
    denies_anything,
    leads_to_change,
    was_then,
)
from rrgmetrics.reading.dates import is_date
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.prior_values import is_fresh, is_growth, is_large
from rrgmetrics.reading.subjects import (
    LIKEWISE,
    Head,
    all_named,
    aside_before,
    beside_device,
    is_hardware,
    is_setting,
    likewise,
    of_one_picture,
    side_behind,
    subject,
)
from rrgmetrics.reading.verbs import HAS

_DESCRIBING = frozenset({"morphology", "position", "acuity"})
_ADJECTIVES = PLAIN - {"location_preposition"}
_NEW_SINCE = ("new", "since")
RECENT = frozenset({"since", "compared", "comparison", "when", "from"})
_IN = (["in"], ["within"])
_CONTINUED = frozenset({"continued", "continuing"})


def settle_changes(items: list[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Takes the change from words that compare two places, and severity and number from words that measure others.

    In place: an item with other senses takes the place of the one in the list.
    """
    named = {mention.at for mention in mentions}
    becoming = {m.at for m in mentions if not m.denies and not lexicon.concepts[m.concept].is_device}
    findings = {mention.last for mention in mentions if mention.last == mention.first + 1}
    for i, item in enumerate(items):
        senses = item.senses
        if not senses:
            step = _step(item.word, lexicon.small)
            if (
                step
                and _before_asymmetry(items, i) in findings
                and (i + 1 == len(items) or items[i + 1].word in lexicon.small.closing)
            ):
                items[i] = item.saying({"change": step})  # "right effusion UP"
            elif item.word in ("now", "become") and is_large(items[i + 1 : i + 2]):
                items[i] = item.saying({"change": "worse"})  # "the pneumothorax is NOW large"
            elif item.word == "now" and i + 2 < len(items) and _shows(items, i, lexicon):
                items[i] = item.saying({"change": "new"})  # "the base NOW shows atelectasis"
            elif item.word == "become" and i and items[i - 1].word in lexicon.small.changing:
                to = i + 1 + any("severity" in each.senses for each in items[i + 1 : i + 2])
                items[i] = item.saying({"change": "new"}) if to in becoming else item  # "has BECOME mildly enlarged"
            continue
        if i and _no_longer(items[i - 1]) and senses.keys() & {"severity", "morphology"}:
            items[i] = item.saying({})  # "no longer LARGE"
        elif "change" in senses and _is_neither(items, i):
            items[i] = item.saying({**senses, "change": "stable"})  # "has neither GROWN nor SHRUNK"
        elif senses.get("change") == "new" and item.word in lexicon.small.existing and _is_compared(items, i, lexicon):
            items[i] = item.without("change")  # "there is now LESS edema"
        elif item.word in lexicon.small.grown and i in findings and i not in named:
            items[i] = item.saying({**senses, "change": "worse"})
        elif item.word == "enlargement" and i not in named and _goes_on(items, i):
            items[i - 1 : i + 1] = [items[i - 1].without("change"), item.saying({"change": "worse"})]
        elif item.word == "enlargement" and i not in named and is_growth(items, i, findings):
            items[i] = item.saying({"change": "worse"})
        elif item.word == "fresh" and is_fresh(items, i, lexicon):
            items[i] = item.saying({"change": "new"})
        elif senses.get("change") == "new" and denies_anything(items, i, lexicon):
            items[i] = item.without("change")
        elif senses.get("change") in TURNED and was_then(items, i, lexicon.small):
            items[i] = item.saying({**senses, "change": TURNED[senses["change"]]})
        elif "change" in senses and compares_no_dates(items, i, lexicon):
            items[i] = item.without("change")
        elif "severity" in senses and i not in named and _measures_another(items, i, named, lexicon):
            items[i] = item.without("severity")
        elif "count" in senses and counts_another(items, i, lexicon):
            items[i] = item.without("count")


def _is_neither(items: Sequence[Item], i: int) -> bool:
    """Whether a change is one of two that are denied: "neither GROWN nor SHRUNK"."""
    before = [item.word for item in items[max(0, i - 3) : i]]
    return before[-1:] == ["neither"] or (before[-1:] == ["nor"] and "neither" in before)


def _no_longer(item: Item) -> bool:
    """Whether what follows an item was so, and is not now: "NO LONGER loculated"."""
    return item.word == "no" and item.senses.get("change") == "resolved"


def _goes_on(items: Sequence[Item], i: int) -> bool:
    """Whether growth at `i` continues: "CONTINUED enlargement of the mass", which is larger again."""
    return i > 0 and items[i - 1].word in _CONTINUED


def _before_asymmetry(items: Sequence[Item], i: int) -> int:
    """Returns where what says which side is worse begins before `i`, if it does: "effusions R>L, | up"."""
    at = i - (i > 1 and items[i - 1].word == ",")
    return at - 1 if at and "asymmetry" in items[at - 1].senses else i


def _shows(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a place shows what it did not show before, as "now" at `i` says."""
    leads = items[i + 1].word == "with" or items[i + 1].word in lexicon.small.showing
    return leads and not _is_compared(items, i + 1, lexicon)


def _is_compared(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether what there is now is more or less than what was, as the words behind `i` say."""
    after = [item for item in items[i + 1 : i + 3] if "severity" not in item.senses and item.word not in ADVERBS]
    return bool(after) and ("change" in after[0].senses or after[0].word in lexicon.small.comparatives)


def _measures_another(items: list[Item], i: int, named: set[int], lexicon: Lexicon) -> bool:
    """Whether a severity is that of the word beside it: "slightly increased", "mildly displaced", "not large"."""
    small, item = lexicon.small, items[i]
    if "change" in item.senses:
        return True
    adverb = item.word.endswith("ly") or item.word in small.degrees
    if i:
        before = items[i - 2] if i > 1 and not items[i - 1].senses else items[i - 1]
        if items[i - 1].word in small.deny or "negation_verb" in items[i - 1].senses:
            return True
        if adverb and before.senses.get("change") in ("worse", "better", "resolved"):
            return True  # "has progressed only mildly"
    if i + 1 >= len(items):
        return False
    after = items[i + 1]
    if i + 1 in named:
        described = adverb and "morphology" in after.senses.get("inside", [{}])[0]
        return described and not _is_of_vessel(after, lexicon)  # "faintly calcified nodule"
    if "asymmetry" in after.senses:
        return adverb  # "a little denser on the left"
    if "change" in after.senses:
        ends = i + 2 >= len(items) or items[i + 2].word in small.after_nouns
        noun = after.word in small.change_nouns or (after.word in small.gerunds and ends)
        return after.senses["change"] != "new" and (adverb or noun)
    if "quality" in after.senses and [item.word for item in items[i + 2 : i + 3]] in _IN:
        return True  # "SMALL pockets of gas in the collection"
    if not adverb:
        return False
    if after.senses:
        return bool(after.senses.keys() & _DESCRIBING) and "quality" not in after.senses
    return after.word.isalpha() and after.word not in small.joints | small.after_nouns


def _is_of_vessel(item: Item, lexicon: Lexicon) -> bool:
    """Whether a finding is one of the heart, the vessels or the mediastinum, which calcify more or less."""
    concept = lexicon.concepts.get(item.senses.get("concept", ""))
    return concept is not None and concept.group in lexicon.groups["one_picture"] - lexicon.groups["one_place"]


def _step(word: str, small: SmallWords) -> str | None:
    """Returns the change that a word means beside a finding: "UP", "DOWN"; None for any other word."""
    if word in small.raised:
        return "worse"
    return "better" if word in small.lowered else None


def give_now(items: list[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Takes what a structure has become for new (`mention.course`), in place: "the mediastinum is NOW shifted"."""
    for mention in mentions:
        if _is_now(items, mention, lexicon):
            mention.course = "new"


def give_growth(items: list[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Takes a name that states a change for one, in place: "INCREASED OPACITY at the base since Monday"."""
    for mention in mentions:
        if mention.course != "new" and _has_grown(items, mention, lexicon):
            mention.course = "worse"


def give_changes(items: list[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> None:
    """Sets what has become of each mention (`mention.course`), in place.

    What is more than "stable" comes first, and what has become comes before what had: "HAD DECREASED, is larger now".
    """
    heads = _heads(items, mentions, lexicon)
    shares = any(item.word in LIKEWISE for item in items)
    for i in (k for k, item in enumerate(items) if "change" in item.senses):
        said = list(_said_of(items, i, heads, lexicon))
        also = likewise(items, i, heads, lexicon.small) if said and shares else []
        for mention, change in (*said, *((mention, said[0][1]) for mention in also)):
            resolved = change == "resolved" and mention.assertion != "absent"
            if mention.course in (None, "stable") and not resolved:
                mention.course = change


def _is_now(items: Sequence[Item], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a structure has become what it is: "the mediastinum is NOW shifted"."""
    if mention.at <= mention.first or mention.denies or lexicon.concepts[mention.concept].is_device:
        return False
    if "measured" in items[mention.at].senses:
        return False  # "the node is NOW 12 mm"
    at = mention.at - ("severity" in items[mention.at - 1].senses)
    return at - 1 > mention.first and items[at - 1].word == "now"


def _has_grown(items: list[Item], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a name states a change, as two dates are compared: "INCREASED OPACITY at the base since Monday"."""
    behind = items[mention.last :]
    if items[mention.first].word != "increased" or not RECENT & {item.word for item in behind}:
        return False
    return compares_dates(behind, lexicon) and not any({"change", "asymmetry"} & item.senses.keys() for item in items)


def _heads(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> list[Head]:
    """Returns what can change: the mentions, and structures and other things that are part of none."""
    heads: list[Head] = [(mention.first, mention.last, mention) for mention in mentions]
    inside = {i for mention in mentions for i in range(mention.first, mention.last)}
    for i, item in enumerate(items):
        bears = item.word in lexicon.small.bearers or item.senses.get("structure", CHEST) != CHEST
        if bears and i not in inside and not _is_place(items, i, inside, lexicon):
            heads.append((i, i + 1, None))
    return sorted(heads, key=lambda head: head[:2])


def _is_place(items: Sequence[Item], i: int, inside: set[int], lexicon: Lexicon) -> bool:
    """Whether a structure only says where a finding is: "in the left lung", "left lung nodule"."""
    first = _behind_bracket(items, i + 1)
    for k in range(first, min(len(items), first + NEAR)):
        if k in inside:
            return True
        if items[k].word in lexicon.small.separators or not items[k].senses.keys() <= PLAIN:
            break
    beside, other = True, False
    between_commas = "zone" in items[i].senses and [item.word for item in items[i + 1 : i + 2]] == [","]
    for k in range(i - 1, max(-1, i - NEAR - 1), -1):
        item = items[k]
        other = other or (not beside and not item.senses and item.word.isalpha())  # "drain in SITU, lung re-expanded"
        apposed = between_commas and item.word == "," and k - 1 in inside  # "consolidation, LEFT UPPER LOBE, improved"
        beside = beside and (apposed or item.word not in lexicon.small.separators) and "item_break" not in item.senses
        if beside and k in inside and "concept" in item.senses:
            return True  # "pneumothorax RIGHT APEX, unchanged"
        if "change" in item.senses:
            return False
        if item.word == "(" or ("location_preposition" in item.senses and item.word != "the"):
            return not other
    return False


def _behind_bracket(items: Sequence[Item], i: int) -> int:
    """Returns `i`, or the item behind a place in brackets that opens there: "lower lobe (SUPERIOR SEGMENT) nodule"."""
    if i == len(items) or items[i].word != "(":
        return i
    close = next((k for k in range(i + 1, len(items)) if not items[k].senses or not items[k].senses.keys() <= PLAIN), i)
    return close + 1 if items[close].word == ")" else i


def _said_of(items: list[Item], i: int, heads: list[Head], lexicon: Lexicon) -> Iterator[tuple[Mention, str]]:
    """Yields the mentions that a word of change is said of, and what it says of them."""
    change = items[i].senses["change"]
    own = [mention for first, last, mention in heads if mention and first <= i < last]
    if own:
        if "quality" not in items[i].senses:
            yield from ((mention, change) for mention in own)
        elif change != "resolved" and items[i].word in lexicon.small.changing | lexicon.small.comparatives:
            # "lung volumes have DECREASED" are worse, "the vessels are LESS congested" better
            lowered = items[i].word != "less"  # "the base is LESS consolidated"
            yield from ((mention, "worse" if lowered and mention.at == i else change) for mention in own)
        else:  # "the heart is enlarged, INCREASED since Monday"
            named = {(mention.concept, mention.first) for mention in own}
            yield from ((m, change) for _, last, m in heads if m and last <= i and (m.concept, m.first) in named)
        return
    side = side_behind(items, i, heads)
    if side is not None:
        yield side, change
        return
    aside = aside_before(items, i, lexicon.small)
    before = [k for k in range(len(heads)) if heads[k][1] <= i and heads[k][0] not in aside]
    left = before[-1] if before else None
    left = subject(items, i, heads, left, lexicon) if left else left
    left = beside_device(items, heads, left, lexicon) if left and change in ("better", "worse") else left
    course = change not in ("new", "resolved")
    shown = heads[left][2] if left else None
    while course and left and heads[left - 1][2] and is_setting(items, heads[left - 1][1], heads[left][0], lexicon):
        if change != "stable" and is_hardware(heads[left - 1][2], lexicon):
            break  # "markers around the mass, which has GROWN"
        left -= 1
    right = next((k for k in range(len(heads)) if heads[k][0] > i), None)
    if right is not None and [item.word for item in items[i : i + 2]] == ["now", "with"]:
        said_of = _list_after(items, i, heads, right, lexicon)  # "collapse, NOW WITH an effusion"
    elif left is not None and (right is None or _looks_back(items, i, heads[left], heads[right], lexicon)):
        said_of = _list_before(items, i, heads, left, lexicon)
        if shown and shown not in said_of and of_one_picture(shown, heads[left][2], lexicon):
            said_of.append(shown)  # "consolidation due to CONTUSION, larger"
    elif right is not None and not _of_the_study(items, i, heads[right], lexicon):
        noun = [item.word for item in items[i + 1 : i + 2]] in (["in"], ["of"])  # "INCREASE IN patchy opacities"
        of_itself = "quality" in items[i].senses and not noun and items[i].word not in lexicon.small.comparatives
        anything = getattr(heads[right][2], "concept", "") in lexicon.roles["anything"]
        if of_itself and anything and not compares_dates(items[heads[right][1] :], lexicon):
            return  # "increased opacity" is an opacity
        said_of = _list_after(items, i, heads, right, lexicon)
    else:
        return
    yield from ((mention, change) for mention in said_of)


def _of_the_study(items: list[Item], i: int, right: Head, lexicon: Lexicon) -> bool:
    """Whether a change is set apart from the first finding: "no interval change with small effusions"."""
    between = items[i + 1 : right[0]]
    apart = lexicon.small.strong_separators | lexicon.small.otherwise
    if any("earlier_study" in item.senses for item in between):
        apart = apart - {"with"}  # "new compared WITH the prior study"
    return any(item.word in apart for item in between)


def _looks_back(items: list[Item], i: int, left: Head, right: Head, lexicon: Lexicon) -> bool:
    """Whether a word of change between two things describes the one before it."""
    if items[i].word not in lexicon.small.verbs and leads_to_change(items, i, lexicon):
        return False
    if [item.word for item in items[max(0, i - 2) : i]] == ["and", ","]:
        return False  # "cardiomegaly and, NEW since March, edema"
    if items[i].word == "new" and items[i].last - items[i].first == len(_NEW_SINCE):
        return True  # "pneumothorax, NEW SINCE the line was placed"
    if _acquires(items, i, lexicon.small):
        return False
    if right[0] == i + 1 and (right[2] is None or items[i - 1].word in lexicon.small.indefinite):
        return False  # "which is BETTER aerated", "which is due to an INCREASING effusion"
    if left[2] is None and right[2] is not None and _describes(items[i + 1 : right[0]], lexicon):
        return False  # "the left base shows WORSENING atelectasis"
    if _is_predicate(items, i, left[1], lexicon):
        return True
    return any(_separates(item, lexicon) or "negation_before" in item.senses for item in items[i + 1 : right[0]])


def _acquires(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether what has come is behind its verb: "the cavity HAS DEVELOPED an air-fluid level"."""
    led = any(item.word in small.indefinite for item in items[i + 1 : i + 2])
    return led and items[i].word in HAS and items[i].senses["change"] == "new"


def _describes(between: list[Item], lexicon: Lexicon) -> bool:
    """Whether nothing is between a word of change and a finding but what describes or shows the finding."""
    showing = lexicon.small.showing
    return all(item.word in showing or (item.senses and item.senses.keys() <= _ADJECTIVES) for item in between)


def _is_predicate(items: list[Item], i: int, floor: int, lexicon: Lexicon) -> bool:
    """Whether a verb is before a word of change, or is one: "is slightly larger", "persists"."""
    for item in reversed(items[max(floor, i - NEAR) : i + 1]):
        if item.word in lexicon.small.verbs:
            return True
        if _separates(item, lexicon):
            return False
    return False


def _separates(item: Item, lexicon: Lexicon) -> bool:
    return item.word in lexicon.small.separators or item.word == ":" or "clause_end" in item.senses


def _list_before(items: list[Item], i: int, heads: list[Head], left: int, lexicon: Lexicon) -> list[Mention]:
    """Returns the list that ends before a word of change: "effusion and atelectasis are unchanged"."""
    collected = all_named(items, i, heads, left, lexicon.small)
    if collected:
        return collected
    said_of = [mention for _, _, mention in heads if mention and mention.at == getattr(heads[left][2], "at", None)]
    of_one = not any(item.word in lexicon.small.plural for item in items[heads[left][1] : i + 1])
    if of_one and any(item.word in lexicon.small.relative for item in items[heads[left][1] : i]):
        return said_of  # "cardiomegaly with congestion, WHICH has progressed"
    listed: list[Mention] = []
    joined = False
    k = left
    while k > 0:
        between = items[heads[k - 1][1] : heads[k][0]]
        joined = joined or any(item.word in ("and", "or", "with") for item in between)
        before = heads[k - 1][2]
        if not joined or not _one_list(between, lexicon) or (before and before.denies):
            break
        if before:
            listed.append(before)
        k -= 1
    start = next((n + 1 for n in range(heads[k][0] - 1, -1, -1) if "clause_end" in items[n].senses), 0)
    told = any(
        item.word in lexicon.small.verbs | lexicon.small.existing for item in items[max(0, start - 1) : heads[k][0]]
    )
    return said_of if told else said_of + listed


def _list_after(items: list[Item], i: int, heads: list[Head], right: int, lexicon: Lexicon) -> list[Mention]:
    """Returns the list that follows a word of change: "increase in effusion, edema and atelectasis"."""
    small = lexicon.small
    said_of = [mention for _, _, mention in heads if mention and mention.at == getattr(heads[right][2], "at", None)]
    waiting: list[Mention] = []
    leads = leads_to_change(items, i, lexicon)
    headed = any(item.word == ":" for item in items[i + 1 : heads[right][0]])  # "NEW since May: a mass and an effusion"
    for k in range(right, len(heads) - 1):
        between = items[heads[k][1] : heads[k + 1][0]]
        mention = heads[k + 1][2]
        if mention is None or mention.denies or not _one_list(between, lexicon):
            break
        if mention.elided or getattr(heads[k][2], "elided", None) is mention:
            break  # "new right and old left fractures"
        again = leads and len(items) > i + 1 and [item.word for item in between[-9:]].count(items[i + 1].word) > 0
        if not (again or headed) and any(
            item.word in small.indefinite or "severity" in item.senses or item.word == "with" for item in between
        ):
            break
        if not (leads or headed) and any(item.word in small.definite for item in between):
            break
        waiting.append(mention)
        if any(item.word in ("and", "or", "/") for item in between):
            said_of += waiting
            waiting = []
    return said_of


def _one_list(between: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether nothing is between two things but what members of one list have between them."""
    if not any(item.word in lexicon.small.separators for item in between):
        return False
    return not any(
        item.word in lexicon.small.verbs
        or item.word in (";", ":")
        or item.senses.keys() & {"change", "clause_end", "negation_before", "measure"}
        for item in between
    )


_NOT_OF_ALL = frozenset({"hypothetical", "recommendation", "negation_before", "side", "zone"})
_AIR = ("lung",), ("chest",)  # whose aeration it is


def is_of_lungs(items: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether a sentence says that both lungs are better or worse: "AERATION has improved"."""
    moved = any(item.senses.get("change") in ("better", "worse") for item in items)
    named = any(item.word in lexicon.small.bearers or item.senses.get("structure") == _AIR[0] for item in items)
    other = any(item.senses.get("structure", _AIR[0]) not in _AIR or "zone" in item.senses for item in items)
    placed = any(item.senses.get("side", "bilateral") != "bilateral" for item in items)
    said = any(item.senses.keys() & (_NOT_OF_ALL - {"side", "zone"}) for item in items)
    return moved and named and not (other or placed or said)


def stable_organ(
    items: Sequence[Item], mentions: Sequence[Mention], words: Set[str], lexicon: Lexicon
) -> tuple[str, ...] | None:
    """Returns what an organ that is called stable would not have if it were normal: "The HEART is stable.".

    None where a finding, the whole chest or an earlier study is spoken of: "stable SINCE MAY" compares.
    `words` are those of the sentence.
    """
    if any(not mention.denies for mention in mentions) or not words.isdisjoint(lexicon.small.dates):
        return None
    if any("earlier_study" in item.senses or is_date(item, lexicon.small) for item in items):
        return None
    named = [item.senses.get("structure", ()) for item in items]
    organs = [structure for structures in named if structures[:1] != CHEST for structure in structures]
    denied = [concept for mention in mentions for concept in mention.denies]
    if not organs and not denied:
        return None
    return (*denied, *(concept for organ in organs for concept in lexicon.denials.get((organ, "normal"), ())))


def course_of_all(items: Sequence[Item], lexicon: Lexicon) -> str:
    """Returns the change that a sentence without a finding tells of all findings before it; "" if it tells none.

    "Overall worse." and "Unchanged from Monday." do; "No interval change." and "The heart size is stable." do not.
    """
    first = next((i for i, item in enumerate(items) if "change" in item.senses), None)
    if first is None or _heads(items, (), lexicon):
        return items[first].senses["change"] if first is not None and is_of_lungs(items, lexicon) else ""
    if any(item.senses.keys() & _NOT_OF_ALL for item in items):
        return ""  # "aeration of the left base is better"
    if compares_no_dates(list(items), first, lexicon):
        return ""  # "none is larger than 8 mm"
    if [item.word for item in items[max(0, first - 1) : first]] == ["be"]:
        return ""  # "it should BE removed"
    change: str = items[first].senses["change"]
    if change == "stable" and (first or items[0].word in lexicon.small.change_nouns):
        return ""
    chest = next((i for i, item in enumerate(items) if item.senses.get("structure") == CHEST), len(items))
    earlier = any("earlier_study" in item.senses or item.word in lexicon.small.dates for item in items[:chest])
    return change if earlier or chest == len(items) or change == "new" else ""
