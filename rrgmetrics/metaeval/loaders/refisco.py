"""ReFiSco-v0: impressions that radiologists corrected line by line, with the severity of each error (Tian et al. 2023).

`refisco-v0.csv` has one row a line of a report: `id, indication, impression_original, impression_edited, score,
annotator, source, notes`. The candidate is the original, line under line; the reference is what the radiologist made
of it: `[no edit]` keeps a line, `[delete]` takes it away, a text takes its place or, where the original is blank, is
inserted. `score` is one of five severities; rows without original, edit and score are left out, as the authors do.
Public by permission, with text of MIMIC-CXR: not to be passed on.

Targets: `total_errors`, the lines with an error (CREPE's paper: no error 0, any other 1, summed); `severity_sum`,
`severity_max` (MES) and `severity_mean` (AES) with severities from 0 (no error) to 4 (emergent). AES is that of the
authors' Data_Analysis.ipynb: the sum over all lines, insertions too, divided by the number of original lines. It can
exceed 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import context_of, find_file, rows, value_of
from rrgmetrics.metaeval.rated import TOTAL, Rated
from rrgmetrics.reports import Pair, check_report

NEEDED = ("id", "impression_original", "impression_edited", "score", "annotator", "source")
SEVERITIES = ("no error", "not actionable", "actionable nonurgent", "urgent", "emergent")
KEPT, DELETED = "[no edit]", "[delete]"
TARGETS = (TOTAL, "severity_sum", "severity_max", "severity_mean")


class _Line(NamedTuple):
    """A line as it was and as the radiologist left it ("" is no line), and how severe its error is."""

    original: str
    edited: str
    severity: int


def load_refisco(path: str | Path) -> Rated:
    """Reads ReFiSco.

    Args:
        path: The file, or the folder that holds it.

    Returns:
        A pair for each id, source and annotator, in the order of the file; `source` and `annotator` are labels, for
        what an annotator made of a report is a reference of its own.

    Raises:
        InputError: A file or column that is not there, an edit or a severity that cannot be; names file and line.
    """
    file = find_file(path, "refisco*.csv", what="refisco-v0.csv or its folder")
    lines: dict[tuple[str, str, str], list[_Line]] = {}
    indications: dict[tuple[str, str, str], str] = {}
    empty = []
    for where, row in rows(file, NEEDED):
        if not any(_cell(row, name, where) for name in ("impression_original", "impression_edited", "score")):
            empty.append(where.rpartition(", ")[2])
            continue
        key = str(row["id"]), str(row["source"]), str(row["annotator"])
        lines.setdefault(key, []).append(_line(row, where))
        indications.setdefault(key, str(row.get("indication") or ""))
    if not lines:
        raise InputError(f"{file} has no rows.")
    note = f"{len(empty)} rows without original, edit and score are left out ({', '.join(empty[:5])})"
    return Rated(
        name="refisco",
        pairs=[_pair(own, indications[key]) for key, own in lines.items()],
        studies=[study for study, _, _ in lines],
        raters=["radiologist"],
        values=dict(zip(TARGETS, np.array([_values(own) for own in lines.values()]).T[:, None], strict=True)),
        labels={"source": [source for _, source, _ in lines], "annotator": [name for *_, name in lines]},
        notes=(note,) if empty else (),
    )


def _line(row: Mapping[str, Any], where: str) -> _Line:
    original, edit = (_cell(row, name, where) for name in ("impression_original", "impression_edited"))
    severity = severity_of(_cell(row, "score", where), where)
    sign = edit.lower().replace(" ", "").strip("[]")
    if sign == "noedit" or (not edit and not severity):
        return _Line(original, original, severity)
    if not edit:
        raise InputError(
            f"{where}: impression_edited is blank although there is an error; write {KEPT}, {DELETED} or a text."
        )
    if sign == "delete":
        if not original:
            raise InputError(f"{where}: impression_edited is {DELETED}, but impression_original is blank.")
        return _Line(original, "", severity)
    return _Line(original, edit, severity)


def severity_of(score: str, where: str = "score") -> int:
    """The severity from 0 to 4 of its name.

    Example:
        >>> severity_of("Actionable nonurgent error"), severity_of("No Error"), severity_of("Emergent error")
        (2, 0, 4)
    """
    words = score.lower().replace("-", "").removesuffix(" error").replace("not urgent", "nonurgent")
    words = "no error" if words in ("no", "noerror", "none") else words
    if words in SEVERITIES:
        return SEVERITIES.index(words)
    raise InputError(f"{where}: score is {score!r}; we know {', '.join(SEVERITIES)} (with or without 'error').")


def _pair(lines: list[_Line], indication: str) -> Pair:
    original, edited = ("\n".join(filter(None, texts)) for texts in zip(*(line[:2] for line in lines), strict=True))
    return Pair(edited, original, context_of({"indication": indication}, "indication"))


def _values(lines: list[_Line]) -> tuple[float, ...]:
    """As `TARGETS`; the mean is NaN where every line was inserted."""
    severities = [line.severity for line in lines]
    n_original = sum(bool(line.original) for line in lines)
    mean = sum(severities) / n_original if n_original else math.nan
    return sum(map(bool, severities)), sum(severities), max(severities), mean


def _cell(row: Mapping[str, Any], name: str, where: str) -> str:
    value = value_of(row, name, where)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    check_report(value, f"{where}: {name}")
    return str(value).strip()
