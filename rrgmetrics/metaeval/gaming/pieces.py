"""What the search writes texts of: the lexicon's concepts in every frame, normal statements, headings, tokens."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from rrgmetrics.metaeval.tricks import standalone
from rrgmetrics.reading.lexicon import DEFAULT_PACK, load
from rrgmetrics.synthesis.edits.evasions import capitalised, evasion_words
from rrgmetrics.synthesis.edits.words import edit_words


class Piece(NamedTuple):
    """A sentence, or a few that belong together, and the kind of frame that it was made with."""

    text: str
    frame: str


def all_pieces(seed: int = 0) -> list[Piece]:
    """Returns every piece in a drawn order, those that name no concept first.

    A few tries see something of each kind: pieces take turns by the kind of their frame.

    Example:
        >>> pieces = all_pieces()
        >>> len(pieces) > 10_000, Piece("Chronic atelectasis.", "excused") in pieces
        (True, True)
    """
    rng = Random(f"pieces {seed}")
    by_frame: dict[str, list[Piece]] = {"fixed": [Piece(text, "fixed") for text in _fixed()]}
    names = [concept.name for concept in load().concepts.values()]
    for kind, frames in evasion_words()["frames"].items():
        by_frame[kind] = [Piece(capitalised(frame, name), kind) for frame in frames for name in names]
        rng.shuffle(by_frame[kind])
    rng.shuffle(by_frame["fixed"])
    longest = max(map(len, by_frame.values()))
    turns = [pieces[turn] for turn in range(longest) for pieces in by_frame.values() if turn < len(pieces)]
    return list(dict.fromkeys(turns))


def _fixed() -> list[str]:
    normal = [sentence for sentences in edit_words()["normal"].values() for sentence in sentences]
    whole = [text for text in standalone(DEFAULT_PACK).values() if text]
    return [*evasion_words()["fixed"], *normal, *whole]
