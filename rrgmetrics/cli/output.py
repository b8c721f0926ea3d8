"""What `score`, `compare` and `merge` print and write: tables, unscored pairs, JSON, the HTML report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.cli.arguments import Results, split_names, study_ids
from rrgmetrics.cli.formats import TERMINAL, print_line, print_parts
from rrgmetrics.comparison import Row
from rrgmetrics.present.documents import document
from rrgmetrics.present.tables import Table
from rrgmetrics.results import unscored_lines
from rrgmetrics.specs.conventions import CONVENTIONS
from rrgmetrics.streaming import Totals
from rrgmetrics.version import VERSION
from rrgmetrics.worth import Worth

SHOWN = 5  # reasons of a metric that are printed


def print_scores(
    options: argparse.Namespace,
    results: Results,
    rows: Sequence[Row],
    *,
    n_pairs: int,
    correction: str,
    worth: Worth | None = None,
    lines: Sequence[str] = (),
) -> None:
    """Prints the scores of one system, or of several beside each other, and what is to be said of them.

    Args:
        options: Of the command.
        results: For each system its Results by metric.
        rows: Their scores, with tests if there are several systems.
        n_pairs: Studies in all.
        correction: Of the p-values.
        worth: What the systems are worth beside trivial ones.
        lines: Further remarks.
    """
    from rrgmetrics.present.results import comparison_table, convention_table
    from rrgmetrics.present.worth import worth_tables

    tables = [] if options.format == TERMINAL and len(results) > 1 else [table_of(rows, n_pairs, correction)]
    tables += [comparison_table(rows, n_pairs=n_pairs, correction=correction)] if len(results) > 1 else []
    presets = split_names(getattr(options, "metrics", []))
    tables += [convention_table(CONVENTIONS[name], results) for name in presets if name in CONVENTIONS]
    tables += [] if worth is None else worth_tables(worth)
    remarks = [*([] if worth is None else worth.remarks), *unscored_lines(results), *lines]
    print_parts(options, tables, _as_rows(rows), as_json(results, rows, worth), remarks)


def _as_rows(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """The rows of a frame, without the columns of tests where nothing was compared."""
    written = [row.to_dict() for row in rows]
    tested = [] if any(row.test for row in rows) else list(written[0])[list(written[0]).index("n_unscored") + 1 :]
    return [{name: value for name, value in row.items() if name not in tested} for row in written]


def table_of(rows: Sequence[Row], n_pairs: int, correction: str) -> Table:
    """The scores alone, for a paper or a README."""
    from rrgmetrics.present.results import paper_table, score_table

    if len({row.system for row in rows}) == 1:
        return score_table(rows, n_pairs=n_pairs)
    return paper_table(rows, n_pairs=n_pairs, correction=correction)


def print_totals(options: argparse.Namespace, totals: Mapping[str, Totals]) -> None:
    """Prints the scores of pairs that went through as they came, and why some have none."""
    from rrgmetrics.present.results import totals_table

    rows = [
        {"metric": name, "key": key, "value": value, "n_unscored": each.n_unscored, "n_pairs": each.n_pairs}
        for name, each in totals.items()
        for key, value in each.scores.items()
    ]
    lines = [
        f"{name}: {count:,} of {each.n_pairs:,} pairs unscored ({reason})"
        for name, each in totals.items()
        for reason, count in each.unscored_counts.most_common(SHOWN)
    ]
    print_parts(options, [totals_table(totals)], rows, rows, lines)


def write_reports(
    options: argparse.Namespace,
    results: Results,
    systems: Mapping[str, files.Studies],
    rows: Sequence[Row],
    worth: Worth | None,
    correction: str = "none",
    *,
    readings: Readings,
) -> None:
    """Writes what `--table`, `--json` and `--html` ask for."""
    for path in options.table:
        n_pairs = len(next(iter(systems.values())).pairs)
        files.write_text(path, document(path, [table_of(rows, n_pairs, correction)]), force=options.force)
    if options.json:
        files.write_json(options.json, as_json(results, rows, worth), force=options.force)
    if options.html:
        from rrgmetrics.present.report import report_page

        page = report_page(
            results,
            {name: studies.pairs for name, studies in systems.items()},
            study_ids(next(iter(systems.values()))),
            rows=rows,
            correction=correction,
            worth=worth,
            seed=options.seed,
            readings=readings,
        )
        files.write_text(options.html, page, force=options.force)
        print_line(f"Report: {options.html}", options)


def as_json(results: Results, rows: Sequence[Row], worth: Worth | None = None) -> dict[str, Any]:
    """What `--json` writes: scores, intervals, tests and signatures, and what systems are worth beside trivial ones."""
    document: dict[str, Any] = {"rrgmetrics": VERSION, "systems": {}}
    for system, by_metric in results.items():
        document["systems"][system] = {
            metric: {
                "scores": result.scores,
                "std": {key: result.std(key) for key in result.per_pair},
                "n_pairs": result.n_pairs,
                "n_unscored": result.n_unscored,
                "unscored": result.unscored_counts,
                "signature": result.signature,
            }
            for metric, result in by_metric.items()
        }
    document["rows"] = [
        {
            "metric": row.metric,
            "key": row.key.name,
            "system": row.system,
            "score": row.score._asdict(),
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
        from rrgmetrics.present.worth import as_json as worth_as_json

        document["worth"] = worth_as_json(worth)
    return document
