"""A term of the lexicon at its place: what it claims to be, what else it means, what keeps it from being read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.reading.lexicon.schema import SHAPES, Value
from rrgmetrics.reading.tokens import ENDS

LONGEST_HEADING = 7  # words
_SPELLING = re.compile(r"[a-z]+\d{0,2}")
_STRANGE = re.compile(r"[^A-Za-z0-9 .,;:!?/—–()\[\]'\-_<>]")
_SOUGHT = frozenset({"anatomy", "attributes", "qualities", "cues", "normal"})  # files whose terms `build.py` looks for
# The tables of attributes.yaml and anatomy.yaml of which a term can name one entry only.
_ATTRIBUTES = (
    "change",
    "acuity",
    "morphology",
    "position",
    "route",
    "asymmetry",
    "severity",
    "tip_sites",
    "count",
    "sides",
    "zones",
)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file that was read: its name, its nodes with their lines, its layer, and whether it is the user's own."""

    path: Path
    name: str
    node: Any
    content: Any
    layer: int
    is_own: bool

    @property
    def holds_concepts(self) -> bool:
        """Whether it is a file of concepts."""
        return self.name not in SHAPES


class Term(NamedTuple):
    """A term at its place: the keys that lead to it, and how it is looked for."""

    text: str
    source: Source
    keys: tuple[str, ...]
    line: int
    value: Value


def is_sought(term: Term) -> bool:
    """Whether a report is searched for a term; one that only tells kinds of reports apart means nothing in it."""
    own = term.source.holds_concepts and term.keys[1] != "without"
    return term.value.term == "report" and (own or term.source.name in _SOUGHT)


def unreadable(term: Term, words: Sequence[str], compounds: set[tuple[str, ...]], abbreviations: Sequence[str]) -> str:
    """What keeps a term from being read; "" if nothing does."""
    text, way = term.text, term.value.term
    if text != text.lower():
        return f'it has capitals; write "{text.lower()}".'
    if not text.strip() or text != text.strip() or (not words and way in ("report", "heading")):
        return "it contains no words, or spaces around them."
    if way == "indication" and re.search(r"[-/]|\*.", text):
        return 'in indications "-" and "/" are spaces, and a star must be at the end.'
    if way == "word" and list(words) != [text]:
        return f'such a word of a report is "{" ".join(words)}" here; write that.'
    if way == "spelling" and not _SPELLING.fullmatch(text):
        return 'a spelling is one word of letters; put phrases under "phrases".'
    if way == "heading" and len(words) > LONGEST_HEADING:
        return f"a heading has at most {LONGEST_HEADING} words."
    if way not in ("report", "heading"):
        return ""
    if "|" in text:
        return "a bracket is not closed; write a pattern as dense (left|right|) base."
    if strange := _STRANGE.search(text):
        return f'"{strange.group()}" is ignored in reports; leave it out.'
    if any(word in ENDS and not (i and words[i - 1] in abbreviations) for i, word in enumerate(words)):
        return "a sentence ends inside it; leave the mark out."
    if term.source.holds_concepts and tuple(words) in compounds:
        return 'spellings.yaml splits it under "compounds"; remove one of the two.'
    return ""


def claim_of(term: Term) -> tuple[str, str]:
    """What a term claims to be, of those of which it can be only one: the kind, and which one; "" for none."""
    if term.source.holds_concepts and term.keys[1] == "terms":
        return "concept", term.keys[0]
    if term.source.name in ("attributes", "anatomy") and term.keys[0] in _ATTRIBUTES:
        return f"entry of {term.keys[0].replace('_', ' ')}", term.keys[1]
    return "", ""


def sense_of(term: Term) -> tuple[str, bool]:
    """Says what a term is that is outside the concepts, in words, and whether a concept may have it too."""
    name, keys = term.source.name, term.keys
    if name == "qualities":
        return "a quality", True
    if name == "anatomy" and keys[0] == "structures":
        return "a structure", True
    if name in ("attributes", "anatomy") and keys[0] in _ATTRIBUTES:
        return f"a word of {keys[0].replace('_', ' ')}", True
    if name == "cues":
        return f"a cue ({keys[0]})", keys[0] == "nothing"  # what is nothing on a film may be a finding elsewhere
    if name == "small_words":
        return f"a small word ({keys[0]})", keys[0] == "announcing_devices"
    return ("a normal statement", False) if name == "normal" and keys[0] == "phrases" else ("", False)


def how_to_take_away(kind: str, term: Term, twin: Term) -> str:
    """How a folder of the user's own takes a term away from a bundled concept; "" if there is none of the two."""
    if kind != "concept" or term.source.is_own == twin.source.is_own:
        return ""
    bundled = twin if term.source.is_own else term
    return f', or list it under "without" of {bundled.keys[0]} in your folder'
