"""RadJudge: 30 cases with two or three candidates and the order that radiologists expect (CRIMSON, arXiv 2603.06183).

Read in the published format (`RadJudge/test_cases.py` of a clone of https://github.com/rajpurkarlab/CRIMSON, which is
parsed and never executed) or from JSONL with one case a line. Published, a category holds its cases:
`RANKING_TESTS = [{"category", "description", "tests": [{"id", "ground_truth", "candidates", "expected_ranking"}]}]`.
Nothing of it is part of this package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import (
    context_of,
    first_of,
    json_lines,
    mapping,
    report_of,
    sequence,
    text,
    value_of,
)
from rrgmetrics.metaeval.loaders.radpref import check_cases, locate
from rrgmetrics.metaeval.ranked import Ranked, RankedCase
from rrgmetrics.reports import CONTEXT_KEYS, Context, Pair

REFERENCE = ("reference", "ground_truth")  # as JSONL has it, as published
EXPECTED = ("expected", "expected_ranking")
TEXT = ("text", "report", "candidate", "prediction")
CONTEXT = ("context", "patient_context")


def load_radjudge(path: str | Path) -> Ranked:
    """Reads RadJudge.

    Args:
        path: A clone of the CRIMSON repository, its folder `RadJudge`, `test_cases.py` in it (read, never executed), or
            a JSONL file.

    Returns:
        The cases, in the order of the file.

    Raises:
        InputError: No such data there, or data that is not as published; names file, case and field.
    """
    file = locate(path, "RadJudge", "test_cases.py")
    rows = json_lines(file) if file.suffix == ".jsonl" else _literal_cases(file)
    cases = tuple(_ranked_case(row, where) for where, row in rows)
    check_cases([case.case for case in cases], 1, file)
    return Ranked("radjudge", cases)


def _ranked_case(row: Mapping[str, Any], where: str) -> RankedCase:
    reference = report_of(row, first_of(row, REFERENCE, where), where)
    shared = _context(row, where)
    pairs = {}
    for name, candidate in mapping(value_of(row, "candidates", where), f"{where}: candidates").items():
        spot = f"{where}: {name}"
        fields = {"text": candidate} if isinstance(candidate, str) else mapping(candidate, spot)
        candidate_text = report_of(fields, first_of(fields, TEXT, spot), spot)
        pairs[name] = Pair(reference, candidate_text, _context(fields, spot, shared))
    key = first_of(row, EXPECTED, where)
    relations = (row[key],) if isinstance(row[key], str) else tuple(sequence(row[key], f"{where}: {key}"))
    if not relations or not all(isinstance(relation, str) for relation in relations):
        raise InputError(f"{where}: {key} is {row[key]!r}; write 'C1 > C2', or a list of such relations.")
    return RankedCase(str(value_of(row, "id", where)), str(value_of(row, "category", where)), pairs, relations)


def _context(fields: Mapping[str, Any], where: str, shared: Context | None = None) -> Context:
    """The context under its own key, or beside the text; else what the candidates share."""
    for key in CONTEXT:
        if fields.get(key) is not None:
            known = mapping(fields[key], f"{where}: {key}")
            return context_of({str(name).lower(): value for name, value in known.items()}, where)
    beside = {name: fields[name] for name in CONTEXT_KEYS if name in fields}
    return context_of(beside, where) if beside or shared is None else shared


# --- the Python file, parsed and not run


def _literal_cases(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Cases in the module-level literals of a Python file."""
    try:
        module = ast.parse(text(file))
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{file} is not Python that we can read: {error}.") from None
    seen = False
    named: dict[str, Any] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            value = _literal(statement.value, named)
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            used = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
            named |= {target.id: value for target in targets if isinstance(target, ast.Name)}
            for row in _cases_in(value) if not _is_repeated(used, named) else ():
                seen = True
                yield f"{file}: case {row.get('id', '?')}", row
    if not seen:
        raise InputError(
            f"{file} has no list or dict of cases written out at module level; a case is a dict with id, category, "
            "reference (ground_truth), candidates and expected (expected_ranking), or a category is one with category "
            "and tests. The JSONL form holds the same fields, one case a line."
        )


def _is_repeated(used: set[str], named: Mapping[str, Any]) -> bool:
    """Whether a statement joins lists of cases that were read already."""
    return any(name in named and any(_cases_in(named[name])) for name in used)


def _literal(node: ast.expr, named: Mapping[str, Any]) -> Any:
    """The value of a literal, in which texts and lists may be added up and named before; None for anything else."""
    if isinstance(node, ast.Name):
        return named.get(node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item, named) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = (None if key is None else _literal(key, named) for key in node.keys)
        return {key: _literal(value, named) for key, value in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left, named), _literal(node.right, named)
        return left + right if type(left) is type(right) and isinstance(left, str | list) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strip":
        value = _literal(node.func.value, named)
        return value.strip() if isinstance(value, str) and not node.args else None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return None


def _cases_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Cases of a list, of a dict by id, of a dict of lists by category, or of a list of categories with their tests."""
    if isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, Mapping) and "candidates" in item:
                yield item
            elif isinstance(item, Mapping) and "tests" in item:
                known = {"category": item["category"]} if "category" in item else {}
                yield from ({**known, **row} for row in _cases_in(item["tests"]))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, Mapping) and "candidates" in item:
                yield {"id": key, **item}
            else:
                yield from ({"category": key, **row} for row in _cases_in(item))
