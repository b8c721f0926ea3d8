"""What a row of `sentences.tsv` expects of a reading; the top of that file explains the notation."""

from __future__ import annotations

import re

from rrgmetrics.reading import Finding, Reading
from rrgmetrics.reading.lexicon import load

_ASSERTIONS = {"+": "present", "-": "absent", "?": "uncertain"}


def check(part: str, reading: Reading, observations: dict[str, int], phenomenon: str) -> None:
    """Check one part of a reading, such as ``+nodule[left, size=6]``."""
    stated = [(f.assertion, f.concept) for f in reading.findings]
    if part == "nothing":
        assert stated == [], phenomenon
    elif part == "nothing abnormal":
        assert reading.abnormal == (), stated
    elif part.startswith("!"):
        assert part[1:] not in {f.concept for f in reading.abnormal}, stated
    else:
        match = re.fullmatch(r"([+?-])(\w+)(?:\[(.*)\])?", part)
        assert match is not None, f"cannot read {part!r}"
        sign, concept, attributes = match.groups()
        matching = [f for f in reading.findings if f.concept == concept and f.assertion == _ASSERTIONS[sign]]
        assert matching, f"{part} not in {stated}"
        wanted = [a.strip() for a in (attributes or "").split(",") if a.strip()]
        assert any(all(holds(a, f, observations, reading.pack) for a in wanted) for f in matching), matching


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
