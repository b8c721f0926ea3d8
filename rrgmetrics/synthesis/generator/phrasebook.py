"""Everything reports are written with: templates of sentences, topics of normal statements, styles, layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from rrgmetrics.synthesis.grammar import Rules, Template, parse_rules
from rrgmetrics.synthesis.phrases import load_phrases


@dataclass(frozen=True)
class Style:
    """How a report looks; `phrases/styles.yaml` explains the fields."""

    name: str
    terse: float
    own: float
    normals: float
    list_normals: float
    join: float
    frame: str
    order: str
    rare: float
    technique: float = 0.0
    comparison: float = 0.0
    advice: float = 0.0
    summary: float = 0.0
    patient: float = 0.0
    opening: float = 0.0
    closing: float = 0.0
    capitals: float = 0.03


@dataclass(frozen=True)
class Normal:
    """A topic of normal statements; `phrases/normals.yaml` explains the fields."""

    name: str
    organ: str
    often: float
    blocked_by: frozenset[str]
    needs: str | None
    denied_as: tuple[str, ...]
    instead: str | None
    says: tuple[Template, ...]


@dataclass(frozen=True)
class Phrasebook:
    """All templates, parsed.

    Attributes:
        rules: Of sentences about findings, and of what they are built from.
        boilerplate: Of sentences about anything else.
        normals: Topics of normal statements.
        styles: By name.
        weights: How often references, and candidates, have each style.
        layout: Headings, marks and the order of organs (`phrases/layout.yaml`).
    """

    rules: Rules
    boilerplate: Rules
    normals: tuple[Normal, ...]
    styles: dict[str, Style]
    weights: tuple[dict[str, float], dict[str, float]]
    layout: dict[str, Any]


@cache
def phrasebook() -> Phrasebook:
    """Returns all templates; they are parsed once per process."""
    styles = load_phrases("styles")
    references, candidates = ({name: entry["weight"][i] for name, entry in styles.items()} for i in (0, 1))
    return Phrasebook(
        parse_rules(load_phrases("sentences")),
        parse_rules(load_phrases("boilerplate")),
        tuple(_normal(name, entry) for name, entry in load_phrases("normals").items()),
        {name: _style(name, entry) for name, entry in styles.items()},
        (references, candidates),
        load_phrases("layout"),
    )


def _style(name: str, entry: dict[str, Any]) -> Style:
    return Style(name, **{key: value for key, value in entry.items() if key != "weight"})


def _normal(name: str, entry: dict[str, Any]) -> Normal:
    return Normal(
        name,
        entry["organ"],
        entry["often"],
        frozenset(entry["blocked_by"]),
        entry.get("needs"),
        tuple(entry.get("denied_as", ())),
        entry.get("instead"),
        parse_rules({name: entry["says"]})[name],
    )
