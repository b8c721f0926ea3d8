"""Turns the inputs of `score`, `compare` and prepared metrics into checked pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import Columns, announced_together
from rrgmetrics.files.join import join
from rrgmetrics.files.long import read_long
from rrgmetrics.files.mistaken import check_columns_of, check_predictions
from rrgmetrics.files.per_study import REFUSE, check_rule
from rrgmetrics.files.read import Reports, Studies, read_pairs, read_references, read_system, read_wide
from rrgmetrics.files.sources import is_source
from rrgmetrics.reports import check_contexts, check_pairs, columns_of, describe


class InTable(str):
    """How a table of several systems names one of them: a column of reports, or a value of the column `by`."""

    __slots__ = ()


@announced_together()
def pairs_of(
    pairs: Any = None,
    predictions: Any = None,
    references: Any = None,
    contexts: Any = None,
    columns: Columns = None,
    per_study: str = REFUSE,
) -> Studies:
    """Turns whatever a caller has into checked pairs, with the ids of the studies if there are any.

    Args:
        pairs: One table or file with both reports of each study (`read_pairs`); or None.
        predictions: The system's reports: a list or column of texts, or a table or file with `study_id` and `report`.
        references: The radiologists' reports, likewise. Tables with ids are joined by them, anything else by order.
        contexts: One dict a pair with any of `age`, `sex`, `indication`, `prior`; or None.
        columns: What the columns of tables and files are called (`rrgmetrics.files.columns.check_columns`).
        per_study: Which report of a study counts if a table has several (`rrgmetrics.files.per_study`).

    Raises:
        InputError: Both or neither were given, or something in them cannot be used.
    """
    if pairs is None:
        if predictions is None and references is None:
            raise InputError("There is nothing to score; pass predictions and references, or a table of pairs.")
        if not _is_table(predictions) and not _is_table(references):
            if columns is not None:
                raise InputError("columns applies to tables, and predictions and references are lists.")
            if check_rule(per_study) != REFUSE:
                raise InputError(f"per_study={per_study!r} needs study ids; pass tables or files with study_id.")
            _check_index(predictions, references, "predictions")
            return Studies(None, check_pairs(predictions, references, contexts))
        check_predictions(predictions, references)
        system = read_system(predictions, columns, per_study=per_study)
        return join(_references(references, contexts, columns, per_study), system)
    if predictions is not None or references is not None:
        raise InputError("Pass either a table of pairs, or predictions and references.")
    return _with_contexts(read_pairs(pairs, columns, per_study=per_study), contexts)


@announced_together()
def read_systems(
    systems: Mapping[str, Any] | Sequence[str] | None,
    references: Any = None,
    contexts: Any = None,
    columns: Columns = None,
    per_study: str = REFUSE,
    by: str = "",
) -> dict[str, Studies]:
    """Reads several systems' reports on the same studies.

    Args:
        systems: For each name a list or column of texts, or a table or file with `study_id?` and `report` (or
            `candidate`); files of pairs where `references` is None. Or columns of the table `references`, which then
            holds the reports of all systems: a list, or `InTable` by name.
        references: The radiologists' reports, likewise; None takes those of the systems' own pairs.
        contexts: One dict a study, or None.
        columns: What the columns of tables and files are called.
        per_study: As in `pairs_of`.
        by: The column of `references` that names the system of each row; `systems` are then values of it, or None for
            all.

    Returns:
        The studies of each system, in the order of the references.

    Raises:
        InputError: No system, other studies than the references', other references beside a system's reports.
    """
    in_table = _in_table(systems)
    if by:
        if references is None or (systems and not in_table):
            raise InputError(f"by={by!r} needs one table, as references, and systems that are values of that column.")
        long = read_long(references, by, in_table, columns, per_study=per_study)
        return {name: _with_contexts(studies, contexts) for name, studies in long.items()}
    if in_table and references is not None:
        check_columns_of(references, in_table)
        wide = read_wide(references, list(in_table.values()), columns, per_study=per_study)
        return {name: _with_contexts(studies, contexts) for name, studies in zip(in_table, wide.values(), strict=True)}
    if systems is not None and not isinstance(systems, Mapping):
        raise InputError(
            f"systems is {describe(systems)}; pass a dict with the reports of each system by its name, such as "
            '{"base": reports, "ours": reports}.'
        )
    if not systems:
        raise InputError("No system was given; pass a dict with at least one system's reports by its name.")
    whole = references is None
    for name, source in systems.items():
        _check_index(source, references, f"systems[{name!r}]")
    read = {
        str(name): read_system(source, columns, name=f"systems[{name!r}]", with_references=whole, per_study=per_study)
        for name, source in systems.items()
    }
    if whole:
        first = next(iter(read.values()))
        checked = _in_context(replace(first, reports=first.references or []), contexts)
    else:
        checked = _references(references, contexts, columns, per_study)
    return {name: join(checked, reports) for name, reports in read.items()}


def _in_table(systems: Any) -> dict[str, str]:
    """What a table calls each system, where one table holds all; else nothing."""
    if isinstance(systems, Mapping) and all(isinstance(value, InTable) for value in systems.values()):
        return dict(systems)
    if not isinstance(systems, list | tuple) or not all(isinstance(name, str) for name in systems):
        return {}
    twice = next((name for name in systems if systems.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"systems names {twice!r} twice; name each system once.")
    return {name: name for name in systems}


def _with_contexts(studies: Studies, contexts: Any) -> Studies:
    """The studies with the contexts that were passed beside them."""
    if contexts is None:
        return studies
    known = check_contexts(contexts, len(studies.pairs))
    pairs = [pair._replace(context=each) for pair, each in zip(studies.pairs, known, strict=True)]
    return replace(studies, pairs=pairs)


def _references(references: Any, contexts: Any, columns: Columns, per_study: str) -> Reports:
    return _in_context(read_references(references, columns, per_study=per_study), contexts)


def _in_context(reports: Reports, contexts: Any) -> Reports:
    """The reports with the contexts that were passed beside them."""
    return reports if contexts is None else replace(reports, contexts=check_contexts(contexts, len(reports.reports)))


def _check_index(reports: Any, references: Any, name: str) -> None:
    """Raises InputError for two pandas Series of one length whose indexes differ.

    An index of mere numbers from 0 has no labels, so it may go with study ids, but not with other numbers.
    """
    if not type(reports).__name__ == type(references).__name__ == "Series" or not hasattr(reports, "index"):
        return
    if len(reports) != len(references) or reports.index.equals(references.index):
        return
    kinds = {type(each.index).__name__ for each in (reports, references)}
    if "RangeIndex" in kinds and any(isinstance(each.index[0], str) for each in (reports, references)):
        return
    mend, how = "two tables with a column study_id", "different labels"
    if {*reports.index} == {*references.index}:
        mend, how = f"{name}.loc[references.index]", "the same labels in another order"
    raise InputError(
        f"{name} and references are pandas Series with {how} (their index), and would be joined by position: pass "
        f"{mend}, or lists (.tolist()) if the positions are right."
    )


def _is_table(value: Any) -> bool:
    """Whether reports come with columns: from a file, a frame, or dicts."""
    first = value[0] if isinstance(value, list | tuple) and value else None
    return is_source(value) or isinstance(value, Mapping) or columns_of(value) is not None or isinstance(first, Mapping)
