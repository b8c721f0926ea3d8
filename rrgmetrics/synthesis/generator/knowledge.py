"""What studies are drawn from: how each concept of the lexicon occurs, and the terms that name it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, TypedDict, cast

from rrgmetrics.reading.lexicon import Lexicon, concept_files, load, load_file
from rrgmetrics.reading.reader import read
from rrgmetrics.synthesis.grammar import Template, parse_rules
from rrgmetrics.synthesis.phrases import load_phrases

DEVICES = "devices"
DIFFUSE = "diffuse"  # the zone that is everywhere
RETROCARDIAC = "retrocardiac"  # the zone that is on the left whether or not that is said
REMOVED = "xxxx"  # what stands for removed words in published reports
_COPIED = ("clinic", "icu", "sided", "zoned", "scale", "graded", "sized", "count", "aged", "placed")
_LISTS = ("names", "zones", "steps", "size_mm", "words", "acuity", "shown_as", "tips", "cm", "routes", "says_need")
Weighted = tuple[tuple[str, ...], tuple[float, ...]]  # concepts, and the running sums of their weights


@dataclass(frozen=True, slots=True)
class Profile:
    """How one concept occurs; `phrases/findings.yaml` explains the fields."""

    concept: str
    group: str
    clinic: float = 0.0
    icu: float = 0.0
    names: tuple[str, ...] = ()
    sides: dict[str, float] = field(default_factory=dict)
    sided: float = 0.85
    zones: tuple[str, ...] = ()
    zoned: float = 0.75
    scale: str = "degree"
    steps: tuple[int, ...] = (1, 2, 4)
    graded: float = 0.2
    size_mm: tuple[int, ...] = ()
    sized: float = 0.0
    count: float = 0.0
    words: tuple[str, ...] = ()
    acuity: tuple[str, ...] = ()
    aged: float = 0.15
    shown_as: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    cm: tuple[float, ...] = ()
    placed: float = 0.0
    routes: tuple[str, ...] = ()
    says: tuple[Template, ...] = ()
    says_need: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Knowledge:
    """Everything studies are drawn from.

    Attributes:
        lexicon: The reader's.
        profiles: How each concept occurs.
        terms: The lexicon's terms by concept.
        all_terms: Every concept with each of its terms.
        clinic: The abnormal findings of out-patients.
        icu: The abnormal findings of bedside studies.
    """

    lexicon: Lexicon
    profiles: dict[str, Profile]
    terms: dict[str, tuple[str, ...]]
    all_terms: tuple[tuple[str, str], ...]
    clinic: Weighted
    icu: Weighted


@cache
def knowledge() -> Knowledge:
    """Returns what studies are drawn from; it is made once per process from the lexicon and `phrases/`."""
    lexicon = load()
    profiles = _profiles(lexicon)
    terms = {
        key: tuple(term for term in map(str, entry["terms"]) if REMOVED not in term)
        for name in concept_files(lexicon.key)
        for key, entry in load_file(name, lexicon.key).items()
    }
    return Knowledge(
        lexicon,
        profiles,
        terms,
        tuple((key, term) for key, values in terms.items() for term in values),
        _weighted({key: profile.clinic for key, profile in profiles.items()}),
        _weighted({key: profile.icu for key, profile in profiles.items()}),
    )


def _weighted(weights: dict[str, float]) -> Weighted:
    occurring = {key: weight for key, weight in weights.items() if weight}
    return tuple(occurring), tuple(accumulate(occurring.values(), initial=0.0))[1:]


def _profiles(lexicon: Lexicon) -> dict[str, Profile]:
    findings, devices = load_phrases("findings"), load_phrases("devices")
    defaults = findings.pop("defaults")
    profiles = {}
    for key, concept in lexicon.concepts.items():
        own = findings.get(key) or devices.get(key) or {}
        shared = defaults.get(concept.group, {"sides": [], "graded": 0.0})
        # The zones of a group are for concepts of which nothing else is known.
        profiles[key] = _profile(key, concept.group, {**shared, **({"zones": []} if own else {}), **own})
    return profiles


def _profile(concept: str, group: str, entry: dict[str, Any]) -> Profile:
    lists: dict[str, Any] = {key: tuple(entry[key]) for key in _LISTS if key in entry}
    copied: dict[str, Any] = {key: entry[key] for key in _COPIED if key in entry}
    says = entry.get("says") or ""
    needs = {slot for slot in ("side1", "part") if f"{{{slot}}}" in says.lower()}
    return Profile(
        concept,
        group,
        sides=dict(entry.get("sides") or {}),
        alternatives=tuple(entry.get("or", ())),
        companions=tuple(entry.get("with", ())),
        says=parse_rules({concept: says})[concept],
        **copied,
        **{**lists, "says_need": frozenset((*lists.get("says_need", ()), *needs))},
    )


class Told(TypedDict, total=False):
    """What a term tells of its finding besides the concept; fields of a `Finding`."""

    side: str
    zones: frozenset[str]
    severity: int
    acuity: str
    route: str
    tip: frozenset[str]
    position: str
    change: str
    count: int
    morphology: frozenset[str]


@cache
def inside(concept: str, term: str) -> Told | None:
    """Returns what a term tells of its finding besides the concept; None if the reader takes it for another concept.

    >>> inside("pneumothorax", "tiny apical pneumothorax")
    {'zones': frozenset({'apex'}), 'severity': 1}
    """
    findings = read(f"There is {term}.").findings
    finding = next((f for f in findings if f.concept == concept and f.assertion != "absent"), None)
    if finding is None:
        return None
    values = {key: getattr(finding, key) for key in Told.__annotations__}
    return cast(Told, {key: value for key, value in values.items() if value is not None and value != frozenset()})


@cache
def comes_and_goes(concept: str) -> bool:
    """Whether a finding changes with time; what is benign and expected stays as it is."""
    return knowledge().lexicon.concepts[concept].significance != "benign_expected"


def family(concept: str, lexicon: Lexicon) -> frozenset[str]:
    """Returns a concept with what it is a kind of and what may be meant by it."""
    return frozenset((concept, *lexicon.concepts[concept].ancestors, *lexicon.concepts[concept].same_as))
