"""What `score` and `compare` print and write beside their tables: unscored pairs, JSON, the HTML report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from rrgmetrics import files
from rrgmetrics.cli.arguments import Results, split_names, study_ids
from rrgmetrics.comparison import Row
from rrgmetrics.results import unscored_lines
from rrgmetrics.specs.conventions import CONVENTIONS
from rrgmetrics.streaming import Totals
from rrgmetrics.version import VERSION
from rrgmetrics.worth import Worth

SHOWN = 5  # reasons of a metric that are printed


def print_line(line: str) -> None:
    """Prints a line as it is: not wrapped, not coloured."""
    Console(soft_wrap=True, highlight=False, markup=False, emoji=False).print(line)


def print_unscored(results: Results) -> None:
    """Prints how many pairs no metric could score, and why."""
    for line in unscored_lines(results):
        print_line(line)


def print_totals(totals: Mapping[str, Totals]) -> None:
    """Prints the scores of pairs that went through as they came, and why some have none."""
    from rrgmetrics.present.results import totals_table

    Console().print(totals_table(totals))
    for name, each in totals.items():
        for reason, count in each.unscored_counts.most_common(SHOWN):
            print_line(f"{name}: {count:,} of {each.n_pairs:,} pairs unscored ({reason})")


def print_worth(worth: Worth | None) -> None:
    """Prints what systems are worth beside trivial ones, in tables and in words."""
    if worth is None:
        return
    from rrgmetrics.present.worth import worth_tables

    for table in worth_tables(worth):
        Console().print("", table)
    for line in worth.remarks:
        print_line(line)


def print_conventions(options: argparse.Namespace, results: Results) -> None:
    """Prints the numbers of the papers whose presets `--metrics` names, by the papers' own words."""
    from rrgmetrics.present.results import convention_table

    for name in split_names(options.metrics):
        if name in CONVENTIONS:
            Console().print("", convention_table(CONVENTIONS[name], results))


def write_reports(
    options: argparse.Namespace,
    results: Results,
    systems: Mapping[str, files.Studies],
    rows: Sequence[Row],
    worth: Worth | None,
) -> None:
    """Writes what `--json` and `--html` ask for."""
    if options.json:
        files.write_json(options.json, as_json(results, rows, worth), force=options.force)
    if options.html:
        from rrgmetrics.present.report import report_page

        page = report_page(
            results,
            {name: studies.pairs for name, studies in systems.items()},
            study_ids(next(iter(systems.values()))),
            rows=rows,
            correction=getattr(options, "correction", "none"),
            worth=worth,
            seed=options.seed,
        )
        files.write_text(options.html, page, force=options.force)
        print_line(f"Report: {options.html}")


def as_json(results: Results, rows: Sequence[Row], worth: Worth | None = None) -> dict[str, Any]:
    """What `--json` writes: scores, intervals, tests and signatures, and what systems are worth beside trivial ones."""
    document: dict[str, Any] = {"rrgmetrics": VERSION, "systems": {}}
    for system, by_metric in results.items():
        document["systems"][system] = {
            metric: {
                "scores": result.scores,
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
            "effect_size": None if row.test is None else row.test.effect_size,
        }
        for row in rows
    ]
    if worth is not None:
        from rrgmetrics.present.worth import as_json as worth_as_json

        document["worth"] = worth_as_json(worth)
    return document
