"""Observations and their differences in words, as a radiologist would write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import NamedTuple

from rrgmetrics.comparing.model import INNUMERABLE, INTERPRETED, Attribute, Unit
from rrgmetrics.reading.levels import number_of
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.model import Finding, Span
from rrgmetrics.reading.sizes import RATIO
from rrgmetrics.utils.text_format import capitalized

ARROW = "→"
NOT_GIVEN = "not given"
_QUOTED = 100  # letters of a report in a sentence
_HEART_RATIO = re.compile(
    r"(?:\bC/?T ?R|thoracic (?:ratio|index))\b[^\d.;]{0,80}(\d*[.,]?\d+(?: ?%| ?/ ?\d+(?:\.\d+)?)?)", re.IGNORECASE
)
_TYPE = re.compile(r"(?<=^type )\w$")  # "type A"
_STEM = 8  # letters in which "mediastinal" and "mediastinum" agree
_CERTAINTIES = {"definite": "certain", "probable": "probable", "not_excluded": "not excluded"}


def phrase(unit: Unit, lexicon: Lexicon) -> str:
    """Returns an observation in words: "small right upper lobe nodule (4 mm)"."""
    head = unit.head
    name, area = _name(unit, lexicon), _area(unit, lexicon)
    severity = _severity(unit, lexicon)
    words = ["possible" if head.assertion == "uncertain" else "", severity if severity not in name.split() else ""]
    if words[-1] in lexicon.severity and name.partition(" ")[0].endswith("ed"):  # "mildly enlarged"
        words[-1] = words[-1] if words[-1] == "borderline" else f"{words[-1]}ly"
        words.insert(1, area)
        area = ""
    words += [_placed(name, area), _bracketed(_levels(unit, lexicon))]
    if lexicon.concepts[head.concept].is_device:
        words.append(_end(unit, lexicon))
    else:
        words += [_bracketed(_measures(unit, lexicon))]
    words.append(_bracketed((head.change or "").replace("_", " ")))
    return " ".join(filter(None, words))


def phrase_with_words(unit: Unit, text: str, lexicon: Lexicon) -> str:
    """Returns the phrase of an observation, with the report's words if they say more: 'nodule, "spiculated nodule"'."""
    words = phrase(unit, lexicon)
    said = [_acuity(unit, lexicon), *_described(unit, lexicon).split(", "), _number(unit, lexicon)]
    first = text[slice(*unit.spans[0])] if unit.spans else ""
    more = any(word not in words for word in said) or heart_ratio(text, unit.spans[:1])
    return f'{words}, "{shorten(first, _QUOTED, placeholder=" ...")}"' if first and more else words


def heart_ratio(text: str, spans: Sequence[Span]) -> str:
    """Returns the cardiothoracic ratio in some words of a report, "0.62"; "" if there is none."""
    found = (_HEART_RATIO.search(text, span.start, span.end + 2) for span in spans)  # with a sign of per cent
    return next((match[1] for match in found if match), "")


def difference(ref: Unit, cand: Unit, attribute: Attribute, lexicon: Lexicon, name: str = "") -> str:
    """Returns how an attribute of one finding differs: "Right pleural effusion, size: moderate → small".

    `name` is what of the attribute, the first thing that differs if it is not given.
    """
    label, a, b = _values(ref, cand, attribute, lexicon, name)
    place = {"side": _zones(ref, lexicon), "level": ref.side, "location": "", "position": ""}.get(
        label, _area(ref, lexicon)
    )
    levels = "" if label in ("location", "level") else _bracketed(_levels(ref, lexicon))
    subject = " ".join(filter(None, (_placed(_name(ref, lexicon), place or ""), levels)))
    return f"{capitalized(subject)}, {label}: {a} {ARROW} {b}"


class Differing(NamedTuple):
    """An attribute, its name, and what each report says of it; "" for nothing."""

    attribute: Attribute
    name: str
    reference: str
    candidate: str


def differing(ref: Unit, cand: Unit, lexicon: Lexicon) -> Iterator[Differing]:
    """Yields all that two reports say differently of one finding, error or not."""
    device = lexicon.concepts[ref.head.concept].is_device
    for attribute, values in {**_ATTRIBUTES, **(_OF_DEVICES if device else {})}.items():
        for name, value in values.items():
            a, b = value(ref, lexicon), value(cand, lexicon)
            if a != b:
                yield Differing(attribute, name, a, b)


def _values(ref: Unit, cand: Unit, attribute: Attribute, lexicon: Lexicon, name: str) -> tuple[str, str, str]:
    """Returns the name of an attribute, and what each report says of it; both in full where nothing shorter differs."""
    if attribute == "device_position":
        return _positions(ref, cand, lexicon)
    zones = _zones(ref, lexicon), _zones(cand, lexicon)
    if attribute == "location" and all(zones) and zones[0] != zones[1]:
        return "location", _place(ref, lexicon), _place(cand, lexicon)
    if attribute in INTERPRETED - {"certainty"}:
        ref, cand = _without_shared(ref, cand), _without_shared(cand, ref)
    for label, value in _ATTRIBUTES[attribute].items():
        a, b = (value(unit, lexicon) for unit in (ref, cand))
        if a != b and name in ("", label) and (attribute == "temporal" or (a and b)):
            return label, a or NOT_GIVEN, b or NOT_GIVEN
    first = next(iter(_ATTRIBUTES[attribute]))
    return first, phrase(ref, lexicon), phrase(cand, lexicon)


def _without_shared(unit: Unit, other: Unit) -> Unit:
    """Returns an observation without the names that the other has too, if it has more: nodules, likely METASTASES."""
    shared = {finding.concept for finding in other.readings}
    own = tuple(finding for finding in unit.readings if finding.concept not in shared)
    return replace(unit, readings=own) if own and (len(shared) > 1 or len(own) < len(unit.readings)) else unit


def _positions(ref: Unit, cand: Unit, lexicon: Lexicon) -> tuple[str, str, str]:
    """Returns what differs of the way in and the place of a device: "side", "route", or both and its tip."""
    values = {"side": _area, "level": _levels, "route": _route, "position": _tip, "distance": _distance, "": _position}
    differs = {name: (value(ref, lexicon), value(cand, lexicon)) for name, value in values.items()}
    differs = {name: each for name, each in differs.items() if each[0] != each[1]}
    label = next(iter(differs)) if len(differs) == 1 and "" not in differs else "position"
    a, b = (", ".join(filter(None, (each[i] for each in differs.values()))) for i in (0, 1))
    return label, a or NOT_GIVEN, b or NOT_GIVEN


def _severity(unit: Unit, lexicon: Lexicon) -> str:
    step = next((finding.severity for finding in unit.readings if finding.severity is not None), None)
    if step is None:
        return ""
    if unit.head.concept in lexicon.roles["sized"] and step in lexicon.size_names:
        return lexicon.size_names[step]
    return next((key.replace("_", " ") for key, value in lexicon.severity.items() if value == step), "")


def _size(unit: Unit, lexicon: Lexicon) -> str:
    return _severity(unit, lexicon) if unit.head.concept in lexicon.roles["sized"] else ""


def _extent(unit: Unit, lexicon: Lexicon | None = None) -> str:
    share = next((finding.per_cent for finding in unit.readings if finding.per_cent is not None), None)
    return f"{share:g}%" if share is not None else ""


def _measures(unit: Unit, lexicon: Lexicon) -> str:
    sizes = next((finding.measurements_mm for finding in unit.readings if finding.measurements_mm), ())
    return measured(sizes, unit.head.concept, lexicon) if sizes else ""


def measured(sizes: Sequence[float], concept: str, lexicon: Lexicon) -> str:
    """Returns sizes in words: "12 x 8 mm"; what a ratio tells has no unit."""
    return " x ".join(f"{size:g}" for size in sizes) + " mm" * (concept not in _told_by_ratios(lexicon))


@per_lexicon
def _told_by_ratios(lexicon: Lexicon) -> frozenset[str]:
    """The concepts whose size is a number without a unit."""
    return frozenset(concept for (structure, _), concept in lexicon.findings_of.items() if structure.endswith(RATIO))


def _name(unit: Unit, lexicon: Lexicon) -> str:
    sums = lexicon.roles["device_sum"]
    keys = dict.fromkeys(f.concept for f in unit.readings if f.concept not in sums) or {unit.head.concept: None}
    names = dict.fromkeys(lexicon.concept_names.get(concept, lexicon.concepts[concept].name) for concept in keys)
    named = [part for name in names for part in name.split(" or ")]  # "pulmonary embolism or infarct" is one name
    return " or ".join(name for name in names if " or " in name or named.count(name) == 1)


def _side(unit: Unit, lexicon: Lexicon | None = None) -> str:
    worse = unit.head.worse_side
    return f"{unit.side}, worse on the {worse}" if unit.side == "bilateral" and worse else unit.side or ""


def _zones(unit: Unit, lexicon: Lexicon) -> str:
    name = _name(unit, lexicon)
    names = (lexicon.zones[zone].name for zone in sorted(unit.zones))
    return " ".join(zone for zone in names if zone and zone[:_STEM] not in name)


def _placed(name: str, area: str) -> str:
    """Returns a finding's name with its place: "right effusion", "collapse of the left lung"."""
    if area in ("left", "right") and " of the " in name:
        return name.replace(" of the ", f" of the {area} ", 1)
    if area.split()[-1:] == name.split()[:1]:  # "pulmonic VALVE", "VALVE calcification"
        area = area.rpartition(" ")[0]
    return f"{area} {name}".strip()


def _levels(unit: Unit, lexicon: Lexicon) -> str:
    return ", ".join(sorted(unit.head.levels, key=lambda level: lexicon.levels[level]))


def _area(unit: Unit, lexicon: Lexicon) -> str:
    """Returns the side and the zones; where bones are numbered, the side alone."""
    zones = "" if unit.head.levels else _zones(unit, lexicon)
    side = unit.side if unit.side not in f"{_name(unit, lexicon)} {zones}".split() else None  # "right aortic arch"
    return " ".join(filter(None, (side, zones)))


def _place(unit: Unit, lexicon: Lexicon) -> str:
    return " ".join(filter(None, (_area(unit, lexicon), _levels(unit, lexicon))))


def _tip(unit: Unit, lexicon: Lexicon) -> str:
    """Returns where a device ends: "tip 35 mm above the carina", "tip in the mid SVC"."""
    head = unit.head
    if head.measurements_mm and lexicon.concepts[head.concept].carina_cm:
        return f"tip {_measures(unit, lexicon)} above the carina"
    ends = [lexicon.tip_names.get(site, f"in the {site.replace('_', ' ')}") for site in sorted(head.tip)]
    return f"tip {' and '.join(ends)}" if ends else ""


def _distance(unit: Unit, lexicon: Lexicon) -> str:
    """Returns how far a device ends from a place that is no carina: "20 mm"."""
    return "" if lexicon.concepts[unit.head.concept].carina_cm else _measures(unit, lexicon)


def _position(unit: Unit, lexicon: Lexicon) -> str:
    return lexicon.position_names[unit.head.position] if unit.head.position else ""


def _route(unit: Unit, lexicon: Lexicon) -> str:
    return (unit.head.route or "").replace("_", " ")


def _end(unit: Unit, lexicon: Lexicon) -> str:
    """Returns how a device came in and where it ends, with "in brackets" and "with" as a noun phrase needs them."""
    route = _route(unit, lexicon)
    tip = _tip(unit, lexicon)
    size = "" if lexicon.concepts[unit.head.concept].carina_cm else _bracketed(_measures(unit, lexicon))
    told = (_bracketed(route) if route != "chest wall" else "", f"with {tip}" if tip else "", size)
    return " ".join(filter(None, (*told, _bracketed(_position(unit, lexicon)))))


def _certainty(unit: Unit, lexicon: Lexicon) -> str:
    """Returns how sure a report is: "possible"; of several readings: "certain opacity, possible pneumonia"."""
    words = [_CERTAINTIES.get(finding.certainty, finding.certainty) for finding in unit.readings]
    if len(words) == 1:
        return words[0]
    names = (_name(replace(unit, readings=(finding,)), lexicon) for finding in unit.readings)
    return ", ".join(f"{word} {name}" for word, name in zip(words, names, strict=True))


def _number(unit: Unit, lexicon: Lexicon) -> str:
    head: Finding = unit.head
    count = head.count if head.concept in lexicon.roles["tipped"] else number_of(head.levels, head.count, lexicon)
    return (INNUMERABLE if INNUMERABLE in head.morphology else "") if count is None else f"{count:g}"


def _acuity(unit: Unit, lexicon: Lexicon) -> str:
    return next((finding.acuity for finding in unit.readings if finding.acuity), "").replace("_", " ")


def _described(unit: Unit, lexicon: Lexicon) -> str:
    words = sorted(frozenset().union(*(finding.morphology for finding in unit.readings)))
    return ", ".join(_TYPE.sub(lambda found: found[0].upper(), word.replace("_", " ")) for word in words)


def _change(unit: Unit, lexicon: Lexicon) -> str:
    return next((finding.change for finding in unit.readings if finding.change), "").replace("_", " ")


def _bracketed(text: str) -> str:
    return f"({text})" if text else ""


_ATTRIBUTES: Mapping[Attribute, Mapping[str, Callable[[Unit, Lexicon], str]]] = {
    "location": {"side": _side, "location": _place},
    "severity": {"size": _size, "severity": _severity, "extent": _extent},
    "measurement": {"size": _measures},
    "certainty": {"certainty": _certainty},
    "descriptor": {"number": _number, "age": _acuity, "description": _described, "interpretation": _name},
    "overinterpretation": {"interpretation": _name},
    "underinterpretation": {"interpretation": _name},
    "temporal": {"change": _change},
}
_OF_DEVICES: Mapping[Attribute, Mapping[str, Callable[[Unit, Lexicon], str]]] = {
    "device_position": {"route": _route, "position": _tip}
}
