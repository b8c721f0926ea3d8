"""Suites of invented reports whose changes were written by hand: `written_<pack>.yaml`, for chest CT and mammograms.

Kinds and measures are those of the suite that the reader makes of any chest X-rays (`suite`); but here nothing of an
error is the reader's: what it does not read it does not see. Order, typing errors, terse style and tricks are made of
the texts by the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from random import Random
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.stress.kinds import KINDS, OTHER
from rrgmetrics.metaeval.stress.suite import HONEST, Case, Suite
from rrgmetrics.metaeval.tricks import added, evaded, standalone
from rrgmetrics.reading.lexicon import all_packs
from rrgmetrics.synthesis.edits import style
from rrgmetrics.synthesis.edits.sentences import reorder

PREFIX = "written:"  # how the command line names them
Edit = Sequence[str]  # words, and what stands in their place


def written_packs() -> tuple[str, ...]:
    """The packs whose reports there is a suite of.

    Example:
        >>> written_packs()
        ('chest_ct', 'mammography')
    """
    return tuple(pack for pack in all_packs() if resources.files(__package__).joinpath(_name(pack)).is_file())


def written_suite(pack: str, *, seed: int = 0) -> Suite:
    """Reads the suite of a pack.

    Args:
        pack: Whose reports.
        seed: Of the draws of sentences and letters.

    Raises:
        InputError: There is none of this pack.
    """
    import yaml

    if pack not in written_packs():
        raise InputError(f"There are no written reports of {pack!r}; choose one of {', '.join(written_packs())}.")
    rows = yaml.safe_load(resources.files(__package__).joinpath(_name(pack)).read_text(encoding="utf-8"))["reports"]
    texts = tuple(row["text"].strip() for row in rows)
    cases = [
        Case(index, kind, text)
        for index, row in enumerate(rows)
        for kind, text in _changed(row, texts, index, pack, Random(f"{seed} {pack} {index}"))
        if text != texts[index]
    ]
    tried = Counter({kind: len(texts) for kind in KINDS})
    return Suite(texts, tuple(cases), tried, f"{PREFIX}{pack}", seed, by_reader=False)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Returns a text with words that stand in it once in place of others; "" for words appends a sentence.

    Example:
        >>> edited("Small effusion. Clear lungs.", [("Small", "Large"), ("", "Gallstones.")])
        'Large effusion. Clear lungs. Gallstones.'
    """
    for words, new in edits:
        if words and text.count(words) != 1:
            raise InputError(f"{words!r} occurs {text.count(words)} times in {text!r}; it must occur once.")
        text = text.replace(words, new) if words else f"{text} {new}"
    return text.strip()


def _name(pack: str) -> str:
    return f"written_{pack}.yaml"


def _changed(
    row: Mapping[str, Any], texts: Sequence[str], index: int, pack: str, rng: Random
) -> Iterator[tuple[str, str]]:
    """Yields kinds and texts of one report."""
    text, errors = texts[index], row["errors"]
    yield from ((kind, edited(text, [edit])) for kind, edit in errors.items())
    yield from ((kind, edited(text, edits)) for kind, edits in row["harmless"].items())
    yield "order", reorder(text, rng, pack)
    yield "typing", style.mistype(text, rng)
    yield "terse", style.make_terse(text)
    steps = [edited(text, [errors[kind] for kind in row["numbered"][:n]]) for n in range(1, len(row["numbered"]) + 1)]
    yield from ((f"errors_{n}", step) for n, step in enumerate(steps, 1))
    honest, alone = steps[HONEST - 1], standalone(pack)
    yield from added(honest, rng, pack).items()
    yield from evaded(honest, rng, pack).items()
    denial = errors["negation_added"][1]
    if denial.endswith(".") and "negation_added" not in row["numbered"][:HONEST]:
        yield "contradiction", f"{honest} {denial}"
    yield from (("empty", ""), ("template", alone["normal template"]), ("nonsense", alone["babble"]))
    yield OTHER, texts[(index + 1) % len(texts)]
