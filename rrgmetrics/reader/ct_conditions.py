"""A reading → the 18 conditions of RadBERT-CT and CT-RATE (Hamamci et al. 2024, arXiv 2403.17834).

A report has a condition if a finding that is present or uncertain means it (`lexicon/ct.yaml`). The reader's lexicon is
that of chest X-ray reports: it knows the words of these conditions, not all that a CT report says.
"""

from __future__ import annotations

from rrgmetrics.reader.label_rules import RulesByConcept, find_rule, index_rules
from rrgmetrics.reader.lexicon import load, load_file, per_lexicon
from rrgmetrics.reader.model import Reading


@per_lexicon
def load_ct() -> tuple[tuple[str, ...], RulesByConcept]:
    """Returns the conditions in the order of the published heads, and the rules by concept."""
    table = load_file("ct")
    return tuple(table["conditions"]), index_rules(table["rules"], load())


def ct_conditions(reading: Reading) -> frozenset[str]:
    """Returns the conditions of a report.

    Example:
        >>> from rrgmetrics.reader import read
        >>> sorted(ct_conditions(read("Interlobular septal thickening and bilateral effusions. No consolidation.")))
        ['Interlobular septal thickening', 'Pleural effusion']
    """
    _, rules = load_ct()
    fitting = (find_rule(finding, reading, rules, load()) for finding in reading.abnormal)
    return frozenset(rule.labels["label"] for rule in fitting if rule)
