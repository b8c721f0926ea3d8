"""How much a finding matters: its concept's default, changed by the rules of `lexicon/*/context.yaml`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.lexicon.rules import SignificanceRule
from rrgmetrics.reading.model import Finding, Significance
from rrgmetrics.reading.pipeline import find_items
from rrgmetrics.reading.places import is_astray
from rrgmetrics.reading.tokens import tokenize
from rrgmetrics.reports import Context

_CHECKS: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (
    ("severity_at_most", operator.le),
    ("severity_at_least", operator.ge),
    ("acuity", lambda have, want: have in want),
    ("change", lambda have, want: have in want),
    ("position", lambda have, want: have in want),
    ("assertion", operator.eq),
    ("age_at_least", operator.ge),
    ("age_below", operator.lt),
    ("size_mm_below", operator.lt),
    ("size_mm_at_least", operator.ge),
)
FAR_STEPS = 3  # steps along a device's path (lexicon/*/attributes.yaml, tip_sites)


class Level(NamedTuple):
    """A class of clinical significance, and why."""

    significance: Significance
    why: str


def significance(finding: Finding, context: Context, lexicon: Lexicon) -> Significance:
    """Returns the class of clinical significance of a finding in its context."""
    return level(finding, context, lexicon).significance


def level(finding: Finding, context: Context, lexicon: Lexicon) -> Level:
    """Returns the class of clinical significance of a finding in its context, with the reason."""
    concept = lexicon.concepts[finding.concept]
    stated = Level(concept.significance, concept.why)  # type: ignore[arg-type]
    return _ruled(stated, _rules_of(lexicon, finding.concept), finding, context, lexicon)


def harm(finding: Finding, context: Context, lexicon: Lexicon) -> Level:
    """Returns what is at stake for the patient if a finding is missed or made up, with the reason.

    Its class of significance, less what nobody acts on in this patient (`harm` in `lexicon/*/context.yaml`).
    """
    return _ruled(level(finding, context, lexicon), _harm_of(lexicon, finding.concept), finding, context, lexicon)


def _ruled(
    found: Level, rules: tuple[SignificanceRule, ...], finding: Finding, context: Context, lexicon: Lexicon
) -> Level:
    """Returns the class that the last fitting rule gives."""
    rule = _last_rule(found, rules, finding, context, lexicon)
    return Level(rule["significance"], rule["why"]) if rule else found


def rule_of(finding: Finding, context: Context, lexicon: Lexicon) -> SignificanceRule | None:
    """Returns the rule that gives a finding its class in its context; None if it has that of its concept."""
    concept = lexicon.concepts[finding.concept]
    stated = Level(concept.significance, concept.why)  # type: ignore[arg-type]
    return _last_rule(stated, _rules_of(lexicon, finding.concept), finding, context, lexicon)


def _last_rule(
    found: Level, rules: tuple[SignificanceRule, ...], finding: Finding, context: Context, lexicon: Lexicon
) -> SignificanceRule | None:
    """Returns the last rule that fits, after those before it."""
    last = None
    concept = lexicon.concepts[finding.concept]
    position = position_of(finding, lexicon)
    kinds = indication_kinds(lexicon, context.indication)
    known = not known_concepts(lexicon, context.indication).isdisjoint((finding.concept, *concept.ancestors))
    for rule in rules:
        begins = found.significance in rule.get("from", (found.significance,))
        if begins and _fits(rule, finding, position, context.age, kinds, known):
            found, last = Level(rule["significance"], rule["why"]), rule
    return last


@per_lexicon
def _rules_of(lexicon: Lexicon, concept: str) -> tuple[SignificanceRule, ...]:
    """The rules of `lexicon/*/context.yaml` that a concept may come under."""
    return _naming(concept, lexicon.rules, lexicon)


@per_lexicon
def _harm_of(lexicon: Lexicon, concept: str) -> tuple[SignificanceRule, ...]:
    """The rules of harm that a concept may come under."""
    return _naming(concept, lexicon.harm, lexicon)


def _naming(concept: str, rules: list[SignificanceRule], lexicon: Lexicon) -> tuple[SignificanceRule, ...]:
    names = {concept, *lexicon.concepts[concept].ancestors, "any"}
    return tuple(rule for rule in rules if not names.isdisjoint(rule["concepts"]))


@per_lexicon
def indication_kinds(lexicon: Lexicon, indication: str) -> frozenset[str]:
    """Returns what an indication speaks of, by the words of `lexicon/*/context.yaml`.

    >>> from rrgmetrics.reading.lexicon import load
    >>> sorted(indication_kinds(load(), "Fall from a ladder, no fever."))
    ['trauma']
    """
    words = ". ".join(_stated(indication, "[.;:]", lexicon))
    return frozenset(kind for kind, pattern in lexicon.indications.items() if re.search(pattern, words))


@per_lexicon
def known_concepts(lexicon: Lexicon, indication: str) -> frozenset[str]:
    """Returns the findings that an indication knows of already, with what shows them.

    >>> from rrgmetrics.reading.lexicon import load
    >>> sorted(known_concepts(load(), "Known pleural plaques. Pneumonia?"))
    ['pleural_calcification', 'pleural_plaque', 'pleural_thickening']
    """
    known: set[str] = set()
    for clause in _stated(indication, "[.;:,]", lexicon):
        if "?" in clause or re.search(lexicon.known.asked, clause):
            continue
        tokens = tokenize(clause, lexicon.words)
        named = {item.senses.get("concept", "") for item in find_items(tokens, 0, len(tokens), lexicon)} - {""}
        known |= named if re.search(lexicon.known.said, clause) else named & lexicon.known.chronic
    return frozenset(known).union(*(lexicon.known.shown_by.get(concept, ()) for concept in known))


def _stated(indication: str, ends: str, lexicon: Lexicon) -> list[str]:
    """Returns the clauses of an indication, in small letters, each up to what it denies."""
    clauses = re.split(ends, re.sub(r"[-/\s]+", " ", indication.lower()))
    denials = [re.search(lexicon.denied, clause) for clause in clauses]
    return [clause[: denial.start()] if denial else clause for clause, denial in zip(clauses, denials, strict=True)]


def position_of(finding: Finding, lexicon: Lexicon) -> str | None:
    """Returns a device's position as the report names it, or "bad" if its tip is far from where it should be."""
    concept = lexicon.concepts[finding.concept]
    if finding.position is not None:
        return finding.position
    if is_astray(finding, concept):
        return "bad"
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


def _fits(
    rule: Mapping[str, Any],
    finding: Finding,
    position: str | None,
    age: float | None,
    kinds: frozenset[str],
    known: bool,
) -> bool:
    """Whether every condition of a rule holds; a condition on something unknown does not."""
    size = max(finding.measurements_mm, default=None)
    facts = (finding.severity, finding.severity, finding.acuity, finding.change, position, finding.assertion)
    for (key, holds), have in zip(_CHECKS, (*facts, age, age, size, size), strict=True):
        if key in rule and (have is None or not holds(have, rule[key])):
            return False
    for key, told in (("zones", finding.zones), ("tip", finding.tip), ("morphology", finding.morphology)):
        if key in rule and told.isdisjoint(rule[key]):
            return False
    if finding.change in rule.get("unless_change", ()) or rule.get("known", known) != known:
        return False
    if "indication" in rule and kinds.isdisjoint(rule["indication"]):
        return False
    return kinds.isdisjoint(rule.get("unless_indication", ()))
