"""Results and comparisons as LaTeX, Markdown, HTML and JSON, for their methods and for the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any

from rrgmetrics import files, stats
from rrgmetrics.baselines.worth import Worth
from rrgmetrics.reporting.documents import WRITERS
from rrgmetrics.reporting.numbers import estimate, headed
from rrgmetrics.reporting.results import paper_table, score_table
from rrgmetrics.reporting.short import marked, with_stand_in_note
from rrgmetrics.reporting.tables import Cell, Group, Table
from rrgmetrics.reporting.worth import as_json as worth_as_json
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.notice import text_lines, token_lines
from rrgmetrics.scoring.packs import kind_lines
from rrgmetrics.scoring.results import Result, missing_of
from rrgmetrics.systems.comparison import Comparison
from rrgmetrics.systems.table import Row, distinct_keys
from rrgmetrics.utils.text_format import count_studies
from rrgmetrics.version import VERSION

Results = Mapping[str, Mapping[str, Result]]


def exported(value: Result | Comparison, form: str) -> str:
    """A result or a comparison as a text of this form: "latex", "markdown", "html" or "json"."""
    if form in WRITERS:
        return WRITERS[form]([table(value)])
    return FORMS[form](value)


@singledispatch
def table(value: Any) -> Table:
    """The table of a result (a line a score) or of a comparison (a line a metric, a column a system)."""
    raise TypeError(f"{type(value).__name__} has no table.")


@table.register
def _result(result: Result) -> Table:
    intervals = stats.bootstrap(result.reduction, result.pair_stats)
    lines = tuple(
        (marked(headed(key)), Cell(estimate(intervals[key.name], key))) for key in distinct_keys(result.titled.keys)
    )
    heads = ("score", "value [95% interval]")
    config = signature.parse(result.signature)[1].get("config", "")
    alone = {"": {f"{result.spec.name}{config and '@'}{config}": result}}
    note = " ".join([*text_lines(alone), *kind_lines(alone)])
    title = count_studies(result.n_pairs, result.n_unscored)
    return with_stand_in_note(Table(heads, (Group(lines),), title=title, note=note))


@table.register
def _comparison(comparison: Comparison) -> Table:
    pairs = {name: studies.pairs for name, studies in comparison.studies.items()}
    notes = [*text_lines(comparison.results, pairs), *kind_lines(comparison.results)]
    notes += [*files.left_out(comparison.studies), *missing_of(comparison.results, pairs, None).empty_lines]
    notes += token_lines(pairs)
    return table_of(comparison.rows, comparison.n_studies, comparison.correction, notes=notes)


def _page(value: Result | Comparison) -> str:
    """A comparison as a page with every study; a result, which holds no reports, as a table."""
    if isinstance(value, Result):
        return table(value).__html__()
    from rrgmetrics.reporting.report import report_page

    pairs = {name: studies.pairs for name, studies in value.studies.items()}
    ids = next(iter(value.studies.values())).study_ids
    shown: dict[str, Any] = {"rows": value.rows, "correction": value.correction, "worth": value.worth}
    return report_page(value.results, pairs, ids, **shown, notes=files.left_out(value.studies))


def _json(value: Result | Comparison) -> str:
    if isinstance(value, Result):
        return files.json_text(of_result(value))
    return files.json_text(as_json(value.results, value.rows, value.worth))


FORMS: Mapping[str, Callable[[Result | Comparison], str]] = {"html": _page, "json": _json}


def of_result(result: Result) -> dict[str, object]:
    """The scores of a result with what belongs to them, for a JSON file."""
    return {
        "scores": result.scores,
        "std": {key: result.std(key) for key in result.per_pair},
        "n_pairs": result.n_pairs,
        "n_unscored": result.n_unscored,
        "unscored": result.unscored_counts,
        "candidates_out_of_scope": dict(Counter(result.strange_candidates.values()).most_common()),
        "signature": result.signature,
    }


def table_of(rows: Sequence[Row], n_pairs: int, correction: str, *, notes: Sequence[str] = ()) -> Table:
    """The scores alone, for a paper or a README; its note ends with the sentences `notes`."""
    if len({row.system for row in rows}) == 1:
        return score_table(rows, n_pairs=n_pairs, notes=notes)
    return paper_table(rows, n_pairs=n_pairs, correction=correction, notes=notes)


def as_json(results: Results, rows: Sequence[Row], worth: Worth | None = None) -> dict[str, object]:
    """What `--json` writes: scores, intervals, tests and signatures, and what systems are worth beside trivial ones."""
    document: dict[str, Any] = {"rrgmetrics": VERSION, "systems": {}}
    for system, by_metric in results.items():
        document["systems"][system] = {metric: of_result(result) for metric, result in by_metric.items()}
    document["rows"] = [
        {
            "metric": row.metric,
            "key": row.key.name,
            "system": row.system,
            "score": row.score._asdict(),
            "level": row.level,
            "higher_is_better": row.key.higher_is_better,
            "target": row.key.target,
            "difference": None if row.test is None else row.test.difference._asdict(),
            "p": None if row.test is None else row.test.p_value,
            "p_corrected": None if row.test is None else row.p_corrected,
            "p_floor": None if row.test is None else row.test.floor,
            "effect_size": None if row.test is None else row.test.effect_size,
        }
        for row in rows
    ]
    if worth is not None:
        document["worth"] = worth_as_json(worth)
    return document
