"""How much a finding matters: its concept's default, changed by the rules of ``lexicon/context.yaml``."""

from __future__ import annotations

from typing import Any

from rrgmetrics.reports import Context

from .lexicon import Lexicon
from .model import Finding, Significance


def significance(finding: Finding, context: Context, lexicon: Lexicon) -> Significance:
    """Return the class of clinical significance of a finding in its context."""
    concept = lexicon.concepts[finding.concept]
    level = concept.significance
    indication = context.indication.lower()
    names = {finding.concept, *concept.ancestors}
    for rule in lexicon.rules:
        if names.isdisjoint(rule["concepts"]) and "any" not in rule["concepts"]:
            continue
        if _fits(rule, finding, context.age, indication):
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
