"""What numbers in a sentence mean: sizes, also of an earlier study, cardiothoracic ratios, lengths that are advised."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from rrgmetrics.reading.dates import is_dated, is_then
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.predicates import meaning
from rrgmetrics.reading.prior_values import was
from rrgmetrics.reading.senses import Senses, without
from rrgmetrics.reading.tokens import Item, Token

_YEAR = 1900.0
READING_MM = 0.5  # less than a bound that is not reached
_BELOW, _ABOVE, _NOT = frozenset({"<", "≤"}), frozenset({">", "≥"}), frozenset({"not", "none", "no"})
_EXCEED = frozenset({"exceed", "exceeding"})
RATIO = "_ratio"  # ends the names of structures whose size is a number without a unit
_AGAINST = frozenset({"versus", "vs", "after"})  # between a size and an earlier one
_SET_AGAINST = _AGAINST | {"against", "compared"}
_THEN = frozenset({"in", "on", "at", "from", "of"})  # between a size and its date
_ACROSS = frozenset({"deep", "thick", "wide", "long", "across"})
_OF_IMAGES = frozenset({"/", ":", ",", "-"})  # between a series and an image
_NO_SIZES = frozenset({"rib", "t", "l", "c", "d", "th", "segment", "station", "image", "series"})
_WHEN = 3  # items from "when" to the size there was
_DATED = 5  # items from a size to "ago"
_TODAY = frozenset({"now", "currently", "today"})
_AND = frozenset({"and", "but"})
_MANY, _NOUN = 12, 4  # findings that are counted, and words from a number to its noun
_OF_THE = frozenset({"of", "in", "the"})  # between a lesion and where it is
_FAR = 40  # items from a structure to its diameter
_LARGEST_HEART = 0.5  # of the chest's width, in adults; what a larger share means in a child is for the report to say
FRACTIONS = {"whole": 1, "half": 2, "third": 3, "quarter": 4, "fifth": 5}
_LEADING_ON = frozenset({"side", "location_preposition"})  # from a fraction to what it is of
_CM, _BESIDE, _AHEAD = 10.0, 4, 10  # mm; items from a length to what it is of, and back
_FILLED = 5  # items between them
_NAMES = frozenset({"concept", "structure", "listed"})
_COURSES = {3: (2, 4), 5: (4, 6)}  # "small to moderate", "moderate to large", as what was and what is


def measure(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> tuple[int, tuple[float, ...]] | None:
    """Reads "3", "3 x 4", "3 to 4" followed by a unit at `i`; returns the index after it and the numbers in mm."""
    listed = _listed(tokens, i, last, lexicon)
    if listed:
        return listed
    numbers: list[float] = []
    while i < last and len(numbers) < 3 and tokens[i].word[0].isdigit():
        numbers.append(float(tokens[i].word))
        unit = lexicon.units.get(tokens[i + 1].word) if i + 1 < last else None
        step = i + 2 if unit else i + 1
        if step < last - 1 and tokens[step].word in lexicon.times and tokens[step + 1].word[0].isdigit():
            i = step + 1
            continue
        if unit is None and not numbers[1:] and _ranges(tokens, i, step, last):
            numbers, i = [], step + 1  # of "2 to 3 cm" the larger
            continue
        shared = unit or _unit_shared(tokens, step, last, lexicon)
        return (step, tuple(n * shared for n in numbers)) if shared else None
    return None


def _unit_shared(tokens: list[Token], step: int, last: int, lexicon: Lexicon) -> float | None:
    """Returns the unit that a number shares with the one it is set against: "4.1 VS 9.8 CM"."""
    against = step + 2 < last and tokens[step].word in _SET_AGAINST and tokens[step + 1].word[0].isdigit()
    return lexicon.units.get(tokens[step + 2].word) if against else None


def _listed(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> tuple[int, tuple[float, ...]] | None:
    """Reads sizes that share their unit, "7 and 4 mm", "12, 9 and 7 mm", where no bones or segments are numbered."""
    if i and (tokens[i - 1].word in _NO_SIZES or tokens[i - 1].word in lexicon.times):
        return None
    numbers, at, ended = [float(tokens[i].word)], i + 1, False
    while at + 1 < last and not ended and tokens[at].word in (",", "and", "&") and tokens[at + 1].word[0].isdigit():
        ended = tokens[at].word != ","
        numbers.append(float(tokens[at + 1].word))
        at += 2
    unit = lexicon.units.get(tokens[at].word) if ended and at < last else None
    return (at + 1, tuple(n * unit for n in numbers)) if unit else None


def _ranges(tokens: list[Token], i: int, step: int, last: int) -> bool:
    """Whether the number at `i` begins a range; what is "from 2 to 3 cm" has grown."""
    to = step < last - 1 and tokens[step].word == "to" and tokens[step + 1].word[0].isdigit()
    return to and (not i or tokens[i - 1].word != "from")


def earlier(tokens: list[Token], i: int, items: list[Item], lexicon: Lexicon) -> tuple[int, tuple[float, ...]] | None:
    """Reads a bare number of an earlier study in the unit of the one before it: "8 mm, WAS 5"."""
    if not items or not (items[-1].word in lexicon.small.earlier or items[-1].word in lexicon.small.size_links):
        return None
    now = next((item for item in reversed(items) if "measure" in item.senses), None)
    if now is None:
        return None
    if items[-1].word == "(" and len(items) > 1 and items[-2].senses.keys() & _NAMES:
        return None  # "22 mm, and a subcarinal node (7) of 18 mm"
    timed = i + 1 < len(tokens) and tokens[i + 1].word in lexicon.small.uncounted
    if timed or float(tokens[i].word) >= _YEAR or _is_image(tokens, i):
        return None  # "stable from 2022", "from 6 WEEKS ago", "12 mm (3/201)"
    unit = next(
        (lexicon.units[token.word] for token in tokens[now.first : now.last] if token.word in lexicon.units), None
    )
    return (i + 1, (float(tokens[i].word) * unit,)) if unit else None


def _is_image(tokens: list[Token], i: int) -> bool:
    """Whether the number at `i` is a series', an image's behind it: "12 mm (3/201)", "(4:77)", "(3, 77)"."""
    return i + 2 < len(tokens) and tokens[i + 1].word in _OF_IMAGES and tokens[i + 2].word[0].isdigit()


def ratio(tokens: list[Token], i: int, last: int, items: list[Item], lexicon: Lexicon) -> tuple[int, Senses]:
    """Reads the number behind "cardiothoracic ratio", "0.58", "58" or "17/29": above a half the heart is enlarged."""
    named = next((item for item in reversed(items[-4:]) if "structure" in item.senses), None)
    if named is None or named.word not in lexicon.small.ratios:
        is_number = named is not None and _with_diameter(named, lexicon).endswith(RATIO)
        if is_number:
            return i + 1, {"measure": (float(tokens[i].word),)}
        return i + 1, counted(tokens, i, last, items, lexicon) or narrowed(tokens, i, last, items, lexicon)
    share, end = float(tokens[i].word), i + 1
    if i + 2 < last and tokens[i + 1].word == "/" and tokens[i + 2].word[0].isdigit():
        share, end = share / max(1.0, float(tokens[i + 2].word)), i + 3
    share = share if share < 1 else share / 100
    share += 0.01 if any(item.word in lexicon.small.above | _ABOVE for item in items[-3:]) else 0
    return end, {"quality": ("enlarged" if share > _LARGEST_HEART else "normal",)} if 0.3 <= share < 1 else {}


def counted(tokens: list[Token], i: int, last: int, items: list[Item], lexicon: Lexicon) -> Senses:
    """Reads a number that counts findings, "4 small nodules", "2 new cavities": a plural is behind it."""
    word = tokens[i].word
    if not word.isdigit() or len(word) > 2 or not 1 < int(word) <= _MANY or (items and not _opens(items, lexicon)):
        return {}
    for token in tokens[i + 1 : min(last, i + 1 + _NOUN)]:
        if not token.word.isalpha():
            return {}
        if token.is_plural and "concept" in lexicon.trie.get(token.word, {}).get("", {}):
            return {"count": int(word)}
    return {}


def _opens(items: list[Item], lexicon: Lexicon) -> bool:
    """Whether what follows the items begins a phrase of its own: "there are", "at least", a comma."""
    word = items[-1].word
    known = lexicon.small.separators | lexicon.small.verbs | lexicon.small.existing | lexicon.small.by_how_much
    return word == ":" or (word in known and word != "/") or word in lexicon.small.definite


def narrowed(tokens: list[Token], i: int, last: int, items: list[Item], lexicon: Lexicon) -> Senses:
    """Reads the share by which a vessel is narrowed or a lung collapsed, "90% stenosis", "PTX of 50%": a severity."""
    around = [*(token.word for token in tokens[i + 1 : min(last, i + 5)]), *(item.word for item in items[-4:])]
    if "percent" not in around[:3] or lexicon.shares.keys().isdisjoint(around) or float(tokens[i].word) > 100:
        return {}
    rows = next(lexicon.shares[word] for word in around if word in lexicon.shares)
    steps = (step for least, step in reversed(rows) if float(tokens[i].word) >= least)
    return {"severity": next(steps)} if float(tokens[i].word) >= rows[0][0] else {}


def read_fractions(items: list[Item], lexicon: Lexicon) -> None:
    """Takes a fraction of what a finding fills for its severity, in place: "occupies A THIRD OF the hemithorax"."""
    for i, item in enumerate(items):
        parts = FRACTIONS.get(item.word)
        if parts is None or item.last - item.first > 1:
            continue
        ahead = (each for each in items[i + 1 : i + 1 + _FILLED] if not each.senses.keys() <= _LEADING_ON)
        whole = next(ahead, None)
        if whole is None or whole.word not in lexicon.shares or not items[i + 1].senses.keys() <= _LEADING_ON:
            continue
        times = items[i - 1].senses.get("count", 1) if i else 1
        share = 100.0 * times / parts  # on the border of two steps it is the one between: half is "moderate to large"
        rows = lexicon.shares[whole.word]
        steps = [next(step for least, step in reversed(rows) if each >= least) for each in (share - 1, share + 1)]
        items[i] = item.saying({"severity": sum(steps) // 2})
        if i and "count" in items[i - 1].senses:
            items[i - 1] = items[i - 1].saying({})


def settle_sizes(items: list[Item], lexicon: Lexicon) -> None:
    """Takes "almost gone" for better, and the length from sizes that are advised or supposed: "withdraw BY 2 CM"."""
    asked = False
    for i, item in enumerate(items):
        asked = (asked or "hypothetical" in item.senses) and item.word != ":"  # "evaluation of the lungs: 5 MM nodule"
        if item.senses.get("change") == "resolved" and _is_almost(items, i, lexicon):
            items[i] = item.saying({**without(item.senses, "resolved_before"), "change": "better"})
        elif item.word in lexicon.small.onward and 0 < i < len(items) - 1 and _is_course(items, i):
            was(items, i - 1, "measure" if "measure" in items[i - 1].senses else "severity")
        elif item.word == "to" and 1 < i < len(items) - 1 and _is_changed(items, i):
            was(items, i - 2, "measure")
        elif item.senses.get("severity") in _COURSES and item.last - item.first == 3 and _is_begun(items, i, lexicon):
            before, now = _COURSES[item.senses["severity"]]
            items[i] = item.saying({"severity": now, "before": ("severity", before)})  # "from SMALL TO MODERATE"
        elif "measure" in item.senses and _grew(items, i, lexicon):
            unit = item.senses["measure"][0] / max(float(item.word), 0.1)
            grown = ("measure", unit * float(items[i - 2].word))
            items[i] = item.saying({**item.senses, "before": grown})
        elif "measure" in item.senses and _is_past(items, i, lexicon):
            was(items, i, "measure")
        elif "measure" in item.senses and (asked or _advised(items, i, lexicon) or _is_way(items, i, lexicon)):
            items[i] = item.saying({})


def restore_points(items: list[Item], lexicon: Lexicon) -> None:
    """Gives lengths their decimal point back, in place, that no anatomy allows without: "45 CM above the carina"."""
    for i, item in enumerate(items):
        lengths = item.senses.get("measure", ())
        if not lengths or any(mm % _CM for mm in lengths):
            continue
        beside = [*items[i + 1 : i + 1 + _BESIDE], *reversed(items[max(0, i - _AHEAD) : i])]
        keys = (key for each in beside for key in _named(each.senses))
        limit = next((lexicon.largest[key] for key in keys if key in lexicon.largest), max(lengths))
        if max(lengths) > limit >= max(lengths) / 10:
            items[i] = item.saying({**item.senses, "measure": tuple(mm / 10 for mm in lengths)})


def _named(senses: Senses) -> Iterator[str]:
    """Yields what a word may name that has a largest size: a quality, a finding, a structure."""
    yield from senses.get("quality", ())
    yield senses.get("concept", "")
    yield from senses.get("structure", ())


def tell_degrees_apart(items: list[Item], lexicon: Lexicon) -> None:
    """Takes the earlier of two dated degrees for what was, in place: "LARGE ON 28 APRIL, small today"."""
    degrees = [i for i, item in enumerate(items) if "severity" in item.senses and "change" not in item.senses]
    sides = {item.senses["side"] for item in items if "side" in item.senses}
    if len(degrees) != 2 or sum("concept" in item.senses for item in items) != 1 or len(sides) > 1:
        return
    first, second = (is_dated(items, i, lexicon.small) for i in degrees)
    if first or second:
        was(items, degrees[0] if first else degrees[1], "severity")


def _is_almost(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether something is left: "ALMOST resolved", "has cleared NEARLY completely"."""
    after = items[i + 1 : i + 3]
    whole = len(after) == 2 and ("severity" in after[1].senses or after[1].word in lexicon.small.adverbs)
    behind = whole and after[0].word in lexicon.small.almost
    somewhat = bool(after) and after[0].word in lexicon.small.somewhat
    return behind or somewhat or _before(items, i, lexicon.small.adverbs) in lexicon.small.almost


def _is_begun(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether "from" is before the item at `i`: "has increased FROM", "has gone FROM"."""
    before = items[i - 1] if i else None
    if before is None:
        return False
    return before.word == "from" or ("nothing" in before.senses and before.word in lexicon.small.verbs | {"gone"})


def _grew(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a bare number before the size at `i` is what was: "has gone FROM 6 TO 11 mm"."""
    if i < 3 or items[i - 1].word not in lexicon.small.onward:
        return False
    if not items[i - 2].word[0].isdigit() or not items[i].word[0].isdigit():
        return False
    led = items[i - 1].word == "→" or items[i - 3].word == "from" or "nothing" in items[i - 3].senses
    return led and not items[i - 2].senses


def _is_past(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether the size at `i` is that of an earlier study: "9 mm, measured 14 mm BEFORE", "(14 mm IN MARCH)"."""
    small, after = lexicon.small, items[i + 1 : i + 1 + _DATED]
    after = after[1:] if after and after[0].word in _ACROSS else after
    if any(item.word == "when" for item in items[max(0, i - _WHEN) : i]):
        return any("measure" in item.senses for item in items[:i])  # "21 mm, smaller than WHEN IT MEASURED 28 mm"
    if i > 1 and "measure" in items[i - 2].senses and (items[i - 1].word in _AGAINST or _is_in_brackets(items, i)):
        return True
    if not any("measure" in item.senses for item in items if item is not items[i]):
        return False
    if i > 1 and items[i - 1].word == ":" and is_then(items[i - 2], small):
        return True  # "14 mm (2022: 12 mm)"
    if not after:
        return False
    if after[0].word == "before" and len(after) > 1 and after[1].word in small.treated:
        return True  # "55 mm BEFORE TREATMENT, now 38 mm"
    if is_then(after[0], small):
        return len(after) == 1 or after[1].word in small.closing
    if not any("measure" in item.senses for item in items[:i]) and not _now_follows(items, i):
        return False
    if after[0].word in _THEN and "nothing" in after[0].senses:
        return True  # "IN MAY", which is no "may"
    if after[0].word in _THEN and len(after) > 1:
        bare = after[1].word in small.definite and "earlier_study" not in after[1].senses
        date = after[2] if bare and len(after) > 2 else after[1]
        prior = date.word in small.earlier and "acuity" in date.senses and after[-1].word in small.closing
        return prior or date.word in small.past or date.word[0].isdigit() or "earlier_study" in date.senses
    words = list(takewhile(lambda word: word not in small.separators, (item.word for item in after)))
    return "ago" in words


def _is_in_brackets(items: list[Item], i: int) -> bool:
    """Whether a size alone is in brackets behind another of as many dimensions: "axillary node 12 mm (20 MM)"."""
    now, then = items[i - 2].senses["measure"], items[i].senses["measure"]
    around = [item.word for item in (items[i - 1], *items[i + 1 : i + 2])]
    return around == ["(", ")"] and len(now) == len(then) and now != then


def _now_follows(items: list[Item], i: int) -> bool:
    """Whether a later size is that of today: "2 cm on Monday, 4 cm TODAY"."""
    sized = (k for k in range(i + 1, len(items)) if "measure" in items[k].senses)
    return any(any(_is_of_today(each) for each in items[max(0, k - 2) : k + 3]) for k in sized)


def _is_of_today(item: Item) -> bool:
    """Whether an item says "now": "12 mm in May AND NOW 19 mm"."""
    return item.word in _TODAY or ("clause_end" in item.senses and item.word in _AND and item.last - item.first > 1)


def judge_diameters(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """Says of a diameter whether the structure it is stated of is normal: "the ascending aorta measures 44 mm"."""
    for i, item in enumerate(items):
        if "measure" not in item.senses or (i > 1 and items[i - 1].word in lexicon.small.earlier):
            continue
        bound = i > 1 and items[i - 1].word == "than" and items[i - 2].word in lexicon.small.comparatives
        bound = bound or _is_not_exceeded(items, i)
        at = _measured(items, i - 2 if bound else i, i, lexicon)
        if at is None:
            continue
        size = min(item.senses["measure"]) - _is_below(items, i, lexicon) * READING_MM
        table = lexicon.diameters[_with_diameter(items[at], lexicon)]
        quality = next((quality for mm, quality in reversed(table) if size >= mm), "")
        if quality:
            item.senses = {**item.senses, "quality": (quality,), "measured": at}
        if bound:  # "none LARGER than 9 mm" is no growth, "NOT exceeding 9 mm" denies nothing
            items[i - 2] = Item(items[i - 2].first, items[i - 2].last, {}, items[i - 2].word)
    return items


def _is_below(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether the size at `i` is not reached: "less than 1 cm", "< 1 cm", "not exceeding 1 cm"."""
    named = any(item.word in lexicon.small.below | _BELOW for item in items[max(0, i - 4) : i])
    return named or _is_not_exceeded(items, i)


def _is_not_exceeded(items: list[Item], i: int) -> bool:
    """Whether the size at `i` is the upper bound: "nodes NOT EXCEEDING 1 cm"."""
    return i > 1 and items[i - 1].word in _EXCEED and "negation_verb" in items[i - 2].senses


def _measured(items: list[Item], lo: int, hi: int, lexicon: Lexicon) -> int | None:
    """Returns the item whose diameter is stated at `[lo, hi]`; None if another is, or if words judge it."""
    small = lexicon.small
    for at in range(hi + 1, min(len(items), hi + 6)):
        if _with_diameter(items[at], lexicon):
            return at
        parts = any(items[at].word in words for words in (small.separators, small.touching, small.nearby))
        if _says(items[at]) or parts or items[at].word == "(" or "item_break" in items[at].senses:
            break
    for at in range(lo - 1, max(-1, lo - _FAR), -1):
        if _with_diameter(items[at], lexicon):
            return None if _is_of_lesion(items, at, lexicon) or _is_judged(items, at, lexicon) else at
        moved = "change" in items[at].senses and "concept" not in items[at].senses  # "the node HAS DECREASED to 12 mm"
        if (_says(items[at]) and not moved) or "clause_end" in items[at].senses or items[at].word == ";":
            break
    return None


def _is_of_lesion(items: list[Item], at: int, lexicon: Lexicon) -> bool:
    """Whether the structure at `at` only names where a lesion of it is: "a saccular aneurysm OF THE ARCH, 38 mm"."""
    lesion = next((k for k in range(at - 1, -1, -1) if items[k].word not in _OF_THE), at)
    if lesion >= at - 1:
        return False
    if meaning(items[at], items[lesion].senses.get("quality", ()), lexicon)[0]:
        return True  # "a THROMBUS of the aorta, 6 mm thick"
    if "concept" not in items[lesion].senses:
        return False
    concept = lexicon.concepts[items[lesion].senses["concept"]]
    _, denied = meaning(items[at], ("normal",), lexicon)
    return not {concept.key, *concept.ancestors}.isdisjoint(denied)


def _is_judged(items: list[Item], at: int, lexicon: Lexicon) -> bool:
    """Whether the word before several structures says that they are abnormal: "ENLARGED nodes, 16 mm"."""
    if not at or "several" not in items[at].senses:
        return False
    found, _ = meaning(items[at], items[at - 1].senses.get("quality", ()), lexicon)
    return found is not None


def _says(item: Item) -> bool:
    counts = item.senses.get("morphology") == "multifocal"  # "nodes: FEW, the largest 9 mm"
    return "concept" in item.senses or ("quality" in item.senses and not counts)


def _with_diameter(item: Item, lexicon: Lexicon) -> str:
    """Returns the structure of an item whose diameter is stated; "" if there is none."""
    if "concept" in item.senses:
        return ""
    return next((each for each in item.senses.get("structure", ()) if each in lexicon.diameters), "")


def _is_course(items: list[Item], i: int) -> bool:
    """Whether what is was: "from small TO large", "has gone from 8 TO 12 mm", "moderate → large"."""
    kinds = items[i - 1].senses.keys() & items[i + 1].senses.keys() & {"severity", "measure"}
    started = i > 1 and (items[i - 2].word == "from" or "nothing" in items[i - 2].senses)
    return bool(kinds) and (started or items[i].word == "→")


def _is_changed(items: list[Item], i: int) -> bool:
    """Whether the size before "to" is what was: "41 mm DOWN TO 22 mm", "a mass of 41 mm HAS SHRUNK TO 22 mm"."""
    before, moved, now = items[i - 2], items[i - 1], items[i + 1]
    changed = moved.word == "down" or moved.senses.get("change") in ("better", "worse")
    return changed and "measure" in before.senses and "measure" in now.senses


def _is_way(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a length is the way to a landmark: "4 cm FROM THE NIPPLE", "3 cm posterior to the nipple"."""
    small, from_there = lexicon.small, False
    for item in items[i + 1 : i + 6]:
        if item.word in small.landmarks:
            return from_there or item is items[i + 1]
        from_there = from_there or item.word in ("from", "to")
        if item.word in small.separators or "concept" in item.senses:
            break
    return False


def _before(items: list[Item], i: int, passed: frozenset[str]) -> str:
    """Returns the word before item `i` that is none of those passed over; "" if there is none."""
    return next((item.word for item in items[i - 1 :: -1] if item.word not in passed), "") if i else ""


def _advised(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether a length is that by which a device is to be moved."""
    small = lexicon.small
    after = next((item.word for item in items[i + 1 : i + 4] if item.word not in small.by_how_much), "")
    return after in small.moving or _before(items, i, small.by_how_much) in small.moving
