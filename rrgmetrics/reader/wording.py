"""The reader's own words for what it read."""

from __future__ import annotations

from rrgmetrics.reader.lexicon import Lexicon
from rrgmetrics.reader.model import Unit


def phrase(unit: Unit, lexicon: Lexicon) -> str:
    """Returns an observation in words: "small right upper lobe nodule (4 mm)"."""
    head = unit.head
    words = []
    if head.assertion == "uncertain":
        words.append("possible")
    words.append(_severity_word(unit, lexicon))
    if unit.side:
        words.append(unit.side)
    name = " or ".join(dict.fromkeys(lexicon.concepts[finding.concept].name for finding in unit.readings))
    zones = (lexicon.zones[zone].name for zone in sorted(unit.zones))
    words.extend(z for z in zones if z not in name)
    words.append(name)
    if head.levels:
        words.append("(" + ", ".join(sorted(head.levels, key=lambda level: lexicon.levels[level])) + ")")
    if head.route:
        words.append(f"({head.route.replace('_', ' ')})")
    if head.tip:
        words.append("with tip in " + ", ".join(site.replace("_", " ") for site in sorted(head.tip)))
    if head.position:
        words.append(f"({lexicon.position_names[head.position]})")
    if head.measurements_mm:
        words.append("(" + " x ".join(f"{n:g}" for n in head.measurements_mm) + " mm)")
    if head.change:
        words.append(f"({head.change})")
    return " ".join(w for w in words if w)


def _severity_word(unit: Unit, lexicon: Lexicon) -> str:
    step = next((finding.severity for finding in unit.readings if finding.severity is not None), None)
    if step is None:
        return ""
    if unit.head.concept in lexicon.roles["sized"] and step in lexicon.size_names:
        return lexicon.size_names[step]
    return next((key.replace("_", " ") for key, value in lexicon.severity.items() if value == step), "")
