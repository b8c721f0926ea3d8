"""Everything that a phrase can mean: the keys of `Item.senses`, and the type of each key's value.

An item is a phrase of a sentence; its senses are a dictionary with one entry for each thing that it means. The lexicon
gives it the senses of its terms, and the steps of the pipeline (`pipeline`) replace them where the sentence shows that
the phrase means something else. A word that means nothing by itself has none.

The lexicon's schema takes the names of the cues from here, `Step.writes` of the pipeline names senses of this list, and
mypy checks each key that the code reads or writes. To add a sense, give it a line here.
"""

from __future__ import annotations

from typing import TypedDict, cast


class Names(TypedDict, total=False):
    """What is named: a finding, a place, a measurement."""

    concept: str  # a finding or a device, the key of a concept: "pleural effusion"
    lone: str  # a concept that the phrase names only where nothing else is named: "PM unchanged" (`lone_terms`)
    noun: str  # a concept that it names as a noun, not before another noun: "the PRIMARY is larger" (`noun_terms`)
    listed: str  # the concept that several of the structure are: "NODES in the mediastinum"
    structure: tuple[str, ...]  # parts of the body that can have a quality: "heart"; keys of anatomy.yaml
    holds: tuple[str, ...]  # the structures that end the name of a concept: "calcified AORTA"
    about: tuple[str, ...]  # the structures that begin it: "PLEURAL effusion"
    normal: tuple[str, ...]  # the concepts that the phrase denies as a whole: "lungs are clear"
    side: str  # "right", "left", "bilateral" or "midline"
    zone: str  # a place, the key of a zone: "right lower lobe"
    several: bool  # the place is more than one: "the lung BASES"
    level: tuple[str, ...]  # bones by name or number: "T4", "rib 5"
    ordinal: int  # the number of a bone that is named beside it: "FIFTH and sixth ribs"
    tip: str  # where the end of a device can be, the key of a tip site: "SVC"
    measure: tuple[float, ...]  # lengths in mm: "2 x 3 cm"
    parts: tuple[str, ...]  # the terms that an abbreviation means: "RLL"; `match_phrases` makes an item of each


class Descriptions(TypedDict, total=False):
    """What is said of it."""

    quality: tuple[str, ...]  # makes a finding or a normal statement of a structure: "enlarged"; keys of qualities.yaml
    severity: int  # a step of the scale of severity or size: "small"
    acuity: str  # "acute", "old"; a key of attributes.yaml, as are morphology, position and route
    morphology: str  # shape, border or composition: "spiculated"
    position: str  # whether a device is in "good" or "bad" position
    route: str  # the vessel or the way that a device takes: "internal jugular"
    count: int  # how many: "two"
    asymmetry: str  # the side on which more of it is: "greater on the LEFT"
    than: bool  # beside asymmetry: the other side has it, too: "larger than the right one"
    change: str  # since the last study: "new", "worse", "better", "stable", "resolved", or how a device was moved
    before: tuple[str, float]  # "measure" or "severity", and its value on an earlier study: "PREVIOUSLY 5 cm"
    measured: int  # the quality is that of a measure: the index of the item that it was measured by
    denied: bool  # the position is denied: "NOT in the right main bronchus"
    inside: list[Senses]  # what the words inside a term say of its finding: "RIGHT SIDED aortic arch"


class Cues(TypedDict, total=False):
    """Words that turn a finding into absent, uncertain or historic, or that end their reach.

    The value is the key again. These are the keys of cues.yaml, and the examples are words of it.
    """

    negation_before: str  # denies what follows, to the end of its clause: "no", "without"
    negation_after: str  # denies what precedes it in the clause: "is not seen"
    negation_verb: str  # denies the quality that follows: "IS NOT enlarged"
    not_negation: str  # holds a word of negation and denies nothing: "not only"
    probable_before: str  # what follows is likely: "consistent with"
    possible_list: str  # opens a list of what the picture may be: "differential includes"
    possible_before: str  # what follows is possible: "may represent"
    possible_after: str  # what precedes it is possible: "is possible"
    probable_after: str  # what precedes it is likely: "is likely"
    preferred_to: str  # what precedes it is likely, what follows is not: "is favored over"
    versus: str  # joins alternatives of which one is meant
    not_excluded_after: str  # what precedes it is hardly more than a thought: "cannot be excluded"
    not_excluded_before: str  # so is what follows: "cannot exclude"
    resolved_before: str  # what follows was there and is gone: "resolution of"
    earlier_study: str  # speaks of an earlier study: "prior CT"
    evidenced_by: str  # what follows is a finding of its own: "as evidenced by"
    hypothetical: str  # what follows is asked, advised, feared or historic: "rule out"
    hypothetical_after: str  # so is what precedes it in the clause
    recommendation: str  # its clause advises: "recommend"
    communication: str  # its sentence is about people, not about the patient's chest: "discussed with"
    retracted: str  # its sentence is taken back, or about somebody else; with a colon, all that follows it
    clause_end: str  # ends the reach of every cue: "but"
    item_break: str  # may end the reach of a negation inside a list: what follows is stated
    location_preposition: str  # leads to a place: "in the"
    side_port: str  # where this lies tells whether a tube is far enough in
    not_reached: str  # a tube does not end at the place that follows
    feigning: str  # the cause of a look, and no finding: due to PROJECTION
    nothing: str  # keeps its words from being read as something else: "growth plate"


class Senses(Names, Descriptions, Cues, total=False):
    """What a phrase means."""


SENSES = Senses.__annotations__  # by name, Names before Descriptions before Cues


def without(senses: Senses, *kinds: str) -> Senses:
    """Returns senses without some of them."""
    return cast(Senses, {kind: value for kind, value in senses.items() if kind not in kinds})


def as_earlier(senses: Senses, kind: str) -> Senses:
    """Returns a measure or a severity, of senses that have it, as that of an earlier study."""
    return {"before": (kind, max(senses["measure"]) if kind == "measure" else senses["severity"])}
