"""Puts a system's reports beside the radiologists'."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import written
from rrgmetrics.files.labels import some
from rrgmetrics.files.per_study import dependent_lines
from rrgmetrics.files.read import Reports, Studies
from rrgmetrics.reports import Pair
from rrgmetrics.utils.text_format import counted

logger = logging.getLogger("rrgmetrics")
_IN_ORDER = (
    "%s and %s have several reports of a study: the first of each are a pair, the second of each, and so on. If that "
    "is wrong, %s joins by a column that names each report, as an image's id."
)
_PRIOR_NOT_USED = "The prior reports in %s are not used; contexts belong to the references, so put them into %s."
_NUMBER = re.compile(r"^0*(\d+?)(?:\.0)?$")


def join(references: Reports, system: Reports) -> Studies:
    """Puts a system's reports beside the references, by `study_id` where both have one, else by order.

    Args:
        references: Radiologists' reports; their order and contexts are kept.
        system: The system's reports on the same studies, in any order if there are ids.

    Returns:
        The pairs, in the order of the references.

    Raises:
        InputError: Only one side has ids, an id is missing on either side, without ids the lengths differ, or the
            system's source has references of its own, which say something else.
    """
    order: Sequence[int]
    if references.study_ids is None or system.study_ids is None:
        _check_order(references, system)
        study_ids, order = None, range(len(system.reports))
    else:
        study_ids = references.study_ids
        _check_same_ids(references, system)
        place = {study_id: index for index, study_id in enumerate(system.study_ids)}
        order = [place[study_id] for study_id in study_ids]
    _check_same_references(references, system, order)
    rows = zip(references.reports, [system.reports[index] for index in order], references.contexts, strict=True)
    if any(each.prior for each in system.contexts) and not any(each.prior for each in references.contexts):
        logger.warning(_PRIOR_NOT_USED, system.name, references.name)
    left_out = tuple(dict.fromkeys((*references.left_out, *system.left_out)))
    if dependent_lines(references.left_out) and dependent_lines(system.left_out):
        logger.warning(_IN_ORDER, references.name, system.name, written({"study_id": "COLUMN"}))
    return Studies(study_ids, [Pair(*row) for row in rows], left_out)


def _check_same_references(references: Reports, system: Reports, order: Sequence[int]) -> None:
    """Pairs that were scored against other references would be compared with what they never answered."""
    if system.references is None:
        return
    for index, (text, place) in enumerate(zip(references.reports, order, strict=True)):
        if system.references[place].lower().split() != text.lower().split():
            study = f"study {references.study_ids[index]!r}" if references.study_ids else f"pair {index + 1:,}"
            if not text or not system.references[place]:
                without, other = (references, system) if not text else (system, references)
                raise InputError(
                    f"{without.name} has no reference for {study}, and {other.name} has one; add it to {without.name}, "
                    "or remove the study from both."
                )
            raise InputError(
                f"{system.name} has another reference for {study} than {references.name}; systems are compared on "
                "the same references. If they differ only in formatting, remove the references from one."
            )


def _check_order(references: Reports, system: Reports) -> None:
    """Without ids on both sides only the order is left, and only if there is nothing else to go by."""
    with_ids = [side for side in (references, system) if side.study_ids is not None]
    if with_ids:
        other = system if with_ids[0] is references else references
        raise InputError(
            f"{with_ids[0].name} has study_id and {other.name} does not; add study_id to it, or remove it from both "
            "if the studies are in the same order."
        )
    n_references, n_candidates = len(references.reports), len(system.reports)
    if n_references != n_candidates:
        raise InputError(
            f"{references.name} has {counted(n_references, 'report')} and {system.name} has {n_candidates:,}; without "
            "study_id they are joined by order and must have the same number."
        )
    if all(Path(side.name).suffix not in ("", ".txt") for side in (references, system)):
        logger.warning(
            "%s and %s have no study_id: joined by order. %s joins by a column of ids.",
            references.name,
            system.name,
            written({"study_id": "COLUMN"}),
        )


def _check_same_ids(references: Reports, system: Reports) -> None:
    problems = []
    for here, there in ((references, system), (system, references)):
        there_ids, here_ids = set(there.study_ids or ()), here.study_ids or []
        only_here = [study_id for study_id in here_ids if study_id not in there_ids]
        if only_here:
            problems.append(f"{len(only_here):,} only in {here.name} ({some(only_here)})")
    if problems:
        both = f"{references.name} and {system.name}"
        hint = _as_numbers(references, system) or " Leave them out of that file, or add rows for them to the other one."
        raise InputError(f"{both} do not have the same studies. Values of study_id: {'; '.join(problems)}.{hint}")


def _as_numbers(references: Reports, system: Reports) -> str:
    """What became of ids that a program took for numbers; "" where something else is wrong."""
    ours, theirs = ({_NUMBER.sub(r"\1", each) for each in side.study_ids or ()} for side in (references, system))
    if ours != theirs:
        return ""
    return " They differ only in leading zeros or in .0: write ids as text (in pandas: read_csv(..., dtype=str))."
