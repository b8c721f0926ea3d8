"""A report as entities and relations, the shape that RadGraph (Jain et al. 2021) gave it.

An entity is a few words with a label; a relation leads from one entity to another. `build_graph` makes such a graph of
a reading; `Graph.as_json` and `Graph.from_json` know the form in which RadGraph is published, so that graphs from
anywhere can be read.

The reader's entities are named by its lexicon and not by the words of the report: "enlarged heart" and "cardiomegaly"
are one entity. Each place and each description is an entity of its own, as in RadGraph: "small left effusion" is
`pleural effusion` (OBS-DP, located_at `left`), `left` (ANAT-DP) and `mild` (OBS-DP, modify `pleural effusion`).

What is normal is said for organ systems and not for findings: `pleura finding` (OBS-DA), whether the report has "no
pneumothorax", "no effusion", or nothing at all on the pleura, as radiologists read silence. One normal report is then
like another, however many findings it denies. What a report both affirms and denies is there twice, and a sentence that
was not understood is one uncertain observation, named by its words.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.reader.lexicon import CONCEPT_FILES, TECHNIQUE, Lexicon, load
from rrgmetrics.reader.model import Finding, Reading, Span
from rrgmetrics.reader.penalties import contradictions

ANATOMY = "ANAT-DP"
OBSERVATION = {"present": "OBS-DP", "uncertain": "OBS-U", "absent": "OBS-DA"}
SYSTEMS = tuple(group for group in CONCEPT_FILES if group != TECHNIQUE)
WORD = re.compile(r"\w+|[^\w\s]")


class Relation(NamedTuple):
    """An arrow to another entity: `modify`, `located_at` or `suggestive_of`, and the index of that entity."""

    kind: str
    entity: int


class Entity(NamedTuple):
    """A few words of a report and what they are.

    Attributes:
        tokens: The words, joined by spaces.
        label: RadGraph's `ANAT-DP`, `OBS-DP`, `OBS-U`, `OBS-DA`, or RadGraph-XL's longer names.
        start: Index of its first word among the words of the report.
        end: Index of its last word.
        relations: Arrows that leave it.
    """

    tokens: str
    label: str
    start: int
    end: int
    relations: tuple[Relation, ...] = ()


class Graph(NamedTuple):
    """The words of a report, joined by spaces, and its entities in their order."""

    text: str
    entities: tuple[Entity, ...]

    def as_json(self) -> dict[str, Any]:
        """The graph as RadGraph publishes it; entities are numbered from "1"."""
        return {
            "text": self.text,
            "entities": {
                str(number): {
                    "tokens": entity.tokens,
                    "label": entity.label,
                    "start_ix": entity.start,
                    "end_ix": entity.end,
                    "relations": [[kind, str(index + 1)] for kind, index in entity.relations],
                }
                for number, entity in enumerate(self.entities, 1)
            },
        }

    @classmethod
    def from_json(cls, graph: Any, where: str = "graph") -> Graph:
        """The inverse of `as_json`; raises InputError, which names `where`, for anything else."""
        try:
            numbers = {number: index for index, number in enumerate(graph["entities"])}
            entities = tuple(
                Entity(
                    _word(entity["tokens"]),
                    _word(entity["label"]),
                    int(entity["start_ix"]),
                    int(entity["end_ix"]),
                    tuple(Relation(_word(kind), numbers[number]) for kind, number in entity["relations"]),
                )
                for entity in graph["entities"].values()
            )
            return cls(_word(graph["text"]), entities)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{where} is not a graph as RadGraph publishes them ({type(error).__name__}: {error}); expected "
                '{"text": ..., "entities": {"1": {"tokens", "label", "start_ix", "end_ix", "relations"}}}.'
            ) from error


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def build_graph(reading: Reading) -> Graph:
    """The graph of a reading.

    Args:
        reading: From `rrgmetrics.reader.read`.

    Returns:
        Graph: For each finding an observation, then its places (`located_at`) and descriptions (`modify`). What
        explains a picture is reached from what describes it (`suggestive_of`). `start` and `end` of all of them bound
        the words that the finding was read from. A report in which nothing is found gives a graph without entities.

    Example:
        >>> from rrgmetrics.reader import read
        >>> graph = build_graph(read("Small left effusion."))
        >>> [(entity.tokens, entity.label) for entity in graph.entities[:4]]
        [('pleural effusion', 'OBS-DP'), ('left', 'ANAT-DP'), ('mild', 'OBS-DP'), ('lung finding', 'OBS-DA')]
    """
    lexicon = load()
    words = [match.span() for match in WORD.finditer(reading.text)]
    starts = [start for start, _ in words]
    entities: list[Entity] = []
    contradicting = {id(contradiction.denied) for contradiction in contradictions(reading, lexicon)}
    first_of: dict[int, int] = {}  # observation → the entity that describes its picture
    for finding in reading.findings:
        if lexicon.concepts[finding.concept].counts and (
            finding.assertion != "absent" or finding.change or id(finding) in contradicting
        ):
            head = len(entities)
            entities.extend(_described(finding, head, _words(finding.spans[0], starts), lexicon))
            picture = first_of.setdefault(finding.observation, head)
            if picture != head:
                entities[picture] = _with(entities[picture], Relation("suggestive_of", head))
    entities.extend(_normal(reading.findings, starts, lexicon))
    for span, unread in zip(reading.scope.unread, reading.scope.words, strict=True):
        named = sorted(unread) or reading.text[span.start : span.end].split()
        entities.append(Entity(" ".join(named), OBSERVATION["uncertain"], *_words(span, starts)))
    return Graph(" ".join(reading.text[start:end] for start, end in words), tuple(entities))


def _described(finding: Finding, head: int, span: tuple[int, int], lexicon: Lexicon) -> Iterator[Entity]:
    """The observation of a finding, which gets the index `head`, and what is said of it."""
    places = _places(finding)
    to_places = tuple(Relation("located_at", head + 1 + i) for i in range(len(places)))
    yield Entity(lexicon.concepts[finding.concept].name, OBSERVATION[finding.assertion], *span, to_places)
    for place in places:
        yield Entity(place, ANATOMY, *span)
    for words in _descriptions(finding, lexicon):
        yield Entity(words, OBSERVATION["present"], *span, (Relation("modify", head),))


def _normal(findings: Sequence[Finding], starts: list[int], lexicon: Lexicon) -> Iterator[Entity]:
    """One denied finding for each organ system without a finding; its words, or else the whole report."""
    stated = [(lexicon.concepts[finding.concept], finding) for finding in findings]
    abnormal = {concept.group for concept, finding in stated if concept.counts and finding.assertion != "absent"}
    denied = {concept.group: finding for concept, finding in reversed(stated) if finding.assertion == "absent"}
    if not {concept.group for concept, _ in stated} - {TECHNIQUE}:
        return  # nothing is said of the patient
    for system in SYSTEMS:
        if system not in abnormal:
            span = _words(denied[system].spans[0], starts) if system in denied else (0, len(starts) - 1)
            yield Entity(f"{system.replace('_', ' ')} finding", OBSERVATION["absent"], *span)


def _with(entity: Entity, relation: Relation) -> Entity:
    return entity._replace(relations=(*entity.relations, relation))


def _words(span: Span, starts: list[int]) -> tuple[int, int]:
    """First and last word of a stretch of the report."""
    return bisect.bisect_right(starts, span.start) - 1, bisect.bisect_left(starts, span.end) - 1


def _places(finding: Finding) -> list[str]:
    side = [finding.side] if finding.side else []
    return side + [zone.replace("_", " ") for zone in sorted(finding.zones | finding.tip)]


def _descriptions(finding: Finding, lexicon: Lexicon) -> list[str]:
    """How severe, how large, since when, what became of it, what shape."""
    severity = [name for name, step in lexicon.severity.items() if step == finding.severity]
    sizes = [f"{size:g} mm" for size in finding.measurements_mm]
    named = [word for word in (finding.acuity, finding.change, finding.position) if word]
    return [word.replace("_", " ") for word in (*severity, *sizes, *named, *sorted(finding.morphology))]
