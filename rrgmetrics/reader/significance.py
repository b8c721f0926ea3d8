"""How much a finding matters: its concept's default, changed by the rules of ``lexicon/context.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .lexicon import Lexicon
from .model import Finding, Significance


def age_in_years(age: object) -> float | None:
    """Return an age in years from "072Y", "019M", "3D", "25", 25; None if it is unknown.

    >>> [age_in_years(a) for a in ("072Y", "018M", "", None, 25)]
    [72.0, 1.5, None, None, 25.0]
    """
    if isinstance(age, int | float):
        return float(age)
    text = str(age or "").strip().upper()
    unit = {"Y": 1.0, "M": 1 / 12, "W": 1 / 52, "D": 1 / 365}.get(text[-1:])
    digits = text[:-1] if unit else text
    if not digits.isascii() or not digits.isdigit() or len(digits) > 4:
        return None
    return int(digits) * (unit or 1.0)


def significance(finding: Finding, context: Mapping[str, Any] | None, lexicon: Lexicon) -> Significance:
    """Return the class of clinical significance of a finding in its context (``age``, ``sex``, ``indication``)."""
    concept = lexicon.concepts[finding.concept]
    level = concept.significance
    age = age_in_years((context or {}).get("age"))
    indication = str((context or {}).get("indication") or "").lower()
    names = {finding.concept, *concept.ancestors}
    for rule in lexicon.rules:
        if names.isdisjoint(rule["concepts"]) and "any" not in rule["concepts"]:
            continue
        if _fits(rule, finding, age, indication):
            level = rule["significance"]
    return level  # type: ignore[return-value]


def _fits(rule: dict[str, Any], finding: Finding, age: float | None, indication: str) -> bool:
    """Tell whether every condition of a rule holds; a condition on something unknown does not."""
    size = max(finding.measurements_mm, default=None)
    checks = (
        ("severity_at_most", finding.severity, lambda have, want: have <= want),
        ("severity_at_least", finding.severity, lambda have, want: have >= want),
        ("acuity", finding.acuity, lambda have, want: have in want),
        ("change", finding.change, lambda have, want: have in want),
        ("position", finding.position, lambda have, want: have in want),
        ("assertion", finding.assertion, lambda have, want: have == want),
        ("age_at_least", age, lambda have, want: have >= want),
        ("age_below", age, lambda have, want: have < want),
        ("size_mm_below", size, lambda have, want: have < want),
        ("size_mm_at_least", size, lambda have, want: have >= want),
    )
    for key, have, holds in checks:
        if key in rule and (have is None or not holds(have, rule[key])):
            return False
    if "indication" in rule and not any(word in indication for word in rule["indication"]):
        return False
    return not any(word in indication for word in rule.get("unless_indication", ()))
