"""The report page: one HTML file with the comparison of systems, its significance, and every study.

The file is self-contained: it loads nothing, and its content security policy forbids loading. Texts and names are
escaped by Jinja2 and Markup. The reader's findings are marked in both reports; words that only one report has are
marked on demand. `sections` has the numbers, `studies` the texts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache

import jinja2
import numpy as np

from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.abnormal import MIN_STUDIES
from rrgmetrics.baselines.subsets import TRIALS, parts_of, score_parts
from rrgmetrics.baselines.worth import Worth
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.files.per_study import dependent_lines
from rrgmetrics.reporting import html, theme
from rrgmetrics.reporting.html import legend
from rrgmetrics.reporting.marks import SIGNIFICANT
from rrgmetrics.reporting.numbers import estimate, floor_note, p_value, signed
from rrgmetrics.reporting.report import sections
from rrgmetrics.reporting.report.studies import Studies, as_data, blocks, comparisons_of, worst_first
from rrgmetrics.reporting.results import how_tested, left_out_clause
from rrgmetrics.reporting.verdict import verdict
from rrgmetrics.reporting.worth import HEADING, collapse_table, worth_tables
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import REASON
from rrgmetrics.scoring.notice import text_lines, token_lines
from rrgmetrics.scoring.packs import kind_lines
from rrgmetrics.scoring.results import Result, missing_of, on_shared_studies, unscored_lines
from rrgmetrics.systems.table import Row, coverage, level_of
from rrgmetrics.utils.printable import as_options
from rrgmetrics.utils.text_format import capitalized, count_studies, counted
from rrgmetrics.version import VERSION

MAX_STUDIES = 5_000  # about 20 MB of page for three systems
PER_PAGE = 10  # studies that are drawn at a time
OPEN = 4  # metrics whose parts and spread are not folded


def report_page(
    results: Mapping[str, Mapping[str, Result]],
    pairs: Mapping[str, Sequence[Pair]],
    study_ids: Sequence[str] | None = None,
    *,
    title: str = "Radiology report scores",
    rows: Sequence[Row] = (),
    correction: str = "holm",
    worth: Worth | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    max_studies: int = MAX_STUDIES,
    readings: Readings | None = None,
    notes: Sequence[str] = (),
    as_typed: bool = False,
) -> str:
    """Makes a self-contained HTML page for one or several systems on the same studies.

    Args:
        results: System to what `rrgmetrics.score` returned for it; every system has the same metrics.
        pairs: System to its pairs, in the order that was scored; the references are the same for all.
        study_ids: One id a study; None numbers them from 1.
        title: Heading of the page.
        rows: Scores with intervals and tests against the first system, as `compare_systems` returns them.
        correction: Of their p-values.
        worth: What the systems are worth beside trivial ones.
        trials: Resamples of the intervals that `rows` has not: parts of the studies.
        seed: Of these.
        max_studies: How many studies to show in full, the worst by the first metric; the scores cover all.
        readings: What was read while they were scored (`Metrics.keeping`); None: the reports are read.
        notes: Sentences about the studies, before those about missing reports and unscored pairs.
        as_typed: Whether options are named as on the command line (`--missing empty`), not as in Python.

    Returns:
        The page.

    Raises:
        InputError: No system or metric, systems with other metrics or other references, or a list of another length.
    """
    _check(results, pairs, study_ids)
    beside = on_shared_studies(results)
    references = [pair.reference for pair in next(iter(pairs.values()))]
    ids = list(study_ids) if study_ids is not None else [str(number) for number in range(1, len(references) + 1)]
    readings = readings or Readings()
    shown = worst_first(results, max_studies)
    found = comparisons_of({system: pairs[system] for system in results}, shown, readings)
    if all(each.out_of_scope for own in found.values() for each in own.values()):
        found = {}  # the reader knows another kind of report
    counted_rows = _scored(beside)
    parts = [
        part._replace(rows=[row for row in part.rows if row in counted_rows])
        for part in (parts_of(references, readings) if found else [])
    ]
    abnormal = next((part.rows for part in parts if part.name == "abnormal"), [])
    several = bool(dependent_lines(notes))
    said = [*text_lines(results, pairs), *kind_lines(results), *notes]
    said += [*missing_of(results, pairs, ids).lines, *token_lines(pairs)]
    said += unscored_lines(results, study_ids, without=[REASON])
    environment = _environment()
    studies = Studies(environment.get_template("study.html.j2"), ids, pairs, results, found, shown)
    pieces = list(studies.pieces())
    script = environment.loader.get_source(environment, "report.js")[0] if environment.loader else ""
    page: str = environment.get_template("report.html.j2").render(
        title=title,
        systems=list(results),
        n_studies=len(references),
        counts=count_studies(
            len(references),
            *(each.n_unscored for own in beside.values() for each in own.values()),
            several=several,
        ),
        n_abnormal=len(abnormal),
        metrics=sections.metrics_of(results),
        verdict=sections.verdict(beside, rows, worth, correction, several=several),
        overviews=sections.overviews(beside, rows, worth),
        differences=sections.differences(beside, rows) if rows else {},
        tested=how_tested(rows, correction),
        floor=floor_note(row.at_floor for row in rows),
        coverage=coverage(rows),
        left_out=left_out_clause(rows),
        score_lines=sections.score_lines(beside, rows),
        every_score=sections.every_score(beside, rows),
        worth=worth,
        skills=None if worth is None else sections.skill_lines(results, worth),
        worth_tables=[] if worth is None else worth_tables(worth, several=several)[:-1],
        collapse=None if worth is None else collapse_table(worth.collapses),
        kinds=sections.kinds(beside, found, level=level_of(rows), seed=seed),
        groups=sections.groups(
            {system: {row: each for row, each in own.items() if row in counted_rows} for system, own in found.items()}
        ),
        parts=sections.part_tables(
            beside, parts, score_parts(beside, parts, trials=trials, level=level_of(rows), seed=seed)
        ),
        spreads=sections.spreads(beside),
        unscored=[as_options(line) if as_typed else line for line in said],
        legend=legend([category.value for category in ErrorCategory]),
        is_marked=bool(found),
        significant=capitalized(SIGNIFICANT),
        first_studies=pieces[:PER_PAGE],
        n_shown=len(pieces),
        numbers=as_data({**studies.numbers(abnormal), "size": PER_PAGE}),
        blocks=blocks(pieces),
        signatures=_signatures(results),
        open=OPEN,
        least=MIN_STUDIES,
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return page


@cache
def _environment() -> jinja2.Environment:
    return html.environment(
        "rrgmetrics.reporting",
        counted=counted,
        estimate=estimate,
        signed=signed,
        p_value=p_value,
        said=verdict,
        version=VERSION,
        worth_heading=HEADING,
        style=theme.style_sheet("drawn.css", "report.css", dark=theme.BY_PREFERENCE),
    )


def _scored(results: Mapping[str, Mapping[str, Result]]) -> set[int]:
    """Numbers of the studies that a metric has a score for; those without a report have none."""
    scored = [
        mask.any(axis=1)
        for own in results.values()
        for each in own.values()
        if (mask := np.isfinite(each.pair_stats)).size
    ]
    return {*np.flatnonzero(np.logical_or.reduce(scored)).tolist()} if scored else set()


def _check(
    results: Mapping[str, Mapping[str, Result]],
    pairs: Mapping[str, Sequence[Pair]],
    study_ids: Sequence[str] | None,
) -> None:
    if not results or not all(results.values()):
        raise InputError("There is nothing to show: pass at least one system with at least one metric.")
    first = next(iter(results))
    for system, by_name in results.items():
        if system not in pairs:
            raise InputError(f"pairs lacks {system!r}, which is in results; pass the pairs of each system.")
        if list(by_name) != list(results[first]):
            raise InputError(f"{system!r} was scored with {list(by_name)} and {first!r} with {list(results[first])}.")
        if [pair.reference for pair in pairs[system]] != [pair.reference for pair in pairs[first]]:
            raise InputError(f"{system!r} and {first!r} were not scored against the same references in the same order.")
        lengths = {f"results[{system!r}][{name!r}]": result.n_pairs for name, result in by_name.items()}
        if study_ids is not None:
            lengths["study_ids"] = len(study_ids)
        for name, length in lengths.items():
            if length != len(pairs[system]):
                raise InputError(f"{name} has {length} entries for the {len(pairs[system])} pairs of {system!r}.")


def _signatures(results: Mapping[str, Mapping[str, Result]]) -> list[tuple[str, list[str]]]:
    """Each system's signatures; once and without a name where they are the same for all."""
    listed = [(system, [result.signature for result in by_name.values()]) for system, by_name in results.items()]
    return [("", listed[0][1])] if all(lines == listed[0][1] for _, lines in listed) else listed
