"""Reports that are missing: which ones are, and what becomes of them.

A report is missing if its cell holds None, NaN or pandas' NA, if it is blank, or if its text only says that there is
none ("nan", "N/A", "See impression."; `missing.yaml` lists these). In the pairs of this package it is "".

- A missing **reference** says nothing of the study. Its pair is unscored, with `missing="empty"` it is scored as an
  empty report, and with `missing="error"` nothing is scored.
- A missing **candidate** is what the system said: nothing. It is scored as an empty report.
"""

from __future__ import annotations

import logging
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any, Literal, get_args

from rrgmetrics.errors import InputError
from rrgmetrics.utils.text_format import by_number, counted, did_you_mean

logger = logging.getLogger("rrgmetrics")

Missing = Literal["unscored", "empty", "error"]
MISSING_CHOICES: tuple[Missing, ...] = get_args(Missing)
REASON = "the reference is missing"  # why a pair is unscored
FACT = "missing"  # what the signature calls the choice
SHOWN = 5  # studies that a message names
UNITS = {"study id": "study ids", "index": "indices"}
_FILE = Path(__file__).with_suffix(".yaml")
_AROUND = string.whitespace + "\xa0.:;,_-*#!()[]{}<>\"'"  # a text of these alone is blank
_TYPES = ("NAType", "NaTType")  # pandas'


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN or pandas' NA."""
    if value is None or type(value).__name__ in _TYPES:
        return True
    return isinstance(value, Real) and bool(value != value)


def says_nothing(text: str) -> bool:
    """Whether a text is blank, or only says that there is no report.

    Example:
        >>> says_nothing("See impression."), says_nothing("nan"), says_nothing(" ___ "), says_nothing("Normal.")
        (True, True, True, False)
    """
    bare = text.strip(_AROUND)
    texts, longest = _texts()
    return not bare or (len(bare) <= longest and " ".join(bare.casefold().split()) in texts)


@cache
def _texts() -> tuple[frozenset[str], int]:
    """The texts of the table, and the length of the longest."""
    import yaml

    table = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    texts = frozenset(text.strip(_AROUND) for listed in table.values() for text in listed)
    return texts, max(map(len, texts))


def check_choice(missing: Any) -> Missing:
    """Returns the choice; raises InputError for a value that is none."""
    if missing not in MISSING_CHOICES:
        near = did_you_mean(str(missing), MISSING_CHOICES)
        raise InputError(f"missing is {missing!r}; pass 'unscored', 'empty' or 'error'.{near}")
    return missing  # type: ignore[no-any-return]


def first_of(ids: Sequence[str], unit: str, n: int | None = None) -> str:
    """Names the first of some studies, for a message.

    Args:
        ids: Of the studies, or of the first of them.
        unit: What these are: "study id" or "index".
        n: How many studies there are; None: as many as ids.

    Example:
        >>> first_of(["s7", "s70"], "study id"), first_of(["7"], "index", 1), first_of(["7"], "index", 2)
        ('study ids s7, s70', 'index 7', 'indices 7 and 1 other')
    """
    n, named = n or len(ids), ids[:SHOWN]
    others = f" and {counted(n - len(named), 'other')}" if n > len(named) else ""
    return f"{by_number(n, unit, UNITS[unit])} {', '.join(named)}{others}"


@dataclass
class _Cells:
    """How many reports are missing, and the first studies without one."""

    n: int = 0
    ids: list[str] = field(default_factory=list)

    def add(self, text: str, study_id: str) -> None:
        """Counts a report if it is missing."""
        if not text.strip():
            self.n += 1
            if len(self.ids) < SHOWN:
                self.ids.append(study_id)

    def describe(self, what: str, unit: str) -> str:
        """The number of missing reports with their studies, as the beginning of a sentence."""
        return f"{counted(self.n, what)} {by_number(self.n, 'is', 'are')} missing ({first_of(self.ids, unit, self.n)})"


class MissingReports:
    """The missing reports of a call, counted in one go or block by block.

    Args:
        missing: What becomes of missing references.
    """

    def __init__(self, missing: Missing) -> None:
        self._missing = missing
        self._references = _Cells()
        self._candidates: dict[str, _Cells] = {}
        self._unit = "index"
        self._n = 0

    def add(
        self, systems: Mapping[str, Sequence[Any]], study_ids: Sequence[str] | None = None, unit: str = "study id"
    ) -> None:
        """Counts the pairs of a block of studies, of each system by its name.

        Args:
            systems: The pairs of each system.
            study_ids: One a study; None: their indices.
            unit: What these are: "study id" or "index".

        Raises:
            InputError: A reference is missing, and `missing` is "error".
        """
        first = next(iter(systems.values()))
        scored = [bool(pair[0].strip()) or self._missing == "empty" for pair in first]
        names = study_ids or list(map(str, range(self._n, self._n + len(first))))
        self._unit = unit if study_ids else self._unit
        self._n += len(first)
        for pair, name in zip(first, names, strict=True):
            self._references.add(pair[0], name)
        for system, pairs in systems.items():
            cells = self._candidates.setdefault(system, _Cells())
            for pair, name, counts in zip(pairs, names, scored, strict=True):
                if counts:
                    cells.add(pair[1], name)
        if self._missing == "error" and self._references.n:
            raise InputError(
                f"{self._references.describe('reference', self._unit)}; pass missing='unscored' to leave such pairs "
                "out, or missing='empty' to score them as empty reports."
            )

    @property
    def lines(self) -> list[str]:
        """How many references and candidates are missing, of which studies, and what becomes of them; a line each."""
        lines = []
        if self._references.n:
            said = self._references.describe("reference", self._unit)
            n = self._references.n
            choice = (
                f"scored as {_empty(n)}, as requested by missing='empty'"
                if self._missing == "empty"
                else f"unscored; pass missing='empty' to score {by_number(n, 'it', 'them')} as {_empty(n)}"
            )
            lines.append(f"{said}: {choice}.")
        return [*lines, *self.candidate_lines]

    @property
    def candidate_lines(self) -> list[str]:
        """The lines on missing candidates alone."""
        return [
            f"{system + ': ' if system else ''}{cells.describe('candidate', self._unit)}: scored as {_empty(cells.n)}."
            for system, cells in self._candidates.items()
            if cells.n
        ]

    @property
    def empty_lines(self) -> list[str]:
        """How many missing reports are scored as empty ones, a sentence a kind and system, without the studies."""
        counts = [("reference", "", self._references.n)] if self._missing == "empty" else []
        several = len(self._candidates) > 1
        counts += [("candidate", system if several else "", cells.n) for system, cells in self._candidates.items()]
        return [
            f"{counted(n, what)}{f' of {system}' if system else ''} {by_number(n, 'is', 'are')} missing and scored as "
            f"{_empty(n)}."
            for what, system, n in counts
            if n
        ]


def _empty(n: int) -> str:
    """So many empty reports: `an empty report`."""
    return by_number(n, "an empty report", "empty reports")


def missing_lines(systems: Mapping[str, Sequence[Any]], study_ids: Sequence[str] | None, missing: Missing) -> list[str]:
    """Describes the missing reports of systems on the same studies.

    Args:
        systems: The pairs of each system.
        study_ids: One id a study; None names them by their index.
        missing: What becomes of missing references.

    Raises:
        InputError: A reference is missing, and `missing` is "error".
    """
    reports = MissingReports(missing)
    reports.add(systems, study_ids)
    return reports.lines


def warn_of_missing(systems: Mapping[str, Sequence[Any]], study_ids: Sequence[str] | None, missing: Missing) -> None:
    """Logs what `missing_lines` describes."""
    log_lines(missing_lines(systems, study_ids, missing))


def log_lines(lines: Iterable[str]) -> None:
    """Logs each line as a warning."""
    for line in lines:
        logger.warning("%s", line)
