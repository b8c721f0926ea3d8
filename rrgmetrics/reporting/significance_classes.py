"""Tables of classes of significance: a judge's against each radiologist's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rrgmetrics.metaeval.agreement import AgreementReport
from rrgmetrics.metaeval.significance_classes import CLASSES, ClassesCompared
from rrgmetrics.reporting.short import NOTHING, named
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table

HEADS = ("", "same class", "one level off", "graver", "same side", "errors", "alone", "rater alone")
NOTE = (
    "For errors marked by both. Same side: both or neither call it significant. Graver: the class is more severe "
    "than the rater's. Alone: errors that the other did not mark. A judge's error matches a rater's if half of the "
    "words agree."
)


def class_tables(report: AgreementReport, found: Sequence[ClassesCompared]) -> Iterator[Table]:
    """Yields the shares, then each judge's confusion matrix with every radiologist."""
    groups: dict[str, list[Cells]] = {}
    for each in found:
        groups.setdefault(each.subject, []).append(_line(each))
    parts = [Group(tuple(lines), (Cell(_name(report, subject), "strong"),)) for subject, lines in groups.items()]
    yield Table(HEADS, tuple(parts), title=f"{report.name}: classes of significance", note=NOTE)
    for each in found:
        if each.subject in report.results:
            yield _matrix(report, each)


def class_numbers(report: AgreementReport, found: Sequence[ClassesCompared]) -> list[dict[str, object]]:
    """The numbers of these tables, a row each."""
    rows: list[dict[str, Any]] = []
    for each in found:
        shares = {name: getattr(each, name) for name in ("same", "adjacent", "graver", "side", "n")}
        cells = {
            f"{row}/{column}": n
            for row, line in zip(CLASSES, each.matrix, strict=True)
            for column, n in zip(CLASSES, line, strict=True)
        }
        about: dict[str, Any] = {"dataset": report.name, "subject": each.subject, "target": f"classes of {each.rater}"}
        rows.append({**about, **shares, "n_subject": each.n_subject, "n_rater": each.n_rater, **cells})
    return rows


def _name(report: AgreementReport, subject: str) -> str:
    return named(subject, report.results[subject]) if subject in report.results else subject


def _line(each: ClassesCompared) -> Cells:
    shares = (_percent(value) for value in (each.same, each.adjacent, each.graver, each.side))
    return (f"  {each.rater}", *shares, str(each.n), str(each.n_subject), str(each.n_rater))


def _matrix(report: AgreementReport, each: ClassesCompared) -> Table:
    heads = ("", *(label.replace("_", " ") for label in CLASSES))
    lines = tuple((label.replace("_", " "), *map(str, line)) for label, line in zip(CLASSES, each.matrix, strict=True))
    title = f"{_name(report, each.subject)} (rows) and {each.rater} (columns)"
    return Table(heads, (Group(lines),), title=title)


def _percent(share: float) -> str:
    return NOTHING if share != share else f"{100 * share:.1f}%"
