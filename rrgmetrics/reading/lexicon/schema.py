"""What each file of the lexicon may hold, and how a pack or a folder of the user's own adds to it or overrides it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from rrgmetrics.reading.lexicon.model import Role, SmallWords
from rrgmetrics.reading.lexicon.rules import EFFECTS, HEDGES, OPENED, PREDICATES, REACHES, STAGES
from rrgmetrics.reading.model import Detail, Significance
from rrgmetrics.reading.senses import Cues

TABLE_FILES = (
    "anatomy",
    "qualities",
    "attributes",
    "cues",
    "small_words",
    "context_rules",
    "normal",
    "sections",
    "spellings",
    "context",
    "rubric",
    "scope",
    "vocabulary",
)
LABEL_FILES = (
    "conditions",
    "ct",
    "srr",
    "entities",
    "graph",
)  # label sets of others, which no folder of a user's own changes
CONDITIONS = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Lesion",
    "Lung Opacity",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
)


@dataclass(frozen=True, slots=True)
class Value:
    """One value.

    Attributes:
        kind: Its type.
        of: The table whose keys it may name ("concepts", "zones", ...); "words of a rule": words, of which those in
            capitals name a list of small_words.yaml; "senses": a sense, which may be followed by = and a value.
        choices: The values that it may have.
        term: How it is looked for if it is words of a text: in a `report`, in an `indication`, as the `heading` of a
            section, as one `word` or `spelling`, or as `letters` of any language.
    """

    kind: type = str
    of: str = ""
    choices: tuple[str, ...] = ()
    term: Literal["", "report", "indication", "heading", "word", "spelling", "letters"] = ""


@dataclass(frozen=True, slots=True)
class Many:
    """A list; where `joins`, a folder of one's own adds to it, otherwise it replaces it.

    A line of it may be a pattern of several terms (`rrgmetrics.utils.patterns`): every file is read with its terms.
    """

    value: Shape
    joins: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A block with keys of ours; keys that are `required` must be there."""

    keys: dict[str, Shape]
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A block whose keys are the user's, with one shape for all that is behind them."""

    value: Shape
    keys: Value = field(default_factory=Value)


Shape = Value | Many | Record | Table

_TEXT, _NUMBER, _STEP, _FLAG = Value(), Value(float), Value(int), Value(bool)
_TERM, _WORD, _SPELLING = Value(term="report"), Value(term="word"), Value(term="spelling")
_TERMS, _WORDS = Many(_TERM, joins=True), Many(_WORD, joins=True)
_HEADINGS = Many(Value(term="heading"), joins=True)
_LETTERS = Many(Value(term="letters"), joins=True)
_SERIES = ("rib", "C", "T", "L")
_SIDE = Value(of="sides")
_SIGNIFICANCE = Value(choices=get_args(Significance))
_KEY = Value(of="key")


def _names(of: str) -> Many:
    return Many(Value(of=of))


def _record(required: dict[str, Shape], optional: dict[str, Shape] | None = None) -> Record:
    return Record({**required, **(optional or {})}, tuple(required))


_BONES = _record({"last": _STEP, "words": _WORDS}, {"letters": _WORDS, "zone": Value(of="zones")})
_CONCEPTS = Table(
    _record(
        {"name": _TEXT, "terms": _TERMS, "significance": _SIGNIFICANCE},
        {
            "why": _TEXT,
            "parent": Value(of="concepts"),
            "same_as": _names("concepts"),
            "sign_of": _names("concepts"),
            "lone_terms": _TERMS,
            "noun_terms": _TERMS,
            "seen_as": Many(Value(of="seen_as"), joins=True),
            "found_in": Many(Value(of="found_in"), joins=True),
            "condition": Value(choices=CONDITIONS),
            "counts": _FLAG,
            "roles": Many(Value(choices=get_args(Role))),
            "expected_tip": _names("tip_sites"),
            "wrong_tip": _names("tip_sites"),
            "expected_levels": Many(_TEXT),
            "never_in": _names("structures"),
            "rivals": _names("concepts"),
            "parts": _names("concepts"),
            "carina_cm": Many(_NUMBER),
            "without": Many(_TERM),
        },
    ),
    _KEY,
)
_RULE = _record(
    {"concepts": _names("concepts or any"), "significance": _SIGNIFICANCE, "why": _TEXT},
    {
        "severity_at_most": _STEP,
        "severity_at_least": _STEP,
        "acuity": _names("acuity"),
        "change": _names("change"),
        "unless_change": _names("change"),
        "known": _FLAG,
        "tip": _names("tip_sites"),
        "morphology": _names("morphology"),
        "position": _names("position"),
        "zones": _names("zones"),
        "assertion": Value(choices=("present", "uncertain", "absent")),
        "from": Many(_SIGNIFICANCE),
        "age_at_least": _NUMBER,
        "age_below": _NUMBER,
        "size_mm_below": _NUMBER,
        "size_mm_at_least": _NUMBER,
        "indication": _names("indications"),
        "unless_indication": _names("indications"),
    },
)
_WORDS_OF_RULE, _CUES_OF_RULE = Many(Value(of="words of a rule")), Many(Value(of="senses"))
_PREDICATES = Many(Value(choices=PREDICATES))
_SEARCH = _record(
    {},
    {
        **dict.fromkeys(("cue", "stop_cue"), _CUES_OF_RULE),
        **dict.fromkeys(("words", "stop_words"), _WORDS_OF_RULE),
        "within": _STEP,
    },
)
_CONTEXT_RULE = _record(
    {"id": Value(), "effect": Value(choices=EFFECTS)},
    {
        "cue": _CUES_OF_RULE,
        **dict.fromkeys(("words", "next", "previous", "first"), _WORDS_OF_RULE),
        "open": Many(Value(choices=(*OPENED, *HEDGES))),
        "ahead": _SEARCH,
        "behind": _SEARCH,
        "when": _PREDICATES,
        "unless": _PREDICATES,
        "direction": Value(choices=("before", "after", "both")),
        "reach": Value(choices=REACHES),
        "change": Value(choices=("resolved", "stable", "none")),
        "closes": Many(Value(choices=(*OPENED, "hedge"))),
        "link": _FLAG,
        "examples": _record({"used": Table(_TEXT)}, {"unused": Table(_TEXT)}),
    },
)
_LABEL_CONDITIONS: dict[str, Shape] = {
    "morphology": _names("morphology"),
    "zones": _names("zones"),
    "sides": _names("sides"),
    "acuity": _names("acuity"),
    "position": _names("position"),
    "words": _LETTERS,
}
_PRECISION = _record(
    {
        "precise": _names("concepts"),
        "vague": _names("concepts"),
        "matters": Value(choices=("always", "class", "never")),
    },
    {"unless_indication": _names("indications")},
)
_SECTIONS = (
    "findings",
    "named",
    "organs",
    "impression",
    "indication",
    "comparison",
    "technique",
    "recommendation",
    "communication",
)

SHAPES: dict[str, Shape] = {
    "anatomy": _record(
        {
            "structures": Table(_TERMS, _KEY),
            "sides": _record(dict.fromkeys(("right", "left", "bilateral", "midline"), _TERMS)),
            "zones": Table(
                _record(
                    {"terms": _TERMS},
                    {
                        "name": _TEXT,
                        "in": Value(of="zones"),
                        "near": _names("zones"),
                        "beside": _names("zones"),
                        "side": _SIDE,
                        "structure": Value(of="structures"),
                        "everywhere": _FLAG,
                        "never": Many(Value(of="files")),
                    },
                ),
                _KEY,
            ),
            "levels": _record(
                {
                    "ordinals": Many(_TERM),
                    "bones": Table(_BONES, Value(choices=_SERIES)),
                    "regions": Table(_record({"first": _TEXT, "last": _TEXT, "terms": _TERMS})),
                }
            ),
            "groups": _record({name: Many(Value(of="files")) for name in ("one_picture", "one_place", "one_each")}),
        },
        {
            "apart": Table(_names("zones")),
            "elsewhere": _record({"structures": _names("structures"), "zones": _names("zones")}),
        },
    ),
    "qualities": Table(_record({"terms": _TERMS}, {"alone": Value(of="concepts")}), _KEY),
    "attributes": _record(
        {
            "severity": Table(_record({"step": _STEP, "terms": _TERMS}), _KEY),
            "change": _record(dict.fromkeys(("new", "worse", "better", "stable", "resolved"), _TERMS)),
            "acuity": Table(_TERMS, _KEY),
            "morphology": Table(_TERMS, _KEY),
            "position": _record({"good": _TERMS, "bad": _TERMS}),
            "route": Table(_TERMS, _KEY),
            "tip_sites": Table(_record({"path": _KEY, "order": _STEP, "terms": _TERMS}, {"any": _FLAG}), _KEY),
            "count": Table(_TERMS),
            "asymmetry": Table(_TERMS, _SIDE),
            "old": _names("acuity"),
            "units": Table(_NUMBER, _WORD),
            "diameters": Table(
                Many(_record({"from": _NUMBER, "quality": Value(of="qualities")})), Value(of="structures")
            ),
            "largest": Table(_NUMBER, _KEY),
            "shares": Table(Many(_record({"from": _NUMBER, "severity": Value(of="severity")})), _WORD),
            "times": _WORDS,
            "names": _record(
                {"position": _record({"good": _TEXT, "bad": _TEXT}), "size": Table(_TEXT, _STEP)},
                {"concept": Table(_TEXT, Value(of="concepts")), "tip": Table(_TEXT, Value(of="tip_sites"))},
            ),
        }
    ),
    "cues": _record(dict.fromkeys(Cues.__annotations__, _TERMS)),
    "small_words": _record({each.name: _WORDS for each in fields(SmallWords)}),
    "context_rules": _record(dict.fromkeys(STAGES, Many(_CONTEXT_RULE, joins=True))),
    "normal": _record(
        {
            "structures": Table(
                _record(
                    {"when": _names("qualities"), "denies": _names("concepts")},
                    {"only": Table(_names("concepts"), Value(of="qualities"))},
                ),
                Value(of="structures"),
            ),
            "sentences": Table(_TEXT, Value(of="files")),
            "phrases": Many(_record({"terms": _TERMS, "denies": _names("concepts")}), joins=True),
        }
    ),
    "sections": _record(
        {way: Table(_HEADINGS, Value(choices=_SECTIONS)) for way in ("read", "skip")}, {"inline": _HEADINGS}
    ),
    "spellings": _record(
        {
            "words": Table(_WORD, _SPELLING),
            "phrases": Table(_TERMS, _TERM),
            "compounds": Table(_names("terms"), _TERM),
        },
        {"plurals": Table(_TEXT, _TEXT)},
    ),
    "context": _record(
        {
            "indications": Table(Many(Value(term="indication"), joins=True), _KEY),
            "denials": Many(Value(term="indication"), joins=True),
            "known": _record(
                {
                    "said": Many(Value(term="indication"), joins=True),
                    "asked": Many(Value(term="indication"), joins=True),
                    "chronic": _names("concepts"),
                    "shown_by": Table(_names("concepts"), Value(of="concepts")),
                }
            ),
            "rules": Many(_RULE, joins=True),
        },
        {"harm": Many(_RULE, joins=True)},
    ),
    "rubric": _record(
        {
            "precision": Many(_PRECISION, joins=True),
            "harmless": Many(_SIGNIFICANCE),
            "diagnoses": _names("concepts"),
            "named": Many(
                _record(
                    {
                        "diagnosis": _names("concepts"),
                        "shown_by": _names("concepts"),
                        "class": _SIGNIFICANCE,
                        "why": _TEXT,
                    },
                    {"added": _SIGNIFICANCE, "shown": _SIGNIFICANCE},
                ),
                joins=True,
            ),
            "explains": Many(_record({"diagnosis": _names("concepts"), "shown_by": _names("concepts")}), joins=True),
            "thresholds": Many(
                _record({"concepts": _names("concepts"), "mm": Many(_NUMBER), "beyond": _NUMBER, "why": _TEXT}),
                joins=True,
            ),
            "opposed": Many(_record({"one": _names("morphology"), "other": _names("morphology")}), joins=True),
            "scales": Many(_names("morphology"), joins=True),
        },
        {
            "abbreviations": Many(
                _record(
                    {
                        "letters": _TEXT,
                        "of": _names("concepts"),
                        "means": _names("concepts"),
                        "beside": _names("concepts"),
                        "unless": _WORDS,
                        "taken_out": _FLAG,
                    }
                )
            ),
            "tells_side": _names("zones"),
            "left_out": Many(
                _record(
                    {"what": Value(choices=get_args(Detail)), "part": _NUMBER, "why": _TEXT},
                    {"concepts": _names("concepts"), "files": Many(Value(of="files"))},
                ),
                joins=True,
            ),
        },
    ),
    "scope": _record(
        {
            "languages": Table(_LETTERS),
            "denying": Table(_LETTERS),
            "scripts": Table(_TEXT),
            "broken": Many(_record({"first": _LETTERS, "then": _LETTERS}), joins=True),
            "elsewhere": Table(_TERMS),
            "modality": Table(_TERMS),
            "decisive": Table(_TERMS),
            "sure": Table(_TERMS),
            "weak": Table(_TERMS),
            "shared": Table(_TERMS),
            "titles": Table(_TERMS),
            "examinations": _record(
                {
                    "ct": _TERMS,
                    "ct_names": _TERMS,
                    "film_names": _TERMS,
                    "chest_names": _TERMS,
                    "names": _TERMS,
                    "words": _TERMS,
                    "parts": Table(_TERMS),
                }
            ),
            "chest": _TERMS,
        }
    ),
    "conditions": _record(
        {
            "conditions": Many(_TEXT),
            "five": _names("conditions"),
            "beside": _names("conditions"),
            "instead": Table(_names("conditions"), Value(of="concepts")),
        }
    ),
    "ct": _record(
        {
            "conditions": Many(_TEXT),
            "rules": Many(
                _record(
                    {"concepts": _names("concepts")},
                    {
                        "label": Value(of="ct"),
                        "also": Value(of="ct"),
                        "normal": Many(Value(choices=("measured",))),
                        "explained_by": _names("concepts"),
                        **_LABEL_CONDITIONS,
                    },
                )
            ),
        }
    ),
    "srr": _record(
        {
            "no_finding": _record({"leaves": _STEP, "uppers": _STEP}),
            "leaves": Table(Value(of="uppers")),
            "uppers": Many(_TEXT),
            "groups": Table(Value(of="uppers"), Value(of="files")),
            "rules": Many(
                _record(
                    {"concepts": _names("concepts")},
                    {
                        "leaf": Value(of="leaves"),
                        "upper": Value(of="uppers"),
                        "status": Value(choices=("present", "uncertain", "absent")),
                        **_LABEL_CONDITIONS,
                    },
                )
            ),
        }
    ),
    "entities": _record({"diseases": _names("concepts"), "organs": Table(_TEXT, Value(of="files"))}),
    "pack": _record(
        {"title": _TEXT, "kind": Value(of="kinds")},
        {
            "language": _TEXT,
            "extends": Value(of="packs"),
            "experimental": _FLAG,
            "concepts": Many(_KEY),
        },
    ),
    "vocabulary": _record(
        dict.fromkeys(("grammar", "report", "clinical", "description", "anatomy", "one_letter_off"), _TERMS)
    ),
    "graph": _record(
        dict.fromkeys(
            (
                "anatomy",
                "observation",
                "no_node",
                "either",
                "device_words",
                "adjectives",
                "nouns",
                "adverbs",
                "attributes",
                "parts",
                "placing",
                "studies",
            ),
            _WORDS,
        )
    ),
}
LAST_WINS = ("rules", "harm", "left_out")  # of context.yaml and rubric.yaml; elsewhere the first of two rows wins


def shape_of(name: str) -> Shape:
    """The shape of a file; one without a name of ours holds concepts."""
    return SHAPES.get(name, _CONCEPTS)


def empty(shape: Shape) -> Any:
    """What a file says that is not there: blocks and lists without content."""
    if isinstance(shape, Record):
        return {key: empty(each) for key, each in shape.keys.items() if key in shape.required}
    return [] if isinstance(shape, Many) else {} if isinstance(shape, Table) else None


def merge(name: str, ours: Any, theirs: Any) -> Any:
    """What a file says with what another folder says under the same keys: a pack's, or the user's own.

    Blocks are merged key by key. Lists of terms and of rules are joined, theirs first where the first one wins; any
    other list and any single value of theirs replaces ours. A concept loses the terms under `without`.
    """
    return _merge(shape_of(name), ours, theirs)


def _merge(shape: Shape | None, ours: Any, theirs: Any, key: str = "") -> Any:
    if isinstance(shape, Record | Table) and isinstance(ours, dict) and isinstance(theirs, dict):
        shapes = shape.keys if isinstance(shape, Record) else dict.fromkeys(theirs, shape.value)
        merged = {**ours, **{k: _merge(shapes.get(k), ours[k], v, k) if k in ours else v for k, v in theirs.items()}}
        lost = theirs.get("without")
        if isinstance(lost, list) and isinstance(merged.get("terms"), list):
            merged["terms"] = [term for term in merged["terms"] if term not in lost]
        return merged
    if isinstance(shape, Many) and shape.joins and isinstance(ours, list) and isinstance(theirs, list):
        return [*ours, *theirs] if key in LAST_WINS else [*theirs, *ours]
    return theirs
