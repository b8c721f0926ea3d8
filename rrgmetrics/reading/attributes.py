"""What the words around a mention say of it: where, how severe, how large, how many, since when; a device's end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypedDict, TypeVar

from rrgmetrics.reading.device_moves import (
    ADVANCED,
    MOVED_MM,
    MOVES,
    REPOSITIONED,
    WITHDRAWN,
    are_below,
    is_support_device,
)
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import BONES, DEVICES, Concept, Lexicon, per_lexicon
from rrgmetrics.reading.model import Finding, Span
from rrgmetrics.reading.places import named_at, near
from rrgmetrics.reading.recording import built, described, each_cue, note
from rrgmetrics.reading.senses import Senses, as_earlier, without

_Position = TypeVar("_Position", bound=str | None)
_PLACED = frozenset({"position", "positioned", "placement", "location", "high", "higher", "lower", "deep", "deeper"})
_AORTA = "aorta"  # the path of a balloon pump, which comes from below
_LANDMARKS = frozenset({"airway", "gut"})  # paths whose places say of a device of another path how high it ends
SAME_SIZE = 0.1  # share of its size by which a finding may differ between two studies that measure it alike


class Attributes(TypedDict, total=False):
    """What is said of a mention; of a denied one nothing.

    The first eight are there of every mention that is described. The last six only decide others.
    """

    sides: set[str]
    zones: set[str]
    levels: set[str]
    morphology: set[str]
    tip: set[str]
    measurements: tuple[float, ...]  # in mm
    change: str | None
    below: Sequence[bool]  # of each measurement, whether a device ends below what it is measured from
    severity: int | None
    per_cent: float | None  # that the severity was read from
    acuity: str
    route: str
    position: str
    count: int
    worse_side: str | None
    before: tuple[str, float]  # "measure" or "severity", and its value on an earlier study
    both: bool  # both sides have it, one more of it
    several: bool  # a place that is more than one
    not_reached: bool  # the next place is not where the device ends
    side_port: bool  # the next place is that of its side port


class Stated(NamedTuple):
    """A mention with the fields of its finding, and of its parts where the two sides are distinguished."""

    mention: Mention
    fields: Attributes
    parts: list[Attributes]


def state_mentions(mentions: Sequence[Mention], lexicon: Lexicon) -> list[Stated]:
    """Returns the mentions that say something, each under the name that it has at its place."""
    stated: list[Stated] = []
    for mention in mentions:
        if mention.denies and not mention.dropped:
            stated.append(Stated(mention, {}, []))
        elif not mention.dropped:
            fields = describe(mention, lexicon)
            mention.concept = named_at(mention.concept, frozenset(fields["zones"]), lexicon)
            stated.append(Stated(mention, fields, by_side(mention, fields, lexicon)))
    return stated


def describe(mention: Mention, lexicon: Lexicon) -> Attributes:
    """Returns what a mention's modifiers say of it."""
    device = lexicon.concepts[mention.concept]
    group = device.group
    ends = mention.concept in lexicon.roles["tipped"] or mention.concept in lexicon.roles["lodged"]
    leads = _leads(mention, lexicon)
    fields: Attributes = {"morphology": set(), "tip": set(), "zones": set(), "sides": set(), "levels": set()}
    fields["measurements"] = ()
    fields["below"] = are_below(mention.modifiers)
    for senses in each_cue(_all_senses(mention, lexicon), mention, fields):
        if "several" in senses and "listed" not in senses:
            fields["several"] = True
        if "asymmetry" in senses:
            fields["both"] = True
            fields["worse_side"] = senses["asymmetry"]
            continue
        if "side" in senses or "zone" in senses:
            _place(fields, senses, lexicon, leads, group)
        if "severity" in senses and fields.get("severity") is None:
            fields["severity"] = senses["severity"]
        if "before" in senses:
            fields.setdefault("before", senses["before"])
        if "quality" in senses and "borderline" in senses["quality"]:
            fields["severity"] = 0
        if "denied" in senses:
            senses = without(senses, "position")
        if "acuity" in senses:
            fields.setdefault("acuity", senses["acuity"])
        if "route" in senses and device.is_device:
            fields.setdefault("route", senses["route"])
        if "position" in senses:
            fields["position"] = position_of(fields.get("position"), senses["position"])
        if "count" in senses:
            fields.setdefault("count", senses["count"])
        if senses.get("tip") in device.expected_tip and fields.get("position") == senses.get("position"):
            fields.pop("position", None)  # a double-lumen tube belongs into a main bronchus
        if "not_reached" in senses:
            fields["not_reached"] = True
        if "level" in senses and group in (BONES, DEVICES):
            fields["levels"].update(senses["level"])
        if "morphology" in senses:
            fields["morphology"].add(senses["morphology"])
        if "side_port" in senses:
            fields["side_port"] = True
        elif ends and "tip" in senses:
            _tip(fields, senses["tip"], device, lexicon)
        if "measure" in senses:
            fields["measurements"] += senses["measure"]
    if device.never_in and not fields["tip"] and _ends_in_any(device.never_in, mention, lexicon):
        fields.setdefault("position", "bad")
    if group == BONES:
        fields["zones"] -= _own_bones(lexicon, mention.concept)
    if mention.concept in lexicon.roles["directed"] and len(fields["sides"]) > 1:
        fields["sides"] = _directions(mention) or fields["sides"]
    if not fields["levels"].isdisjoint(device.expected_levels):
        fields.pop("position", None)  # "in a high position, at T7"
    if not fields["sides"] and (fields.get("both") or fields.get("several")):
        fields["sides"].add("bilateral")
    if mention.concept in lexicon.roles["unpaired"]:
        fields["sides"].clear()
    if "bilateral" in fields["sides"] and len(fields["sides"]) == 2:
        fields.setdefault("worse_side", one_side(fields["sides"] - {"bilateral"}))
    if device.is_device:
        fields.pop("severity", None)  # "the tube has been advanced", "large-bore tube"
    if fields.get("severity") is not None:
        fields["per_cent"] = _per_cent(mention, fields["severity"])
        note(mention, "per_cent", fields["per_cent"], _per_cent, because=("severity",))
    grown = since(fields, device, lexicon)
    note(mention, "change", grown, since, because=("measurements_mm", "severity", "before"))
    # "no change but larger, was small"
    course = grown if grown and mention.course == "stable" else mention.course or grown
    astray = fields.get("position") == "bad" or not fields["tip"].isdisjoint(device.wrong_tip)
    fields["change"] = _course(mention, mention.change or course, lexicon, astray=astray)
    described(mention, fields)
    return fields


def _per_cent(mention: Mention, severity: int | None) -> float | None:
    """Returns the number that the severity was read from, "pneumothorax of 15%"; None of a range or of two studies."""
    shares = [item for item in mention.modifiers if "severity" in item.senses and item.word[:1].isdigit()]
    if len(shares) != 1 or shares[0].senses["severity"] != severity:
        return None
    return float(shares[0].word)


def _course(mention: Mention, told: str | None, lexicon: Lexicon, *, astray: bool) -> str | None:
    """Returns the change of a mention in the words for its kind: a device moves, a finding grows better or worse."""
    if not is_support_device(mention.concept, lexicon):
        return None if told in MOVES else told
    if told in ("better", "worse"):
        placed = any("position" in item.senses or item.word in _PLACED for item in mention.modifiers)
        told = REPOSITIONED if placed else None
    elif told in (None, "stable"):
        moves = (item.senses.get("change") for item in mention.modifiers)
        told = next((move for move in moves if move in MOVES), told)
    return None if astray and told in MOVES else told  # "ADVANCED into the right main bronchus" says where it is


@per_lexicon
def _own_bones(lexicon: Lexicon, concept: str) -> frozenset[str]:
    """Returns the bone that a finding's name states, which is no place besides: a fracture OF THE CLAVICLE."""
    bones = {bone for (bone, _), name in lexicon.findings_of.items() if name == concept and bone in lexicon.zones}
    return frozenset(bones) if len(bones) == 1 else frozenset()  # a lesion may be one of any bone


def _directions(mention: Mention) -> set[str]:
    """Returns the side that a shift goes to: "the overinflated right lung pushes the mediastinum TO THE LEFT"."""
    items = sorted((item for item in mention.modifiers if "side" in item.senses), key=lambda item: item.first)
    behind = [item for item in items if item.first >= mention.tokens[0]]
    return {(behind or items[-1:])[0].senses["side"]} if items else set()


def _leads(mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a finding leads to a place, as a tube does; a coin lies at one."""
    return mention.concept in lexicon.roles["tipped"] and mention.concept not in lexicon.roles["lodged"]


def since(fields: Attributes, concept: Concept, lexicon: Lexicon) -> str | None:
    """Returns the change that a size or a severity of an earlier study states ("8 mm, previously 12 mm")."""
    kind, then = fields.get("before", ("", None))
    now = max(fields["measurements"], default=None) if kind == "measure" else fields.get("severity")
    if now is None or then is None:
        return None
    if kind == "measure" and is_support_device(concept.key, lexicon):
        return _moved(now, then, fields.get("below", ()), concept, lexicon)
    difference = now - then
    if abs(difference) <= (_same_size(then, concept, lexicon) if kind == "measure" else 0):
        return "stable"
    return "worse" if difference > 0 else "better"


def _moved(now: float, then: float, below: Sequence[bool], concept: Concept, lexicon: Lexicon) -> str:
    """Returns which way a device went whose depth was another: "2 cm above the carina, previously 5 cm"."""
    depths = [-mm if sunk else mm for mm, sunk in zip((now, then), (*below, False, False), strict=False)]
    further = depths[0] < depths[1]
    if abs(depths[0] - depths[1]) <= MOVED_MM:
        return "stable"
    from_below = any(lexicon.tips[site].path == _AORTA for site in concept.expected_tip)
    return ADVANCED if further != from_below else WITHDRAWN


def _same_size(then: float, concept: Concept, lexicon: Lexicon) -> float:
    """Returns how far a size may move without a change: an aorta of 48 mm that has 52 mm has grown."""
    names = {concept.key, *concept.ancestors}
    row = next((row for row in lexicon.rubric["thresholds"] if not names.isdisjoint(row["concepts"])), None)
    return min(SAME_SIZE * then, row["beyond"]) if row else SAME_SIZE * then


def _is_landmark(site: str, device: Concept, lexicon: Lexicon) -> bool:
    """Whether a place only says how high a device ends: "the line ends at the carina", "is out of view"."""
    own = {lexicon.tips[name].path for name in device.expected_tip | device.wrong_tip}
    return bool(own) and lexicon.tips[site].path in _LANDMARKS - own


def _tip(fields: Attributes, site: str, device: Concept, lexicon: Lexicon) -> None:
    """Adds where a device ends; where its side port lies only tells whether it is far enough in."""
    if fields.pop("not_reached", False) or _is_landmark(site, device, lexicon):
        return  # "does not reach the stomach"
    if fields.pop("side_port", False) and site in device.wrong_tip:
        fields["position"] = "bad"
    else:
        fields["tip"].add(site)


def _ends_in_any(structures: frozenset[str], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a device lies in one side of a structure: the feeding tube "OVER THE LEFT LUNG"."""
    leads = sided = False
    for item in mention.modifiers:
        if item.first < mention.tokens[1]:
            continue
        sided = leads and (sided or item.senses.get("side") in ("left", "right"))
        if sided and not structures.isdisjoint(item.senses.get("structure", ())):
            return True
        if "location_preposition" in item.senses:
            leads, sided = True, False  # "to the right in the chest"
        else:
            leads = leads and ("side" in item.senses or item.word in lexicon.small.heights)
    return False


def by_side(mention: Mention, fields: Attributes, lexicon: Lexicon) -> list[Attributes]:
    """Returns one set of fields for each side with a severity or a place of its own.

    "Moderate left and small right effusions" are two findings, as are "opacities in the lingula and the right apex".
    """
    if fields["sides"] - {"midline"} != {"left", "right"} or fields.get("both"):
        return [fields]
    parts: dict[str, Attributes] = {side: {"zones": set(), "levels": set()} for side in ("left", "right")}
    side, step, height = None, None, None
    items = sorted(mention.modifiers, key=lambda item: item.first)
    for i, item in enumerate(items):
        senses = item.senses
        step, zone = senses.get("severity", step), senses.get("zone")
        named = senses.get("side") or (lexicon.zones[zone].side if zone else None)
        if named in parts:
            side = named
            if step is not None:
                parts[side].setdefault("severity", step)
            if height and height in fields["zones"]:
                parts[side]["zones"].add(height)  # "at the apex on the left"
            step = height = None
        if zone and (side is None or _leads_to_side(items, i)):
            height = zone
        elif side is not None:
            parts[side]["zones"] |= fields["zones"] & {zone}
            parts[side]["levels"] |= fields["levels"].intersection(senses.get("level", ()))
    left, right = parts.values()
    severities = "severity" in left and "severity" in right
    zones = left["zones"], right["zones"]
    of_one_lung = any(lexicon.zones[zone].side for zone in {*left["zones"], *right["zones"]})
    apart = all(zones) and (of_one_lung or not near(*zones, lexicon))
    if not severities and not apart and not (left["levels"] and right["levels"]):
        return [fields]
    if not (left["zones"] and right["zones"]):
        left["zones"] = right["zones"] = fields["zones"]
    return [{**fields, **part, "sides": {side}} for side, part in parts.items()]


def _leads_to_side(items: list[Item], i: int) -> bool:
    """Whether the side of the place at `i` is behind it: "the lower lobe ON THE RIGHT"."""
    behind = items[i + 1 : i + 4]
    words = [item.word for item in behind]
    return words[:2] == ["on", "the"] and len(behind) > 2 and behind[2].senses.get("side") in ("left", "right")


def _is_beside(item: Item, mention: Mention) -> bool:
    """Whether a vessel is only beside a finding: "encases THE LEFT SUBCLAVIAN VEIN", but "clot in" it."""
    inside = mention.tokens[0] <= item.first < mention.tokens[1]
    return not inside and not any("zone" in part for part in item.senses.get("inside", ()))


def _all_senses(mention: Mention, lexicon: Lexicon) -> Iterator[Senses]:
    """Yields what describes a mention: the words around it, then the words inside its own term."""
    earlier: tuple[str, ...] = ()
    tipped = _leads(mention, lexicon)
    steps = sum("severity" in item.senses for item in mention.modifiers)
    now = steps > 1 or any(item.word == "now" for item in mention.modifiers)
    for item in mention.modifiers:
        old = next((kind for kind in earlier if kind in item.senses), None) if earlier else None
        if "before" in item.senses:
            yield item.senses
        elif old:
            yield as_earlier(item.senses, old)
        elif item.senses:
            yield item.senses
            if "tip" not in item.senses or not (tipped or _is_beside(item, mention)):
                yield from item.senses.get("inside", ())
        risen = item.word in lexicon.small.rising and "change" in item.senses
        caused = item.word == "from" and item.first < mention.tokens[0]  # "collapse FROM a large effusion"
        if (item.word in lexicon.small.earlier and not caused) or risen:
            verb = item.word in lexicon.small.verbs and item.word != "had"
            was = (verb and not now) or "versus" in item.senses
            earlier = ("measure",) if was else ("measure", "severity")  # "was mild", "was mild and is now severe"
        elif earlier and item.word not in lexicon.small.size_links | lexicon.small.indefinite:
            earlier = ()


def _place(fields: Attributes, senses: Senses, lexicon: Lexicon, tipped: bool, group: str) -> None:
    if "side" in senses:
        fields["sides"].add(senses["side"])
    zone = senses.get("zone")
    if zone is not None and not (tipped and "tip" in senses) and group not in lexicon.zones[zone].never:
        fields["zones"].add(zone)
        implied = lexicon.zones[zone].side
        if implied:
            fields["sides"].add(implied)


def position_of(first: str | None, more: _Position) -> str | _Position:
    """Returns the position of a device that is described twice: "IN PLACE with its side port OUTSIDE the pleura"."""
    return "bad" if more == "bad" else first or more


def one_side(sides: set[str]) -> str | None:
    """Returns the side a set of side words stands for."""
    sides = sides - {"midline"}
    if not sides:
        return None
    if "bilateral" in sides or len(sides) > 1:
        return "bilateral"
    return next(iter(sides))


def build(
    mention: Mention, fields: Attributes, section: str, sentence: int, observation: int, spans: tuple[Span, ...]
) -> Finding:
    """Returns the finding of a mention."""
    finding = Finding(
        concept=mention.concept,
        assertion=mention.assertion,
        certainty=mention.certainty,
        side=one_side(fields["sides"]),
        worse_side=fields.get("worse_side"),
        zones=frozenset(fields["zones"]),
        levels=frozenset(fields["levels"]),
        severity=fields.get("severity"),
        per_cent=fields.get("per_cent"),
        measurements_mm=fields["measurements"],
        count=fields.get("count"),
        acuity=fields.get("acuity"),
        change=fields["change"],
        morphology=frozenset(fields["morphology"]),
        tip=frozenset(fields["tip"]),
        route=fields.get("route"),
        position=fields.get("position"),
        observation=observation,
        section=section,
        sentence=sentence,
        spans=spans,
    )
    return built(finding, mention)
