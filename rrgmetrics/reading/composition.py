"""Findings said as a quality of a structure: "the heart is enlarged", "enlargement of the cardiac silhouette".

Which pairs make which finding is data (the lexicon's table of `seen_as` pairs). Here is decided of which structures of
a sentence a quality is said.
"""

from __future__ import annotations

from rrgmetrics.reading.items import BARE, Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.predicates import (
    holder,
    is_attributive,
    is_device,
    is_hidden_by_finding,
    is_of_finding,
    is_of_new_noun,
    is_placed,
    is_predicate,
    is_said_of_another,
    is_terse,
    meaning,
    sharing,
    suits,
)
from rrgmetrics.reading.subjects import aside_before, likewise_from

# Between a structure and its quality only these may be, besides words the lexicon does not know.
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
_GOING_ON = frozenset({"clause_end", "item_break", "negation_before"})  # another statement begins
_DESCRIBED = frozenset({"morphology", "concept", "change"})  # senses of qualities that describe a finding as well
_PLACING = frozenset({"side", "zone", "structure", "location_preposition", "measure", "several"})
_BEHIND = _PLACING | {"item_break"}
_ALL_OF_THEM = frozenset({",", "the", "all", "both", "each", "them", "up"})  # "nodules, ALL OF THEM calcified"
_NEAR = 3  # items from "with" to what a finding holds
_CAUSES = frozenset({"due", "owing", "secondary", "caused"})
_AT = frozenset({"at", "in", "within", "of", "around"})  # lead to the place of a structure
_LEADING = frozenset({"side", "location_preposition"})
_TO = frozenset({"to", "a", "an", "the"})
_NAMELESS = frozenset({"those", "one"})  # stand for a finding: "THOSE in the right lung have shrunk"
_ADJOINED = frozenset({"measure", "severity", "morphology", "side", "zone"})  # between an adjective and its noun
_ADJECTIVE = ("al", "ar", "ic")  # ends of adjectives for structures: "mediastinal", "hilar", "aortic"
_LISTING = frozenset({"and", "or", ","})
_PLACE = 10  # items from a finding to the end of its place
_NOUN = 4  # items from a structure to the noun that it describes
_LIST = 8  # and through a list of adjectives
_PART = "vertebral_process"  # of a numbered vertebra
_READING = frozenset({"probable_before", "possible_before"})  # what a picture is follows


def compose(items: list[Item], q: int, floor: int, lexicon: Lexicon, used: set[int]) -> list[Mention]:
    """Pairs the quality at `q` with the structures it is said of; `floor` is the item the search may not pass."""
    qualities = items[q].senses["quality"]
    if items[q].word in lexicon.small.hiding and not is_hidden_by_finding(items, q, lexicon):
        return []  # "monitoring wires OBSCURE the apices"
    if items[q].senses.get("change") == "resolved" and is_of_finding(items, q, lexicon):
        return []  # "the nodule over the aortic arch is NO LONGER SEEN"
    if q + 1 < len(items) and items[q + 1].word in lexicon.small.periods:
        return []  # "smaller than on POSTOPERATIVE DAY 1"
    if "severity" in items[q].senses and _is_noun(items, q + 1):
        return []  # "main pulmonary artery: LARGE clot"
    if "measured" in items[q].senses:
        partners = [items[q].senses["measured"]]
    elif (held_by := holder(items, q, qualities, lexicon)) is not None:
        partners = [held_by]
    elif items[q].word in lexicon.small.leading:  # "nodes OF NORMAL SIZE in the mediastinum"
        partners = _backward(items, q, qualities, floor, lexicon) or _forward(items, q, qualities, lexicon)
    elif items[q].word in lexicon.small.verbs:  # "has increased" has its subject before it
        partners = _backward(items, q, qualities, floor, lexicon)
    elif "severity" in items[q].senses and is_predicate(items, q, lexicon) and is_of_finding(items, q, lexicon):
        partners = _backward(items, q, qualities, floor, lexicon)  # "the effusion is LARGE and displaces the heart"
    elif is_predicate(items, q, lexicon) or is_placed(items, q, qualities, lexicon) or is_terse(items, q, lexicon):
        partners = _backward(items, q, qualities, floor, lexicon) or _forward(items, q, qualities, lexicon)
    else:
        partners = _forward(items, q, qualities, lexicon)
        apart = is_said_of_another(items, q, lexicon)
        apart = apart or is_of_new_noun(items, q, lexicon)
        if not partners and not apart and ("normal" in qualities or not is_attributive(items, q)):
            partners = _backward(items, q, qualities, floor, lexicon)
    if items[q].word in lexicon.small.harmless and (is_attributive(items, q) or is_of_finding(items, q, lexicon)):
        return []  # "BENIGN nodule in the right lung"
    mentions: list[Mention] = []
    shared = None if partners or "concept" in items[q].senses else sharing(items, q, qualities, lexicon)
    if shared:
        return [Mention(shared, q, q + 1, q, (items[q].first, items[q].last))]
    likewise = [s for s in _likewise(items, q, lexicon) if partners and suits(items[s], qualities, lexicon)]
    partners = [
        s
        for s in partners
        if items[s].senses.get("structure") != BARE or not _is_named_before(items, s, qualities, lexicon)
    ]
    nearly = "upper_normal" in qualities
    for s in partners:
        concept, denies = meaning(items[s], qualities, lexicon)
        own = items[q].senses.get("concept")
        if own and concept in lexicon.concepts[own].ancestors:
            concept = own  # "disc disease" says more than that a bone is degenerative
        device = concept is not None and lexicon.concepts[concept].is_device
        lo, hi, at = min(s, q), max(s, q) + 1, q
        sized = bool(mentions) and any("measure" in item.senses for item in items[mentions[-1].last : s])
        if sized and concept and concept == mentions[-1].concept:
            lo, at = s, s  # "an enlarged paratracheal node of 22 mm and A SUBCARINAL ONE of 18 mm"
        elif concept and mentions and concept == mentions[-1].concept and "zone" in items[s].senses:
            lo, hi = min(lo, mentions[-1].first), max(hi, mentions.pop().last)  # "the left lower and right upper lobes"
        mentions.append(Mention(concept or "", lo, hi, at, (items[lo].first, items[hi - 1].last), denies, nearly))
        more = concept and items[s].senses.get("concept") in lexicon.concepts[concept].ancestors
        more = more and not any("negation_before" in item.senses for item in items[s:q])  # "a mass, NO cavitation"
        if concept and (device or more or "holds" not in items[s].senses):
            used.add(s)  # "cavitating pulmonary mass" says more than "pulmonary mass"
    for s in likewise:
        concept, denies = meaning(items[s], qualities, lexicon)
        mentions.append(Mention(concept or "", s, s + 1, s, (items[s].first, items[s].last), denies, nearly))
    return mentions


def _is_noun(items: list[Item], i: int) -> bool:
    """Whether the quality at `i` is a noun, which names no structure behind it: "CLOT in the artery"."""
    if i >= len(items) or "quality" not in items[i].senses or "severity" in items[i].senses:
        return False
    behind = items[i + 1].senses if i + 1 < len(items) else {}
    return behind.keys().isdisjoint(("structure", "holds", "concept", "side", "zone", "quality"))


def _likewise(items: list[Item], q: int, lexicon: Lexicon) -> list[int]:
    """Returns the structures that share a quality: "the ribs are fractured, AS IS THE CLAVICLE"."""
    denied = any("negation_before" in item.senses for item in items[:q])
    start = 0 if denied else likewise_from(items, q, lexicon.small)
    found: list[int] = []
    for s in range(start, len(items) if start else 0):
        if items[s].word in lexicon.small.separators - {"and"} or not items[s].senses.keys().isdisjoint(_GOING_ON):
            break
        if "concept" in items[s].senses or _adjunct(items, s):
            break  # "a calcified aorta as well as A LUNG NODULE"
        if found and "level" in items[s].senses and items[s - 1].word == "of":
            continue  # "the transverse processes OF T5"
        found += [s] if "structure" in items[s].senses else []
    return found


def _is_named_before(items: list[Item], s: int, qualities: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the bare tube at `s` is a device named before it: "a tracheostomy, THE TUBE above the carina"."""
    meant, _ = meaning(items[s], qualities, lexicon)
    named = [lexicon.concepts[item.senses["concept"]] for item in items[:s] if "concept" in item.senses]
    return meant is not None and any(each.expected_tip & lexicon.concepts[meant].expected_tip for each in named)


def _forward(items: list[Item], q: int, qualities: tuple[str, ...], lexicon: Lexicon) -> list[int]:
    """Structures after a quality: "enlarged heart", "normal heart and hila", "elevation of the diaphragm"."""
    structures: list[int] = []
    if _is_aside(items, q):
        return structures
    joint = True
    of = parted = False
    for s in range(q + 1, min(len(items), q + 14)):
        item = items[s]
        sized = item.word == "size" and s == q + 1 and "severity" in items[q].senses
        if sized or item.word in lexicon.small.touching:
            break  # "snapped WHERE it passes the clavicle", "grown to a large SIZE and pushes the heart"
        if "concept" in item.senses and "severity" in items[q].senses and not structures:
            break  # "a LARGE cyst in the liver", "a LARGE embolus in the pulmonary artery"
        parted = parted or item.word in lexicon.small.joints
        fits = suits(item, qualities, lexicon)
        if structures and not of and items[s - 1].word in lexicon.small.indefinite:
            break  # "a bowed fissure, and A HILUM"
        fits = fits and not (structures and "holds" in item.senses and "structure" not in item.senses)
        joint = joint or _goes_on_in_list(items, s, structures, lexicon)
        if fits and joint and not _adjunct(items, s):
            structures.append(s)
            joint = False
        elif structures and "change" in item.senses and (joint or _is_subject(items, structures[-1], s, lexicon)):
            structures = structures if joint else _drop_last_group(items, structures)
            break  # "enlargement of the heart, STABLE mediastinal contours", "..., mediastinal contours APPEAR SIMILAR"
        elif structures and item.senses.keys() & _READING:
            break  # "calcified nodes, CONSISTENT WITH old disease", "prominent hilum, LIKELY vascular"
        elif item.word in lexicon.small.joints:
            beside = s == q + 1 or (item.word == "," and not of)
            goes_on = "normal" not in qualities and (_next_is_quality(items, s) or _only_places(items, s))
            if not structures and beside and not goes_on and not _parts_size(items, s):
                break
            joint = True
        elif (
            "item_break" in item.senses and item.word != "with" and not structures and _place_follows(items, s, lexicon)
        ):
            of = joint = True
        elif item.word == ";" or item.word in _CAUSES or not _GOING_ON.isdisjoint(item.senses):
            if structures and "item_break" in item.senses and _predicate_follows(items, s):
                structures = _drop_last_group(items, structures)
            break
        elif "concept" in item.senses and "structure" not in item.senses and "quality" not in item.senses:
            break
        elif item.word in lexicon.small.places:
            of = True
            joint = joint or not structures
        elif "quality" in item.senses and structures and not (item.senses.keys() & {"severity", "zone"}):
            structures = _drop_last_group(items, structures) if not of else structures
            break
    return structures


def _goes_on_in_list(items: list[Item], s: int, structures: list[int], lexicon: Lexicon) -> bool:
    """Whether a structure continues a list whose comma is lost: "normal heart size MEDIASTINUM and hila"."""
    if structures[-1:] != [s - 1] or "structure" not in items[s].senses:
        return False
    joined = any(item.word in lexicon.small.joints and item.word != "," for item in items[s + 1 : s + 2])
    return joined and any("structure" in item.senses for item in items[s + 2 : s + 4])


def _leads_to(items: list[Item], i: int, q: int) -> bool:
    """Whether a word for what is near leads to the quality at `q`: "lower lobe NEXT TO A calcified plaque"."""
    return i + 1 < q and all(item.word in _TO for item in items[i + 1 : q])


def _parts_size(items: list[Item], i: int) -> bool:
    """Whether a comma is before or behind a size: "a rim of air, 8 MM, is seen in the pleural space"."""
    return any(
        k >= 0
        and [items[k].word, *(each.word for each in items[k + 2 : k + 3])] == [",", ","]
        and "measure" in items[k + 1].senses
        for k in (i, i - 2)
    )


def _is_aside(items: list[Item], q: int) -> bool:
    """Whether a size between commas is that of the finding before it: "hernia, LARGE, behind the heart"."""
    between = q > 1 and q + 1 < len(items) and items[q - 1].word == items[q + 1].word == ","
    return between and "severity" in items[q].senses and "concept" in items[q - 2].senses


def _adjunct(items: list[Item], s: int) -> bool:
    """Whether a structure only describes the finding after it ("lung nodule", "lower lobe 5 mm granuloma").

    One that is named by an adjective goes on through a list: "bulky MEDIASTINAL and hilar lymphadenopathy".
    """
    if "concept" in items[s].senses:
        return False
    if "level" in items[s].senses and s + 1 < len(items) and _PART in items[s + 1].senses.get("structure", ()):
        return True  # "L1 TRANSVERSE PROCESS"
    listed = _is_adjective(items[s])
    for item in items[s + 1 : s + (_LIST if listed else _NOUN)]:
        if "concept" in item.senses:
            return True
        goes_on = item.word in _LISTING or _is_adjective(item)
        if not (item.senses.keys() & _ADJOINED or (listed and goes_on)):
            return False
    return False


def _is_adjective(item: Item) -> bool:
    return item.last - item.first == 1 and item.word.endswith(_ADJECTIVE)


def _place_follows(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether the verb at `i` leads to a place ("changes are present in the spine")."""
    return any(item.word in lexicon.small.places for item in items[i + 1 : i + 5])


def _next_is_quality(items: list[Item], i: int) -> bool:
    """Whether a joint links two qualities of one structure ("tortuous and calcified aorta")."""
    for item in items[i + 1 : i + 4]:
        if "quality" in item.senses or "holds" in item.senses:
            return True
        if "structure" in item.senses or (item.senses and not (item.senses.keys() & _TRANSPARENT)):
            return False
    return False


def _only_places(items: list[Item], i: int) -> bool:
    """Whether nothing but a place is behind the comma at `i`: "Old fracture, left clavicle."."""
    behind = items[i + 1 : i + 10]
    plain = len(items) < i + 10 and all(
        item.senses.keys() <= _PLACES or item.senses.keys() & {"structure"} for item in behind
    )
    return items[i].word == "," and plain and not any("concept" in item.senses for item in behind)


def _predicate_follows(items: list[Item], i: int) -> bool:
    """Whether a verb at `i` is followed by a quality: then the structure before it is its subject."""
    return any(item.senses.keys() & {"quality", "change"} for item in items[i + 1 : i + 5])


def _is_subject(items: list[Item], s: int, i: int, lexicon: Lexicon) -> bool:
    """Whether the verb of change at `i` describes only the structure at `s`, which follows a comma."""
    return items[i].word in lexicon.small.verbs and items[s - 1].word == ","


def _drop_last_group(items: list[Item], structures: list[int]) -> list[int]:
    """Drops the last structure, which turned out to be the subject of the next statement, if it is not the only one."""
    return structures[:-1] if len(structures) > 1 else structures


def _backward(items: list[Item], q: int, qualities: tuple[str, ...], floor: int, lexicon: Lexicon) -> list[int]:
    """Structures before a quality: "the heart is enlarged", "heart size, mediastinum and hila are normal"."""
    structures: list[int] = []
    gap_has_joint = False
    read_as = not items[q - 1].senses.keys().isdisjoint(_READING) and items[q - 1].last - items[q - 1].first > 1
    aside = aside_before(items, q, lexicon.small)
    for s in range(q - 1, max(-1, q - 40), -1):
        item = items[s]
        if s in aside:
            continue
        if s == floor:
            described = "concept" in item.senses and _only_placed(items[s + 1 : q])
            both = ("holds" in item.senses and not read_as) or is_device(item, lexicon) or described
            if "concept" in item.senses and "change" in items[q].senses and "holds" in item.senses:
                break  # "gas in the mediastinum, INCREASED": the gas has
            if both and not structures and suits(item, qualities, lexicon):
                structures.append(s)  # "tortuous aorta with calcification", "the shunt tubing is interrupted"
            if structures or "quality" not in item.senses:
                break
            floor = -2  # a second quality of the same structure: "the aorta is tortuous and calcified"
            continue
        subject = _subject_at(items, s, qualities, lexicon) if not structures else None
        if subject is not None:
            return [subject]  # "the NODES at the left hilum are LARGER"
        placed = _placed_at(items, s, lexicon) if items[q].senses.keys() & _DESCRIBED else None
        if "change" in items[q].senses and not structures and placed is not None:
            return []  # "the mass in the lower lobe HAS SHRUNK": the lobe has not
        if placed is not None and (structures or _only_placed(items[s + 1 : _held(items, placed, q, lexicon)])):
            # "nodule in the left lung, CALCIFIED", "... with central CALCIFICATION": the nodule is
            return structures or ([placed] if suits(items[placed], qualities, lexicon) else [])
        if suits(item, qualities, lexicon):
            if read_as and not structures and _is_place_of_finding(items, s, lexicon):
                break  # "free gas under the DIAPHRAGM, in keeping with perforation"
            if not structures or gap_has_joint or _is_listed_before(items, s, structures):
                structures.append(s)
            gap_has_joint = False
        elif item.word in lexicon.small.joints:
            gap_has_joint = True
        elif item.word in lexicon.small.contrasts and not structures and not gap_has_joint:
            if items[s + 1].word in lexicon.small.definite:
                break  # "fracture of the rib, although THE LATERAL VIEW is missing"
            continue  # "the heart is obscured but appears enlarged"
        elif (
            "clause_end" in item.senses
            or (not structures and item.word in lexicon.small.nearby and _leads_to(items, s, q))
            or (structures and "not_reached" in item.senses)  # "lies in the esophagus and DOES NOT REACH the stomach"
            or (structures and ("item_break" in item.senses or item.word == ":"))
            or ("concept" in item.senses and "structure" not in item.senses and not structures)
        ):
            break
    return structures


def _is_listed_before(items: list[Item], s: int, structures: list[int]) -> bool:
    """Whether a structure begins a list whose commas are lost: "HEART SIZE mediastinum and hila are normal"."""
    led = any("location_preposition" in item.senses and item.word != "the" for item in items[max(0, s - 2) : s])
    return len(structures) > 1 and structures[-1] == s + 1 and not led


def _subject_at(items: list[Item], s: int, qualities: tuple[str, ...], lexicon: Lexicon) -> int | None:
    """Returns the structure that can have the quality as well, if the one at `s` only says where it is."""
    if "structure" not in items[s].senses or "concept" in items[s].senses:
        return None
    floor = max(-1, s - _PLACE)
    at = next((k for k in range(s - 1, floor, -1) if not items[k].senses.keys() <= _LEADING), -1)
    if at >= 0 and any(item.word in lexicon.small.joints for item in items[at + 1 : s]) and "zone" in items[at].senses:
        return _subject_at(items, at, qualities, lexicon)  # "the nodes OF THE HILUM AND THE MEDIASTINUM are normal"
    led = at >= 0 and any(item.word in _AT for item in items[at + 1 : s])
    return at if led and "concept" not in items[at].senses and suits(items[at], qualities, lexicon) else None


def _is_place_of_finding(items: list[Item], s: int, lexicon: Lexicon) -> bool:
    """Whether the structure at `s` only says where a finding is: "free gas BENEATH THE DIAPHRAGM"."""
    before = items[max(0, s - _PLACE) : s] if "concept" not in items[s].senses else []
    at = next((k for k in reversed(range(len(before))) if "concept" in before[k].senses), None)
    return at is not None and not any(item.word in lexicon.small.separators for item in before[at:])


def _held(items: list[Item], at: int, q: int, lexicon: Lexicon) -> int:
    """Returns where "with" is before the part at `q` that the lesion at `at` holds: "WITH central calcification"."""
    near = range(max(at + 1, q - _NEAR), q)
    lesion = items[at].senses.get("concept") in lexicon.roles["one_by_one"]
    if not lesion or "concept" not in items[q].senses or any("negation_before" in items[k].senses for k in near):
        return q
    return next((k for k in near if items[k].word == "with"), q)


def _only_placed(between: list[Item]) -> bool:
    """Whether nothing but its place and its size is behind a finding: "mass, 4 cm, CAVITATING"."""
    return all(
        item.senses.keys() <= _BEHIND and item.word != "with" and (item.senses or item.word in _ALL_OF_THEM)
        for item in between
    )


def _placed_at(items: list[Item], s: int, lexicon: Lexicon) -> int | None:
    """Returns the finding before the place at `s`, if nothing but its place and size are between them."""
    if "concept" in items[s].senses or not items[s].senses.keys() & {"zone", "structure"}:
        return None
    for k in range(s - 1, max(-1, s - _PLACE), -1):
        noun = "quality" in items[k].senses and items[k + 1].word == "of"  # "the LACERATION OF the lobe has shrunk"
        if noun or "concept" in items[k].senses or items[k].word in _NAMELESS:
            return k
        leads = items[k].word == "the" or items[k].word in lexicon.small.nearby
        if not items[k].senses.keys() <= _PLACING or not (items[k].senses or leads):
            return None
    return None
