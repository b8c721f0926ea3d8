"""What the reader knows, as data: concepts, places, small words, and the lexicon that holds them ready for use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, TypeVarTuple

from rrgmetrics.reading.lexicon.in_use import DEFAULT_PACK, LexiconKey
from rrgmetrics.reading.lexicon.rules import Rubric, SignificanceRule

Ts = TypeVarTuple("Ts")
R = TypeVar("R")
BUNDLED_KEY = LexiconKey(DEFAULT_PACK, "")
KEPT = 4096  # results of one function of one lexicon

Trie = dict[str, Any]
Role = Literal[
    "describing",
    "replaceable",
    "generic",
    "picture",
    "anything",
    "anywhere",
    "otherwise",
    "sized",
    "one_by_one",
    "tipped",
    "lodged",
    "midline",
    "history",
    "background",
    "apart",
    "emergency",
    "directed",
    "feigned",
    "feigns",
    "shadow",
    "astray",
    "unplaced",
    "look",
    "diffuse",
    "device_sum",
    "unpaired",
]
BONES, DEVICES, TECHNIQUE = "bones", "devices", "technique"  # the concept files that the engine treats as what they are


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing a report can speak of; the top of `lung.yaml` explains the fields."""

    key: str
    name: str
    group: str
    parent: str | None = None
    same_as: frozenset[str] = frozenset()
    sign_of: frozenset[str] = frozenset()
    condition: str | None = None
    significance: str = "not_actionable_not_urgent"
    why: str = ""
    counts: bool = True
    carina_cm: tuple[float, ...] = ()
    expected_tip: frozenset[str] = frozenset()
    wrong_tip: frozenset[str] = frozenset()
    expected_levels: frozenset[str] = frozenset()
    never_in: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()
    ancestors: tuple[str, ...] = ()

    @property
    def is_device(self) -> bool:
        """Whether it is a line, a tube, or what surgery has left."""
        return self.group == DEVICES


@dataclass(frozen=True, slots=True)
class Zone:
    """A place in the chest.

    Attributes:
        name: What the reader calls it beside a finding.
        inside: The bigger place that it is in.
        near: The places that may be the same one.
        beside: The places that are not, though to mistake them matters little.
        side: The side that it implies.
        never: The concept files whose findings are not there.
    """

    name: str
    inside: str | None = None
    near: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    side: str | None = None
    never: frozenset[str] = frozenset()


class TipSite(NamedTuple):
    """Where a device may end: its path, its place in the order along the path, and whether it is all of a vessel."""

    path: str
    order: int
    wide: bool


@dataclass(frozen=True, slots=True)
class SmallWords:
    """The words that the grammar of a report turns on; `small_words.yaml` explains the lists."""

    announcing_devices: frozenset[str]
    joints: frozenset[str]
    list_joints: frozenset[str]
    separators: frozenset[str]
    strong_separators: frozenset[str]
    alternatives: frozenset[str]
    contrasts: frozenset[str]
    places: frozenset[str]
    placing: frozenset[str]
    showing: frozenset[str]
    filling: frozenset[str]
    seen: frozenset[str]
    judged: frozenset[str]
    then: frozenset[str]
    existing: frozenset[str]
    pairing: frozenset[str]
    heights: frozenset[str]
    more: frozenset[str]
    earlier: frozenset[str]
    past: frozenset[str]
    dimensions: frozenset[str]
    sizes: frozenset[str]
    touching: frozenset[str]
    nearby: frozenset[str]
    moving: frozenset[str]
    by_how_much: frozenset[str]
    rising: frozenset[str]
    size_links: frozenset[str]
    clause_joints: frozenset[str]
    finite: frozenset[str]
    embedding: frozenset[str]
    verbs: frozenset[str]
    change_nouns: frozenset[str]
    gerunds: frozenset[str]
    leading: frozenset[str]
    after_nouns: frozenset[str]
    degrees: frozenset[str]
    deny: frozenset[str]
    changing: frozenset[str]
    comparatives: frozenset[str]
    dates: frozenset[str]
    similar: frozenset[str]
    bearers: frozenset[str]
    uncounted: frozenset[str]
    indefinite: frozenset[str]
    definite: frozenset[str]
    inside: frozenset[str]
    pointers: frozenset[str]
    device_pointers: frozenset[str]
    historic: frozenset[str]
    inserting: frozenset[str]
    treated: frozenset[str]
    courses: frozenset[str]
    periods: frozenset[str]
    subjects: frozenset[str]
    aside: frozenset[str]
    all_before: frozenset[str]
    of_two: frozenset[str]
    last_before: frozenset[str]
    saying: frozenset[str]
    summing: frozenset[str]
    abbreviations: frozenset[str]
    almost: frozenset[str]
    hiding: frozenset[str]
    passing: frozenset[str]
    exchanging: frozenset[str]
    exchanged_for: frozenset[str]
    somewhat: frozenset[str]
    adverbs: frozenset[str]
    manners: frozenset[str]
    harmless: frozenset[str]
    closing: frozenset[str]
    existent: frozenset[str]
    questions: frozenset[str]
    grounds: frozenset[str]
    conjunctions: frozenset[str]
    plural: frozenset[str]
    single: frozenset[str]
    ratios: frozenset[str]
    landmarks: frozenset[str]
    companions: frozenset[str]
    above: frozenset[str]
    below: frozenset[str]
    onward: frozenset[str]
    identifying: frozenset[str]
    leading_to: frozenset[str]
    causing: frozenset[str]
    unnamed: frozenset[str]
    astray: frozenset[str]
    otherwise: frozenset[str]
    explanations: frozenset[str]
    carrying: frozenset[str]
    modal: frozenset[str]
    opening: frozenset[str]
    others: frozenset[str]
    nothing_left: frozenset[str]
    reasons: frozenset[str]
    withdrawn: frozenset[str]
    ordinary: frozenset[str]
    looks: frozenset[str]
    alterations: frozenset[str]
    remarkable: frozenset[str]
    advancing: frozenset[str]
    retracting: frozenset[str]
    withdrawn_whole: frozenset[str]
    swapping: frozenset[str]
    repositioning: frozenset[str]
    to_be_moved: frozenset[str]
    device_nouns: frozenset[str]
    summing_devices: frozenset[str]
    contralateral: frozenset[str]
    ipsilateral: frozenset[str]
    same_side: frozenset[str]
    other_side: frozenset[str]
    overlain: frozenset[str]
    settings: frozenset[str]
    patients: frozenset[str]
    relative: frozenset[str]
    raised: frozenset[str]
    lowered: frozenset[str]
    phases: frozenset[str]
    altered: frozenset[str]
    properties: frozenset[str]
    healing: frozenset[str]
    sparing: frozenset[str]
    associated: frozenset[str]
    reaching: frozenset[str]
    sites: frozenset[str]
    ways: frozenset[str]
    bygone: frozenset[str]
    months: frozenset[str]
    films: frozenset[str]
    excising: frozenset[str]
    premises: frozenset[str]
    grown: frozenset[str]
    bare: frozenset[str]
    meaning: frozenset[str]
    studies: frozenset[str]
    final: frozenset[str]
    further: frozenset[str]
    beyond: frozenset[str]
    excepting: frozenset[str]
    exceeding: frozenset[str]
    amounts: frozenset[str]


_NEVER = "(?!)"


class Known(NamedTuple):
    """What tells which diseases an indication knows of; `context.yaml` explains the parts.

    `said` and `asked` are patterns; they are compiled (5 ms each) when the first indication is read.
    """

    said: str = _NEVER
    asked: str = _NEVER
    chronic: frozenset[str] = frozenset()
    shown_by: Mapping[str, frozenset[str]] = MappingProxyType({})


@dataclass(slots=True)
class Lexicon:
    """Everything the reader knows, ready for use; every question that a token asks is one look into a set or a table.

    Attributes:
        concepts: The concepts by their key.
        zones: The places by their key.
        everywhere: The places that touch every other.
        elsewhere: The structures and places in which a word for a finding of the lungs or pleura means none of theirs.
        organ_of: The places that lie in one organ and never in another → the organ.
        levels: The orders of the first and the last bone of a level by its name.
        level_names: Ribs and vertebrae by their order.
        level_bases: The order before the first bone of each series ("rib", "C", "T", "L").
        rib_words: The words beside which a number names a rib.
        tips: The sites of a device's tip by their key.
        severity: The steps of the scale of severity by their name.
        findings_of: Structure and quality → the concept that they make.
        findings_in: Concept and zone → what the concept is called there.
        denials: Structure and quality → the concepts that such a normal statement denies.
        headings: A heading → its section, and whether the section is read.
        inline: The headings that also stand in the middle of a line.
        rules: The rules of `context.yaml`.
        context_rules: The rules of `context_rules.yaml` by their stage.
        harm: Those beside them where harm is weighed.
        indications: Kind of indication → the pattern of its words.
        denied: What denies the rest of its clause in an indication.
        known: What tells which diseases an indication knows of.
        rubric: The tables of `rubric.yaml`.
        words: Spelling → the word as it is compared.
        small: The small words.
        roles: Role → the concepts that have it.
        groups: What `anatomy.yaml` says of concept files → their names.
        old: The kinds of acuity that speak of something old.
        units: Unit of length → mm.
        diameters: Structure → the qualities that its diameter tells, each with the mm from which on it does.
        largest: Quality or concept → the most mm that a length beside it can be.
        shares: Word for a narrowing → the severities that its per cent tell, each from a number on.
        times: The words between two sizes.
        position_names: What the reader calls a device's position.
        size_names: What it calls the severity of a finding that has a size, by step.
        concept_names: What explanations call a concept, where not by its name.
        tip_names: Where explanations say that a device ends: "in the SVC".
        trie: The terms of all files, word by word.
        terms_words: Every word of these terms.
        key: The pack and the folder that it was made from.
        made: What functions have made of it (`per_lexicon`).
    """

    words: dict[str, str]
    small: SmallWords
    concepts: dict[str, Concept] = field(default_factory=dict)
    zones: dict[str, Zone] = field(default_factory=dict)
    everywhere: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    organ_of: dict[str, str] = field(default_factory=dict)
    tips: dict[str, TipSite] = field(default_factory=dict)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    level_names: dict[int, str] = field(default_factory=dict)
    level_bases: dict[str, int] = field(default_factory=dict)
    rib_words: frozenset[str] = frozenset()
    severity: dict[str, int] = field(default_factory=dict)
    findings_of: dict[tuple[str, str], str] = field(default_factory=dict)
    findings_in: dict[tuple[str, str], str] = field(default_factory=dict)
    denials: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    headings: dict[str, tuple[str, bool]] = field(default_factory=dict)
    inline: frozenset[str] = frozenset()
    rules: list[SignificanceRule] = field(default_factory=list)
    context_rules: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    harm: list[SignificanceRule] = field(default_factory=list)
    indications: dict[str, str] = field(default_factory=dict)
    denied: str = _NEVER
    known: Known = field(default_factory=Known)
    rubric: Rubric = field(default_factory=lambda: Rubric())
    roles: dict[Role, frozenset[str]] = field(default_factory=dict)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    old: frozenset[str] = frozenset()
    units: dict[str, float] = field(default_factory=dict)
    diameters: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    shares: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    times: frozenset[str] = frozenset()
    position_names: dict[str, str] = field(default_factory=dict)
    size_names: dict[int, str] = field(default_factory=dict)
    concept_names: dict[str, str] = field(default_factory=dict)
    tip_names: dict[str, str] = field(default_factory=dict)
    trie: Trie = field(default_factory=dict)
    terms_words: set[str] = field(default_factory=set)
    key: LexiconKey = BUNDLED_KEY
    made: dict[Any, dict[Any, Any]] = field(default_factory=dict, repr=False, compare=False)


def per_lexicon(function: Callable[[Lexicon, *Ts], R]) -> Callable[[Lexicon, *Ts], R]:
    """Keeps what a function of a lexicon, and of hashable arguments, returns: with the lexicon, as long as that is."""

    @wraps(function)
    def kept(lexicon: Lexicon, *args: *Ts) -> R:
        made = lexicon.made.get(function)
        if made is None:
            made = lexicon.made.setdefault(function, {})
        if args not in made:
            if len(made) >= KEPT:
                made.clear()
            made[args] = function(lexicon, *args)
        found: R = made[args]
        return found

    return kept
