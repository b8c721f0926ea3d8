"""One of several reports of a study, by a rule: the first or last row, the longest report, or one at random.

Data sets have a report or candidate for each image of a study; Yu et al. 2023 take one view at random. Reports that are
missing are passed over while there is another.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.reports.missing import first_of
from rrgmetrics.utils.text_format import by_number, counted, did_you_mean

REFUSE = "error"
ALL = "all"
RULES = ("error", "first", "last", "longest", "random", ALL)
TOO_SURE = "intervals and tests take them as independent, and are too sure."
HELP = "error (the default), first, last, longest, random:SEED or all"


def check_rule(rule: Any) -> str:
    """Returns the rule; `random` alone has the seed 0.

    Raises:
        InputError: No rule, or a seed that is no whole number.

    Example:
        >>> check_rule("random"), check_rule("random:7"), check_rule("longest")
        ('random:0', 'random:7', 'longest')
    """
    name, colon, seed = rule.partition(":") if isinstance(rule, str) else ("", "", "")
    if name not in RULES:
        near = did_you_mean(str(rule), RULES)
        raise InputError(f"per_study is {rule!r}; pass {HELP}.{near}")
    if colon and (name != "random" or not (seed.isascii() and seed.isdigit())):
        raise InputError(f"per_study is {rule!r}; write the seed as a whole number after random: as in random:7.")
    return f"random:{seed or 0}" if name == "random" else name


def chosen_rows(rule: str, study_ids: Sequence[str], reports: Sequence[str]) -> list[int]:
    """Returns one row of each study, in the order of the studies' first rows.

    Args:
        rule: As `check_rule` returns it, but not "error".
        study_ids: Of each row.
        reports: Of each row; "" for a missing one.

    Example:
        >>> chosen_rows("longest", ["a", "b", "a"], ["Clear.", "", "Clear lungs."])
        [2, 1]
    """
    rows: dict[str, list[int]] = {}
    for row, study_id in enumerate(study_ids):
        rows.setdefault(study_id, []).append(row)
    return [
        _chosen(rule, study_id, [row for row in own if reports[row]] or own, reports) for study_id, own in rows.items()
    ]


def left_out_rows(rule: str, study_ids: Sequence[str]) -> str:
    """Says how many rows are left out, and of which studies.

    Args:
        rule: As `check_rule` returns it.
        study_ids: Of each row.

    Example:
        >>> left_out_rows("first", ["a", "b", "a", "a"])
        "2 rows are left out (study id a): per_study='first' takes one report of each study."
    """
    several = [study_id for study_id, count in Counter(study_ids).items() if count > 1]
    n = len(study_ids) - len({*study_ids})
    said = f"{counted(n, 'row')} {by_number(n, 'is', 'are')} left out ({first_of(several, 'study id')})"
    return f"{said}: per_study={rule!r} takes one report of each study."


def dependent_rows(study_ids: Sequence[str]) -> str:
    """Says that some reports are of one study, which neither intervals nor tests take into account.

    Args:
        study_ids: Of each row, some of them repeated.

    Example:
        >>> dependent_rows(["a", "b", "a"])
        "3 reports of 2 studies (per_study='all'): intervals and tests take them as independent, and are too sure."
    """
    n = counted(len({*study_ids}), "study", "studies")
    return f"{counted(len(study_ids), 'report')} of {n} (per_study='all'): {TOO_SURE}"


def dependent_lines(lines: Iterable[str]) -> list[str]:
    """Returns those of some sentences that `dependent_rows` has written.

    Example:
        >>> dependent_lines(["1 row is left out.", dependent_rows(["a", "b", "a"])])
        ["3 reports of 2 studies (per_study='all'): intervals and tests take them as independent, and are too sure."]
    """
    return [line for line in lines if line.endswith(TOO_SURE)]


def numbered(study_ids: Sequence[str]) -> list[str]:
    """Returns an id for each report, of a study's second one with its number.

    Example:
        >>> numbered(["a", "b", "a"])
        ['a', 'b', 'a (2)']
    """
    counts: dict[str, int] = {}
    known = {*study_ids}
    names = []
    for study_id in study_ids:
        name = study_id
        while counts.get(study_id) and (name == study_id or name in known):
            counts[study_id] += 1
            name = f"{study_id} ({counts[study_id]})"
        counts.setdefault(study_id, 1)
        names.append(name)
    return names


def _chosen(rule: str, study_id: str, rows: Sequence[int], reports: Sequence[str]) -> int:
    """One of a study's rows; at random it depends on seed, id and number of rows alone."""
    name, _, seed = rule.partition(":")
    if name == "longest":
        return max(rows, key=lambda row: len(reports[row]))
    if name == "random":
        return random.Random(f"{seed}:{study_id}").choice(rows)
    return rows[0] if name == "first" else rows[-1]
