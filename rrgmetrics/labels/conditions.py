"""A reading → the 14 conditions of CheXpert, each blank, positive, negative or uncertain.

As CheXpert's labeler does (Irvin et al. 2019, section 3): a condition is positive if any mention of it is, else
uncertain if any is, else negative; blank if there is none. No Finding is positive where a report says something and
none of the others, Support Devices aside, is positive or uncertain.

An empty report, and one that the reader finds nothing in, is all blank. Which concept means which condition:
`lexicon/*/conditions.yaml`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from rrgmetrics.comparing.penalties import contradictions
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of, load, load_file, per_lexicon
from rrgmetrics.reading.model import Assertion, Finding, Reading


class Status(IntEnum):
    """What a report says of a condition; the numbers are the classes of CheXbert's heads."""

    BLANK = 0
    POSITIVE = 1
    NEGATIVE = 2
    UNCERTAIN = 3


Statuses = tuple[Status, ...]

_STATUS: dict[Assertion, Status] = {
    "present": Status.POSITIVE,
    "uncertain": Status.UNCERTAIN,
    "absent": Status.NEGATIVE,
}
_RANK = {Status.BLANK: 0, Status.NEGATIVE: 1, Status.UNCERTAIN: 2, Status.POSITIVE: 3}


class Conditions(NamedTuple):
    """What `lexicon/*/conditions.yaml` says.

    Attributes:
        names: The conditions, in the order of CheXbert's heads; No Finding is the last one.
        five: Indices of the five of CheXpert's competition.
        beside: Indices of those that do not speak against No Finding.
        of_concept: Concept → indices of what it means.
    """

    names: tuple[str, ...]
    five: tuple[int, ...]
    beside: frozenset[int]
    of_concept: dict[str, tuple[int, ...]]


def load_conditions(lexicon: Lexicon | None = None) -> Conditions:
    """The conditions of a lexicon; None: of the default pack."""
    return _conditions(lexicon or load())


@per_lexicon
def _conditions(lexicon: Lexicon) -> Conditions:
    table: dict[str, Any] = load_file("conditions", lexicon.key)
    index = {name: i for i, name in enumerate(table["conditions"])}
    named = {key: [concept.condition] for key, concept in lexicon.concepts.items() if concept.condition}
    named |= table["instead"]
    of_concept = {key: tuple(index[name] for name in names) for key, names in named.items()}
    return Conditions(
        names=tuple(index),
        five=tuple(index[name] for name in table["five"]),
        beside=frozenset(index[name] for name in table["beside"]),
        of_concept=of_concept,
    )


def condition_statuses(reading: Reading) -> Statuses:
    """The status of each condition, in the order of `load_conditions().names`.

    Example:
        >>> from rrgmetrics.reading import read
        >>> found = condition_statuses(read("Small left effusion. Possible pneumonia. No pneumothorax."))
        >>> {n: s.name for n, s in zip(load_conditions().names, found, strict=True) if s}
        {'Pneumonia': 'UNCERTAIN', 'Pneumothorax': 'NEGATIVE', 'Pleural Effusion': 'POSITIVE'}
    """
    lexicon = lexicon_of(reading)
    conditions = load_conditions(lexicon)
    statuses = [Status.BLANK] * len(conditions.names)
    for finding in reading.findings:
        for index in conditions.of_concept.get(finding.concept, ()):
            statuses[index] = stronger(statuses[index], _status(finding))
    against = {Status.POSITIVE, Status.UNCERTAIN}
    if (
        conditions.names
        and reading.findings
        and not any(s in against for i, s in enumerate(statuses) if i not in conditions.beside)
    ):
        statuses[-1] = Status.POSITIVE
    return tuple(statuses)


def contradicted_conditions(reading: Reading) -> frozenset[int]:
    """The indices of the conditions that a report both affirms and denies."""
    lexicon = lexicon_of(reading)
    of_concept = load_conditions(lexicon).of_concept
    contradicted = contradictions(reading, lexicon)
    return frozenset(index for each in contradicted for index in of_concept.get(each.affirmed.concept, ()))


def _status(finding: Finding) -> Status:
    """The status of one mention; what is suspected, or one of two alternatives, is uncertain to CheXpert's rules."""
    is_suspected = finding.assertion == "present" and finding.certainty == "suspected"
    return Status.UNCERTAIN if is_suspected else _STATUS[finding.assertion]


def stronger(one: Status, other: Status) -> Status:
    """The status of a condition of which both are said: positive before uncertain, negative, blank."""
    return max(one, other, key=_RANK.__getitem__)
