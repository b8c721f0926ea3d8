"""What a sentence says of a finding that was named before.

"The fracture is displaced", "it has increased", "the latter is unchanged", "this finding is new": such words name no
finding of their own. They count nothing, and what they say is said of their antecedent: the finding that fits, the last
one first. In the impression, and in a sentence that sums up, a more general or a more special name for the same picture
at the same place is that picture again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rrgmetrics.reading.attributes import Attributes, build, describe, position_of, since
from rrgmetrics.reading.background import PLACES
from rrgmetrics.reading.change import give_changes, settle_changes
from rrgmetrics.reading.device_moves import is_move_to_come
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.model import Assertion, Finding, Span
from rrgmetrics.reading.place_words import is_other_side
from rrgmetrics.reading.places import near, same_side
from rrgmetrics.reading.similarity import concept_similarity, related
from rrgmetrics.reading.subjects import collecting

POINTING = 3  # sentences between a pronoun and what it points to, those that only point included
_SHORT = 9  # items of a sentence that only states an earlier size
SENTENCES = 1  # how far back a word that may name any picture points
FINDINGS = 40  # how many findings back any word points; keeps the reading linear
SUMMARY = "impression"
LEFT_BY = frozenset({"from", "after", "following", "post", "of"})
DRAINS = frozenset({"drain"})  # no other kind of tube is called so
BARE_DEVICES = frozenset({"catheter", "drain"})
_POSSESSIVE = frozenset({"its", "their"})
_GROWN = "oversized"  # "its SIZE HAS INCREASED": of a structure it says that it is large
_SELF_SAID = frozenset({"change", "quality"})  # a dimension with what it says: "NUMBER IS LOWER"
TOLD = frozenset({"change", "severity", "measure", "quality"})
OTHER_SIDE = {"left": "right", "right": "left"}
GAPS = ("severity", "per_cent", "count", "acuity", "change", "route", "position", "side", "measurements_mm")
SUMMED = ("morphology", "tip", "zones", "levels", "spans")


def antecedent(
    mention: Mention, fields: Attributes, findings: list[Finding], number: int, lexicon: Lexicon
) -> int | None:
    """Returns which finding a mention takes up again ("The opacity obscures the heart.").

    A definite word takes up what it is a more general name of ("the fracture": of a rib); a generic one ("the opacity")
    any picture of the same or of the sentence before.
    """
    if mention.assertion != "present":
        return None
    device = lexicon.concepts[mention.concept].is_device and _is_bare_device(mention)
    if not device and not mention.definite_article:
        return None
    generic = mention.concept in lexicon.roles["generic"]
    for k in range(len(findings) - 1, max(-1, len(findings) - FINDINGS - 1), -1):
        earlier = findings[k]
        if earlier.assertion == "absent" or not _may_be_at(earlier, fields, lexicon):
            continue
        is_device = device and lexicon.concepts[earlier.concept].is_device
        tipped = is_device and earlier.concept in lexicon.roles["tipped"] and _goes_its_way(fields, earlier, lexicon)
        other = mention.concept in DRAINS and fields["sides"] and not related(mention.concept, earlier.concept, lexicon)
        tipped = tipped and not other  # "ETT and a RIGHT DRAIN"
        if tipped and number - earlier.sentence <= (SENTENCES if mention.definite_article else 0):
            return k
        if mention.definite_article and _is_name_for(mention.concept, earlier.concept, lexicon):
            own = (each for each in findings[:k] if each.sentence == earlier.sentence and each.assertion != "absent")
            return None if any(each.concept == mention.concept for each in own) else k  # it is the one of its own name
        picture = generic and mention.definite_article and earlier.concept in lexicon.roles["picture"]
        picture = picture or (mention.definite_article and earlier.concept in _in_organs(lexicon, mention.concept))
        if picture and number - earlier.sentence <= SENTENCES:
            return k
    return None


def is_still_normal(
    mention: Mention, fields: Attributes, items: Sequence[Item], findings: Sequence[Finding], lexicon: Lexicon
) -> bool:
    """Whether what counts where it is seen was normal before and is stable: "Small nodes. THE NODES ARE UNCHANGED."."""
    own = items[mention.at].senses
    if "listed" not in own or fields["change"] != "stable" or fields["measurements"]:
        return False
    names = {name for (structure, _), name in lexicon.findings_of.items() if structure in own["structure"]}
    before = [f for f in findings[-FINDINGS:] if f.concept in names and _may_be_at(f, fields, lexicon)]
    seen = any(f.assertion != "absent" and lexicon.concepts[f.concept].counts for f in before)
    return bool(before) and not seen


def _goes_its_way(fields: Attributes, earlier: Finding, lexicon: Lexicon) -> bool:
    """Whether a device may end where a bare word's does: the catheter IN THE RIGHT ATRIUM is no gastric tube."""
    device = lexicon.concepts[earlier.concept]
    ways = {lexicon.tips[site].path for site in device.expected_tip | device.wrong_tip}
    return not (fields["tip"] and ways) or any(lexicon.tips[site].path in ways for site in fields["tip"])


def _is_name_for(name: str, concept: str, lexicon: Lexicon) -> bool:
    """Whether a definite name takes up a concept: a fracture that of a rib, "THE GENERATOR" a pacemaker."""
    own = lexicon.concepts[name]
    return name in lexicon.concepts[concept].ancestors or (own.is_device and concept in own.same_as)


@per_lexicon
def _in_organs(lexicon: Lexicon, lesion: str) -> frozenset[str]:
    """What a lesion is called in the organs: "a nodule of the adrenal ... THE NODULE is unchanged"."""
    if lesion not in lexicon.roles["one_by_one"]:
        return frozenset()
    return frozenset(name for (concept, _), name in lexicon.findings_in.items() if concept == lesion != name)


def _is_bare_device(mention: Mention) -> bool:
    """Whether one word alone names a device; beside another device it is a part of that one."""
    own = next((item for item in mention.modifiers if item.first == mention.tokens[0]), None)
    return own is not None and own.word in BARE_DEVICES and own.last - own.first == 1


def is_left_by(
    mention: Mention, items: Sequence[Item], findings: Sequence[Finding], number: int, lexicon: Lexicon
) -> bool:
    """Whether a mention is the operation that left the finding before: "clips from cholecystectomy"."""
    if not findings or findings[-1].sentence != number or findings[-1].assertion == "absent":
        return False
    left = [mention.concept, findings[-1].concept]
    of_operations = all(lexicon.concepts[c].is_device and c not in lexicon.roles["tipped"] for c in left)
    return of_operations and any(item.word in LEFT_BY for item in items[max(0, mention.first - 3) : mention.first])


def _may_be_at(earlier: Finding, fields: Attributes, lexicon: Lexicon) -> bool:
    sides = fields["sides"] - {"midline"}
    return (not sides or earlier.side is None or sides == {earlier.side}) and near(
        earlier.zones, frozenset(fields["zones"]), lexicon
    )


def add(earlier: Finding, more: Finding) -> Finding:
    """Returns a finding with what a later sentence adds; the first value of a field is kept, except a bad position."""
    gaps = {key: getattr(earlier, key) or getattr(more, key) for key in GAPS if key != "severity"}
    sums = {key: getattr(earlier, key) | getattr(more, key) for key in SUMMED if key != "spans"}
    if earlier.change == "stable" and more.change:
        gaps["change"] = more.change
    gaps["position"] = position_of(earlier.position, more.position)
    severity = earlier.severity if earlier.severity is not None else more.severity
    spans = tuple(dict.fromkeys(earlier.spans + more.spans))
    return replace(earlier, **gaps, **sums, severity=severity, spans=spans)


def add_what_is_said(items: list[Item], number: int, lexicon: Lexicon, findings: list[Finding], span: Span) -> bool:
    """Adds to the findings before what a sentence says of them; returns whether it points to any."""
    verb = pointer(items, lexicon)
    if verb is None and _is_size(items, lexicon):
        verb, pointed = 0, _sized_before(items, number, findings)
    elif verb is None:
        return False
    else:
        pointed = _pointed_at({item.word for item in items[:verb]}, number, findings, lexicon)
        other = {OTHER_SIDE.get(item.senses.get("side", "")) for item in items[:verb]} - {None}
        pointed = [k for k in pointed if findings[k].side not in other or len(other) > 1]  # "the RIGHT one is larger"
    for k in pointed:
        findings[k] = _said_of(findings[k], items, verb, lexicon, span)
    return bool(pointed)


def add_to_device(items: list[Item], lexicon: Lexicon, findings: list[Finding], span: Span) -> None:
    """Adds to the last device what a sentence without findings says of it ("The tip lies in the lower SVC.")."""
    if not any(item.word in lexicon.small.device_pointers or is_move_to_come(item, lexicon) for item in items):
        return
    for k in range(len(findings) - 1, max(-1, len(findings) - 4), -1):
        finding = findings[k]
        if finding.assertion != "absent" and lexicon.concepts[finding.concept].is_device:
            tips = {item.senses["tip"] for item in items if "tip" in item.senses}
            position = next((item.senses["position"] for item in items if "position" in item.senses), None)
            sizes = tuple(n for item in items for n in item.senses.get("measure", ()))
            findings[k] = replace(
                finding,
                tip=finding.tip | tips,
                position=position_of(finding.position, position),
                measurements_mm=finding.measurements_mm or sizes,
                spans=(*finding.spans, span),
            )
            return


def _is_size(items: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether a sentence only states a size: "Previously 13 mm.", "Was 13 mm in May.", "Diameter 4 cm."."""
    if len(items) > _SHORT or not any("measure" in item.senses or "before" in item.senses for item in items):
        return False
    named = any(item.word in lexicon.small.dimensions for item in items[:2])
    return named or items[0].word in lexicon.small.earlier


def _sized_before(items: Sequence[Item], number: int, findings: Sequence[Finding]) -> list[int]:
    """Returns the last finding, if the sentence before states its size, or this one does."""
    last = findings[-1] if findings else None
    if last is None or last.assertion == "absent" or number - last.sentence != 1:
        return []
    return [len(findings) - 1] if last.measurements_mm or "measure" in {k for i in items for k in i.senses} else []


def other_side(
    items: list[Item], number: int, lexicon: Lexicon, findings: Sequence[Finding], span: Span
) -> list[Finding]:
    """Returns the finding of the sentence before on the other side ("Left effusion larger. RIGHT UNCHANGED.")."""
    if not findings or not items:
        return []
    if items[0].senses.keys() != {"side"} and items[0].word not in lexicon.small.definite:
        return []
    before, sides = findings[-1], {item.senses["side"] for item in items if "side" in item.senses}
    if any("quality" in item.senses and item.senses.keys().isdisjoint({"severity", "change"}) for item in items):
        return []  # "left clear", but "the right one is LARGER"
    words = [item for item in items if item.word != "one"]  # "the right ONE is larger"
    told = {kind for item in words for kind in item.senses} - {"side", "location_preposition", "item_break"}
    there = before.assertion != "absent" or before.change == "resolved"
    last = before.sentence == number - 1 and there
    if not last or {before.side, *sides} != {"left", "right"} or len(sides) > 1 or not told <= TOLD or not told:
        return []
    place = (items[0].first, items[-1].last)
    settle_changes(items, (), lexicon)
    gone = any(item.senses.get("change") == "resolved" for item in items)  # "The left HAS GONE."
    assertion: Assertion = "absent" if gone else "uncertain" if before.assertion == "uncertain" else "present"
    mention = Mention(before.concept, 0, 0, -1, place, assertion=assertion, modifiers=words)
    return [_named_again(mention, before, number, len(findings), lexicon, span)]


def _named_again(
    mention: Mention, before: Finding, number: int, observation: int, lexicon: Lexicon, span: Span
) -> Finding:
    """Returns the finding of a mention that has its name from the finding before."""
    give_changes(mention.modifiers, [mention], lexicon)
    return build(mention, describe(mention, lexicon), before.section, number, observation, (span,))


def clause_ahead(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> int:
    """Returns where the clause before the first mention ends: "it has increased | and shifts the mediastinum"."""
    if items[0].word not in lexicon.small.subjects and items[0].word not in lexicon.small.definite:
        return 0  # it does not point back
    first = min((mention.first for mention in mentions), default=0)
    joints = lexicon.small.separators | lexicon.small.strong_separators
    return next((i for i in range(first) if items[i].word in joints or "clause_end" in items[i].senses), 0)


def pointer(items: Sequence[Item], lexicon: Lexicon) -> int | None:
    """Returns the index after the words with which a sentence points back: "it has", "the latter is", "its size is"."""
    small = lexicon.small
    verb, points = 0, False
    while verb < len(items) and items[verb].word in small.subjects | small.definite | _POSSESSIVE:
        points = points or items[verb].word in small.subjects
        verb += 1
    sizes = _sizes_end(items, verb, lexicon)
    if _is_dimension(items, sizes, lexicon):
        return sizes
    points, verb = points or sizes > verb, sizes
    if verb and not points and verb < len(items):
        one = verb
        while one < len(items) and items[one].senses.keys() & PLACES:
            one += 1
        if one > verb and one < len(items) and items[one].word == "one":
            points, verb = True, one + 1  # "the right apical ONE has grown"
    if not points or verb == len(items):
        return None
    start = verb
    while verb + 1 < len(items) and (items[verb].senses.keys() & PLACES or items[verb].word in small.aside):
        verb += 1  # "the largest, in the lingula, is ..."
    says = items[verb].senses.keys() & {"item_break", "change"} or items[verb].word in small.saying
    of_the_film = any(
        "change" in a.senses and a.last - a.first <= 2 and "chest" in b.senses.get("structure", ())
        for a, b in pairwise(items[verb:])
    )
    return start if says and not of_the_film else None


def _sizes_end(items: Sequence[Item], at: int, lexicon: Lexicon) -> int:
    """Returns the index after "SIZE AND NUMBER", that of the last one if it says something: "the NUMBER IS LOWER"."""
    while _is_dimension(items, at, lexicon) and items[at].senses.keys().isdisjoint(_SELF_SAID):
        joined = items[at + 1 : at + 2] and items[at + 1].word == "and" and _is_dimension(items, at + 2, lexicon)
        at += 2 if joined else 1
    return at


def _is_dimension(items: Sequence[Item], at: int, lexicon: Lexicon) -> bool:
    """Whether a word names a size, without its number: "the EXTENT is unchanged", "their NUMBER IS LOWER"."""
    if at >= len(items) or items[at].word not in lexicon.small.dimensions or "structure" in items[at].senses:
        return False
    of_another = [item.word for item in items[at + 1 : at + 2]] == ["of"]  # "the SIZE OF the heart"
    return not of_another and not any("measure" in item.senses for item in items)


def _pointed_at(words: set[str], number: int, findings: list[Finding], lexicon: Lexicon) -> list[int]:
    """Returns which findings the words point to: of the sentence before, or of the one that it pointed to itself."""
    if not findings or findings[-1].assertion == "absent" or number - findings[-1].sentence > POINTING:
        return []
    last = findings[-1].sentence
    start = next((k for k in range(len(findings) - 1, -1, -1) if findings[k].sentence != last), -1) + 1
    before = [k for k in range(start, len(findings)) if findings[k].assertion != "absent"]
    if words & lexicon.small.of_two:
        two = before if len(before) > 1 else [*range(max(0, start - 1), start), *before]
        return [k for k in two if findings[k].assertion != "absent" and number - findings[k].sentence <= POINTING]
    if words & lexicon.small.all_before:
        return before
    return before[-1:] if words & lexicon.small.last_before else before[:1]


def _said_of(earlier: Finding, items: list[Item], verb: int, lexicon: Lexicon, span: Span) -> Finding:
    """Returns a finding with what the items from the verb on say of it."""
    place = (items[0].first, items[verb].first)
    said = items[verb:]
    settle_changes(said, (), lexicon)
    items[verb:] = said
    mention = Mention(earlier.concept, 0, 0, -1, place, assertion="absent", modifiers=said)
    give_changes(mention.modifiers, [mention], lexicon)
    fields = describe(mention, lexicon)
    if any(_GROWN in item.senses.get("quality", ()) for item in said):
        fields["change"] = fields["change"] or "worse"
    if not fields["measurements"]:  # "it WAS 7 mm in January"
        sized: Attributes = {**fields, "measurements": earlier.measurements_mm}
        if fields.get("severity") is None:
            sized["severity"] = earlier.severity
        fields["change"] = fields["change"] or since(sized, lexicon.concepts[earlier.concept], lexicon)
    more = build(mention, fields, earlier.section, earlier.sentence, earlier.observation, (span,))
    both = add(earlier, more)
    return replace(both, assertion="absent") if more.change == "resolved" else both


def share_with_one_before(
    items: Sequence[Item], mentions: Sequence[Mention], number: int, lexicon: Lexicon, findings: list[Finding]
) -> None:
    """Gives the finding before a statement the change of its only one, in place, where that is the change of both.

    "A mycetoma is seen, and the pleura is thickened, BOTH being absent in 2019."
    """
    here = {m.at: m for m in mentions if not m.denies and m.assertion != "absent"}
    if len(here) != 1 or not findings or findings[-1].assertion == "absent" or number - findings[-1].sentence != 1:
        return
    (mention,) = here.values()
    changed = next((i + 1 for i in range(mention.last, len(items)) if "change" in items[i].senses), mention.last)
    if mention.course and not lexicon.small.of_two.isdisjoint(collecting(items[mention.last : changed])):
        findings[-1] = replace(findings[-1], change=findings[-1].change or mention.course)


def relative_side(mention: Mention, findings: Sequence[Finding], lexicon: Lexicon) -> str | None:
    """Returns the side that follows from the finding before: "left pneumonectomy; nodule in the CONTRALATERAL lung"."""
    relations = (is_other_side(mention.modifiers, i, lexicon.small) for i in range(len(mention.modifiers)))
    relation = next((each for each in relations if each is not None), None)
    if relation is None:
        return None
    placed = (each for each in reversed(findings) if each.concept not in lexicon.roles["directed"])
    before = next((each.side for each in placed if each.side in OTHER_SIDE), None)
    return OTHER_SIDE[before] if before and relation else before


def sums_up(items: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether a sentence sums up the ones before: "in summary", "taken together", "overall"."""
    return not lexicon.small.summing.isdisjoint([item.word for item in items[:3]])


def named_before(finding: Finding, kept: Sequence[Finding], lexicon: Lexicon) -> Finding | None:
    """Returns the finding that the impression names again, by a more general or more special name."""
    fitting = [
        other
        for other in kept[-FINDINGS:]
        if other.assertion != "absent"
        and other.section != SUMMARY
        and _may_be_named(other.concept, finding.concept, lexicon)
        and _sides_meet(other.side, finding.side)
    ]
    return max(fitting, key=lambda other: concept_similarity(other.concept, finding.concept, lexicon), default=None)


def _may_be_named(a: str, b: str, lexicon: Lexicon) -> bool:
    """Whether one concept can be the other's name: also if what is above one is the same as the other."""
    names = (a, b), (b, a)
    above = ((one, lexicon.concepts[other].parent) for one, other in names)
    described = any(name in lexicon.rubric["precision"] for name in names)
    return described or related(a, b, lexicon) or any(parent in lexicon.concepts[one].same_as for one, parent in above)


def side_meant(finding: Finding, before: Finding, kept: Sequence[Finding], lexicon: Lexicon) -> str | None:
    """Returns the side that a finding named again adds: none, if "bilateral" sums up one finding of each side."""
    other = {"left": "right", "right": "left"}.get(before.side or "")
    sums_both = finding.side == "bilateral" and any(
        third.side == other and third.assertion != "absent" and related(third.concept, finding.concept, lexicon)
        for third in kept[-FINDINGS:]
    )
    return before.side if other and sums_both else finding.side


def _sides_meet(a: str | None, b: str | None) -> bool:
    return same_side(a, b) or "bilateral" in (a, b)
