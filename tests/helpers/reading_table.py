"""What a row of `sentences.tsv` expects of a reading; the top of that file explains the notation."""

from __future__ import annotations

import re

from rrgmetrics.reading import Finding, Reading
from rrgmetrics.reading.lexicon import load

_ASSERTIONS = {"+": "present", "-": "absent", "?": "uncertain"}


def check(part: str, reading: Reading, observations: dict[str, int]) -> None:
    """Check one part of a reading, such as ``+nodule[left, size=6]``."""
    if part == "nothing":
        assert reading.findings == (), was_read(reading)
    elif part == "nothing abnormal":
        assert reading.abnormal == (), was_read(reading)
    elif part.startswith("!"):
        assert part[1:] not in {f.concept for f in reading.abnormal}, was_read(reading)
    else:
        match = re.fullmatch(r"([+?-])(\w+)(?:\[(.*)\])?", part)
        assert match is not None, f"cannot read {part!r}"
        sign, concept, attributes = match.groups()
        matching = [f for f in reading.findings if f.concept == concept and f.assertion == _ASSERTIONS[sign]]
        wanted = [a.strip() for a in (attributes or "").split(",") if a.strip()]
        found = any(all(holds(a, f, observations, reading.pack) for a in wanted) for f in matching)
        assert found, f"not {part}; {was_read(reading)}"


def was_read(reading: Reading) -> str:
    """What a reading has, for the message of a row that is wrong."""
    return f"read: {'; '.join(map(as_part, reading.findings)) or 'nothing'}"


def as_part(finding: Finding) -> str:
    """A finding in the notation of a row, with the attributes that most rows ask for."""
    sizes, own = finding.measurements_mm, ("certainty", "severity", "count", "acuity", "change", "position", "route")
    values = {name: getattr(finding, name) for name in own if getattr(finding, name) not in (None, "definite")}
    values = {"sev" if name == "severity" else name: value for name, value in values.items()}
    attributes = [finding.side, *sorted(finding.zones), *(f"level={each}" for each in sorted(finding.levels))]
    attributes += [f"size={max(sizes):g}"] if sizes else []
    attributes += [f"{name}={value}" for name, value in values.items()]
    attributes += [f"tip={each}" for each in sorted(finding.tip)]
    shown = ", ".join(filter(None, attributes))
    sign = next(sign for sign, assertion in _ASSERTIONS.items() if assertion == finding.assertion)
    return f"{sign}{finding.concept}" + f"[{shown}]" * bool(shown)


def holds(attribute: str, finding: Finding, observations: dict[str, int], pack: str) -> bool:
    """Tell whether a finding, read with a pack, has an attribute."""
    key, _, value = attribute.partition("=")
    if key == "obs":
        return observations.setdefault(value, finding.observation) == finding.observation
    if not value:
        return (
            (attribute in ("left", "right", "bilateral") and finding.side == attribute)
            or attribute in finding.zones
            or any(load(pack).zones[zone].inside == attribute for zone in finding.zones)
            or (attribute == "noside" and finding.side is None)
            or (attribute == "nozone" and not finding.zones)
            or (attribute == "nochange" and not finding.change)
            or (attribute == "nolevel" and not finding.levels)
            or (attribute == "notip" and not finding.tip)
        )
    if key == "size":
        return max(finding.measurements_mm, default=None) == float(value)
    if key == "sev":
        return finding.severity == int(value)
    if key == "count":
        return finding.count == int(value)
    if key == "levels":
        return len(finding.levels) == int(value)
    if key == "zones":
        return len(finding.zones) == int(value)
    if key == "level":
        return value in finding.levels
    if key == "tip":
        return value in finding.tip
    return str(getattr(finding, key)) == value
