"""Studies to game a metric on: references, and what honest systems write of them.

Of the generator's studies three systems write: a good one, a middling one and a weak one, which make more and more
mistakes and have a style of their own. Of reports of a user's own the same three are made by putting errors in. Of
pairs that radiologists judged the candidates are the one system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders import Data
from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.metaeval.stress.suite import Source
from rrgmetrics.synthesis.generator import corrupt, draw_study, render
from rrgmetrics.synthesis.generator.draws import weighted
from rrgmetrics.synthesis.generator.phrasebook import phrasebook
from rrgmetrics.utils.progress import watched

N_STUDIES = 240
MISTAKES: Mapping[str, tuple[int, int]] = {"weak": (3, 4), "mid": (1, 2), "good": (0, 1)}  # of even and odd studies
ERRORS: Mapping[str, int] = {"weak": 4, "mid": 2, "good": 1}  # put into a user's own reports


@dataclass(frozen=True)
class Studies:
    """References, and what honest systems write of them.

    Attributes:
        name: Where they come from, for people.
        references: One a row.
        systems: The candidates of each system, the weakest system first.
        studies: What each row belongs to; a study is in one half, and intervals are over studies.
        seed: Of what was drawn.
    """

    name: str
    references: tuple[str, ...]
    systems: Mapping[str, tuple[str, ...]]
    studies: tuple[str, ...]
    seed: int

    def half(self, number: int) -> Studies:
        """Every other study: number 0 to search on, number 1 to measure on."""
        order = {study: place for place, study in enumerate(dict.fromkeys(self.studies))}
        return self.only(lambda row: order[self.studies[row]] % 2 == number)

    def only(self, is_kept: Callable[[int], bool]) -> Studies:
        """The rows that a condition holds of."""
        rows = [row for row in range(len(self.references)) if is_kept(row)]
        systems = {name: tuple(texts[row] for row in rows) for name, texts in self.systems.items()}
        references = tuple(self.references[row] for row in rows)
        return Studies(self.name, references, systems, tuple(self.studies[row] for row in rows), self.seed)


def generated_studies(n: int = N_STUDIES, *, seed: int = 0) -> Studies:
    """Draws studies of the generator, each written by a reference and by three systems.

    Args:
        n: How many.
        seed: Of the draws.

    Raises:
        InputError: Fewer than four studies.
    """
    _check_number(n)
    references: list[str] = []
    systems: dict[str, list[str]] = {name: [] for name in MISTAKES}
    ours, theirs = phrasebook().weights
    for number in range(n):
        rng = Random(f"game {seed} {number}")
        study = draw_study(rng)
        references.append(render(study, weighted(ours, rng), rng))
        for name, mistakes in MISTAKES.items():
            wrong, _ = corrupt(study, mistakes[number % 2], rng)
            systems[name].append(render(wrong, weighted(theirs, rng), rng))
    return _studies(f"generator:{n}", references, systems, [str(number) for number in range(n)], seed)


def own_studies(reports: Sequence[str], *, name: str = "", seed: int = 0, progress: bool = False) -> Studies:
    """Makes honest systems of a user's reports: each report with one, two and four errors put in.

    Args:
        reports: The reports, which become the references.
        name: Where they come from, for people.
        seed: Of the draws.
        progress: Whether to show a bar.

    Raises:
        InputError: Fewer than four reports that errors could be put into.
    """
    texts = [text.strip() for text in reports if text.strip()]
    kept, systems = list[str](), {system: list[str]() for system in ERRORS}
    for index in watched(range(len(texts)), "inserting errors", "reports", shown=progress):
        source = Source(texts, index, seed)
        errors = source.errors if source.is_readable else []
        if errors:
            kept.append(source.text)
            for system, number in ERRORS.items():
                systems[system].append(errors[min(number, len(errors)) - 1])
    _check_number(len(kept), f" of {len(reports):,} reports allow an inserted error")
    return _studies(name or "reports", kept, systems, [str(number) for number in range(len(kept))], seed)


def rated_studies(data: Data, *, seed: int = 0) -> Studies:
    """Takes the candidates that radiologists judged as the one honest system.

    Raises:
        InputError: The data hold no such pairs.
    """
    if not isinstance(data, Rated):
        raise InputError(f"{data.name} has no pairs with single judgements; pass a data set that has them.")
    _check_number(len(set(data.studies)), f" studies in {data.name}")
    references = [pair.reference for pair in data.pairs]
    return _studies(data.name, references, {"candidates": [pair.candidate for pair in data.pairs]}, data.studies, seed)


def _studies(
    name: str, references: list[str], systems: Mapping[str, list[str]], studies: Sequence[str], seed: int
) -> Studies:
    written = {system: tuple(texts) for system, texts in systems.items()}
    return Studies(name, tuple(references), written, tuple(map(str, studies)), seed)


def _check_number(n: int, what: str = " studies") -> None:
    if n < 4:
        raise InputError(f"{n}{what}; at least four are needed, half for the search and half for the measurement.")
