"""A reading as entities of RaTEScore's five types (Zhao et al. 2024, EMNLP).

A finding is a disease or an abnormality, or, where the report denies it, a non-disease or non-abnormality; the place
it is in is an anatomy. Findings are named by their concept, so that synonyms are one text. Devices are no entities.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple, get_args

from rrgmetrics.reader.lexicon import load, load_file
from rrgmetrics.reader.model import Finding, Reading

EntityType = Literal["abnormality", "anatomy", "disease", "non-abnormality", "non-disease"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)


class Entity(NamedTuple):
    """Words of a report, or their name, and what they are."""

    text: str
    type: EntityType


def entities(reading: Reading) -> tuple[Entity, ...]:
    """The distinct entities of a reading, in the order of the text.

    Example:
        >>> from rrgmetrics.reader import read
        >>> for entity in entities(read("Small left effusion. No pneumonia.")):
        ...     print(entity.text, "-", entity.type)
        pleural effusion - abnormality
        left pleura - anatomy
        pneumonia - non-disease
        lung - anatomy
    """
    found: dict[Entity, None] = {}
    concepts, (diseases, organs) = load().concepts, _tables()
    for finding in reading.findings:
        concept = concepts[finding.concept]
        if concept.group in organs:
            is_disease, is_denied = concept.key in diseases, finding.assertion == "absent"
            found[Entity(concept.name, _TYPES[is_disease, is_denied])] = None
            found[Entity(_place(finding, organs[concept.group]), "anatomy")] = None
    return tuple(found)


_TYPES: dict[tuple[bool, bool], EntityType] = {  # (disease, denied)
    (False, False): "abnormality",
    (False, True): "non-abnormality",
    (True, False): "disease",
    (True, True): "non-disease",
}


def _place(finding: Finding, organ: str) -> str:
    zones = (zone.replace("_", " ") for zone in sorted(finding.zones))
    return " ".join((*filter(None, [finding.side]), *zones, organ))


@cache
def _tables() -> tuple[frozenset[str], dict[str, str]]:
    """Concepts that are diseases, and the organ of each group."""
    table = load_file("entities")
    return frozenset(table["diseases"]), table["organs"]
