"""How much a finding matters: its concept's default, changed by the rules of ``lexicon/context.yaml``."""

from __future__ import annotations

from typing import Any

from rrgmetrics.reader.lexicon import Lexicon
from rrgmetrics.reader.model import Finding, Significance
from rrgmetrics.reports import Context

FAR_STEPS = 3  # steps along a device's path (lexicon/attributes.yaml, tip_sites)


def significance(finding: Finding, context: Context, lexicon: Lexicon) -> Significance:
    """Return the class of clinical significance of a finding in its context."""
    concept = lexicon.concepts[finding.concept]
    level = concept.significance
    position = position_of(finding, lexicon)
    indication = context.indication.lower()
    names = {finding.concept, *concept.ancestors}
    for rule in lexicon.rules:
        if names.isdisjoint(rule["concepts"]) and "any" not in rule["concepts"]:
            continue
        if _fits(rule, finding, position, context.age, indication):
            level = rule["significance"]
    return level  # type: ignore[return-value]


def position_of(finding: Finding, lexicon: Lexicon) -> str | None:
    """Return a device's position as the report names it, or "bad" if its tip is far from where it should be."""
    concept = lexicon.concepts[finding.concept]
    if finding.position is not None:
        return finding.position
    if concept.carina_cm and finding.measurements_mm:
        low, high = concept.carina_cm
        if not low <= finding.measurements_mm[0] / 10 <= high:
            return "bad"
    for tip in finding.tip:
        path, order, _ = lexicon.tips[tip]
        expected = [lexicon.tips[name] for name in concept.expected_tip]
        steps = [abs(order - there) for here, there, _ in expected if here == path]
        if steps and min(steps) >= FAR_STEPS:
            return "bad"
    return None


def _fits(rule: dict[str, Any], finding: Finding, position: str | None, age: float | None, indication: str) -> bool:
    """Tell whether every condition of a rule holds; a condition on something unknown does not."""
    size = max(finding.measurements_mm, default=None)
    checks = (
        ("severity_at_most", finding.severity, lambda have, want: have <= want),
        ("severity_at_least", finding.severity, lambda have, want: have >= want),
        ("acuity", finding.acuity, lambda have, want: have in want),
        ("change", finding.change, lambda have, want: have in want),
        ("position", position, lambda have, want: have in want),
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
