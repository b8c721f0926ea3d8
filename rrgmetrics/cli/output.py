"""What `score`, `compare` and `merge` print and write: tables, unscored pairs, JSON, the HTML report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.worth import Worth
from rrgmetrics.cli.arguments import Results, split_names, study_ids
from rrgmetrics.cli.formats import TERMINAL, print_line, print_parts
from rrgmetrics.cli.terminal import Terminal, paragraph
from rrgmetrics.reporting.documents import document
from rrgmetrics.reporting.tables import Table
from rrgmetrics.reports.missing import REASON
from rrgmetrics.scoring.notice import text_lines, token_lines
from rrgmetrics.scoring.packs import kind_lines
from rrgmetrics.scoring.results import missing_of, strange_lines, unscored_lines
from rrgmetrics.scoring.streaming import Totals
from rrgmetrics.specs.conventions import CONVENTIONS
from rrgmetrics.specs.names import parse_name
from rrgmetrics.systems.table import Row
from rrgmetrics.utils.printable import as_options

SHOWN = 5  # reasons of a metric that are printed
MORE = "--full shows every table; --html FILE shows every study."


def print_scores(
    options: argparse.Namespace,
    results: Results,
    rows: Sequence[Row],
    *,
    n_pairs: int,
    correction: str,
    worth: Worth | None = None,
    lines: Sequence[str] = (),
    ids: Sequence[str] | None = None,
    announced: bool = False,
    systems: Mapping[str, files.Studies] = MappingProxyType({}),
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
        ids: One a study, if the files have them.
        announced: Whether studies without a reference were named before.
        systems: What was scored; a table for a paper has notes on it.
    """
    from rrgmetrics.reporting.exports import as_json

    shown = shown_rows(options, rows)
    dependent = files.dependent_lines(map(as_options, files.left_out(systems)))
    notes = dependent if options.format == TERMINAL else _notes(results, systems)
    parts = _tables(options, results, shown, n_pairs, correction, worth, notes)
    remarks = [] if worth is None else worth.remarks
    remarks += unscored_lines(results, ids, without=[REASON] if announced else [])
    remarks += strange_lines(results, ids)
    remarks += text_lines(results) if options.format == TERMINAL else []
    has_more = worth is not None or len(results) > 1
    is_short = options.format == TERMINAL and not getattr(options, "full", True)
    remarks += [*lines, *([MORE] if has_more and is_short else [])]
    if options.format == TERMINAL and any(row.test for row in rows) and not getattr(options, "keys", []):
        print_verdict(results, rows, worth, correction, several=bool(dependent))
    elif options.format == TERMINAL:
        from rrgmetrics.reporting.report.sections import reader_lines

        remarks = [*reader_lines(results), *remarks]
    print_parts(options, parts, _as_rows(rows), as_json(results, rows, worth), remarks)


def shown_rows(options: argparse.Namespace, rows: Sequence[Row]) -> list[Row]:
    """The rows that a command shows: headlines, unless all keys or some were asked for."""
    if getattr(options, "all_keys", True) or getattr(options, "keys", []):
        return list(rows)
    return [row for row in rows if parse_name(row.metric).spec.headline.name == row.key.name]


def _tables(
    options: argparse.Namespace,
    results: Results,
    rows: Sequence[Row],
    n_pairs: int,
    correction: str,
    worth: Worth | None,
    notes: Sequence[str],
) -> list[Table]:
    """The tables that a command prints: on a terminal without `--full` one of scores and one of skill."""
    from rrgmetrics.reporting.exports import table_of
    from rrgmetrics.reporting.results import comparison_table, convention_table
    from rrgmetrics.reporting.worth import skill_summary, worth_tables

    several, on_terminal = len(results) > 1, options.format == TERMINAL
    dependent = files.dependent_lines(notes)
    is_short = on_terminal and not getattr(options, "full", True)
    tables = [] if several and on_terminal and not is_short else [table_of(rows, n_pairs, correction, notes=notes)]
    if several and not is_short:
        tables.append(comparison_table(rows, n_pairs=n_pairs, correction=correction, notes=dependent))
    presets = split_names(getattr(options, "metrics", []))
    tables += [convention_table(CONVENTIONS[name], results) for name in presets if name in CONVENTIONS]
    if worth is None:
        return tables
    if is_short:
        return [*tables, *([skill_summary(worth.skills)] if worth.skills else [])]
    return [*tables, *worth_tables(worth, several=bool(dependent))]


def print_verdict(
    results: Results, rows: Sequence[Row], worth: Worth | None, correction: str, *, several: bool
) -> None:
    """Prints which system is better, in which metrics and how sure that is; `several` as in `sections.verdict`."""
    from rich.text import Text

    from rrgmetrics.reporting.report.sections import verdict

    said = verdict(results, rows, worth, correction, several=several)
    console = Terminal(highlight=False, markup=False, emoji=False)
    headline, *lines = (paragraph(line, console.width) for line in (said.headline, *said.lines))
    console.print(Text(headline, style="bold"), *lines, "", sep="\n")


def _notes(results: Results, systems: Mapping[str, files.Studies]) -> list[str]:
    """What readers of a table must know of the reports: part, those left out, missing, or with signs of a model."""
    pairs = {name: studies.pairs for name, studies in systems.items()}
    left_out = map(as_options, files.left_out(systems))
    of_reports = [*left_out, *missing_of(results, pairs, None).empty_lines, *token_lines(pairs)] if pairs else []
    return [*text_lines(results, pairs), *kind_lines(results), *of_reports]


def _as_rows(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """The rows of a frame, without the columns of tests where nothing was compared."""
    written = [row.to_dict() for row in rows]
    tested = [] if any(row.test for row in rows) else list(written[0])[list(written[0]).index("n_unscored") + 1 :]
    return [{name: value for name, value in row.items() if name not in tested} for row in written]


def print_totals(options: argparse.Namespace, totals: Mapping[str, Totals]) -> None:
    """Prints the scores of pairs that went through as they came, and why some have none."""
    from rrgmetrics.reporting.results import totals_table

    rows = [
        {"metric": name, "key": key, "value": value, "n_unscored": each.n_unscored, "n_pairs": each.n_pairs}
        for name, each in totals.items()
        for key, value in each.scores.items()
    ]
    lines = [
        f"{name}: {count:,} of {each.n_pairs:,} studies not scored ({reason})"
        for name, each in totals.items()
        for reason, count in each.unscored_counts.most_common(SHOWN)
    ]
    print_parts(options, [totals_table(totals)], rows, rows, lines)


def write_scores(
    options: argparse.Namespace,
    results: Results,
    rows: Sequence[Row],
    worth: Worth | None,
    correction: str,
    *,
    n_pairs: int,
    systems: Mapping[str, files.Studies] = MappingProxyType({}),
) -> None:
    """Writes what `--table` and `--json` ask for."""
    from rrgmetrics.reporting.exports import as_json, table_of

    for path in options.table:
        table = table_of(shown_rows(options, rows), n_pairs, correction, notes=_notes(results, systems))
        files.write_text(path, document(path, [table]), force=options.force)
        print_line(f"Table: {path}", options)
    if options.json:
        files.write_json(options.json, as_json(results, rows, worth), force=options.force)


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
    pairs = {name: studies.pairs for name, studies in systems.items()}
    n_pairs = len(next(iter(pairs.values())))
    write_scores(options, results, rows, worth, correction, n_pairs=n_pairs, systems=systems)
    if options.html:
        from rrgmetrics.reporting.report import report_page

        page = report_page(
            results,
            pairs,
            study_ids(next(iter(systems.values()))),
            rows=rows,
            correction=correction,
            worth=worth,
            seed=options.seed,
            readings=readings,
            notes=files.left_out(systems),
            as_typed=True,
        )
        files.write_text(options.html, page, force=options.force)
        print_line(f"Report: {options.html}", options)
