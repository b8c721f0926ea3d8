"""What raters said, with the sources, as tables: for `rrgmetrics agree --dataset rating:FILE`, and for the host alone.

`ratings` has a row for each candidate and rater: `study_id, source, rater, reference, candidate, age, sex, indication`;
as far as they were asked, `<kind>_significant` and `<kind>_insignificant` for the six kinds, the totals, and `marks`
(JSON: letter, significant, the words that are wrong); and `rating`. `preferences` has a row for every two candidates of
a study and each rater: `study_id, rater, reference, candidate_a, candidate_b, source_a, source_b, choice` (A, B or
equal), `confidence`, and `shown_first` (A or B). Both hold only the studies that the rater has finished.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.kinds import INSIGNIFICANT_KINDS, SIGNIFICANT_KINDS
from rrgmetrics.metaeval.rated import INSIGNIFICANT, RATING, SIGNIFICANT, TOTAL
from rrgmetrics.reports import CONTEXT_KEYS
from rrgmetrics.spaces.rating import answers, schema
from rrgmetrics.spaces.rating.answers import LETTERS, Judged, Preferred
from rrgmetrics.spaces.rating.project import Project, Rater

Columns = Mapping[str, Sequence[Any]]
COUNTS = tuple(name for both in zip(SIGNIFICANT_KINDS, INSIGNIFICANT_KINDS, strict=True) for name in both)
NAMES = ("study_id", "source", "rater", "reference", "candidate", *CONTEXT_KEYS)
PREFERENCES = (
    *("study_id", "rater", "reference", "candidate_a", "candidate_b", "source_a", "source_b"),
    *("choice", "confidence", "shown_first", *CONTEXT_KEYS),
)


def ratings(project: Project) -> Columns:
    """What each rater says of each candidate; raises InputError if candidates are not judged one by one."""
    if not project.is_judging:
        raise InputError(f"{project.place} asks for preferences only; write them with --preferences FILE.")
    counted = (*COUNTS, TOTAL, SIGNIFICANT, INSIGNIFICANT, "marks") if "errors" in project.ask else ()
    names = (*NAMES, *counted, *([RATING] if "rating" in project.ask else []))
    return _columns(names, _ratings(project))


def preferences(project: Project) -> Columns:
    """Which of two candidates each rater prefers; raises InputError if the project does not ask."""
    if "preference" not in project.ask:
        raise InputError(f"{project.place} does not ask for preferences; the table of ratings contains all answers.")
    return _columns(PREFERENCES, _preferences(project))


def _ratings(project: Project) -> Iterator[Mapping[str, Any]]:
    for row, candidates in _rows(project):
        judged = answers.load(row.content)
        if not isinstance(judged, Judged):
            continue
        source, candidate = candidates[row.first]
        counts = [judged.count(letter, significant) for letter in LETTERS for significant in (True, False)]
        texts = {"reference": row.reference, "candidate": candidate}
        words = [
            [error.letter, error.significant, [texts[mark.text][mark.start : mark.end] for mark in error.marks]]
            for error in judged.errors
        ]
        yield {
            "study_id": row.study_id,
            "source": source,
            "rater": row.name,
            **texts,
            **_context(row),
            **dict(zip(COUNTS, counts, strict=True)),
            TOTAL: sum(counts),
            SIGNIFICANT: sum(counts[::2]),
            INSIGNIFICANT: sum(counts[1::2]),
            "marks": json.dumps(words, ensure_ascii=False),
            RATING: judged.rating,
        }


def _preferences(project: Project) -> Iterator[Mapping[str, Any]]:
    for row, candidates in _rows(project):
        chosen = answers.load(row.content)
        if not isinstance(chosen, Preferred):
            continue
        (source_a, candidate_a), (source_b, candidate_b) = candidates[row.first], candidates[row.second]
        shown = project.shown_order(Rater(row.rater, row.name, row.name_key), row.study)
        yield {
            "study_id": row.study_id,
            "rater": row.name,
            "reference": row.reference,
            "candidate_a": candidate_a,
            "candidate_b": candidate_b,
            "source_a": source_a,
            "source_b": source_b,
            "choice": {str(row.first): "A", str(row.second): "B"}.get(chosen.choice, chosen.choice),
            "confidence": chosen.confidence,
            "shown_first": "A" if shown.index(row.first) < shown.index(row.second) else "B",
            **_context(row),
        }


def _context(row: Any) -> dict[str, object]:
    return {key: value for key, value in json.loads(row.context).items() if value is not None}


def _rows(project: Project) -> Iterator[tuple[Any, Mapping[int, tuple[str, str]]]]:
    """Every answer about a finished study, by study, item and rater; with source and text of candidates by number."""
    answered, items, studies, raters, finished = (
        table.c for table in (schema.answers, schema.items, schema.studies, schema.raters, schema.finished)
    )
    query = (
        select(
            answered.rater,
            answered.content,
            items.study,
            items.first,
            items.second,
            studies.study_id,
            studies.reference,
            studies.context,
            raters.name,
            raters.name_key,
        )
        .join_from(schema.answers, schema.items)
        .join(schema.studies, items.study == studies.number)
        .join(schema.raters, answered.rater == raters.number)
        .join(schema.finished, (finished.rater == answered.rater) & (finished.study == items.study))
        .order_by(items.study, items.number, answered.rater)
    )
    with project.store.reading() as connection:
        candidates = {row.number: (row.source, row.candidate) for row in connection.execute(select(schema.candidates))}
        rows = connection.execute(query).all()
    for row in rows:
        yield row, candidates


def _columns(names: Sequence[str], rows: Iterator[Mapping[str, Any]]) -> Columns:
    kept = list(rows)
    return {name: ["" if row.get(name) is None else row[name] for row in kept] for name in names}
