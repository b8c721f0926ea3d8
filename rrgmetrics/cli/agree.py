"""`rrgmetrics agree`: how far metrics agree with radiologists."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_metrics, add_rated, metric_names, read_rated, split_names
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.errors import InputError
from rrgmetrics.systems.table import CORRECTIONS

if TYPE_CHECKING:
    from rrgmetrics.metaeval import Report
    from rrgmetrics.metaeval.loaders import Data
    from rrgmetrics.reporting.papers import Further

ALSO = ("failures", "overlooked", "counts", "raters", "sources", "blocks", "distribution", "runs", "classes", "time")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics agree`."""
    parser.set_defaults(run=run)
    add_rated(parser)
    parser.add_argument(
        "--correction",
        choices=list(CORRECTIONS),
        default="holm",
        help="correction of the p-values of pairs of metrics (default: holm)",
    )
    parser.add_argument(
        "--also",
        nargs="+",
        default=[],
        choices=ALSO,
        metavar="TABLE",
        help="also print these tables: failures (which source's reports have more errors of a kind, tested as in"
        " Yu et al. 2023), overlooked (errors in the reports that a metric ranks best), counts (MAE by "
        "kind, leaving one rater out), raters (agreement with each rater), sources (raters' counts for each"
        " source), blocks (totals, sections, sources and significant kinds, pooled and within studies), "
        "distribution (the raters' counts and their agreement: ICC, Krippendorff's alpha), runs (variation "
        "of judges over repeated runs, ?runs=N), classes (significance classes of crimson?explain=yes and "
        "of each radiologist), time (milliseconds for each pair beside tau-b; each metric runs alone)",
    )
    parser.add_argument(
        "--targets",
        nargs="+",
        default=[],
        metavar="NAME",
        help="measures to show in tables and plots, the main one first, such as all_eight, insignificant_errors "
        "or false_finding_significant (default: total errors, significant errors and rating)",
    )
    parser.add_argument(
        "--plots",
        metavar="DIR",
        help="write plots to DIR: a forest plot, a heat map by kind of error, histograms of the counts, the "
        "raters' counts by study, a scatter plot for each metric and, with --also time, tau-b against time",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    add_outputs(parser)
    add_metrics(parser)


def run(options: argparse.Namespace) -> None:
    """Scores the rated pairs, prints the agreement and writes what was asked for."""
    from rrgmetrics.metaeval import AgreementReport, Rated, agree_on
    from rrgmetrics.metaeval.plots import write_histograms, write_plots
    from rrgmetrics.reporting.agreement import agreement_tables, number_rows

    names = metric_names(options)
    targets = split_names(options.targets)
    check_documents(options)
    data = [each.with_targets(targets) if isinstance(each, Rated) else each for each in read_rated(options)]
    files.check_outputs(pictures=_pictures(options, data, names), force=options.force)
    reports = agree_on(
        data,
        names,
        correction=options.correction,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        timed="time" in options.also,
        progress=not options.no_progress,
    )
    tables = list(agreement_tables(reports))
    further = [_further(report, options.also) for report in reports]
    tables += [table for each in further for own in each.values() for table in own.tables]
    also = [{name: own.numbers for name, own in each.items() if own.numbers is not None} for each in further]
    rows = [*number_rows(reports), *(row for each in also for own in each.values() for row in own)]
    written = [{**report.to_dict(), **own} for report, own in zip(reports, also, strict=True)]
    print_and_write(options, tables, rows, written[0] if len(written) == 1 else {"datasets": written})
    rated = [report for report in reports if isinstance(report, AgreementReport)] if options.plots else []
    for report in rated:
        write_plots(report, options.plots, force=options.force)
    if len(rated) > 1:
        write_histograms([report.data for report in rated], options.plots, force=options.force)


def _further(report: Report, also: Sequence[str]) -> dict[str, Further]:
    """What else was asked for, by the table's name; nothing of data that nobody rated pair by pair."""
    from rrgmetrics.metaeval import AgreementReport
    from rrgmetrics.reporting import papers

    return {name: papers.ALSO[name](report) for name in also} if isinstance(report, AgreementReport) else {}


def _pictures(options: argparse.Namespace, data: Sequence[Data], names: Sequence[str]) -> list[Path]:
    """The plots that will be written; InputError where there is nothing to plot."""
    from rrgmetrics.metaeval import Rated
    from rrgmetrics.metaeval.plots import HISTOGRAMS, plot_paths

    if not options.plots:
        return []
    rated = [each for each in data if isinstance(each, Rated)]
    if not rated:
        named = ", ".join(each.name for each in data)
        raise InputError(f"--plots needs counts or ratings by radiologists, and {named} has none.")
    timed = "time" in options.also
    several = [Path(options.plots) / HISTOGRAMS] if len(rated) > 1 else []
    return [
        *several,
        *(path for each in rated for path in plot_paths(options.plots, each, names, timed=timed).values()),
    ]
