"""A reading → the 18 conditions of RadBERT-CT and CT-RATE (Hamamci et al. 2024, arXiv 2403.17834).

A report has a condition if a finding that is present or uncertain means it (`lexicon/chest_ct/ct.yaml`). The annotators
count a lymph node that is described, whatever its size; the reader reads a small one as normal, and a rule with the
condition `normal` finds it by its size.
"""

from __future__ import annotations

from rrgmetrics.labels.rules import RulesByConcept, find_rule, index_rules
from rrgmetrics.reading.lexicon import Lexicon, checksum, key_in_use, load, load_file, per_lexicon
from rrgmetrics.reading.model import Reading

PACK = "chest_ct"


def load_ct() -> tuple[tuple[str, ...], RulesByConcept]:
    """Returns the conditions in the order of the published heads, and the rules by concept."""
    return _tables(load(PACK))


@per_lexicon
def _tables(lexicon: Lexicon) -> tuple[tuple[str, ...], RulesByConcept]:
    table = load_file("ct", lexicon.key)
    return tuple(table["conditions"]), index_rules(table["rules"], lexicon)


def ct_checksum() -> str:
    """The SHA-256 of the conditions and rules."""
    return checksum("ct", key=key_in_use(PACK))


def ct_conditions(reading: Reading) -> frozenset[str]:
    """Returns the conditions of a report.

    Example:
        >>> from rrgmetrics.reading import read
        >>> sorted(ct_conditions(read("Interlobular septal thickening and bilateral effusions. No consolidation.")))
        ['Interlobular septal thickening', 'Pleural effusion']
    """
    lexicon = load(PACK, reading.folder)
    _, rules = _tables(lexicon)
    fitting = [(finding, find_rule(finding, reading, rules, lexicon)) for finding in reading.findings]
    return frozenset(
        label
        for finding, rule in fitting
        if rule and (finding.assertion != "absent" or "normal" in rule.conditions)
        for label in rule.labels.values()
    )
