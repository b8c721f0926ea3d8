"""A reading as entities of RaTEScore's five types (Zhao et al. 2024, EMNLP).

A finding is a disease or an abnormality, and the place it is in an anatomy. Findings are named by their concept, so
that synonyms are one text. Devices are no entities. What a report denies gives none either: silence says as much, and a
list of denials must earn nothing (`rrgmetrics.scorers.ratescore` says what they are worth).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from rrgmetrics.reading.lexicon import Lexicon, lexicon_of, load_file, per_lexicon
from rrgmetrics.reading.model import Finding, Reading

EntityType = Literal["abnormality", "anatomy", "disease", "non-abnormality", "non-disease"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)


class Entity(NamedTuple):
    """Words of a report, or their name, and what they are."""

    text: str
    type: EntityType


def entities(reading: Reading) -> tuple[Entity, ...]:
    """The distinct entities of a reading, in the order of the text.

    Example:
        >>> from rrgmetrics.reading import read
        >>> for entity in entities(read("Small left effusion. No pneumonia.")):
        ...     print(entity.text, "-", entity.type)
        pleural effusion - abnormality
        left pleura - anatomy
    """
    distinct: dict[Entity, None] = {}
    lexicon = lexicon_of(reading)
    concepts, (diseases, organs) = lexicon.concepts, _tables(lexicon)
    for finding in reading.abnormal:
        concept = concepts[finding.concept]
        if concept.group in organs:
            distinct[Entity(concept.name, "disease" if concept.key in diseases else "abnormality")] = None
            distinct[Entity(_place(finding, organs[concept.group]), "anatomy")] = None
    return tuple(distinct)


def _place(finding: Finding, organ: str) -> str:
    zones = (zone.replace("_", " ") for zone in sorted(finding.zones))
    return " ".join((*filter(None, [finding.side]), *zones, organ))


@per_lexicon
def _tables(lexicon: Lexicon) -> tuple[frozenset[str], dict[str, str]]:
    """Concepts that are diseases, and the organ of each group."""
    table = load_file("entities", lexicon.key)
    return frozenset(table["diseases"]), table["organs"]
